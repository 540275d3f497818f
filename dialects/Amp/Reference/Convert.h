//===- Convert.h - Elements between storage and arithmetic ----------------===//
// Floats are computed as double and stored with one rounding to nearest even;
// integers are computed as int64_t (unsigned ones zero-extended) and stored
// modulo 2^width.
#ifndef AMPC_DIALECTS_AMP_REFERENCE_CONVERT_H
#define AMPC_DIALECTS_AMP_REFERENCE_CONVERT_H

#include "dialects/Amp/Reference/Tensor.h"

namespace ampc::ref {

/// Reads `count` elements of `kind`, `stride` elements apart, from bytes at any
/// address. Integers become the nearest double (64-bit ones beyond 2^53 to odd,
/// so that a later rounding to a narrower float is correct).
void loadDoubles(Kind kind, const char *from, int64_t stride, int64_t count,
                 double *to);
/// As loadDoubles. Floats are truncated towards zero and bounded to int64; NaN
/// gives 0.
void loadInts(Kind kind, const char *from, int64_t stride, int64_t count,
              int64_t *to);

/// Stores `count` elements one after the other. Floats become integers as
/// `amp.cast` says: truncated, bounded to the range of i32, or of i64 for i64,
/// ui32 and ui64 (there to 2^64 - 1), then wrapped; NaN gives 0. Booleans:
/// whether not zero.
void storeDoubles(Kind kind, const double *from, int64_t count, char *to);
void storeInts(Kind kind, const int64_t *from, int64_t count, char *to);

/// `value` rounded to a float kind, as double.
double roundTo(Kind kind, double value);

/// The largest finite value of a float kind.
double getLargest(Kind kind);

/// `input` converted to `element`, as `amp.cast` does. nullopt when there is no
/// memory.
std::optional<Tensor> convert(const Tensor &input, mlir::Type element,
                              bool saturate = false);

} // namespace ampc::ref

#endif // AMPC_DIALECTS_AMP_REFERENCE_CONVERT_H
