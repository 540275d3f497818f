//===- npy_test.cpp - .npy files, friendly and hostile --------------------===//
#include "fixtures.h"
#include "test_files.h"

using namespace ampc::runtime;

namespace {

/// A .npy with this header text (padded as the format asks) and data.
std::string npy(const std::string &header, const std::string &data,
                int version = 1) {
  std::string text = header + "\n";
  std::string out =
      std::string("\x93NUMPY") + static_cast<char>(version) + '\0';
  out += version == 1 ? le(static_cast<uint16_t>(text.size()))
                      : le(static_cast<uint32_t>(text.size()));
  return out + text + data;
}

std::string header(const std::string &descr, const std::string &shape) {
  return "{'descr': '" + descr +
         "', 'fortran_order': False, 'shape': " + shape + ", }";
}

const std::vector<float> ramp = {-1.5f, -0.5f, 0.5f, 1.5f, 2.5f, 3.5f};

TEST(Npy, readsVersion1) {
  Vec<Tensor> tensors = readBytes(".npy", fromHex(npyF32));
  ASSERT_EQ(tensors.size(), 1u);
  EXPECT_EQ(tensors[0].dtype, AMPC_DTYPE_F32);
  EXPECT_EQ(dims(tensors[0]), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(values<float>(tensors[0]), ramp);
}

TEST(Npy, fortranOrderBecomesRowMajor) {
  Vec<Tensor> tensors = readBytes(".npy", fromHex(npyF32Fortran));
  EXPECT_EQ(dims(tensors[0]), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(values<float>(tensors[0]), ramp);
  Vec<Tensor> cube = readBytes(".npy", fromHex(npyFortran3D));
  EXPECT_EQ(dims(cube[0]), (std::vector<int64_t>{2, 3, 4}));
  std::vector<int16_t> got = values<int16_t>(cube[0]);
  for (int16_t i = 0; i < 24; ++i) {
    EXPECT_EQ(got[static_cast<size_t>(i)], i);
  }
}

TEST(Npy, scalarAndEmpty) {
  Vec<Tensor> scalar = readBytes(".npy", fromHex(npyI64Scalar));
  EXPECT_EQ(scalar[0].dims.size(), 0u);
  EXPECT_EQ(values<int64_t>(scalar[0]), std::vector<int64_t>{-7});
  Vec<Tensor> empty = readBytes(".npy", fromHex(npyBoolEmpty));
  EXPECT_EQ(dims(empty[0]), (std::vector<int64_t>{0, 4}));
  EXPECT_EQ(empty[0].data.size(), 0u);
}

TEST(Npy, rejectsWithReason) {
  expectReadError(".npy", fromHex(npyBigEndian), AMPC_UNSUPPORTED,
                  "big-endian");
  expectReadError(".npy", fromHex(npyObject), AMPC_UNSUPPORTED,
                  "array of Python objects");
  expectReadError(".npy", "", AMPC_INVALID, "expected a .npy file");
  expectReadError(".npy", "PK\3\4 not numpy", AMPC_INVALID, "\\x93NUMPY");
  expectReadError(".npy", npy(header("<c8", "(1,)"), "12345678"),
                  AMPC_UNSUPPORTED, "'<c8'");
  expectReadError(".npy",
                  npy("{'descr': [('a', '<f4')], 'fortran_order': "
                      "False, 'shape': (1,), }",
                      "1234"),
                  AMPC_UNSUPPORTED, "structured");
  expectReadError(".npy", npy(header("<f4", "(1,)"), "1234", 4),
                  AMPC_UNSUPPORTED, "got 4.0");
}

TEST(Npy, everyTruncationIsAnError) {
  std::string whole = fromHex(npyF32);
  TestFolder folder;
  for (size_t length = 0; length < whole.size(); ++length) {
    Vec<Tensor> tensors;
    std::string file = folder.write("t.npy", whole.substr(0, length));
    Status status = readTensors(file.c_str(), ReadOptions(), &tensors);
    ASSERT_EQ(status.code(), AMPC_INVALID) << length;
  }
}

TEST(Npy, hostileShapes) {
  // Each claims more than the file holds; none may be believed.
  for (const char *shape : {"(9223372036854775807,)", "(9223372036854775808,)",
                            "(4294967296, 4294967296)", "(3, 1000000000000)",
                            "(0, 9223372036854775807, 9)"}) {
    expectReadError(".npy", npy(header("<f4", shape), "1234"), AMPC_INVALID,
                    "");
  }
  std::string deep = "(";
  for (int i = 0; i < 65; ++i) {
    deep += "1,";
  }
  expectReadError(".npy", npy(header("<f4", deep + ")"), "1234"), AMPC_INVALID,
                  "at most 64 dimensions");
  expectReadError(".npy", npy(header("<f4", "(1,)"), "12345"), AMPC_INVALID,
                  "expected 4 bytes of data, got 5");
}

TEST(Npy, headerGrammar) {
  const char *bad[] = {
      "",
      "{}",
      "{'descr': '<f4', 'fortran_order': False}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}",
      "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
      "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': [1]}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)",
      "{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}",
      "{'descr': '\\x3cf4', 'fortran_order': False, 'shape': (1,)}",
      "__import__('os').system('true')",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2-1,)}",
  };
  for (const char *text : bad) {
    expectReadError(".npy", npy(text, "1234"), AMPC_INVALID,
                    "malformed .npy header");
  }
  // Any order of keys, either quote, no spaces.
  Vec<Tensor> tensors = readBytes(
      ".npy", npy("{\"shape\":(1,),\"fortran_order\":False,\"descr\":\"<f4\"}",
                  le(2.5f)));
  EXPECT_EQ(values<float>(tensors[0]), std::vector<float>{2.5f});
  // A version 2 header may say it is huge.
  std::string huge = std::string("\x93NUMPY\2\0", 8) + "\xff\xff\xff\x7f";
  expectReadError(".npy", huge, AMPC_LIMIT, "at most 65536 bytes");
}

TEST(Npy, readLimit) {
  TestFolder folder;
  std::string file = folder.write("a.npy", fromHex(npyF32));
  ReadOptions options;
  options.maxBytes = 23;
  Vec<Tensor> tensors;
  EXPECT_EQ(readTensors(file.c_str(), options, &tensors).code(), AMPC_LIMIT);
  options.maxBytes = 24;
  EXPECT_TRUE(readTensors(file.c_str(), options, &tensors).ok());
}

TEST(Npy, writesWhatNumpyWrites) {
  TestFolder folder;
  Vec<Tensor> tensors = readBytes(".npy", fromHex(npyF32));
  TensorView one = view(tensors[0]);
  std::string file = folder.path("out.npy");
  Status status = writeTensors(file.c_str(), &one, 1);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(TestFolder::read(file), fromHex(npyF32));
}

TEST(Npy, inputConversion) {
  const int64_t two[] = {2};
  ampc_tensor_desc bf16 = {"x", AMPC_DTYPE_BF16, 1, two, 4};
  ampc_tensor_desc f16 = {"x", AMPC_DTYPE_F16, 1, two, 4};
  ampc_tensor_desc f64 = {"x", AMPC_DTYPE_F64, 1, two, 16};
  Str note;
  // Raw 16-bit values are bf16, and nothing else.
  Vec<Tensor> raw = readBytes(".npy", fromHex(npyVoid2));
  EXPECT_EQ(convertToInput(f16, &raw[0], &note).code(), AMPC_INVALID);
  ASSERT_TRUE(convertToInput(bf16, &raw[0], &note).ok());
  EXPECT_EQ(values<uint16_t>(raw[0]), (std::vector<uint16_t>{0x3f80, 0xc000}));
  EXPECT_TRUE(note.empty());
  // f32 is rounded, and that is said.
  std::string floats =
      npy(header("<f4", "(2,)"), le(1.00390625f) + le(-65520.0f));
  Vec<Tensor> wide = readBytes(".npy", floats);
  ASSERT_TRUE(convertToInput(f16, &wide[0], &note).ok());
  EXPECT_EQ(values<uint16_t>(wide[0]), (std::vector<uint16_t>{0x3c04, 0xfc00}));
  EXPECT_STREQ(note.c_str(), "input 'x': rounded from f32 to f16");
  wide = readBytes(".npy", floats);
  ASSERT_TRUE(convertToInput(bf16, &wide[0], &note).ok());
  EXPECT_EQ(values<uint16_t>(wide[0]), (std::vector<uint16_t>{0x3f80, 0xc780}));
  // Nothing else converts, and shapes are exact.
  wide = readBytes(".npy", floats);
  EXPECT_EQ(convertToInput(f64, &wide[0], &note).code(), AMPC_INVALID);
  wide = readBytes(".npy", fromHex(npyF32));
  Status status = convertToInput(bf16, &wide[0], &note);
  EXPECT_STREQ(status.message(),
               "input 'x': expected bf16 [2], got f32 [2, 3]");
  ampc_tensor_desc flags = {"x", AMPC_DTYPE_BOOL, 1, two, 2};
  Vec<Tensor> bools = readBytes(".npy", npy(header("|b1", "(2,)"), "\1\2"));
  EXPECT_EQ(convertToInput(flags, &bools[0], &note).code(), AMPC_INVALID);
}

} // namespace
