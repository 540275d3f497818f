//===- entries_test.cpp - Entries and state on a GPU ----------------------===//
#include "test/runtime/sim/gpu_program.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace toy;

namespace {

ampc_buffer_ref state(uint64_t offset) {
  return {AMPC_REGION_STATE, 0, {offset, 0}, bytes, AMPC_DTYPE_F32, 0};
}

/// "step" adds x to a sum in place, by way of the arena, "apply" doubles the
/// sum; `main` is y = 2 * sum.
struct CountingProgram : GpuProgram {
  std::vector<ampc_node> step, apply;
  std::vector<ampc_entry> entries;
  std::vector<ampc_state_desc> states;

  CountingProgram() {
    // Of the weights, the second half is a first value.
    inputs = {};
    nodes = {launch(DoubleEach, {state(0), output()}, "/main")};
    step = {launch(DoubleEach, {input(), arena(0)}, "/double"),
            launch(Add, {state(0), arena(0), state(0)}, "/add")};
    apply = {launch(DoubleEach, {state(0), state(bytes)}, "/moved"),
             copy(state(bytes), state(0), bytes)};
  }
  const ampc_program *finish() {
    GpuProgram::finish();
    allInputs = {x};
    program.inputs = allInputs.data();
    entries = {{"step", 0, 1, 1, 0, {2, step.data()}},
               {"apply", 1, 0, 1, 0, {2, apply.data()}}};
    states = {{{"sum", AMPC_DTYPE_F32, 1, shape, bytes},
               0,
               0,
               AMPC_STATE_PARAMETER,
               0},
              {{"moved", AMPC_DTYPE_F32, 1, shape, bytes},
               bytes,
               AMPC_NO_INITIAL,
               AMPC_STATE_TRANSIENT,
               0}};
    program.num_entries = 2;
    program.entries = entries.data();
    program.num_states = 2;
    program.states = states.data();
    program.state_bytes = 2 * bytes;
    program.control_bytes = bytes;
    program.constant_bytes = 0;
    return &program;
  }
  std::vector<ampc_tensor_desc> allInputs;
};

std::vector<float> sumOf(Session &session) {
  std::vector<float> sum(count);
  EXPECT_TRUE(
      Status(ampc_session_read_state(session.session, 0, sum.data())).ok());
  return sum;
}

/// ((i + 2 x) * 2 + 2 x) * 2
TEST(SimEntries, submittedUnitsRunInOrder) {
  CountingProgram p;
  Session session(p.finish(), nullptr, /*poison=*/true);
  ASSERT_TRUE(session.status.ok()) << session.status.message();
  std::vector<float> data(count, 3.0f);
  const void *given[] = {data.data()};
  uint32_t unit[] = {0, 1};
  uint64_t tickets[2];
  for (uint64_t &ticket : tickets) {
    ASSERT_TRUE(
        Status(ampc_session_submit(session.session, unit, 2, given)).ok());
    ASSERT_TRUE(
        Status(ampc_session_fetch_control(session.session, &ticket)).ok());
    // The buffer may be used again at once.
    std::fill(data.begin(), data.end(), 3.0f);
  }
  for (int i = 0; i < 2; ++i) {
    const void *control = nullptr;
    ASSERT_TRUE(
        Status(ampc_session_wait_control(session.session, tickets[i], &control))
            .ok());
    auto *sum = static_cast<const float *>(control);
    EXPECT_EQ(sum[5], i == 0 ? 22.0f : 56.0f);
  }
  EXPECT_EQ(sumOf(session)[7], ((7 + 6) * 2 + 6) * 2);
  std::vector<float> y(count);
  void *out[] = {y.data()};
  ASSERT_TRUE(Status(ampc_session_run(session.session, nullptr, out)).ok());
  EXPECT_EQ(y[7], 2 * sumOf(session)[7]);
  EXPECT_EQ(ampc_session_total_launches(session.session), 2 * 3u + 1);
}

TEST(SimEntries, walkedEntriesDoTheSame) {
  CountingProgram p;
  Session session(p.finish());
  ASSERT_TRUE(session.status.ok());
  ampc_session_set_profiling(session.session, 1);
  std::vector<float> data(count, 3.0f);
  const void *given[] = {data.data()};
  uint32_t unit[] = {0, 1};
  ASSERT_TRUE(
      Status(ampc_session_submit(session.session, unit, 2, given)).ok());
  ASSERT_TRUE(
      Status(ampc_session_run_entry(session.session, 0, given, nullptr)).ok());
  EXPECT_EQ(sumOf(session)[7], (7 + 6) * 2 + 6);
}

TEST(SimEntries, statesAreWrittenAndSearched) {
  CountingProgram p;
  p.step[1].num_outputs = 1;
  Session session(p.finish());
  ASSERT_TRUE(session.status.ok());
  std::vector<float> values(count, 1.0f);
  values[100] = INFINITY;
  ASSERT_TRUE(
      Status(ampc_session_write_state(session.session, 0, values.data())).ok());
  EXPECT_EQ(sumOf(session), values);
  const void *given[] = {values.data()};
  ampc_nonfinite found;
  ASSERT_TRUE(Status(ampc_session_find_nonfinite(session.session, 0, given,
                                                 nullptr, &found))
                  .ok());
  EXPECT_STREQ(found.label, "/add");
}

} // namespace
