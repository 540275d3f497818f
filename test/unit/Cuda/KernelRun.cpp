//===- KernelRun.cpp - A generated kernel, run in the simulator -----------===//
#include "test/unit/Cuda/KernelRun.h"

#include "compiler/Registration/Registration.h"
#include "dialects/Amp/Reference/Arrays.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
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

} // namespace

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
                             const char *architecture, Change change) {
  prepare(kernel, architecture, change);
}

void ShippedKernel::prepare(const std::string &kernel, const char *architecture,
                            Change change) {
  auto found = findCudaArchitecture(architecture);
  ASSERT_TRUE(static_cast<bool>(found));
  arch = (*found)->major * 10 + (*found)->minor;
  source = parseSourceString<ModuleOp>("amp.kernel private @k" + kernel,
                                       &getContext());
  ASSERT_TRUE(source) << kernel;
  auto made = cuda::KernelModule::create(*source, **found, 3);
  ASSERT_TRUE(succeeded(made));
  kernels = std::move(*made);
  auto op = *source->getOps<amp::KernelOp>().begin();
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
  for (const ref::Tensor &argument : arguments) {
    llvm::ArrayRef<char> bytes = argument.getBytes();
    device.param(device.upload(std::vector<char>(bytes.begin(), bytes.end()),
                               "argument"));
  }
  ref::Tensor got = *ref::Tensor::allocate(wanted.getType());
  size_t bytes = *ref::getByteSize(wanted.getType());
  void *memory = device.allocate(bytes, "result");
  device.param(memory);
  const codegen::GpuImage::Launch &launch = kernels.launches.front();
  device.launch(launch.symbol, {launch.grid[0], launch.grid[1], launch.grid[2]},
                {launch.block[0], launch.block[1], launch.block[2]},
                launch.sharedBytes);
  std::memcpy(got.mutableBytes(), memory, bytes);
  result.error = relativeError(got, wanted);
  result.got = got;
  return result;
}
