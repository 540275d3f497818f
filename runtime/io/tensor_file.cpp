//===- tensor_file.cpp - Tensors in files, by extension -------------------===//
#include "ampc/numerics.h"
#include "runtime/io/file.h"
#include "runtime/io/tensor.h"

namespace ampc::runtime {
namespace {

struct FormatEntry {
  const char *extension;
  TensorFormat format;
  bool container;
  Status (*read)(const FileReader &, const ReadOptions &, Vec<Tensor> *);
};
constexpr FormatEntry formats[] = {
    {".npy", TensorFormat::Npy, false, readNpy},
    {".npz", TensorFormat::Npz, true, readNpz},
    {".pb", TensorFormat::OnnxTensor, false, readOnnxTensor},
    {".safetensors", TensorFormat::Safetensors, true, readSafetensors},
};

const FormatEntry *findEntry(const char *path) {
  size_t length = strlen(path);
  for (const FormatEntry &entry : formats) {
    size_t suffix = strlen(entry.extension);
    if (length > suffix &&
        strcmp(path + length - suffix, entry.extension) == 0) {
      return &entry;
    }
  }
  return nullptr;
}

Status unknownExtension(const char *path) {
  return Status::error(AMPC_USAGE,
                       "expected a file named .npy, .npz, .pb or "
                       ".safetensors, got '%s'",
                       path);
}

Status readWith(const FormatEntry &entry, const char *path,
                const ReadOptions &options, Vec<Tensor> *outTensors) {
  FileReader file;
  AMPC_TRY(file.open(path));
  return entry.read(file, options, outTensors);
}

Status writeWith(const FormatEntry &entry, const char *path,
                 const TensorView *tensors, size_t count) {
  if (!entry.container && count != 1) {
    return Status::error(AMPC_USAGE,
                         "expected one tensor for a %s file, got %zu",
                         entry.extension, count);
  }
  FileWriter file;
  AMPC_TRY(file.open(path));
  switch (entry.format) {
  case TensorFormat::Npy:
    AMPC_TRY(writeNpy(file, tensors[0]));
    break;
  case TensorFormat::Npz:
    AMPC_TRY(writeNpz(file, tensors, count));
    break;
  case TensorFormat::OnnxTensor:
    AMPC_TRY(writeOnnxTensor(file, tensors[0]));
    break;
  case TensorFormat::Safetensors:
    AMPC_TRY(writeSafetensors(file, tensors, count));
    break;
  }
  return file.commit();
}

/// Rounds f32 data to the 16-bit type.
Status narrow(uint32_t dtype, Tensor *tensor) {
  uint64_t elements = tensor->data.size() / sizeof(float);
  Bytes narrowed;
  AMPC_TRY(narrowed.allocate(elements * sizeof(uint16_t)));
  // Both blocks are aligned for any element type.
  auto *from = reinterpret_cast<const float *>(tensor->data.data());
  auto *to = reinterpret_cast<uint16_t *>(narrowed.data());
  (dtype == AMPC_DTYPE_F16 ? ampc_f32_to_f16_n : ampc_f32_to_bf16_n)(from, to,
                                                                     elements);
  tensor->data = std::move(narrowed);
  tensor->dtype = dtype;
  return Status();
}

/// A kernel may use a bool as an index or a mask, so only 0 and 1 may pass.
Status checkBools(const char *name, const Tensor &tensor) {
  for (uint64_t i = 0; i < tensor.data.size(); ++i) {
    if (tensor.data.data()[i] > 1) {
      return Status::error(AMPC_INVALID,
                           "input '%s': expected bools of 0 or 1, got %u at "
                           "element %llu",
                           name, tensor.data.data()[i],
                           static_cast<unsigned long long>(i));
    }
  }
  return Status();
}

} // namespace

TensorView view(const Tensor &tensor) {
  return {tensor.name.c_str(), tensor.dtype,       tensor.dims.data(),
          tensor.dims.size(),  tensor.data.data(), tensor.data.size()};
}

Status findFormat(const char *path, TensorFormat *outFormat) {
  const FormatEntry *entry = findEntry(path);
  if (!entry) {
    return unknownExtension(path);
  }
  *outFormat = entry->format;
  return Status();
}

bool isContainer(TensorFormat format) {
  return format == TensorFormat::Npz || format == TensorFormat::Safetensors;
}

Status readTensors(const char *path, const ReadOptions &options,
                   Vec<Tensor> *outTensors) {
  const FormatEntry *entry = findEntry(path);
  if (!entry) {
    return unknownExtension(path);
  }
  return readWith(*entry, path, options, outTensors).withPrefix(path);
}

Status writeTensors(const char *path, const TensorView *tensors, size_t count) {
  const FormatEntry *entry = findEntry(path);
  if (!entry) {
    return unknownExtension(path);
  }
  return writeWith(*entry, path, tensors, count).withPrefix(path);
}

Str takeDataItem(const char **at) {
  auto endsItem = [](const char *comma) {
    const char *next = strstr(comma, "=@");
    return next &&
           !memchr(comma + 1, ',', static_cast<size_t>(next - comma - 1));
  };
  const char *end = strchr(*at, ',');
  while (end && !endsItem(end)) {
    end = strchr(end + 1, ',');
  }
  Str item = end ? Str(*at, static_cast<size_t>(end - *at)) : Str(*at);
  *at = end ? end + 1 : *at + strlen(*at);
  return item;
}

Status convertType(const char *name, uint32_t dtype, Tensor *tensor,
                   Str *outNote) {
  if (dtype == AMPC_DTYPE_BF16 &&
      (tensor->dtype == dtypeRaw16 || tensor->dtype == AMPC_DTYPE_U16)) {
    tensor->dtype = AMPC_DTYPE_BF16;
  }
  if (tensor->dtype == AMPC_DTYPE_F32 &&
      (dtype == AMPC_DTYPE_F16 || dtype == AMPC_DTYPE_BF16)) {
    outNote->clear();
    outNote->appendf("input '%s': rounded from f32 to %s", name,
                     ampc_dtype_name(dtype));
    return narrow(dtype, tensor);
  }
  if (tensor->dtype != dtype) {
    return Status::error(AMPC_INVALID, "input '%s': expected %s, got %s", name,
                         ampc_dtype_name(dtype),
                         tensor->dtype == dtypeRaw16
                             ? "raw 16-bit values (V2)"
                             : ampc_dtype_name(tensor->dtype));
  }
  return dtype == AMPC_DTYPE_BOOL ? checkBools(name, *tensor) : Status();
}

Status convertToInput(const ampc_tensor_desc &desc, Tensor *tensor,
                      Str *outNote) {
  bool sameShape = tensor->dims.size() == desc.rank;
  for (uint32_t i = 0; sameShape && i < desc.rank; ++i) {
    sameShape = tensor->dims[i] == desc.dims[i];
  }
  if (!sameShape) {
    Str want = describe(desc);
    Str got = describe(tensor->dtype, tensor->dims.data(), tensor->dims.size());
    return Status::error(AMPC_INVALID, "input '%s': expected %s, got %s",
                         desc.name, want.c_str(), got.c_str());
  }
  return convertType(desc.name, desc.dtype, tensor, outNote);
}

} // namespace ampc::runtime
