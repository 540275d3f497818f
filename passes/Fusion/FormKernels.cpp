//===- FormKernels.cpp - Outline ops into kernels -------------------------===//
#include "dialects/Amp/IR/AmpOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Fusion/KernelGroups.h"
#include "passes/Fusion/Passes.h"
#include "passes/Fusion/ScalarOrder.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace ampc::fusion {
#define GEN_PASS_DEF_FUSIONFORMKERNELSPASS
#include "passes/Fusion/Passes.h.inc"

namespace {

bool isSplatConstant(Operation *op) {
  auto constant = dyn_cast_or_null<amp::ConstantOp>(op);
  auto dense =
      constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : nullptr;
  return dense && dense.isSplat();
}

/// The values a kernel takes and gives.
struct Boundary {
  SetVector<Value> inputs, outputs;
  SetVector<Operation *> splats; ///< cloned into the kernel
};

Boundary findBoundary(const KernelGroup &group) {
  Boundary boundary;
  SmallPtrSet<Operation *, 8> members(group.ops.begin(), group.ops.end());
  for (Operation *op : group.ops) {
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (isSplatConstant(producer)) {
        boundary.splats.insert(producer);
      } else if (!members.contains(producer)) {
        boundary.inputs.insert(operand);
      }
    }
    for (Value result : op->getResults()) {
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !members.contains(user);
          })) {
        boundary.outputs.insert(result);
      }
    }
  }
  return boundary;
}

void outline(KernelGroup &group, unsigned number, ModuleOp module) {
  Boundary boundary = findBoundary(group);
  auto types = [](ArrayRef<Value> values) {
    return llvm::to_vector(
        llvm::map_range(values, [](Value value) { return value.getType(); }));
  };
  SmallVector<Location> locations;
  for (Operation *op : group.ops) {
    locations.push_back(op->getLoc());
  }
  Location loc = FusedLoc::get(module.getContext(), locations);
  OpBuilder b(module.getBody(), module.getBody()->end());
  auto kernel = amp::KernelOp::create(
      b, loc, "k" + std::to_string(number),
      b.getFunctionType(types(boundary.inputs.getArrayRef()),
                        types(boundary.outputs.getArrayRef())));
  kernel.setPrivate();
  IRMapping mapping;
  Block &body = kernel.getBody().front();
  for (auto [value, argument] :
       llvm::zip_equal(boundary.inputs, body.getArguments())) {
    mapping.map(value, argument);
  }
  b.setInsertionPointToStart(&body);
  for (Operation *splat : boundary.splats) {
    b.clone(*splat, mapping);
  }
  for (Operation *op : group.ops) {
    b.clone(*op, mapping);
  }
  SmallVector<Value> results;
  for (Value output : boundary.outputs) {
    results.push_back(mapping.lookup(output));
  }
  amp::YieldOp::create(b, loc, results);

  b.setInsertionPoint(group.position);
  auto launch = amp::LaunchOp::create(
      b, loc, TypeRange(types(boundary.outputs.getArrayRef())),
      FlatSymbolRefAttr::get(kernel.getNameAttr()),
      boundary.inputs.getArrayRef());
  SmallPtrSet<Operation *, 8> members(group.ops.begin(), group.ops.end());
  for (auto [output, result] :
       llvm::zip_equal(boundary.outputs, launch.getOutputs())) {
    Value from = output;
    from.replaceUsesWithIf(result, [&](OpOperand &use) {
      return !members.contains(use.getOwner());
    });
  }
}

struct FusionFormKernelsPass final
    : ampc::fusion::impl::FusionFormKernelsPassBase<FusionFormKernelsPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto target = module->getAttrOfType<amp::TargetAttr>("amp.target");
    int64_t lanes = target ? target.getVectorBytes() / 4 : 8;
    unsigned number = 0;
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isDeclaration()) {
        continue;
      }
      if (!function.getBody().hasOneBlock()) {
        function.emitOpError("expected one block, got ")
            << function.getBody().getBlocks().size();
        return signalPassFailure();
      }
      Block &block = function.getBody().front();
      // What nobody reads gets no kernel.
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
        if (isOpTriviallyDead(&op)) {
          op.erase();
        }
      }
      orderScalars(block, ConstantSlice(function));
      KernelGroups groups(block, lanes);
      SmallVector<KernelGroup *> ordered = groups.ordered();
      for (KernelGroup *group : ordered) {
        outline(*group, number++, module);
      }
      // Members are dead now; later ones first, as they use earlier ones.
      SmallVector<Operation *> dead;
      for (KernelGroup *group : ordered) {
        dead.append(group->ops.begin(), group->ops.end());
      }
      llvm::sort(dead, [](Operation *lhs, Operation *rhs) {
        return rhs->isBeforeInBlock(lhs);
      });
      for (Operation *op : dead) {
        op->erase();
      }
      for (Operation &op : block.without_terminator()) {
        if (!isa<amp::LaunchOp, amp::ReshapeOp>(op) &&
            !groups.isConstant(&op)) {
          op.emitOpError("expected an operation that kernels can hold");
          return signalPassFailure();
        }
      }
    }
  }
};

} // namespace
} // namespace ampc::fusion
