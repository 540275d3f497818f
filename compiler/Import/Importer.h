//===- Importer.h - The state of one import -------------------------------===//
#ifndef AMPC_COMPILER_IMPORT_IMPORTER_H
#define AMPC_COMPILER_IMPORT_IMPORTER_H

#include "compiler/Import/GraphCheck.h"
#include "compiler/Import/Import.h"
#include "compiler/Import/ModelFile.h"
#include "compiler/Import/Node.h"
#include "compiler/Import/OpTable.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"

namespace ampc::importer {

/// Names visible while a graph is imported. Looked up outwards.
struct ValueScope {
  llvm::StringMap<Entity> values;
  const ValueScope *outer = nullptr;

  const Entity *find(llvm::StringRef name) const;
};

/// Where a graph stands: the prefixes of node labels and of node paths, the
/// opsets its nodes bind to, the attributes of the enclosing function call, and
/// where that stands.
struct GraphPlace {
  std::string labelPrefix;
  std::string path;
  const OpsetMap *opsets = nullptr;
  const AttributeBindings *bindings = nullptr;
  std::optional<mlir::Location> call;
};

class Importer {
public:
  Importer(mlir::MLIRContext *context, std::shared_ptr<ModelFile> model,
           const CheckedModel &checked, const ImportOptions &options,
           ImportDiagnostics &diags);

  mlir::OwningOpRef<mlir::ModuleOp> run();

  /// Imports the nodes of a graph or function body into the current block.
  /// `key` finds their order. Failures are reported and leave their results
  /// unknown.
  void
  importNodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes,
              const void *key, ValueScope &scope, const GraphPlace &place);

  /// Imports a subgraph of the node being converted: its inputs are bound to
  /// `arguments`, and its outputs returned (possibly unknown ones).
  llvm::SmallVector<Entity> importSubgraph(Node &node,
                                           const onnx::GraphProto &graph,
                                           llvm::ArrayRef<Entity> arguments,
                                           llvm::StringRef step);

  /// A constant of a model's tensor; null after reporting.
  mlir::Value importTensor(const onnx::TensorProto &tensor,
                           llvm::StringRef where, mlir::Location loc);
  mlir::Value importSparseTensor(const onnx::SparseTensorProto &tensor,
                                 llvm::StringRef where, mlir::Location loc);

  const HostTensor *known(mlir::Value value) const;
  /// Computes the values of a new op's result when its operands' are known.
  void learn(mlir::Operation *op);
  void learn(mlir::Value value, HostTensor tensor);
  /// Whether all values are made of constants alone.
  bool areConstant(mlir::ValueRange values) const;
  void markConstant(mlir::Operation *op);
  /// Most bytes of a constant that is not stored in the model: a floor, and
  /// more where the model's own weights are large.
  uint64_t getConstantLimit() const {
    return (uint64_t(1) << 30) + 2 * weightBytes;
  }
  /// Whether the model will be trained.
  bool isTraining() const { return options.isTraining; }
  /// A number that no other dropout of the model has.
  int64_t nextStream() { return numStreams++; }
  /// Drops what is known of values in a region that is about to be erased.
  void forget(mlir::Region &region);

  ImportDiagnostics &diags;
  mlir::OpBuilder builder;
  /// Text of the last diagnostic that MLIR raised.
  std::string mlirMessage;

private:
  bool importInputs(mlir::func::FuncOp &function, ValueScope &scope);
  mlir::Type importInputType(const onnx::ValueInfoProto &input);
  std::optional<llvm::SmallVector<int64_t>>
  resolveShape(const onnx::ValueInfoProto &input);
  void importInitializers(const onnx::GraphProto &graph, ValueScope &scope,
                          const GraphPlace &place);
  void importNode(const onnx::NodeProto &proto, uint32_t index,
                  ValueScope &scope, const GraphPlace &place);
  void importCall(Node &node, const onnx::FunctionProto &function,
                  const GraphPlace &place);
  llvm::LogicalResult importOutputs(mlir::func::FuncOp function,
                                    const ValueScope &scope);
  void setModuleAttributes(mlir::ModuleOp module);
  void checkBindings();
  /// Reports every operator without a converter, wherever it stands.
  void listUnknownOps(
      const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes,
      const GraphPlace &place, llvm::StringSet<> &seenFunctions);
  void eraseDeadOps(mlir::func::FuncOp function);

  mlir::MLIRContext *context;
  std::shared_ptr<ModelFile> model;
  const CheckedModel &checked;
  const ImportOptions &options;
  llvm::DenseMap<mlir::Value, HostTensor> hostValues;
  llvm::SmallVector<std::pair<ValueScope *, const GraphPlace *>> stack;
  mlir::Value makeConstant(const TensorView &view, llvm::StringRef name,
                           llvm::StringRef where, mlir::Location loc);
  bool isFull = false; ///< maxNodes was reached
  llvm::DenseSet<mlir::Value> constants;
  uint64_t weightBytes = 0; ///< of the model's tensors imported so far
  uint64_t numNodes = 0;
  int64_t numStreams = 0;
  uint64_t hostBudget = uint64_t(1) << 28; ///< elements left to compute
};

} // namespace ampc::importer

#endif // AMPC_COMPILER_IMPORT_IMPORTER_H
