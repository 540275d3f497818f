//===- Constants.h - What a narrower type does to a constant --------------===//
#ifndef AMPC_PASSES_PRECISION_CONSTANTS_H
#define AMPC_PASSES_PRECISION_CONSTANTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

#include <cstdint>
#include <optional>

namespace ampc::precision {

/// What rounding a constant to a 16-bit type loses, in elements.
struct NarrowingLoss {
  int64_t elements = 0;  ///< all elements
  int64_t overflow = 0;  ///< finite, but beyond the largest finite value
  int64_t subnormal = 0; ///< become subnormal: some significant bits are lost
  int64_t flushed = 0;   ///< not zero, but become zero

  bool any() const { return overflow || subnormal || flushed; }
};

/// The loss of rounding `value`, a constant of floats, to `target`. Reads every
/// element; nullopt when the data cannot be read.
std::optional<NarrowingLoss> measureNarrowing(mlir::ElementsAttr value,
                                              mlir::FloatType target);

/// The same for a value that is computed from constants alone, which is
/// evaluated; nullopt when that takes more than some work or memory.
std::optional<NarrowingLoss> measureNarrowing(mlir::Value computed,
                                              mlir::FloatType target);

/// The value of a constant whose elements stand in the IR; null for any other
/// value, and for a weight whose data lies outside.
mlir::DenseElementsAttr getInlineConstant(mlir::Value value);

/// Whether `value` is known at compile time.
bool isConstantValue(mlir::Value value);

/// Whether `value` is a constant of rank 0: it does not take part in the choice
/// of a common type.
bool isWeakConstant(mlir::Value value);

} // namespace ampc::precision

#endif // AMPC_PASSES_PRECISION_CONSTANTS_H
