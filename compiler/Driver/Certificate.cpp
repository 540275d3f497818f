//===- Certificate.cpp - What was measured of a precision policy ----------===//
#include "compiler/Driver/Certificate.h"

#include "compiler/Driver/Version.h"
#include "compiler/Import/ModelFile.h"
#include "compiler/Import/Proto/onnx_subset.pb.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SHA256.h"

#include <cmath>

using namespace llvm;

namespace ampc::driver {

//===----------------------------------------------------------------------===//
// Hash of the model
//===----------------------------------------------------------------------===//

static void addFile(StringRef path, SHA256 &hash) {
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  if (file) {
    hash.update((*file)->getBuffer());
  }
}

/// Adds the external tensors of a graph and of the graphs inside it.
static void addExternalData(importer::ModelFile &model,
                            const onnx::GraphProto &graph, SHA256 &hash) {
  auto add = [&](const onnx::TensorProto &tensor) {
    if (tensor.data_location() != onnx::TensorProto::EXTERNAL) {
      return;
    }
    importer::ImportDiagnostics ignored(model.getPath()); // import reports
    if (auto view =
            importer::readTensor(model, tensor, tensor.name(), ignored)) {
      hash.update(view->bytes);
    }
  };
  SmallVector<const onnx::GraphProto *> graphs{&graph};
  while (!graphs.empty()) {
    const onnx::GraphProto &next = *graphs.pop_back_val();
    for (const onnx::TensorProto &tensor : next.initializer()) {
      add(tensor);
    }
    for (const onnx::NodeProto &node : next.node()) {
      for (const onnx::AttributeProto &attribute : node.attribute()) {
        if (attribute.has_t()) {
          add(attribute.t());
        }
        if (attribute.has_g()) {
          graphs.push_back(&attribute.g());
        }
      }
    }
  }
}

std::string hashModel(const Compilation &compilation) {
  SHA256 hash;
  addFile(compilation.getOptions().model, hash);
  if (importer::ModelFile *model = compilation.getModel()) {
    addExternalData(*model, model->getProto().graph(), hash);
  }
  return toHex(hash.final(), /*LowerCase=*/true);
}

//===----------------------------------------------------------------------===//
// The certificate
//===----------------------------------------------------------------------===//

/// Rules NAME:TYPE as an object; a later rule goes before an earlier one.
static json::Object toObject(ArrayRef<std::string> rules) {
  json::Object object;
  for (StringRef rule : rules) {
    auto [name, type] = rule.rsplit(':');
    object[json::fixUTF8(name)] = type.str();
  }
  return object;
}

static std::vector<std::string> joined(std::vector<std::string> rules,
                                       ArrayRef<std::string> more) {
  append_range(rules, more);
  return rules;
}

/// What of the command line decides on types.
static json::Object describePolicy(Compilation &compilation) {
  const Options &options = compilation.getOptions();
  json::Object policy{
      {"amp", stringifyAmpPolicy(compilation.getAmpPolicy())},
      {"norm_output", options.normOutput},
      {"strict_rounding", options.strictRounding},
      {"default", options.policyDefault},
      {"constants", options.constants},
      {"layers",
       toObject(joined(options.policyLayers, options.layerPrecisions))},
      {"ops", toObject(joined(options.policyOps, options.opPrecisions))}};
  if (!options.calibratedPaths.empty()) {
    policy["calibrated"] = json::Array(options.calibratedPaths);
  }
  return policy;
}

static json::Object toJson(const Measurement &measured) {
  return json::Object{{"data_sets", measured.sets},
                      {"error", std::isfinite(measured.error)
                                    ? json::Value(measured.error)
                                    : json::Value("inf")},
                      {"data_sha256", measured.hash},
                      {"data", json::fixUTF8(measured.source)}};
}

Certificate::Certificate(Compilation &compilation,
                         const tune::ErrorBound &bound)
    : object{{"metric", tune::stringifyMetric(bound.metric)},
             {"bound", bound.value},
             {"reference", "fp32"},
             {"model_sha256", hashModel(compilation)},
             {"policy", describePolicy(compilation)},
             {"producer", std::string("ampc ") + versionText}} {}

static std::string countSets(uint64_t sets) {
  return std::to_string(sets) + (sets == 1 ? " data set" : " data sets");
}

void Certificate::setTuning(const Measurement &measured) {
  object["tuning"] = driver::toJson(measured);
  std::string summary;
  raw_string_ostream(summary)
      << *object.getString("metric") << format(" %.3g", measured.error)
      << format(" <= %.3g", *object.getNumber("bound")) << " to fp32 on "
      << countSets(measured.sets);
  object["summary"] = summary;
}

void Certificate::setHeldOut(const Measurement &measured) {
  object["held_out"] = driver::toJson(measured);
  std::string summary = object.getString("summary")->str();
  raw_string_ostream(summary) << format("; %.3g", measured.error) << " on "
                              << countSets(measured.sets) << " held out";
  object["summary"] = summary;
}

json::Object Certificate::makePolicy() const {
  const json::Object *policy = object.getObject("policy");
  json::Object file{{"layers", json::Object(*policy->getObject("layers"))},
                    {"certificate", json::Object(object)}};
  if (!policy->getObject("ops")->empty()) {
    file["ops"] = json::Object(*policy->getObject("ops"));
  }
  // What differs from a command line without options.
  for (auto [key, usual] :
       {std::pair("default", ""), std::pair("constants", "fp32"),
        std::pair("norm_output", "follow")}) {
    if (policy->getString(key) != StringRef(usual)) {
      file[key] = *policy->get(key);
    }
  }
  return file;
}

Certificate Certificate::fromPolicy(Compilation &compilation) {
  const Options &options = compilation.getOptions();
  DiagnosticSink &sink = compilation.getSink();
  Certificate certificate;
  auto refuse = [&](const Twine &why) {
    sink.warning("the certificate of '" + options.precisionPolicy + "' " + why +
                 "; the program carries none");
    return Certificate();
  };
  Expected<json::Value> value = json::parse(options.precisionCertificate);
  json::Object *found = value ? value->getAsObject() : nullptr;
  if (!found) {
    consumeError(value ? Error::success() : value.takeError());
    return refuse("is no object");
  }
  std::optional<StringRef> hash = found->getString("model_sha256");
  if (hash != StringRef(hashModel(compilation))) {
    return refuse("is for another model");
  }
  const json::Object *policy = found->getObject("policy");
  if (!policy || *policy != describePolicy(compilation)) {
    return refuse("is for other options of precision");
  }
  // It is printed as it is.
  std::optional<StringRef> summary = found->getString("summary");
  if (!summary || !all_of(*summary, [](char c) { return isPrint(c); })) {
    return refuse("has no summary in a line of text");
  }
  certificate.object = std::move(*found);
  return certificate;
}

} // namespace ampc::driver
