//===- KernelCacheTest.cpp - Entries of the kernel cache ------------------===//
#include "compiler/Targets/CUDA/KernelCache.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ampc::test {
namespace {
namespace fs = llvm::sys::fs;
using cuda::KernelCache;

constexpr uint64_t unbounded = 1ull << 30;

class KernelCacheTest : public testing::Test {
protected:
  void SetUp() override {
    llvm::SmallString<128> made;
    ASSERT_FALSE(fs::createUniqueDirectory("ampc-cache", made));
    folder = std::string(made);
  }
  void TearDown() override { fs::remove_directories(folder); }

  std::string pathOf(llvm::StringRef name) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, "llvmcache-" + name);
    return std::string(path);
  }
  std::string read(llvm::StringRef name) {
    auto file = llvm::MemoryBuffer::getFile(pathOf(name));
    return file ? (*file)->getBuffer().str() : "";
  }
  void write(llvm::StringRef name, llvm::StringRef bytes) {
    std::error_code error;
    llvm::raw_fd_ostream os(pathOf(name), error);
    ASSERT_FALSE(error);
    os << bytes;
  }
  unsigned countFiles() {
    unsigned count = 0;
    std::error_code error;
    for (fs::directory_iterator i(folder, error), end; i != end && !error;
         i.increment(error)) {
      count += llvm::sys::path::filename(i->path()).starts_with("llvmcache-");
    }
    return count;
  }

  std::string folder;
};

TEST_F(KernelCacheTest, keepsWhatIsStored) {
  std::string content("code\0\n\xff", 7);
  {
    KernelCache cache(folder, unbounded);
    EXPECT_FALSE(cache.find("a"));
    cache.store("a", content);
    cache.store("empty", "");
    EXPECT_EQ(cache.getProblem(), "");
  }
  KernelCache cache(folder, unbounded);
  EXPECT_EQ(cache.find("a"), content);
  EXPECT_EQ(cache.find("empty"), "");
  EXPECT_FALSE(cache.find("b"));
  EXPECT_EQ(cache.getHits(), 2u);
  EXPECT_EQ(cache.getMisses(), 1u);
  EXPECT_EQ(countFiles(), 2u); // nothing temporary is left
}

TEST_F(KernelCacheTest, everyChangedByteIsSeen) {
  KernelCache cache(folder, unbounded);
  cache.store("a", "some code");
  const std::string whole = read("a");
  ASSERT_GT(whole.size(), 9u);
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string broken = whole;
    broken[i] ^= 1;
    write("a", broken);
    EXPECT_FALSE(cache.find("a")) << "byte " << i;
    write("a", whole.substr(0, i));
    EXPECT_FALSE(cache.find("a")) << "cut to " << i;
  }
  write("a", whole + "x");
  EXPECT_FALSE(cache.find("a"));
  // An entry under another's name is none.
  write("b", whole);
  EXPECT_FALSE(cache.find("b"));
  cache.store("a", "some code");
  EXPECT_EQ(cache.find("a"), "some code");
}

TEST_F(KernelCacheTest, whatIsNoFileIsNoEntry) {
  KernelCache cache(folder, unbounded);
  ASSERT_EQ(::mkfifo(pathOf("pipe").c_str(), 0600), 0);
  ASSERT_FALSE(fs::create_directory(pathOf("folder")));
  ASSERT_FALSE(fs::create_directory(pathOf("full")));
  ASSERT_FALSE(fs::create_directory(pathOf("full") + "/inside"));
  cache.store("real", "some code");
  ASSERT_EQ(::symlink(pathOf("real").c_str(), pathOf("link").c_str()), 0);
  ASSERT_EQ(::symlink("/dev/zero", pathOf("zero").c_str()), 0);
  int huge = ::open(pathOf("huge").c_str(), O_CREAT | O_WRONLY, 0600);
  ASSERT_EQ(::ftruncate(huge, int64_t(1) << 40), 0); // a hole
  ::close(huge);
  write("open", read("real"));
  ASSERT_EQ(::chmod(pathOf("open").c_str(), 0666), 0);
  for (const char *name :
       {"pipe", "folder", "full", "link", "zero", "huge", "open"}) {
    EXPECT_FALSE(cache.find(name)) << name;
  }
  for (const char *name : {"pipe", "folder", "link", "zero", "huge"}) {
    cache.store(name, "new code");
    EXPECT_EQ(cache.find(name), "new code") << name;
  }
  EXPECT_EQ(cache.getProblem(), "");
  cache.store("full", "new code");
  EXPECT_NE(cache.getProblem(), "");
  EXPECT_EQ(cache.find("real"), "some code"); // not what a link led to
}

TEST_F(KernelCacheTest, unusedEntriesGoFirst) {
  const std::string code(4096, 'c');
  {
    KernelCache cache(folder, unbounded);
    for (int i = 0; i < 8; ++i) {
      std::string name = std::to_string(i);
      cache.store(name, code);
      timespec times[] = {{1000 + i, 0}, {1000 + i, 0}};
      ASSERT_EQ(::utimensat(AT_FDCWD, pathOf(name).c_str(), times, 0), 0);
    }
  }
  EXPECT_EQ(countFiles(), 8u);
  {
    KernelCache cache(folder, 5 * 4608);
    EXPECT_TRUE(cache.find("0")); // used: now the youngest
    cache.store("8", code);
  }
  KernelCache cache(folder, unbounded);
  EXPECT_TRUE(cache.find("0"));
  EXPECT_TRUE(cache.find("8"));
  EXPECT_TRUE(cache.find("7"));
  for (int i = 1; i < 5; ++i) {
    EXPECT_FALSE(cache.find(std::to_string(i))) << i;
  }
}

TEST_F(KernelCacheTest, withoutAFolder) {
  KernelCache none("", unbounded);
  none.store("a", "code");
  EXPECT_FALSE(none.find("a"));
  EXPECT_FALSE(none.isEnabled());
  write("file", "");
  KernelCache blocked(pathOf("file") + "/below", unbounded);
  blocked.store("a", "code");
  EXPECT_FALSE(blocked.find("a"));
  EXPECT_NE(blocked.getProblem(), "");
}

TEST(BuildId, namesThisProgramAndLlvm) {
  EXPECT_GE(llvm::StringRef(cuda::getBuildId()).count(';'), 3u);
  EXPECT_EQ(llvm::StringRef(cuda::getBuildId()).count(";;"), 0u);
}

} // namespace
} // namespace ampc::test
