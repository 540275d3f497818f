//===- ModelFileTest.cpp - Parsing, tensors, the external data gate -------===//
#include "compiler/Import/ModelFile.h"
#include "test/compiler/import/ImportTestUtils.h"

#include <sys/stat.h>
#include <unistd.h>

using namespace ampc;
using namespace ampc::importer;
using namespace ampc::importer::test;

namespace {

class ModelFileTest : public testing::Test {
protected:
  std::unique_ptr<ModelFile> open(const onnx::ModelProto &model) {
    return openBytes(model.SerializeAsString());
  }
  std::unique_ptr<ModelFile> openBytes(const std::string &bytes) {
    return ModelFile::open(folder.write("m.onnx", bytes), diags);
  }
  std::optional<TensorView> readFirst(ModelFile &model) {
    return readTensor(model, model.getProto().graph().initializer(0), "t",
                      diags);
  }
  std::string lastMessage() const {
    return diags.getAll().empty() ? "" : diags.getAll().back().message;
  }

  TemporaryFolder folder;
  ImportDiagnostics diags{"m.onnx"};
};

onnx::TensorProto &addTensor(onnx::ModelProto &model, int32_t type,
                             std::initializer_list<int64_t> dims) {
  onnx::TensorProto &tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name("t");
  tensor.set_data_type(type);
  for (int64_t dim : dims) {
    tensor.add_dims(dim);
  }
  return tensor;
}

TEST_F(ModelFileTest, largeRawDataStaysInTheFile) {
  onnx::ModelProto proto = makeModel();
  std::string payload(1 << 20, '\0');
  for (size_t i = 0; i < payload.size(); ++i) {
    payload[i] = static_cast<char>(i * 7);
  }
  addNode(*proto.mutable_graph(), "Relu", {"a"}, {"b"}, "before");
  addTensor(proto, onnx::TensorProto::UINT8, {1 << 20}).set_raw_data(payload);
  // A second one inside a nested graph, with fields on both sides.
  onnx::NodeProto &node =
      addNode(*proto.mutable_graph(), "If", {"c"}, {"d"}, "nested");
  onnx::AttributeProto &branch = *node.add_attribute();
  branch.set_name("then_branch");
  *branch.mutable_g()->add_initializer() = proto.graph().initializer(0);
  branch.mutable_g()->set_name("inner");
  proto.set_producer_name("tail");

  auto model = open(proto);
  ASSERT_TRUE(model) << lastMessage();
  const onnx::GraphProto &graph = model->getProto().graph();
  EXPECT_FALSE(graph.initializer(0).has_raw_data());
  EXPECT_EQ(graph.node(0).name(), "before");
  EXPECT_EQ(graph.node(1).attribute(0).g().name(), "inner");
  EXPECT_EQ(model->getProto().producer_name(), "tail");
  const onnx::TensorProto &inner =
      graph.node(1).attribute(0).g().initializer(0);
  for (const onnx::TensorProto *tensor : {&graph.initializer(0), &inner}) {
    auto view = readTensor(*model, *tensor, "t", diags);
    ASSERT_TRUE(view) << lastMessage();
    EXPECT_TRUE(view->isShared);
    EXPECT_EQ(
        llvm::StringRef(reinterpret_cast<const char *>(view->bytes.data()),
                        view->bytes.size()),
        payload);
  }
}

TEST_F(ModelFileTest, typedFieldsNarrow) {
  onnx::ModelProto proto = makeModel();
  onnx::TensorProto &tensor = addTensor(proto, onnx::TensorProto::INT8, {3});
  for (int value : {-1, 2, 127}) {
    tensor.add_int32_data(value);
  }
  auto model = open(proto);
  ASSERT_TRUE(model);
  auto view = readFirst(*model);
  ASSERT_TRUE(view) << lastMessage();
  EXPECT_EQ(view->bytes, llvm::ArrayRef<uint8_t>({0xff, 2, 127}));
}

TEST_F(ModelFileTest, packedFourBitHasHalfTheBytes) {
  onnx::ModelProto proto = makeModel();
  addTensor(proto, onnx::TensorProto::UINT4, {3}).set_raw_data("\x21\x03", 2);
  auto model = open(proto);
  ASSERT_TRUE(model);
  auto view = readFirst(*model);
  ASSERT_TRUE(view) << lastMessage();
  EXPECT_EQ(view->bytes.size(), 2u);
}

TEST_F(ModelFileTest, negative_sizeMismatch) {
  onnx::ModelProto proto = makeModel();
  addTensor(proto, onnx::TensorProto::FLOAT, {2}).set_raw_data("1234567");
  auto model = open(proto);
  ASSERT_TRUE(model);
  EXPECT_FALSE(readFirst(*model));
  EXPECT_EQ(lastMessage(),
            "expected 8 bytes of elements for float and 2 elements, got 7");
  EXPECT_EQ(diags.getExitCode(), 3);
}

TEST_F(ModelFileTest, negative_shapeOverflow) {
  onnx::ModelProto proto = makeModel();
  addTensor(proto, onnx::TensorProto::FLOAT,
            {int64_t(1) << 33, int64_t(1) << 33, 0, -1});
  auto model = open(proto);
  ASSERT_TRUE(model);
  EXPECT_FALSE(readFirst(*model));
  EXPECT_EQ(diags.getExitCode(), 3);
}

TEST_F(ModelFileTest, negative_elementsStoredTwice) {
  onnx::ModelProto proto = makeModel();
  onnx::TensorProto &tensor = addTensor(proto, onnx::TensorProto::FLOAT, {1});
  tensor.set_raw_data("1234");
  tensor.add_float_data(1);
  auto model = open(proto);
  ASSERT_TRUE(model);
  EXPECT_FALSE(readFirst(*model));
  EXPECT_EQ(lastMessage(), "tensor stores its elements twice");
}

TEST_F(ModelFileTest, negative_forgedSlice) {
  onnx::ModelProto proto = makeModel();
  addTensor(proto, onnx::TensorProto::FLOAT, {1}).set_raw_slice(0);
  EXPECT_FALSE(open(proto));
  EXPECT_EQ(diags.getExitCode(), 3);
}

TEST_F(ModelFileTest, negative_everyTruncationIsDiagnosed) {
  onnx::ModelProto proto = makeModel();
  addTensor(proto, onnx::TensorProto::UINT8, {8192})
      .set_raw_data(std::string(8192, 'x'));
  addNode(*proto.mutable_graph(), "Relu", {"t"}, {"y"});
  std::string bytes = proto.SerializeAsString();
  for (size_t size = 0; size < bytes.size(); size += size < 64 ? 1 : 97) {
    ImportDiagnostics own("m.onnx");
    auto model =
        ModelFile::open(folder.write("t.onnx", bytes.substr(0, size)), own);
    // A cut between top-level fields leaves a valid message.
    EXPECT_TRUE(model || own.getExitCode() == 3) << size;
  }
}

TEST_F(ModelFileTest, negative_nestingBomb) {
  onnx::TypeProto type;
  onnx::TypeProto *inner = &type;
  for (int i = 0; i < 400; ++i) {
    inner = inner->mutable_sequence_type()->mutable_elem_type();
  }
  onnx::ModelProto proto = makeModel();
  *proto.mutable_graph()->add_input()->mutable_type() = type;
  EXPECT_FALSE(open(proto));
  EXPECT_EQ(diags.getExitCode(), 6);
}

TEST_F(ModelFileTest, negative_notAModel) {
  EXPECT_FALSE(openBytes("PK\x03\x04 this is an archive"));
  EXPECT_EQ(diags.getExitCode(), 3);
  ImportDiagnostics missing("x.onnx");
  EXPECT_FALSE(ModelFile::open(folder.file("missing.onnx"), missing));
  EXPECT_EQ(missing.getExitCode(), 5);
}

/// External data of two floats; entries as given.
class ExternalDataTest : public ModelFileTest {
protected:
  bool read(std::initializer_list<std::pair<const char *, const char *>> keys) {
    onnx::ModelProto proto = makeModel();
    onnx::TensorProto &tensor = addTensor(proto, onnx::TensorProto::FLOAT, {2});
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    for (auto [key, value] : keys) {
      onnx::StringStringEntryProto &entry = *tensor.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    }
    model = open(proto);
    view = model ? readFirst(*model) : std::nullopt;
    return view.has_value();
  }

  std::unique_ptr<ModelFile> model;
  std::optional<TensorView> view;
};

TEST_F(ExternalDataTest, offsetAndLength) {
  std::filesystem::create_directory(folder.path / "sub");
  folder.write("sub/w.bin", "0123abcdefgh");
  ASSERT_TRUE(read({{"location", "./sub/w.bin"},
                    {"offset", "4"},
                    {"length", "8"},
                    {"checksum", "x"}}))
      << lastMessage();
  EXPECT_EQ(view->bytes[0], 'a');
}

TEST_F(ExternalDataTest, negative_outsideTheFolder) {
  for (const char *location : {"../w.bin", "sub/../../w.bin", "/etc/hostname",
                               "", "sub//w.bin", "."}) {
    diags = ImportDiagnostics("m.onnx");
    EXPECT_FALSE(read({{"location", location}})) << location;
    EXPECT_EQ(diags.getExitCode(), 3) << location;
  }
}

TEST_F(ExternalDataTest, negative_symbolicLink) {
  folder.write("w.bin", "01234567");
  std::filesystem::create_symlink("w.bin", folder.path / "link.bin");
  EXPECT_FALSE(read({{"location", "link.bin"}}));
  EXPECT_EQ(lastMessage(), "external data file 'link.bin' is reached through "
                           "a symbolic link");
  std::filesystem::create_symlink(".", folder.path / "dir");
  EXPECT_FALSE(read({{"location", "dir/w.bin"}}));
  EXPECT_EQ(diags.getExitCode(), 3);
}

TEST_F(ExternalDataTest, negative_hardLink) {
  folder.write("w.bin", "01234567");
  std::filesystem::create_hard_link(folder.path / "w.bin",
                                    folder.path / "hard.bin");
  EXPECT_FALSE(read({{"location", "hard.bin"}}));
  EXPECT_EQ(lastMessage(),
            "expected external data file 'hard.bin' to have one hard link, "
            "got 2");
}

TEST_F(ExternalDataTest, negative_pipeDoesNotBlock) {
  ASSERT_EQ(mkfifo(folder.file("pipe").c_str(), 0600), 0);
  EXPECT_FALSE(read({{"location", "pipe"}}));
  EXPECT_EQ(lastMessage(), "external data 'pipe' is not a regular file");
}

TEST_F(ExternalDataTest, negative_rangeOutsideTheFile) {
  folder.write("w.bin", "01234567");
  for (auto [offset, length] :
       std::initializer_list<std::pair<const char *, const char *>>{
           {"4", "8"},
           {"9", "8"},
           {"18446744073709551615", "8"},
           {"18446744073709551616", "8"},
           {"0", "18446744073709551615"},
           {"-1", "8"},
           {"0x0", "8"},
           {"0", "4"}}) {
    diags = ImportDiagnostics("m.onnx");
    EXPECT_FALSE(
        read({{"location", "w.bin"}, {"offset", offset}, {"length", length}}))
        << offset << " " << length;
    EXPECT_EQ(diags.getExitCode(), 3);
  }
}

TEST_F(ExternalDataTest, negative_unknownOrRepeatedKey) {
  folder.write("w.bin", "01234567");
  EXPECT_FALSE(read({{"location", "w.bin"}, {"__class__", "x"}}));
  EXPECT_EQ(lastMessage(), "unknown external data key '__class__'");
  EXPECT_FALSE(read({{"location", "w.bin"}, {"location", "w.bin"}}));
  EXPECT_EQ(lastMessage(), "external data key 'location' stands twice");
}

TEST_F(ExternalDataTest, negative_missingFile) {
  EXPECT_FALSE(read({{"location", "gone.bin"}}));
  EXPECT_EQ(lastMessage(), "external data file 'gone.bin' does not exist");
  EXPECT_EQ(diags.getExitCode(), 3);
}

} // namespace
