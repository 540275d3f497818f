//===- append_file.h - Files that grow while a program runs ---------------===//
#ifndef AMPC_RUNTIME_TRAINING_APPEND_FILE_H
#define AMPC_RUNTIME_TRAINING_APPEND_FILE_H

#include "runtime/core/support.h"

namespace ampc::runtime {

/// A file to whose end whole records are written, each at once. Errors begin
/// with the path.
class AppendFile {
public:
  AppendFile() = default;
  AppendFile(const AppendFile &) = delete;
  AppendFile &operator=(const AppendFile &) = delete;
  ~AppendFile();

  /// Makes the file if it is not there.
  Status open(const char *path);
  bool isOpen() const { return fd >= 0; }
  Status write(const Str &record);
  /// Writes a line end where the last line lacks one, because the process that
  /// wrote it was killed.
  Status endLine();

private:
  Str path;
  int fd = -1;
};

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_TRAINING_APPEND_FILE_H
