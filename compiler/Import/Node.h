//===- Node.h - One ONNX node on its way into the amp dialect -------------===//
//
// What a converter works with. A converter asks for operands and attributes,
// builds ops and sets the results. Building never aborts: a defect is reported
// once under the node's name, the build yields a null value, and building on a
// null value yields null again, so converters need no checks in between.
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_COMPILER_IMPORT_NODE_H
#define AMPC_COMPILER_IMPORT_NODE_H

#include "compiler/Import/AttributeReader.h"
#include "compiler/Import/HostTensor.h"
#include "compiler/Import/TensorView.h"
#include "dialects/Amp/IR/AmpOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace ampc::importer {

class Importer;
struct OpEntry;

/// What an ONNX name stands for: a tensor, or a sequence whose elements are
/// known one by one. Both are null and empty for a value that failed to import.
struct Entity {
  mlir::Value tensor;
  std::optional<std::vector<mlir::Value>> sequence;
  bool isAbsent = false; ///< an optional input that the caller left out

  bool isKnown() const { return tensor || sequence; }
};

/// begin, begin + 1, ..., end - 1
llvm::SmallVector<int64_t> countUp(int64_t begin, int64_t end);

class Node {
public:
  Node(Importer &importer, const onnx::NodeProto &proto, std::string label,
       int64_t opset, mlir::Location loc, const AttributeBindings *bindings);

  Importer &importer;
  const onnx::NodeProto &proto;
  const std::string label; ///< names the node in messages
  const int64_t opset;     ///< of the node's domain
  mlir::OpBuilder &b;
  mlir::Location loc;
  AttributeReader attrs;
  const AttributeBindings *bindings; ///< of the enclosing function call
  /// What the table says of the operator; null for a call of a function.
  const OpEntry *entry = nullptr;

  //===------------------------------------------------------------------===//
  // Operands and results
  //===------------------------------------------------------------------===//

  unsigned numInputs() const { return proto.input_size(); }
  unsigned numOutputs() const { return proto.output_size(); }
  /// Whether optional input `i` is given.
  bool has(unsigned i) const;
  /// Input `i`; null when it is absent.
  mlir::Value in(unsigned i);
  /// All inputs; each must be given.
  llvm::SmallVector<mlir::Value> allInputs();
  const Entity &entity(unsigned i) const { return inputs[i]; }
  /// Whether somebody may read output `i`.
  bool wants(unsigned i) const;
  void set(unsigned i, mlir::Value value);
  void setSequence(unsigned i, std::vector<mlir::Value> values);
  void setAbsent(unsigned i); ///< an optional without a value
  llvm::ArrayRef<Entity> results() const { return outputs; }

  /// Filled by the importer before conversion.
  llvm::SmallVector<Entity> inputs;

  //===------------------------------------------------------------------===//
  // Reporting
  //===------------------------------------------------------------------===//

  llvm::LogicalResult invalid(const llvm::Twine &message);
  llvm::LogicalResult unsupported(const llvm::Twine &message,
                                  const llvm::Twine &hint = "");
  /// For a defect that was reported elsewhere.
  void markFailed() { isFailed = true; }
  bool hasFailed() const { return isFailed || attrs.hadError(); }
  ImportDiagnostics &diags();

  //===------------------------------------------------------------------===//
  // Values known at import
  //===------------------------------------------------------------------===//

  /// The values of `value` if import knows them, else null.
  const HostTensor *known(mlir::Value value);
  /// Integer input `i` as a flat list; reports that `what` is not constant.
  std::optional<llvm::SmallVector<int64_t>> constantInts(unsigned i,
                                                         llvm::StringRef what);
  std::optional<int64_t> constantInt(unsigned i, llvm::StringRef what);
  std::optional<llvm::SmallVector<double>> constantFloats(unsigned i,
                                                          llvm::StringRef what);
  std::optional<double> constantFloat(unsigned i, llvm::StringRef what);
  /// Integers that older opsets write as attribute `name` and those since
  /// `sinceOpset` as input `i`; nothing when they are absent or, after
  /// reporting, not constant.
  std::optional<llvm::SmallVector<int64_t>>
  attributeOrInput(llvm::StringRef name, unsigned i, int64_t sinceOpset);

  //===------------------------------------------------------------------===//
  // Building
  //===------------------------------------------------------------------===//

  /// Builds `OpTy` with an inferred result type. Arguments are those of the ODS
  /// builder after the result type.
  template <typename OpTy, typename... Args>
  mlir::Value build(Args &&...args) {
    mlir::OperationState state(loc, OpTy::getOperationName());
    OpTy::build(b, state, b.getNoneType(), std::forward<Args>(args)...);
    mlir::Operation *op = finish(state, &OpTy::inferReturnTypes);
    return op ? op->getResult(0) : mlir::Value();
  }

  /// Builds `OpTy`, whose result type does not follow from its operands.
  template <typename OpTy, typename... Args>
  mlir::Value buildTyped(mlir::Type type, Args &&...args) {
    mlir::OperationState state(loc, OpTy::getOperationName());
    OpTy::build(b, state, type, std::forward<Args>(args)...);
    mlir::Operation *op = finish(state, nullptr);
    return op ? op->getResult(0) : mlir::Value();
  }

  /// Builds `OpTy` with two inferred results.
  template <typename OpTy, typename... Args>
  std::pair<mlir::Value, mlir::Value> buildPair(Args &&...args) {
    mlir::OperationState state(loc, OpTy::getOperationName());
    OpTy::build(b, state, b.getNoneType(), b.getNoneType(),
                std::forward<Args>(args)...);
    mlir::Operation *op = finish(state, &OpTy::inferReturnTypes);
    return op ? std::pair(op->getResult(0), op->getResult(1))
              : std::pair(mlir::Value(), mlir::Value());
  }

  /// Builds `OpTy` with results of the type of its first operand.
  template <typename OpTy, typename... Args>
  mlir::Value unary(mlir::Value input, Args &&...args) {
    return input ? buildTyped<OpTy>(input.getType(), input,
                                    std::forward<Args>(args)...)
                 : mlir::Value();
  }

  mlir::Value reshape(mlir::Value input, llvm::ArrayRef<int64_t> shape);
  mlir::Value broadcast(mlir::Value input, llvm::ArrayRef<int64_t> shape);
  mlir::Value transpose(mlir::Value input, llvm::ArrayRef<int64_t> permutation);
  /// Elements [start, start + size) of one dimension.
  mlir::Value sliceDim(mlir::Value input, int64_t dim, int64_t start,
                       int64_t size, int64_t stride = 1);
  mlir::Value concat(llvm::ArrayRef<mlir::Value> inputs, int64_t axis);
  /// A conversion that is not a Cast of the model; none if the type is equal.
  mlir::Value cast(mlir::Value input, mlir::Type element);
  mlir::Value reduceSum(mlir::Value input, llvm::ArrayRef<int64_t> axes,
                        bool keepdims);
  mlir::Value iota(mlir::Type element, llvm::ArrayRef<int64_t> shape,
                   int64_t dim);

  mlir::Value constant(mlir::ElementsAttr value);
  mlir::Value constant(const HostTensor &tensor);
  /// A rank-0 constant; integers are taken from the integral value.
  mlir::Value scalar(mlir::Type element, double value);
  /// A constant of one value.
  mlir::Value splat(mlir::RankedTensorType type, double value);
  mlir::Value ints(llvm::ArrayRef<int64_t> values, mlir::Type element = {});

  /// Builds an `amp.composite` named after the node's operator, of the class
  /// that its entry in the table declares. The body gets
  /// one argument per input, floats of 16 bits widened to f32, and returns the
  /// values to yield. Float results take the type of the first float operand
  /// that is not pinned. All results are null if anything failed.
  using BodyFn = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      llvm::ArrayRef<mlir::Value>)>;
  llvm::SmallVector<mlir::Value> composite(llvm::ArrayRef<mlir::Value> inputs,
                                           BodyFn body,
                                           llvm::ArrayRef<int64_t> pinned = {});
  /// The same for a part of the operator that has a class of its own.
  llvm::SmallVector<mlir::Value> composite(AutocastClass cls,
                                           llvm::ArrayRef<mlir::Value> inputs,
                                           BodyFn body,
                                           llvm::ArrayRef<int64_t> pinned = {});
  /// A composite of one result.
  mlir::Value
  composite1(llvm::ArrayRef<mlir::Value> inputs,
             llvm::function_ref<mlir::Value(llvm::ArrayRef<mlir::Value>)> body,
             llvm::ArrayRef<int64_t> pinned = {});

  //===------------------------------------------------------------------===//
  // Asking
  //===------------------------------------------------------------------===//

  /// Type queries answer for null values, too: no dimensions, no type.
  static llvm::ArrayRef<int64_t> shape(mlir::Value value);
  static int64_t rank(mlir::Value value) { return shape(value).size(); }
  static mlir::Type element(mlir::Value value);
  static bool isFloat(mlir::Value value);

  /// `axis` made non-negative; reports when it is no dimension of a tensor of
  /// this rank.
  std::optional<int64_t> axis(int64_t axis, int64_t rank);
  /// As above for a list: sorted and without repetition.
  std::optional<llvm::SmallVector<int64_t>> axes(llvm::ArrayRef<int64_t> axes,
                                                 int64_t rank);

private:
  using InferFn = llvm::LogicalResult (*)(
      mlir::MLIRContext *, std::optional<mlir::Location>, mlir::ValueRange,
      mlir::DictionaryAttr, mlir::OpaqueProperties, mlir::RegionRange,
      llvm::SmallVectorImpl<mlir::Type> &);
  mlir::Operation *finish(mlir::OperationState &state, InferFn infer);
  /// Whether a result of this type is allowed, or one that is constant; reports
  /// when it is not.
  bool fitsLimits(mlir::Type type);
  bool fitsConstantLimit(mlir::Type type);

  llvm::SmallVector<Entity> outputs;
  bool isFailed = false;
};

} // namespace ampc::importer

#endif // AMPC_COMPILER_IMPORT_NODE_H
