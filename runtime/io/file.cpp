//===- file.cpp - Bounded reading and atomic writing ----------------------===//
#include "runtime/io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ampc::runtime {

static Status systemError(const char *what) {
  return Status::error(AMPC_IO, "cannot %s: %s", what, strerror(errno));
}

FileReader::~FileReader() {
  if (fd >= 0) {
    close(fd);
  }
}

Status FileReader::open(const char *path) {
  // Without O_NONBLOCK, opening a pipe that nobody writes would wait for ever.
  fd = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    return systemError("open the file");
  }
  struct stat info;
  if (fstat(fd, &info) != 0) {
    return systemError("examine the file");
  }
  if (!S_ISREG(info.st_mode)) {
    return Status::error(AMPC_IO, "expected a regular file");
  }
  bytes = static_cast<uint64_t>(info.st_size);
  return Status();
}

Status FileReader::read(uint64_t offset, void *to, uint64_t length) const {
  if (!contains(offset, length)) {
    return Status::error(AMPC_INVALID,
                         "expected %llu bytes at offset %llu, got a file of "
                         "%llu bytes",
                         static_cast<unsigned long long>(length),
                         static_cast<unsigned long long>(offset),
                         static_cast<unsigned long long>(bytes));
  }
  auto *cursor = static_cast<char *>(to);
  while (length) {
    constexpr uint64_t most = 1u << 30;
    ssize_t got = pread(fd, cursor, length < most ? length : most,
                        static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return systemError("read the file");
    }
    if (got == 0) {
      return Status::error(AMPC_IO,
                           "the file became shorter while it was read");
    }
    cursor += got;
    offset += static_cast<uint64_t>(got);
    length -= static_cast<uint64_t>(got);
  }
  return Status();
}

FileWriter::~FileWriter() {
  if (fd >= 0) {
    close(fd);
    if (!temporary.empty()) {
      unlink(temporary.c_str());
    }
  }
}

Status FileWriter::open(const char *name) {
  path = Str(name);
  buffer.reserve(1u << 16);
  struct stat info;
  if (stat(name, &info) == 0 && !S_ISREG(info.st_mode)) {
    fd = ::open(name, O_WRONLY | O_CLOEXEC);
    return fd < 0 ? systemError("open the file") : Status();
  }
  temporary.appendf("%s.tmp.%d", name, static_cast<int>(getpid()));
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  fd = ::open(temporary.c_str(), flags, 0666);
  if (fd < 0 && errno == EEXIST) {
    // Left by a killed process that had our number; O_EXCL keeps a link laid
    // in its place from being followed.
    unlink(temporary.c_str());
    fd = ::open(temporary.c_str(), flags, 0666);
  }
  return fd < 0 ? systemError("create the file") : Status();
}

static Status writeAll(int fd, const char *from, uint64_t length) {
  while (length) {
    constexpr uint64_t most = 1u << 30;
    ssize_t put = ::write(fd, from, length < most ? length : most);
    if (put < 0 && errno == EINTR) {
      continue;
    }
    if (put < 0) {
      return systemError("write the file");
    }
    from += put;
    length -= static_cast<uint64_t>(put);
  }
  return Status();
}

Status FileWriter::flush() {
  Status status = writeAll(fd, buffer.data(), buffer.size());
  buffer.clear();
  return status;
}

Status FileWriter::write(const void *from, uint64_t length) {
  constexpr size_t capacity = 1u << 16;
  written += length;
  if (length >= capacity - buffer.size()) {
    AMPC_TRY(flush());
  }
  if (length >= capacity) {
    return writeAll(fd, static_cast<const char *>(from), length);
  }
  size_t old = buffer.size();
  buffer.resize(old + length);
  if (length) {
    memcpy(buffer.data() + old, from, length);
  }
  return Status();
}

Status syncFolder(const char *folder) {
  int fd = ::open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) {
    return Status(); // searchable but not readable: nothing can be done
  }
  bool failed = fsync(fd) != 0 && errno != EINVAL && errno != ENOTSUP &&
                errno != ENOSYS && errno != EROFS;
  Status status = failed ? systemError("sync the folder") : Status();
  close(fd);
  return status;
}

static Status syncFolderOf(const char *path) {
  const char *slash = strrchr(path, '/');
  Str folder =
      slash ? Str(path, static_cast<size_t>(slash + 1 - path)) : Str(".");
  return syncFolder(folder.c_str());
}

Status FileWriter::commit() {
  AMPC_TRY(flush());
  if (temporary.empty()) {
    return Status();
  }
  if (fsync(fd) != 0) {
    return systemError("sync the file");
  }
  if (rename(temporary.c_str(), path.c_str()) != 0) {
    return systemError("rename the file into place");
  }
  temporary.clear();
  return syncFolderOf(path.c_str());
}

} // namespace ampc::runtime
