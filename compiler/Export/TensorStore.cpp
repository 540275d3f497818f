//===- TensorStore.cpp - Where the elements of tensors go -----------------===//
#include "compiler/Export/TensorStore.h"

#include "compiler/Export/ConvertElements.h"
#include "compiler/Import/Proto/onnx_subset.pb.h"
#include "compiler/Import/TensorView.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace ampc::exporter {

using google::protobuf::RepeatedPtrField;
using onnx::TensorProto;

/// Smaller tensors stay in the message, where shape inference needs them.
static constexpr uint64_t minBeside = 1024;
/// Readers map the data, a tensor at a time.
static constexpr uint64_t dataAlignment = 4096;
/// Protobuf's limit on a message, less what is no tensor.
static constexpr uint64_t maxInside =
    (uint64_t(1) << 31) - (uint64_t(64) << 20);

//===----------------------------------------------------------------------===//
// All tensors of a model
//===----------------------------------------------------------------------===//

using Visit = function_ref<LogicalResult(TensorProto &)>;

static LogicalResult visitGraph(onnx::GraphProto &graph, Visit visit);

static LogicalResult visitSparse(onnx::SparseTensorProto &tensor, Visit visit) {
  return success(
      (!tensor.has_values() || succeeded(visit(*tensor.mutable_values()))) &&
      (!tensor.has_indices() || succeeded(visit(*tensor.mutable_indices()))));
}

static LogicalResult
visitAttributes(RepeatedPtrField<onnx::AttributeProto> &attributes,
                Visit visit) {
  for (onnx::AttributeProto &attribute : attributes) {
    if ((attribute.has_t() && failed(visit(*attribute.mutable_t()))) ||
        (attribute.has_g() &&
         failed(visitGraph(*attribute.mutable_g(), visit))) ||
        (attribute.has_sparse_tensor() &&
         failed(visitSparse(*attribute.mutable_sparse_tensor(), visit)))) {
      return failure();
    }
    for (TensorProto &tensor : *attribute.mutable_tensors()) {
      if (failed(visit(tensor))) {
        return failure();
      }
    }
    for (onnx::GraphProto &graph : *attribute.mutable_graphs()) {
      if (failed(visitGraph(graph, visit))) {
        return failure();
      }
    }
    for (auto &tensor : *attribute.mutable_sparse_tensors()) {
      if (failed(visitSparse(tensor, visit))) {
        return failure();
      }
    }
  }
  return success();
}

static LogicalResult visitNodes(RepeatedPtrField<onnx::NodeProto> &nodes,
                                Visit visit) {
  for (onnx::NodeProto &node : nodes) {
    if (failed(visitAttributes(*node.mutable_attribute(), visit))) {
      return failure();
    }
  }
  return success();
}

static LogicalResult visitGraph(onnx::GraphProto &graph, Visit visit) {
  for (TensorProto &tensor : *graph.mutable_initializer()) {
    if (failed(visit(tensor))) {
      return failure();
    }
  }
  for (auto &tensor : *graph.mutable_sparse_initializer()) {
    if (failed(visitSparse(tensor, visit))) {
      return failure();
    }
  }
  return visitNodes(*graph.mutable_node(), visit);
}

static LogicalResult visitModel(onnx::ModelProto &model, Visit visit) {
  if (failed(visitGraph(*model.mutable_graph(), visit))) {
    return failure();
  }
  for (onnx::FunctionProto &function : *model.mutable_functions()) {
    if (failed(visitAttributes(*function.mutable_attribute_proto(), visit)) ||
        failed(visitNodes(*function.mutable_node(), visit))) {
      return failure();
    }
  }
  for (onnx::TrainingInfoProto &training : *model.mutable_training_info()) {
    if (failed(visitGraph(*training.mutable_initialization(), visit)) ||
        failed(visitGraph(*training.mutable_algorithm(), visit))) {
      return failure();
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// One tensor
//===----------------------------------------------------------------------===//

uint64_t TensorStore::Elements::getSize() const {
  return from == to ? bytes.size()
                    : bytes.size() / getElementSize(from) * getElementSize(to);
}

void TensorStore::Elements::write(raw_ostream &os) const {
  if (from == to) {
    os.write(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  } else {
    convertElements(bytes, from, to, os);
  }
}

static bool isBeside(const TensorProto &tensor) {
  return tensor.data_location() == TensorProto::EXTERNAL;
}

/// The elements of a tensor that has them elsewhere than in itself.
std::optional<TensorStore::Elements>
TensorStore::find(const TensorProto &tensor) {
  bool converts =
      tensor.has_raw_slice() && tensor.raw_slice() >= firstConversion;
  if (!converts) {
    auto view = importer::readTensor(file, tensor, tensor.name(), diags);
    return view ? std::optional(Elements{view->bytes}) : std::nullopt;
  }
  const Conversion &conversion =
      conversions[tensor.raw_slice() - firstConversion];
  if (conversion.numbers) {
    const auto &many = conversion.numbers->floats();
    bool isOne = conversion.numbers->has_f();
    float one = conversion.numbers->f();
    MutableArrayRef<uint8_t> copy =
        file.allocateBytes(isOne ? sizeof(one) : many.size() * sizeof(float));
    memcpy(copy.data(), isOne ? &one : many.data(), copy.size());
    return Elements{copy, TensorProto::FLOAT, conversion.type};
  }
  auto view =
      importer::readTensor(file, *conversion.source, tensor.name(), diags);
  return view ? std::optional(
                    Elements{view->bytes, view->elementType, conversion.type})
              : std::nullopt;
}

bool TensorStore::goesBeside(const TensorProto &tensor, uint64_t size) const {
  if (options.place == ExportOptions::Inside || size < minBeside) {
    return false;
  }
  if (allBeside || options.place == ExportOptions::Beside) {
    return true;
  }
  // A converted tensor goes where the old one is.
  if (tensor.has_raw_slice() && tensor.raw_slice() >= firstConversion) {
    const TensorProto *source =
        conversions[tensor.raw_slice() - firstConversion].source;
    return source && isBeside(*source);
  }
  return isBeside(tensor);
}

LogicalResult TensorStore::storeBeside(TensorProto &tensor,
                                       const Elements &elements) {
  if (!data) {
    if (overwritesOld) {
      return diags.error(importer::ErrorCategory::Usage, "",
                         "'" + options.dataName +
                             "' holds tensors of the model, and would be "
                             "overwritten",
                         "--external-weights=FILE names another");
    }
    data = openData();
    if (!data) {
      return failure();
    }
  }
  uint64_t begin = alignTo(dataSize, dataAlignment);
  data->write_zeros(static_cast<unsigned>(begin - dataSize));
  elements.write(*data);
  dataSize = begin + elements.getSize();
  tensor.clear_raw_data();
  tensor.clear_raw_slice();
  tensor.clear_external_data();
  tensor.set_data_location(TensorProto::EXTERNAL);
  std::pair<const char *, std::string> entries[] = {
      {"location", options.dataName},
      {"offset", std::to_string(begin)},
      {"length", std::to_string(elements.getSize())}};
  for (const auto &[key, value] : entries) {
    onnx::StringStringEntryProto &entry = *tensor.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  }
  return success();
}

LogicalResult TensorStore::store(TensorProto &tensor) {
  bool isMoved = isBeside(tensor) &&
                 (movesShared || options.place == ExportOptions::Inside);
  bool wantsMove = options.place == ExportOptions::Beside || allBeside;
  if (!tensor.has_raw_slice() && !isMoved &&
      !(wantsMove && tensor.has_raw_data())) {
    return success();
  }
  std::optional<Elements> elements = find(tensor);
  if (!elements) {
    return failure();
  }
  if (goesBeside(tensor, elements->getSize())) {
    return storeBeside(tensor, *elements);
  }
  if (tensor.has_raw_data()) {
    return success();
  }
  std::string bytes;
  bytes.reserve(elements->getSize());
  raw_string_ostream os(bytes);
  elements->write(os);
  os.flush();
  tensor.clear_raw_slice();
  tensor.clear_external_data();
  tensor.clear_data_location();
  tensor.set_raw_data(std::move(bytes));
  return success();
}

/// Decides what the size of the message, and the names of files that the model
/// refers to, ask for.
void TensorStore::choosePlace(onnx::ModelProto &model) {
  uint64_t inside = 0;
  movesShared = !options.sharesFolder || options.place == ExportOptions::Beside;
  auto count = [&](TensorProto &tensor) {
    uint64_t size = tensor.raw_data().size();
    if (tensor.has_raw_slice()) {
      auto elements = find(tensor);
      size = elements ? elements->getSize() : 0;
      size = goesBeside(tensor, size) ? 0 : size;
    }
    inside += size;
    for (const auto &entry : tensor.external_data()) {
      SmallString<64> location(entry.value());
      sys::path::remove_dots(location);
      overwritesOld |= entry.key() == "location" && options.sharesFolder &&
                       location == options.dataName;
    }
    return success();
  };
  (void)visitModel(model, count);
  allBeside = options.place == ExportOptions::Auto && inside > maxInside;
}

LogicalResult TensorStore::run(onnx::ModelProto &model) {
  choosePlace(model);
  return visitModel(model, [&](TensorProto &tensor) { return store(tensor); });
}

} // namespace ampc::exporter
