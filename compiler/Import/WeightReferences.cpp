//===- WeightReferences.cpp - Constants of MLIR that lie in files ---------===//
#include "compiler/Import/WeightReferences.h"

#include "compiler/Import/ConstantTensors.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace ampc::importer {

std::string WeightReference::toText() const {
  return (llvm::Twine(offset) + ":" + llvm::Twine(length) + ":" + path).str();
}

std::optional<WeightReference> WeightReference::fromText(llvm::StringRef text) {
  WeightReference reference;
  auto [offset, rest] = text.split(':');
  auto [length, path] = rest.split(':');
  if (offset.getAsInteger(10, reference.offset) ||
      length.getAsInteger(10, reference.length) || path.empty()) {
    return std::nullopt;
  }
  reference.path = path.str();
  return reference;
}

/// Gives the resource `key` the data that `text` refers to; its length.
static std::optional<uint64_t>
resolve(MLIRContext *context, StringRef key, StringRef text,
        const std::shared_ptr<ExternalData> &files, ImportDiagnostics &diags) {
  auto &manager = DenseResourceElementsHandle::getManagerInterface(context)
                      .getBlobManager();
  if (!manager.lookup(key)) {
    (void)diags.invalid(key, "the file has data for this name, but no "
                             "constant of it");
    return std::nullopt;
  }
  std::optional<WeightReference> reference = WeightReference::fromText(text);
  if (!reference) {
    (void)diags.invalid(key, "expected OFFSET:LENGTH:PATH, got '" +
                                 printableName(text) + "'");
    return std::nullopt;
  }
  auto bytes = files->read(reference->path, reference->offset,
                           reference->length, key, diags);
  if (!bytes) {
    return std::nullopt;
  }
  manager.update(key, makeBlob(*bytes, files));
  return bytes->size();
}

/// Checks that the constants whose data was mapped have the size of their
/// types: MLIR asks for no more than that a resource has a name.
static LogicalResult checkSizes(ModuleOp module,
                                const llvm::StringMap<uint64_t> &lengths,
                                ImportDiagnostics &diags) {
  size_t errorsBefore = diags.getNumErrors();
  llvm::DenseSet<Attribute> seen;
  auto check = [&](DenseResourceElementsAttr resource) {
    auto length = lengths.find(resource.getRawHandle().getKey());
    if (length == lengths.end() || !seen.insert(resource).second) {
      return;
    }
    ShapedType type = resource.getType();
    uint64_t bits = type.getElementType().isIntOrFloat()
                        ? type.getElementTypeBitWidth()
                        : 0;
    std::optional<uint64_t> bytes = llvm::checkedMulUnsigned<uint64_t>(
        type.getNumElements(), llvm::divideCeil(bits, 8u));
    if (bits == 0 || bytes != length->second) {
      std::string text;
      llvm::raw_string_ostream(text) << type;
      (void)diags.invalid(length->first(), llvm::Twine(length->second) +
                                               " bytes are not the size of " +
                                               text);
    }
  };
  module.walk([&](Operation *op) {
    op->getAttrDictionary().walk(check);
    if (Attribute properties = op->getPropertiesAsAttribute()) {
      properties.walk(check);
    }
  });
  return success(diags.getNumErrors() == errorsBefore);
}

OwningOpRef<ModuleOp> parseModuleFile(MLIRContext *context, StringRef path,
                                      std::shared_ptr<ExternalData> files,
                                      ImportDiagnostics &diags) {
  // Entries may come before the resources they are for have been named.
  std::vector<std::pair<std::string, std::string>> entries;
  ParserConfig config(context, /*verifyAfterParse=*/true);
  config.attachResourceParser(
      weightResource, [&](AsmParsedResourceEntry &entry) -> LogicalResult {
        FailureOr<std::string> text = entry.parseAsString();
        if (succeeded(text)) {
          entries.emplace_back(entry.getKey().str(), std::move(*text));
        }
        return text;
      });
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(path, config);
  if (!module) {
    return nullptr;
  }
  llvm::StringMap<uint64_t> lengths;
  for (const auto &[key, text] : entries) {
    std::optional<uint64_t> length = resolve(context, key, text, files, diags);
    if (!length) {
      return nullptr;
    }
    lengths[key] = *length;
  }
  return succeeded(checkSizes(*module, lengths, diags)) ? std::move(module)
                                                        : nullptr;
}

} // namespace ampc::importer
