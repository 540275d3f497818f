//===- device_test.cpp - Programs on the simulator as a device ------------===//
#include "test/runtime/sim/gpu_program.h"

#include <fstream>
#include <functional>
#include <gtest/gtest.h>

using namespace toy;

namespace {

testing::AssertionResult says(const Status &status, ampc_code code,
                              std::vector<std::string> words) {
  std::string message = status.message();
  for (const std::string &word : words) {
    if (message.find(word) == std::string::npos) {
      return testing::AssertionFailure()
             << "no '" << word << "' in '" << message << "'";
    }
  }
  return status.code() == code ? testing::AssertionSuccess()
                               : testing::AssertionFailure()
                                     << "code " << status.code() << ": "
                                     << message;
}

TEST(SimDevice, runsAsOneGraph) {
  for (bool poison : {false, true}) {
    GpuProgram p;
    p.addNodes();
    Session session(p.finish(), nullptr, poison);
    ASSERT_TRUE(session.status.ok()) << session.status.message();
    for (float first : {1.0f, -7.0f}) {
      EXPECT_EQ(session.run(first), expected(first));
      EXPECT_TRUE(session.status.ok()) << session.status.message();
    }
    EXPECT_EQ(ampc_session_total_launches(session.session), 6u);
    EXPECT_EQ(ampc_session_num_threads(session.session), 1u);
  }
}

TEST(SimDevice, profileWalksTheNodes) {
  GpuProgram p;
  p.addNodes();
  Session session(p.finish(), "sim:0");
  ampc_session_set_profiling(session.session, 1);
  EXPECT_EQ(session.run(3), expected(3));
  ASSERT_TRUE(session.status.ok()) << session.status.message();
  ASSERT_EQ(ampc_session_profile_size(session.session), 4u);
  for (size_t i = 0; i < 4; ++i) {
    ampc_profile_entry entry;
    ampc_session_profile_entry(session.session, i, &entry);
    EXPECT_EQ(entry.launches, 1u);
    EXPECT_GT(entry.nanoseconds, 0u);
  }
  ampc_session_set_profiling(session.session, 0);
  EXPECT_EQ(session.run(4), expected(4));
}

/// What lies behind the slice is another one of the same arena.
TEST(SimDevice, overrunOfASlice) {
  GpuProgram p;
  p.nodes = {p.launch(DoubleEach, {input(), arena(0)}, "/Mul"),
             p.launch(DoubleEach, {input(), arena(bytes)}, "/Mul_1"),
             p.launch(Shift, {arena(0), output()}, "/encoder/Slice_3")};
  {
    Session session(p.finish());
    (void)session.run(1);
    EXPECT_TRUE(
        says(session.status, AMPC_DEVICE,
             {"the simulator found 2 faults: out-of-bounds in kernel "
              "shift of '/encoder/Slice_3', block (1, 0, 0), thread 127",
              "at shift: load f32 at toy.cu:6"}));
    (void)session.run(1);
    EXPECT_EQ(session.status.code(), AMPC_DEVICE);
  }
  // The next session has a device without the fault.
  p.addNodes();
  Session session(p.finish());
  EXPECT_EQ(session.run(1), expected(1));
}

TEST(SimDevice, overrunOfInputAndWeight) {
  for (ampc_buffer_ref from : {input(), weight(0)}) {
    GpuProgram p;
    p.nodes = {p.launch(Shift, {from, output()}, "/Slice")};
    Session session(p.finish());
    (void)session.run(1);
    EXPECT_TRUE(says(session.status, AMPC_DEVICE, {"out-of-bounds", "/Slice"}));
  }
}

/// Half of what is read is the end of the value before it.
TEST(SimDevice, bytesThatNothingWrote) {
  GpuProgram p;
  p.program.arena_bytes.fixed = 4 * bytes;
  p.nodes = {p.launch(DoubleEach, {input(), arena(0)}, "/Mul"),
             p.launch(DoubleEach, {input(), arena(bytes / 2)}, "/Mul_1"),
             p.launch(Add, {arena(bytes), input(), output()}, "/Add")};
  Session session(p.finish());
  (void)session.run(1);
  EXPECT_TRUE(says(session.status, AMPC_DEVICE,
                   {"uninitialized in kernel add of '/Add'", "toy.cu:3"}));
}

TEST(SimDevice, unwrittenBytesStaySoWhenCopied) {
  GpuProgram p;
  p.nodes = {p.launch(DoubleEach, {input(), output()}, "/Mul"),
             p.copy(arena(0), output(), bytes)};
  Session session(p.finish());
  (void)session.run(1);
  EXPECT_TRUE(
      says(session.status, AMPC_DEVICE,
           {"copy to the host of 'y'", "of which 1024 were never written"}));
}

TEST(SimDevice, unwrittenOutput) {
  GpuProgram p;
  p.nodes = {p.copy(input(), output(), bytes - 4)};
  Session session(p.finish());
  (void)session.run(1);
  EXPECT_TRUE(
      says(session.status, AMPC_DEVICE,
           {"1 fault: uninitialized", "of which 4 were never written"}));
}

TEST(SimDevice, loopsAndBranches) {
  GpuProgram p;
  static const ampc_tensor_desc trips = {"trips", AMPC_DTYPE_I64, 0, nullptr,
                                         8};
  static const ampc_tensor_desc go = {"go", AMPC_DTYPE_BOOL, 0, nullptr, 1};
  p.inputs = {x, trips, go};
  enum { iteration = 0, proceed = 64, value = 128 };
  std::vector<ampc_node> body = {
      p.launch(Add, {arena(value), weight(0), output()}, "/loop/Add"),
      p.copy(output(), arena(value), bytes),
      p.launch(Less, {arena(iteration), arena(proceed)}, "/loop/Less")};
  std::vector<ampc_node> doubles = {
      p.launch(DoubleEach, {input(), output()}, "/then/Mul")};
  std::vector<ampc_node> copies = {p.copy(input(), output(), bytes)};
  ampc_node_list loopBody[] = {{3, body.data()}};
  ampc_node_list branches[] = {{1, doubles.data()}, {1, copies.data()}};
  ampc_node loop = p.node(
      AMPC_NODE_LOOP, {arena(iteration), arena(proceed), input(1)}, "/Loop");
  loop.bodies = loopBody;
  ampc_node branch = p.node(AMPC_NODE_IF, {input(2)}, "/If");
  branch.bodies = branches;
  p.nodes = {branch, p.copy(output(), arena(value), bytes),
             p.copy(input(2), arena(proceed), 1), loop};
  Session session(p.finish());
  ASSERT_TRUE(session.status.ok()) << session.status.message();
  std::vector<float> in(count, 5), out(count);
  for (int64_t most : {1, 100}) {
    uint8_t yes = 1;
    const void *inputs[] = {in.data(), &most, &yes};
    void *outputs[] = {out.data()};
    Status status(ampc_session_run(session.session, inputs, outputs));
    ASSERT_TRUE(status.ok()) << status.message();
    // The third iteration is the last whose condition holds before it.
    EXPECT_EQ(out[10], 10 + (most == 1 ? 10.0f : 30.0f));
  }
}

/// An environment variable for the time of a test.
struct Setting {
  Setting(const char *name, const std::string &value) : name(name) {
    setenv(name, value.c_str(), 1);
  }
  ~Setting() { unsetenv(name); }
  const char *name;
};

std::string contents(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

TEST(SimDevice, report) {
  std::string path = testing::TempDir() + "/sim_report.txt";
  {
    Setting report("AMPC_SIM_REPORT", path), seed("AMPC_SIM_SEED", "7");
    GpuProgram p;
    p.addNodes();
    Session session(p.finish());
    EXPECT_EQ(session.run(1), expected(1)) << session.status.message();
  }
  // Three kernels of two blocks. Toy kernels have no sites of accesses.
  EXPECT_NE(contents(path).find("6 blocks, "), std::string::npos);
  EXPECT_NE(contents(path).find("shared  "), std::string::npos);
}

TEST(SimDevice, settingsThatAreWrong) {
  GpuProgram p;
  p.addNodes();
  p.finish();
  {
    Setting seed("AMPC_SIM_SEED", "often");
    EXPECT_TRUE(says(Session(&p.program).status, AMPC_USAGE,
                     {"AMPC_SIM_SEED: expected a number, got 'often'"}));
  }
  Setting report("AMPC_SIM_REPORT", "/no/such/folder/file");
  EXPECT_TRUE(says(Session(&p.program).status, AMPC_IO,
                   {"AMPC_SIM_REPORT: cannot write '/no/such/folder/file'"}));
}

TEST(SimDevice, recordingHoldsWhatKernelsReadAndWrite) {
  std::string folder = testing::TempDir() + "/sim_recording";
  {
    Setting record("AMPC_SIM_RECORD", folder);
    GpuProgram p;
    p.addNodes();
    Session session(p.finish());
    EXPECT_EQ(session.run(1), expected(1)) << session.status.message();
  }
  std::string index = contents(folder + "/launches.jsonl");
  EXPECT_NE(index.find("{\"launch\": 1, \"kernel\": \"add\", \"label\": "
                       "\"/Add\", \"arch\": 80, \"buffers\": [1024, 1024, "
                       "1024]}\n"),
            std::string::npos)
      << index;
  std::string sum = contents(folder + "/1-2.after");
  ASSERT_EQ(sum.size(), size_t(bytes));
  float values[count];
  memcpy(values, sum.data(), sizeof values);
  EXPECT_EQ(values[3], 2 * (1 + 3.0f) + 3);
  EXPECT_EQ(contents(folder + "/2-0.before"), sum);
  EXPECT_EQ(contents(folder + "/2-0.after"), ""); // only read
}

TEST(SimDevice, dynamicSharedMemory) {
  for (auto [kilobytes, code] :
       {std::pair(64u, AMPC_OK), {200u, AMPC_DEVICE}}) {
    GpuProgram p;
    p.addNodes();
    p.launches[Add].shared_bytes = kilobytes << 10;
    Session session(p.finish());
    EXPECT_TRUE(says(session.status, code,
                     code ? std::vector<std::string>{"add needs 204800 bytes",
                                                     "has 166912 for a block"}
                          : std::vector<std::string>{}));
    if (!code) {
      EXPECT_EQ(session.run(1), expected(1));
    }
  }
}

TEST(SimDevice, nothingToDo) {
  GpuProgram p;
  p.addNodes();
  p.nodes.insert(p.nodes.begin(),
                 p.launch(Shift, {arena(0), arena(bytes)}, "/Empty"));
  p.launches[Shift].grid[0] = 0;
  Session session(p.finish());
  EXPECT_EQ(session.run(1), expected(1)) << session.status.message();
}

TEST(SimDevice, tooLargeForTheGpu) {
  GpuProgram p;
  p.program.arena_bytes.fixed = 40ull << 30;
  p.unary[1].bytes = 20ull << 30;
  p.inputs[0].bytes = p.outputs[0].bytes = bytes;
  p.nodes = {p.launch(DoubleEach, {input(), arena(0)}, "/Mul")};
  Session session(p.finish());
  EXPECT_TRUE(
      says(session.status, AMPC_DEVICE,
           {"needs 21474838528 bytes of GPU memory (weights 0, "
            "activations 21474836480, workspace 0, inputs and outputs 2048)",
            "17179869184 free of 17179869184"}));
}

TEST(SimDevice, choosesByName) {
  GpuProgram p;
  p.addNodes();
  p.finish();
  EXPECT_TRUE(says(Session(&p.program, "cpu").status, AMPC_DEVICE,
                   {"compiled for the device 'sim' (simulated sm_80), not for "
                    "'cpu'"}));
  EXPECT_TRUE(says(Session(&p.program, "cuda:0").status, AMPC_DEVICE,
                   {"not for 'cuda:0'"}));
  EXPECT_TRUE(says(Session(&p.program, "sim:1").status, AMPC_DEVICE,
                   {"there is no GPU 1"}));
  EXPECT_TRUE(says(Session(&p.program, "sim:one").status, AMPC_USAGE,
                   {"got 'sim:one'"}));
  Session first(&p.program), second(&p.program);
  EXPECT_EQ(first.run(1), expected(1));
  EXPECT_EQ(second.run(2), expected(2));
  p.images[0].architecture = 90;
  EXPECT_TRUE(says(Session(&p.program).status, AMPC_DEVICE,
                   {"in use as sm_80, this program is for sm_90"}));
}

/// Both load the same image.
TEST(SimDevice, oneOfTwoSessionsEnds) {
  GpuProgram p;
  p.addNodes();
  Session first(p.finish());
  {
    Session second(&p.program);
    EXPECT_EQ(second.run(1), expected(1)) << second.status.message();
  }
  EXPECT_EQ(first.run(2), expected(2)) << first.status.message();
}

TEST(SimDevice, malformedTables) {
  auto expectMalformed = [](std::function<void(GpuProgram &)> change) {
    GpuProgram p;
    p.addNodes();
    p.finish();
    change(p);
    Session session(&p.program);
    EXPECT_TRUE(says(session.status, AMPC_INVALID, {"malformed program"}));
  };
  expectMalformed([](GpuProgram &p) { p.gpu.num_images = 0; });
  expectMalformed([](GpuProgram &p) { p.images[0].kind = 3; });
  expectMalformed([](GpuProgram &p) { p.images[0].modules = nullptr; });
  expectMalformed([](GpuProgram &p) { p.modules[0].data = nullptr; });
  expectMalformed([](GpuProgram &p) { p.launches[0].module = 1; });
  expectMalformed([](GpuProgram &p) { p.images[0].launches = nullptr; });
  expectMalformed([](GpuProgram &p) { p.launches[0].symbol = nullptr; });
  expectMalformed([](GpuProgram &p) { p.launches[0].block[0] = 1025; });
  expectMalformed([](GpuProgram &p) { p.launches[0].num_params = 1; });
  expectMalformed([](GpuProgram &p) { p.unary[0].bytes = bytes + 1; });
  expectMalformed([](GpuProgram &p) { p.nodes[3].bytes.fixed = bytes + 1; });
  expectMalformed([](GpuProgram &p) {
    p.images[0].kind = AMPC_GPU_IMAGE_PTX;
    p.modules[0] = {"abcd", 3};
  });
  static constexpr ampc_gpu_tensor_map row = {
      0, AMPC_DTYPE_F32, 2, 0, {count / 4, 4}, {4, count}, {4, 1}, 0};
  static ampc_gpu_tensor_map map;
  auto expectMalformedMap =
      [&](std::function<void(ampc_gpu_tensor_map &)> change) {
        map = row;
        change(map);
        expectMalformed([](GpuProgram &p) {
          p.launches[0].num_tensor_maps = 1;
          p.launches[0].tensor_maps = &map;
        });
      };
  expectMalformedMap([](ampc_gpu_tensor_map &m) { m.param = 2; });
  expectMalformedMap([](ampc_gpu_tensor_map &m) { m.rank = 0; });
  expectMalformedMap([](ampc_gpu_tensor_map &m) { m.rank = 6; });
  expectMalformedMap([](ampc_gpu_tensor_map &m) { m.sizes[1] = 0; });
  expectMalformedMap([](ampc_gpu_tensor_map &m) { m.sizes[1] = 5; });
  expectMalformedMap([](ampc_gpu_tensor_map &m) { m.sizes[1] = ~0ull; });
  expectMalformed([](GpuProgram &p) {
    p.launches[0].num_tensor_maps = AMPC_GPU_MAX_TENSOR_MAPS + 1;
    p.launches[0].tensor_maps = &row;
  });
  expectMalformed([](GpuProgram &p) { p.launches[0].num_tensor_maps = 1; });
  GpuProgram p;
  p.addNodes();
  p.launches[0].symbol = "treble_each";
  EXPECT_TRUE(says(Session(p.finish()).status, AMPC_DEVICE,
                   {"treble_each", "named symbol not found"}));
}

} // namespace
