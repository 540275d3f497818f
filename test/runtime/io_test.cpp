//===- io_test.cpp - Files as such, and damaged ones ----------------------===//
#include "fixtures.h"
#include "runtime/io/file.h"
#include "test_files.h"

#include <random>
#include <sys/resource.h>
#include <sys/stat.h>

using namespace ampc::runtime;

namespace {

TEST(Files, extensionDecides) {
  Vec<Tensor> tensors;
  Status status = readTensors("x.txt", ReadOptions(), &tensors);
  EXPECT_EQ(status.code(), AMPC_USAGE);
  EXPECT_STREQ(status.message(), "expected a file named .npy, .npz, .pb or "
                                 ".safetensors, got 'x.txt'");
  EXPECT_EQ(readTensors(".npy", ReadOptions(), &tensors).code(), AMPC_USAGE);
}

TEST(Files, missingAndIrregular) {
  TestFolder folder;
  Vec<Tensor> tensors;
  std::string missing = folder.path("none.npy");
  EXPECT_EQ(readTensors(missing.c_str(), ReadOptions(), &tensors).code(),
            AMPC_IO);
  std::string directory = folder.path("dir.npy");
  ASSERT_EQ(mkdir(directory.c_str(), 0700), 0);
  EXPECT_EQ(readTensors(directory.c_str(), ReadOptions(), &tensors).code(),
            AMPC_IO);
  // Nobody writes to this pipe; opening it must not wait.
  std::string pipe = folder.path("pipe.npy");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(readTensors(pipe.c_str(), ReadOptions(), &tensors).code(), AMPC_IO);
}

TEST(Files, uncommittedLeavesTheOldFile) {
  TestFolder folder;
  std::string path = folder.write("f", "old");
  {
    FileWriter writer;
    ASSERT_TRUE(writer.open(path.c_str()).ok());
    ASSERT_TRUE(writer.write("new", 3).ok());
  }
  EXPECT_EQ(TestFolder::read(path), "old");
  std::string temporary = path + ".tmp." + std::to_string(getpid());
  EXPECT_NE(access(temporary.c_str(), F_OK), 0);
}

TEST(Files, temporaryLinkIsNotFollowed) {
  TestFolder folder;
  std::string victim = folder.write("victim", "safe");
  std::string path = folder.path("f");
  std::string temporary = path + ".tmp." + std::to_string(getpid());
  ASSERT_EQ(symlink(victim.c_str(), temporary.c_str()), 0);
  FileWriter writer;
  ASSERT_TRUE(writer.open(path.c_str()).ok());
  ASSERT_TRUE(writer.write("new", 3).ok());
  ASSERT_TRUE(writer.commit().ok());
  EXPECT_EQ(TestFolder::read(victim), "safe");
  EXPECT_EQ(TestFolder::read(path), "new");
}

TEST(Files, largeAndSmallWritesKeepTheirOrder) {
  TestFolder folder;
  std::string path = folder.path("f"), expected;
  FileWriter writer;
  ASSERT_TRUE(writer.open(path.c_str()).ok());
  for (size_t size : {1u, 65535u, 1u, 65536u, 3u, 200000u, 0u, 7u}) {
    std::string part(size, static_cast<char>('a' + size % 26));
    ASSERT_TRUE(writer.write(part.data(), size).ok());
    expected += part;
  }
  EXPECT_EQ(writer.position(), expected.size());
  ASSERT_TRUE(writer.commit().ok());
  EXPECT_EQ(TestFolder::read(path), expected);
}

TEST(Files, unwritableFolderIsAnError) {
  const int64_t shape[] = {1};
  float value = 1;
  TensorView tensor = {"x", AMPC_DTYPE_F32, shape, 1, &value, sizeof value};
  EXPECT_EQ(writeTensors("/nonexistent/x.npy", &tensor, 1).code(), AMPC_IO);
  TensorView two[] = {tensor, tensor};
  EXPECT_EQ(writeTensors("x.npy", two, 2).code(), AMPC_USAGE);
}

/// Flips, cuts and grows valid files. Whatever comes out, the reader returns,
/// with a code meant for data, and never takes memory beyond its bounds (which
/// the sanitizer builds watch).
TEST(Files, damagedFilesNeverCrash) {
  struct Seed {
    std::string extension, bytes;
  };
  std::string header = "{\"a\":{\"dtype\":\"F32\",\"shape\":[2,1],"
                       "\"data_offsets\":[0,8]}}";
  const Seed seeds[] = {
      {".npy", fromHex(npyF32)},
      {".npy", fromHex(npyF32Fortran)},
      {".npz", fromHex(npzStored)},
      {".npz", fromHex(npzDeflated)},
      {".pb", std::string("\x08\x02\x10\x01\x4a\x08", 6) + "12345678"},
      {".pb", std::string("\x08\x03\x10\x07\x3a\x03\x01\x02\x03", 9)},
      {".safetensors",
       le(static_cast<uint64_t>(header.size())) + header + "12345678"},
  };
  TestFolder folder;
  std::mt19937 random(1);
  int read = 0;
  for (const Seed &seed : seeds) {
    for (int round = 0; round < 1500; ++round) {
      std::string bytes = seed.bytes;
      for (uint32_t edits = 1 + random() % 4; edits > 0; --edits) {
        size_t at = random() % bytes.size();
        switch (random() % 4) {
        case 0:
          bytes[at] ^= static_cast<char>(1u << random() % 8);
          break;
        case 1:
          bytes[at] = static_cast<char>(random() % 3 ? 0xff : 0);
          break;
        case 2:
          bytes.insert(at, 1 + random() % 8, static_cast<char>(random()));
          break;
        default:
          bytes.erase(at, 1 + random() % 8);
          bytes += bytes.empty() ? "x" : "";
          break;
        }
      }
      Vec<Tensor> tensors;
      std::string path = folder.write("f" + seed.extension, bytes);
      Status status = readTensors(path.c_str(), ReadOptions(), &tensors);
      ampc_code code = status.code();
      ASSERT_TRUE(code == AMPC_OK || code == AMPC_INVALID ||
                  code == AMPC_UNSUPPORTED || code == AMPC_LIMIT)
          << status.message();
      read += code == AMPC_OK;
    }
  }
  // Flips in payloads are fine; everything failing would mean a broken test.
  EXPECT_GT(read, 50);
}

TEST(Files, claimsTakeNoMemory) {
  // 4 GB claimed by a shape, a length field or an archive, within 1 GiB.
  rlimit old;
  getrlimit(RLIMIT_AS, &old);
  rlimit tight = old;
#ifndef AMPC_TEST_SANITIZED // sanitizers need address space themselves
  tight.rlim_cur = 1u << 30;
#endif
  ASSERT_EQ(setrlimit(RLIMIT_AS, &tight), 0);
  std::string pb("\x08\x80\x80\x80\x80\x10\x10\x01", 8);
  expectReadError(".pb", pb, AMPC_INVALID, "");
  expectReadError(".safetensors", le<uint64_t>(99'999'999) + "{}", AMPC_INVALID,
                  "cut off");
  std::string npy = fromHex(npyF32);
  npy.replace(npy.find("(2, 3), }  "), 11, "(9999999,)}");
  expectReadError(".npy", npy, AMPC_INVALID, "bytes of data");
  setrlimit(RLIMIT_AS, &old);
}

} // namespace
