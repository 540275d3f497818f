//===- ControlFlow.cpp - If, Loop and Scan --------------------------------===//
//
// What import can decide is unrolled. A branch it cannot decide becomes a
// select between the results of both: tensors are values, so computing the
// other one costs time but changes nothing.
//
//===----------------------------------------------------------------------===//
#include "compiler/Import/ElementTypes.h"
#include "compiler/Import/Importer.h"
#include "compiler/Import/Node.h"
#include "compiler/Import/OpTable.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace ampc::importer {

/// Iterations after which a loop counts as endless.
constexpr int64_t maxIterations = 65536;

static void setEntity(Node &n, unsigned i, const Entity &entity) {
  if (entity.sequence) {
    n.setSequence(i, *entity.sequence);
  } else if (entity.isAbsent) {
    n.setAbsent(i);
  } else {
    n.set(i, entity.tensor);
  }
}

/// The only element of a known boolean or number, else nothing.
static std::optional<int64_t> knownScalar(Node &n, Value value) {
  const HostTensor *tensor = value ? n.known(value) : nullptr;
  return tensor && tensor->ints.size() == 1 ? std::optional(tensor->ints[0])
                                            : std::nullopt;
}

/// Marks the node when a subgraph failed; its defects were reported.
static bool areKnown(Node &n, ArrayRef<Entity> entities) {
  bool known = llvm::all_of(
      entities, [](const Entity &e) { return e.isKnown() || e.isAbsent; });
  if (!known) {
    n.markFailed();
  }
  return known;
}

/// `condition ? lhs : rhs` for tensors of one type.
static Value select(Node &n, Value condition, const Entity &lhs,
                    const Entity &rhs) {
  if (!lhs.tensor || !rhs.tensor ||
      lhs.tensor.getType() != rhs.tensor.getType()) {
    (void)n.unsupported("results whose shape depends on a condition that is "
                        "not known at compile time");
    return {};
  }
  if (lhs.tensor == rhs.tensor) {
    return lhs.tensor;
  }
  return n.build<amp::SelectOp>(n.reshape(condition, {}), lhs.tensor,
                                rhs.tensor);
}

//===----------------------------------------------------------------------===//
// If
//===----------------------------------------------------------------------===//

static LogicalResult convertIf(Node &n) {
  const onnx::GraphProto *thenGraph = n.attrs.findGraph("then_branch");
  const onnx::GraphProto *elseGraph = n.attrs.findGraph("else_branch");
  if (!thenGraph || !elseGraph) {
    return n.invalid("it lacks a branch");
  }
  Value condition = n.in(0);
  if (*countElements(n.shape(condition)) != 1) {
    return n.invalid("expected a condition of one element");
  }
  auto import = [&](const onnx::GraphProto &graph, StringRef name) {
    return n.importer.importSubgraph(n, graph, {}, name);
  };
  if (auto decided = knownScalar(n, condition)) {
    auto results = *decided ? import(*thenGraph, "then_branch")
                            : import(*elseGraph, "else_branch");
    if (!areKnown(n, results)) {
      return failure();
    }
    for (auto [i, result] : llvm::enumerate(results)) {
      setEntity(n, i, result);
    }
    return success();
  }
  auto onTrue = import(*thenGraph, "then_branch");
  auto onFalse = import(*elseGraph, "else_branch");
  if (!areKnown(n, onTrue) || !areKnown(n, onFalse)) {
    return failure();
  }
  if (onTrue.size() != onFalse.size()) {
    return n.invalid("its branches differ in their number of results");
  }
  for (auto [i, pair] : llvm::enumerate(llvm::zip_equal(onTrue, onFalse))) {
    n.set(i, select(n, condition, std::get<0>(pair), std::get<1>(pair)));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Loop
//===----------------------------------------------------------------------===//

/// The elements of a scan output, stacked along a new dimension `axis`.
static Value stack(Node &n, ArrayRef<Value> parts, int64_t axis) {
  SmallVector<Value> expanded;
  for (Value part : parts) {
    SmallVector<int64_t> shape(n.shape(part));
    shape.insert(shape.begin() + axis, 1);
    expanded.push_back(n.reshape(part, shape));
  }
  return n.concat(expanded, axis);
}

/// A scan output of no iterations has the declared type with no elements.
static Value emptyScan(Node &n, const onnx::ValueInfoProto &output) {
  const onnx::TypeProto::Tensor &type = output.type().tensor_type();
  Type element = getElementType(n.b.getContext(), type.elem_type());
  SmallVector<int64_t> shape{0};
  for (const auto &dim : type.shape().dim()) {
    if (!dim.has_dim_value()) {
      element = {};
    }
    shape.push_back(dim.dim_value());
  }
  if (!element || !type.has_shape()) {
    (void)n.unsupported("scan output of no iterations without a static type");
    return {};
  }
  return n.splat(RankedTensorType::get(shape, element), 0);
}

namespace {
class LoopConverter {
public:
  explicit LoopConverter(Node &n) : n(n) {}
  LogicalResult run();

private:
  LogicalResult readBounds();
  LogicalResult iterate(int64_t iteration);
  LogicalResult finish();

  Node &n;
  const onnx::GraphProto *graph = nullptr;
  int64_t tripCount = maxIterations + 1; // beyond the limit: none was given
  SmallVector<Entity> carried;
  SmallVector<SmallVector<Value>> scans;
  Entity condition; // of the next iteration; absent means true
  Value isActive;   // null while iterations are certain to run
  bool isDone = false;
};
} // namespace

LogicalResult LoopConverter::readBounds() {
  graph = n.attrs.findGraph("body");
  if (!graph) {
    return n.invalid("it has no body");
  }
  if (n.has(0)) {
    auto given = n.constantInt(0, "trip count");
    if (!given) {
      return failure();
    }
    tripCount = std::clamp<int64_t>(*given, 0, maxIterations + 1);
  }
  condition.isAbsent = !n.has(1);
  if (n.has(1)) {
    condition.tensor = n.in(1);
  }
  for (unsigned i = 2; i < n.numInputs(); ++i) {
    carried.push_back(n.inputs[i]);
  }
  int numCarried = static_cast<int>(carried.size());
  if (graph->input_size() != numCarried + 2 ||
      graph->output_size() < numCarried + 1) {
    return n.invalid("its body does not fit its operands");
  }
  scans.resize(graph->output_size() - numCarried - 1);
  return success();
}

LogicalResult LoopConverter::iterate(int64_t iteration) {
  if (condition.tensor) {
    auto decided = knownScalar(n, condition.tensor);
    if (decided && !*decided && !isActive) {
      isDone = true;
      return success();
    }
    if (!decided) {
      Value now = n.reshape(condition.tensor, {});
      isActive = isActive ? n.build<amp::AndOp>(isActive, now) : now;
    }
  }
  if (iteration >= maxIterations) {
    (void)n.diags().limit(n.label, "Loop: more than " + Twine(maxIterations) +
                                       " iterations");
    n.markFailed();
    return failure();
  }
  if (isActive && !scans.empty()) {
    return n.unsupported("scan outputs of a loop whose end is not known at "
                         "compile time");
  }
  HostTensor count;
  count.type = RankedTensorType::get({}, n.b.getI64Type());
  count.ints.push_back(iteration);
  Entity running = condition;
  if (!running.tensor) {
    running = {n.scalar(n.b.getI1Type(), 1), std::nullopt};
  }
  SmallVector<Entity> arguments{{n.constant(count), std::nullopt}, running};
  arguments.append(carried.begin(), carried.end());
  auto results = n.importer.importSubgraph(n, *graph, arguments,
                                           std::to_string(iteration));
  if (!areKnown(n, results)) {
    return failure();
  }
  condition = results.front();
  if (auto decided = knownScalar(n, condition.tensor); decided && *decided) {
    condition = Entity();
    condition.isAbsent = true;
  }
  ArrayRef<Entity> next = ArrayRef(results).slice(1, carried.size());
  for (auto [old, fresh] : llvm::zip_equal(carried, next)) {
    old = isActive ? Entity{select(n, isActive, fresh, old), std::nullopt}
                   : fresh;
  }
  for (auto [scan, result] :
       llvm::zip_equal(scans, ArrayRef(results).drop_front(1 + next.size()))) {
    scan.push_back(result.tensor);
  }
  return success(!n.hasFailed());
}

LogicalResult LoopConverter::finish() {
  for (auto [i, entity] : llvm::enumerate(carried)) {
    setEntity(n, i, entity);
  }
  for (auto [i, scan] : llvm::enumerate(scans)) {
    int output = static_cast<int>(carried.size() + i);
    n.set(output, scan.empty() ? emptyScan(n, graph->output(output + 1))
                               : stack(n, scan, 0));
  }
  return success();
}

LogicalResult LoopConverter::run() {
  if (failed(readBounds())) {
    return failure();
  }
  for (int64_t i = 0; i < tripCount && !isDone; ++i) {
    if (failed(iterate(i))) {
      return failure();
    }
  }
  return finish();
}

static LogicalResult convertLoop(Node &n) { return LoopConverter(n).run(); }

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

namespace {
/// Axes and directions of the scanned inputs or outputs.
struct ScanList {
  SmallVector<int64_t> axes, directions;

  bool read(Node &n, StringRef prefix, size_t count) {
    axes = n.attrs.getInts((prefix + "_axes").str());
    directions = n.attrs.getInts((prefix + "_directions").str());
    axes.resize(axes.empty() ? count : axes.size(), 0);
    directions.resize(directions.empty() ? count : directions.size(), 0);
    return axes.size() == count && directions.size() == count;
  }
};
} // namespace

static LogicalResult convertScan(Node &n) {
  const onnx::GraphProto *graph = n.attrs.findGraph("body");
  int64_t numScans = n.attrs.requireInt("num_scan_inputs");
  int64_t numStates = static_cast<int64_t>(n.numInputs()) - numScans;
  if (!graph || numScans < 1 || numStates < 0 ||
      graph->input_size() != static_cast<int>(n.numInputs()) ||
      graph->output_size() < numStates) {
    return n.invalid("its body does not fit its operands");
  }
  ScanList in, out;
  if (!in.read(n, "scan_input", numScans) ||
      !out.read(n, "scan_output", graph->output_size() - numStates)) {
    return n.invalid("its axes or directions do not fit its operands");
  }
  SmallVector<Entity> states(n.inputs.begin(), n.inputs.begin() + numStates);
  int64_t length = -1;
  for (int64_t i = 0; i < numScans; ++i) {
    Value x = n.in(numStates + i);
    auto axis = n.axis(in.axes[i], n.rank(x));
    if (!axis) {
      return failure();
    }
    in.axes[i] = *axis;
    if (length >= 0 && n.shape(x)[*axis] != length) {
      return n.invalid("its scanned inputs differ in length");
    }
    length = n.shape(x)[*axis];
  }
  if (length == 0 || length > maxIterations) {
    return n.unsupported("scan of " + Twine(length) + " steps");
  }
  SmallVector<SmallVector<Value>> scans(out.axes.size());
  for (int64_t step = 0; step < length; ++step) {
    SmallVector<Entity> arguments(states);
    for (int64_t i = 0; i < numScans; ++i) {
      Value x = n.in(numStates + i);
      int64_t at = in.directions[i] ? length - 1 - step : step;
      SmallVector<int64_t> shape(n.shape(x));
      shape.erase(shape.begin() + in.axes[i]);
      Value part = n.reshape(n.sliceDim(x, in.axes[i], at, 1), shape);
      arguments.push_back({part, std::nullopt});
    }
    auto results =
        n.importer.importSubgraph(n, *graph, arguments, std::to_string(step));
    if (!areKnown(n, results)) {
      return failure();
    }
    states.assign(results.begin(), results.begin() + numStates);
    for (auto [scan, result] :
         llvm::zip_equal(scans, ArrayRef(results).drop_front(numStates))) {
      scan.push_back(result.tensor);
    }
  }
  for (auto [i, state] : llvm::enumerate(states)) {
    setEntity(n, i, state);
  }
  for (auto [i, scan] : llvm::enumerate(scans)) {
    if (out.directions[i]) {
      std::reverse(scan.begin(), scan.end());
    }
    auto axis = n.axis(out.axes[i], n.rank(scan.front()) + 1);
    if (!axis) {
      return failure();
    }
    n.set(numStates + i, stack(n, scan, *axis));
  }
  return success();
}

void addControlFlowOps(OpTable &table) {
  table.add({
      {"If", convertIf, OpClass::none(), 1, 1, anyNumber},
      {"Loop", convertLoop, OpClass::none(), 0, anyNumber, anyNumber},
      {"Scan", convertScan, OpClass::none(), 1, anyNumber, anyNumber, 9},
  });
}

} // namespace ampc::importer
