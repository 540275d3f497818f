//===- state_test.cpp - Entries and what outlives a run -------------------===//
#include "test_files.h"

#include <cmath>

using namespace ampc::runtime;

namespace {

testing::AssertionResult ok(const Status &status) {
  return status.ok() ? testing::AssertionSuccess()
                     : testing::AssertionFailure() << status.message();
}

/// buffers: old sum, x, new sum; in place where both sums are one buffer.
void addKernel(void *const *buffers, void *, int64_t begin, int64_t end) {
  auto *sum = static_cast<const float *>(buffers[0]);
  auto *x = static_cast<const float *>(buffers[1]);
  auto *out = static_cast<float *>(buffers[2]);
  for (int64_t i = begin; i < end; ++i) {
    out[i] = sum[i] + x[i];
  }
}

/// buffers: count, count + 1.
void countKernel(void *const *buffers, void *, int64_t, int64_t) {
  *static_cast<int32_t *>(buffers[1]) =
      *static_cast<const int32_t *>(buffers[0]) + 1;
}

/// buffers: x, log(x).
void logKernel(void *const *buffers, void *, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    static_cast<float *>(buffers[1])[i] =
        std::log(static_cast<const float *>(buffers[0])[i]);
  }
}

/// `main` gives the sum; "step" adds x to it and counts; "log" gives the
/// logarithm of x, twice.
struct Counter {
  static constexpr int64_t dims[] = {4};
  ampc_kernel_desc kernels[3] = {{"add", addKernel, 4, 1, 0},
                                 {"count", countKernel, 1, 1, 0},
                                 {"log", logKernel, 4, 1, 0}};
  ampc_tensor_desc inputs[2] = {{"x", AMPC_DTYPE_F32, 1, dims, 16},
                                {"x", AMPC_DTYPE_F32, 1, dims, 16}};
  ampc_tensor_desc outputs[2] = {{"sum", AMPC_DTYPE_F32, 1, dims, 16},
                                 {"log", AMPC_DTYPE_F32, 1, dims, 16}};
  ampc_buffer_ref sum = {AMPC_REGION_STATE, 0, {64, 0}, 16, AMPC_DTYPE_F32, 0};
  ampc_buffer_ref count = {AMPC_REGION_STATE, 0, {0, 0}, 4, AMPC_DTYPE_I32, 0};
  ampc_buffer_ref result = {AMPC_REGION_OUTPUT, 0, {0, 0}, 16,
                            AMPC_DTYPE_F32,     0};
  ampc_buffer_ref adding[3] = {
      sum, {AMPC_REGION_INPUT, 0, {0, 0}, 16, AMPC_DTYPE_F32, 0}, sum};
  ampc_buffer_ref counting[2] = {count, count};
  ampc_buffer_ref copied[2] = {sum, result};
  ampc_buffer_ref first[2] = {
      {AMPC_REGION_INPUT, 1, {0, 0}, 16, AMPC_DTYPE_F32, 0},
      {AMPC_REGION_ARENA, 0, {0, 0}, 16, AMPC_DTYPE_F32, 0}};
  ampc_buffer_ref second[2] = {
      {AMPC_REGION_ARENA, 0, {0, 0}, 16, AMPC_DTYPE_F32, 0},
      {AMPC_REGION_OUTPUT, 1, {0, 0}, 16, AMPC_DTYPE_F32, 0}};
  ampc_node mainNodes[1] = {
      {AMPC_NODE_COPY, 0, 2, 1, copied, {16, 0}, "copy", nullptr}};
  ampc_node stepNodes[2] = {
      {AMPC_NODE_LAUNCH, 0, 3, 1, adding, {}, "add", nullptr},
      {AMPC_NODE_LAUNCH, 1, 2, 1, counting, {}, "count", nullptr}};
  ampc_node logNodes[2] = {
      {AMPC_NODE_LAUNCH, 2, 2, 1, first, {}, "first", nullptr},
      {AMPC_NODE_LAUNCH, 2, 2, 1, second, {}, "second", nullptr}};
  ampc_entry entries[2] = {{"step", 0, 1, 1, 0, {2, stepNodes}},
                           {"log", 1, 1, 1, 1, {2, logNodes}}};
  ampc_state_desc states[2] = {
      {{"sum", AMPC_DTYPE_F32, 1, dims, 16}, 64, 64, AMPC_STATE_PARAMETER, 0},
      {{"count", AMPC_DTYPE_I32, 0, nullptr, 4},
       0,
       AMPC_NO_INITIAL,
       AMPC_STATE_CONTROL,
       0}};
  alignas(64) float weights[20] = {};
  ampc_program program = {};

  Counter() {
    weights[16] = 1, weights[17] = 2, weights[18] = 3, weights[19] = 4;
    program.abi_version = AMPC_ABI_VERSION;
    program.struct_size = sizeof program;
    program.name = "counter";
    program.inputs = inputs;
    program.outputs = outputs;
    program.num_outputs = 1;
    program.arena_bytes.fixed = 64;
    program.weights = weights;
    program.weights_bytes = sizeof weights;
    program.constant_bytes = 64;
    program.num_kernels = 3;
    program.kernels = kernels;
    program.main = {1, mainNodes};
    program.num_entries = 2;
    program.entries = entries;
    program.num_states = 2;
    program.states = states;
    program.state_bytes = 128;
    program.control_bytes = 64;
  }
};
constexpr int64_t Counter::dims[];

struct Session {
  explicit Session(const Counter &counter, bool debugArena = false) {
    ampc_session_options options;
    ampc_session_options_init(&options);
    options.debug_arena = debugArena;
    status = Status(ampc_session_create(&counter.program, &options, &session));
  }
  ~Session() { ampc_session_destroy(session); }

  std::vector<float> sum() {
    std::vector<float> out(4);
    void *outputs[] = {out.data()};
    EXPECT_TRUE(ok(Status(ampc_session_run(session, nullptr, outputs))));
    return out;
  }
  int32_t countOf(uint64_t ticket) {
    const void *control = nullptr;
    EXPECT_TRUE(
        ok(Status(ampc_session_wait_control(session, ticket, &control))));
    return control ? *static_cast<const int32_t *>(control) : -1;
  }

  Status status;
  ampc_session session = nullptr;
};

const float x[] = {10, 20, 30, 40};
const void *const inputs[] = {x, x, x};

TEST(State, beginsWithItsFirstValuesAndOutlivesRuns) {
  Counter counter;
  Session s(counter, /*debugArena=*/true);
  ASSERT_TRUE(ok(s.status));
  EXPECT_EQ(s.sum(), (std::vector<float>{1, 2, 3, 4}));
  ASSERT_EQ(ampc_session_find_entry(s.session, "step"), 0);
  ASSERT_EQ(ampc_session_find_entry(s.session, "apply"), -1);
  ASSERT_TRUE(
      ok(Status(ampc_session_run_entry(s.session, 0, inputs, nullptr))));
  EXPECT_EQ(s.sum(), (std::vector<float>{11, 22, 33, 44}));
  uint32_t twice[] = {0, 0};
  ASSERT_TRUE(ok(Status(ampc_session_submit(s.session, twice, 2, inputs))));
  EXPECT_EQ(s.sum(), (std::vector<float>{31, 62, 93, 124}));
  int32_t count = 0;
  ASSERT_TRUE(ok(Status(ampc_session_read_state(s.session, 1, &count))));
  EXPECT_EQ(count, 3);
  EXPECT_EQ(ampc_session_total_launches(s.session), 6u);
  // Another session begins anew.
  Session other(counter);
  EXPECT_EQ(other.sum(), (std::vector<float>{1, 2, 3, 4}));
}

TEST(State, isReadAndWritten) {
  Counter counter;
  Session s(counter);
  ASSERT_TRUE(ok(s.status));
  ASSERT_EQ(ampc_session_num_states(s.session), 2u);
  EXPECT_STREQ(ampc_session_state(s.session, 0)->tensor.name, "sum");
  EXPECT_EQ(ampc_session_state(s.session, 2), nullptr);
  const float values[] = {5, 6, 7, 8};
  ASSERT_TRUE(ok(Status(ampc_session_write_state(s.session, 0, values))));
  EXPECT_EQ(s.sum(), (std::vector<float>{5, 6, 7, 8}));
  float read[4] = {};
  ASSERT_TRUE(ok(Status(ampc_session_read_state(s.session, 0, read))));
  EXPECT_EQ(read[3], 8);
  EXPECT_EQ(Status(ampc_session_write_state(s.session, 2, values)).code(),
            AMPC_USAGE);
  EXPECT_EQ(Status(ampc_session_read_state(s.session, 0, nullptr)).code(),
            AMPC_USAGE);
}

/// Each ticket tells the numbers as they were when it was given.
TEST(State, controlIsFetchedOneStepLate) {
  Counter counter;
  Session s(counter);
  ASSERT_TRUE(ok(s.status));
  uint32_t step = 0;
  uint64_t tickets[3];
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(ok(Status(ampc_session_submit(s.session, &step, 1, inputs))));
    ASSERT_TRUE(ok(Status(ampc_session_fetch_control(s.session, &tickets[i]))));
  }
  EXPECT_EQ(s.countOf(tickets[0]), 1);
  EXPECT_EQ(s.countOf(tickets[1]), 2);
  ASSERT_TRUE(ok(Status(ampc_session_fetch_control(s.session, &tickets[2]))));
  const void *control;
  EXPECT_EQ(
      Status(ampc_session_wait_control(s.session, tickets[0], &control)).code(),
      AMPC_USAGE);
  EXPECT_EQ(Status(ampc_session_wait_control(s.session, 3, &control)).code(),
            AMPC_USAGE);
}

TEST(State, wrongEntriesAreRefused) {
  Counter counter;
  Session s(counter);
  ASSERT_TRUE(ok(s.status));
  uint32_t none = 7, withOutput = 1, step = 0;
  EXPECT_EQ(Status(ampc_session_submit(s.session, &none, 1, inputs)).code(),
            AMPC_USAGE);
  EXPECT_EQ(
      Status(ampc_session_submit(s.session, &withOutput, 1, inputs)).code(),
      AMPC_USAGE);
  EXPECT_EQ(Status(ampc_session_submit(s.session, &step, 1, nullptr)).code(),
            AMPC_USAGE);
  EXPECT_EQ(
      Status(ampc_session_run_entry(s.session, 2, inputs, nullptr)).code(),
      AMPC_USAGE);
}

TEST(State, theFirstValueThatIsNotFiniteIsFound) {
  Counter counter;
  Session s(counter);
  ASSERT_TRUE(ok(s.status));
  float values[] = {2, 2, 0.5f, 3}, out[4];
  const void *given[] = {values};
  void *outputs[] = {out};
  ampc_nonfinite found;
  // log(log(0.5)) is no number, log(0) is infinite.
  ASSERT_TRUE(ok(Status(
      ampc_session_find_nonfinite(s.session, 1, given, outputs, &found))));
  EXPECT_STREQ(found.label, "second");
  EXPECT_STREQ(found.kernel, "log");
  EXPECT_TRUE(found.is_nan);
  EXPECT_FLOAT_EQ(static_cast<float>(found.least), std::log(0.5f));
  EXPECT_FLOAT_EQ(static_cast<float>(found.largest), std::log(3.0f));
  values[1] = 0;
  ASSERT_TRUE(ok(Status(
      ampc_session_find_nonfinite(s.session, 1, given, outputs, &found))));
  EXPECT_STREQ(found.label, "first");
  EXPECT_FALSE(found.is_nan);
  values[1] = values[2] = 3;
  ASSERT_TRUE(ok(Status(
      ampc_session_find_nonfinite(s.session, 1, given, outputs, &found))));
  EXPECT_EQ(found.label, nullptr);
}

TEST(State, malformedTablesAreRefused) {
  auto codeOf = [](auto mutate) {
    Counter counter;
    mutate(counter);
    return Session(counter).status.code();
  };
  EXPECT_EQ(codeOf([](Counter &c) { c.entries[1].first_input = 0; }),
            AMPC_INVALID);
  EXPECT_EQ(codeOf([](Counter &c) { c.entries[0].name = nullptr; }),
            AMPC_INVALID);
  EXPECT_EQ(codeOf([](Counter &c) { c.adding[1].index = 1; }), AMPC_INVALID);
  EXPECT_EQ(codeOf([](Counter &c) { c.states[0].offset = 120; }), AMPC_INVALID);
  EXPECT_EQ(codeOf([](Counter &c) { c.states[0].initial = 72; }), AMPC_INVALID);
  EXPECT_EQ(codeOf([](Counter &c) { c.states[0].role = 9; }), AMPC_INVALID);
  EXPECT_EQ(codeOf([](Counter &c) { c.states[1].tensor.bytes = 5; }),
            AMPC_INVALID);
  EXPECT_EQ(codeOf([](Counter &c) { c.program.constant_bytes = 100; }),
            AMPC_INVALID);
  EXPECT_EQ(codeOf([](Counter &c) { c.program.control_bytes = 256; }),
            AMPC_INVALID);
  EXPECT_EQ(codeOf([](Counter &) {}), AMPC_OK);
}

} // namespace
