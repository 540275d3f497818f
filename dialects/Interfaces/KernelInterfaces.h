//===- KernelInterfaces.h - What code generation asks of an op ------------===//
#ifndef AMPC_DIALECTS_INTERFACES_KERNELINTERFACES_H
#define AMPC_DIALECTS_INTERFACES_KERNELINTERFACES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace ampc {

/// An index along one dimension, for `lanes` neighbouring elements at once:
/// lane l stands at `base + step * l`. Step 0 is the same place in all lanes.
struct LaneIndex {
  mlir::Value base; ///< of type index
  int64_t step = 0;
};

/// What an IndexedOpInterface op builds its elements with. A target implements
/// `getOperand`: it recurses into the producer inside the kernel, or loads from
/// a kernel argument.
class ElementBuilder {
public:
  ElementBuilder(mlir::OpBuilder &b, mlir::Location loc, int64_t lanes)
      : b(b), loc(loc), lanes(lanes) {}
  virtual ~ElementBuilder() = default;

  /// The element(s) of `operand` at `index`: a scalar when `lanes` is 1, else a
  /// vector of `lanes` elements. 16-bit floats arrive widened to f32, booleans
  /// as i1, unsigned integers as signless. Fails where the access has no vector
  /// form.
  virtual mlir::FailureOr<mlir::Value>
  getOperand(mlir::OpOperand &operand, llvm::ArrayRef<LaneIndex> index) = 0;

  /// As getOperand, one element whatever `lanes` is. All steps must be 0.
  virtual mlir::FailureOr<mlir::Value>
  getScalarOperand(mlir::OpOperand &operand,
                   llvm::ArrayRef<mlir::Value> index) = 0;

  mlir::Value index(int64_t value);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value add(mlir::Value lhs, int64_t rhs);
  mlir::Value mul(mlir::Value lhs, int64_t rhs);
  /// `value` broadcast to the lanes, when there are several.
  mlir::Value splat(mlir::Value value);
  /// The type of `lanes` elements of `element`.
  mlir::Type laneType(mlir::Type element) const;
  /// A constant of `element` type (any int or float) in all lanes.
  mlir::Value constant(mlir::Type element, double value);

  mlir::OpBuilder &b;
  mlir::Location loc;
  int64_t lanes;
};

/// The type in which an element of a tensor of `element` is computed: f32 for
/// the 16-bit floats, signless for unsigned integers, itself otherwise.
mlir::Type getComputeType(mlir::Type element);

} // namespace ampc

#include "dialects/Interfaces/KernelInterfaces.h.inc"

#endif // AMPC_DIALECTS_INTERFACES_KERNELINTERFACES_H
