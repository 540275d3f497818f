//===- DataSetTest.cpp - Made-up inputs -----------------------------------===//
#include "compiler/Driver/DataSet.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace ampc;
using namespace ampc::driver;

namespace {
/// A program of inputs alone.
struct Inputs {
  std::vector<int64_t> dims{4, 1000};
  std::vector<ampc_tensor_desc> descs;
  ampc_program program{};

  Inputs() {
    add("x", AMPC_DTYPE_F32, 4);
    add("attention_mask", AMPC_DTYPE_I64, 8);
    add("token_type_ids", AMPC_DTYPE_I32, 4);
    add("ids", AMPC_DTYPE_I64, 8);
    add("flag", AMPC_DTYPE_BOOL, 1);
    add("half", AMPC_DTYPE_F16, 2);
    program.num_inputs = descs.size();
    program.inputs = descs.data();
  }
  void add(const char *name, uint32_t dtype, uint64_t size) {
    descs.push_back({name, dtype, 2, dims.data(), 4000 * size});
  }
  DataSet make(uint64_t seed) {
    DataSet set;
    DiagnosticSink sink(llvm::errs(), DiagnosticForm::Text);
    EXPECT_TRUE(succeeded(makeDataSet(program, seed, set, sink)));
    return set;
  }
};

template <typename T>
std::vector<T> read(const runtime::Tensor &tensor) {
  std::vector<T> values(tensor.data.size() / sizeof(T));
  std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
  return values;
}
} // namespace

TEST(DataSet, Values) {
  DataSet set = Inputs().make(0);
  ASSERT_EQ(set.inputs.size(), 6u);
  // Four thousand normal numbers: mean and variance within five deviations.
  double sum = 0, squares = 0;
  for (float value : read<float>(set.inputs[0])) {
    sum += value;
    squares += value * value;
  }
  EXPECT_LT(std::fabs(sum / 4000), 0.08);
  EXPECT_NEAR(squares / 4000, 1, 0.12);
  auto mask = read<int64_t>(set.inputs[1]);
  auto types = read<int32_t>(set.inputs[2]);
  auto ids = read<int64_t>(set.inputs[3]);
  for (size_t i = 0; i < 4000; ++i) {
    EXPECT_EQ(mask[i], i % 1000 < 800);
    EXPECT_EQ(types[i], i % 1000 >= 500);
    EXPECT_TRUE(ids[i] >= 0 && ids[i] < 16);
  }
  EXPECT_NE(*std::max_element(ids.begin(), ids.end()), 0);
  for (uint8_t flag : read<uint8_t>(set.inputs[4])) {
    EXPECT_EQ(flag, 1);
  }
  for (size_t i = 0; i < 4000; ++i) {
    EXPECT_LT(
        std::fabs(readFloat(AMPC_DTYPE_F16, set.inputs[5].data.data(), i)), 6);
  }
}

TEST(DataSet, SeedsAndHashes) {
  Inputs inputs;
  std::vector<DataSet> one, same, other;
  one.push_back(inputs.make(1));
  same.push_back(inputs.make(1));
  other.push_back(inputs.make(2));
  EXPECT_EQ(hashDataSets(one), hashDataSets(same));
  EXPECT_NE(hashDataSets(one), hashDataSets(other));
  EXPECT_EQ(hashDataSets(one).size(), 64u);
  // The shape counts, not only the bytes.
  std::string before = hashDataSets(one);
  std::swap(one[0].inputs[0].dims[0], one[0].inputs[0].dims[1]);
  EXPECT_NE(hashDataSets(one), before);
}

TEST(DataSet, Variation) {
  Inputs inputs;
  DataSet set = inputs.make(3), varied, again;
  DiagnosticSink sink(llvm::errs(), DiagnosticForm::Text);
  ASSERT_TRUE(succeeded(varyDataSet(set, 5, varied, sink)));
  ASSERT_TRUE(succeeded(varyDataSet(set, 5, again, sink)));
  std::vector<float> from = read<float>(set.inputs[0]);
  std::vector<float> to = read<float>(varied.inputs[0]);
  EXPECT_EQ(to, read<float>(again.inputs[0]));
  double squares = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    squares += (to[i] - from[i]) * (to[i] - from[i]);
  }
  EXPECT_NEAR(std::sqrt(squares / from.size()), 0.1, 0.01);
  for (size_t i = 1; i < 5; ++i) { // what is no float stays
    EXPECT_EQ(read<uint8_t>(varied.inputs[i]), read<uint8_t>(set.inputs[i]));
  }
  EXPECT_NE(read<uint8_t>(varied.inputs[5]), read<uint8_t>(set.inputs[5]));
}
