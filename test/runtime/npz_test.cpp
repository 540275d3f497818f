//===- npz_test.cpp - .npz archives, friendly and hostile -----------------===//
#include "fixtures.h"
#include "test_files.h"

using namespace ampc::runtime;

namespace {

const std::vector<float> ramp = {-1.5f, -0.5f, 0.5f, 1.5f, 2.5f, 3.5f};

/// Replaces the bytes at `offset`.
template <typename T>
std::string patched(std::string bytes, size_t offset, T value) {
  std::string text = le(value);
  return bytes.replace(offset, text.size(), text);
}

size_t centralOf(const std::string &bytes, size_t from = 0) {
  return bytes.find("PK\x01\x02", from);
}

/// An archive of one stored member, zip64 forms left out.
std::string archive(const std::string &name, const std::string &content,
                    uint32_t crc) {
  std::string common = le<uint16_t>(20) + le<uint16_t>(0) + le<uint16_t>(0) +
                       le<uint32_t>(0) + le(crc) +
                       le(static_cast<uint32_t>(content.size())) +
                       le(static_cast<uint32_t>(content.size())) +
                       le(static_cast<uint16_t>(name.size())) + le<uint16_t>(0);
  std::string local = "PK\3\4" + common + name + content;
  std::string central = "PK\1\2" + le<uint16_t>(20) + common +
                        std::string(10, '\0') + le<uint32_t>(0) + name;
  std::string end = std::string("PK\5\6", 4) + std::string(4, '\0') +
                    le<uint16_t>(1) + le<uint16_t>(1) +
                    le(static_cast<uint32_t>(central.size())) +
                    le(static_cast<uint32_t>(local.size())) + le<uint16_t>(0);
  return local + central + end;
}

TEST(Npz, readsStored) {
  Vec<Tensor> tensors = readBytes(".npz", fromHex(npzStored));
  ASSERT_EQ(tensors.size(), 2u);
  EXPECT_STREQ(tensors[0].name.c_str(), "x");
  EXPECT_EQ(values<float>(tensors[0]), ramp);
  EXPECT_STREQ(tensors[1].name.c_str(), "n");
  EXPECT_EQ(values<uint8_t>(tensors[1]), (std::vector<uint8_t>{1, 2}));
}

TEST(Npz, readsDeflated) {
  Vec<Tensor> tensors = readBytes(".npz", fromHex(npzDeflated));
  ASSERT_EQ(tensors.size(), 2u);
  EXPECT_EQ(values<float>(tensors[0]), ramp);
  EXPECT_EQ(values<double>(tensors[1]), std::vector<double>(1000, 0.0));
}

TEST(Npz, readsOneByName) {
  TestFolder folder;
  std::string file = folder.write("a.npz", fromHex(npzStored));
  ReadOptions options;
  options.only = "n";
  Vec<Tensor> tensors;
  ASSERT_TRUE(readTensors(file.c_str(), options, &tensors).ok());
  ASSERT_EQ(tensors.size(), 1u);
  EXPECT_STREQ(tensors[0].name.c_str(), "n");
}

TEST(Npz, checksumIsChecked) {
  for (const char *hex : {npzStored, npzDeflated}) {
    std::string bytes = fromHex(hex);
    size_t crc = centralOf(bytes) + 16;
    uint32_t old;
    memcpy(&old, &bytes[crc], sizeof old);
    expectReadError(".npz", patched(bytes, crc, old ^ 1), AMPC_INVALID,
                    "checksum");
  }
  // A flipped bit of the data.
  std::string bytes = fromHex(npzStored);
  size_t data = bytes.find(le(-1.5f));
  bytes[data] ^= 1;
  expectReadError(".npz", bytes, AMPC_INVALID, "checksum");
}

TEST(Npz, everyTruncationIsAnError) {
  std::string whole = fromHex(npzDeflated);
  TestFolder folder;
  for (size_t length = 0; length < whole.size(); ++length) {
    Vec<Tensor> tensors;
    std::string file = folder.write("t.npz", whole.substr(0, length));
    ASSERT_EQ(readTensors(file.c_str(), ReadOptions(), &tensors).code(),
              AMPC_INVALID)
        << length;
  }
}

TEST(Npz, sizesThatLie) {
  std::string bytes = fromHex(npzDeflated);
  size_t central = centralOf(bytes);
  uint32_t size;
  memcpy(&size, &bytes[central + 24], sizeof size);
  // Longer or shorter than what the stream really holds.
  expectReadError(".npz", patched(bytes, central + 24, size + 4), AMPC_INVALID,
                  "");
  expectReadError(".npz", patched(bytes, central + 24, size - 4), AMPC_INVALID,
                  "");
  expectReadError(".npz", patched<uint32_t>(bytes, central + 20, 0x7fffffff),
                  AMPC_INVALID, "outside the file");
  // Stored sizes that differ.
  std::string stored = fromHex(npzStored);
  central = centralOf(stored);
  memcpy(&size, &stored[central + 24], sizeof size);
  expectReadError(".npz", patched(stored, central + 24, size + 1), AMPC_INVALID,
                  "stored member");
}

TEST(Npz, bombsHitTheLimit) {
  // A few hundred bytes that claim to unpack to 4 GB.
  std::string bytes = fromHex(npzDeflated);
  expectReadError(".npz",
                  patched<uint32_t>(bytes, centralOf(bytes) + 24, 0xfffffffe),
                  AMPC_LIMIT, "store it uncompressed");
}

TEST(Npz, overlappingMembers) {
  // Both entries name the first member's bytes.
  std::string bytes = fromHex(npzStored);
  size_t first = centralOf(bytes);
  size_t second = centralOf(bytes, first + 1);
  for (size_t field : {16u, 20u, 24u}) { // checksum and sizes
    uint32_t value;
    memcpy(&value, &bytes[first + field], sizeof value);
    bytes = patched(bytes, second + field, value);
  }
  expectReadError(".npz", patched<uint32_t>(bytes, second + 42, 0),
                  AMPC_INVALID, "overlap");
}

TEST(Npz, duplicateNames) {
  std::string bytes = fromHex(npzStored);
  size_t second = centralOf(bytes, centralOf(bytes) + 1);
  bytes[second + 46] = 'x';
  expectReadError(".npz", bytes, AMPC_INVALID, "occurs twice");
}

TEST(Npz, unsupportedForms) {
  std::string bytes = fromHex(npzStored);
  size_t central = centralOf(bytes);
  expectReadError(".npz", patched<uint16_t>(bytes, central + 8, 1),
                  AMPC_UNSUPPORTED, "encrypted");
  expectReadError(".npz", patched<uint16_t>(bytes, central + 10, 12),
                  AMPC_UNSUPPORTED, "method 12");
  expectReadError(".npz", std::string(100, 'x'), AMPC_INVALID,
                  "expected a zip archive");
}

TEST(Npz, plainZip32AndOtherMembers) {
  // The checksum of "hello" is public knowledge.
  std::string other = archive("readme.txt", "hello", 0x3610a686);
  EXPECT_EQ(readBytes(".npz", other).size(), 0u);
  expectReadError(".npz", archive("x.npy", "hello", 0x3610a686), AMPC_INVALID,
                  "x.npy: ");
}

TEST(Npz, writtenArchivesReadBack) {
  TestFolder folder;
  Vec<Tensor> tensors = readBytes(".npz", fromHex(npzDeflated));
  std::string file = folder.path("out.npz");
  TensorView views[] = {view(tensors[0]), view(tensors[1])};
  Status status = writeTensors(file.c_str(), views, 2);
  ASSERT_TRUE(status.ok()) << status.message();
  Vec<Tensor> again;
  status = readTensors(file.c_str(), ReadOptions(), &again);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(again.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(again[i].name.equals(tensors[i].name.c_str()));
    EXPECT_EQ(dims(again[i]), dims(tensors[i]));
    EXPECT_EQ(values<uint8_t>(again[i]), values<uint8_t>(tensors[i]));
  }
  // Equal tensors are equal files.
  std::string second = folder.path("second.npz");
  ASSERT_TRUE(writeTensors(second.c_str(), views, 2).ok());
  EXPECT_EQ(TestFolder::read(file), TestFolder::read(second));
}

} // namespace
