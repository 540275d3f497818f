//===- convert.h - cvt of packed and narrow formats -----------------------===//
#ifndef AMPC_RUNTIME_DEVICES_SIM_CONVERT_H
#define AMPC_RUNTIME_DEVICES_SIM_CONVERT_H

#include <stdint.h>

extern "C" {
/// Bits of the 16-bit format nearest to `x`, ties to even.
uint16_t ampc_sim_to_bf16(float x);
uint16_t ampc_sim_to_f16(float x);
/// Rounded to tf32: 10 fraction bits, ties away from zero (.rna) or to even.
uint32_t ampc_sim_to_tf32_away(float x);
uint32_t ampc_sim_to_tf32_even(float x);
/// a * b + c of f16 or bf16 bits, rounded once.
uint16_t ampc_sim_fma_f16(uint16_t a, uint16_t b, uint16_t c);
uint16_t ampc_sim_fma_bf16(uint16_t a, uint16_t b, uint16_t c);
/// prmt.b32 in its default mode.
uint32_t ampc_sim_permute(uint32_t a, uint32_t b, uint32_t selector);
}

#endif // AMPC_RUNTIME_DEVICES_SIM_CONVERT_H
