//===- GraphRewriter.cpp - Write a plan into the model's message ----------===//
#include "compiler/Export/GraphRewriter.h"

#include "compiler/Export/Decisions.h"
#include "compiler/Export/Schemas.h"
#include "compiler/Import/Proto/onnx_subset.pb.h"
#include "compiler/Import/TensorView.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace ampc::exporter {

using importer::getElementTypeName;

/// How fresh names tell types apart.
static StringRef getSuffix(int32_t type) {
  return type == onnx::TensorProto::FLOAT16    ? "fp16"
         : type == onnx::TensorProto::BFLOAT16 ? "bf16"
                                               : "fp32";
}

GraphRewriter::GraphRewriter(const importer::CheckedModel &checked,
                             ModelPlan &plan, onnx::ModelProto &model,
                             importer::ImportDiagnostics &diags)
    : checked(checked), plan(plan), model(model), diags(diags), names(model) {
  for (ValuePlan &value : plan.values) {
    if (value.isConstant()) {
      constants[value.home].push_back(&value);
    }
  }
}

LogicalResult GraphRewriter::run() {
  rewriteGraph(plan.graph, *model.mutable_graph());
  placeFunctions();
  return failure(failedCast);
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

void GraphRewriter::addCast(const RegionPlan &region, Emission &emission,
                            const std::string &input, const std::string &output,
                            int32_t type) {
  int64_t version = region.getVersion("");
  const OpSchema *schema = findSchema("", "Cast", version);
  if ((!schema || !schema->allows('b', type)) && !failedCast) {
    failedCast = true;
    (void)diags.unsupported("",
                            "Cast to " + getElementTypeName(type) +
                                " needs a newer operator set than " +
                                Twine(version),
                            "convert the model to opset 13 or later");
  }
  auto node = std::make_unique<onnx::NodeProto>();
  node->add_input(input);
  node->add_output(output);
  node->set_name(names.make(output, "cast"));
  node->set_op_type("Cast");
  onnx::AttributeProto &to = *node->add_attribute();
  to.set_name("to");
  if (version < 6) {
    to.set_s(type == onnx::TensorProto::FLOAT16 ? "FLOAT16" : "FLOAT");
    to.set_type(onnx::AttributeProto::STRING);
  } else {
    to.set_i(type);
    to.set_type(onnx::AttributeProto::INT);
  }
  emission.nodes.push_back(std::move(node));
}

/// The region in which a cast of `value` for a node of `region` stands: the
/// same for a branch, the one around it for a loop's body.
static RegionPlan &findCastRegion(RegionPlan &region, const ValuePlan &value) {
  RegionPlan *home = &region;
  while (home != value.home && home->parent &&
         (home->isLoopBody || value.isConstant())) {
    home = home->parent;
  }
  return *home;
}

std::string GraphRewriter::getName(RegionPlan &region, ValuePlan &value,
                                   Form form) {
  auto primary = valueNames.find({&value, value.current});
  std::string name = primary == valueNames.end() ? value.name : primary->second;
  if (value.isSequence || !isEligible(value.current) || form.type == 0) {
    return name;
  }
  if (form.rounded == form.type || form.rounded == value.current) {
    form.rounded = 0;
  }
  ValuePlan *source = value.exactSource;
  if (source && source->current == form.rounded && value.current == form.type) {
    return name;
  }
  if (form.rounded == 0 && form.type == value.current) {
    return name;
  }
  if (form.rounded == 0 && source && source->current == form.type) {
    return getName(region, *source, form);
  }
  if (auto it = valueNames.find({&value, form.type});
      form.rounded == 0 && it != valueNames.end()) {
    return it->second; // a constant
  }
  std::string input =
      form.rounded == 0 ? name : getName(region, value, {0, form.rounded});
  RegionPlan &home = findCastRegion(region, value);
  Emission &emission = emissions[&home];
  std::string &known = emission.casts[{&value, form}];
  if (known.empty()) {
    known = names.make(value.name, getSuffix(form.type));
    addCast(home, emission, input, known, form.type);
  }
  return known;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

/// Names a result of a node. Its own name stands for the type that it must have
/// as an output of its region, or that it holds. Casts to these come behind.
void GraphRewriter::nameOutput(RegionPlan &region, ValuePlan &value,
                               std::string &name, Emission &casts) {
  if (value.isSequence || !isEligible(value.current) || value.uses.empty()) {
    namedTypes[&value] = value.produced;
    return;
  }
  int32_t wanted = value.wanted == 0 ? value.current : value.wanted;
  std::string current = wanted == value.current
                            ? value.name
                            : names.make(value.name, getSuffix(value.current));
  valueNames[{&value, value.current}] = current;
  namedTypes[&value] = wanted;
  name = current;
  if (value.produced != value.current) {
    name = names.make(value.name, getSuffix(value.produced));
    addCast(region, casts, name, current, value.current);
  }
  if (wanted != value.current) {
    addCast(region, casts, current, value.name, wanted);
    emissions[&region].casts[{&value, {0, wanted}}] = value.name;
  }
}

void GraphRewriter::rewriteNode(RegionPlan &region, NodePlan &node,
                                std::unique_ptr<onnx::NodeProto> proto) {
  for (auto [i, input] : enumerate(node.inputs)) {
    if (input) {
      proto->set_input(i, getName(region, *input, node.forms[i]));
    }
  }
  size_t next = 0;
  for (onnx::AttributeProto &attribute : *proto->mutable_attribute()) {
    if (node.regions.empty()) {
      break; // a graph that a function gets is not looked into
    }
    if (attribute.has_g()) {
      rewriteGraph(*node.regions[next++], *attribute.mutable_g());
    }
    for (onnx::GraphProto &graph : *attribute.mutable_graphs()) {
      rewriteGraph(*node.regions[next++], graph);
    }
  }
  if (node.function) {
    rewriteCall(region, node, *proto);
  }
  if (node.outputs.size() == 1 && node.outputs[0] &&
      node.outputs[0]->isConstant()) {
    rewriteConstantNode(region, *node.outputs[0], std::move(proto));
    return;
  }
  Emission casts;
  for (auto [i, output] : enumerate(node.outputs)) {
    if (output) {
      nameOutput(region, *output, *proto->mutable_output(i), casts);
    }
  }
  Emission &emission = emissions[&region];
  emission.nodes.push_back(std::move(proto));
  move(casts.nodes, std::back_inserter(emission.nodes));
}

void GraphRewriter::rewriteNodes(RegionPlan &region, Nodes &nodes) {
  nameConstants(region);
  for (auto [output, type] : zip_equal(region.outputs, region.outputTypes)) {
    if (output && output->home == &region) {
      output->wanted = type;
    }
  }
  for (uint32_t index : getNodeOrder(checked, region.key)) {
    auto proto = std::make_unique<onnx::NodeProto>();
    proto->Swap(nodes.Mutable(index));
    rewriteNode(region, region.nodes[index], std::move(proto));
  }
}

/// Moves what was emitted into the message.
static void fill(google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes,
                 std::vector<std::unique_ptr<onnx::NodeProto>> &emitted) {
  nodes.Clear();
  for (auto &node : emitted) {
    nodes.AddAllocated(node.release());
  }
  emitted.clear();
}

//===----------------------------------------------------------------------===//
// Graphs and functions
//===----------------------------------------------------------------------===//

static void setElementType(onnx::ValueInfoProto &info, int32_t type) {
  if (isEligible(type) && info.type().has_tensor_type() &&
      isEligible(info.type().tensor_type().elem_type())) {
    info.mutable_type()->mutable_tensor_type()->set_elem_type(type);
  }
}

void GraphRewriter::retypeValueInfos(const RegionPlan &region,
                                     ValueInfos &infos) {
  for (onnx::ValueInfoProto &info : infos) {
    const ValuePlan *value = region.scope.lookup(info.name());
    if (value && !value->isSequence) {
      auto it = namedTypes.find(value);
      setElementType(info,
                     it == namedTypes.end() ? value->current : it->second);
    }
  }
}

void GraphRewriter::rewriteGraphOutputs(RegionPlan &region,
                                        onnx::GraphProto &graph) {
  for (auto [i, value] : enumerate(region.outputs)) {
    onnx::ValueInfoProto &info = *graph.mutable_output(i);
    if (!value || value->isSequence) {
      continue;
    }
    bool isNamed = value->home == &region && namedTypes.contains(value);
    int32_t type = region.outputTypes[i];
    if (!isNamed) {
      info.set_name(getName(region, *value, {0, type}));
    }
    setElementType(info, type);
  }
}

void GraphRewriter::rewriteGraph(RegionPlan &region, onnx::GraphProto &graph) {
  if (&region == &plan.graph) {
    for (auto [i, value] : enumerate(region.inputs)) {
      if (value->current != value->original) {
        setElementType(*graph.mutable_input(i), value->current);
      }
    }
  }
  rewriteNodes(region, *graph.mutable_node());
  rewriteGraphOutputs(region, graph);
  rewriteInitializers(region, graph);
  retypeValueInfos(region, *graph.mutable_value_info());
  fill(*graph.mutable_node(), emissions[&region].nodes);
}

static std::string getKey(const onnx::FunctionProto &function) {
  return importer::getFunctionKey(function.domain(), function.name(),
                                  function.overload());
}

void GraphRewriter::rewriteCall(RegionPlan &region, NodePlan &node,
                                onnx::NodeProto &proto) {
  auto body = std::make_unique<onnx::FunctionProto>(*node.function);
  // Equal bodies have equal names: those of the function alone count.
  FreshNames outerNames = std::exchange(names, FreshNames(*node.function));
  rewriteNodes(*node.callee, *body->mutable_node());
  retypeValueInfos(*node.callee, *body->mutable_value_info());
  fill(*body->mutable_node(), emissions[node.callee.get()].nodes);
  emissions.erase(node.callee.get());
  names = std::move(outerNames);
  std::string key = getKey(*node.function);
  std::string text = body->SerializeAsString();
  if (text == node.function->SerializeAsString()) {
    keptFunctions.insert(key);
    return;
  }
  for (const Variant &variant : variants) {
    if (variant.original == key && variant.body == text) {
      proto.set_op_type(variant.name);
      return;
    }
  }
  bool hasDomain = any_of(body->opset_import(), [](const auto &opset) {
    return importer::normalizeDomain(opset.domain()).empty();
  });
  if (!hasDomain) {
    onnx::OperatorSetIdProto &opset = *body->add_opset_import();
    opset.set_domain("");
    opset.set_version(region.getVersion(""));
  }
  std::string name = names.make(node.function->name(), "mixed");
  variants.push_back({key, name, body->domain(), body->overload(), text});
  proto.set_op_type(name);
  body->set_name(name);
  newFunctions.push_back(std::move(body));
}

/// Renames the calls of one function.
static void
renameCalls(google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes,
            const onnx::FunctionProto &function, const std::string &name) {
  for (onnx::NodeProto &node : nodes) {
    if (importer::getFunctionKey(node.domain(), node.op_type(),
                                 node.overload()) == getKey(function)) {
      node.set_op_type(name);
    }
    for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) {
        renameCalls(*attribute.mutable_g()->mutable_node(), function, name);
      }
      for (onnx::GraphProto &graph : *attribute.mutable_graphs()) {
        renameCalls(*graph.mutable_node(), function, name);
      }
    }
  }
}

/// A function whose calls all see it changed is replaced; its first changed
/// form takes its name, the others stand behind.
void GraphRewriter::placeFunctions() {
  std::vector<std::unique_ptr<onnx::FunctionProto>> placed;
  for (const onnx::FunctionProto &function : model.functions()) {
    std::string key = getKey(function);
    bool keepsName = keptFunctions.contains(key) ||
                     none_of(variants, [&](const Variant &variant) {
                       return variant.original == key;
                     });
    if (keepsName) {
      placed.push_back(std::make_unique<onnx::FunctionProto>(function));
    }
    for (auto [variant, body] : zip_equal(variants, newFunctions)) {
      if (variant.original != key) {
        continue;
      }
      if (!keepsName) {
        renameCalls(*model.mutable_graph()->mutable_node(), *body,
                    function.name());
        for (auto &other : newFunctions) {
          if (other) {
            renameCalls(*other->mutable_node(), *body, function.name());
          }
        }
        for (auto &other : placed) {
          renameCalls(*other->mutable_node(), *body, function.name());
        }
        body->set_name(function.name());
        keepsName = true;
      }
      placed.push_back(std::make_unique<onnx::FunctionProto>(*body));
    }
  }
  model.clear_functions();
  for (auto &function : placed) {
    model.mutable_functions()->AddAllocated(function.release());
  }
}

} // namespace ampc::exporter
