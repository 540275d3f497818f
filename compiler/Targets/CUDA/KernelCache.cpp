//===- KernelCache.cpp - Compiled kernels kept between compilations -------===//
#include "compiler/Targets/CUDA/KernelCache.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace ampc::cuda;
namespace fs = llvm::sys::fs;

/// An entry is this, a hash of its name and content, and the content.
static constexpr StringLiteral magic = "ampc kernel 1\n";
static constexpr size_t hashBytes = 32;
static constexpr size_t headerBytes = magic.size() + hashBytes;
/// No kernel comes near; a larger file is none of ours.
static constexpr uint64_t mostBytes = 256ull << 20;

static std::string checksum(StringRef name, StringRef content) {
  SHA256 hasher;
  hasher.update(name);
  hasher.update(content);
  return toStringRef(hasher.final()).str();
}

KernelCache::KernelCache(StringRef folder, uint64_t limit)
    : folder(folder), limit(limit) {}

KernelCache::~KernelCache() {
  if (stored == 0) {
    return;
  }
  CachePruningPolicy policy;
  policy.Interval = std::chrono::seconds(0);
  policy.Expiration = std::chrono::seconds(0);
  // 0 would mean no bound.
  policy.MaxSizeBytes = std::max<uint64_t>(limit, 1);
  pruneCache(folder, policy);
}

std::string KernelCache::hash(StringRef text) {
  return toHex(toStringRef(SHA256::hash(arrayRefFromStringRef(text))),
               /*LowerCase=*/true);
}

/// LLVM prunes files with its own prefix only.
std::string KernelCache::pathOf(StringRef name) const {
  SmallString<256> path(folder);
  sys::path::append(path, "llvmcache-" + name);
  return std::string(path);
}

/// The bytes of a plain file of this user; nothing if it is something else.
static std::optional<std::string> readPlainFile(const char *path) {
  // A pipe must not block, a link not lead elsewhere.
  int file = ::open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) {
    return std::nullopt;
  }
  scope_exit closeFile([&] { ::close(file); });
  struct stat status;
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_uid != ::geteuid() || (status.st_mode & S_IWOTH) ||
      static_cast<uint64_t>(status.st_size) > mostBytes) {
    return std::nullopt;
  }
  std::string bytes(status.st_size, '\0');
  for (size_t done = 0; done < bytes.size();) {
    ssize_t count = ::read(file, bytes.data() + done, bytes.size() - done);
    if (count <= 0) {
      return std::nullopt;
    }
    done += count;
  }
  // What is used last goes last; file systems may not note each access.
  const timespec now[] = {{0, UTIME_NOW}, {0, UTIME_OMIT}};
  (void)::futimens(file, now);
  return bytes;
}

std::optional<std::string> KernelCache::find(StringRef name) {
  if (!isEnabled()) {
    return std::nullopt;
  }
  auto bytes = readPlainFile(pathOf(name).c_str());
  StringRef content = bytes ? StringRef(*bytes) : "";
  bool isEntry = content.consume_front(magic) && content.size() >= hashBytes &&
                 content.take_front(hashBytes) ==
                     checksum(name, content.drop_front(hashBytes));
  ++(isEntry ? hits : misses);
  return isEntry ? std::optional(bytes->substr(headerBytes)) : std::nullopt;
}

std::string KernelCache::getProblem() const {
  std::lock_guard<std::mutex> guard(lock);
  return problem;
}

void KernelCache::fail(StringRef message) {
  std::lock_guard<std::mutex> guard(lock);
  if (problem.empty()) {
    problem =
        ("cannot write to the kernel cache '" + folder + "': " + message).str();
  }
}

void KernelCache::store(StringRef name, StringRef content) {
  if (!isEnabled() || content.size() + headerBytes > mostBytes) {
    return;
  }
  // Others have no business in it: an entry is code.
  if (auto error = fs::create_directories(folder, /*IgnoreExisting=*/true,
                                          fs::owner_all)) {
    return fail(error.message());
  }
  std::string path = pathOf(name);
  auto temporary = fs::TempFile::create(path + ".%%%%%%%%",
                                        fs::owner_read | fs::owner_write);
  if (!temporary) {
    return fail(toString(temporary.takeError()));
  }
  raw_fd_ostream os(temporary->FD, /*shouldClose=*/false);
  os << magic << checksum(name, content) << content;
  os.flush();
  std::error_code written = os.error();
  os.clear_error();
  if (written || ::fsync(temporary->FD) != 0) {
    consumeError(temporary->discard());
    return fail(written ? written.message() : strerror(errno));
  }
  fs::file_status status;
  if (!fs::status(path, status, /*follow=*/false) &&
      status.type() == fs::file_type::directory_file) {
    // Nothing can be renamed to a folder; an empty one is out of the way.
    fs::remove(path);
  }
  if (Error error = temporary->keep(path)) {
    return fail(toString(std::move(error)));
  }
  ++stored;
  // The name lasts once its folder is written.
  int directory = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0) {
    (void)::fsync(directory);
    ::close(directory);
  }
}
