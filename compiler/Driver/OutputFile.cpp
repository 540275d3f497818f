//===- OutputFile.cpp - Files that appear whole or not at all -------------===//
#include "compiler/Driver/OutputFile.h"

#include "compiler/Driver/CrashHandler.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

using namespace llvm;
namespace fs = llvm::sys::fs;

namespace ampc::driver {

OutputFile::~OutputFile() {
  if (stream) {
    stream->clear_error();
  }
  stream.reset();
  if (temporary) {
    consumeError(temporary->discard());
  }
}

/// Whether the path is standard output, or a device, a pipe or a folder.
static bool isSpecial(StringRef path) {
  fs::file_status status;
  return path == "-" || (!fs::status(path, status) && fs::exists(status) &&
                         !fs::is_regular_file(status));
}

LogicalResult OutputFile::open(StringRef wanted, bool isExecutable) {
  path = wanted.str();
  if (isSpecial(path)) {
    std::error_code error;
    stream = std::make_unique<raw_fd_ostream>(path, error);
    if (error) {
      return sink.error(ExitCode::InputOutput,
                        "cannot write '" + path + "': " + error.message());
    }
    return success();
  }
  unsigned mode = fs::all_read | fs::all_write;
  if (isExecutable) {
    mode |= fs::all_exe;
  }
  // umask applies to the mode.
  Expected<fs::TempFile> file = fs::TempFile::create(
      path + ".%%%%%%%%.part", static_cast<fs::perms>(mode));
  if (!file) {
    return sink.error(ExitCode::InputOutput, "cannot write '" + path + "': " +
                                                 toString(file.takeError()));
  }
  temporary = std::move(*file);
  stream =
      std::make_unique<raw_fd_ostream>(temporary->FD, /*shouldClose=*/false);
  return success();
}

LogicalResult OutputFile::commit(bool isDurable) {
  stream->flush();
  if (stream->has_error()) {
    std::string message = stream->error().message();
    stream->clear_error();
    return sink.error(ExitCode::InputOutput,
                      "cannot write '" + path + "': " + message);
  }
  stream.reset();
  if (!temporary) {
    return success();
  }
  if (isDurable && fsync(temporary->FD) != 0) {
    return sink.error(ExitCode::InputOutput,
                      "cannot write '" + path + "': " + strerror(errno));
  }
  Error error = temporary->keep(path);
  temporary.reset();
  if (error) {
    return sink.error(ExitCode::InputOutput, "cannot write '" + path + "': " +
                                                 toString(std::move(error)));
  }
  return success();
}

LogicalResult checkWritable(StringRef path, DiagnosticSink &sink) {
  StringRef folder = sys::path::parent_path(path);
  std::error_code error =
      fs::access(folder.empty() ? "." : folder, fs::AccessMode::Write);
  if (isSpecial(path) || !error) {
    return success();
  }
  return sink.error(ExitCode::InputOutput,
                    "cannot write '" + path + "': " + error.message());
}

LogicalResult writeFile(StringRef path, DiagnosticSink &sink,
                        function_ref<void(raw_ostream &)> write) {
  OutputFile file(sink);
  if (failed(file.open(path))) {
    return failure();
  }
  write(file.os());
  return file.commit();
}

TemporaryFolder::~TemporaryFolder() {
  if (!path.empty() && !isKept) {
    fs::remove_directories(path);
    keepOnSignal();
  }
}

LogicalResult TemporaryFolder::create(StringRef keep, DiagnosticSink &sink) {
  std::error_code error;
  if (!keep.empty()) {
    path = keep.str();
    isKept = true;
    error = fs::create_directories(path);
  } else {
    SmallString<128> made;
    error = fs::createUniqueDirectory("ampc", made);
    path = std::string(made);
    removeOnSignal(path.c_str());
  }
  if (error) {
    return sink.error(ExitCode::InputOutput, "cannot make the folder '" + path +
                                                 "': " + error.message());
  }
  return success();
}

std::string TemporaryFolder::getPath(StringRef name) const {
  SmallString<128> full(path);
  sys::path::append(full, name);
  if (!isKept) {
    removeOnSignal(full.c_str());
  }
  return std::string(full);
}

} // namespace ampc::driver
