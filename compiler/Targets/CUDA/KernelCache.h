//===- KernelCache.h - Compiled kernels kept between compilations ---------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_KERNELCACHE_H
#define AMPC_COMPILER_TARGETS_CUDA_KERNELCACHE_H

#include "llvm/ADT/StringRef.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <string>

namespace ampc::cuda {

/// A folder of entries, each named by the hash of what it was made from. The
/// folder may be shared by processes, full, unwritable, or hold anything: what
/// is not a whole entry of that name is none, and is replaced. Usable from
/// several threads.
class KernelCache {
public:
  /// An empty `folder` is no cache. The entries are kept below `limit` bytes,
  /// those unused longest going first.
  KernelCache(llvm::StringRef folder, uint64_t limit);
  /// Removes what is too much, if anything was added.
  ~KernelCache();

  /// The name of what is made from `text`, in hexadecimal digits.
  static std::string hash(llvm::StringRef text);

  std::optional<std::string> find(llvm::StringRef name);
  void store(llvm::StringRef name, llvm::StringRef content);

  bool isEnabled() const { return !folder.empty(); }
  unsigned getHits() const { return hits; }
  unsigned getMisses() const { return misses; }
  /// Why an entry could not be written; empty if all were.
  std::string getProblem() const;

private:
  std::string pathOf(llvm::StringRef name) const;
  void fail(llvm::StringRef message);

  std::string folder;
  uint64_t limit;
  std::atomic<unsigned> hits{0}, misses{0}, stored{0};
  mutable std::mutex lock; ///< of `problem`
  std::string problem;
};

/// Names the compiler that runs: its own build and LLVM's and MLIR's.
const std::string &getBuildId();

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_KERNELCACHE_H
