//===- RewriteConstants.cpp - Constants in the types they are read in -----===//
#include "compiler/Export/Decisions.h"
#include "compiler/Export/GraphRewriter.h"
#include "compiler/Import/Proto/onnx_subset.pb.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace ampc::exporter {

/// The types that a constant is wanted in, in the order of its uses.
std::vector<int32_t>
GraphRewriter::getConstantTypes(const ValuePlan &value) const {
  std::vector<int32_t> types;
  for (const auto &[use, count] : value.uses) {
    int32_t type = use.rounded != 0 ? use.rounded : use.type;
    type = isEligible(type) && isEligible(value.current) ? type : value.current;
    if (!is_contained(types, type)) {
      types.push_back(type);
    }
  }
  return types;
}

/// A constant keeps its name for its own type if that is read, else for the
/// first other one.
void GraphRewriter::nameConstants(const RegionPlan &region) {
  for (const ValuePlan *constant : constants[&region]) {
    const ValuePlan &value = *constant;
    std::vector<int32_t> types = getConstantTypes(value);
    int32_t named = types.empty() || is_contained(types, value.current)
                        ? value.current
                        : types.front();
    valueNames[{&value, named}] = value.name;
    namedTypes[&value] = named;
    for (int32_t type : types) {
      if (type != named) {
        valueNames[{&value, type}] = names.make(
            value.name, type == onnx::TensorProto::FLOAT16    ? "fp16"
                        : type == onnx::TensorProto::BFLOAT16 ? "bf16"
                                                              : "fp32");
      }
    }
  }
}

/// Replaces the elements of `tensor` by a reference to those of `value` in
/// `type`.
void GraphRewriter::fillTensor(onnx::TensorProto &tensor,
                               const ValuePlan &value, int32_t type) {
  const void *source = value.constant;
  if (!source) {
    source = value.numbers;
  }
  auto [it, isNew] =
      conversionIndex.try_emplace({source, type}, conversions.size());
  if (isNew) {
    conversions.push_back({value.constant, value.numbers, type});
  }
  if (value.numbers) {
    tensor.clear_dims();
    if (!value.isWeak) {
      tensor.add_dims(value.numbers->floats_size());
    }
  }
  tensor.clear_float_data();
  tensor.clear_int32_data();
  tensor.clear_raw_data();
  tensor.clear_external_data();
  tensor.clear_data_location();
  tensor.set_data_type(type);
  tensor.set_raw_slice(firstConversion + it->second);
}

void GraphRewriter::rewriteInitializers(RegionPlan &region,
                                        onnx::GraphProto &graph) {
  int count = graph.initializer_size();
  for (int i = 0; i < count; ++i) {
    std::string name = graph.initializer(i).name();
    const ValuePlan *value = region.scope.lookup(name);
    if (!value || !value->isConstant()) {
      continue;
    }
    for (int32_t type : getConstantTypes(*value)) {
      if (type == value->current) {
        continue;
      }
      const std::string &place = valueNames[{value, type}];
      onnx::TensorProto &tensor = place == name ? *graph.mutable_initializer(i)
                                                : *graph.add_initializer();
      if (place != name) {
        tensor = graph.initializer(i);
        tensor.set_name(place);
      }
      fillTensor(tensor, *value, type);
      if (place != name && model.ir_version() < 4 && &region == &plan.graph) {
        // Old files list every initializer among the inputs.
        onnx::ValueInfoProto &input = *graph.add_input();
        input.set_name(place);
        auto &described = *input.mutable_type()->mutable_tensor_type();
        described.set_elem_type(type);
        for (int64_t dim : tensor.dims()) {
          described.mutable_shape()->add_dim()->set_dim_value(dim);
        }
      }
    }
  }
  for (onnx::ValueInfoProto &input : *graph.mutable_input()) {
    const ValuePlan *value = region.scope.lookup(input.name());
    if (value && value->isConstant() && input.type().has_tensor_type()) {
      input.mutable_type()->mutable_tensor_type()->set_elem_type(
          namedTypes.lookup(value));
    }
  }
}

void GraphRewriter::rewriteConstantNode(
    RegionPlan &region, const ValuePlan &value,
    std::unique_ptr<onnx::NodeProto> proto) {
  Emission &emission = emissions[&region];
  std::vector<std::unique_ptr<onnx::NodeProto>> copies;
  const onnx::NodeProto original = *proto;
  for (int32_t type : getConstantTypes(value)) {
    if (type == value.current) {
      continue;
    }
    const std::string &place = valueNames[{&value, type}];
    auto node = std::make_unique<onnx::NodeProto>(original);
    if (place != value.name) {
      node->set_output(0, place);
      node->set_name(names.make(place, "constant"));
    }
    for (onnx::AttributeProto &attribute : *node->mutable_attribute()) {
      if (StringRef(attribute.name()).starts_with("value")) {
        attribute.set_name("value");
        attribute.set_type(onnx::AttributeProto::TENSOR);
        attribute.clear_f();
        attribute.clear_floats();
        fillTensor(*attribute.mutable_t(), value, type);
      }
    }
    if (place == value.name) {
      proto = std::move(node);
    } else {
      copies.push_back(std::move(node));
    }
  }
  emission.nodes.push_back(std::move(proto));
  move(copies, std::back_inserter(emission.nodes));
}

} // namespace ampc::exporter
