//===- ImportSignature.cpp - Inputs, outputs and facts of a model ---------===//
#include "compiler/Import/ElementTypes.h"
#include "compiler/Import/Importer.h"

using namespace mlir;

namespace ampc::importer {

/// Options may only name what the model has.
void Importer::checkBindings() {
  const onnx::GraphProto &graph = model->getProto().graph();
  llvm::StringSet<> inputs, params;
  for (const onnx::ValueInfoProto &input : graph.input()) {
    inputs.insert(input.name());
    for (const auto &dim : input.type().tensor_type().shape().dim()) {
      if (!dim.dim_param().empty()) {
        params.insert(dim.dim_param());
      }
    }
  }
  auto check = [&](const auto &bindings, const llvm::StringSet<> &names,
                   StringRef what) {
    SmallVector<StringRef> unknown;
    for (StringRef name : bindings.keys()) {
      if (!names.contains(name)) {
        unknown.push_back(name);
      }
    }
    llvm::sort(unknown);
    for (StringRef name : unknown) {
      (void)diags.error(ErrorCategory::Usage, "",
                        "the model has no " + what + " '" +
                            printableName(name) + "'");
    }
  };
  check(options.shapes, inputs, "graph input");
  check(options.boundInputs, inputs, "graph input");
  check(options.dimParams, params, "dimension");
}

std::optional<SmallVector<int64_t>>
Importer::resolveShape(const onnx::ValueInfoProto &input) {
  StringRef name = input.name();
  const onnx::TypeProto::Tensor &type = input.type().tensor_type();
  auto given = options.shapes.find(name);
  bool isGiven = given != options.shapes.end();
  if (!type.has_shape()) {
    if (isGiven) {
      return given->second;
    }
    (void)diags.unsupported(name, "graph input has no shape",
                            "give it one with --shapes=" + name + ":...");
    return std::nullopt;
  }
  size_t rank = type.shape().dim_size();
  if (isGiven && given->second.size() != rank) {
    (void)diags.error(ErrorCategory::Usage, name,
                      "expected " + Twine(rank) +
                          " dimensions in --shapes, got " +
                          Twine(given->second.size()));
    return std::nullopt;
  }
  SmallVector<int64_t> shape;
  bool isComplete = true;
  for (auto [i, dim] : llvm::enumerate(type.shape().dim())) {
    StringRef param = dim.dim_param();
    auto bound = options.dimParams.find(param);
    // Some exporters write an unknown size as -1.
    bool isFixed = dim.has_dim_value() && dim.dim_value() != -1;
    if (isGiven) {
      if (isFixed && dim.dim_value() != given->second[i]) {
        (void)diags.error(ErrorCategory::Usage, name,
                          "dimension " + Twine(i) + " is " +
                              Twine(dim.dim_value()) + " in the model, but " +
                              Twine(given->second[i]) + " in --shapes");
        isComplete = false;
      }
      shape.push_back(given->second[i]);
    } else if (isFixed) {
      shape.push_back(dim.dim_value());
    } else if (!param.empty() && bound != options.dimParams.end()) {
      shape.push_back(bound->second);
    } else {
      isComplete = false;
      std::string called =
          param.empty() ? "" : " '" + printableName(param) + "'";
      std::string option = param.empty()
                               ? "--shapes=" + printableName(name) + ":..."
                               : "--dim-params=" + printableName(param) + "=N";
      (void)diags.unsupported(name,
                              "dimension " + Twine(i) + called +
                                  " of this graph input is not fixed",
                              "bind it with " + option);
    }
  }
  if (!isComplete) {
    return std::nullopt;
  }
  if (shape.size() > maxRank) {
    (void)diags.limit(name, "graph input has more than " + Twine(maxRank) +
                                " dimensions");
    return std::nullopt;
  }
  if (!countElements(shape)) {
    (void)diags.invalid(name, "graph input has a negative dimension or more "
                              "than " +
                                  Twine(maxElements) + " elements");
    return std::nullopt;
  }
  return shape;
}

Type Importer::importInputType(const onnx::ValueInfoProto &input) {
  StringRef name = input.name();
  if (!input.type().has_tensor_type()) {
    const onnx::TypeProto &type = input.type();
    (void)diags.unsupported(name,
                            Twine("unsupported graph input: ") +
                                (type.has_sequence_type()   ? "a sequence"
                                 : type.has_optional_type() ? "an optional"
                                                            : "not a tensor"));
    return {};
  }
  int32_t onnxType = input.type().tensor_type().elem_type();
  Type element = getElementType(context, onnxType);
  if (!element) {
    (void)diags.unsupported(name,
                            "unsupported element type of a graph input: " +
                                getElementTypeName(onnxType));
  }
  auto shape = resolveShape(input);
  return element && shape ? RankedTensorType::get(*shape, element) : Type();
}

bool Importer::importInputs(func::FuncOp &function, ValueScope &scope) {
  const onnx::GraphProto &graph = model->getProto().graph();
  llvm::StringSet<> initializers;
  for (const onnx::TensorProto &tensor : graph.initializer()) {
    initializers.insert(tensor.name());
  }
  Block &block = function.front();
  SmallVector<Attribute> argAttrs;
  bool isComplete = true;
  for (const onnx::ValueInfoProto &input : graph.input()) {
    StringRef name = input.name();
    // An initializer that is also an input is a default that a caller might
    // override; a compiled program has it fixed.
    if (initializers.contains(name)) {
      continue;
    }
    Location loc = NameLoc::get(builder.getStringAttr(name));
    if (auto it = options.boundInputs.find(name);
        it != options.boundInputs.end()) {
      TensorView view;
      view.elementType = it->second.elementType;
      view.shape.assign(it->second.shape.begin(), it->second.shape.end());
      auto count = countElements(view.shape);
      StringRef bytes = it->second.bytes;
      uint64_t bits = getElementBits(view.elementType);
      if (!count || static_cast<uint64_t>(*count) * bits / 8 != bytes.size()) {
        (void)diags.error(ErrorCategory::Usage, name,
                          "the bound value's size does not fit its shape");
        isComplete = false;
        continue;
      }
      view.numElements = *count;
      MutableArrayRef<uint8_t> copy = model->allocateBytes(bytes.size());
      std::copy(bytes.bytes_begin(), bytes.bytes_end(), copy.begin());
      view.bytes = copy;
      Value value = makeConstant(view, name, name, loc);
      scope.values[name] = {value, std::nullopt};
      isComplete &= static_cast<bool>(value);
      continue;
    }
    Type type = importInputType(input);
    if (!type) {
      isComplete = false;
      continue;
    }
    scope.values[name] = {block.addArgument(type, loc), std::nullopt};
    argAttrs.push_back(builder.getDictionaryAttr(
        builder.getNamedAttr("amp.name", builder.getStringAttr(name))));
  }
  function.setArgAttrsAttr(builder.getArrayAttr(argAttrs));
  return isComplete;
}

LogicalResult Importer::importOutputs(func::FuncOp function,
                                      const ValueScope &scope) {
  SmallVector<Value> values;
  SmallVector<Attribute> resultAttrs;
  for (const onnx::ValueInfoProto &output :
       model->getProto().graph().output()) {
    StringRef name = output.name();
    const Entity *entity = scope.find(name);
    if (entity && entity->isAbsent && !entity->isKnown()) {
      return diags.unsupported(name,
                               "unsupported graph output: it has no value",
                               "a trainer keeps running statistics itself");
    }
    if (!entity || !entity->isKnown()) {
      return failure(); // reported where it failed
    }
    if (entity->sequence) {
      return diags.unsupported(name, "unsupported graph output: a sequence");
    }
    auto type = cast<RankedTensorType>(entity->tensor.getType());
    if (output.type().has_tensor_type()) {
      int32_t onnxType = output.type().tensor_type().elem_type();
      Type declared = getElementType(context, onnxType);
      if (onnxType != 0 && declared != type.getElementType()) {
        std::string actual;
        llvm::raw_string_ostream(actual) << type.getElementType();
        return diags.invalid(name, "graph output is declared " +
                                       getElementTypeName(onnxType) +
                                       ", but computed as " + actual);
      }
    }
    values.push_back(entity->tensor);
    resultAttrs.push_back(builder.getDictionaryAttr(
        builder.getNamedAttr("amp.name", builder.getStringAttr(name))));
  }
  func::ReturnOp::create(builder, function.getLoc(), values);
  function.setFunctionType(builder.getFunctionType(
      function.front().getArgumentTypes(), ValueRange(values).getTypes()));
  function.setResAttrsAttr(builder.getArrayAttr(resultAttrs));
  return success();
}

void Importer::setModuleAttributes(ModuleOp module) {
  const onnx::ModelProto &proto = model->getProto();
  auto setString = [&](StringRef name, StringRef value) {
    if (!value.empty()) {
      module->setAttr(name, builder.getStringAttr(value));
    }
  };
  setString("amp.graph_name", proto.graph().name());
  setString("amp.producer", proto.producer_name());
  module->setAttr("amp.opset",
                  builder.getI64IntegerAttr(checked.opsets.lookup("")));
  NamedAttrList metadata;
  for (const onnx::StringStringEntryProto &entry : proto.metadata_props()) {
    if (!entry.key().empty()) {
      metadata.set(entry.key(), builder.getStringAttr(entry.value()));
    }
  }
  if (!metadata.empty()) {
    module->setAttr("amp.metadata", metadata.getDictionary(context));
  }
}

void Importer::listUnknownOps(
    const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes,
    const GraphPlace &place, llvm::StringSet<> &seenFunctions) {
  for (auto [index, node] : llvm::enumerate(nodes)) {
    std::string label = place.labelPrefix + getNodeLabel(node, index);
    StringRef domain = normalizeDomain(node.domain());
    auto opset = place.opsets->find(domain);
    int64_t version = opset == place.opsets->end() ? 1 : opset->second;
    if (const onnx::FunctionProto *function = checked.findFunction(node)) {
      std::string key = getFunctionKey(domain, node.op_type(), node.overload());
      if (seenFunctions.insert(key).second) {
        OpsetMap opsets;
        for (const auto &import : function->opset_import()) {
          opsets[normalizeDomain(import.domain())] = import.version();
        }
        GraphPlace inner = place;
        inner.labelPrefix = label + "/";
        inner.opsets = opsets.empty() ? place.opsets : &opsets;
        listUnknownOps(function->node(), inner, seenFunctions);
      }
    } else if (!OpTable::get().find(domain, node.op_type(), version)) {
      std::string name = domain.empty() ? node.op_type()
                                        : (domain + "." + node.op_type()).str();
      bool isKnown = OpTable::get().knows(domain, node.op_type());
      (void)diags.unsupported(
          label, "unsupported operator " + printableName(name) +
                     (isKnown ? " of opset " + std::to_string(version) : ""));
    }
    forEachSubgraph(node, [&](const onnx::GraphProto &graph) {
      GraphPlace inner = place;
      inner.labelPrefix = label + "/";
      listUnknownOps(graph.node(), inner, seenFunctions);
    });
  }
}

} // namespace ampc::importer
