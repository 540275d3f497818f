//===- KernelCompiler.cpp - The kernels of a program, each on its own -----===//
#include "compiler/Targets/CUDA/KernelCompiler.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Threading.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::cuda;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Entries of the cache
//===----------------------------------------------------------------------===//

// Each struct is taken apart, so that a new field cannot be forgotten here.

static json::Value toJson(const std::array<uint32_t, 3> &sizes) {
  return json::Array{sizes[0], sizes[1], sizes[2]};
}

static bool fromJson(const json::Object &from, StringRef key,
                     std::array<uint32_t, 3> &sizes) {
  const json::Array *array = from.getArray(key);
  for (size_t i = 0; array && i < sizes.size() && i < array->size(); ++i) {
    sizes[i] = (*array)[i].getAsUINT64().value_or(0);
  }
  return array && array->size() == sizes.size();
}

template <typename T>
static bool fromJson(const json::Object &from, StringRef key, T &number) {
  auto value = from.getInteger(key);
  number = static_cast<T>(value.value_or(0));
  return value.has_value();
}

static std::string serialize(const CompiledKernel &kernel) {
  const auto &[launch, items, ptx, assembly] = kernel;
  const auto &[symbol, grid, block, sharedBytes, tensorMaps, module,
               workspaceBytes] = launch;
  const auto &[itemCount, grain, scratchBytes, group, workspace] = items;
  const auto &[cubin, spillStores, spillLoads, log] = assembly;
  (void)log;
  (void)module;    // its place among those of a program
  (void)workspace; // the same as workspaceBytes
  StringRef maps(reinterpret_cast<const char *>(tensorMaps.data()),
                 tensorMaps.size() * sizeof(ampc_gpu_tensor_map));
  json::Object header{{"symbol", symbol},
                      {"grid", toJson(grid)},
                      {"block", toJson(block)},
                      {"shared", sharedBytes},
                      {"tensor_maps", llvm::toHex(maps)},
                      {"workspace", workspaceBytes},
                      {"items", itemCount},
                      {"grain", grain},
                      {"scratch", scratchBytes},
                      {"group", group},
                      {"spill_stores", spillStores},
                      {"spill_loads", spillLoads},
                      {"ptx", ptx.size()},
                      {"cubin", cubin.size()}};
  return llvm::formatv("{0}\n", json::Value(std::move(header))).str() + ptx +
         cubin;
}

static std::optional<CompiledKernel> deserialize(StringRef text) {
  auto [line, code] = text.split('\n');
  auto parsed = json::parse(line);
  if (!parsed) {
    llvm::consumeError(parsed.takeError());
    return std::nullopt;
  }
  const json::Object *header = parsed->getAsObject();
  CompiledKernel kernel;
  auto &[launch, items, ptx, assembly] = kernel;
  auto &[symbol, grid, block, sharedBytes, tensorMaps, module, workspaceBytes] =
      launch;
  auto &[itemCount, grain, scratchBytes, group, workspace] = items;
  auto &[cubin, spillStores, spillLoads, log] = assembly;
  (void)log;
  module = 0;
  size_t ptxBytes = 0, cubinBytes = 0;
  auto name = header ? header->getString("symbol") : std::nullopt;
  bool complete = name && fromJson(*header, "grid", grid) &&
                  fromJson(*header, "block", block) &&
                  fromJson(*header, "shared", sharedBytes) &&
                  fromJson(*header, "workspace", workspaceBytes) &&
                  fromJson(*header, "items", itemCount) &&
                  fromJson(*header, "grain", grain) &&
                  fromJson(*header, "scratch", scratchBytes) &&
                  fromJson(*header, "group", group) &&
                  fromJson(*header, "spill_stores", spillStores) &&
                  fromJson(*header, "spill_loads", spillLoads) &&
                  fromJson(*header, "ptx", ptxBytes) &&
                  fromJson(*header, "cubin", cubinBytes);
  std::string maps;
  auto hex = header ? header->getString("tensor_maps") : std::nullopt;
  complete = complete && hex && llvm::tryGetFromHex(*hex, maps) &&
             maps.size() % sizeof(ampc_gpu_tensor_map) == 0;
  if (!complete || ptxBytes > code.size() ||
      cubinBytes != code.size() - ptxBytes) {
    return std::nullopt;
  }
  tensorMaps.resize(maps.size() / sizeof(ampc_gpu_tensor_map));
  std::copy(maps.begin(), maps.end(),
            reinterpret_cast<char *>(tensorMaps.data()));
  workspace = static_cast<int64_t>(workspaceBytes);
  symbol = name->str();
  tensorMaps.resize(maps.size() / sizeof(ampc_gpu_tensor_map));
  std::copy(maps.begin(), maps.end(),
            reinterpret_cast<char *>(tensorMaps.data()));
  ptx = code.take_front(ptxBytes).str();
  cubin = code.drop_front(ptxBytes).str();
  return kernel;
}

/// All that the code of `kernel` follows from.
static std::string describe(amp::KernelOp kernel, const KernelVariant &variant,
                            const CodegenOptions &options) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << getBuildId() << '\n'
     << (variant.isAssembled ? getPtxasVersion() : "") << '\n'
     << variant.architecture->name << " -O" << options.optLevel << '\n';
  for (const ContractionRule &rule : options.contractionRules) {
    os << rule.architecture << ' ' << rule.type;
    for (const auto &size : {rule.batch, rule.m, rule.n, rule.k}) {
      os << ' ' << size.value_or(-1);
    }
    for (int64_t number :
         {rule.tile[0], rule.tile[1], rule.tile[2], rule.stages, rule.split}) {
      os << ' ' << number;
    }
    os << '\n';
  }
  OpPrintingFlags flags;
  flags.printGenericOpForm().enableDebugInfo(false).useLocalScope();
  kernel->print(os, flags);
  // What holds for the whole module, as whether f32 may be cut to TF32; but not
  // what tells whose kernel it is.
  for (NamedAttribute fact : kernel->getParentOp()->getAttrs()) {
    if (fact.getName() != "amp.graph_name" &&
        fact.getName() != "amp.metadata") {
      os << '\n' << fact.getName() << '=' << fact.getValue();
    }
  }
  // A resource is printed as its name.
  kernel->walk([&](Operation *op) {
    op->getAttrDictionary().walk([&](DenseResourceElementsAttr attr) {
      if (const AsmResourceBlob *blob = attr.getRawHandle().getBlob()) {
        ArrayRef<char> data = blob->getData();
        os << '\n' << data.size() << ':' << StringRef(data.data(), data.size());
      }
    });
  });
  return text;
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

ProgramVariants
cuda::chooseVariants(ArrayRef<const CudaArchitecture *> architectures) {
  // Code of sm_90a, as PTX too, runs on no other chip: what is plain there is
  // that of sm_80, unless something older is asked for.
  const CudaArchitecture *ptx = architectures.front();
  if (ptx->major >= 8) {
    ptx = llvm::cantFail(findCudaArchitecture("sm_80"));
  }
  ProgramVariants result;
  if (canAssemble()) {
    for (const CudaArchitecture *architecture : architectures) {
      result.variants.push_back({architecture, true});
    }
  }
  auto known = llvm::find_if(result.variants, [&](const auto &variant) {
    return variant.architecture == ptx;
  });
  result.ptx = known - result.variants.begin();
  if (known == result.variants.end()) {
    result.variants.push_back({ptx, false});
  }
  return result;
}

static FailureOr<CompiledKernel> compileKernel(amp::KernelOp kernel,
                                               const KernelVariant &variant,
                                               const CodegenOptions &options) {
  auto module =
      KernelModule::create(ArrayRef(kernel), *variant.architecture,
                           options.optLevel, options.contractionRules);
  if (failed(module)) {
    return failure();
  }
  CompiledKernel result;
  result.launch = module->launches.front();
  result.items = module->items.lookup(kernel.getName());
  result.ptx = module->writePtx();
  if (!variant.isAssembled) {
    return result;
  }
  std::string error;
  auto assembly = assemble(result.ptx, *variant.architecture, error);
  if (failed(assembly)) {
    return reportPtxas(kernel, *variant.architecture, error);
  }
  result.assembly = std::move(*assembly);
  return result;
}

static FailureOr<CompiledKernel> compileOrFind(amp::KernelOp kernel,
                                               const KernelVariant &variant,
                                               const CodegenOptions &options,
                                               KernelCache &cache) {
  if (!cache.isEnabled()) {
    return compileKernel(kernel, variant, options);
  }
  std::string name = KernelCache::hash(describe(kernel, variant, options));
  if (auto found = cache.find(name)) {
    if (auto known = deserialize(*found)) {
      return std::move(*known);
    }
  }
  auto compiled = compileKernel(kernel, variant, options);
  if (succeeded(compiled)) {
    cache.store(name, serialize(*compiled));
  }
  return compiled;
}

FailureOr<std::vector<CompiledKernels>>
cuda::compileKernels(ModuleOp module, ArrayRef<KernelVariant> variants,
                     const CodegenOptions &options) {
  KernelModule::loadDialects(module.getContext());
  // A context takes no further ones while threads work in it.
  [[maybe_unused]] size_t numDialects =
      module.getContext()->getLoadedDialects().size();
  SmallVector<amp::KernelOp> kernels(module.getOps<amp::KernelOp>());
  std::vector<CompiledKernels> results(variants.size());
  for (CompiledKernels &result : results) {
    result.resize(kernels.size());
  }
  KernelCache cache(options.cacheFolder, options.cacheLimit);
  std::atomic<bool> ok{true};
  // Each is tried, so that all problems are told.
  parallelFor(module.getContext(), 0, kernels.size(), [&](size_t k) {
    for (auto [variant, result] : llvm::zip_equal(variants, results)) {
      auto compiled = compileOrFind(kernels[k], variant, options, cache);
      if (failed(compiled)) {
        ok = false;
        return; // another variant's problem would be the same
      }
      result[k] = std::move(*compiled);
    }
  });
  assert(module.getContext()->getLoadedDialects().size() == numDialects &&
         "loadDialects misses one");
  if (!ok) {
    return failure();
  }
  if (options.cacheReport) {
    options.cacheReport(cache.getHits(), cache.getMisses(), cache.getProblem());
  }
  return results;
}
