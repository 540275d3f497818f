//===- training_test.cpp - Parts of the training loop ---------------------===//
#include "runtime/core/checksum.h"
#include "runtime/training/data_array.h"
#include "runtime/training/sampler.h"
#include "runtime/training/schedule.h"
#include "runtime/training/tensorboard.h"
#include "runtime/training/training_facts.h"
#include "test_files.h"

#include <cmath>
#include <set>

using namespace ampc::runtime;

namespace {

TEST(Checksum, crc32cKnownAnswers) {
  // RFC 3720, appendix B.4.
  std::string zeros(32, '\0'), ones(32, '\xff'), rising, falling;
  for (int i = 0; i < 32; ++i) {
    rising.push_back(static_cast<char>(i));
    falling.push_back(static_cast<char>(31 - i));
  }
  EXPECT_EQ(crc32c(0, zeros.data(), 32), 0x8a9136aau);
  EXPECT_EQ(crc32c(0, ones.data(), 32), 0x62a8ab43u);
  EXPECT_EQ(crc32c(0, rising.data(), 32), 0x46dd794eu);
  EXPECT_EQ(crc32c(0, falling.data(), 32), 0x113fdb5cu);
  EXPECT_EQ(crc32c(0, "123456789", 9), 0xe3069283u);
  for (size_t cut = 0; cut <= 32; ++cut) {
    uint32_t first = crc32c(0, rising.data(), cut);
    EXPECT_EQ(crc32c(first, rising.data() + cut, 32 - cut), 0x46dd794eu);
  }
}

std::string sha256(const std::string &text, size_t piece) {
  Sha256 hash;
  for (size_t at = 0; at < text.size(); at += piece) {
    hash.update(text.data() + at, std::min(piece, text.size() - at));
  }
  return hash.finish().c_str();
}

TEST(Checksum, sha256KnownAnswers) {
  // FIPS 180-4's examples, and a million times 'a'.
  EXPECT_EQ(sha256("", 1),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc", 1),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  std::string text = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
  EXPECT_EQ(sha256(text, 7),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  for (size_t piece : {1u, 63u, 64u, 65u, 1000u, 1000000u}) {
    EXPECT_EQ(
        sha256(std::string(1000000, 'a'), piece),
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
        << piece;
  }
}

TEST(LearningRate, followsItsFormulas) {
  LearningRate rate = {ScheduleKind::Cosine, 0.3, 0, 997};
  for (uint64_t t = 0; t <= 1000; ++t) {
    double p = t < 997 ? static_cast<double>(t) / 997 : 1;
    EXPECT_NEAR(rate.at(t), 0.3 * (1 + std::cos(std::acos(-1.0) * p)) / 2,
                2e-16)
        << t;
  }
  rate = {ScheduleKind::Linear, 8, 4, 20};
  EXPECT_EQ(rate.at(0), 2);
  EXPECT_EQ(rate.at(3), 8);
  EXPECT_EQ(rate.at(4), 8);
  EXPECT_EQ(rate.at(12), 4);
  EXPECT_EQ(rate.at(20), 0);
  rate.kind = ScheduleKind::Constant;
  EXPECT_EQ(rate.at(1), 4);
  EXPECT_EQ(rate.at(100), 8);
  // A warm-up as long as the run, and one that is longer.
  rate = {ScheduleKind::Cosine, 1, 20, 20};
  EXPECT_EQ(rate.at(19), 1);
  EXPECT_EQ(rate.at(20), 0);
  rate.warmup = 40;
  EXPECT_EQ(rate.at(19), 0.5);
}

std::vector<uint64_t> order(uint64_t rows, uint64_t seed, uint64_t epoch) {
  Bytes bytes;
  EXPECT_TRUE(shuffle(rows, seed, epoch, &bytes).ok());
  auto *first = reinterpret_cast<const uint64_t *>(bytes.data());
  return {first, first + rows};
}

TEST(Sampler, shufflesAllAlike) {
  // Each order of four has a share of 1/24; with 24000 shuffles, chi-squared of
  // 23 degrees of freedom is below 49.7 with probability 0.999.
  std::vector<int> counts(256);
  for (uint64_t epoch = 0; epoch < 24000; ++epoch) {
    std::vector<uint64_t> got = order(4, 17, epoch);
    ASSERT_EQ(std::set<uint64_t>(got.begin(), got.end()).size(), 4u);
    ++counts[got[0] << 6 | got[1] << 4 | got[2] << 2 | got[3]];
  }
  double sum = 0;
  int seen = 0;
  for (int count : counts) {
    seen += count != 0;
    sum += count ? (count - 1000.0) * (count - 1000.0) / 1000 : 0;
  }
  EXPECT_EQ(seen, 24);
  EXPECT_LT(sum, 49.7);
  EXPECT_NE(order(100, 1, 2), order(100, 2, 1));
  EXPECT_NE(order(100, 1, 0), order(100, 0, 1));
  EXPECT_EQ(order(0, 1, 0).size(), 0u);
}

TEST(Sampler, cutsRuns) {
  RunShape shape;
  shape.rows = 22;
  shape.batch = 4;
  shape.accumulate = 3;
  ASSERT_TRUE(planRun(2, 0, &shape).ok());
  EXPECT_EQ(shape.steps, 4u);
  EXPECT_EQ(shape.batchesOf(0), 3u);
  EXPECT_EQ(shape.batchesOf(1), 2u);
  EXPECT_EQ(shape.firstBatch(3), 3u);
  shape.lastBatch = LastBatch::Pad;
  ASSERT_TRUE(planRun(2, 3, &shape).ok());
  EXPECT_EQ(shape.steps, 3u);
  EXPECT_EQ(shape.epochs(), 2u);
  EXPECT_EQ(shape.batchesPerEpoch(), 6u);
  EXPECT_EQ(shape.samplesOf(5), 2u);
  EXPECT_EQ(planRun(1u << 31, 0, &shape).code(), AMPC_LIMIT);
  EXPECT_EQ(planRun(UINT64_MAX, 0, &shape).code(), AMPC_LIMIT);
  EXPECT_TRUE(planRun(UINT64_MAX / 2, 5, &shape).ok());
}

/// Element 0 of a conversion, or its error's text.
template <typename To, typename From>
std::pair<To, std::string> convert(uint32_t from, uint32_t to, From value) {
  ElementConversion conversion;
  Status status = findConversion(from, to, &conversion);
  To out = {};
  if (status.ok()) {
    status = conversion.apply(&value, &out, 1);
  }
  return {out, status.message()};
}

TEST(ElementConversion, keepsIntegersOrFails) {
  auto narrow = [](int64_t value) {
    return convert<int8_t>(AMPC_DTYPE_I64, AMPC_DTYPE_I8, value);
  };
  EXPECT_EQ(narrow(-128).first, -128);
  EXPECT_EQ(narrow(127).second, "");
  EXPECT_EQ(narrow(128).second, "expected numbers of type i8, got 128");
  EXPECT_EQ(narrow(INT64_MIN).second,
            "expected numbers of type i8, got -9223372036854775808");
  auto fromU64 = [](uint32_t to, uint64_t value) {
    return convert<uint64_t>(AMPC_DTYPE_U64, to, value);
  };
  EXPECT_EQ(fromU64(AMPC_DTYPE_I64, INT64_MAX).first, INT64_MAX);
  EXPECT_EQ(fromU64(AMPC_DTYPE_I64, 1ull << 63).second,
            "expected numbers of type i64, got 9223372036854775808");
  EXPECT_EQ(fromU64(AMPC_DTYPE_U64, UINT64_MAX).first, UINT64_MAX);
  EXPECT_EQ((convert<uint32_t>(AMPC_DTYPE_I32, AMPC_DTYPE_U32, -1).second),
            "expected numbers of type u32, got -1");
  EXPECT_EQ(
      (convert<uint64_t>(AMPC_DTYPE_I8, AMPC_DTYPE_U64, int8_t(-1)).second),
      "expected numbers of type u64, got -1");
  EXPECT_EQ(
      (convert<int64_t>(AMPC_DTYPE_I16, AMPC_DTYPE_I64, int16_t(-5)).first),
      -5);
}

TEST(ElementConversion, roundsOnce) {
  // Halfway between two values of f16 after rounding to f32, above it before.
  double value = 1 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ((convert<uint16_t>(AMPC_DTYPE_F64, AMPC_DTYPE_F16, value).first),
            0x3c01);
  EXPECT_EQ(
      (convert<float>(AMPC_DTYPE_F16, AMPC_DTYPE_F32, uint16_t(0x3c01)).first),
      1 + 0x1p-10f);
  EXPECT_EQ(
      (convert<uint16_t>(AMPC_DTYPE_F32, AMPC_DTYPE_BF16, 1.00390625f).first),
      0x3f80); // to even
  ElementConversion conversion;
  EXPECT_TRUE(
      findConversion(AMPC_DTYPE_F16, AMPC_DTYPE_BF16, &conversion).ok());
  EXPECT_TRUE(conversion.rounds);
  EXPECT_TRUE(
      findConversion(AMPC_DTYPE_BF16, AMPC_DTYPE_F64, &conversion).ok());
  EXPECT_FALSE(conversion.rounds);
  EXPECT_TRUE(findConversion(dtypeRaw16, AMPC_DTYPE_BF16, &conversion).ok());
  EXPECT_TRUE(conversion.isCopy());
  for (auto [from, to] :
       {std::pair<uint32_t, uint32_t>{AMPC_DTYPE_U8, AMPC_DTYPE_F32},
        {AMPC_DTYPE_F32, AMPC_DTYPE_I64},
        {AMPC_DTYPE_BOOL, AMPC_DTYPE_I64},
        {dtypeRaw16, AMPC_DTYPE_F32}}) {
    EXPECT_EQ(findConversion(from, to, &conversion).code(), AMPC_INVALID);
  }
  EXPECT_EQ(
      (convert<uint8_t>(AMPC_DTYPE_BOOL, AMPC_DTYPE_BOOL, uint8_t(2)).second),
      "expected bools of 0 or 1, got 2");
}

/// The same array in each format, read from its file and from memory.
TEST(DataArray, readsRowsFromFiles) {
  TestFolder folder;
  std::vector<double> values(7 * 700);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>(i) + 0.25;
  }
  const int64_t dims[] = {7, 700};
  TensorView array = {"x", AMPC_DTYPE_F64, dims,
                      2,   values.data(),  values.size() * sizeof(double)};
  const int64_t fewDims[] = {3};
  TensorView few = {"few", AMPC_DTYPE_F64, fewDims, 1, values.data(), 24};
  TensorView both[] = {few, array};
  ElementConversion toF32, copy;
  ASSERT_TRUE(findConversion(AMPC_DTYPE_F64, AMPC_DTYPE_F32, &toF32).ok());
  ASSERT_TRUE(findConversion(AMPC_DTYPE_F64, AMPC_DTYPE_F64, &copy).ok());
  for (const char *name : {"a.npy", "a.npz", "a.safetensors", "a.pb"}) {
    std::string path = folder.path(name);
    bool several = path.back() == 'z' || path.back() == 's';
    ASSERT_TRUE(several ? writeTensors(path.c_str(), both, 2).ok()
                        : writeTensors(path.c_str(), &array, 1).ok());
    for (uint64_t mostInMemory : {uint64_t(0), uint64_t(1) << 30}) {
      DataArray opened;
      Status status = opened.open(path.c_str(), "x", mostInMemory);
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(opened.isInFile(),
                !mostInMemory && path != folder.path("a.pb"));
      EXPECT_EQ(std::string(opened.description().c_str()), "f64 [7, 700]");
      std::vector<double> row(2800);
      ASSERT_TRUE(opened.read(700, 2800, copy, row.data()).ok());
      EXPECT_TRUE(std::equal(row.begin(), row.end(), values.begin() + 700));
      std::vector<float> narrow(2800);
      ASSERT_TRUE(opened.read(2100, 2800, toF32, narrow.data()).ok());
      EXPECT_TRUE(
          std::equal(narrow.begin(), narrow.end(), values.begin() + 2100));
    }
  }
  // A file that becomes shorter gives an error.
  DataArray opened;
  ASSERT_TRUE(opened.open(folder.path("a.npy").c_str(), "x", 0).ok());
  ASSERT_EQ(truncate(folder.path("a.npy").c_str(), 4000), 0);
  std::vector<double> row(700);
  EXPECT_EQ(opened.read(4200, 700, copy, row.data()).code(), AMPC_IO);
}

TEST(DataArray, splitsLists) {
  const char *at = "x=@a,b.npy,labels=@c.npz,y=z=@d,e";
  std::vector<std::string> items;
  while (*at) {
    items.push_back(takeDataItem(&at).c_str());
  }
  EXPECT_EQ(items, (std::vector<std::string>{"x=@a,b.npy", "labels=@c.npz",
                                             "y=z=@d,e"}));
}

TEST(TrainingFacts, readsMetadata) {
  TrainingFacts facts;
  Status status = readTrainingFacts(
      R"({"amp": "fp16", "other": [{}], "training": {"optimizer": "adamw",
          "label": "y", "classes": 10, "ignore_index": -100, "loss": "x",
          "loss_scaling": false}, "model_bytes": 7, "model_crc32c": 4294967295,
          "initializers": [{"name": "w", "offset": 3, "bytes": 8,
          "dtype": "bf16"}, {"name": "v", "file": "f"}]})",
      &facts);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_FALSE(facts.computesF16Gradients);
  EXPECT_TRUE(facts.optimizer.equals("adamw") && facts.label.equals("y"));
  EXPECT_EQ(facts.classes, 10);
  EXPECT_EQ(facts.ignoreIndex, -100);
  EXPECT_EQ(facts.modelCrc32c, UINT32_MAX);
  ASSERT_EQ(facts.initializers.size(), 2u);
  EXPECT_EQ(facts.initializers[0].dtype, AMPC_DTYPE_BF16);
  EXPECT_TRUE(facts.initializers[0].isContiguous);
  EXPECT_FALSE(facts.initializers[1].isContiguous);
  for (const char *amp : {"fp16", "pure-fp16", "bf16", "off"}) {
    TrainingFacts some;
    std::string text = std::string("{\"amp\": \"") + amp + "\"}";
    ASSERT_TRUE(readTrainingFacts(text.c_str(), &some).ok());
    EXPECT_EQ(some.computesF16Gradients, strstr(amp, "fp16") != nullptr);
  }
  for (const char *wrong : {"{", "[]", "{\"training\": {\"classes\": 1.5}}",
                            "{\"training\": {\"loss_scaling\": 1}}",
                            "{\"model_crc32c\": 4294967296}",
                            "{\"initializers\": [{\"dtype\": \"f8\"}]}"}) {
    EXPECT_EQ(readTrainingFacts(wrong, &facts).code(), AMPC_INVALID) << wrong;
  }
}

TEST(EventFile, masksItsSums) {
  // The empty record: length 0, its masked sum, and that of nothing, which is
  // the constant of the mask.
  Str record = makeRecord(Str());
  EXPECT_EQ(std::string(record.c_str(), record.size()),
            fromHex("000000000000000029039807d8ea82a2"));
}

} // namespace
