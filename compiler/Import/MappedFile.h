//===- MappedFile.h - A read-only file in memory --------------------------===//
#ifndef AMPC_COMPILER_IMPORT_MAPPEDFILE_H
#define AMPC_COMPILER_IMPORT_MAPPEDFILE_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <memory>

namespace ampc::importer {

/// Owns a private read-only mapping of a whole file. A file that another
/// process truncates while it is mapped ends this process with SIGBUS; that is
/// the price of not copying weights.
class MappedFile {
public:
  /// Maps `size` bytes of the open descriptor; null when the system refuses
  /// (see errno). A file of no bytes gives an empty view.
  static std::unique_ptr<MappedFile> map(int fd, uint64_t size);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  llvm::ArrayRef<uint8_t> bytes() const { return {data, size}; }

private:
  MappedFile(const uint8_t *data, size_t size) : data(data), size(size) {}
  const uint8_t *data;
  size_t size;
};

/// Closes a file descriptor at the end of a scope.
class FileDescriptor {
public:
  explicit FileDescriptor(int fd = -1) : fd(fd) {}
  ~FileDescriptor();
  FileDescriptor(FileDescriptor &&other) : fd(other.fd) { other.fd = -1; }
  FileDescriptor &operator=(FileDescriptor &&other);
  FileDescriptor(const FileDescriptor &) = delete;
  FileDescriptor &operator=(const FileDescriptor &) = delete;

  int get() const { return fd; }
  bool isOpen() const { return fd >= 0; }

private:
  int fd;
};

} // namespace ampc::importer

#endif // AMPC_COMPILER_IMPORT_MAPPEDFILE_H
