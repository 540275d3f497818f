//===- driver_test.cpp - The look-alike of CUDA's driver ------------------===//
//
// The kernels here are what the compiler would make of them: host functions
// that call the simulator before each access.
//
//===----------------------------------------------------------------------===//
#include "runtime/devices/sim/access.h"
#include "runtime/devices/sim/driver.h"

#include <cmath>
#include <gtest/gtest.h>
#include <string>
#include <vector>

using namespace ampc::runtime;
using namespace ampc::runtime::cuda;

namespace {

const ampc_sim_site sites[] = {
    {"increment", "load i32", "increment.cu:1", 0, AMPC_SIM_READ, {4, 4}},
    {"increment", "store i32", "increment.cu:2", 1, AMPC_SIM_WRITE, {4, 4}},
};

/// x[i] += step for i below n.
void increment(void **params) {
  auto *x = *static_cast<int32_t **>(params[0]);
  auto n = *static_cast<uint32_t *>(params[1]);
  auto step = *static_cast<int32_t *>(params[2]);
  uint32_t i = ampc_sim_register(AMPC_SIM_REGISTER_BLOCK_X) *
                   ampc_sim_register(AMPC_SIM_REGISTER_BLOCK_SIZE_X) +
               ampc_sim_register(AMPC_SIM_REGISTER_THREAD_X);
  if (i < n) {
    ampc_sim_access(&sites[0], reinterpret_cast<uint64_t>(x + i));
    int32_t value = x[i];
    ampc_sim_access(&sites[1], reinterpret_cast<uint64_t>(x + i));
    x[i] = value + step;
  }
}

int32_t table[4] = {1, 2, 3, 4};
const ampc_sim_param params[] = {{8, 8}, {4, 4}, {4, 4}};
const ampc_sim_variable variables[] = {{"dynamic", 1024, 0}};
const ampc_sim_kernel kernels[] = {
    {"increment", increment, params, variables, 3, 1, 0, 1024, {0, 0, 0}, 256}};
const ampc_sim_global globals[] = {{"table", table, sizeof table, 1}};
const ampc_sim_module module = {
    AMPC_SIM_MAGIC, AMPC_SIM_ABI_VERSION, 1, 1, 2, 80, kernels, globals, sites};

class DriverTest : public testing::Test {
protected:
  DriverTest() { reset(0); }
  void reset(uint64_t seed) {
    sim::Options options;
    options.seed = seed;
    sim::resetDriver(options);
    EXPECT_EQ(api.init(0), success);
    EXPECT_EQ(api.moduleLoadData(&loaded, &module), success);
    EXPECT_EQ(api.moduleGetFunction(&function, loaded, "increment"), success);
  }

  DevicePointer upload(const std::vector<int32_t> &values) {
    DevicePointer memory = 0;
    EXPECT_EQ(api.memAlloc(&memory, values.size() * 4), success);
    EXPECT_EQ(api.memcpyHtoD(memory, values.data(), values.size() * 4),
              success);
    return memory;
  }
  std::vector<int32_t> download(DevicePointer memory, size_t count) {
    std::vector<int32_t> values(count);
    EXPECT_EQ(api.memcpyDtoH(values.data(), memory, count * 4), success)
        << sim::driverReport().text().c_str();
    return values;
  }
  Result launch(DevicePointer memory, uint32_t n, int32_t step,
                Stream stream = nullptr, unsigned shared = 0) {
    void *arguments[] = {&memory, &n, &step};
    return api.launchKernel(function, (n + 127) / 128, 1, 1, 128, 1, 1, shared,
                            stream, arguments, nullptr);
  }
  KernelNodeParams node(DevicePointer *memory, uint32_t *n, int32_t *step) {
    nodeArguments[0] = memory;
    nodeArguments[1] = n;
    nodeArguments[2] = step;
    KernelNodeParams params{};
    params.func = function;
    params.gridDimX = (*n + 127) / 128;
    params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = 128;
    params.blockDimY = params.blockDimZ = 1;
    params.kernelParams = nodeArguments;
    return params;
  }

  const DriverApi &api = sim::driverApi();
  Module loaded = nullptr;
  Function function = nullptr;
  void *nodeArguments[3];
};

TEST_F(DriverTest, DescribesItself) {
  int count, major, optIn;
  Device device;
  char name[64];
  EXPECT_EQ(api.deviceGetCount(&count), success);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(api.deviceGet(&device, 0), success);
  EXPECT_EQ(api.deviceGet(&device, 1), invalidDevice);
  EXPECT_EQ(api.deviceGetName(name, sizeof name, 0), success);
  EXPECT_STREQ(name, "simulated sm_80");
  EXPECT_EQ(api.deviceGetAttribute(&major, capabilityMajor, 0), success);
  EXPECT_EQ(major, 8);
  EXPECT_EQ(api.deviceGetAttribute(&optIn, maxSharedPerBlockOptIn, 0), success);
  EXPECT_EQ(optIn, 163 * 1024);
  const char *text;
  EXPECT_EQ(api.getErrorName(illegalAddress, &text), success);
  EXPECT_STREQ(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EQ(api.getErrorString(static_cast<Result>(12345), &text),
            invalidValue);
}

TEST_F(DriverTest, NothingWorksBeforeInit) {
  sim::resetDriver(sim::Options());
  DevicePointer memory;
  EXPECT_EQ(api.memAlloc(&memory, 4), notInitialized);
}

TEST_F(DriverTest, LaunchesInOrder) {
  DevicePointer memory = upload(std::vector<int32_t>(1000, 5));
  EXPECT_EQ(launch(memory, 1000, 2), success);
  EXPECT_EQ(launch(memory, 1000, 3), success);
  EXPECT_EQ(download(memory, 1000), std::vector<int32_t>(1000, 10));
  EXPECT_EQ(api.memFree(memory), success);
  EXPECT_EQ(api.memFree(memory), invalidValue);
}

TEST_F(DriverTest, OverrunIsAnIllegalAddress) {
  DevicePointer memory = upload(std::vector<int32_t>(100, 0));
  EXPECT_EQ(launch(memory, 101, 1), success);
  EXPECT_EQ(api.ctxSynchronize(), illegalAddress);
  EXPECT_EQ(launch(memory, 1, 1), illegalAddress); // it stays
  EXPECT_NE(
      std::string(sim::driverReport().text().c_str()).find("increment.cu:1"),
      std::string::npos);
}

TEST_F(DriverTest, UnwrittenMemoryIsFound) {
  DevicePointer memory;
  EXPECT_EQ(api.memAlloc(&memory, 400), success);
  EXPECT_EQ(api.memsetD8(memory, 0, 396), success);
  int32_t values[100];
  EXPECT_EQ(api.memcpyDtoH(values, memory, 396), success);
  EXPECT_EQ(api.memcpyDtoH(values, memory, 400), launchFailed);
  EXPECT_NE(std::string(sim::driverReport().text().c_str())
                .find("of which 4 were never written"),
            std::string::npos);
}

TEST_F(DriverTest, StreamsNeedEvents) {
  for (bool ordered : {true, false}) {
    reset(0);
    DevicePointer memory = upload(std::vector<int32_t>(256, 0));
    Stream a, b;
    Event event;
    EXPECT_EQ(api.streamCreate(&a, streamNonBlocking), success);
    EXPECT_EQ(api.streamCreate(&b, streamNonBlocking), success);
    EXPECT_EQ(api.eventCreate(&event, eventDisableTiming), success);
    EXPECT_EQ(launch(memory, 256, 1, a), success);
    EXPECT_EQ(api.eventRecord(event, a), success);
    if (ordered) {
      EXPECT_EQ(api.streamWaitEvent(b, event, 0), success);
    }
    EXPECT_EQ(launch(memory, 256, 1, b), success);
    EXPECT_EQ(api.streamSynchronize(b), ordered ? success : launchFailed);
    EXPECT_EQ(sim::driverReport().has(sim::Fault::globalRace), !ordered);
    EXPECT_EQ(api.eventDestroy(event), success);
    EXPECT_EQ(api.streamDestroy(a), success);
    EXPECT_EQ(api.streamDestroy(a), invalidHandle);
  }
}

/// What a module knew about its launches goes with it.
TEST_F(DriverTest, UnloadedModules) {
  auto *copy = new ampc_sim_module(module);
  Module other;
  Stream stream;
  DevicePointer memory = upload(std::vector<int32_t>(256, 0));
  EXPECT_EQ(api.streamCreate(&stream, streamNonBlocking), success);
  EXPECT_EQ(api.moduleUnload(loaded), success);
  EXPECT_EQ(api.moduleLoadData(&other, copy), success);
  EXPECT_EQ(api.moduleGetFunction(&function, other, "increment"), success);
  EXPECT_EQ(launch(memory, 256, 1, stream), success);
  EXPECT_EQ(api.moduleUnload(other), success);
  EXPECT_EQ(launch(memory, 256, 1), invalidHandle);
  delete copy;
  EXPECT_EQ(api.moduleLoadData(&loaded, &module), success);
  EXPECT_EQ(api.moduleGetFunction(&function, loaded, "increment"), success);
  EXPECT_EQ(launch(memory, 256, 1), success);
  EXPECT_TRUE(sim::driverReport().has(sim::Fault::globalRace));
}

/// A copy to the host has to come after the kernel; on a stream of its own it
/// does not.
TEST_F(DriverTest, CopiesRaceToo) {
  DevicePointer memory = upload(std::vector<int32_t>(256, 0));
  Stream a, b;
  EXPECT_EQ(api.streamCreate(&a, streamNonBlocking), success);
  EXPECT_EQ(api.streamCreate(&b, streamNonBlocking), success);
  EXPECT_EQ(launch(memory, 256, 1, a), success);
  std::vector<int32_t> values(256);
  EXPECT_EQ(api.memcpyDtoHAsync(values.data(), memory, 1024, b), success);
  EXPECT_EQ(api.streamSynchronize(b), launchFailed);
  EXPECT_TRUE(sim::driverReport().has(sim::Fault::globalRace));
}

TEST_F(DriverTest, BlockingStreamsFollowTheDefaultOne) {
  DevicePointer memory = upload(std::vector<int32_t>(256, 0));
  Stream stream;
  EXPECT_EQ(api.streamCreate(&stream, 0), success);
  EXPECT_EQ(launch(memory, 256, 1), success);
  EXPECT_EQ(launch(memory, 256, 1, stream), success);
  EXPECT_EQ(launch(memory, 256, 1), success);
  EXPECT_EQ(download(memory, 256), std::vector<int32_t>(256, 3));
}

TEST_F(DriverTest, SharedMemoryNeedsAnAttribute) {
  DevicePointer memory = upload({0});
  EXPECT_EQ(launch(memory, 1, 1, nullptr, 48 * 1024), success);
  EXPECT_EQ(launch(memory, 1, 1, nullptr, 100 * 1024), invalidValue);
  EXPECT_EQ(
      api.funcSetAttribute(function, functionMaxDynamicShared, 100 * 1024),
      success);
  EXPECT_EQ(launch(memory, 1, 1, nullptr, 100 * 1024), success);
  EXPECT_EQ(
      api.funcSetAttribute(function, functionMaxDynamicShared, 200 * 1024),
      invalidValue);
}

TEST_F(DriverTest, ConfigurationsAreChecked) {
  DevicePointer memory = upload({0});
  uint32_t n = 1;
  int32_t step = 1;
  void *arguments[] = {&memory, &n, &step};
  auto run = [&](unsigned grid, unsigned block) {
    return api.launchKernel(function, grid, 1, 1, block, 1, 1, 0, nullptr,
                            arguments, nullptr);
  };
  EXPECT_EQ(run(1, 256), success);
  EXPECT_EQ(run(0, 128), invalidValue);
  EXPECT_EQ(run(1, 512), invalidValue); // more than the kernel's maximum
  LaunchAttribute cluster{};
  cluster.id = attributeClusterDimension;
  cluster.value.clusterDim = {1, 1, 1};
  LaunchConfigEx config{1, 1, 1, 128, 1, 1, 0, nullptr, &cluster, 1};
  EXPECT_EQ(api.launchKernelEx(&config, function, arguments, nullptr), success);
  cluster.value.clusterDim.x = 2;
  EXPECT_EQ(api.launchKernelEx(&config, function, arguments, nullptr),
            notSupported);
}

TEST_F(DriverTest, GlobalsOfAModule) {
  DevicePointer address;
  size_t bytes;
  EXPECT_EQ(api.moduleGetGlobal(&address, &bytes, loaded, "table"), success);
  EXPECT_EQ(bytes, sizeof table);
  EXPECT_EQ(download(address, 4), (std::vector<int32_t>{1, 2, 3, 4}));
  EXPECT_EQ(api.moduleGetGlobal(&address, &bytes, loaded, "none"), notFound);
}

TEST_F(DriverTest, ImagesAreChecked) {
  ampc_sim_module other = module;
  other.version = 99;
  Module loadedToo;
  EXPECT_EQ(api.moduleLoadData(&loadedToo, &other), invalidImage);
  other = module;
  other.arch = 90;
  EXPECT_EQ(api.moduleLoadData(&loadedToo, &other), noBinaryForGpu);
  EXPECT_EQ(api.moduleGetFunction(&function, loaded, "none"), notFound);
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

TEST_F(DriverTest, GraphRunsItsNodes) {
  for (uint64_t seed : {0, 1, 2, 3}) {
    reset(seed);
    DevicePointer x = upload(std::vector<int32_t>(300, 0));
    DevicePointer y = upload(std::vector<int32_t>(300, 7));
    uint32_t n = 300;
    int32_t one = 1, ten = 10;
    Graph graph;
    GraphNode cleared, first, second, copied;
    EXPECT_EQ(api.graphCreate(&graph, 0), success);
    MemsetNodeParams fill{x, 0, 5, 4, 300, 1};
    EXPECT_EQ(
        api.graphAddMemsetNode(&cleared, graph, nullptr, 0, &fill, nullptr),
        success);
    KernelNodeParams params = node(&x, &n, &one);
    EXPECT_EQ(api.graphAddKernelNode(&first, graph, &cleared, 1, &params),
              success);
    params = node(&x, &n, &ten);
    EXPECT_EQ(api.graphAddKernelNode(&second, graph, &first, 1, &params),
              success);
    Memcpy3D copy{};
    copy.srcMemoryType = copy.dstMemoryType = deviceMemory;
    copy.srcDevice = x;
    copy.dstDevice = y;
    copy.WidthInBytes = 1200;
    copy.Height = copy.Depth = 1;
    EXPECT_EQ(
        api.graphAddMemcpyNode(&copied, graph, &second, 1, &copy, nullptr),
        success);
    size_t count = 0;
    EXPECT_EQ(api.graphGetNodes(graph, nullptr, &count), success);
    EXPECT_EQ(count, 4u);
    GraphExec exec;
    EXPECT_EQ(api.graphInstantiate(&exec, graph, 0), success);
    EXPECT_EQ(api.graphDestroy(graph), success);
    ten = 1000; // parameters were copied
    EXPECT_EQ(api.graphLaunch(exec, nullptr), success);
    EXPECT_EQ(api.graphLaunch(exec, nullptr), success);
    EXPECT_EQ(api.ctxSynchronize(), success)
        << sim::driverReport().text().c_str();
    EXPECT_EQ(download(y, 300), std::vector<int32_t>(300, 16));
    EXPECT_EQ(api.graphExecDestroy(exec), success);
  }
}

TEST_F(DriverTest, GraphWithoutAnEdgeRaces) {
  DevicePointer x = upload(std::vector<int32_t>(300, 0));
  uint32_t n = 300;
  int32_t one = 1;
  Graph graph;
  GraphNode first, second;
  GraphExec exec;
  EXPECT_EQ(api.graphCreate(&graph, 0), success);
  KernelNodeParams params = node(&x, &n, &one);
  EXPECT_EQ(api.graphAddKernelNode(&first, graph, nullptr, 0, &params),
            success);
  EXPECT_EQ(api.graphAddKernelNode(&second, graph, nullptr, 0, &params),
            success);
  EXPECT_EQ(api.graphInstantiate(&exec, graph, 0), success);
  EXPECT_EQ(api.graphLaunch(exec, nullptr), success);
  EXPECT_EQ(api.ctxSynchronize(), launchFailed);
  EXPECT_TRUE(sim::driverReport().has(sim::Fault::globalRace));
  EXPECT_EQ(api.graphExecDestroy(exec), success);
  EXPECT_EQ(api.graphDestroy(graph), success);
}

} // namespace
