//===- append_file.cpp - Files that grow while a program runs -------------===//
#include "runtime/training/append_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ampc::runtime {

static Status systemError(const Str &path, const char *what) {
  return Status::error(AMPC_IO, "%s: cannot %s: %s", path.c_str(), what,
                       strerror(errno));
}

AppendFile::~AppendFile() {
  if (fd >= 0) {
    close(fd);
  }
}

Status AppendFile::open(const char *name) {
  path = Str(name);
  fd = ::open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  return fd < 0 ? systemError(path, "open the file") : Status();
}

Status AppendFile::write(const Str &record) {
  const char *at = record.c_str();
  size_t left = record.size();
  while (left) {
    ssize_t put = ::write(fd, at, left);
    if (put < 0 && errno == EINTR) {
      continue;
    }
    if (put < 0) {
      return systemError(path, "write the file");
    }
    at += put;
    left -= static_cast<size_t>(put);
  }
  return Status();
}

Status AppendFile::endLine() {
  struct stat info;
  char last = '\n';
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0) {
    return Status();
  }
  int reader = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (reader >= 0) {
    if (pread(reader, &last, 1, info.st_size - 1) != 1) {
      last = '\n';
    }
    close(reader);
  }
  return last == '\n' ? Status() : write(Str("\n"));
}

} // namespace ampc::runtime
