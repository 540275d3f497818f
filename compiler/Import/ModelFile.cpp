//===- ModelFile.cpp - An ONNX file, parsed and mapped --------------------===//
#include "compiler/Import/ModelFile.h"

#include "compiler/Import/Proto/onnx_subset.pb.h"
#include "compiler/Import/WireScanner.h"
#include "google/protobuf/arena.h"
#include "google/protobuf/io/coded_stream.h"
#include "llvm/Support/Alignment.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>

using namespace llvm;

namespace ampc::importer {

ModelFile::ModelFile(StringRef path)
    : path(path.str()), arena(std::make_unique<google::protobuf::Arena>()),
      externalData(sys::path::parent_path(path)) {}

ModelFile::~ModelFile() = default;

/// Opens and maps the file that the user named; unlike files that a model
/// names, it may be a link.
static std::unique_ptr<MappedFile> mapModel(const std::string &path,
                                            ImportDiagnostics &diags) {
  auto refuse = [&](const Twine &what) {
    (void)diags.error(ErrorCategory::InputOutput, "", what);
    return nullptr;
  };
  FileDescriptor fd(
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.isOpen()) {
    return refuse(Twine("cannot open the model: ") + strerror(errno));
  }
  struct stat info;
  if (fstat(fd.get(), &info) != 0) {
    return refuse(Twine("cannot examine the model: ") + strerror(errno));
  }
  if (!S_ISREG(info.st_mode)) {
    return refuse("the model is not a regular file");
  }
  auto file = MappedFile::map(fd.get(), static_cast<uint64_t>(info.st_size));
  if (!file) {
    return refuse(Twine("cannot map the model: ") + strerror(errno));
  }
  return file;
}

std::unique_ptr<ModelFile> ModelFile::open(StringRef path,
                                           ImportDiagnostics &diags) {
  std::unique_ptr<ModelFile> model(new ModelFile(path));
  model->file = mapModel(model->path, diags);
  if (!model->file) {
    return nullptr;
  }
  WireLimits limits;
  ScannedModel scanned;
  if (failed(scanModel(model->file->bytes(), limits, scanned, diags))) {
    return nullptr;
  }
  model->proto = google::protobuf::Arena::CreateMessage<onnx::ModelProto>(
      model->arena.get());
  google::protobuf::io::CodedInputStream input(&scanned);
  // The scanner has bounded both already, and counts leaves less strictly.
  input.SetRecursionLimit(static_cast<int>(limits.maxDepth) + 8);
  input.SetTotalBytesLimit(INT_MAX);
  if (!model->proto->ParseFromCodedStream(&input) ||
      !input.ConsumedEntireMessage()) {
    (void)diags.invalid("", "not an ONNX model: malformed message");
    return nullptr;
  }
  model->slices = scanned.getSlices();
  if (!model->proto->has_graph() || !model->proto->has_ir_version()) {
    (void)diags.invalid("", "not an ONNX model: no IR version or no graph");
    return nullptr;
  }
  return model;
}

ArrayRef<uint8_t> ModelFile::getBytes() const { return file->bytes(); }

ArrayRef<uint8_t> ModelFile::getSlice(uint32_t index) const {
  return index < slices.size() ? slices[index] : ArrayRef<uint8_t>();
}

std::optional<std::pair<std::string, uint64_t>>
ModelFile::locate(ArrayRef<uint8_t> bytes) const {
  if (std::optional<uint64_t> offset = findOffset(*file, bytes)) {
    return std::pair(path, *offset);
  }
  return externalData.locate(bytes);
}

MutableArrayRef<uint8_t> ModelFile::allocateBytes(uint64_t size) {
  constexpr uint64_t alignment = 64;
  copies.emplace_back(new uint8_t[size + alignment]);
  auto *aligned = reinterpret_cast<uint8_t *>(
      alignAddr(copies.back().get(), Align(alignment)));
  return {aligned, size};
}

} // namespace ampc::importer
