//===- safetensors_test.cpp - .safetensors files and their JSON -----------===//
#include "runtime/io/json.h"
#include "runtime/io/safetensors.h"
#include "test_files.h"

using namespace ampc::runtime;

namespace {

std::string file(const std::string &header, const std::string &data) {
  return le(static_cast<uint64_t>(header.size())) + header + data;
}

std::string entry(const std::string &name, const std::string &type,
                  const std::string &shape, const std::string &offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + type + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}

TEST(Safetensors, reads) {
  std::string header = "{\"__metadata__\":{\"format\":\"pt\"}," +
                       entry("b", "BF16", "[2]", "[4,8]") + "," +
                       entry("a", "F32", "[]", "[0,4]") + "}  ";
  Vec<Tensor> tensors =
      readBytes(".safetensors", file(header, le(2.5f) + le(0xc0003f80u)));
  ASSERT_EQ(tensors.size(), 2u);
  EXPECT_STREQ(tensors[0].name.c_str(), "b");
  EXPECT_EQ(tensors[0].dtype, AMPC_DTYPE_BF16);
  EXPECT_EQ(values<uint16_t>(tensors[0]),
            (std::vector<uint16_t>{0x3f80, 0xc000}));
  EXPECT_EQ(values<float>(tensors[1]), std::vector<float>{2.5f});
}

TEST(Safetensors, layoutRules) {
  auto check = [](const std::string &header, size_t bytes, const char *text) {
    expectReadError(".safetensors", file(header, std::string(bytes, 0)),
                    AMPC_INVALID, text);
  };
  std::string a = entry("a", "U8", "[4]", "[0,4]");
  check("{" + a + "," + entry("b", "U8", "[4]", "[3,7]") + "}", 7, "overlaps");
  check("{" + a + "," + entry("b", "U8", "[4]", "[5,9]") + "}", 9, "hole");
  check("{" + entry("b", "U8", "[4]", "[1,5]") + "}", 5, "hole");
  check("{" + a + "}", 5, "expected 4 bytes of data, got 5");
  check("{" + a + "}", 3, "expected 4 bytes of data, got 3");
  check("{" + a + "," + entry("a", "U8", "[0]", "[4,4]") + "}", 4, "twice");
  check("{" + entry("a", "U8", "[4]", "[4,0]") + "}", 4, "not decrease");
  check("{" + entry("a", "F32", "[4]", "[0,4]") + "}", 4, "do not agree");
  check("{" + entry("a", "F32", "[4611686018427387904,4]", "[0,4]") + "}", 4,
        "do not agree");
  check("{" + entry("a", "U8", "[4]", "[0,4,4]") + "}", 4, "two data_offsets");
  check("{" + entry("a", "U8", "[-4]", "[0,4]") + "}", 4, "digits alone");
  check("{" + entry("a", "U8", "[4.0]", "[0,4]") + "}", 4, "digits alone");
  check("{\"a\":{\"dtype\":\"U8\",\"shape\":[4]}}", 4, "once each");
  check("{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\"}}", 4, "once each");
  check("{" + a + "} x", 4, "the end");
  check("{" + a, 4, "malformed JSON");
}

TEST(Safetensors, metadata) {
  TestFolder folder;
  Vec<SafetensorsText> texts;
  for (auto [key, value] : {std::pair{"a", "1"}, {"quote \" key", "line\n"}}) {
    SafetensorsText text;
    text.key = Str(key);
    text.value = Str(value);
    texts.push(std::move(text));
  }
  const float value = 1.5;
  for (size_t count : {0u, 1u}) {
    TensorView tensor = {"x", AMPC_DTYPE_F32, nullptr, 0, &value, 4};
    Str header;
    ASSERT_TRUE(makeSafetensorsHeader(&tensor, count, texts, &header).ok());
    std::string bytes(header.c_str(), header.size());
    bytes += count ? le(value) : "";
    FileReader reader;
    ASSERT_TRUE(reader.open(folder.write("t", bytes).c_str()).ok());
    SafetensorsHeader found;
    Status status = readSafetensorsHeader(reader, &found);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_EQ(found.metadata.size(), 2u);
    EXPECT_STREQ(found.metadata[1].key.c_str(), "quote \" key");
    EXPECT_STREQ(found.metadata[1].value.c_str(), "line\n");
    ASSERT_EQ(found.entries.size(), count);
    EXPECT_EQ(found.dataOffset, header.size());
    EXPECT_TRUE(!count || found.entries[0].begin == header.size());
  }
  auto refuse = [](const std::string &header, ampc_code code,
                   const char *text) {
    expectReadError(".safetensors", file(header, ""), code, text);
  };
  refuse("{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}", AMPC_INVALID,
         "'a' occurs twice");
  refuse("{\"__metadata__\":{},\"__metadata__\":{}}", AMPC_INVALID,
         "occurs twice");
  refuse("{\"__metadata__\":{\"a\":1}}", AMPC_INVALID, "malformed JSON");
  std::string many = "{\"__metadata__\":{\"k\":\"\"";
  for (int i = 0; i < 1024; ++i) {
    many += ",\"" + std::to_string(i) + "\":\"\"";
  }
  refuse(many + "}}", AMPC_LIMIT, "at most 1024 entries");
}

TEST(Safetensors, headerLength) {
  expectReadError(".safetensors", "1234567", AMPC_INVALID, "got 7 bytes");
  expectReadError(".safetensors", le<uint64_t>(100'000'001), AMPC_LIMIT,
                  "at most 100000000");
  expectReadError(".safetensors", le<uint64_t>(~0ull), AMPC_LIMIT, "at most");
  expectReadError(".safetensors", le<uint64_t>(9) + "{}", AMPC_INVALID,
                  "cut off");
}

TEST(Safetensors, unknownTypesOnlyMatterWhenRead) {
  TestFolder folder;
  std::string header = "{" + entry("a", "F8_E4M3", "[4]", "[0,4]") + "," +
                       entry("b", "U8", "[1]", "[4,5]") + "}";
  std::string path = folder.write("t.safetensors", file(header, "12345"));
  ReadOptions options;
  options.only = "b";
  Vec<Tensor> tensors;
  ASSERT_TRUE(readTensors(path.c_str(), options, &tensors).ok());
  EXPECT_EQ(values<uint8_t>(tensors[0]), std::vector<uint8_t>{'5'});
  options.only = "a";
  EXPECT_EQ(readTensors(path.c_str(), options, &tensors).code(),
            AMPC_UNSUPPORTED);
}

TEST(Safetensors, writtenFilesReadBack) {
  TestFolder folder;
  std::string path = folder.path("out.safetensors");
  const int64_t shape[] = {2};
  const float data[] = {1, 2};
  const uint8_t flag = 1;
  TensorView tensors[] = {
      {"/layer \"1\"\n", AMPC_DTYPE_F32, shape, 1, data, sizeof data},
      {"flag", AMPC_DTYPE_BOOL, nullptr, 0, &flag, 1}};
  ASSERT_TRUE(writeTensors(path.c_str(), tensors, 2).ok());
  Vec<Tensor> back;
  Status status = readTensors(path.c_str(), ReadOptions(), &back);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(back.size(), 2u);
  EXPECT_STREQ(back[0].name.c_str(), "/layer \"1\"\n");
  EXPECT_EQ(values<float>(back[0]), (std::vector<float>{1, 2}));
  EXPECT_EQ(values<uint8_t>(back[1]), std::vector<uint8_t>{1});
}

TEST(Json, strings) {
  auto parse = [](const std::string &text, Str *out) {
    JsonReader reader(text.data(), text.size());
    Status status = reader.string(out);
    return status.ok() ? reader.finish() : std::move(status);
  };
  Str out;
  ASSERT_TRUE(parse("\"a\\n\\u00e9\\ud83d\\ude00\\/\"", &out).ok());
  EXPECT_STREQ(out.c_str(), "a\n\xc3\xa9\xf0\x9f\x98\x80/");
  for (const char *bad :
       {"\"", "\"\\\"", "\"\\x\"", "\"\\u12\"", "\"\\ud83d\"",
        "\"\\ud83d\\u0041\"", "\"\\ude00\"", "\"\n\"", "'a'"}) {
    EXPECT_EQ(parse(bad, &out).code(), AMPC_INVALID) << bad;
  }
}

TEST(Json, integersAndBooleans) {
  auto integer = [](const char *text, int64_t *out) {
    return JsonReader(text, strlen(text)).integer(out);
  };
  int64_t value;
  for (int64_t wanted : {INT64_MAX, -INT64_MAX, int64_t(0), int64_t(-100)}) {
    ASSERT_TRUE(integer(std::to_string(wanted).c_str(), &value).ok());
    EXPECT_EQ(value, wanted);
  }
  for (const char *bad : {"", "-", "--1", "- 1", "1.5", "-1e3", "\"1\"",
                          "9223372036854775808", "-9223372036854775808"}) {
    EXPECT_EQ(integer(bad, &value).code(), AMPC_INVALID) << bad;
  }
  bool flag = false;
  EXPECT_TRUE(JsonReader(" true", 5).boolean(&flag).ok() && flag);
  EXPECT_TRUE(JsonReader("false", 5).boolean(&flag).ok() && !flag);
  EXPECT_FALSE(JsonReader("tru", 3).boolean(&flag).ok());
  EXPECT_FALSE(JsonReader("1", 1).boolean(&flag).ok());
}

TEST(Json, skipChecksSyntax) {
  auto valid = [](const std::string &text) {
    JsonReader reader(text.data(), text.size());
    return reader.skip().ok() && reader.finish().ok();
  };
  for (const char *good : {"{}", "[]", "[1, -2.5e+3, true, false, null]",
                           "{\"a\": {\"b\": [\"c\"]}}", " 0 "}) {
    EXPECT_TRUE(valid(good)) << good;
  }
  for (const char *bad : {"", "{", "[1,]", "{\"a\"}", "{\"a\":1,}", "tru", "1.",
                          "-", "[1 2]", "{a:1}", "1 2"}) {
    EXPECT_FALSE(valid(bad)) << bad;
  }
  EXPECT_TRUE(valid(std::string(64, '[') + std::string(64, ']')));
  EXPECT_FALSE(valid(std::string(65, '[') + std::string(65, ']')));
  EXPECT_FALSE(valid(std::string(1000000, '[')));
}

} // namespace
