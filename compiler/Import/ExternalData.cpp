//===- ExternalData.cpp - The one gate to files named by a model ----------===//
#include "compiler/Import/ExternalData.h"

#include "compiler/Import/Proto/onnx_subset.pb.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace llvm;

namespace ampc::importer {
namespace {

/// The parsed entries of one `external_data` list.
struct Reference {
  StringRef location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};

} // namespace

/// Reads the entries against the list of known keys. Numbers are plain decimal:
/// `StringRef::getAsInteger` knows no locale, sign or blank.
static std::optional<Reference> parseReference(const onnx::TensorProto &tensor,
                                               StringRef where,
                                               ImportDiagnostics &diags) {
  Reference reference;
  StringSet<> seen;
  for (const onnx::StringStringEntryProto &entry : tensor.external_data()) {
    StringRef key = entry.key(), value = entry.value();
    if (!seen.insert(key).second) {
      (void)diags.invalid(where, "external data key '" + printableName(key) +
                                     "' stands twice");
      return std::nullopt;
    }
    uint64_t number = 0;
    bool isNumber = key == "offset" || key == "length";
    if (isNumber && value.getAsInteger(10, number)) {
      (void)diags.invalid(where, "expected a non-negative number as external "
                                 "data '" +
                                     key + "', got '" + printableName(value) +
                                     "'");
      return std::nullopt;
    }
    if (key == "location") {
      reference.location = value;
    } else if (key == "offset") {
      reference.offset = number;
    } else if (key == "length") {
      reference.length = number;
    } else if (key != "checksum") {
      (void)diags.invalid(where, "unknown external data key '" +
                                     printableName(key) + "'");
      return std::nullopt;
    }
  }
  return reference;
}

/// Splits `location` and refuses what could leave the folder before the kernel
/// is asked: absolute paths, empty parts, `.` and `..`, embedded zero bytes.
static std::optional<SmallVector<std::string, 4>>
splitLocation(StringRef location) {
  if (location.empty() || location.size() > 4096 || location.contains('\0')) {
    return std::nullopt;
  }
  SmallVector<StringRef, 4> parts;
  location.split(parts, '/');
  SmallVector<std::string, 4> result;
  for (auto [index, part] : enumerate(parts)) {
    bool isLeadingDot = index == 0 && part == "." && parts.size() > 1;
    if (isLeadingDot) {
      continue;
    }
    if (part.empty() || part == "." || part == "..") {
      return std::nullopt;
    }
    result.push_back(part.str());
  }
  return result;
}

/// Opens `parts` below the open folder without following any link. O_NONBLOCK
/// keeps the open of a FIFO from waiting; the file type is checked afterwards.
static FileDescriptor openBeneath(int folder, ArrayRef<std::string> parts) {
  constexpr int leafFlags =
      O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  std::string path;
  for (const std::string &part : parts) {
    path += (path.empty() ? "" : "/") + part;
  }
  struct open_how how = {};
  how.flags = leafFlags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  int fd = syscall(SYS_openat2, folder, path.c_str(), &how, sizeof(how));
  if (fd >= 0 || errno != ENOSYS) {
    return FileDescriptor(fd);
  }
  // Kernels before 5.6 (and sandboxes that hide the call) lack openat2. Walking
  // one component at a time, each O_NOFOLLOW and relative to the descriptor of
  // the last, gives the same guarantee: `..` was refused, a link fails with
  // ELOOP or ENOTDIR, and renames in between cannot lead out of a descriptor.
  FileDescriptor current;
  for (const std::string &part : parts.drop_back()) {
    int parent = current.isOpen() ? current.get() : folder;
    FileDescriptor next(openat(
        parent, part.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next.isOpen()) {
      return next;
    }
    current = std::move(next);
  }
  int parent = current.isOpen() ? current.get() : folder;
  return FileDescriptor(openat(parent, parts.back().c_str(), leafFlags));
}

const MappedFile *ExternalData::open(StringRef location, StringRef where,
                                     ImportDiagnostics &diags) {
  if (auto it = files.find(location); it != files.end()) {
    return it->second.get();
  }
  // A failure is remembered too, so that one missing file gives one error.
  std::unique_ptr<MappedFile> &slot = files[location];
  std::string name = printableName(location);
  auto parts = splitLocation(location);
  if (!parts) {
    (void)diags.invalid(where,
                        "expected the location of external data to be a "
                        "relative path inside the model's folder, got '" +
                            name + "'");
    return nullptr;
  }
  FileDescriptor base(::open(folder.empty() ? "." : folder.c_str(),
                             O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!base.isOpen()) {
    (void)diags.error(ErrorCategory::InputOutput, where,
                      "cannot open the model's folder '" + folder +
                          "': " + strerror(errno));
    return nullptr;
  }
  FileDescriptor fd = openBeneath(base.get(), *parts);
  if (!fd.isOpen()) {
    int code = errno;
    if (code == ELOOP || code == EXDEV) {
      (void)diags.invalid(where,
                          "external data file '" + name +
                              "' is reached through a symbolic link",
                          "put a copy of the file beside the model");
      return nullptr;
    }
    if (code == ENOENT || code == ENOTDIR) {
      (void)diags.invalid(where,
                          "external data file '" + name + "' does not exist",
                          "put it beside the model");
      return nullptr;
    }
    (void)diags.error(ErrorCategory::InputOutput, where,
                      "cannot open external data file '" + name +
                          "': " + strerror(code));
    return nullptr;
  }
  struct stat info;
  if (fstat(fd.get(), &info) != 0) {
    (void)diags.error(ErrorCategory::InputOutput, where,
                      "cannot examine external data file '" + name +
                          "': " + strerror(errno));
    return nullptr;
  }
  if (!S_ISREG(info.st_mode)) {
    (void)diags.invalid(where,
                        "external data '" + name + "' is not a regular file");
    return nullptr;
  }
  if (info.st_nlink != 1) {
    (void)diags.invalid(where,
                        "expected external data file '" + name +
                            "' to have one hard link, got " +
                            Twine(static_cast<uint64_t>(info.st_nlink)),
                        "put a copy of the file beside the model");
    return nullptr;
  }
  slot = MappedFile::map(fd.get(), static_cast<uint64_t>(info.st_size));
  if (!slot) {
    (void)diags.error(ErrorCategory::InputOutput, where,
                      "cannot map external data file '" + name +
                          "': " + strerror(errno));
  }
  return slot.get();
}

std::optional<ArrayRef<uint8_t>>
ExternalData::read(const onnx::TensorProto &tensor, uint64_t expectedBytes,
                   StringRef where, ImportDiagnostics &diags) {
  std::optional<Reference> reference = parseReference(tensor, where, diags);
  if (!reference) {
    return std::nullopt;
  }
  uint64_t length = reference->length.value_or(expectedBytes);
  auto bytes =
      read(reference->location, reference->offset, length, where, diags);
  if (bytes && length != expectedBytes) {
    (void)diags.invalid(where, "expected " + Twine(expectedBytes) +
                                   " bytes of external data, got " +
                                   Twine(length));
    return std::nullopt;
  }
  return bytes;
}

std::optional<ArrayRef<uint8_t>>
ExternalData::read(StringRef location, uint64_t offset, uint64_t length,
                   StringRef where, ImportDiagnostics &diags) {
  const MappedFile *file = open(location, where, diags);
  if (!file) {
    return std::nullopt;
  }
  ArrayRef<uint8_t> bytes = file->bytes();
  if (offset > bytes.size()) {
    (void)diags.invalid(where, "external data offset " + Twine(offset) +
                                   " lies beyond the file's " +
                                   Twine(bytes.size()) + " bytes");
    return std::nullopt;
  }
  if (length > bytes.size() - offset) {
    (void)diags.invalid(where, "external data of " + Twine(length) +
                                   " bytes at offset " + Twine(offset) +
                                   " exceeds the file's " +
                                   Twine(bytes.size()) + " bytes");
    return std::nullopt;
  }
  return bytes.slice(offset, length);
}

std::optional<uint64_t> findOffset(const MappedFile &file,
                                   ArrayRef<uint8_t> bytes) {
  ArrayRef<uint8_t> all = file.bytes();
  std::less_equal<const uint8_t *> isBefore;
  if (all.empty() || !isBefore(all.begin(), bytes.begin()) ||
      !isBefore(bytes.end(), all.end())) {
    return std::nullopt;
  }
  return bytes.begin() - all.begin();
}

std::optional<std::pair<std::string, uint64_t>>
ExternalData::locate(ArrayRef<uint8_t> bytes) const {
  for (const auto &entry : files) {
    if (!entry.second) {
      continue;
    }
    if (std::optional<uint64_t> offset = findOffset(*entry.second, bytes)) {
      SmallString<128> path(folder);
      sys::path::append(path, entry.first());
      return std::pair(std::string(path), *offset);
    }
  }
  return std::nullopt;
}

} // namespace ampc::importer
