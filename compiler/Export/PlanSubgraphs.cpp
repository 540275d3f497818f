//===- PlanSubgraphs.cpp - Type branches, loop bodies and functions -------===//
#include "compiler/Export/TypePlanner.h"

#include "compiler/Import/Proto/onnx_subset.pb.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace ampc::exporter {

static std::vector<std::string> getPlaces(const RegionPlan &region,
                                          uint32_t index) {
  std::vector<std::string> places;
  for (const std::string &context : region.contexts) {
    places.push_back(context + "/" + std::to_string(index));
  }
  return places;
}

RegionPlan *TypePlanner::planSubgraph(RegionPlan &region,
                                      const onnx::GraphProto &graph,
                                      std::vector<std::string> contexts,
                                      NodePlan &node,
                                      ArrayRef<ValuePlan *> arguments) {
  RegionPlan &inner =
      *node.regions.emplace_back(std::make_unique<RegionPlan>());
  inner.parent = &region;
  inner.opsets = region.opsets;
  inner.contexts = std::move(contexts);
  for (auto [i, input] : enumerate(graph.input())) {
    ValuePlan *value = addValue(inner, input.name(), 0);
    if (i < arguments.size() && arguments[i]) {
      value->original = arguments[i]->original;
      value->isSequence = arguments[i]->isSequence;
    } else {
      value->original = input.type().tensor_type().elem_type();
    }
    value->produced = value->current = value->original;
    inner.inputs.push_back(value);
  }
  addInitializers(inner, graph);
  std::vector<std::string> outputs;
  for (const onnx::ValueInfoProto &output : graph.output()) {
    outputs.push_back(output.name());
  }
  planNodes(inner, graph.node(), &graph, outputs);
  for (const std::string &output : outputs) {
    ValuePlan *value = inner.find(output);
    inner.outputs.push_back(value);
    inner.outputTypes.push_back(value ? value->original : 0);
  }
  return &inner;
}

/// The branches of a conditional yield the type that was decided for it or, for
/// one whose branch is known, their own if they agree.
void TypePlanner::joinBranches(NodePlan &node, const NodeCompute &compute) {
  for (auto [i, output] : enumerate(node.outputs)) {
    SmallVector<ValuePlan *> yields;
    for (const auto &branch : node.regions) {
      if (i < branch->outputs.size()) {
        yields.push_back(branch->outputs[i]);
      }
    }
    if (!output || yields.empty() || is_contained(yields, nullptr)) {
      continue;
    }
    output->original = yields.front()->original;
    output->isSequence = yields.front()->isSequence;
    bool agree = all_of(yields, [&](ValuePlan *yield) {
      return yield->current == yields.front()->current;
    });
    int32_t type = output->original;
    if (!output->isSequence && isEligible(output->original)) {
      if (compute.kind == NodeCompute::Typed) {
        type = compute.type;
      } else if (agree) {
        type = yields.front()->current;
      }
    }
    output->produced = output->current = type;
    for (const auto &branch : node.regions) {
      if (i < branch->outputTypes.size()) { // a branch never taken may differ
        branch->outputTypes[i] = type;
      }
    }
  }
}

void TypePlanner::planSubgraphs(RegionPlan &region,
                                const onnx::NodeProto &proto, uint32_t index,
                                NodePlan &node, const NodeCompute &compute) {
  for (auto [input, form] : zip_equal(node.inputs, node.forms)) {
    form.type = input && !input->isSequence ? input->original : 0;
  }
  std::vector<std::string> places = getPlaces(region, index);
  bool isIf = proto.op_type() == "If", isLoop = proto.op_type() == "Loop";
  for (const onnx::AttributeProto &attribute : proto.attribute()) {
    std::vector<std::string> contexts;
    for (const std::string &place : places) {
      if (isIf) {
        contexts.push_back(place + "/" + attribute.name());
        continue;
      }
      for (const std::string &step : decisions.findSteps(place)) {
        contexts.push_back(place + "/" + step);
      }
    }
    SmallVector<ValuePlan *> arguments;
    if (isLoop) {
      arguments.assign(2, nullptr); // the iteration and the condition
      append_range(
          arguments,
          drop_begin(node.inputs, std::min<size_t>(2, node.inputs.size())));
    } else if (!isIf) {
      arguments.assign(node.inputs.begin(), node.inputs.end());
    }
    auto visit = [&](const onnx::GraphProto &graph) {
      planSubgraph(region, graph, contexts, node, arguments)->isLoopBody =
          !isIf;
    };
    if (attribute.has_g()) {
      visit(attribute.g());
    }
    for_each(attribute.graphs(), visit);
  }
  if (isIf) {
    joinBranches(node, compute);
  } else {
    // The results are the body's outputs, a Loop's condition left out.
    const RegionPlan &body = *node.regions.front();
    size_t skipped = isLoop;
    for (auto [i, output] : enumerate(node.outputs)) {
      if (output && i + skipped < body.outputs.size() &&
          body.outputs[i + skipped]) {
        const ValuePlan &yield = *body.outputs[i + skipped];
        output->original = output->produced = output->current = yield.original;
        output->isSequence = yield.isSequence;
      }
    }
  }
  for (const auto &inner : node.regions) {
    for (auto [value, type] : zip_equal(inner->outputs, inner->outputTypes)) {
      if (value) {
        value->use({0, value->isSequence ? 0 : type});
        value->hasOtherUses = true;
      }
    }
  }
}

/// The constant that all uses of `formal` want in one other type is passed in
/// that type.
static void passNarrow(ValuePlan *actual, Form &form, ValuePlan &formal) {
  if (!actual || !actual->isConstant() || formal.uses.size() != 1) {
    return;
  }
  const Form &use = formal.uses.front().first;
  if (use.rounded == 0 && isEligible(use.type)) {
    form.type = formal.current = formal.produced = use.type;
  }
}

void TypePlanner::planCall(RegionPlan &region,
                           const onnx::FunctionProto &function, uint32_t index,
                           NodePlan &node) {
  node.function = &function;
  node.callee = std::make_unique<RegionPlan>();
  RegionPlan &body = *node.callee;
  importer::OpsetMap &opsets = plan->functionOpsets.emplace_back();
  for (const onnx::OperatorSetIdProto &opset : function.opset_import()) {
    opsets[importer::normalizeDomain(opset.domain())] = opset.version();
  }
  // Casts may be added to a function that uses no operator of this domain.
  opsets.try_emplace("", checked.opsets.lookup(""));
  body.opsets = &opsets;
  body.contexts = getPlaces(region, index);
  for (auto [i, input] : enumerate(function.input())) {
    ValuePlan *actual =
        static_cast<size_t>(i) < node.inputs.size() ? node.inputs[i] : nullptr;
    ValuePlan *formal = addValue(body, input, 0);
    if (actual) {
      formal->original = actual->original;
      formal->produced = formal->current = actual->current;
      formal->isSequence = actual->isSequence;
      formal->isWeak = actual->isWeak;
      formal->origins = actual->origins;
      formal->same = actual->same;
      node.forms[i].type = actual->isSequence ? 0 : actual->current;
    }
    body.inputs.push_back(formal);
  }
  std::vector<std::string> outputs(function.output().begin(),
                                   function.output().end());
  planNodes(body, function.node(), &function, outputs);
  for (auto [i, name] : enumerate(outputs)) {
    ValuePlan *inner = body.find(name);
    body.outputs.push_back(inner);
    body.outputTypes.push_back(0);
    if (inner) {
      inner->use({0, inner->current});
      inner->hasOtherUses = true;
    }
    ValuePlan *output = static_cast<size_t>(i) < node.outputs.size()
                            ? node.outputs[i]
                            : nullptr;
    if (output && inner) {
      output->original = inner->original;
      output->produced = output->current = inner->current;
      output->isSequence = inner->isSequence;
      output->origins = inner->origins;
      output->same = inner->same;
    }
  }
  for (auto [i, input] : enumerate(body.inputs)) {
    if (static_cast<size_t>(i) < node.inputs.size()) {
      passNarrow(node.inputs[i], node.forms[i], *input);
    }
  }
}

} // namespace ampc::exporter
