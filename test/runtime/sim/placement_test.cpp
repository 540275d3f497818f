//===- placement_test.cpp - Which buffers share memory --------------------===//
#include "runtime/core/gpu_images.h"
#include "runtime/devices/sim/separate_buffers.h"
#include "test/runtime/sim/gpu_program.h"

#include <gtest/gtest.h>

using namespace toy;
using namespace ampc::runtime;

namespace {

/// The slice of each slot as "region:begin-end", equal ones being the same.
struct Placed {
  explicit Placed(GpuProgram &p) {
    program = p.finish();
    Status status = buildPlan(*program, {nullptr, nullptr, nullptr}, &plan);
    EXPECT_TRUE(status.ok()) << status.message();
    sim::separateBuffers(*program, p.images[0], plan, &placement);
  }
  std::string at(uint32_t node, uint32_t buffer) const {
    const cuda::Slice &slice = placement.slices[slot(node, buffer)];
    return std::to_string(slice.region) + ":" + std::to_string(slice.begin) +
           "-" + std::to_string(slice.end);
  }
  uint32_t slot(uint32_t node, uint32_t buffer) const {
    return placement.ofSlot[plan.nodes[node].firstSlot + buffer];
  }
  const ampc_program *program;
  Plan plan;
  cuda::Placement placement;
};

TEST(SeparateBuffers, eachValueIsItsOwn) {
  GpuProgram p;
  p.addNodes();
  Placed placed(p);
  EXPECT_EQ(placed.at(0, 1), "0:0-1024");
  EXPECT_EQ(placed.slot(0, 1), placed.slot(1, 0)); // written, then read
  EXPECT_EQ(placed.at(1, 2), "0:1024-2048");
  EXPECT_EQ(placed.at(2, 1), "0:0-1024");
  EXPECT_NE(placed.slot(2, 1), placed.slot(0, 1)); // the same bytes later
  EXPECT_EQ(placed.slot(2, 1), placed.slot(3, 0));
  EXPECT_EQ(placed.at(1, 1), "1:0-1024");
  EXPECT_EQ(placed.at(0, 0), "2:0-1024");
  EXPECT_EQ(placed.at(3, 1), "3:0-1024");
}

TEST(SeparateBuffers, partsThatAreReadTogetherAreOne) {
  GpuProgram p;
  p.nodes = {p.copy(input(), arena(0), 512), p.copy(input(), arena(512), 512),
             p.launch(DoubleEach, {arena(0), output()}, "/Mul")};
  Placed placed(p);
  EXPECT_EQ(placed.at(0, 1), "0:0-1024");
  EXPECT_EQ(placed.slot(0, 1), placed.slot(1, 1));
  EXPECT_EQ(placed.slot(0, 1), placed.slot(2, 0));
}

TEST(SeparateBuffers, aPartOfAValueIsInsideIt) {
  GpuProgram p;
  p.nodes = {p.launch(DoubleEach, {input(), arena(0)}, "/Mul"),
             p.copy(arena(256), output(), 512), p.copy(input(), arena(256), 64),
             p.launch(DoubleEach, {arena(0), output()}, "/Mul")};
  Placed placed(p);
  for (auto [node, buffer] : {std::pair(0, 1), {1, 0}, {2, 1}, {3, 0}}) {
    EXPECT_EQ(placed.slot(node, buffer), placed.slot(0, 1));
  }
  EXPECT_EQ(placed.at(2, 1), "0:0-1024");
}

TEST(SeparateBuffers, inPlaceIsOneValue) {
  GpuProgram p;
  p.nodes = {p.launch(DoubleEach, {input(), arena(0)}, "/Mul"),
             p.launch(DoubleEach, {arena(0), arena(0)}, "/Mul_1")};
  Placed placed(p);
  EXPECT_EQ(placed.slot(1, 1), placed.slot(0, 1));
}

TEST(SeparateBuffers, whatALoopCarriesIsOneValue) {
  GpuProgram p;
  std::vector<ampc_node> body = {
      p.launch(Add, {arena(0), weight(0), arena(bytes)}, "/loop/Add"),
      p.launch(DoubleEach, {arena(bytes), arena(0)}, "/loop/Mul"),
      p.launch(DoubleEach, {arena(0), arena(2 * bytes)}, "/loop/Mul_1"),
      p.launch(DoubleEach, {arena(2 * bytes), arena(bytes)}, "/loop/Mul_2")};
  ampc_node_list bodies[] = {{4, body.data()}};
  constexpr uint64_t iteration = 3 * bytes, proceed = iteration + 64;
  ampc_node loop = p.node(AMPC_NODE_LOOP,
                          {arena(iteration), arena(proceed), input()}, "/Loop");
  loop.bodies = bodies;
  p.nodes = {p.launch(DoubleEach, {input(), arena(0)}, "/Mul"),
             p.copy(input(), arena(proceed), 1), loop,
             p.launch(DoubleEach, {arena(0), output()}, "/Mul_1")};
  Placed placed(p);
  // Nodes of the body follow those of the program.
  EXPECT_EQ(placed.slot(0, 1), placed.slot(4, 0));
  EXPECT_EQ(placed.slot(0, 1), placed.slot(5, 1));
  EXPECT_EQ(placed.slot(0, 1), placed.slot(3, 0)); // it may run no time
  EXPECT_EQ(placed.slot(4, 2), placed.slot(5, 0));
  EXPECT_NE(placed.slot(4, 2), placed.slot(0, 1));
  EXPECT_EQ(placed.slot(6, 1), placed.slot(7, 0));
  EXPECT_NE(placed.slot(7, 1), placed.slot(4, 2)); // the same bytes later
  EXPECT_EQ(placed.slot(1, 1), placed.slot(2, 1));
  EXPECT_EQ(placed.at(2, 0), "0:3072-3080");
}

TEST(SeparateBuffers, whatEitherBranchWritesIsOneValue) {
  GpuProgram p;
  std::vector<ampc_node> yes = {
      p.launch(DoubleEach, {arena(0), arena(bytes)}, "/then/Mul"),
      p.launch(DoubleEach, {arena(bytes), arena(0)}, "/then/Mul_1")};
  std::vector<ampc_node> no = {p.copy(arena(0), arena(bytes), bytes)};
  ampc_node_list bodies[] = {{2, yes.data()}, {1, no.data()}};
  ampc_node branch = p.node(AMPC_NODE_IF, {input()}, "/If");
  branch.bodies = bodies;
  p.nodes = {p.launch(DoubleEach, {input(), arena(0)}, "/Mul"), branch,
             p.launch(DoubleEach, {arena(bytes), output()}, "/Mul_1")};
  Placed placed(p);
  EXPECT_EQ(placed.slot(3, 0), placed.slot(0, 1));
  EXPECT_EQ(placed.slot(5, 0), placed.slot(0, 1));
  EXPECT_EQ(placed.slot(3, 1), placed.slot(2, 0));
  EXPECT_EQ(placed.slot(5, 1), placed.slot(2, 0));
  EXPECT_NE(placed.slot(4, 1), placed.slot(0, 1)); // nothing reads it
}

TEST(SeparateBuffers, weightsAreSeparateUnlessTheyOverlap) {
  GpuProgram p;
  p.nodes = {p.copy(weight(0), output(), 64), p.copy(weight(64), output(), 64),
             p.copy(weight(256), output(), 256),
             p.copy(weight(128), output(), 256)};
  Placed placed(p);
  EXPECT_EQ(placed.at(0, 0), "1:0-64");
  EXPECT_EQ(placed.at(1, 0), "1:64-128");
  EXPECT_EQ(placed.at(2, 0), "1:128-512");
  EXPECT_EQ(placed.slot(2, 0), placed.slot(3, 0));
}

TEST(GpuImages, choice) {
  ampc_gpu_image images[] = {{80, AMPC_GPU_IMAGE_CUBIN, 0, 0, nullptr, nullptr},
                             {86, AMPC_GPU_IMAGE_CUBIN, 0, 0, nullptr, nullptr},
                             {90, AMPC_GPU_IMAGE_CUBIN, 0, 0, nullptr, nullptr},
                             {75, AMPC_GPU_IMAGE_PTX, 0, 0, nullptr, nullptr}};
  ampc_gpu_code code = {4, 0, images, nullptr};
  EXPECT_EQ(chooseImage(code, 80), &images[0]);
  EXPECT_EQ(chooseImage(code, 86), &images[1]);
  EXPECT_EQ(chooseImage(code, 89), &images[1]);
  EXPECT_EQ(chooseImage(code, 90), &images[2]);
  EXPECT_EQ(chooseImage(code, 75), &images[3]);
  EXPECT_EQ(chooseImage(code, 100), &images[3]); // of no cubin's major version
  EXPECT_EQ(chooseImage(code, 120), &images[3]);
  EXPECT_EQ(chooseImage(code, 70), nullptr);
  EXPECT_EQ(oldestArchitecture(code), 75u);
  EXPECT_STREQ(describeImages(code).c_str(),
               "sm_80, sm_86, sm_90, PTX of sm_75");
}

TEST(GpuImages, choiceOfArchitectureSpecificCode) {
  ampc_gpu_image images[] = {
      {80, AMPC_GPU_IMAGE_PTX, 0, 0, nullptr, nullptr},
      {90, AMPC_GPU_IMAGE_EXACT_CUBIN, 0, 0, nullptr, nullptr},
      {100, AMPC_GPU_IMAGE_CUBIN, 0, 0, nullptr, nullptr},
      {100, AMPC_GPU_IMAGE_EXACT_CUBIN, 0, 0, nullptr, nullptr}};
  ampc_gpu_code code = {4, 0, images, nullptr};
  EXPECT_EQ(chooseImage(code, 80), &images[0]);
  EXPECT_EQ(chooseImage(code, 90), &images[1]);
  EXPECT_EQ(chooseImage(code, 100), &images[3]);
  EXPECT_EQ(chooseImage(code, 103), &images[2]); // sm_100a is not for it
  EXPECT_EQ(chooseImage(code, 120), &images[0]);
  EXPECT_STREQ(describeImages(code).c_str(),
               "PTX of sm_80, sm_90a, sm_100, sm_100a");
  code = {1, 0, images + 1, nullptr};
  EXPECT_EQ(chooseImage(code, 89), nullptr);
  EXPECT_EQ(chooseImage(code, 100), nullptr);
}

} // namespace
