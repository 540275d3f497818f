//===- file.h - Bounded reading and atomic writing ------------------------===//
#ifndef AMPC_RUNTIME_IO_FILE_H
#define AMPC_RUNTIME_IO_FILE_H

#include "runtime/core/support.h"

namespace ampc::runtime {

/// A regular file, read by position.
class FileReader {
public:
  FileReader() = default;
  FileReader(FileReader &&other) noexcept
      : fd(std::exchange(other.fd, -1)), bytes(other.bytes) {}
  FileReader &operator=(FileReader &&other) noexcept {
    std::swap(fd, other.fd);
    std::swap(bytes, other.bytes);
    return *this;
  }
  FileReader(const FileReader &) = delete;
  FileReader &operator=(const FileReader &) = delete;
  ~FileReader();

  /// AMPC_IO if it cannot be opened or is no regular file.
  Status open(const char *path);
  uint64_t size() const { return bytes; }
  /// Whether [offset, offset + length) lies inside the file.
  bool contains(uint64_t offset, uint64_t length) const {
    return offset <= bytes && length <= bytes - offset;
  }
  /// Fills `to`. AMPC_INVALID if the range is not inside the file.
  Status read(uint64_t offset, void *to, uint64_t length) const;

private:
  int fd = -1;
  uint64_t bytes = 0;
};

/// Writes a file under a temporary name and gives it its own name in commit.
/// Without commit nothing remains. A path that exists and is no regular file (a
/// pipe, a terminal) is written directly.
class FileWriter {
public:
  FileWriter() = default;
  FileWriter(const FileWriter &) = delete;
  FileWriter &operator=(const FileWriter &) = delete;
  ~FileWriter();

  Status open(const char *path);
  Status write(const void *from, uint64_t length);
  /// Bytes written so far.
  uint64_t position() const { return written; }
  /// Syncs, renames, and syncs the folder. When only the last of these fails,
  /// the file has its name, but may lose it with the power.
  Status commit();

private:
  Status flush();

  Str path;
  Str temporary; // empty when written directly
  int fd = -1;
  uint64_t written = 0;
  Vec<char> buffer; // small writes are gathered
};

/// Makes new names and removals in a folder durable. A file system that cannot
/// sync folders is no failure: the contents of files are safe without.
Status syncFolder(const char *folder);

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_IO_FILE_H
