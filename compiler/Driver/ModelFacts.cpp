//===- ModelFacts.cpp - Counts of an imported model -----------------------===//
#include "compiler/Driver/ModelFacts.h"

#include "dialects/Amp/IR/AmpOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace mlir;

namespace ampc::driver {

static uint64_t countElements(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getNumElements() : 0;
}

uint64_t countBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getNumElements() *
                      divideCeil(tensor.getElementTypeBitWidth(), 8)
                : 0;
}

/// Multiplications and additions that make one result element, summed.
static uint64_t countFlops(Operation *op) {
  return llvm::TypeSwitch<Operation *, uint64_t>(op)
      .Case<amp::MatmulOp>([](amp::MatmulOp matmul) {
        ArrayRef<int64_t> lhs = matmul.getLhs().getType().getShape();
        int64_t depth = lhs[lhs.size() - (matmul.getTransposeLhs() ? 2 : 1)];
        return 2 * countElements(matmul.getType()) * depth;
      })
      .Case<amp::ConvOp>([](amp::ConvOp conv) {
        auto weight = conv.getWeight().getType();
        int64_t outputs = std::max<int64_t>(weight.getDimSize(0), 1);
        return 2 * countElements(conv.getType()) *
               (countElements(weight) / outputs);
      })
      .Case<amp::ConvTransposeOp>([](amp::ConvTransposeOp conv) {
        auto weight = conv.getWeight().getType();
        int64_t inputs = std::max<int64_t>(weight.getDimSize(0), 1);
        return 2 * countElements(conv.getInput().getType()) *
               (countElements(weight) / inputs);
      })
      .Case<amp::AttentionOp>([](amp::AttentionOp attention) {
        ArrayRef<int64_t> query = attention.getQuery().getType().getShape();
        ArrayRef<int64_t> value = attention.getValue().getType().getShape();
        return 2ull * query[0] * query[1] * query[2] * value[2] *
               (query[3] + value[3]);
      })
      .Default([](Operation *other) -> uint64_t {
        return other->getNumResults() == 1
                   ? countElements(other->getResult(0).getType())
                   : 0;
      });
}

uint64_t countKernelFlops(Operation *kernel) {
  uint64_t flops = 0;
  kernel->walk([&](Operation *op) {
    bool isPart = op != kernel && !isa<amp::ConstantOp>(op);
    flops += isPart ? countFlops(op) : 0;
  });
  return flops;
}

uint64_t countBytesRead(Operation *kernel, unsigned index) {
  BlockArgument argument = kernel->getRegion(0).getArgument(index);
  uint64_t all = countBytes(argument.getType()), picked = 0;
  for (Operation *user : argument.getUsers()) {
    auto gather = dyn_cast<amp::GatherOp>(user);
    if (!gather || gather->getOperand(0) != argument ||
        llvm::count(gather->getOperands(), argument) != 1) {
      return all;
    }
    picked += countBytes(gather->getResult(0).getType());
  }
  return std::min(all, picked);
}

static std::vector<TensorFacts>
collectTensors(func::FuncOp function, ArrayRef<Type> types, bool isInput) {
  std::vector<TensorFacts> tensors;
  for (auto [i, type] : enumerate(types)) {
    auto name = isInput
                    ? function.getArgAttrOfType<StringAttr>(i, "amp.name")
                    : function.getResultAttrOfType<StringAttr>(i, "amp.name");
    TensorFacts facts;
    facts.name = name ? name.str() : std::to_string(i);
    raw_string_ostream os(facts.type);
    if (auto tensor = dyn_cast<RankedTensorType>(type)) {
      for (int64_t dim : tensor.getShape()) {
        os << dim << 'x';
      }
      os << tensor.getElementType();
    } else {
      os << type;
    }
    facts.bytes = countBytes(type);
    tensors.push_back(std::move(facts));
  }
  return tensors;
}

ModelFacts collectFacts(ModuleOp module) {
  ModelFacts facts;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.getName() == "main") {
      facts.inputs =
          collectTensors(function, function.getArgumentTypes(), true);
      facts.outputs =
          collectTensors(function, function.getResultTypes(), false);
    }
  }
  module.walk([&](Operation *op) {
    if (auto constant = dyn_cast<amp::ConstantOp>(op)) {
      auto type = cast<RankedTensorType>(constant.getType());
      if (isa<FloatType>(type.getElementType()) && type.getRank() > 0) {
        facts.numParameters += countElements(type);
        facts.parameterBytes += countBytes(type);
      }
      return;
    }
    bool isComputing = op->getNumResults() != 0 &&
                       op->getParentOfType<amp::CompositeOp>() == nullptr;
    if (auto composite = dyn_cast<amp::CompositeOp>(op)) {
      ++facts.ops[composite.getName().str()];
    } else if (isComputing) {
      ++facts.ops[op->getName().stripDialect().str()];
    }
    if (!isa<amp::CompositeOp>(op)) {
      facts.flops += countFlops(op); // the parts of a composite, not itself
    }
    if (isComputing) {
      ++facts.numOps;
      for (Type type : op->getResultTypes()) {
        facts.activationBytes += countBytes(type);
      }
    }
  });
  return facts;
}

} // namespace ampc::driver
