//===- approximate.h - The .approx instructions ---------------------------===//
//
// NVIDIA states these by an error bound only. Here each is the exact function
// rounded to f32 (but for an error of about 1e-15 before that rounding), which
// lies within every such bound and is the same on every machine: it uses no C
// library. `Ftz` takes and returns subnormals as zeros.
//
//   ex2    2 ulp               rcp    1 ulp               rsqrt  2^-22.9
//   sqrt   1 ulp               lg2    2^-22 absolute      tanh   2^-11
//   sin, cos  2^-20.5 absolute for |x| <= pi
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_RUNTIME_DEVICES_SIM_APPROXIMATE_H
#define AMPC_RUNTIME_DEVICES_SIM_APPROXIMATE_H

extern "C" {
float ampc_sim_ex2(float);
float ampc_sim_ex2_ftz(float);
float ampc_sim_lg2(float);
float ampc_sim_lg2_ftz(float);
float ampc_sim_rcp_ftz(float);
float ampc_sim_rsqrt(float);
float ampc_sim_rsqrt_ftz(float);
float ampc_sim_sqrt(float);
float ampc_sim_sqrt_ftz(float);
float ampc_sim_sin(float);
float ampc_sim_cos(float);
float ampc_sim_tanh(float);
}

#endif // AMPC_RUNTIME_DEVICES_SIM_APPROXIMATE_H
