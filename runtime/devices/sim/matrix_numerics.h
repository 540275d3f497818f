//===- matrix_numerics.h - Arithmetic of the matrix units, bit for bit ----===//
//
// D = C + sum of A[k] * B[k]: all terms are aligned to the largest exponent
// among them, truncated toward zero to F fraction bits and summed exactly; an
// f32 result is then rounded toward zero, an f16 result to nearest even. A
// product's exponent is the sum of its operands' exponents, its significand, in
// [0, 4), is not normalised first. A subnormal operand keeps its format's least
// exponent, a zero counts with exponent -126.
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_RUNTIME_DEVICES_SIM_MATRIX_NUMERICS_H
#define AMPC_RUNTIME_DEVICES_SIM_MATRIX_NUMERICS_H

#include <stdint.h>

namespace ampc::runtime::sim {

/// The numbers of AMPC_SIM_F16 and so on.
enum class MatrixType : uint32_t { f16, bf16, tf32, f32 };

/// How one generation's units add.
struct MatrixUnit {
  const char *name;
  uint32_t fractionBits; // F
  uint32_t maxStep16;    // products of f16 or bf16 that one step adds
  uint32_t maxStep32;    // the same for tf32
};

/// The units of compute capability `arch` (10 x major + minor).
const MatrixUnit &matrixUnit(uint32_t arch);

/// One dot product of `k` elements, as bits: the rule as written above.
uint32_t matrixDot(const MatrixUnit &unit, MatrixType type, MatrixType out,
                   uint32_t c, const uint32_t *a, const uint32_t *b,
                   uint32_t k);

/// Operands of one instruction, decoded by `decode`.
struct MatrixOperand {
  static constexpr uint32_t maxElements = 256 * 16;
  int32_t significand[maxElements]; // signed
  int32_t exponent[maxElements];
  bool special = false; // an infinity or a NaN is among the elements

  /// Element `at` becomes that of `bits`.
  void decode(uint32_t at, MatrixType type, uint32_t bits);
};

/// d[row][column] += a[row][k] * b[k][column] with the bits of `c` and `d` in
/// row-major order; the raw bits of a and b are asked for only where special
/// values make the general rule necessary. `columns` is a multiple of 8, `k`
/// at most 16.
struct MatrixProblem {
  uint32_t rows, columns, k;
  MatrixType type, out;
  const MatrixOperand *a; // [rows][k]
  const MatrixOperand *b; // [k][columns]
  const uint32_t *aBits;
  const uint32_t *bBits;
  uint32_t *cd;
};
void matrixMultiply(const MatrixUnit &unit, const MatrixProblem &problem);

} // namespace ampc::runtime::sim

#endif // AMPC_RUNTIME_DEVICES_SIM_MATRIX_NUMERICS_H
