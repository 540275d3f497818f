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

/// `<operand types>-<result types>-<root>`.
std::string describe(amp::KernelOp kernel) {
  std::string name;
  llvm::raw_string_ostream os(name);
  for (Type type : kernel.getArgumentTypes()) {
    os << typeName(type) << "-";
  }
  for (Type type : kernel.getResultTypes()) {
    os << typeName(type) << "-";
  }
  StringRef root, last;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    StringRef word = op.getName().stripDialect();
    auto fusable = dyn_cast<FusableOpInterface>(op);
    FusionKind kind = fusable ? fusable.getFusionKind() : FusionKind::Never;
    bool heavy = kind != FusionKind::Never && kind != FusionKind::Elementwise &&
                 kind != FusionKind::View;
    root = heavy && root.empty() ? word : root;
    last = word == "cast" && !last.empty() ? last : word;
  }
  os << (root.empty() ? last : root);
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
          describe(kernel) + "-" +
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
