//===- npy.cpp - The .npy format ------------------------------------------===//
#include "runtime/io/npy.h"

#include "runtime/core/dtype.h"
#include "runtime/io/file.h"

namespace ampc::runtime {
namespace {

/// numpy itself refuses headers beyond 10000 bytes unless told otherwise.
constexpr uint32_t maxHeader = 1u << 16;

size_t sizeOf(uint32_t dtype) {
  return dtype == dtypeRaw16 ? 2 : ampc_dtype_size(dtype);
}

/// Reads up to the data; `*outLength` is what the prelude and header take.
Status readHeader(const ByteSource &source, NpyHeader *outHeader,
                  uint64_t *outLength) {
  uint8_t prelude[12];
  if (source.size < 10) {
    return Status::error(AMPC_INVALID, "expected a .npy file, got %llu bytes",
                         static_cast<unsigned long long>(source.size));
  }
  AMPC_TRY(source.read(source.context, prelude, 10));
  if (memcmp(prelude, "\x93NUMPY", 6) != 0) {
    return Status::error(AMPC_INVALID,
                         "expected a .npy file, which begins with \\x93NUMPY");
  }
  int version = prelude[6];
  if (version < 1 || version > 3 || prelude[7] != 0) {
    return Status::error(AMPC_UNSUPPORTED,
                         "expected .npy version 1.0, 2.0 or 3.0, got %d.%d",
                         version, prelude[7]);
  }
  uint32_t length = loadLE<uint16_t>(prelude + 8);
  uint64_t begin = 10;
  if (version >= 2) {
    begin = 12;
    if (source.size < begin) {
      return Status::error(AMPC_INVALID, "the .npy header is cut off");
    }
    AMPC_TRY(source.read(source.context, prelude + 10, 2));
    length = loadLE<uint32_t>(prelude + 8);
  }
  if (length > maxHeader) {
    return Status::error(AMPC_LIMIT,
                         "expected a .npy header of at most %u bytes, got %u",
                         maxHeader, length);
  }
  if (length > source.size - begin) {
    return Status::error(AMPC_INVALID, "the .npy header is cut off");
  }
  Vec<char> text;
  text.resize(length);
  AMPC_TRY(source.read(source.context, text.data(), length));
  *outLength = begin + length;
  return parseNpyHeader(text.data(), length, outHeader);
}

/// Reverses the order of all dimensions: `from` is column-major.
void toRowMajor(const uint8_t *from, uint8_t *to, size_t size,
                const Vec<int64_t> &dims) {
  uint64_t strides[maxRank];
  int64_t index[maxRank] = {};
  uint64_t elements = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    strides[i] = elements;
    elements *= static_cast<uint64_t>(dims[i]);
  }
  uint64_t source = 0;
  for (uint64_t n = 0; n < elements; ++n) {
    memcpy(to + n * size, from + source * size, size);
    for (size_t i = dims.size(); i-- > 0;) {
      source += strides[i];
      if (++index[i] < dims[i]) {
        break;
      }
      source -= strides[i] * static_cast<uint64_t>(dims[i]);
      index[i] = 0;
    }
  }
}

} // namespace

Status FileCursor::read(void *context, void *to, uint64_t length) {
  auto &cursor = *static_cast<FileCursor *>(context);
  AMPC_TRY(cursor.file->read(cursor.offset, to, length));
  cursor.offset += length;
  return Status();
}

Status readNpyHeader(const ByteSource &source, NpyHeader *outHeader,
                     uint64_t *outOffset) {
  AMPC_TRY(readHeader(source, outHeader, outOffset));
  uint64_t elements = 0, bytes = 0;
  if (!shapeSize(outHeader->dims.data(), outHeader->dims.size(),
                 sizeOf(outHeader->dtype), &elements, &bytes)) {
    return Status::error(AMPC_INVALID,
                         "the shape in the .npy header overflows");
  }
  if (bytes != source.size - *outOffset) {
    return Status::error(
        AMPC_INVALID, "expected %llu bytes of data, got %llu",
        static_cast<unsigned long long>(bytes),
        static_cast<unsigned long long>(source.size - *outOffset));
  }
  return Status();
}

Status readNpyStream(const ByteSource &source, const ReadOptions &options,
                     Tensor *outTensor) {
  NpyHeader header;
  uint64_t dataOffset = 0;
  AMPC_TRY(readNpyHeader(source, &header, &dataOffset));
  size_t size = sizeOf(header.dtype);
  uint64_t bytes = source.size - dataOffset;
  if (bytes > options.maxBytes) {
    return Status::error(AMPC_LIMIT, "expected at most %llu bytes, got %llu",
                         static_cast<unsigned long long>(options.maxBytes),
                         static_cast<unsigned long long>(bytes));
  }
  Bytes data;
  AMPC_TRY(data.allocate(bytes));
  AMPC_TRY(source.read(source.context, data.data(), bytes));
  if (header.fortranOrder && header.dims.size() > 1 && bytes > size) {
    Bytes rowMajor;
    AMPC_TRY(rowMajor.allocate(bytes));
    toRowMajor(data.data(), rowMajor.data(), size, header.dims);
    data = std::move(rowMajor);
  }
  outTensor->dtype = header.dtype;
  outTensor->dims = std::move(header.dims);
  outTensor->data = std::move(data);
  return Status();
}

Status readNpy(const FileReader &file, const ReadOptions &options,
               Vec<Tensor> *outTensors) {
  FileCursor cursor = {&file, 0};
  Tensor tensor;
  AMPC_TRY(readNpyStream({&cursor, FileCursor::read, file.size()}, options,
                         &tensor));
  outTensors->push(std::move(tensor));
  return Status();
}

Status writeNpy(FileWriter &file, const TensorView &tensor) {
  Str header;
  AMPC_TRY(makeNpyHeader(tensor, &header));
  AMPC_TRY(file.write(header.c_str(), header.size()));
  return file.write(tensor.data, tensor.bytes);
}

} // namespace ampc::runtime
