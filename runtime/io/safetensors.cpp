//===- safetensors.cpp - The .safetensors format --------------------------===//
//
// Eight bytes of header length, a JSON header, then the data. The rules of the
// format are enforced: the tensors cover the data without holes or overlap, and
// no name occurs twice.
//
//===----------------------------------------------------------------------===//
#include "runtime/io/safetensors.h"

#include "runtime/core/dtype.h"
#include "runtime/io/json.h"

#include <algorithm>

namespace ampc::runtime {
namespace {

constexpr uint64_t maxHeader = 100'000'000;
constexpr size_t maxTexts = 1024; // they are compared with each other

struct SafeType {
  const char *name;
  uint32_t dtype;
};
constexpr SafeType safeTypes[] = {
    {"F32", AMPC_DTYPE_F32},   {"F16", AMPC_DTYPE_F16},
    {"BF16", AMPC_DTYPE_BF16}, {"F64", AMPC_DTYPE_F64},
    {"I64", AMPC_DTYPE_I64},   {"I32", AMPC_DTYPE_I32},
    {"I16", AMPC_DTYPE_I16},   {"I8", AMPC_DTYPE_I8},
    {"U8", AMPC_DTYPE_U8},     {"U16", AMPC_DTYPE_U16},
    {"U32", AMPC_DTYPE_U32},   {"U64", AMPC_DTYPE_U64},
    {"BOOL", AMPC_DTYPE_BOOL},
};

using Entry = SafetensorsEntry;

Status invalid(const Entry &entry, const char *what) {
  return Status::error(AMPC_INVALID, "tensor '%s': %s", entry.name.c_str(),
                       what);
}

Status readShape(JsonReader &json, Entry *entry) {
  return json.array([&] {
    uint64_t dim;
    AMPC_TRY(json.natural(&dim));
    if (entry->dims.size() == maxRank) {
      return invalid(*entry, "expected at most 64 dimensions");
    }
    entry->dims.push(static_cast<int64_t>(dim));
    return Status();
  });
}

Status readOffsets(JsonReader &json, Entry *entry) {
  int count = 0;
  AMPC_TRY(json.array([&] {
    uint64_t ignored;
    ++count;
    return json.natural(count == 1   ? &entry->begin
                        : count == 2 ? &entry->end
                                     : &ignored);
  }));
  return count == 2 ? Status() : invalid(*entry, "expected two data_offsets");
}

Status readEntry(JsonReader &json, Entry *entry) {
  unsigned seen = 0; // one bit a key
  AMPC_TRY(json.object([&](const Str &key) {
    unsigned bit = key.equals("dtype")          ? 1
                   : key.equals("shape")        ? 2
                   : key.equals("data_offsets") ? 4
                                                : 0;
    if (!bit || (seen & bit)) {
      return invalid(*entry,
                     "expected dtype, shape and data_offsets, once each");
    }
    seen |= bit;
    return bit == 1   ? json.string(&entry->type)
           : bit == 2 ? readShape(json, entry)
                      : readOffsets(json, entry);
  }));
  if (seen != 7) {
    return invalid(*entry, "expected dtype, shape and data_offsets, once each");
  }
  for (const SafeType &type : safeTypes) {
    if (entry->type.equals(type.name)) {
      entry->dtype = type.dtype;
    }
  }
  return Status();
}

Status checkSize(const Entry &entry) {
  uint64_t elements, bytes;
  if (entry.end < entry.begin) {
    return invalid(entry, "expected data_offsets that do not decrease");
  }
  if (entry.dtype &&
      (!shapeSize(entry.dims.data(), entry.dims.size(),
                  ampc_dtype_size(entry.dtype), &elements, &bytes) ||
       bytes != entry.end - entry.begin)) {
    return invalid(entry, "shape and data_offsets do not agree");
  }
  return Status();
}

/// Sorts by offset and holds the entries to the format's rules.
Status checkLayout(Vec<Entry> &entries, uint64_t dataBytes) {
  std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
    return strcmp(a.name.c_str(), b.name.c_str()) < 0;
  });
  for (size_t i = 0; i < entries.size(); ++i) {
    if (strlen(entries[i].name.c_str()) != entries[i].name.size()) {
      return invalid(entries[i], "the name holds a NUL");
    }
    if (i && entries[i].name.equals(entries[i - 1].name.c_str())) {
      return invalid(entries[i], "the name occurs twice");
    }
  }
  std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  uint64_t covered = 0;
  for (const Entry &entry : entries) {
    AMPC_TRY(checkSize(entry));
    if (entry.begin != covered) {
      return invalid(entry, entry.begin < covered
                                ? "its data overlaps another tensor's"
                                : "there is a hole before its data");
    }
    covered = entry.end;
  }
  if (covered != dataBytes) {
    return Status::error(AMPC_INVALID, "expected %llu bytes of data, got %llu",
                         static_cast<unsigned long long>(covered),
                         static_cast<unsigned long long>(dataBytes));
  }
  return Status();
}

Status parseMetadata(JsonReader &json, Vec<SafetensorsText> *out) {
  return json.object([&](const Str &key) {
    for (const SafetensorsText &text : *out) {
      if (text.key.equals(key.c_str())) {
        return Status::error(AMPC_INVALID, "__metadata__: '%s' occurs twice",
                             key.c_str());
      }
    }
    if (out->size() == maxTexts) {
      return Status::error(AMPC_LIMIT,
                           "expected at most %zu entries of "
                           "__metadata__",
                           maxTexts);
    }
    SafetensorsText text;
    text.key = key.copy();
    AMPC_TRY(json.string(&text.value));
    out->push(std::move(text));
    return Status();
  });
}

Status parseHeader(const char *text, size_t length, SafetensorsHeader *out) {
  JsonReader json(text, length);
  bool metadata = false;
  AMPC_TRY(json.object([&](const Str &key) {
    if (key.equals("__metadata__")) {
      if (std::exchange(metadata, true)) {
        return Status::error(AMPC_INVALID, "__metadata__ occurs twice");
      }
      return parseMetadata(json, &out->metadata);
    }
    Entry entry;
    entry.name = key.copy();
    entry.order = out->entries.size();
    AMPC_TRY(readEntry(json, &entry));
    out->entries.push(std::move(entry));
    return Status();
  }));
  return json.finish();
}

} // namespace

Status readSafetensorsHeader(const FileReader &file,
                             SafetensorsHeader *outHeader) {
  uint64_t headerBytes;
  if (file.size() < sizeof headerBytes) {
    return Status::error(AMPC_INVALID,
                         "expected a .safetensors file, got %llu "
                         "bytes",
                         static_cast<unsigned long long>(file.size()));
  }
  AMPC_TRY(file.read(0, &headerBytes, sizeof headerBytes));
  if (headerBytes > maxHeader) {
    return Status::error(AMPC_LIMIT,
                         "expected a header of at most %llu bytes, got %llu",
                         static_cast<unsigned long long>(maxHeader),
                         static_cast<unsigned long long>(headerBytes));
  }
  uint64_t dataOffset = sizeof headerBytes + headerBytes;
  if (dataOffset > file.size()) {
    return Status::error(AMPC_INVALID, "the header is cut off");
  }
  Bytes header;
  AMPC_TRY(header.allocate(headerBytes));
  AMPC_TRY(file.read(sizeof headerBytes, header.data(), headerBytes));
  AMPC_TRY(parseHeader(reinterpret_cast<const char *>(header.data()),
                       headerBytes, outHeader));
  Vec<Entry> &entries = outHeader->entries;
  AMPC_TRY(checkLayout(entries, file.size() - dataOffset));
  std::sort(entries.begin(), entries.end(),
            [](const Entry &a, const Entry &b) { return a.order < b.order; });
  for (Entry &entry : entries) {
    entry.begin += dataOffset;
    entry.end += dataOffset;
  }
  outHeader->dataOffset = dataOffset;
  return Status();
}

Status readSafetensors(const FileReader &file, const ReadOptions &options,
                       Vec<Tensor> *outTensors) {
  SafetensorsHeader header;
  AMPC_TRY(readSafetensorsHeader(file, &header));
  uint64_t total = 0;
  for (Entry &entry : header.entries) {
    if (options.only && !entry.name.equals(options.only)) {
      continue;
    }
    if (!entry.dtype) {
      return Status::error(AMPC_UNSUPPORTED,
                           "tensor '%s': unsupported element type '%s'",
                           entry.name.c_str(), entry.type.c_str());
    }
    // Without overlap the sum is at most the file's size.
    total += entry.end - entry.begin;
    if (total > options.maxBytes) {
      return Status::error(AMPC_LIMIT, "expected at most %llu bytes of tensors",
                           static_cast<unsigned long long>(options.maxBytes));
    }
    Tensor tensor;
    AMPC_TRY(tensor.data.allocate(entry.end - entry.begin));
    AMPC_TRY(file.read(entry.begin, tensor.data.data(), tensor.data.size()));
    tensor.name = std::move(entry.name);
    tensor.dtype = entry.dtype;
    tensor.dims = std::move(entry.dims);
    outTensors->push(std::move(tensor));
  }
  return Status();
}

static const char *safeTypeName(uint32_t dtype) {
  for (const SafeType &type : safeTypes) {
    if (type.dtype == dtype) {
      return type.name;
    }
  }
  return nullptr;
}

Status makeSafetensorsHeader(const TensorView *tensors, size_t count,
                             const Vec<SafetensorsText> &metadata,
                             Str *outHeader) {
  Str header("{");
  for (size_t i = 0; i < metadata.size(); ++i) {
    header.append(i ? "," : "\"__metadata__\":{");
    appendJsonString(&header, metadata[i].key.c_str());
    header.appendChar(':');
    appendJsonString(&header, metadata[i].value.c_str(),
                     metadata[i].value.size());
  }
  if (!metadata.empty()) {
    header.append(count ? "}," : "}");
  }
  uint64_t offset = 0;
  for (size_t i = 0; i < count; ++i) {
    const TensorView &tensor = tensors[i];
    const char *type = safeTypeName(tensor.dtype);
    if (!type || strcmp(tensor.name, "__metadata__") == 0) {
      return Status::error(AMPC_UNSUPPORTED,
                           "cannot write tensor '%s' as .safetensors",
                           tensor.name);
    }
    header.append(i ? "," : "");
    appendJsonString(&header, tensor.name);
    header.appendf(":{\"dtype\":\"%s\",\"shape\":[", type);
    for (size_t d = 0; d < tensor.rank; ++d) {
      header.appendf("%s%lld", d ? "," : "",
                     static_cast<long long>(tensor.dims[d]));
    }
    header.appendf("],\"data_offsets\":[%llu,%llu]}",
                   static_cast<unsigned long long>(offset),
                   static_cast<unsigned long long>(offset + tensor.bytes));
    offset += tensor.bytes;
  }
  header.append("}");
  while (header.size() % 8 != 0) {
    header.appendChar(' ');
  }
  uint64_t length = header.size();
  if (length > maxHeader) {
    return Status::error(AMPC_LIMIT, "the .safetensors header is too long");
  }
  outHeader->clear();
  outHeader->append(reinterpret_cast<const char *>(&length), sizeof length);
  outHeader->append(header.c_str(), length);
  return Status();
}

Status writeSafetensors(FileWriter &file, const TensorView *tensors,
                        size_t count) {
  Str header;
  AMPC_TRY(makeSafetensorsHeader(tensors, count, {}, &header));
  AMPC_TRY(file.write(header.c_str(), header.size()));
  for (size_t i = 0; i < count; ++i) {
    AMPC_TRY(file.write(tensors[i].data, tensors[i].bytes));
  }
  return Status();
}

} // namespace ampc::runtime
