//===- onnx_tensor_test.cpp - TensorProto files ---------------------------===//
#include "test_files.h"

using namespace ampc::runtime;

namespace {

std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) {
    out.push_back(static_cast<char>(value | 0x80));
  }
  out.push_back(static_cast<char>(value));
  return out;
}

std::string number(uint32_t field, uint64_t value) {
  return varint(field << 3) + varint(value);
}
std::string bytes(uint32_t field, const std::string &value) {
  return varint(field << 3 | 2) + varint(value.size()) + value;
}

constexpr uint32_t dimsField = 1, typeField = 2, floatData = 4, int32Data = 5,
                   int64Data = 7, nameField = 8, rawData = 9, doubleData = 10,
                   uint64Data = 11;

std::string head(uint32_t type, std::vector<uint64_t> dims) {
  std::string out;
  for (uint64_t dim : dims) {
    out += number(dimsField, dim);
  }
  return out + number(typeField, type);
}

TEST(OnnxTensor, rawData) {
  Vec<Tensor> tensors =
      readBytes(".pb", head(AMPC_DTYPE_F32, {2}) + bytes(nameField, "x") +
                           bytes(rawData, le(1.5f) + le(-2.0f)));
  ASSERT_EQ(tensors.size(), 1u);
  EXPECT_STREQ(tensors[0].name.c_str(), "x");
  EXPECT_EQ(dims(tensors[0]), std::vector<int64_t>{2});
  EXPECT_EQ(values<float>(tensors[0]), (std::vector<float>{1.5f, -2.0f}));
}

TEST(OnnxTensor, packedDims) {
  Vec<Tensor> tensors = readBytes(
      ".pb", bytes(dimsField, varint(1) + varint(2)) +
                 number(typeField, AMPC_DTYPE_U8) + bytes(rawData, "ab"));
  EXPECT_EQ(dims(tensors[0]), (std::vector<int64_t>{1, 2}));
}

TEST(OnnxTensor, typedFields) {
  auto packed = [](uint32_t field, std::vector<uint64_t> numbers) {
    std::string payload;
    for (uint64_t value : numbers) {
      payload += varint(value);
    }
    return bytes(field, payload);
  };
  uint64_t minusThree = static_cast<uint64_t>(-3);
  EXPECT_EQ(values<float>(
                readBytes(".pb", head(AMPC_DTYPE_F32, {2}) +
                                     bytes(floatData, le(1.f) + le(2.f)))[0]),
            (std::vector<float>{1, 2}));
  EXPECT_EQ(values<double>(readBytes(".pb", head(AMPC_DTYPE_F64, {1}) +
                                                bytes(doubleData, le(0.1)))[0]),
            std::vector<double>{0.1});
  EXPECT_EQ(values<int64_t>(
                readBytes(".pb", head(AMPC_DTYPE_I64, {2}) +
                                     packed(int64Data, {minusThree, 5}))[0]),
            (std::vector<int64_t>{-3, 5}));
  EXPECT_EQ(values<int8_t>(
                readBytes(".pb", head(AMPC_DTYPE_I8, {2}) +
                                     packed(int32Data, {minusThree, 127}))[0]),
            (std::vector<int8_t>{-3, 127}));
  EXPECT_EQ(values<uint32_t>(
                readBytes(".pb", head(AMPC_DTYPE_U32, {1}) +
                                     packed(uint64Data, {4294967295}))[0]),
            std::vector<uint32_t>{4294967295u});
  // f16 and bf16 travel as their bits.
  for (uint32_t type : {AMPC_DTYPE_F16, AMPC_DTYPE_BF16, AMPC_DTYPE_U16}) {
    EXPECT_EQ(
        values<uint16_t>(readBytes(
            ".pb", head(type, {2}) + packed(int32Data, {0x3c00, 0xffff}))[0]),
        (std::vector<uint16_t>{0x3c00, 0xffff}));
  }
  EXPECT_EQ(values<uint8_t>(readBytes(".pb", head(AMPC_DTYPE_BOOL, {2}) +
                                                 packed(int32Data, {1, 0}))[0]),
            (std::vector<uint8_t>{1, 0}));
}

TEST(OnnxTensor, unpackedElementsAmongOtherFields) {
  std::string file = number(int64Data, 7) + head(AMPC_DTYPE_I64, {2}) +
                     bytes(12, "a doc string") + number(int64Data, 8);
  EXPECT_EQ(values<int64_t>(readBytes(".pb", file)[0]),
            (std::vector<int64_t>{7, 8}));
}

TEST(OnnxTensor, valuesOutOfRange) {
  struct Case {
    uint32_t type;
    uint64_t value;
  } cases[] = {{AMPC_DTYPE_BOOL, 2},
               {AMPC_DTYPE_U8, 256},
               {AMPC_DTYPE_I8, 128},
               {AMPC_DTYPE_F16, 65536},
               {AMPC_DTYPE_I32, 1ull << 31},
               {AMPC_DTYPE_U16, static_cast<uint64_t>(-1)}};
  for (const Case &c : cases) {
    expectReadError(".pb", head(c.type, {1}) + number(int32Data, c.value),
                    AMPC_INVALID, "out of its type's range");
  }
}

TEST(OnnxTensor, amountsThatDoNotAgree) {
  std::string f32 = head(AMPC_DTYPE_F32, {2});
  expectReadError(".pb", f32 + bytes(rawData, le(1.f)), AMPC_INVALID, "agree");
  expectReadError(".pb", f32 + bytes(floatData, le(1.f)), AMPC_INVALID,
                  "fewer elements");
  expectReadError(".pb", f32 + bytes(floatData, std::string(12, 0)),
                  AMPC_INVALID, "more elements");
  expectReadError(".pb", f32 + bytes(floatData, std::string(7, 0)),
                  AMPC_INVALID, "cut off");
  expectReadError(".pb", f32 + bytes(int64Data, "\1\1"), AMPC_INVALID,
                  "does not belong");
  expectReadError(".pb",
                  f32 + bytes(rawData, std::string(8, 0)) +
                      bytes(floatData, std::string(8, 0)),
                  AMPC_INVALID, "does not belong");
  // Dims that claim what a few bytes cannot hold must not be allocated.
  expectReadError(".pb", head(AMPC_DTYPE_F32, {1ull << 40}), AMPC_INVALID,
                  "agree");
  expectReadError(".pb", head(AMPC_DTYPE_F32, {1ull << 33, 1ull << 33}),
                  AMPC_INVALID, "overflow");
  expectReadError(".pb", head(AMPC_DTYPE_F32, {~0ull}), AMPC_INVALID,
                  "negative");
}

TEST(OnnxTensor, unsupportedForms) {
  expectReadError(".pb", head(8, {1}) + bytes(6, "text"), AMPC_UNSUPPORTED,
                  "strings");
  expectReadError(".pb", head(14, {1}) + bytes(rawData, "12345678"),
                  AMPC_UNSUPPORTED, "data_type 14");
  expectReadError(".pb", head(AMPC_DTYPE_F32, {1}) + number(14, 1),
                  AMPC_UNSUPPORTED, "outside the TensorProto");
  expectReadError(".pb", head(AMPC_DTYPE_F32, {1}) + bytes(13, ""),
                  AMPC_UNSUPPORTED, "outside the TensorProto");
  expectReadError(".pb", bytes(3, ""), AMPC_UNSUPPORTED, "segments");
}

TEST(OnnxTensor, malformedWire) {
  const std::string cases[] = {
      "\x0b",                                     // a group
      std::string(1, '\0'),                       // field 0
      "\x08",                                     // no value
      "\x08" + std::string(10, '\xff') + "\x01",  // a varint of 11 bytes
      "\x08" + std::string(9, '\xff') + "\x02",   // beyond 64 bits
      "\x4a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", // length 2^63 - 1
      "\x4a\x05"
      "abc",      // cut off
      "\x25\x01", // a cut off float
  };
  for (const std::string &file : cases) {
    expectReadError(".pb", file, AMPC_INVALID, "malformed TensorProto");
  }
  expectReadError(".pb", "", AMPC_INVALID, "data_type 0");
}

TEST(OnnxTensor, writtenFilesReadBack) {
  TestFolder folder;
  std::string file = folder.path("out.pb");
  const int64_t shape[] = {2, 1};
  const uint16_t data[] = {0x3f80, 0xffff};
  TensorView tensor = {"y", AMPC_DTYPE_BF16, shape, 2, data, sizeof data};
  ASSERT_TRUE(writeTensors(file.c_str(), &tensor, 1).ok());
  Vec<Tensor> back;
  ASSERT_TRUE(readTensors(file.c_str(), ReadOptions(), &back).ok());
  EXPECT_STREQ(back[0].name.c_str(), "y");
  EXPECT_EQ(back[0].dtype, AMPC_DTYPE_BF16);
  EXPECT_EQ(dims(back[0]), (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(values<uint16_t>(back[0]), (std::vector<uint16_t>{0x3f80, 0xffff}));
}

} // namespace
