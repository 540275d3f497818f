//===- Node.cpp - One ONNX node on its way into the amp dialect -----------===//
#include "compiler/Import/Node.h"

#include "compiler/Import/Importer.h"
#include "compiler/Import/OpTable.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace ampc::importer {

SmallVector<int64_t> countUp(int64_t begin, int64_t end) {
  return llvm::to_vector(llvm::seq<int64_t>(begin, std::max(begin, end)));
}

Node::Node(Importer &importer, const onnx::NodeProto &proto, std::string label,
           int64_t opset, Location loc, const AttributeBindings *bindings)
    : importer(importer), proto(proto), label(std::move(label)), opset(opset),
      b(importer.builder), loc(loc),
      attrs(proto, this->label, bindings, importer.diags), bindings(bindings),
      inputs(proto.input_size()), outputs(proto.output_size()) {}

//===----------------------------------------------------------------------===//
// Operands and results
//===----------------------------------------------------------------------===//

bool Node::has(unsigned i) const {
  return i < numInputs() && !proto.input(i).empty() && !inputs[i].isAbsent;
}

Value Node::in(unsigned i) {
  if (!has(i)) {
    return {};
  }
  if (inputs[i].sequence) {
    (void)invalid("expected a tensor as input " + Twine(i) +
                  ", got a sequence");
    return {};
  }
  return inputs[i].tensor;
}

SmallVector<Value> Node::allInputs() {
  SmallVector<Value> values;
  for (unsigned i = 0; i < numInputs(); ++i) {
    values.push_back(in(i));
  }
  return values;
}

bool Node::wants(unsigned i) const {
  return i < numOutputs() && !proto.output(i).empty();
}

void Node::set(unsigned i, Value value) {
  if (i < outputs.size()) {
    outputs[i].tensor = value;
  }
}

void Node::setSequence(unsigned i, std::vector<Value> values) {
  if (i < outputs.size()) {
    outputs[i].sequence = std::move(values);
  }
}

void Node::setAbsent(unsigned i) {
  if (i < outputs.size()) {
    outputs[i].isAbsent = true;
  }
}

//===----------------------------------------------------------------------===//
// Reporting
//===----------------------------------------------------------------------===//

ImportDiagnostics &Node::diags() { return importer.diags; }

LogicalResult Node::invalid(const Twine &message) {
  isFailed = true;
  return diags().invalid(label, Twine(proto.op_type()) + ": " + message);
}

LogicalResult Node::unsupported(const Twine &message, const Twine &hint) {
  isFailed = true;
  return diags().unsupported(
      label, "unsupported " + Twine(proto.op_type()) + ": " + message, hint);
}

//===----------------------------------------------------------------------===//
// Values known at import
//===----------------------------------------------------------------------===//

const HostTensor *Node::known(Value value) { return importer.known(value); }

std::optional<SmallVector<int64_t>> Node::constantInts(unsigned i,
                                                       StringRef what) {
  Value value = in(i);
  if (!value) {
    if (!isFailed) {
      (void)invalid("input " + Twine(i) + " (" + what + ") is missing");
    }
    return std::nullopt;
  }
  const HostTensor *tensor = known(value);
  if (!tensor) {
    (void)unsupported("its " + what + " is not known at compile time",
                      "bind the inputs it depends on with --bind-input");
    return std::nullopt;
  }
  if (tensor->isFloat()) {
    (void)invalid("expected integers as " + what);
    return std::nullopt;
  }
  return SmallVector<int64_t>(tensor->ints.begin(), tensor->ints.end());
}

std::optional<int64_t> Node::constantInt(unsigned i, StringRef what) {
  auto values = constantInts(i, what);
  if (!values) {
    return std::nullopt;
  }
  if (values->size() != 1) {
    (void)invalid("expected one number as " + what + ", got " +
                  Twine(values->size()));
    return std::nullopt;
  }
  return values->front();
}

std::optional<SmallVector<double>> Node::constantFloats(unsigned i,
                                                        StringRef what) {
  Value value = in(i);
  if (!value) {
    return std::nullopt;
  }
  const HostTensor *tensor = known(value);
  if (!tensor) {
    (void)unsupported("its " + what + " is not known at compile time",
                      "bind the inputs it depends on with --bind-input");
    return std::nullopt;
  }
  if (tensor->isFloat()) {
    return SmallVector<double>(tensor->floats.begin(), tensor->floats.end());
  }
  return SmallVector<double>(tensor->ints.begin(), tensor->ints.end());
}

std::optional<double> Node::constantFloat(unsigned i, StringRef what) {
  auto values = constantFloats(i, what);
  if (!values) {
    return std::nullopt;
  }
  if (values->size() != 1) {
    (void)invalid("expected one number as " + what + ", got " +
                  Twine(values->size()));
    return std::nullopt;
  }
  return values->front();
}

std::optional<SmallVector<int64_t>>
Node::attributeOrInput(StringRef name, unsigned i, int64_t sinceOpset) {
  if (opset < sinceOpset) {
    return attrs.findInts(name);
  }
  return has(i) ? constantInts(i, name) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

Operation *Node::finish(OperationState &state, InferFn infer) {
  if (llvm::is_contained(state.operands, Value())) {
    // Null operands come from an earlier defect, unless a node leaves out an
    // input that its operator needs.
    if (!hasFailed()) {
      (void)invalid("a required input is missing");
    }
    return nullptr;
  }
  importer.mlirMessage.clear();
  MLIRContext *context = b.getContext();
  if (infer) {
    SmallVector<Type> types;
    if (failed(infer(context, loc, state.operands,
                     state.attributes.getDictionary(context),
                     state.getRawProperties(), state.regions, types))) {
      (void)invalid(importer.mlirMessage.empty() ? "operands do not fit"
                                                 : importer.mlirMessage);
      return nullptr;
    }
    state.types.assign(types.begin(), types.end());
  }
  for (Type type : state.types) {
    if (!fitsLimits(type)) {
      return nullptr;
    }
  }
  // What is made of constants alone is computed when the program is written.
  bool isConstant = importer.areConstant(state.operands);
  if (isConstant && !fitsConstantLimit(state.types.front())) {
    return nullptr;
  }
  Operation *op = b.create(state);
  if (failed(mlir::verify(op, /*verifyRecursively=*/false))) {
    StringRef text = importer.mlirMessage;
    text.consume_front(("'" + op->getName().getStringRef() + "' op ").str());
    (void)invalid(text);
    op->erase();
    return nullptr;
  }
  if (isConstant) {
    importer.markConstant(op);
  }
  importer.learn(op);
  return op;
}

bool Node::fitsLimits(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor) {
    return true;
  }
  if (static_cast<size_t>(tensor.getRank()) > maxRank) {
    (void)diags().limit(label, "result has more than " + Twine(maxRank) +
                                   " dimensions");
    isFailed = true;
    return false;
  }
  if (!countElements(tensor.getShape())) {
    (void)diags().limit(label, "result has more than " + Twine(maxElements) +
                                   " elements");
    isFailed = true;
    return false;
  }
  return true;
}

bool Node::fitsConstantLimit(Type type) {
  auto tensor = mlir::cast<RankedTensorType>(type);
  uint64_t bytes = static_cast<uint64_t>(tensor.getNumElements()) *
                   llvm::divideCeil(tensor.getElementTypeBitWidth(), 8u);
  if (bytes <= importer.getConstantLimit()) {
    return true;
  }
  (void)diags().limit(label, "constant result of " + Twine(bytes) +
                                 " bytes, more than " +
                                 Twine(importer.getConstantLimit()));
  isFailed = true;
  return false;
}

Value Node::reshape(Value input, ArrayRef<int64_t> newShape) {
  if (!input) {
    return {};
  }
  if (shape(input) == newShape) {
    return input;
  }
  return buildTyped<amp::ReshapeOp>(
      RankedTensorType::get(newShape, element(input)), input);
}

Value Node::broadcast(Value input, ArrayRef<int64_t> newShape) {
  if (!input) {
    return {};
  }
  if (shape(input) == newShape) {
    return input;
  }
  return buildTyped<amp::BroadcastOp>(
      RankedTensorType::get(newShape, element(input)), input);
}

Value Node::transpose(Value input, ArrayRef<int64_t> permutation) {
  if (!input) {
    return {};
  }
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size())) &&
      static_cast<int64_t>(permutation.size()) == rank(input)) {
    return input;
  }
  return build<amp::TransposeOp>(input, permutation);
}

Value Node::sliceDim(Value input, int64_t dim, int64_t start, int64_t size,
                     int64_t stride) {
  if (!input) {
    return {};
  }
  SmallVector<int64_t> starts(rank(input), 0), sizes(shape(input)),
      strides(rank(input), 1);
  starts[dim] = start;
  sizes[dim] = size;
  strides[dim] = stride;
  if (start == 0 && stride == 1 && shape(input)[dim] == size) {
    return input;
  }
  return build<amp::SliceOp>(input, starts, sizes, strides);
}

Value Node::concat(ArrayRef<Value> inputs, int64_t axis) {
  if (inputs.size() == 1) {
    return inputs.front();
  }
  return build<amp::ConcatOp>(ValueRange(inputs), axis);
}

Value Node::cast(Value input, Type to) {
  if (!input || element(input) == to) {
    return input;
  }
  return buildTyped<amp::CastOp>(
      mlir::cast<RankedTensorType>(input.getType()).clone(to), input,
      /*saturate=*/false, /*from_model=*/false);
}

Value Node::reduceSum(Value input, ArrayRef<int64_t> axes, bool keepdims) {
  return input ? build<amp::ReduceSumOp>(input, axes, keepdims) : Value();
}

Value Node::iota(Type element, ArrayRef<int64_t> shape, int64_t dim) {
  return buildTyped<amp::IotaOp>(RankedTensorType::get(shape, element), dim);
}

Value Node::constant(ElementsAttr value) {
  if (!fitsLimits(value.getType()) || !fitsConstantLimit(value.getType())) {
    return {};
  }
  auto op = amp::ConstantOp::create(b, loc, value.getType(), value);
  importer.markConstant(op);
  importer.learn(op);
  return op;
}

Value Node::constant(const HostTensor &tensor) {
  return constant(makeElementsAttr(tensor));
}

Value Node::splat(RankedTensorType type, double value) {
  Attribute attr;
  if (auto floatType = dyn_cast<FloatType>(type.getElementType())) {
    attr = FloatAttr::get(floatType, value);
  } else {
    attr = IntegerAttr::get(
        type.getElementType(),
        llvm::APInt(type.getElementTypeBitWidth(),
                    static_cast<uint64_t>(static_cast<int64_t>(value)),
                    /*isSigned=*/false,
                    /*implicitTrunc=*/true));
  }
  return constant(DenseElementsAttr::get(type, attr));
}

Value Node::scalar(Type element, double value) {
  return element ? splat(RankedTensorType::get({}, element), value) : Value();
}

Value Node::ints(ArrayRef<int64_t> values, Type element) {
  HostTensor tensor;
  tensor.type = RankedTensorType::get({static_cast<int64_t>(values.size())},
                                      element ? element : b.getI64Type());
  tensor.ints.assign(values.begin(), values.end());
  return constant(tensor);
}

SmallVector<Value> Node::composite(ArrayRef<Value> operands, BodyFn body,
                                   ArrayRef<int64_t> pinned) {
  std::optional<AutocastClass> cls = entry->cls.get(b.getContext());
  assert(cls && "an operator that becomes a composite declares its class");
  return composite(*cls, operands, body, pinned);
}

SmallVector<Value> Node::composite(AutocastClass cls, ArrayRef<Value> operands,
                                   BodyFn body, ArrayRef<int64_t> pinned) {
  SmallVector<Value> failed(std::max<size_t>(outputs.size(), 1));
  if (llvm::is_contained(operands, Value())) {
    if (!hasFailed()) {
      (void)invalid("a required input is missing");
    }
    return failed;
  }
  OpBuilder::InsertPoint outside = b.saveInsertionPoint();
  Region region;
  Block &block = region.emplaceBlock();
  for (Value operand : operands) {
    auto type = mlir::cast<RankedTensorType>(operand.getType());
    Type inner = element(operand);
    if (inner.isF16() || inner.isBF16()) {
      inner = b.getF32Type();
    }
    block.addArgument(type.clone(inner), loc);
  }
  b.setInsertionPointToStart(&block);
  SmallVector<Value> arguments(block.getArguments());
  // What is known of an operand is known of the argument, too.
  for (auto [argument, operand] : llvm::zip_equal(arguments, operands)) {
    if (const HostTensor *tensor = known(operand);
        tensor && !tensor->isFloat()) {
      importer.learn(argument, HostTensor(*tensor));
    }
  }
  SmallVector<Value> yields = body(arguments);
  if (!hasFailed() && !llvm::is_contained(yields, Value())) {
    amp::YieldOp::create(b, loc, yields);
  }
  b.restoreInsertionPoint(outside);
  if (llvm::is_contained(yields, Value()) || hasFailed()) {
    if (!hasFailed()) {
      (void)invalid("a required input is missing");
    }
    importer.forget(region);
    return failed;
  }
  OperationState state(loc, amp::CompositeOp::getOperationName());
  amp::CompositeOp::build(b, state, TypeRange(ValueRange(yields)),
                          proto.op_type(), cls, operands, pinned);
  state.regions.front()->takeBody(region);
  auto op = mlir::cast<amp::CompositeOp>(b.create(state));
  (void)op.updateResultTypes();
  return SmallVector<Value>(op.getResults());
}

Value Node::composite1(ArrayRef<Value> operands,
                       function_ref<Value(ArrayRef<Value>)> body,
                       ArrayRef<int64_t> pinned) {
  return composite(
             operands,
             [&](ArrayRef<Value> arguments) {
               return SmallVector<Value>{body(arguments)};
             },
             pinned)
      .front();
}

//===----------------------------------------------------------------------===//
// Asking
//===----------------------------------------------------------------------===//

ArrayRef<int64_t> Node::shape(Value value) {
  auto type =
      value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
  return type ? type.getShape() : ArrayRef<int64_t>();
}

Type Node::element(Value value) {
  return value ? getElementTypeOrSelf(value.getType()) : Type();
}

bool Node::isFloat(Value value) {
  return isa_and_nonnull<FloatType>(element(value));
}

std::optional<int64_t> Node::axis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) {
    (void)invalid("axis " + Twine(axis) +
                  " is no dimension of a tensor of "
                  "rank " +
                  Twine(rank));
    return std::nullopt;
  }
  return axis < 0 ? axis + rank : axis;
}

std::optional<SmallVector<int64_t>> Node::axes(ArrayRef<int64_t> list,
                                               int64_t rank) {
  SmallVector<int64_t> result;
  for (int64_t entry : list) {
    auto resolved = axis(entry, rank);
    if (!resolved) {
      return std::nullopt;
    }
    result.push_back(*resolved);
  }
  llvm::sort(result);
  if (std::adjacent_find(result.begin(), result.end()) != result.end()) {
    (void)invalid("an axis stands twice");
    return std::nullopt;
  }
  return result;
}

} // namespace ampc::importer
