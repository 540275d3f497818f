//===- ampc-eval.cpp - Runs IR of any phase by the reference evaluator ----===//
#include "compiler/Registration/Registration.h"
#include "dialects/Amp/Reference/Evaluator.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "tools/ampc-eval/Gradients.h"
#include "tools/ampc-eval/Npy.h"
#include "tools/ampc-eval/Print.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::eval;
namespace cl = llvm::cl;

static cl::OptionCategory category("ampc-eval options");
static cl::list<std::string> files(cl::Positional, cl::desc("<file.mlir ...>"),
                                   cl::cat(category));
static cl::opt<std::string>
    functionName("function", cl::cat(category),
                 cl::desc("Function to run; main by default, or, where there "
                          "is none, each function without arguments"));
static cl::list<std::string>
    inputFiles("input", cl::cat(category),
               cl::desc("A .npy file per argument, in order; random without"));
static cl::opt<std::string>
    outputFolder("output-dir", cl::cat(category),
                 cl::desc("Write results as <folder>/<index>.npy"));
static cl::opt<unsigned long long> seed("seed", cl::init(0), cl::cat(category),
                                        cl::desc("Seed of the random inputs"));
static cl::opt<int64_t> limit("print-limit", cl::init(1024), cl::cat(category),
                              cl::desc("Elements of a result to print"));
static cl::opt<unsigned long long>
    budget("byte-budget", cl::init(~0ull), cl::cat(category),
           cl::desc("Bytes that computed tensors may take at one time"));
static cl::opt<bool> checkPhases(
    "check-phases", cl::cat(category),
    cl::desc("Run two or more files on the same inputs and report how far the "
             "results of each are from the first's"));
static cl::opt<bool> gradientCheck(
    "check-gradients", cl::cat(category),
    cl::desc("Compare the gradients of every function in f64 with central "
             "differences; fail beyond --tolerance"));
static cl::opt<double>
    tolerance("tolerance", cl::init(HUGE_VAL), cl::cat(category),
              cl::desc("With --check-phases: fail beyond this relative "
                       "difference (Frobenius norm)"));

static void printError(const llvm::Twine &what) {
  llvm::errs() << "error: " << what << "\n";
}

static FailureOr<SmallVector<ref::Tensor>>
getInputs(FunctionOpInterface function) {
  SmallVector<ref::Tensor> inputs;
  if (!inputFiles.empty() && inputFiles.size() != function.getNumArguments()) {
    printError("expected " + llvm::Twine(function.getNumArguments()) +
               " inputs, got " + llvm::Twine(inputFiles.size()));
    return failure();
  }
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !ref::getByteSize(tensor)) {
      printError("argument " + llvm::Twine(i) + " is no tensor of known size");
      return failure();
    }
    if (inputFiles.empty()) {
      auto random = getRandom(tensor, seed + i);
      if (!random) {
        printError("no memory for argument " + llvm::Twine(i));
        return failure();
      }
      inputs.push_back(std::move(*random));
      continue;
    }
    auto input = readNpy(inputFiles[i], tensor);
    if (!input) {
      printError(llvm::toString(input.takeError()));
      return failure();
    }
    inputs.push_back(std::move(*input));
  }
  return inputs;
}

static LogicalResult runAndPrint(FunctionOpInterface function) {
  FailureOr<SmallVector<ref::Tensor>> inputs = getInputs(function);
  if (failed(inputs)) {
    return failure();
  }
  ref::Evaluator evaluator({budget});
  auto results = evaluator.evaluateFunction(function, *inputs);
  if (failed(results)) {
    return failure();
  }
  for (auto [i, result] : llvm::enumerate(*results)) {
    llvm::outs() << "@" << function.getName() << "#" << i << ": "
                 << result.getType() << " = ";
    printElements(llvm::outs(), result, limit);
    llvm::outs() << "\n";
    if (outputFolder.empty()) {
      continue;
    }
    SmallString<128> path(outputFolder);
    llvm::sys::path::append(path, llvm::Twine(i) + ".npy");
    if (llvm::Error error = writeNpy(path, result)) {
      printError(llvm::toString(std::move(error)));
      return failure();
    }
  }
  return success();
}

/// The functions to run, per --function.
static SmallVector<FunctionOpInterface> getFunctions(ModuleOp module) {
  SmallVector<FunctionOpInterface> all;
  StringRef name = functionName.empty() ? "main" : StringRef(functionName);
  for (auto function : module.getOps<FunctionOpInterface>()) {
    if (function.getName() == name) {
      return {function};
    }
    if (functionName.empty() && function.getNumArguments() == 0) {
      all.push_back(function);
    }
  }
  return all;
}

static LogicalResult runCheck(ArrayRef<OwningOpRef<ModuleOp>> modules) {
  SmallVector<ref::Tensor> inputs, reference;
  bool within = true;
  for (auto [i, module] : llvm::enumerate(modules)) {
    auto functions = getFunctions(*module);
    if (functions.size() != 1) {
      printError(files[i] + ": expected one function to run, got " +
                 llvm::Twine(functions.size()));
      return failure();
    }
    if (i == 0) {
      auto made = getInputs(functions[0]);
      if (failed(made)) {
        return failure();
      }
      inputs = std::move(*made);
    }
    ref::Evaluator evaluator({budget});
    auto results = evaluator.evaluateFunction(functions[0], inputs);
    if (failed(results)) {
      return failure();
    }
    if (i == 0) {
      reference = std::move(*results);
      continue;
    }
    if (results->size() != reference.size()) {
      printError(files[i] + ": expected " + llvm::Twine(reference.size()) +
                 " results, got " + llvm::Twine(results->size()));
      return failure();
    }
    for (auto [o, result] : llvm::enumerate(*results)) {
      if (result.getShape() != reference[o].getShape()) {
        printError(files[i] + ": result " + llvm::Twine(o) +
                   " has another shape");
        return failure();
      }
      Difference difference = getDifference(reference[o], result);
      within &= difference.relative <= tolerance;
      llvm::outs() << files[i] << ": result " << o << ": relative difference "
                   << llvm::format("%.3g", difference.relative)
                   << ", largest absolute "
                   << llvm::format("%.3g", difference.largest) << "\n";
    }
  }
  return success(within);
}

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv, "evaluates functions of amp in float64 arithmetic\n");
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  SmallVector<OwningOpRef<ModuleOp>> modules;
  // They show the source of errors in the evaluation too.
  SmallVector<std::shared_ptr<llvm::SourceMgr>> sources;
  SmallVector<std::unique_ptr<SourceMgrDiagnosticHandler>> handlers;
  for (const std::string &path : files) {
    std::string message;
    auto file = openInputFile(path, &message);
    if (!file) {
      printError(message);
      return 1;
    }
    auto source = std::make_shared<llvm::SourceMgr>();
    source->AddNewSourceBuffer(std::move(file), llvm::SMLoc());
    sources.push_back(source);
    handlers.push_back(
        std::make_unique<SourceMgrDiagnosticHandler>(*source, &context));
    modules.push_back(parseSourceFile<ModuleOp>(source, &context));
    if (!modules.back()) {
      return 1;
    }
  }
  if (modules.size() != 1 && !(checkPhases && modules.size() > 1)) {
    printError("expected one file, or several with --check-phases, got " +
               llvm::Twine(modules.size()));
    return 1;
  }
  if (checkPhases) {
    return failed(runCheck(modules));
  }
  if (gradientCheck) {
    bool ok = true;
    for (auto function : modules[0]->getOps<func::FuncOp>()) {
      ok &= succeeded(checkGradients(function, seed, tolerance));
    }
    return !ok;
  }
  auto functions = getFunctions(*modules[0]);
  if (functions.empty()) {
    printError("there is no function to run");
    return 1;
  }
  for (FunctionOpInterface function : functions) {
    if (failed(runAndPrint(function))) {
      return 1;
    }
  }
  return 0;
}
