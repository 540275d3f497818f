//===- KernelRun.cpp - A generated kernel, run in the simulator -----------===//
#include "test/unit/Cuda/KernelRun.h"

#include "compiler/Registration/Registration.h"
#include "dialects/Amp/Reference/Arrays.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "test/unit/Simulate/TensorMaps.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;
using namespace ampc;
using namespace ampc::test;

namespace {

MLIRContext &getContext() {
  static MLIRContext *context = [] {
    DialectRegistry registry;
    registerDialects(registry);
    auto *made = new MLIRContext(registry, MLIRContext::Threading::DISABLED);
    made->loadDialect<amp::AmpDialect>();
    return made;
  }();
  return *context;
}

/// Numbers from -1 to 1, and small integers.
ref::Tensor randomTensor(RankedTensorType type, unsigned seed) {
  ref::Tensor tensor = *ref::Tensor::allocate(type);
  char *bytes = tensor.mutableBytes();
  size_t count = type.getNumElements();
  Type element = type.getElementType();
  if (element.isF16() || element.isBF16()) {
    auto values =
        element.isF16() ? randomF16(count, seed) : randomBf16(count, seed);
    std::memcpy(bytes, values.data(), count * 2);
  } else if (element.isF32() || element.isF64()) {
    auto values = randomF16(count, seed);
    for (size_t i = 0; i < count; ++i) {
      // Any value with bits that f16 lacks.
      double value = (values[i] % 4093) / 2046.5 - 1.0;
      float narrow = static_cast<float>(value);
      element.isF32() ? std::memcpy(bytes + i * 4, &narrow, 4)
                      : std::memcpy(bytes + i * 8, &value, 8);
    }
  } else if (element.isF64()) {
    auto values = randomF16(count, seed);
    for (size_t i = 0; i < count; ++i) {
      double value = (values[i] % 4093) / 2046.3 - 1.0;
      std::memcpy(bytes + i * 8, &value, 8);
    }
  } else {
    auto values = randomF16(count, seed);
    unsigned width = tensor.getByteWidth();
    std::memset(bytes, 0, count * width);
    for (size_t i = 0; i < count; ++i) {
      bytes[i * width] = static_cast<char>(values[i] & 1);
    }
  }
  return tensor;
}

std::string toText(const llvm::Module &module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os, nullptr);
  return text;
}

/// As the runtime has the driver do.
MapBytes encode(const ampc_gpu_tensor_map &map, void *buffer) {
  const uint32_t ones[] = {1, 1, 1, 1, 1};
  uint32_t type = map.dtype == AMPC_DTYPE_F16 ? 6 : 9;
  uint32_t swizzle = map.swizzle == 128 ? 3 : 0;
  sim::TensorMap encoded;
  auto status =
      sim::encodeTensorMap({type, map.rank, buffer, map.sizes, map.strides + 1,
                            map.box, ones, 0, swizzle, 0, 0},
                           &encoded);
  EXPECT_TRUE(status.ok()) << status.message();
  MapBytes bytes;
  std::memcpy(bytes.bytes, &encoded, sizeof encoded);
  return bytes;
}

/// ||got - wanted|| / ||wanted||; infinite where one is no number.
double relativeError(const ref::Tensor &got, const ref::Tensor &wanted) {
  double difference = 0, norm = 0;
  for (int64_t i = 0; i < wanted.size(); ++i) {
    double a = got.getDouble(i), b = wanted.getDouble(i);
    if (std::isnan(a) != std::isnan(b)) {
      return INFINITY;
    }
    if (std::isnan(a) || a == b) {
      continue;
    }
    difference += (a - b) * (a - b);
    norm += b * b;
  }
  return std::sqrt(difference / std::max(norm, 1e-30));
}

} // namespace

OwningOpRef<ModuleOp> ampc::test::parseKernel(const std::string &kernel) {
  return parseSourceString<ModuleOp>("amp.kernel private @k" + kernel,
                                     &getContext());
}

void ampc::test::overwrite(
    ref::Tensor &tensor, function_ref<std::optional<double>(int64_t)> choose) {
  ref::Tensor changed = *ref::Tensor::allocate(tensor.getType());
  std::vector<double> values(tensor.size());
  for (int64_t i = 0; i < tensor.size(); ++i) {
    values[i] = choose(i).value_or(tensor.getDouble(i));
  }
  ref::storeArray(tensor.getKind(), values, changed.mutableBytes());
  tensor = changed;
}

ShippedKernel::ShippedKernel(const std::string &kernel,
                             const char *architecture,
                             ArrayRef<ContractionRule> rules, Change change) {
  prepare(kernel, architecture, rules, change);
}

void ShippedKernel::prepare(const std::string &kernel, const char *architecture,
                            ArrayRef<ContractionRule> rules, Change change) {
  auto found = findCudaArchitecture(architecture);
  ASSERT_TRUE(static_cast<bool>(found));
  arch = (*found)->major * 10 + (*found)->minor;
  source = parseKernel(kernel);
  ASSERT_TRUE(source) << kernel;
  auto op = *source->getOps<amp::KernelOp>().begin();
  auto made = cuda::KernelModule::create(*source, **found, 3, rules);
  ASSERT_TRUE(succeeded(made));
  kernels = std::move(*made);
  for (auto [i, type] : llvm::enumerate(op.getArgumentTypes())) {
    arguments.push_back(
        randomTensor(mlir::cast<RankedTensorType>(type), 17 * i + 3));
  }
  if (change) {
    change(arguments);
  }
  ref::Evaluator evaluator;
  auto results = evaluator.evaluateFunction(op, arguments);
  ASSERT_TRUE(succeeded(results));
  wanted = results->front();
  ready = true;
}

std::string ShippedKernel::assemble() const {
  return test::assemble(code(), *kernels.machine);
}

ShippedKernel::Run ShippedKernel::run(const llvm::Module &module,
                                      uint64_t seed) const {
  Run result;
  result.program = Program::fromOptimized(toText(module), arch);
  if (!result.program->error().empty()) {
    return result;
  }
  result.device = std::make_unique<Device>(*result.program);
  Device &device = *result.device;
  device.options.seed = seed;
  device.options.traffic = true;
  SmallVector<void *> buffers;
  for (const ref::Tensor &argument : arguments) {
    llvm::ArrayRef<char> bytes = argument.getBytes();
    // An empty tensor has an address all the same.
    std::vector<char> data(bytes.begin(), bytes.end());
    data.resize(std::max<size_t>(data.size(), 1));
    buffers.push_back(device.upload(data, "argument"));
    device.param(buffers.back());
  }
  ref::Tensor got = *ref::Tensor::allocate(wanted.getType());
  size_t bytes = *ref::getByteSize(wanted.getType());
  void *memory = device.allocate(std::max<size_t>(bytes, 1), "result");
  buffers.push_back(memory);
  device.param(memory);
  const codegen::GpuImage::Launch &launch = kernels.launches.front();
  if (launch.workspaceBytes != 0) {
    device.param(device.upload(std::vector<char>(launch.workspaceBytes, 0),
                               "workspace"));
  }
  for (const ampc_gpu_tensor_map &map : launch.tensorMaps) {
    device.param(encode(map, buffers[map.param]));
  }
  if (launch.grid[0] != 0) {
    device.launch(launch.symbol,
                  {launch.grid[0], launch.grid[1], launch.grid[2]},
                  {launch.block[0], launch.block[1], launch.block[2]},
                  launch.sharedBytes);
  }
  std::memcpy(got.mutableBytes(), memory, bytes);
  result.error = relativeError(got, wanted);
  result.got = got;
  return result;
}
