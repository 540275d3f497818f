//===- AttributeReader.h - Checked access to a node's attributes ----------===//
#ifndef AMPC_COMPILER_IMPORT_ATTRIBUTEREADER_H
#define AMPC_COMPILER_IMPORT_ATTRIBUTEREADER_H

#include "compiler/Import/ImportDiagnostics.h"
#include "compiler/Import/Proto/onnx_subset.pb.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

#include <optional>

namespace ampc::importer {

/// Attributes that a call gives to the body of a model-local function.
using AttributeBindings = llvm::StringMap<const onnx::AttributeProto *>;

/// Reads the attributes of one node. A wrong type is reported once and latches
/// an error; the reader then goes on with the default, so that a converter
/// finds all defects of a node. Attributes nobody asked for are reported by
/// `finish`: a converter reads, or explicitly ignores, all it knows.
class AttributeReader {
public:
  /// `label` names the node in messages. `bindings` is null outside functions.
  AttributeReader(const onnx::NodeProto &node, std::string label,
                  const AttributeBindings *bindings, ImportDiagnostics &diags);

  std::optional<int64_t> findInt(llvm::StringRef name);
  std::optional<float> findFloat(llvm::StringRef name);
  std::optional<std::string> findString(llvm::StringRef name);
  std::optional<llvm::SmallVector<int64_t>> findInts(llvm::StringRef name);
  std::optional<llvm::SmallVector<float>> findFloats(llvm::StringRef name);
  std::optional<llvm::SmallVector<std::string>>
  findStrings(llvm::StringRef name);
  const onnx::TensorProto *findTensor(llvm::StringRef name);
  const onnx::SparseTensorProto *findSparseTensor(llvm::StringRef name);
  const onnx::GraphProto *findGraph(llvm::StringRef name);
  const onnx::TypeProto *findType(llvm::StringRef name);

  int64_t getInt(llvm::StringRef name, int64_t otherwise) {
    return findInt(name).value_or(otherwise);
  }
  double getFloat(llvm::StringRef name, float otherwise) {
    return findFloat(name).value_or(otherwise);
  }
  std::string getString(llvm::StringRef name, llvm::StringRef otherwise) {
    return findString(name).value_or(otherwise.str());
  }
  llvm::SmallVector<int64_t> getInts(llvm::StringRef name) {
    return findInts(name).value_or(llvm::SmallVector<int64_t>());
  }
  /// An integer that stands for yes (not zero) or no.
  bool getFlag(llvm::StringRef name, bool otherwise = false) {
    return getInt(name, otherwise) != 0;
  }
  /// An attribute that must be there; reports when it is not.
  int64_t requireInt(llvm::StringRef name);

  bool has(llvm::StringRef name) const { return attributes.contains(name); }
  /// Accepts an attribute whose value does not matter.
  void ignore(llvm::StringRef name) { (void)take(name); }

  /// Reports attributes that were neither read nor ignored.
  void finish();
  bool hadError() const { return isWrong; }

private:
  struct Entry {
    const onnx::AttributeProto *proto = nullptr;
    bool isUsed = false;
  };

  const onnx::AttributeProto *take(llvm::StringRef name);
  /// The attribute, if it is there and has the wanted type.
  const onnx::AttributeProto *
  takeTyped(llvm::StringRef name, onnx::AttributeProto::AttributeType type);

  std::string label;
  std::string op;
  ImportDiagnostics &diags;
  llvm::StringMap<Entry> attributes;
  llvm::SmallVector<llvm::StringRef> order; // keys of `attributes`, as written
  bool isWrong = false;
};

} // namespace ampc::importer

#endif // AMPC_COMPILER_IMPORT_ATTRIBUTEREADER_H
