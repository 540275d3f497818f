//===- ExportModel.cpp - The model with its decided types -----------------===//
#include "compiler/Driver/Commands.h"
#include "compiler/Driver/Compilation.h"
#include "compiler/Driver/OutputFile.h"
#include "compiler/Export/Export.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace ampc::driver {

static StringRef getFolder(StringRef path) {
  StringRef folder = sys::path::parent_path(path);
  return folder.empty() ? "." : folder;
}

/// Where tensors go that do not fit into the model; null after reporting.
static std::optional<std::string> chooseDataFile(const Options &options,
                                                 DiagnosticSink &sink) {
  StringRef asked = options.externalWeights;
  if (asked == "auto" || asked == "embed") {
    return options.output + ".data";
  }
  if (sys::path::has_parent_path(asked) &&
      sys::path::parent_path(asked) != sys::path::parent_path(options.output)) {
    (void)sink.error(ExitCode::Usage,
                     "--external-weights: expected a file beside the model, "
                     "got '" +
                         asked + "'");
    return std::nullopt;
  }
  SmallString<256> path(getFolder(options.output));
  sys::path::append(path, sys::path::filename(asked));
  bool isSame = path == options.output;
  if (isSame || (!sys::fs::equivalent(path, options.model, isSame) && isSame)) {
    (void)sink.error(ExitCode::Usage,
                     "--external-weights: '" + asked + "' is a model itself");
    return std::nullopt;
  }
  return std::string(path);
}

LogicalResult writeModel(Compilation &compilation) {
  const Options &options = compilation.getOptions();
  DiagnosticSink &sink = compilation.getSink();
  compilation.getTimer().enter("export");
  if (!compilation.getModel()) {
    return sink.error(ExitCode::Usage,
                      "--emit=onnx needs an ONNX model, got '" + options.model +
                          "'");
  }
  std::optional<std::string> dataPath = chooseDataFile(options, sink);
  if (!dataPath) {
    return failure();
  }
  exporter::ExportOptions exportOptions;
  using Place = exporter::ExportOptions;
  exportOptions.place = options.externalWeights == "auto"    ? Place::Auto
                        : options.externalWeights == "embed" ? Place::Inside
                                                             : Place::Beside;
  exportOptions.keepsIoTypes = options.keepsIoTypes;
  exportOptions.dataName = sys::path::filename(*dataPath).str();
  exportOptions.sharesFolder =
      sys::fs::equivalent(getFolder(options.model), getFolder(options.output));

  OutputFile output(sink), data(sink);
  bool hasData = false;
  if (failed(output.open(options.output))) {
    return failure();
  }
  auto openData = [&]() -> raw_ostream * {
    if (output.isDirect()) {
      (void)sink.error(ExitCode::Usage,
                       "the model has tensors beside it, so '" +
                           options.output + "' must be a file",
                       "--external-weights=embed writes them into the model");
      return nullptr;
    }
    hasData = succeeded(data.open(*dataPath));
    return hasData ? &data.os() : nullptr;
  };
  importer::ImportDiagnostics found(options.model);
  LogicalResult written = exporter::exportOnnx(
      *compilation.getModel(), *compilation.getPrecisionReport(), exportOptions,
      output.os(), openData, found);
  if (failed(written)) {
    reportImport(found, sink);
    return failure();
  }
  // The model comes last: whoever sees it finds its data.
  if ((hasData && failed(data.commit(/*isDurable=*/true))) ||
      failed(output.commit(/*isDurable=*/true))) {
    return failure();
  }
  return success();
}

} // namespace ampc::driver
