//===- data_array.cpp - An array of a data set, in memory or in its file --===//
#include "runtime/training/data_array.h"

#include "runtime/io/npy.h"
#include "runtime/io/safetensors.h"
#include "runtime/io/zip.h"

namespace ampc::runtime {
namespace {

size_t sizeOf(uint32_t dtype) {
  return dtype == dtypeRaw16 ? 2 : ampc_dtype_size(dtype);
}

/// The length of an archive member's name without ".npy"; 0 if it is no array.
size_t arrayNameLength(const ZipMember &member) {
  size_t length = member.name.size();
  bool isArray =
      length > 4 && strcmp(member.name.c_str() + length - 4, ".npy") == 0;
  return isArray ? length - 4 : 0;
}

bool isNamed(const ZipMember &member, const char *name) {
  size_t length = arrayNameLength(member);
  return length && length == strlen(name) &&
         memcmp(member.name.c_str(), name, length) == 0;
}

/// A .npy at [offset, offset + bytes) of a file.
Status readHeaderAt(const FileReader &file, uint64_t offset, uint64_t bytes,
                    NpyHeader *outHeader, uint64_t *outDataOffset) {
  FileCursor cursor = {&file, offset};
  AMPC_TRY(readNpyHeader({&cursor, FileCursor::read, bytes}, outHeader,
                         outDataOffset));
  *outDataOffset += offset;
  return Status();
}

} // namespace

/// Finds the data where it lies in the file as it is needed. Nothing is found
/// if it is small, or must be unpacked, which readWhole does.
Status DataArray::locate(const char *path, const char *name,
                         uint64_t mostInMemory, bool *outFound) {
  TensorFormat format;
  AMPC_TRY(findFormat(path, &format));
  AMPC_TRY(file.open(path));
  NpyHeader header;
  uint64_t bytes = file.size();
  if (bytes <= mostInMemory || format == TensorFormat::OnnxTensor) {
    return Status();
  }
  if (format == TensorFormat::Safetensors) {
    SafetensorsHeader found;
    AMPC_TRY(readSafetensorsHeader(file, &found));
    for (SafetensorsEntry &entry : found.entries) {
      if (entry.name.equals(name) && entry.dtype &&
          entry.end - entry.begin > mostInMemory) {
        type = entry.dtype;
        shape = std::move(entry.dims);
        offset = entry.begin;
        *outFound = true;
      }
    }
    return Status();
  }
  uint64_t begin = 0;
  if (format == TensorFormat::Npz) {
    Vec<ZipMember> members;
    AMPC_TRY(readZipDirectory(file, &members));
    bytes = 0;
    for (const ZipMember &member : members) {
      if (isNamed(member, name) && member.method == zipStored &&
          member.compressedBytes == member.bytes) {
        begin = member.dataOffset;
        bytes = member.bytes;
      }
    }
  }
  if (bytes <= mostInMemory) {
    return Status();
  }
  AMPC_TRY(readHeaderAt(file, begin, bytes, &header, &offset));
  if (header.fortranOrder && header.dims.size() > 1) {
    return Status();
  }
  type = header.dtype;
  shape = std::move(header.dims);
  *outFound = true;
  return Status();
}

Status DataArray::readWhole(const char *path, const char *name) {
  TensorFormat format;
  AMPC_TRY(findFormat(path, &format));
  ReadOptions options;
  options.only = isContainer(format) ? name : nullptr;
  Vec<Tensor> found;
  AMPC_TRY(readTensors(path, options, &found));
  if (found.size() != 1) {
    Vec<Str> names;
    AMPC_TRY(listArrays(path, &names));
    Str list;
    for (size_t i = 0; i < names.size() && i < 16; ++i) {
      list.appendf("%s'%s'", i ? ", " : "", names[i].c_str());
    }
    return Status::error(AMPC_INVALID, "%s: expected an array '%s', got %s%s",
                         path, name, list.empty() ? "none" : list.c_str(),
                         names.size() > 16 ? ", ..." : "");
  }
  type = found[0].dtype;
  shape = std::move(found[0].dims);
  memory = std::move(found[0].data);
  return Status();
}

Status DataArray::open(const char *path, const char *name,
                       uint64_t mostInMemory) {
  AMPC_TRY(locate(path, name, mostInMemory, &inFile).withPrefix(path));
  return inFile ? Status() : readWhole(path, name);
}

Status DataArray::read(uint64_t first, uint64_t count,
                       const ElementConversion &conversion, void *to) const {
  size_t size = sizeOf(type);
  if (!inFile) {
    return conversion.apply(memory.data() + first * size, to, count);
  }
  if (conversion.isCopy() && conversion.to != AMPC_DTYPE_BOOL) {
    return file.read(offset + first * size, to, count * size);
  }
  // Through a piece of the stack, as this may run on several threads.
  uint8_t piece[1 << 14];
  uint64_t most = sizeof piece / size;
  auto *target = static_cast<uint8_t *>(to);
  while (count) {
    uint64_t taken = count < most ? count : most;
    AMPC_TRY(file.read(offset + first * size, piece, taken * size));
    AMPC_TRY(conversion.apply(piece, target, taken));
    target += taken * ampc_dtype_size(conversion.to);
    first += taken;
    count -= taken;
  }
  return Status();
}

Status listArrays(const char *path, Vec<Str> *outNames) {
  TensorFormat format;
  AMPC_TRY(findFormat(path, &format));
  if (!isContainer(format)) {
    return Status();
  }
  FileReader file;
  AMPC_TRY(file.open(path).withPrefix(path));
  if (format == TensorFormat::Safetensors) {
    SafetensorsHeader header;
    AMPC_TRY(readSafetensorsHeader(file, &header).withPrefix(path));
    for (SafetensorsEntry &entry : header.entries) {
      outNames->push(std::move(entry.name));
    }
    return Status();
  }
  Vec<ZipMember> members;
  AMPC_TRY(readZipDirectory(file, &members).withPrefix(path));
  for (const ZipMember &member : members) {
    if (size_t length = arrayNameLength(member)) {
      outNames->push(Str(member.name.c_str(), length));
    }
  }
  return Status();
}

} // namespace ampc::runtime
