//===- TrainingFacts.cpp - What a trainer's metadata says -----------------===//
#include "compiler/Driver/TrainingFacts.h"

#include "ampc/runtime.h"
#include "compiler/Import/InitializerPlaces.h"
#include "compiler/Import/TrainingForm.h"
#include "dialects/Train/IR/TrainDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/Training/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/SHA256.h"

using namespace llvm;
using namespace mlir;

namespace ampc::driver {

/// Sets an entry of the module's description of its training.
static void record(ModuleOp module, StringRef key, Attribute value) {
  NamedAttrList facts(
      module->getAttrOfType<DictionaryAttr>(training::trainingName));
  facts.set(key, value);
  module->setAttr(training::trainingName,
                  facts.getDictionary(module.getContext()));
}

void recordStates(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  SmallVector<Attribute> parameters, statistics;
  for (unsigned i = 0; main && i < main.getNumArguments(); ++i) {
    if (auto state =
            main.getArgAttrOfType<FlatSymbolRefAttr>(i, train::stateName)) {
      (main.getArgAttr(i, training::trainableName) ? parameters : statistics)
          .push_back(state.getAttr());
    }
  }
  Builder b(module.getContext());
  record(module, "parameters", b.getArrayAttr(parameters));
  record(module, "statistics", b.getArrayAttr(statistics));
}

void recordStep(ModuleOp module, StringRef optimizer,
                ArrayRef<std::pair<std::string, double>> numbers) {
  bool hasHalf = false;
  if (auto step = module.lookupSymbol<func::FuncOp>("step")) {
    hasHalf =
        step.walk([&](Operation *op) {
              bool isHalf = any_of(op->getResultTypes(), [](Type type) {
                return getElementTypeOrSelf(type).isF16();
              });
              return isHalf ? WalkResult::interrupt() : WalkResult::advance();
            })
            .wasInterrupted();
  }
  Builder b(module.getContext());
  record(module, "optimizer", b.getStringAttr(optimizer));
  record(module, "loss_scaling", b.getBoolAttr(hasHalf));
  NamedAttrList defaults;
  for (const auto &[name, value] : numbers) {
    defaults.set(name, b.getF64FloatAttr(value));
  }
  if (!defaults.empty()) {
    record(module, "defaults", defaults.getDictionary(module.getContext()));
  }
}

static json::Value toJson(Attribute attr) {
  if (auto flag = dyn_cast<BoolAttr>(attr)) {
    return flag.getValue();
  }
  if (auto number = dyn_cast<IntegerAttr>(attr)) {
    return number.getInt();
  }
  if (auto text = dyn_cast<StringAttr>(attr)) {
    return json::fixUTF8(text.getValue());
  }
  if (auto number = dyn_cast<FloatAttr>(attr)) {
    return number.getValueAsDouble();
  }
  if (auto entries = dyn_cast<DictionaryAttr>(attr)) {
    json::Object object;
    for (NamedAttribute entry : entries) {
      object[entry.getName().getValue()] = toJson(entry.getValue());
    }
    return object;
  }
  return nullptr;
}

/// The model's file and the ranges of it that training changes.
static void addModel(importer::ModelFile &model, DictionaryAttr facts,
                     json::Object &metadata) {
  llvm::StringSet<> wanted;
  for (StringRef key : {"parameters", "statistics"}) {
    if (auto names = facts.getAs<ArrayAttr>(key)) {
      for (Attribute name : names) {
        wanted.insert(cast<StringAttr>(name).getValue());
      }
    }
  }
  ArrayRef<uint8_t> bytes = model.getBytes();
  metadata["model_file"] = json::fixUTF8(model.getPath());
  metadata["model_bytes"] = static_cast<int64_t>(bytes.size());
  metadata["model_sha256"] = toHex(SHA256::hash(bytes), /*LowerCase=*/true);
  json::Array initializers;
  for (const importer::InitializerPlace &place : importer::locateInitializers(
           model, [&](StringRef name) { return wanted.contains(name); })) {
    json::Object entry{
        {"name", json::fixUTF8(place.name)},
        {"file", json::fixUTF8(place.file)},
        {"bytes", static_cast<int64_t>(place.bytes)},
        {"dtype", ampc_dtype_name(static_cast<uint32_t>(place.elementType))}};
    if (place.offset) {
      entry["offset"] = static_cast<int64_t>(*place.offset);
    }
    initializers.push_back(std::move(entry));
  }
  metadata["initializers"] = std::move(initializers);
}

void addTrainingFacts(Compilation &compilation, json::Object &metadata) {
  auto facts = compilation.getModule()->getAttrOfType<DictionaryAttr>(
      training::trainingName);
  if (!facts) {
    return;
  }
  json::Object object;
  for (NamedAttribute fact : facts) {
    if (!isa<ArrayAttr>(fact.getValue())) {
      object[fact.getName().getValue()] = toJson(fact.getValue());
    }
  }
  metadata["training"] = std::move(object);
  if (importer::ModelFile *model = compilation.getModel()) {
    addModel(*model, facts, metadata);
  }
}

LogicalResult Compilation::readTrainingForm() {
  if (options.hasLoss) {
    if (importer::hasTrainingForm(*model)) {
      sink.note("the model's own training algorithm is not used: --loss is "
                "given");
    }
    if (training.optimizer == training::Optimizer::Adagrad) {
      // As torch.optim.Adagrad.
      optimizerNumbers = {{"epsilon", 1e-10}};
    }
    return success();
  }
  if (!importer::hasTrainingForm(*model)) {
    return sink.error(ExitCode::Usage,
                      "--train: expected --loss=NAME, or --loss=none for a "
                      "model that computes its loss");
  }
  importer::ImportDiagnostics found(options.model);
  auto form = importer::takeTrainingForm(*model, found);
  reportImport(found, sink);
  if (!form) {
    return failure();
  }
  using importer::OnnxOptimizer;
  switch (form->optimizer) {
  case OnnxOptimizer::Adam:
    training.optimizer = training::Optimizer::AdamEpsilonHat;
    optimizer = "adam";
    break;
  case OnnxOptimizer::Adagrad:
    training.optimizer = training::Optimizer::Adagrad;
    optimizer = "adagrad";
    break;
  case OnnxOptimizer::Momentum:
    training.optimizer = training::Optimizer::Momentum;
    optimizer = "momentum";
    break;
  case OnnxOptimizer::Nesterov:
    training.optimizer = training::Optimizer::Nesterov;
    optimizer = "nesterov";
    break;
  }
  training.loss = training::Loss::None;
  training.lossOutput = form->loss;
  training.firstCount = form->firstCount;
  for (StringRef name : form->parameters) {
    std::string glob;
    for (char c : name) {
      if (StringRef("*?[]\\{}").contains(c)) {
        glob += '\\';
      }
      glob += c;
    }
    training.trained.push_back(std::move(glob));
  }
  optimizerNumbers = std::move(form->numbers);
  if (form->hasInitialization) {
    sink.note("training starts from the model's initializers; its "
              "initialization is not run");
  }
  return success();
}

} // namespace ampc::driver
