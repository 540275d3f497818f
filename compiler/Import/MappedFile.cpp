//===- MappedFile.cpp - A read-only file in memory ------------------------===//
#include "compiler/Import/MappedFile.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <utility>

namespace ampc::importer {

std::unique_ptr<MappedFile> MappedFile::map(int fd, uint64_t size) {
  if (size == 0) {
    return std::unique_ptr<MappedFile>(new MappedFile(nullptr, 0));
  }
  void *data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED) {
    return nullptr;
  }
  return std::unique_ptr<MappedFile>(
      new MappedFile(static_cast<const uint8_t *>(data), size));
}

MappedFile::~MappedFile() {
  if (data) {
    munmap(const_cast<uint8_t *>(data), size);
  }
}

FileDescriptor::~FileDescriptor() {
  if (fd >= 0) {
    close(fd);
  }
}

FileDescriptor &FileDescriptor::operator=(FileDescriptor &&other) {
  std::swap(fd, other.fd);
  return *this;
}

} // namespace ampc::importer
