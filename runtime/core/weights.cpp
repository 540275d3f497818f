//===- weights.cpp - The constant section of a program --------------------===//
#include "runtime/core/weights.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ampc::runtime {
namespace {

struct Search {
  uintptr_t address;
  bool inExecutable;
};

/// dl_iterate_phdr visits the executable first; one visit is enough.
int visitExecutable(dl_phdr_info *info, size_t, void *argument) {
  auto &search = *static_cast<Search *>(argument);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto &segment = info->dlpi_phdr[i];
    uintptr_t start = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && search.address >= start &&
        search.address - start < segment.p_memsz) {
      search.inExecutable = true;
    }
  }
  return 1;
}

Status executablePath(Str *out) {
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0 || length == sizeof path) {
    return Status::error(AMPC_IO, "cannot read /proc/self/exe: %s",
                         length < 0 ? strerror(errno) : "path too long");
  }
  *out = Str(path, static_cast<size_t>(length));
  return Status();
}

/// Closes its descriptor at the end of a scope.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) {
      close(fd);
    }
  }
};

} // namespace

Status findModuleFolder(const void *address, Str *outFolder) {
  Str path;
  Search search = {reinterpret_cast<uintptr_t>(address), false};
  dl_iterate_phdr(visitExecutable, &search);
  if (search.inExecutable) {
    // The dynamic linker knows the executable only by argv[0].
    AMPC_TRY(executablePath(&path));
  } else {
    Dl_info info;
    if (!dladdr(address, &info) || !info.dli_fname) {
      return Status::error(AMPC_IO, "the program lies in no file; name the "
                                    "folder of its weight file");
    }
    path = Str(info.dli_fname);
  }
  const char *slash = strrchr(path.c_str(), '/');
  *outFolder =
      slash ? Str(path.c_str(), static_cast<size_t>(slash + 1 - path.c_str()))
            : Str("./");
  return Status();
}

Weights::~Weights() {
  if (mapping) {
    munmap(mapping, mappingBytes);
  }
}

Status Weights::open(const ampc_program &program, const char *folder) {
  if (program.weights || program.weights_bytes == 0) {
    data = program.weights;
    return Status();
  }
  const char *name = program.weights_file;
  if (!name || !*name || strchr(name, '/')) {
    return Status::error(AMPC_INVALID,
                         "expected the name of a weight file "
                         "beside the program, got '%s'",
                         name ? name : "");
  }
  Str path;
  if (folder) {
    path.appendf("%s/", folder);
  } else {
    AMPC_TRY(findModuleFolder(&program, &path));
  }
  path.append(name);
  return map(path.c_str(), program.weights_file_offset, program.weights_bytes)
      .withPrefix(path.c_str());
}

/// Maps [offset, offset + bytes) of the file, with AMPC_OVERREAD readable bytes
/// after it even where the file ends.
Status Weights::map(const char *path, uint64_t offset, uint64_t bytes) {
  Descriptor file = {::open(path, O_RDONLY | O_CLOEXEC)};
  struct stat info;
  if (file.fd < 0 || fstat(file.fd, &info) != 0) {
    return Status::error(AMPC_IO, "cannot open the weight file: %s",
                         strerror(errno));
  }
  uint64_t size = static_cast<uint64_t>(info.st_size);
  if (!S_ISREG(info.st_mode) || offset > size || bytes > size - offset) {
    return Status::error(AMPC_INVALID,
                         "expected a weight file of at least %llu + %llu "
                         "bytes, got %llu",
                         static_cast<unsigned long long>(offset),
                         static_cast<unsigned long long>(bytes),
                         static_cast<unsigned long long>(size));
  }
  if (offset % AMPC_ALIGNMENT != 0) {
    return Status::error(
        AMPC_INVALID, "expected weights at a multiple of %u bytes, got %llu",
        AMPC_ALIGNMENT, static_cast<unsigned long long>(offset));
  }
  uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  uint64_t skip = offset % page;
  // Both sums are below the file's size plus two pages.
  uint64_t wanted = skip + bytes + AMPC_OVERREAD;
  uint64_t inFile = size - (offset - skip);
  uint64_t fileBytes = wanted < inFile ? wanted : inFile;
  // Zero pages first, the file over them: a page wholly behind the file's end
  // must not belong to its mapping, or touching it would fault.
  void *pages =
      mmap(nullptr, wanted, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) {
    return Status::error(AMPC_LIMIT, "cannot map the weight file: %s",
                         strerror(errno));
  }
  mapping = pages;
  mappingBytes = wanted;
  void *mapped = mmap(pages, fileBytes, PROT_READ, MAP_PRIVATE | MAP_FIXED,
                      file.fd, static_cast<off_t>(offset - skip));
  if (mapped == MAP_FAILED) {
    return Status::error(AMPC_IO, "cannot map the weight file: %s",
                         strerror(errno));
  }
  data = static_cast<const char *>(pages) + skip;
  return Status();
}

} // namespace ampc::runtime
