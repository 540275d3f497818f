//===- KernelHarness.cpp - Kernels against the reference evaluator --------===//
#include "test/unit/Cuda/KernelHarness.h"

#include "compiler/Registration/Registration.h"
#include "compiler/Targets/CUDA/PtxWriter.h"
#include "compiler/Targets/CUDA/WgmmaTile.h"
#include "dialects/Amp/IR/AmpOps.h"
#include "dialects/Amp/Reference/Evaluator.h"
#include "mlir/Parser/Parser.h"
#include "test/unit/Simulate/TensorMaps.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;

namespace ampc::test {
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

namespace {

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
  } else if (element.isF32()) {
    auto values = randomF16(count, seed);
    for (size_t i = 0; i < count; ++i) {
      // Any value with bits that f16 lacks.
      float value = (values[i] % 4093) / 2046.5f - 1.0f;
      std::memcpy(bytes + i * 4, &value, 4);
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

} // namespace

OwningOpRef<ModuleOp> parseKernel(const std::string &text) {
  auto module = parseSourceString<ModuleOp>("amp.kernel private @k" + text,
                                            &getContext());
  EXPECT_TRUE(module) << text;
  return module;
}

void run(const Case &test, const char *name, unsigned arch) {
  OwningOpRef<ModuleOp> module = parseKernel(test.kernel);
  ASSERT_TRUE(module);
  auto kernel = *module->getOps<amp::KernelOp>().begin();
  if (!test.tile.empty()) {
    kernel->setAttr(cuda::tileAttrName,
                    DenseI64ArrayAttr::get(&getContext(), test.tile));
  }
  auto architecture = findCudaArchitecture(name);
  ASSERT_TRUE(static_cast<bool>(architecture));
  auto kernels = cuda::KernelModule::create(*module, **architecture, 3);
  ASSERT_TRUE(succeeded(kernels));
  auto program = Program::fromLlvm(toText(*kernels->module), arch);
  ASSERT_EQ(program->error(), "");
  EXPECT_EQ(program->assemble(), "");

  SmallVector<ref::Tensor> arguments;
  for (auto [i, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    arguments.push_back(
        randomTensor(mlir::cast<RankedTensorType>(type), 17 * i + 3));
  }
  ref::Evaluator evaluator;
  auto wanted = evaluator.evaluateFunction(kernel, arguments);
  ASSERT_TRUE(succeeded(wanted));

  const codegen::GpuImage::Launch &launch = kernels->launches.front();
  SmallVector<void *> buffers;
  Device device(*program);
  for (const ref::Tensor &argument : arguments) {
    llvm::ArrayRef<char> bytes = argument.getBytes();
    buffers.push_back(device.upload(
        std::vector<char>(bytes.begin(), bytes.end()), "argument"));
    device.param(buffers.back());
  }
  auto type = mlir::cast<RankedTensorType>(kernel.getResultTypes().front());
  size_t bytes = *ref::getByteSize(type);
  void *memory = device.allocate(bytes, "result");
  device.param(memory);
  buffers.push_back(memory);
  for (const ampc_gpu_tensor_map &map : launch.tensorMaps) {
    device.param(encode(map, buffers[map.param]));
  }
  device.options.seed = test.seed;
  device.launch(launch.symbol, {launch.grid[0], launch.grid[1], launch.grid[2]},
                {launch.block[0], launch.block[1], launch.block[2]},
                launch.sharedBytes);
  EXPECT_TRUE(device.report.clean()) << device.report.text().c_str();
  ref::Tensor got = *ref::Tensor::allocate(type);
  std::memcpy(got.mutableBytes(), memory, bytes);
  EXPECT_LE(relativeError(got, wanted->front()), test.tolerance);
}

} // namespace ampc::test
