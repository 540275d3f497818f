//===- InitializerPlacesTest.cpp - Ranges of weights in a model's files ---===//
#include "compiler/Import/InitializerPlaces.h"
#include "test/compiler/import/ImportTestUtils.h"

#include <cstring>

using namespace ampc;
using namespace ampc::importer;
using namespace ampc::importer::test;

namespace {

class InitializerPlacesTest : public testing::Test {
protected:
  onnx::TensorProto &add(const char *name, int32_t type, int64_t count) {
    onnx::TensorProto &tensor = *proto.mutable_graph()->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(type);
    tensor.add_dims(count);
    return tensor;
  }
  std::vector<InitializerPlace> locate() {
    bytes = proto.SerializeAsString();
    model = ModelFile::open(folder.write("m.onnx", bytes), diags);
    EXPECT_TRUE(model);
    return locateInitializers(
        *model, [](llvm::StringRef name) { return name != "unwanted"; });
  }
  /// What lies there in the model's file.
  std::string read(const InitializerPlace &place) const {
    EXPECT_TRUE(place.offset);
    EXPECT_EQ(place.file, "");
    return bytes.substr(place.offset.value_or(0), place.bytes);
  }

  TemporaryFolder folder;
  onnx::ModelProto proto = makeModel();
  std::string bytes;
  std::unique_ptr<ModelFile> model;
  ImportDiagnostics diags{"m.onnx"};
};

template <typename T>
std::string bytesOf(std::initializer_list<T> values) {
  return std::string(reinterpret_cast<const char *>(values.begin()),
                     values.size() * sizeof(T));
}

TEST_F(InitializerPlacesTest, WhateverFieldHoldsThem) {
  std::string large(40000, '\0');
  for (size_t i = 0; i < large.size(); ++i) {
    large[i] = static_cast<char>(i * 11);
  }
  add("small", onnx::TensorProto::FLOAT, 2)
      .set_raw_data(bytesOf<float>({1.5f, -2.0f}));
  add("unwanted", onnx::TensorProto::FLOAT, 1).set_raw_data("abcd");
  add("large", onnx::TensorProto::FLOAT, 10000).set_raw_data(large);
  onnx::TensorProto &floats = add("floats", onnx::TensorProto::FLOAT, 3);
  onnx::TensorProto &doubles = add("doubles", onnx::TensorProto::DOUBLE, 2);
  for (float value : {3.0f, 4.0f, 5.0f}) {
    floats.add_float_data(value);
  }
  for (double value : {6.0, 7.0}) {
    doubles.add_double_data(value);
  }
  std::vector<InitializerPlace> places = locate();
  ASSERT_EQ(places.size(), 4u);
  EXPECT_EQ(places[0].name, "small");
  EXPECT_EQ(places[0].elementType, onnx::TensorProto::FLOAT);
  EXPECT_EQ(read(places[0]), bytesOf<float>({1.5f, -2.0f}));
  EXPECT_EQ(read(places[1]), large);
  EXPECT_EQ(read(places[2]), bytesOf<float>({3.0f, 4.0f, 5.0f}));
  EXPECT_EQ(places[3].elementType, onnx::TensorProto::DOUBLE);
  EXPECT_EQ(read(places[3]), bytesOf<double>({6.0, 7.0}));
}

TEST_F(InitializerPlacesTest, ExternalData) {
  std::filesystem::create_directory(folder.path / "data");
  folder.write("data/w.bin", "........01234567");
  onnx::TensorProto &tensor = add("w", onnx::TensorProto::FLOAT, 2);
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  for (auto [key, value] :
       {std::pair("location", "data/w.bin"), std::pair("offset", "8"),
        std::pair("length", "8")}) {
    onnx::StringStringEntryProto &entry = *tensor.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  }
  std::vector<InitializerPlace> places = locate();
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(places[0].file, "data/w.bin");
  EXPECT_EQ(places[0].offset, 8u);
  EXPECT_EQ(places[0].bytes, 8u);
}

/// Numbers of varying length cannot be overwritten.
TEST_F(InitializerPlacesTest, negative_NotContiguous) {
  onnx::TensorProto &half = add("half", onnx::TensorProto::FLOAT16, 2);
  half.add_int32_data(0x3c00);
  half.add_int32_data(0x4000);
  std::vector<InitializerPlace> places = locate();
  ASSERT_EQ(places.size(), 1u);
  EXPECT_FALSE(places[0].offset);
  EXPECT_EQ(places[0].bytes, 4u);
}

/// Elements in two pieces, as a writer that does not pack them leaves them.
TEST_F(InitializerPlacesTest, negative_TwoPieces) {
  add("w", onnx::TensorProto::FLOAT, 2).add_float_data(1.0f);
  std::string half = bytesOf<float>({2.0f});
  bytes = proto.SerializeAsString();
  // Graph { name, initializer } with a second packed field of one float.
  std::string tensor = proto.graph().initializer(0).SerializeAsString();
  tensor += std::string("\x22\x04", 2) + half;
  std::string graph = std::string("\x12\x01g", 3) + '\x2a' +
                      static_cast<char>(tensor.size()) + tensor;
  std::string head = std::string("\x08\x08\x42\x02\x10\x11", 6);
  std::string file = head + '\x3a' + static_cast<char>(graph.size()) + graph;
  model = ModelFile::open(folder.write("m.onnx", file), diags);
  ASSERT_TRUE(model);
  ASSERT_EQ(model->getProto().graph().initializer(0).float_data_size(), 2);
  auto places =
      locateInitializers(*model, [](llvm::StringRef) { return true; });
  ASSERT_EQ(places.size(), 1u);
  EXPECT_FALSE(places[0].offset);
}

} // namespace
