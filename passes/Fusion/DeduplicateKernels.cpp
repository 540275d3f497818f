//===- DeduplicateKernels.cpp - Equal kernels become one ------------------===//
#include "dialects/Amp/IR/AmpOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/Fusion/Passes.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace ampc::fusion {
#define GEN_PASS_DEF_FUSIONDEDUPLICATEKERNELSPASS
#include "passes/Fusion/Passes.h.inc"

namespace {

std::string typeName(Type type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << getElementTypeOrSelf(type);
  return text;
}

/// What a kernel does, without its name and the model around it.
std::string bodyText(amp::KernelOp kernel) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << kernel.getFunctionType() << "\n";
  OpPrintingFlags flags;
  flags.printGenericOpForm().enableDebugInfo(false).useLocalScope();
  AsmState state(kernel, flags);
  for (Operation &op : kernel.getBody().front()) {
    op.print(os, state);
    os << "\n";
  }
  return text;
}

void printShape(Type type, llvm::raw_ostream &os) {
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    os << '_';
    llvm::interleave(tensor.getShape(), os, "x");
    os << (tensor.getRank() == 0 ? "scalar" : "");
  }
}

/// The op that a kernel is named by: its root, or else the last op that is no
/// cast.
Operation *findNamesake(amp::KernelOp kernel) {
  Operation *last = nullptr;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    auto fusable = dyn_cast<FusableOpInterface>(op);
    FusionKind kind = fusable ? fusable.getFusionKind() : FusionKind::Never;
    if (kind != FusionKind::Never && kind != FusionKind::Elementwise &&
        kind != FusionKind::View) {
      return &op;
    }
    bool isCast = op.getName().stripDialect() == "cast";
    last = isCast && last ? last : &op;
  }
  return last;
}

/// Shapes that tell how much work `op` is: of both factors, of what is read in
/// rows or by place, or of the result.
void printShapes(Operation *op, llvm::raw_ostream &os) {
  auto fusable = dyn_cast<FusableOpInterface>(op);
  FusionKind kind = fusable ? fusable.getFusionKind() : FusionKind::Never;
  unsigned count =
      kind == FusionKind::Contraction || kind == FusionKind::Attention ? 2
      : kind == FusionKind::RowReduction || kind == FusionKind::Serial ? 1
                                                                       : 0;
  if (count == 0 || op->getNumOperands() < count) {
    printShape(op->getResult(0).getType(), os);
    return;
  }
  for (unsigned i = 0; i < count; ++i) {
    printShape(op->getOperand(i).getType(), os);
  }
}

/// `<root>_<shapes>_<operand and result types>`.
std::string describe(amp::KernelOp kernel) {
  std::string name;
  llvm::raw_string_ostream os(name);
  if (Operation *op = findNamesake(kernel)) {
    os << op->getName().stripDialect();
    printShapes(op, os);
  } else {
    os << "copy";
  }
  SmallVector<Type> types(kernel.getArgumentTypes());
  llvm::append_range(types, kernel.getResultTypes());
  constexpr size_t most = 8; // the name is also that of files
  for (Type type : ArrayRef(types).take_front(most)) {
    os << '_' << typeName(type);
  }
  if (types.size() > most) {
    os << "_and" << types.size() - most;
  }
  return name;
}

struct FusionDeduplicateKernelsPass final
    : impl::FusionDeduplicateKernelsPassBase<FusionDeduplicateKernelsPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::StringMap<StringAttr> byBody;
    llvm::StringSet<> taken;
    DenseMap<StringAttr, StringAttr> renamed;
    Builder b(module.getContext());
    for (auto kernel :
         llvm::make_early_inc_range(module.getOps<amp::KernelOp>())) {
      std::string text = bodyText(kernel);
      auto [it, inserted] = byBody.try_emplace(text);
      StringAttr old = kernel.getNameAttr();
      if (!inserted) {
        renamed[old] = it->second;
        kernel.erase();
        continue;
      }
      std::string name =
          describe(kernel) + "_" +
          llvm::utohexstr(llvm::xxh3_64bits(text) & 0xffffffff, true, 8);
      while (!taken.insert(name).second) {
        name += "x";
      }
      it->second = b.getStringAttr(name);
      renamed[old] = it->second;
      kernel.setName(it->second);
    }
    module.walk([&](amp::LaunchOp launch) {
      launch.setKernelAttr(FlatSymbolRefAttr::get(
          renamed.lookup(launch.getKernelAttr().getAttr())));
    });
  }
};

} // namespace
} // namespace ampc::fusion
