//===- session_test.cpp - Programs written by hand ------------------------===//
#include "runtime/core/cpu_features.h"
#include "runtime/core/weights.h"
#include "test_files.h"

#include <cmath>
#include <dlfcn.h>
#include <functional>
#include <memory>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace ampc::runtime;

namespace {

/// A program under construction; everything lives as long as this.
struct Program {
  ampc_program program = {};
  std::vector<ampc_kernel_desc> kernels;
  std::vector<ampc_tensor_desc> inputs, outputs;
  std::vector<std::unique_ptr<std::vector<ampc_buffer_ref>>> buffers;
  std::vector<std::unique_ptr<std::vector<ampc_node_list>>> bodies;
  std::vector<ampc_node> nodes;

  uint32_t kernel(ampc_kernel_fn fn, int64_t items, uint64_t scratch = 0) {
    kernels.push_back({"test-kernel", fn, items, 1, scratch});
    return static_cast<uint32_t>(kernels.size() - 1);
  }
  ampc_node node(ampc_node_kind kind, std::vector<ampc_buffer_ref> refs) {
    buffers.push_back(std::make_unique<std::vector<ampc_buffer_ref>>(refs));
    ampc_node out = {};
    out.kind = kind;
    out.num_buffers = static_cast<uint32_t>(refs.size());
    out.buffers = buffers.back()->data();
    out.label = "/node";
    return out;
  }
  ampc_node launch(uint32_t kernel, std::vector<ampc_buffer_ref> refs) {
    ampc_node out = node(AMPC_NODE_LAUNCH, refs);
    out.kernel = kernel;
    return out;
  }
  ampc_node copy(ampc_buffer_ref from, ampc_buffer_ref to, uint64_t bytes) {
    ampc_node out = node(AMPC_NODE_COPY, {from, to});
    out.bytes.fixed = bytes;
    return out;
  }
  const ampc_program *finish() {
    program.abi_version = AMPC_ABI_VERSION;
    program.struct_size = sizeof program;
    program.name = "test";
    program.num_inputs = static_cast<uint32_t>(inputs.size());
    program.num_outputs = static_cast<uint32_t>(outputs.size());
    program.inputs = inputs.data();
    program.outputs = outputs.data();
    program.num_kernels = static_cast<uint32_t>(kernels.size());
    program.kernels = kernels.data();
    program.main = {static_cast<uint32_t>(nodes.size()), nodes.data()};
    return &program;
  }
};

ampc_buffer_ref arena(uint64_t offset) {
  return {AMPC_REGION_ARENA, 0, {offset, 0}};
}
ampc_buffer_ref input(uint32_t index, uint64_t offset = 0) {
  return {AMPC_REGION_INPUT, index, {offset, 0}};
}
ampc_buffer_ref output(uint32_t index, uint64_t offset = 0) {
  return {AMPC_REGION_OUTPUT, index, {offset, 0}};
}
ampc_buffer_ref weight(uint64_t offset) {
  return {AMPC_REGION_WEIGHTS, 0, {offset, 0}};
}

struct Session {
  explicit Session(const ampc_program *program,
                   const ampc_session_options *options = nullptr)
      : status(ampc_session_create(program, options, &session)) {}
  ~Session() { ampc_session_destroy(session); }
  Status run(std::vector<const void *> in, std::vector<void *> out) {
    return Status(ampc_session_run(session, in.data(), out.data()));
  }
  ampc_session session = nullptr;
  Status status;
};

const int64_t four[] = {4};
const ampc_tensor_desc f32x4 = {"x", AMPC_DTYPE_F32, 1, four, 16};

void doubleEach(void *const *buffers, void *, int64_t begin, int64_t end) {
  auto *in = static_cast<const float *>(buffers[0]);
  auto *out = static_cast<float *>(buffers[1]);
  for (int64_t i = begin; i < end; ++i) {
    out[i] = 2 * in[i];
  }
}

TEST(Session, launchThroughArenaAndCopy) {
  Program p;
  uint32_t kernel = p.kernel(doubleEach, 4);
  p.inputs = {f32x4};
  p.outputs = {f32x4, f32x4};
  p.program.arena_bytes.fixed = 64;
  p.nodes = {p.launch(kernel, {input(0), arena(0)}),
             p.launch(kernel, {arena(0), output(0)}),
             p.copy(input(0, 8), output(1), 8)};
  Session session(p.finish());
  ASSERT_TRUE(session.status.ok()) << session.status.message();
  float x[4] = {1, 2, 3, 4}, y[4], z[4] = {0, 0, 9, 9};
  ASSERT_TRUE(session.run({x}, {y, z}).ok());
  EXPECT_EQ(std::vector<float>(y, y + 4), (std::vector<float>{4, 8, 12, 16}));
  EXPECT_EQ(std::vector<float>(z, z + 4), (std::vector<float>{3, 4, 9, 9}));
  EXPECT_EQ(ampc_session_total_launches(session.session), 2u);
  // Another buffer at the next run.
  float other[4] = {0, 0, 0, 1};
  ASSERT_TRUE(session.run({other}, {y, z}).ok());
  EXPECT_EQ(y[3], 4);
  EXPECT_STREQ(session.run({nullptr}, {y, z}).message(),
               "expected a buffer for input 'x', got NULL");
}

void less3(void *const *buffers, void *, int64_t, int64_t) {
  int64_t iteration = *static_cast<const int64_t *>(buffers[0]);
  *static_cast<uint8_t *>(buffers[1]) = iteration < 3;
}

void addIteration(void *const *buffers, void *, int64_t, int64_t) {
  *static_cast<int64_t *>(buffers[1]) +=
      *static_cast<const int64_t *>(buffers[0]) + 1;
}

/// Input 0: trip count, input 1: first condition, output 0: 1 + 2 + ... .
struct LoopProgram : Program {
  std::vector<ampc_node> body;
  LoopProgram() {
    uint32_t sum = kernel(addIteration, 1), test = kernel(less3, 1);
    inputs = {{"trips", AMPC_DTYPE_I64, 0, nullptr, 8},
              {"go", AMPC_DTYPE_BOOL, 0, nullptr, 1},
              {"zero", AMPC_DTYPE_I64, 0, nullptr, 8}};
    outputs = {{"sum", AMPC_DTYPE_I64, 0, nullptr, 8}};
    program.arena_bytes.fixed = 128;
    body = {launch(sum, {arena(0), output(0)}),
            launch(test, {arena(0), arena(64)})};
    bodies.push_back(std::make_unique<std::vector<ampc_node_list>>(
        std::vector<ampc_node_list>{{2, body.data()}}));
    ampc_node loop = node(AMPC_NODE_LOOP, {arena(0), arena(64), input(0)});
    loop.bodies = bodies.back()->data();
    nodes = {copy(input(2), output(0), 8), copy(input(1), arena(64), 1), loop};
  }
};

TEST(Session, loop) {
  LoopProgram p;
  Session session(p.finish());
  ASSERT_TRUE(session.status.ok()) << session.status.message();
  auto sum = [&](int64_t trips, uint8_t go) {
    int64_t zero = 0, out = -1;
    Status status = session.run({&trips, &go, &zero}, {&out});
    EXPECT_TRUE(status.ok()) << status.message();
    return out;
  };
  EXPECT_EQ(sum(0, 1), 0);
  EXPECT_EQ(sum(-5, 1), 0);
  EXPECT_EQ(sum(2, 0), 0);
  EXPECT_EQ(sum(2, 1), 1 + 2);
  // The condition of iteration 3 stops before iteration 4.
  EXPECT_EQ(sum(100, 1), 1 + 2 + 3 + 4);
}

TEST(Session, branch) {
  Program p;
  uint32_t kernel = p.kernel(doubleEach, 4);
  p.inputs = {f32x4, {"c", AMPC_DTYPE_BOOL, 0, nullptr, 1}};
  p.outputs = {f32x4};
  std::vector<ampc_node> yes = {p.launch(kernel, {input(0), output(0)})};
  std::vector<ampc_node> no = {p.copy(input(0), output(0), 16)};
  ampc_node_list lists[] = {{1, yes.data()}, {1, no.data()}};
  ampc_node branch = p.node(AMPC_NODE_IF, {input(1)});
  branch.bodies = lists;
  p.nodes = {branch};
  Session session(p.finish());
  ASSERT_TRUE(session.status.ok());
  float x[4] = {1, 2, 3, 4}, y[4];
  for (uint8_t condition : {1, 0}) {
    ASSERT_TRUE(session.run({x, &condition}, {y}).ok());
    EXPECT_EQ(y[3], condition ? 8 : 4);
  }
}

TEST(Session, profile) {
  LoopProgram p;
  Session session(p.finish());
  ampc_session_set_profiling(session.session, 1);
  int64_t trips = 3, zero = 0, out;
  uint8_t go = 1;
  ASSERT_TRUE(session.run({&trips, &go, &zero}, {&out}).ok());
  ASSERT_EQ(ampc_session_profile_size(session.session), 4u);
  std::vector<std::string> kernels;
  std::vector<uint64_t> launches;
  for (size_t i = 0; i < 4; ++i) {
    ampc_profile_entry entry;
    ampc_session_profile_entry(session.session, i, &entry);
    kernels.push_back(entry.kernel);
    launches.push_back(entry.launches);
    EXPECT_STREQ(entry.label, "/node");
  }
  EXPECT_EQ(kernels, (std::vector<std::string>{"copy", "copy", "test-kernel",
                                               "test-kernel"}));
  EXPECT_EQ(launches, (std::vector<uint64_t>{1, 1, 3, 3}));
  EXPECT_EQ(ampc_session_total_launches(session.session), 6u);
}

/// Writes a hash chain of the item's number through scratch memory.
void hashItems(void *const *buffers, void *scratch, int64_t begin,
               int64_t end) {
  auto *out = static_cast<float *>(buffers[0]);
  auto *work = static_cast<float *>(scratch);
  for (int64_t i = begin; i < end; ++i) {
    work[0] = static_cast<float>(i) * 0.1f;
    for (int k = 1; k < 64; ++k) {
      work[k] = work[k - 1] * 1.7f - std::floor(work[k - 1]) + 0.3f;
    }
    out[i] = work[63];
  }
}

TEST(Session, sameBytesForAnyThreadCount) {
  constexpr int64_t items = 10007;
  const int64_t shape[] = {items};
  Program p;
  p.outputs = {{"y", AMPC_DTYPE_F32, 1, shape, items * 4}};
  p.nodes = {p.launch(p.kernel(hashItems, items, 256), {output(0)})};
  p.finish();
  std::vector<float> expected;
  for (uint32_t threads : {1u, 2u, 3u, 7u, 16u}) {
    ampc_session_options options;
    ampc_session_options_init(&options);
    options.num_threads = threads;
    Session session(&p.program, &options);
    ASSERT_TRUE(session.status.ok()) << session.status.message();
    EXPECT_EQ(ampc_session_num_threads(session.session), threads);
    for (int repeat = 0; repeat < 20; ++repeat) {
      std::vector<float> got(items, -1.0f);
      ASSERT_TRUE(session.run({}, {got.data()}).ok());
      if (expected.empty()) {
        expected = got;
      }
      ASSERT_EQ(memcmp(got.data(), expected.data(), items * 4), 0) << threads;
    }
  }
}

void copyWithTail(void *const *buffers, void *scratch, int64_t, int64_t) {
  memcpy(buffers[1], buffers[0], 16);
  if (scratch) {
    memcpy(static_cast<char *>(buffers[1]) + 8, scratch, 8);
  }
}

TEST(Session, debugArenaShowsUnwrittenMemory) {
  Program p;
  p.outputs = {f32x4};
  p.program.arena_bytes.fixed = 64;
  p.nodes = {p.launch(p.kernel(copyWithTail, 1, 64), {arena(0), output(0)})};
  p.finish();
  ampc_session_options options;
  ampc_session_options_init(&options);
  options.debug_arena = 1;
  Session session(&p.program, &options);
  float y[4] = {};
  ASSERT_TRUE(session.run({}, {y}).ok());
  for (float value : y) {
    EXPECT_TRUE(std::isnan(value)); // of the arena, and of scratch memory
  }
}

#if defined(__x86_64__)
void readControlWord(void *const *buffers, void *, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    static_cast<uint32_t *>(buffers[0])[i] = _mm_getcsr() & 0xffc0u;
  }
}

TEST(Session, hostRoundingModeDoesNotReachKernels) {
  const int64_t shape[] = {64};
  Program p;
  p.outputs = {{"y", AMPC_DTYPE_U32, 1, shape, 256}};
  p.nodes = {p.launch(p.kernel(readControlWord, 64), {output(0)})};
  ampc_session_options options;
  ampc_session_options_init(&options);
  options.num_threads = 4;
  uint32_t before = _mm_getcsr();
  uint32_t flushing = before | 0x8040; // flush to zero, denormals are zero
  _mm_setcsr(flushing);
  {
    Session session(p.finish(), &options);
    uint32_t words[64];
    ASSERT_TRUE(session.run({}, {words}).ok());
    EXPECT_EQ(_mm_getcsr() & 0xffc0u, flushing & 0xffc0u);
    for (uint32_t word : words) {
      EXPECT_EQ(word, 0x1f80u);
    }
  }
  _mm_setcsr(before);
}
#endif

/// Reads the weights and what lies AMPC_OVERREAD behind them.
void readWeights(void *const *buffers, void *, int64_t, int64_t) {
  auto *in = static_cast<const volatile char *>(buffers[0]);
  char last = 0;
  for (uint64_t i = 0; i < AMPC_OVERREAD; ++i) {
    last = in[i + 8];
  }
  (void)last;
  memcpy(buffers[1], buffers[0], 8);
}

TEST(Session, weightFile) {
  // The last weight ends with the file, at the end of a page too.
  for (uint64_t size : {200u, 4096u, 8192u + 64u}) {
    TestFolder folder;
    std::string content(size, 'a');
    content.replace(size - 8, 8, "weights!");
    folder.write("w.bin", content);
    Program p;
    p.outputs = {{"y", AMPC_DTYPE_U64, 0, nullptr, 8}};
    p.nodes = {
        p.launch(p.kernel(readWeights, 1), {weight(size - 64 - 8), output(0)})};
    p.program.weights_file = "w.bin";
    p.program.weights_file_offset = 64;
    p.program.weights_bytes = size - 64;
    p.finish();
    ampc_session_options options;
    ampc_session_options_init(&options);
    std::string path = folder.path("");
    options.weights_dir = path.c_str();
    {
      Session session(&p.program, &options);
      ASSERT_TRUE(session.status.ok()) << session.status.message();
      char y[9] = {};
      ASSERT_TRUE(session.run({}, {y}).ok());
      EXPECT_STREQ(y, "weights!");
    }
    p.program.weights_bytes += 1;
    EXPECT_EQ(Session(&p.program, &options).status.code(), AMPC_INVALID);
    p.program.weights_file_offset = ~63ull;
    EXPECT_EQ(Session(&p.program, &options).status.code(), AMPC_INVALID);
    p.program.weights_file_offset = 0;
    p.program.weights_file = "../w.bin";
    EXPECT_EQ(Session(&p.program, &options).status.code(), AMPC_INVALID);
    p.program.weights_file = "none.bin";
    EXPECT_EQ(Session(&p.program, &options).status.code(), AMPC_IO);
  }
}

TEST(Session, moduleFolder) {
  Str folder;
  static const int inThisProgram = 0;
  ASSERT_TRUE(findModuleFolder(&inThisProgram, &folder).ok());
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  std::string expected(path, static_cast<size_t>(length));
  expected.resize(expected.rfind('/') + 1);
  EXPECT_EQ(folder.c_str(), expected);
  void *inLibrary = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
  ASSERT_TRUE(findModuleFolder(inLibrary, &folder).ok());
  EXPECT_NE(std::string(folder.c_str()), expected);
  auto heap = std::make_unique<int>();
  EXPECT_EQ(findModuleFolder(heap.get(), &folder).code(), AMPC_IO);
}

TEST(Session, missingCpuFeatures) {
  EXPECT_TRUE(checkCpuFeatures(AMPC_CPU_AVX2, AMPC_CPU_AVX2).ok());
  Status status = checkCpuFeatures(
      AMPC_CPU_AVX2 | AMPC_CPU_AVX512 | AMPC_CPU_AMX_BF16, AMPC_CPU_AVX2);
  EXPECT_EQ(status.code(), AMPC_DEVICE);
  std::string message = status.message();
  EXPECT_NE(message.find("lacks: AVX-512 F/BW/DQ/VL/CD (x86-64-v4), AMX-BF16;"),
            std::string::npos)
      << message;
  Program p;
  p.program.cpu_features = 1ull << 63;
  EXPECT_EQ(Session(p.finish()).status.code(), AMPC_DEVICE);
}

#if defined(__x86_64__)
TEST(Session, detectionAgreesWithTheCompiler) {
  uint64_t found = detectCpuFeatures();
  __builtin_cpu_init();
  bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
            __builtin_cpu_supports("bmi2");
  bool v4 = __builtin_cpu_supports("avx512f") &&
            __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512vl");
  EXPECT_EQ((found & AMPC_CPU_AVX2) != 0, v3);
  EXPECT_EQ((found & AMPC_CPU_AVX512) != 0, v4);
}
#endif

/// Each mutation makes a valid program malformed.
TEST(Session, malformedPrograms) {
  std::vector<std::function<void(LoopProgram &)>> mutations = {
      [](LoopProgram &p) { p.program.abi_version = 99; },
      [](LoopProgram &p) { p.program.struct_size = 8; },
      [](LoopProgram &p) { p.program.arena_bytes.per_sample = 1; },
      [](LoopProgram &p) { p.inputs[0].bytes = 9; },
      [](LoopProgram &p) { p.inputs[0].dtype = 7777; },
      [](LoopProgram &p) { p.inputs[0].rank = 1; },
      [](LoopProgram &p) { p.kernels[0].fn = nullptr; },
      [](LoopProgram &p) { p.kernels[0].items = -1; },
      [](LoopProgram &p) { p.body[0].kernel = 2; },
      [](LoopProgram &p) { p.body[0].kind = 9; },
      [](LoopProgram &p) { p.nodes[0].num_buffers = 1; },
      [](LoopProgram &p) { p.nodes[0].buffers = nullptr; },
      [](LoopProgram &p) { p.nodes[2].bodies = nullptr; },
      [](LoopProgram &p) { p.buffers[0]->at(0).offset.fixed = 129; },
      [](LoopProgram &p) { p.buffers[0]->at(0).region = 5; },
      [](LoopProgram &p) { p.buffers[0]->at(0).bytes = 129; },
      [](LoopProgram &p) {
        p.buffers[0]->at(0).region = AMPC_REGION_STATE;
        p.buffers[0]->at(0).bytes = 1;
      },
      [](LoopProgram &p) { p.nodes[0].num_outputs = 1000; },
      [](LoopProgram &p) { p.program.num_entries = 1; },
      [](LoopProgram &p) { p.program.num_states = 1; },
      [](LoopProgram &p) { p.program.control_bytes = 1; },
      [](LoopProgram &p) { p.buffers[0]->at(1).index = 1; },
      [](LoopProgram &p) { p.buffers[0]->at(1).offset.fixed = 9; },
      [](LoopProgram &p) { p.bodies[0]->at(0).nodes = nullptr; },
      // A body that contains itself.
      [](LoopProgram &p) { p.bodies[0]->at(0) = {3, p.nodes.data()}; },
  };
  for (size_t i = 0; i < mutations.size(); ++i) {
    LoopProgram p;
    p.finish();
    mutations[i](p);
    ampc_code code = Session(&p.program).status.code();
    EXPECT_TRUE(code == AMPC_INVALID || code == AMPC_DEVICE) << i;
  }
}

TEST(Session, options) {
  Program p;
  p.finish();
  ampc_session_options options;
  ampc_session_options_init(&options);
  options.device = "cuda:0";
  EXPECT_EQ(Session(&p.program, &options).status.code(), AMPC_DEVICE);
  options.device = nullptr;
  options.num_threads = 5000;
  EXPECT_EQ(Session(&p.program, &options).status.code(), AMPC_USAGE);
  EXPECT_EQ(Session(nullptr).status.code(), AMPC_USAGE);
  // An arena that cannot be had is an error, not a crash.
  p.program.arena_bytes.fixed = 1ull << 62;
  Session session(&p.program);
  EXPECT_EQ(session.status.code(), AMPC_LIMIT);
}

TEST(Session, emptyProgramRuns) {
  Program p;
  Session session(p.finish());
  ASSERT_TRUE(session.status.ok()) << session.status.message();
  EXPECT_TRUE(Status(ampc_session_run(session.session, nullptr, nullptr)).ok());
  EXPECT_EQ(ampc_session_num_inputs(session.session), 0u);
  EXPECT_EQ(ampc_session_input(session.session, 0), nullptr);
}

} // namespace
