//===- Importer.cpp - Walk an ONNX graph and convert its nodes ------------===//
#include "compiler/Import/Importer.h"

#include "compiler/Import/ConstantTensors.h"
#include "compiler/Import/ElementTypes.h"
#include "dialects/Amp/Reference/Evaluator.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ampc::importer {

const Entity *ValueScope::find(StringRef name) const {
  for (const ValueScope *scope = this; scope; scope = scope->outer) {
    if (auto it = scope->values.find(name); it != scope->values.end()) {
      return &it->second;
    }
  }
  return nullptr;
}

Importer::Importer(MLIRContext *context, std::shared_ptr<ModelFile> model,
                   const CheckedModel &checked, const ImportOptions &options,
                   ImportDiagnostics &diags)
    : diags(diags), builder(context), context(context), model(std::move(model)),
      checked(checked), options(options) {}

/// `"label"("path")`: the name for people, the place for tables.
static Location makeLocation(MLIRContext *context, StringRef label,
                             StringRef path) {
  return NameLoc::get(StringAttr::get(context, label),
                      NameLoc::get(StringAttr::get(context, path)));
}

/// `"label"("path"("operator"(call)))` of a node: the operator with the name of
/// its domain outside the default one, and the location of the call in whose
/// function it stands, if it does.
static Location makeNodeLocation(MLIRContext *context,
                                 const onnx::NodeProto &node, StringRef label,
                                 StringRef path, Location call) {
  StringRef domain = normalizeDomain(node.domain());
  std::string name =
      domain.empty() ? node.op_type() : (domain + "::" + node.op_type()).str();
  auto get = [&](StringRef text, Location inner) -> Location {
    return NameLoc::get(StringAttr::get(context, text), inner);
  };
  return get(label, get(path, get(name, call)));
}

//===----------------------------------------------------------------------===//
// Values known at import
//===----------------------------------------------------------------------===//

const HostTensor *Importer::known(Value value) const {
  auto it = hostValues.find(value);
  return it == hostValues.end() ? nullptr : &it->second;
}

void Importer::learn(Value value, HostTensor tensor) {
  hostValues[value] = std::move(tensor);
}

void Importer::learn(Operation *op) {
  // Floats serve scales and bounds: no need to look at longer ones.
  constexpr int64_t maxKnownFloats = 1024;
  if (op->getNumResults() != 1) {
    return;
  }
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || type.getNumElements() > maxHostElements ||
      (isa<FloatType>(type.getElementType()) &&
       type.getNumElements() > maxKnownFloats)) {
    return;
  }
  if (auto constant = dyn_cast<amp::ConstantOp>(op)) {
    if (auto tensor = readHostTensor(constant.getValue())) {
      learn(constant.getResult(), std::move(*tensor));
    }
    return;
  }
  SmallVector<const HostTensor *> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(known(operand));
    if (!operands.back()) {
      return;
    }
  }
  uint64_t cost = ref::estimateWork(op);
  if (cost > hostBudget) {
    return;
  }
  hostBudget -= cost;
  if (auto tensor = evaluateOp(op, operands)) {
    learn(op->getResult(0), std::move(*tensor));
  }
}

bool Importer::areConstant(ValueRange values) const {
  return llvm::all_of(values,
                      [&](Value value) { return constants.contains(value); });
}

void Importer::markConstant(Operation *op) {
  constants.insert(op->result_begin(), op->result_end());
}

void Importer::forget(Region &region) {
  region.walk([&](Operation *op) {
    for (Value result : op->getResults()) {
      hostValues.erase(result);
      constants.erase(result);
    }
  });
  for (Block &block : region) {
    for (Value argument : block.getArguments()) {
      hostValues.erase(argument);
    }
  }
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Value Importer::makeConstant(const TensorView &view, StringRef name,
                             StringRef where, Location loc) {
  if (!getElementType(context, view.elementType)) {
    (void)diags.unsupported(where, "unsupported element type of a tensor: " +
                                       getElementTypeName(view.elementType));
    return {};
  }
  ElementsAttr attr = makeElementsAttr(context, view, name, model);
  auto op = amp::ConstantOp::create(builder, loc, attr.getType(), attr);
  weightBytes += view.bytes.size();
  markConstant(op);
  learn(op);
  return op;
}

Value Importer::importTensor(const onnx::TensorProto &tensor, StringRef where,
                             Location loc) {
  auto view = readTensor(*model, tensor, where, diags);
  return view ? makeConstant(*view, tensor.name(), where, loc) : Value();
}

Value Importer::importSparseTensor(const onnx::SparseTensorProto &tensor,
                                   StringRef where, Location loc) {
  auto view = readSparseTensor(*model, tensor, where, diags);
  return view ? makeConstant(*view, tensor.values().name(), where, loc)
              : Value();
}

void Importer::importInitializers(const onnx::GraphProto &graph,
                                  ValueScope &scope, const GraphPlace &place) {
  bool isMain = &graph == &model->getProto().graph();
  auto add = [&](StringRef name, auto import) {
    Location loc = makeLocation(context, name, place.path + "/" + name.str());
    Value value = import(loc);
    scope.values[name] = {value, std::nullopt};
    if (isMain && value) {
      // Trained weights are found again by this name.
      value.getDefiningOp()->setAttr("amp.initializer",
                                     builder.getStringAttr(name));
    }
  };
  for (const onnx::TensorProto &tensor : graph.initializer()) {
    add(tensor.name(),
        [&](Location loc) { return importTensor(tensor, tensor.name(), loc); });
  }
  for (const onnx::SparseTensorProto &tensor : graph.sparse_initializer()) {
    add(tensor.values().name(), [&](Location loc) {
      return importSparseTensor(tensor, tensor.values().name(), loc);
    });
  }
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

void Importer::importNodes(
    const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes,
    const void *key, ValueScope &scope, const GraphPlace &place) {
  stack.emplace_back(&scope, &place);
  auto it = checked.orders.find(key);
  assert(it != checked.orders.end() && "every graph was checked");
  for (uint32_t index : it->second) {
    if (isFull) {
      break;
    }
    importNode(nodes.Get(index), index, scope, place);
  }
  stack.pop_back();
}

/// Checks the numbers of operands and results against the table's.
static LogicalResult checkArity(Node &node, const OpEntry &entry) {
  unsigned given = node.numInputs();
  while (given > 0 && !node.has(given - 1)) {
    --given;
  }
  if (given < entry.minInputs || given > entry.maxInputs) {
    return node.invalid("expected " + Twine(entry.minInputs) +
                        (entry.minInputs == entry.maxInputs ? Twine("")
                         : entry.maxInputs == anyNumber
                             ? Twine(" or more")
                             : " to " + Twine(entry.maxInputs)) +
                        " inputs, got " + Twine(given));
  }
  for (unsigned i = entry.maxOutputs; i < node.numOutputs(); ++i) {
    if (node.wants(i)) {
      return node.unsupported("output " + Twine(i));
    }
  }
  return success();
}

void Importer::importNode(const onnx::NodeProto &proto, uint32_t index,
                          ValueScope &scope, const GraphPlace &place) {
  std::string label = place.labelPrefix + getNodeLabel(proto, index);
  if (++numNodes > options.maxNodes) {
    isFull = true;
    (void)diags.limit(label, "the model has more than " +
                                 Twine(options.maxNodes) +
                                 " nodes after inlining and unrolling");
    return;
  }
  // Whatever happens, users of the results find them, if only as unknown.
  for (const std::string &output : proto.output()) {
    if (!output.empty()) {
      scope.values[output] = {};
    }
  }
  auto opset = place.opsets->find(normalizeDomain(proto.domain()));
  int64_t version = opset == place.opsets->end() ? 1 : opset->second;
  Location loc = makeNodeLocation(
      context, proto, label, place.path + "/" + std::to_string(index),
      place.call.value_or(UnknownLoc::get(context)));
  Node node(*this, proto, label, version, loc, place.bindings);
  for (int i = 0; i < proto.input_size(); ++i) {
    if (proto.input(i).empty()) {
      continue;
    }
    const Entity *entity = scope.find(proto.input(i));
    if (!entity || (!entity->isKnown() && !entity->isAbsent)) {
      return; // its producer was reported
    }
    node.inputs[i] = *entity;
  }
  if (version < 6) {
    node.attrs.ignore("consumed_inputs"); // a hint about aliasing
  }
  size_t errorsBefore = diags.getNumErrors();
  if (const onnx::FunctionProto *function = checked.findFunction(proto)) {
    importCall(node, *function, place);
  } else {
    node.entry = OpTable::get().find(proto.domain(), proto.op_type(), version);
    if (!node.entry || failed(checkArity(node, *node.entry)) ||
        failed(node.entry->convert(node))) {
      return; // unknown operators were listed beforehand
    }
    node.attrs.finish();
  }
  if (node.hasFailed() || diags.getNumErrors() != errorsBefore) {
    return;
  }
  for (int i = 0; i < proto.output_size(); ++i) {
    if (!node.wants(i)) {
      continue;
    }
    if (!node.results()[i].isKnown() && !node.results()[i].isAbsent) {
      (void)node.unsupported("output " + Twine(i));
    }
    scope.values[proto.output(i)] = node.results()[i];
  }
}

void Importer::importCall(Node &node, const onnx::FunctionProto &function,
                          const GraphPlace &place) {
  ValueScope scope;
  for (int i = 0; i < function.input_size(); ++i) {
    Entity entity;
    entity.isAbsent = !node.has(i);
    scope.values[function.input(i)] = node.has(i) ? node.inputs[i] : entity;
  }
  if (node.numInputs() > static_cast<unsigned>(function.input_size())) {
    (void)node.invalid("more inputs than its function has");
    return;
  }
  AttributeBindings bindings;
  for (const onnx::AttributeProto &attribute : function.attribute_proto()) {
    bindings[attribute.name()] = &attribute;
  }
  for (const onnx::AttributeProto &attribute : node.proto.attribute()) {
    const onnx::AttributeProto *proto = &attribute;
    if (!attribute.ref_attr_name().empty()) {
      proto = place.bindings ? place.bindings->lookup(attribute.ref_attr_name())
                             : nullptr;
    }
    if (proto) {
      bindings[attribute.name()] = proto;
    }
  }
  OpsetMap opsets;
  for (const onnx::OperatorSetIdProto &opset : function.opset_import()) {
    opsets[normalizeDomain(opset.domain())] = opset.version();
  }
  GraphPlace inner;
  inner.labelPrefix = node.label + "/";
  inner.path =
      cast<NameLoc>(cast<NameLoc>(node.loc).getChildLoc()).getName().str();
  inner.opsets = opsets.empty() ? place.opsets : &opsets;
  inner.bindings = &bindings;
  inner.call = node.loc;
  importNodes(function.node(), &function, scope, inner);
  for (unsigned i = 0; i < node.numOutputs(); ++i) {
    if (!node.wants(i)) {
      continue;
    }
    if (i >= static_cast<unsigned>(function.output_size())) {
      (void)node.invalid("more outputs than its function has");
      return;
    }
    const Entity *entity = scope.find(function.output(i));
    if (!entity || (!entity->isKnown() && !entity->isAbsent)) {
      node.markFailed();
      return;
    }
    if (entity->isAbsent) {
      node.setAbsent(i);
    } else if (entity->sequence) {
      node.setSequence(i, *entity->sequence);
    } else {
      node.set(i, entity->tensor);
    }
  }
}

SmallVector<Entity> Importer::importSubgraph(Node &node,
                                             const onnx::GraphProto &graph,
                                             ArrayRef<Entity> arguments,
                                             StringRef step) {
  auto [outer, place] = stack.back();
  ValueScope scope;
  scope.outer = outer;
  GraphPlace inner = *place;
  inner.labelPrefix = node.label + "/";
  inner.path = (cast<NameLoc>(cast<NameLoc>(node.loc).getChildLoc())
                    .getName()
                    .getValue() +
                "/" + step)
                   .str();
  for (auto [input, argument] : llvm::zip(graph.input(), arguments)) {
    scope.values[input.name()] = argument;
  }
  importInitializers(graph, scope, inner);
  importNodes(graph.node(), &graph, scope, inner);
  SmallVector<Entity> results;
  for (const onnx::ValueInfoProto &output : graph.output()) {
    const Entity *entity = scope.find(output.name());
    results.push_back(entity ? *entity : Entity());
  }
  return results;
}

//===----------------------------------------------------------------------===//
// The whole model
//===----------------------------------------------------------------------===//

void Importer::eraseDeadOps(func::FuncOp function) {
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(function.front()))) {
    if (isOpTriviallyDead(&op)) {
      op.erase();
    }
  }
}

OwningOpRef<ModuleOp> Importer::run() {
  const onnx::ModelProto &proto = model->getProto();
  const onnx::GraphProto &graph = proto.graph();
  ScopedDiagnosticHandler capture(context, [&](Diagnostic &diagnostic) {
    if (mlirMessage.empty()) {
      mlirMessage = diagnostic.str();
    }
    return success();
  });
  size_t errorsBefore = diags.getNumErrors();
  checkBindings();
  GraphPlace place;
  place.path = "main";
  place.opsets = &checked.opsets;
  llvm::StringSet<> seenFunctions;
  listUnknownOps(graph.node(), place, seenFunctions);

  Location fileLoc = FileLineColLoc::get(context, model->getPath(), 0, 0);
  OwningOpRef<ModuleOp> module = ModuleOp::create(fileLoc);
  setModuleAttributes(*module);
  builder.setInsertionPointToEnd(module->getBody());
  auto function = func::FuncOp::create(builder, fileLoc, "main",
                                       builder.getFunctionType({}, {}));
  builder.setInsertionPointToEnd(function.addEntryBlock());
  ValueScope scope;
  if (importInputs(function, scope)) {
    importInitializers(graph, scope, place);
    importNodes(graph.node(), &graph, scope, place);
    (void)importOutputs(function, scope);
  }
  if (diags.getNumErrors() != errorsBefore) {
    return nullptr;
  }
  eraseDeadOps(function);
  mlirMessage.clear();
  if (failed(mlir::verify(*module))) {
    (void)diags.error(ErrorCategory::Internal, "",
                      "the imported module does not verify: " + mlirMessage);
    return nullptr;
  }
  return module;
}

OwningOpRef<ModuleOp> importOnnx(MLIRContext *context,
                                 std::shared_ptr<ModelFile> model,
                                 const ImportOptions &options,
                                 ImportDiagnostics &diags) {
  std::optional<CheckedModel> checked = checkModel(model->getProto(), diags);
  if (!checked) {
    return nullptr;
  }
  return Importer(context, model, *checked, options, diags).run();
}

} // namespace ampc::importer
