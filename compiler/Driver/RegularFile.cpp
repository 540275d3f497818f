//===- RegularFile.cpp - Short files that the user names ------------------===//
#include "compiler/Driver/RegularFile.h"

#include "llvm/Support/FileSystem.h"

using namespace llvm;

std::unique_ptr<MemoryBuffer>
ampc::driver::readRegularFile(StringRef path, uint64_t maxBytes,
                              DiagnosticSink &sink) {
  auto refuse = [&](ExitCode code, const Twine &why) {
    (void)sink.error(code, "cannot read '" + path + "': " + why);
    return nullptr;
  };
  sys::fs::file_status status;
  if (std::error_code error = sys::fs::status(path, status)) {
    return refuse(ExitCode::InputOutput, error.message());
  }
  if (!sys::fs::is_regular_file(status)) {
    return refuse(ExitCode::InputOutput, "not a regular file");
  }
  if (status.getSize() > maxBytes) {
    return refuse(ExitCode::Limit, "more than " + Twine(maxBytes) + " bytes");
  }
  auto buffer = MemoryBuffer::getFile(path);
  if (!buffer) {
    return refuse(ExitCode::InputOutput, buffer.getError().message());
  }
  return std::move(*buffer);
}
