//===- KernelHeader.cpp - How other programs launch a kernel --------------===//
#include "compiler/Driver/KernelHeader.h"

#include "compiler/Driver/ModelFacts.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ampc::driver {

static constexpr llvm::StringLiteral typesText = R"(
#ifndef AMPC_KERNELS_H
#define AMPC_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A parameter of a kernel: a device pointer to a dense row-major tensor,
 *  aligned to 16 bytes. Nothing is accessed beyond its bytes. */
typedef struct ampc_kernel_param {
  const char *type; /* f64 f32 f16 bf16 i64 ... ui8 i1 (a byte, 0 or 1) */
  uint32_t rank;
  const int64_t *shape;
  uint64_t bytes;
  int is_output;
} ampc_kernel_param;

/** A tensor map that the kernel takes behind its pointers, by value: what
 *  cuTensorMapEncodeTiled is given. The innermost dimension comes first. */
typedef struct ampc_kernel_tensor_map {
  uint32_t param; /* the parameter whose memory it describes */
  uint32_t dtype; /* ONNX number: 1 is f32, 10 f16, 16 bf16 */
  uint32_t rank;
  uint32_t swizzle;    /* bytes: 0, 32, 64 or 128 */
  uint64_t sizes[5];   /* elements */
  uint64_t strides[5]; /* bytes; [0] is the size of an element */
  uint32_t box[5];     /* elements */
} ampc_kernel_tensor_map;

/** Code of a kernel, and how it is launched. */
typedef struct ampc_kernel_code {
  const char *architecture; /* "sm_80" */
  const char *kind;         /* "cubin", "ptx" or "simulator" */
  const char *file;         /* beside the header; NULL: linked in */
  uint32_t grid[3], block[3];
  uint32_t shared_bytes; /* dynamic; above 48 KB the function has to be told */
  uint32_t num_tensor_maps;
  const ampc_kernel_tensor_map *tensor_maps;
  /* Not 0: a pointer to as many bytes of workspace is the last parameter. They
   * are zeros before the first launch, and each launch leaves what it needs. */
  uint64_t workspace_bytes;
} ampc_kernel_code;

typedef struct ampc_kernel {
  const char *symbol;
  uint32_t num_params;
  const ampc_kernel_param *params; /* inputs, then outputs */
  uint32_t num_codes;
  const ampc_kernel_code *codes;
} ampc_kernel;

/** The code that a device of compute capability `major`.`minor` runs best: an
 *  exact or compatible cubin, else PTX; NULL if there is none. */
static inline const ampc_kernel_code *
ampc_kernel_choose(const ampc_kernel *kernel, unsigned major, unsigned minor) {
  const ampc_kernel_code *best = NULL;
  int bestRank = 0;
  for (uint32_t i = 0; i < kernel->num_codes; ++i) {
    const ampc_kernel_code *code = &kernel->codes[i];
    unsigned number = 0;
    const char *at = code->architecture + 3;
    for (; *at >= '0' && *at <= '9'; ++at) {
      number = 10 * number + (unsigned)(*at - '0');
    }
    unsigned device = 10 * major + minor;
    int isPtx = code->kind[0] == 'p';
    int fits = *at == 'a' ? number == device
               : isPtx    ? number <= device
                          : number / 10 == major && number <= device;
    int rank = (isPtx ? 0 : 10000) + (int)number * 2 + (*at == 'a') + 1;
    if (fits && rank > bestRank) {
      best = code;
      bestRank = rank;
    }
  }
  return best;
}

#ifdef CUDA_VERSION /* <cuda.h> comes first */

/** Launches a kernel without tensor maps. `function` is the kernel's symbol in
 *  a module loaded from the code's file; `buffers` are its parameters, and
 *  behind them the workspace if the code has one. */
static inline CUresult ampc_kernel_launch(const ampc_kernel *kernel,
                                          const ampc_kernel_code *code,
                                          CUfunction function, CUstream stream,
                                          const CUdeviceptr *buffers) {
  void *arguments[64];
  uint32_t count = kernel->num_params + (code->workspace_bytes != 0);
  if (code->num_tensor_maps != 0 || count > 64) {
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  if (code->grid[0] == 0) {
    return CUDA_SUCCESS;
  }
  for (uint32_t i = 0; i < count; ++i) {
    arguments[i] = (void *)&buffers[i];
  }
  if (code->shared_bytes > 48u * 1024) {
    CUresult result = cuFuncSetAttribute(
        function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
        (int)code->shared_bytes);
    if (result != CUDA_SUCCESS) {
      return result;
    }
  }
  return cuLaunchKernel(function, code->grid[0], code->grid[1], code->grid[2],
                        code->block[0], code->block[1], code->block[2],
                        code->shared_bytes, stream, arguments, NULL);
}

#endif /* CUDA_VERSION */

#ifdef __cplusplus
}
#endif

#endif /* AMPC_KERNELS_H */
)";

void printKernelTypes(StringRef producer, raw_ostream &os) {
  os << "/* Written by " << producer << ". */" << typesText;
}

/// Prints `what[] = {...}` of a file-local array.
static void printArray(StringRef type, const Twine &name,
                       ArrayRef<std::string> rows, raw_ostream &os) {
  os << "static const " << type << " " << name << "[] = {\n";
  for (const std::string &row : rows) {
    os << "    " << row << ",\n";
  }
  os << "};\n";
}

static std::string braces(ArrayRef<uint64_t> numbers) {
  return "{" +
         llvm::join(llvm::map_range(
                        numbers, [](uint64_t n) { return std::to_string(n); }),
                    ", ") +
         "}";
}

static std::string braces(ArrayRef<uint32_t> numbers) {
  return braces(SmallVector<uint64_t>(numbers.begin(), numbers.end()));
}

/// The shapes and the parameters; returns how many there are.
static size_t printParams(amp::KernelOp kernel, StringRef name,
                          raw_ostream &os) {
  std::vector<std::string> rows;
  auto add = [&](Type type, bool isOutput) {
    auto tensor = cast<RankedTensorType>(type);
    std::string element;
    llvm::raw_string_ostream elementOs(element);
    elementOs << tensor.getElementType();
    std::string shape = "NULL";
    if (tensor.getRank() != 0) {
      shape = (name + "_shape" + Twine(rows.size())).str();
      os << "static const int64_t " << shape << "[] = {";
      llvm::interleaveComma(tensor.getShape(), os);
      os << "};\n";
    }
    rows.push_back("{\"" + element + "\", " + std::to_string(tensor.getRank()) +
                   ", " + shape + ", " + std::to_string(countBytes(type)) +
                   "u, " + (isOutput ? "1" : "0") + "}");
  };
  for (Type type : kernel.getArgumentTypes()) {
    add(type, false);
  }
  for (Type type : kernel.getResultTypes()) {
    add(type, true);
  }
  printArray("ampc_kernel_param", name + "_params", rows, os);
  return rows.size();
}

static std::string describe(const ampc_gpu_tensor_map &map) {
  return "{" + std::to_string(map.param) + ", " + std::to_string(map.dtype) +
         ", " + std::to_string(map.rank) + ", " + std::to_string(map.swizzle) +
         ", " + braces(ArrayRef(map.sizes)) + ", " +
         braces(ArrayRef(map.strides)) + ", " + braces(ArrayRef(map.box)) + "}";
}

static void printCodes(StringRef name, ArrayRef<KernelCode> code,
                       raw_ostream &os) {
  std::vector<std::string> rows;
  for (auto [i, entry] : llvm::enumerate(code)) {
    const auto &launch = entry.launch;
    std::string maps = "NULL";
    if (!launch.tensorMaps.empty()) {
      std::vector<std::string> mapRows;
      for (const ampc_gpu_tensor_map &map : launch.tensorMaps) {
        mapRows.push_back(describe(map));
      }
      maps = (name + "_maps" + Twine(i)).str();
      printArray("ampc_kernel_tensor_map", maps, mapRows, os);
    }
    rows.push_back(
        ("{\"" + entry.architecture->name + "\", \"" + entry.kind + "\", " +
         (entry.file.empty() ? "NULL" : "\"" + entry.file + "\"") + ",\n     " +
         braces(ArrayRef(launch.grid)) + ", " + braces(ArrayRef(launch.block)) +
         ", " + Twine(launch.sharedBytes) + "u, " +
         Twine(launch.tensorMaps.size()) + ", " + maps + ", " +
         Twine(launch.workspaceBytes) + "u}")
            .str());
  }
  printArray("ampc_kernel_code", name + "_codes", rows, os);
}

void printKernelHeader(amp::KernelOp kernel, ArrayRef<KernelCode> code,
                       raw_ostream &os) {
  StringRef symbol = code.front().launch.symbol;
  StringRef name = symbol;
  name.consume_front("k_");
  std::string guard = "AMPC_KERNEL_" + name.upper() + "_H";
  os << "/* Kernel " << name << ": see ampc_kernels.h. */\n#ifndef " << guard
     << "\n#define " << guard << "\n\n#include \"ampc_kernels.h\"\n\n";
  size_t params = printParams(kernel, name, os);
  printCodes(name, code, os);
  os << "static const ampc_kernel " << name << " = {\n    \"" << symbol
     << "\", " << params << ", " << name << "_params, " << code.size() << ", "
     << name << "_codes};\n\n";
  if (llvm::any_of(code, [](const KernelCode &entry) {
        return entry.kind == "simulator";
      })) {
    os << "/** The image for cuModuleLoadData of the simulator's driver. */\n"
          "extern const char "
       << name << "_sim_module[];\n\n";
  }
  os << "#endif\n";
}

} // namespace ampc::driver
