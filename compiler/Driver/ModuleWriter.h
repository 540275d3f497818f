//===- ModuleWriter.h - A module as MLIR that can be read again -----------===//
#ifndef AMPC_COMPILER_DRIVER_MODULEWRITER_H
#define AMPC_COMPILER_DRIVER_MODULEWRITER_H

#include "compiler/Driver/DiagnosticSink.h"
#include "compiler/Import/WeightReferences.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mlir {
class OpPrintingFlags;
} // namespace mlir

namespace ampc::driver {

/// Writes modules of one compilation into files. Constants of more than a limit
/// of bytes are left out; the text refers to the model's file if that lies in
/// the text's folder, else to `TEXT.weights.safetensors`, which is written
/// beside it. A text that goes nowhere or to a pipe refers to nothing.
class ModuleWriter {
public:
  /// Where a constant lies: the file that the compilation has mapped, and the
  /// offset in it.
  using Locator = std::function<std::optional<std::pair<std::string, uint64_t>>(
      llvm::ArrayRef<uint8_t>)>;

  ModuleWriter(uint64_t inlineLimit, Locator locate, DiagnosticSink &sink)
      : inlineLimit(inlineLimit), locate(std::move(locate)), sink(sink) {}

  llvm::LogicalResult write(mlir::ModuleOp module, llvm::StringRef path);

private:
  /// A constant that is too long for the text.
  struct Weight;

  std::vector<Weight> collect(mlir::ModuleOp module) const;
  llvm::LogicalResult place(std::vector<Weight> &weights, llvm::StringRef path);
  std::optional<importer::WeightReference>
  findBelow(llvm::StringRef folder, const Weight &weight) const;
  llvm::LogicalResult writeWeights(llvm::ArrayRef<Weight *> weights,
                                   llvm::StringRef path);

  uint64_t inlineLimit;
  Locator locate;
  DiagnosticSink &sink;
  /// Data that an earlier text's weights file has: its folder, file and
  /// offset. Looked up only.
  struct Written {
    std::string folder, file;
    uint64_t offset;
  };
  llvm::DenseMap<const char *, Written> written;
};

/// How MLIR is printed: with locations, constants of more than `inlineLimit`
/// bytes left out.
mlir::OpPrintingFlags getPrintingFlags(uint64_t inlineLimit);

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_MODULEWRITER_H
