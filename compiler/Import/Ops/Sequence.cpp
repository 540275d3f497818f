//===- Sequence.cpp - Sequences and optionals known element by element ----===//
#include "compiler/Import/Importer.h"
#include "compiler/Import/Node.h"
#include "compiler/Import/OpTable.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace ampc::importer {

/// The sequence that is input `i`; null after reporting.
static const std::vector<Value> *sequence(Node &n, unsigned i) {
  if (!n.entity(i).sequence) {
    (void)n.invalid("expected a sequence as input " + Twine(i));
    return nullptr;
  }
  return &*n.entity(i).sequence;
}

/// A position in a sequence of `size` elements, counted from the end when
/// negative; nothing after reporting.
static std::optional<int64_t> readPosition(Node &n, unsigned input,
                                           int64_t size) {
  auto position = n.constantInt(input, "position");
  if (!position) {
    return std::nullopt;
  }
  return n.axis(*position, size);
}

static LogicalResult convertConstruct(Node &n) {
  SmallVector<Value> inputs = n.allInputs();
  n.setSequence(0, std::vector<Value>(inputs.begin(), inputs.end()));
  return success();
}

static LogicalResult convertEmpty(Node &n) {
  n.attrs.ignore("dtype");
  n.setSequence(0, {});
  return success();
}

static LogicalResult convertAt(Node &n) {
  const std::vector<Value> *values = sequence(n, 0);
  auto position = values ? readPosition(n, 1, values->size()) : std::nullopt;
  if (!position) {
    return failure();
  }
  n.set(0, (*values)[*position]);
  return success();
}

static LogicalResult convertInsert(Node &n) {
  const std::vector<Value> *values = sequence(n, 0);
  if (!values) {
    return failure();
  }
  std::vector<Value> result = *values;
  int64_t position = result.size();
  if (n.has(2)) {
    // One more place than elements: the end.
    auto given = n.constantInt(2, "position");
    int64_t size = result.size();
    if (!given || *given < -size || *given > size) {
      return n.hasFailed() ? failure() : n.invalid("its position is outside");
    }
    position = *given < 0 ? *given + size : *given;
  }
  result.insert(result.begin() + position, n.in(1));
  n.setSequence(0, std::move(result));
  return success();
}

static LogicalResult convertErase(Node &n) {
  const std::vector<Value> *values = sequence(n, 0);
  if (!values) {
    return failure();
  }
  std::vector<Value> result = *values;
  if (result.empty()) {
    return n.invalid("its sequence is empty");
  }
  auto position = n.has(1) ? readPosition(n, 1, result.size())
                           : std::optional<int64_t>(result.size() - 1);
  if (!position) {
    return failure();
  }
  result.erase(result.begin() + *position);
  n.setSequence(0, std::move(result));
  return success();
}

static LogicalResult convertLength(Node &n) {
  const std::vector<Value> *values = sequence(n, 0);
  if (!values) {
    return failure();
  }
  HostTensor tensor;
  tensor.type = RankedTensorType::get({}, n.b.getI64Type());
  tensor.ints.push_back(values->size());
  n.set(0, n.constant(tensor));
  return success();
}

static LogicalResult convertSplit(Node &n) {
  Value x = n.in(0);
  auto axis = n.axis(n.attrs.getInt("axis", 0), n.rank(x));
  bool keepdims = n.attrs.getFlag("keepdims", true);
  if (!axis) {
    return failure();
  }
  int64_t dim = n.shape(x)[*axis];
  SmallVector<int64_t> sizes;
  if (!n.has(1)) {
    sizes.assign(dim, 1);
  } else {
    auto split = n.constantInts(1, "split");
    if (!split) {
      return failure();
    }
    if (n.rank(n.in(1)) != 0) {
      sizes = *split;
    } else {
      int64_t part = split->front();
      if (part < 1) {
        return n.invalid("its parts have " + Twine(part) + " elements");
      }
      for (int64_t rest = dim; rest > 0; rest -= part) {
        sizes.push_back(std::min(part, rest));
      }
    }
    keepdims = true; // squeezing is for parts of one element by default only
  }
  std::vector<Value> parts;
  int64_t start = 0;
  for (int64_t size : sizes) {
    if (size < 0 || size > dim - start) {
      return n.invalid("its parts do not sum to the dimension's size");
    }
    Value part = n.sliceDim(x, *axis, start, size);
    if (!keepdims) {
      SmallVector<int64_t> shape(n.shape(x));
      shape.erase(shape.begin() + *axis);
      part = n.reshape(part, shape);
    }
    parts.push_back(part);
    start += size;
  }
  if (start != dim) {
    return n.invalid("its parts do not sum to the dimension's size");
  }
  n.setSequence(0, std::move(parts));
  return success();
}

static LogicalResult convertConcat(Node &n) {
  const std::vector<Value> *values = sequence(n, 0);
  bool isNew = n.attrs.getFlag("new_axis");
  int64_t given = n.attrs.requireInt("axis");
  if (!values || n.hasFailed()) {
    return failure();
  }
  if (values->empty()) {
    return n.invalid("its sequence is empty");
  }
  auto axis = n.axis(given, n.rank(values->front()) + isNew);
  if (!axis) {
    return failure();
  }
  SmallVector<Value> parts(values->begin(), values->end());
  if (isNew) {
    for (Value &part : parts) {
      SmallVector<int64_t> shape(n.shape(part));
      if (*axis > static_cast<int64_t>(shape.size())) {
        return n.invalid("its elements differ in rank");
      }
      shape.insert(shape.begin() + *axis, 1);
      part = n.reshape(part, shape);
    }
  }
  n.set(0, n.concat(parts, *axis));
  return success();
}

/// Applies the body to each element of the first sequence; further sequences
/// go along, tensors are passed as they are.
static LogicalResult convertMap(Node &n) {
  const onnx::GraphProto *graph = n.attrs.findGraph("body");
  const std::vector<Value> *first = sequence(n, 0);
  if (!graph || !first) {
    return graph ? failure() : n.invalid("it has no body");
  }
  if (graph->input_size() != static_cast<int>(n.numInputs())) {
    return n.invalid("its body does not fit its operands");
  }
  std::vector<std::vector<Value>> results(graph->output_size());
  for (size_t i = 0; i < first->size(); ++i) {
    SmallVector<Entity> arguments;
    for (unsigned input = 0; input < n.numInputs(); ++input) {
      const Entity &entity = n.entity(input);
      if (!entity.sequence) {
        arguments.push_back(entity);
        continue;
      }
      if (entity.sequence->size() != first->size()) {
        return n.invalid("its sequences differ in length");
      }
      arguments.push_back({(*entity.sequence)[i], std::nullopt});
    }
    auto outputs =
        n.importer.importSubgraph(n, *graph, arguments, std::to_string(i));
    for (auto [list, output] : llvm::zip_equal(results, outputs)) {
      if (!output.tensor) {
        n.markFailed();
        return failure();
      }
      list.push_back(output.tensor);
    }
  }
  for (auto [i, list] : llvm::enumerate(results)) {
    n.setSequence(i, std::move(list));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Optionals
//===----------------------------------------------------------------------===//

static LogicalResult convertOptional(Node &n) {
  n.attrs.ignore("type");
  if (!n.has(0)) {
    n.setAbsent(0);
  } else if (n.entity(0).sequence) {
    n.setSequence(0, *n.entity(0).sequence);
  } else {
    n.set(0, n.in(0));
  }
  return success();
}

static LogicalResult convertGetElement(Node &n) {
  if (!n.has(0)) {
    return n.invalid("its optional is empty");
  }
  return convertOptional(n);
}

static LogicalResult convertHasElement(Node &n) {
  n.set(0, n.scalar(n.b.getI1Type(), n.has(0)));
  return success();
}

void addSequenceOps(OpTable &table) {
  table.add({
      {"ConcatFromSequence", convertConcat, OpClass::of<amp::ConcatOp>(), 1, 1},
      {"Optional", convertOptional, OpClass::none(), 0, 1},
      {"OptionalGetElement", convertGetElement, OpClass::none(), 0, 1},
      {"OptionalHasElement", convertHasElement, OpClass::none(), 0, 1},
      {"SequenceAt", convertAt, OpClass::none(), 2, 2},
      {"SequenceConstruct", convertConstruct, OpClass::none(), 1, anyNumber},
      {"SequenceEmpty", convertEmpty, OpClass::none(), 0, 0},
      {"SequenceErase", convertErase, OpClass::none(), 1, 2},
      {"SequenceInsert", convertInsert, OpClass::none(), 2, 3},
      {"SequenceLength", convertLength, OpClass::none(), 1, 1},
      {"SequenceMap", convertMap, OpClass::none(), 1, anyNumber, anyNumber},
      {"SplitToSequence", convertSplit, OpClass::of<amp::SliceOp>(), 1, 2},
  });
}

} // namespace ampc::importer
