//===- Artifact.cpp - Executables, libraries and objects ------------------===//
#include "ampc/abi.h"
#include "compiler/Driver/Commands.h"
#include "compiler/Driver/Compilation.h"
#include "compiler/Driver/ElfWriter.h"
#include "compiler/Driver/Linker.h"
#include "compiler/Driver/OutputFile.h"
#include "compiler/Driver/SharedLibrary.h"
#include "compiler/Driver/Version.h"
#include "compiler/Driver/WeightSection.h"
#include "llvm/Support/EndianStream.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;
namespace fs = llvm::sys::fs;

namespace ampc::driver {

/// Larger weights lie beside the program by default: linkers copy what is
/// inside.
static constexpr uint64_t embedLimit = 1ull << 30;
static constexpr uint64_t pageSize = 4096;

namespace {

/// The steps of writing one artifact.
class ArtifactWriter {
public:
  explicit ArtifactWriter(Compilation &compilation)
      : compilation(compilation), options(compilation.getOptions()),
        sink(compilation.getSink()), weights(compilation.getModule()),
        codegen(compilation.getCodegenOptions()) {}

  LogicalResult write();

private:
  LogicalResult chooseWeightPlace();
  LogicalResult writeWeightFile();
  LogicalResult writeWeightObject(StringRef path);
  LogicalResult
  writeObject(StringRef path,
              function_ref<LogicalResult(raw_pwrite_stream &)> emit);
  LogicalResult writeLibraryParts(LinkJob &job);
  LogicalResult link(LinkJob job);

  Compilation &compilation;
  const Options &options;
  DiagnosticSink &sink;
  WeightSection weights;
  CodegenOptions codegen;
  TemporaryFolder folder;
  std::string name;       ///< of the model in C; libraries and objects
  std::string weightPath; ///< empty: the weights are linked in
};

} // namespace

LogicalResult ArtifactWriter::chooseWeightPlace() {
  bool isBeside = options.externalWeights == "auto"
                      ? weights.getSize() > embedLimit
                      : options.externalWeights != "embed";
  if (!isBeside || weights.getSize() == 0) {
    return success();
  }
  // A program finds its weights in its own folder, wherever that is moved.
  StringRef parent = sys::path::parent_path(options.output);
  SmallString<256> path(options.externalWeights == "auto"
                            ? options.output + ".weights.safetensors"
                            : options.externalWeights);
  if (sys::path::has_parent_path(path) &&
      sys::path::parent_path(path) != parent) {
    return sink.error(ExitCode::Usage,
                      "--external-weights: expected a file beside the program, "
                      "got '" +
                          path + "'");
  }
  if (!sys::path::has_parent_path(path) && !parent.empty()) {
    path = parent;
    sys::path::append(path, options.externalWeights);
  }
  weightPath = std::string(path);
  codegen.weightsSymbol.clear();
  codegen.weightsFile = sys::path::filename(weightPath).str();
  // The header of a safetensors file, padded so that the data begins a page.
  codegen.weightsFileOffset = pageSize;
  return success();
}

LogicalResult ArtifactWriter::writeWeightFile() {
  std::string header =
      formatv("{{\"__metadata__\":{{\"format\":\"ampc weights\",\"producer\":"
              "\"{0}\"},\"weights\":{{\"dtype\":\"U8\",\"shape\":[{1}],"
              "\"data_offsets\":[0,{1}]}}",
              codegen.producer, weights.getSize());
  header.resize(codegen.weightsFileOffset - sizeof(uint64_t), ' ');
  OutputFile file(sink);
  if (failed(file.open(weightPath))) {
    return failure();
  }
  support::endian::write<uint64_t>(file.os(), header.size(),
                                   llvm::endianness::little);
  file.os() << header;
  if (failed(compilation.writeWeights(weights, file.os()))) {
    return failure();
  }
  return file.commit();
}

LogicalResult ArtifactWriter::writeWeightObject(StringRef path) {
  std::string note = codegen.producer;
  bool isInside = weightPath.empty();
  DataObject object;
  object.symbol = isInside ? StringRef(codegen.weightsSymbol) : "";
  object.size = isInside ? weights.getSize() : 0;
  object.padding = isInside ? AMPC_OVERREAD : 0;
  object.note = note;
  OutputFile file(sink);
  if (failed(file.open(path))) {
    return failure();
  }
  LogicalResult written =
      writeDataObject(file.os(), object, [&](raw_ostream &os) {
        return isInside ? compilation.writeWeights(weights, os) : success();
      });
  return failed(written) ? failure() : file.commit();
}

LogicalResult ArtifactWriter::writeObject(
    StringRef path, function_ref<LogicalResult(raw_pwrite_stream &)> emit) {
  SmallVector<char, 0> object;
  raw_svector_ostream os(object);
  if (failed(emit(os))) {
    return failure();
  }
  return writeFile(path, sink, [&](raw_ostream &file) { file << os.str(); });
}

LogicalResult ArtifactWriter::writeLibraryParts(LinkJob &job) {
  std::string shim = folder.getPath("library.o");
  job.versionScript = folder.getPath("exports.map");
  job.soname = sys::path::filename(options.output).str();
  job.objects.push_back(shim);
  auto emit = [&](raw_pwrite_stream &os) {
    return emitLibraryFunctions(name, codegen.programSymbol, os, sink);
  };
  if (failed(writeObject(shim, emit)) ||
      failed(writeFile(job.versionScript, sink, [&](raw_ostream &os) {
        printVersionScript(name, os);
      }))) {
    return failure();
  }
  return success();
}

LogicalResult ArtifactWriter::link(LinkJob job) {
  compilation.getTimer().enter("link");
  job.verbose = options.verbose;
  job.log = folder.getPath("linker.log");
  OutputFile output(sink);
  bool isExecutable = job.kind != LinkJob::Relocatable;
  if (failed(output.open(options.output, isExecutable))) {
    return failure();
  }
  if (output.isDirect()) {
    // A device or a pipe: the linker needs a file, so the bytes are copied.
    job.output = folder.getPath("linked");
    if (failed(runLinker(job, sink))) {
      return failure();
    }
    auto linked = MemoryBuffer::getFile(job.output);
    if (!linked) {
      return sink.error(ExitCode::InputOutput, "cannot read what was linked: " +
                                                   linked.getError().message());
    }
    output.os() << (*linked)->getBuffer();
    return output.commit();
  }
  job.output = output.getTemporaryPath().str();
  return failed(runLinker(job, sink)) ? failure() : output.commit();
}

LogicalResult ArtifactWriter::write() {
  LinkJob job;
  job.needsSimulator = options.simulate;
  if (options.emit != EmitKind::Exe) {
    // Several models may meet in one program.
    name = makeModelName(options.output);
    codegen.programSymbol = name + "_program";
    codegen.weightsSymbol = name + "_program_weights";
    job.kind = options.emit == EmitKind::Lib ? LinkJob::SharedLibrary
                                             : LinkJob::Relocatable;
  }
  if (failed(chooseWeightPlace()) ||
      failed(folder.create(options.saveTemps, sink))) {
    return failure();
  }
  std::string programObject = folder.getPath("program.o");
  std::string weightObject = folder.getPath("weights.o");
  job.objects = {programObject, weightObject};
  auto emit = [&](raw_pwrite_stream &os) {
    return compilation.emitCode(CodeForm::Object, codegen, os);
  };
  if (failed(writeObject(programObject, emit))) {
    return failure();
  }
  if (failed(writeWeightObject(weightObject)) ||
      (!weightPath.empty() && failed(writeWeightFile()))) {
    return failure();
  }
  if (options.emit == EmitKind::Lib && failed(writeLibraryParts(job))) {
    return failure();
  }
  if (failed(link(std::move(job)))) {
    return failure();
  }
  if (options.emit != EmitKind::Lib) {
    return success();
  }
  return writeFile(options.output + ".h", sink, [&](raw_ostream &os) {
    printLibraryHeader(name, compilation.getModule(), os);
  });
}

LogicalResult writeArtifact(Compilation &compilation) {
  return ArtifactWriter(compilation).write();
}

} // namespace ampc::driver
