//===- Lowering.cpp - Emitted kernels to LLVM IR and machine code ---------===//
#include "compiler/Targets/Codegen/Lowering.h"

#include "compiler/Targets/Codegen/ExpandMath.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace ampc;

std::unique_ptr<llvm::TargetMachine>
codegen::createMachine(StringRef tripleText, StringRef cpu, StringRef features,
                       unsigned optLevel, std::string &error) {
  llvm::Triple triple(tripleText);
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) {
    return nullptr;
  }
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, cpu, features, options, llvm::Reloc::PIC_, std::nullopt,
      optLevel == 0 ? llvm::CodeGenOptLevel::None
                    : llvm::CodeGenOptLevel::Default));
}

std::unique_ptr<llvm::TargetMachine>
codegen::createHostMachine(StringRef cpu, StringRef features, unsigned optLevel,
                           std::string &error) {
  static bool once = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
    return true;
  }();
  (void)once;
  return createMachine("x86_64-unknown-linux-gnu", cpu, features, optLevel,
                       error);
}

namespace {
/// What the project expands itself.
struct ExpandMathPass final
    : PassWrapper<ExpandMathPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandMathPass)
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, LLVM::LLVMDialect, math::MathDialect,
                    scf::SCFDialect, vector::VectorDialect>();
  }
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    codegen::populateMathExpansion(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns)))) {
      signalPassFailure();
    }
  }
};

/// What no target has an instruction for and this project no expansion.
struct ExpandLibmPass final
    : PassWrapper<ExpandLibmPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandLibmPass)
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, vector::VectorDialect>();
  }
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateMathPolynomialApproximationPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns)))) {
      signalPassFailure();
    }
  }
};
} // namespace

static void addPasses(PassManager &passes,
                      const codegen::LoweringOptions &options) {
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addPass(createLoopInvariantCodeMotionPass());
  if (!options.hasLibm) {
    passes.addPass(std::make_unique<ExpandMathPass>());
    math::MathExpandOpsPassOptions expand;
    expand.opMnemonics = {"sinh",  "cosh",  "tan",   "tanh",
                          "asinh", "acosh", "atanh", "powf"};
    passes.addPass(math::createMathExpandOpsPass(expand));
    passes.addPass(std::make_unique<ExpandLibmPass>());
  }
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createConvertVectorToLLVMPass());
  // roundeven, floor and the like have intrinsics; what is left calls libm.
  passes.addPass(createConvertMathToLLVMPass());
  if (options.hasLibm) {
    passes.addPass(createConvertMathToLibmPass());
  }
  passes.addPass(createConvertVectorToLLVMPass());
  ArithToLLVMConversionPassOptions arith;
  arith.indexBitwidth = options.indexBits;
  passes.addPass(createArithToLLVMConversionPass(arith));
  ConvertIndexToLLVMPassOptions index;
  index.indexBitwidth = options.indexBits;
  passes.addPass(createConvertIndexToLLVMPass(index));
  ConvertControlFlowToLLVMPassOptions flow;
  flow.indexBitwidth = options.indexBits;
  passes.addPass(createConvertControlFlowToLLVMPass(flow));
  ConvertFuncToLLVMPassOptions func;
  func.indexBitwidth = options.indexBits;
  passes.addPass(createConvertFuncToLLVMPass(func));
  passes.addPass(createReconcileUnrealizedCastsPass());
}

LogicalResult codegen::lowerToLlvmDialect(ModuleOp module,
                                          const LoweringOptions &options) {
  PassManager passes(module.getContext());
  passes.enableVerifier(true);
  addPasses(passes, options);
  return passes.run(module);
}

void codegen::loadLoweringDialects(MLIRContext *context,
                                   const LoweringOptions &options) {
  PassManager passes(context);
  addPasses(passes, options);
  DialectRegistry registry;
  passes.getDependentDialects(registry);
  context->appendDialectRegistry(registry);
  for (StringRef name : registry.getDialectNames()) {
    context->getOrLoadDialect(name);
  }
}

std::unique_ptr<llvm::Module>
codegen::translate(ModuleOp module, llvm::LLVMContext &context,
                   const llvm::TargetMachine &machine) {
  auto result = translateModuleToLLVMIR(module, context, "kernels");
  if (result) {
    result->setTargetTriple(machine.getTargetTriple());
    result->setDataLayout(machine.createDataLayout());
  }
  return result;
}

void codegen::optimize(llvm::Module &module, llvm::TargetMachine &machine,
                       unsigned level) {
  llvm::PipelineTuningOptions tuning;
  // Loops are vectorized where they are emitted. What is left is scalar on
  // purpose: tails and irregular accesses, not worth the compile time.
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  tuning.LoopInterleaving = false;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  using Level = llvm::OptimizationLevel;
  const Level levels[] = {Level::O0, Level::O1, Level::O2, Level::O3};
  Level chosen = levels[std::min(level, 3u)];
  llvm::ModulePassManager passes =
      chosen == Level::O0 ? builder.buildO0DefaultPipeline(chosen)
                          : builder.buildPerModuleDefaultPipeline(chosen);
  passes.run(module, modules);
}
