//===- onnx_tensor.cpp - ONNX TensorProto files ---------------------------===//
//
// Reads the protobuf wire format directly, in two passes: the first checks all
// fields and counts elements, the second stores them. Field numbers are those
// of ONNX's TensorProto message.
//
//===----------------------------------------------------------------------===//
#include "runtime/core/dtype.h"
#include "runtime/io/file.h"
#include "runtime/io/tensor.h"

namespace ampc::runtime {
namespace {

enum Field : uint32_t {
  fieldDims = 1,
  fieldDataType = 2,
  fieldSegment = 3,
  fieldFloatData = 4,
  fieldInt32Data = 5,
  fieldStringData = 6,
  fieldInt64Data = 7,
  fieldName = 8,
  fieldRawData = 9,
  fieldDoubleData = 10,
  fieldUint64Data = 11,
  fieldExternalData = 13,
  fieldDataLocation = 14,
};

enum Wire : uint32_t { wireVarint = 0, wire64 = 1, wireBytes = 2, wire32 = 5 };

Status malformed(const char *what) {
  return Status::error(AMPC_INVALID, "malformed TensorProto: %s", what);
}

/// A range of the message.
struct Slice {
  const uint8_t *at = nullptr;
  const uint8_t *end = nullptr;
  uint64_t size() const { return static_cast<uint64_t>(end - at); }
};

bool takeVarint(Slice &from, uint64_t *out) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && from.at < from.end; shift += 7) {
    uint8_t byte = *from.at++;
    if (shift == 63 && byte > 1) {
      return false;
    }
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      *out = value;
      return true;
    }
  }
  return false;
}

bool takeBytes(Slice &from, uint64_t length, Slice *out) {
  if (length > from.size()) {
    return false;
  }
  *out = {from.at, from.at + length};
  from.at += length;
  return true;
}

/// One field of the message; `payload` is the whole value, packed or not.
struct WireField {
  uint32_t number;
  uint32_t wire;
  Slice payload;
};

Status takeField(Slice &message, WireField *out) {
  uint64_t tag, length = 0;
  if (!takeVarint(message, &tag) || tag >> 3 == 0 || tag >> 3 > 0x1fffffff) {
    return malformed("expected a field");
  }
  out->number = static_cast<uint32_t>(tag >> 3);
  out->wire = static_cast<uint32_t>(tag & 7);
  Slice before = message;
  bool good = false;
  switch (out->wire) {
  case wireVarint:
    good = takeVarint(message, &length);
    out->payload = {before.at, message.at};
    break;
  case wire64:
    good = takeBytes(message, 8, &out->payload);
    break;
  case wire32:
    good = takeBytes(message, 4, &out->payload);
    break;
  case wireBytes:
    good = takeVarint(message, &length) &&
           takeBytes(message, length, &out->payload);
    break;
  default:
    break;
  }
  return good ? Status() : malformed("a field is cut off or of unknown kind");
}

/// What the first pass finds.
struct Message {
  Vec<int64_t> dims;
  uint64_t dataType = 0;
  Str name;
  Slice raw;
  bool hasRaw = false;
  uint32_t typedField = 0; // the one *_data field in use, or 0
};

Status takeScalar(const WireField &field, uint64_t *out) {
  Slice payload = field.payload;
  return field.wire == wireVarint && takeVarint(payload, out)
             ? Status()
             : malformed("expected a number");
}

Status addDims(const WireField &field, Message *message) {
  if (field.wire != wireVarint && field.wire != wireBytes) {
    return malformed("expected dims to be numbers");
  }
  Slice payload = field.payload;
  while (payload.size()) {
    uint64_t dim;
    if (!takeVarint(payload, &dim) || message->dims.size() == maxRank) {
      return malformed("expected at most 64 dims");
    }
    message->dims.push(static_cast<int64_t>(dim));
  }
  return Status();
}

Status scanField(const WireField &field, Message *message) {
  uint64_t location;
  switch (field.number) {
  case fieldDims:
    return addDims(field, message);
  case fieldDataType:
    return takeScalar(field, &message->dataType);
  case fieldName:
    message->name = Str(reinterpret_cast<const char *>(field.payload.at),
                        field.payload.size());
    return field.wire == wireBytes ? Status() : malformed("expected a name");
  case fieldRawData:
    message->raw = field.payload;
    message->hasRaw = true;
    return field.wire == wireBytes ? Status()
                                   : malformed("expected raw_data to be bytes");
  case fieldFloatData:
  case fieldInt32Data:
  case fieldInt64Data:
  case fieldDoubleData:
  case fieldUint64Data:
    if (message->typedField && message->typedField != field.number) {
      return malformed("it holds data of two types");
    }
    message->typedField = field.number;
    return Status();
  case fieldStringData:
    return Status::error(AMPC_UNSUPPORTED, "unsupported tensor of strings");
  case fieldSegment:
    return Status::error(AMPC_UNSUPPORTED, "unsupported tensor in segments");
  case fieldDataLocation:
    AMPC_TRY(takeScalar(field, &location));
    if (location == 0) {
      return Status();
    }
    [[fallthrough]];
  case fieldExternalData:
    return Status::error(AMPC_UNSUPPORTED,
                         "unsupported data outside the TensorProto file");
  default:
    return Status(); // doc_string and fields of later versions
  }
}

/// The *_data field that holds elements of `dtype`.
uint32_t typedFieldOf(uint32_t dtype) {
  switch (dtype) {
  case AMPC_DTYPE_F32:
    return fieldFloatData;
  case AMPC_DTYPE_F64:
    return fieldDoubleData;
  case AMPC_DTYPE_I64:
    return fieldInt64Data;
  case AMPC_DTYPE_U32:
  case AMPC_DTYPE_U64:
    return fieldUint64Data;
  default:
    return fieldInt32Data;
  }
}

/// Stores one varint element, if it is in the type's range.
bool storeVarint(uint32_t dtype, uint64_t value, uint8_t *to) {
  int64_t number = static_cast<int64_t>(value);
  int64_t low = 0, high = 0;
  switch (dtype) {
  case AMPC_DTYPE_I64:
  case AMPC_DTYPE_U64:
    storeLE(to, value);
    return true;
  case AMPC_DTYPE_BOOL:
    high = 1;
    break;
  case AMPC_DTYPE_I8:
    low = INT8_MIN, high = INT8_MAX;
    break;
  case AMPC_DTYPE_U8:
    high = UINT8_MAX;
    break;
  case AMPC_DTYPE_I16:
    low = INT16_MIN, high = INT16_MAX;
    break;
  case AMPC_DTYPE_I32:
    low = INT32_MIN, high = INT32_MAX;
    break;
  case AMPC_DTYPE_U32:
    high = UINT32_MAX;
    break;
  default: // u16, and f16 and bf16 as bits
    high = UINT16_MAX;
    break;
  }
  if (number < low || number > high) {
    return false;
  }
  memcpy(to, &value, ampc_dtype_size(dtype));
  return true;
}

/// Stores the elements of one field behind the `*count` already there.
Status storeField(const WireField &field, uint32_t dtype, Bytes *data,
                  uint64_t *count) {
  size_t size = ampc_dtype_size(dtype);
  bool fixed = dtype == AMPC_DTYPE_F32 || dtype == AMPC_DTYPE_F64;
  uint32_t single = !fixed ? wireVarint : size == 4 ? wire32 : wire64;
  if (field.wire != wireBytes && field.wire != single) {
    return malformed("data of the wrong wire type");
  }
  Slice payload = field.payload;
  while (payload.size()) {
    uint8_t *to = data->data() + *count * size;
    uint64_t value;
    if (*count == data->size() / size) {
      return malformed("more elements than dims say");
    }
    if (fixed) {
      Slice element;
      if (!takeBytes(payload, size, &element)) {
        return malformed("an element is cut off");
      }
      memcpy(to, element.at, size);
    } else if (!takeVarint(payload, &value) || !storeVarint(dtype, value, to)) {
      return malformed("an element is cut off or out of its type's range");
    }
    ++*count;
  }
  return Status();
}

Status storeTyped(Slice message, uint32_t dtype, uint64_t elements,
                  Bytes *data) {
  uint64_t count = 0;
  while (message.size()) {
    WireField field;
    AMPC_TRY(takeField(message, &field));
    if (field.number == typedFieldOf(dtype)) {
      AMPC_TRY(storeField(field, dtype, data, &count));
    }
  }
  return count == elements ? Status()
                           : malformed("fewer elements than dims say");
}

} // namespace

Status readOnnxTensor(const FileReader &file, const ReadOptions &options,
                      Vec<Tensor> *outTensors) {
  constexpr uint64_t maxMessage = INT32_MAX; // of protobuf
  uint64_t most = options.maxBytes < maxMessage ? options.maxBytes : maxMessage;
  if (file.size() > most) {
    return Status::error(AMPC_LIMIT, "expected at most %llu bytes, got %llu",
                         static_cast<unsigned long long>(most),
                         static_cast<unsigned long long>(file.size()));
  }
  Bytes content;
  AMPC_TRY(content.allocate(file.size()));
  AMPC_TRY(file.read(0, content.data(), file.size()));
  Slice whole = {content.data(), content.data() + content.size()};

  Message message;
  for (Slice rest = whole; rest.size();) {
    WireField field;
    AMPC_TRY(takeField(rest, &field));
    AMPC_TRY(scanField(field, &message));
  }
  uint32_t dtype = message.dataType <= UINT32_MAX
                       ? static_cast<uint32_t>(message.dataType)
                       : 0;
  size_t size = ampc_dtype_size(dtype);
  if (size == 0) {
    return Status::error(message.dataType ? AMPC_UNSUPPORTED : AMPC_INVALID,
                         "expected a TensorProto of a known type, got "
                         "data_type %llu",
                         static_cast<unsigned long long>(message.dataType));
  }
  uint64_t elements, bytes;
  if (!shapeSize(message.dims.data(), message.dims.size(), size, &elements,
                 &bytes)) {
    return malformed("dims are negative or overflow");
  }
  if (message.hasRaw
          ? message.typedField != 0
          : message.typedField && message.typedField != typedFieldOf(dtype)) {
    return malformed("data that does not belong to its data_type");
  }
  // Each element takes at least a byte of the message.
  if (message.hasRaw ? message.raw.size() != bytes : elements > file.size()) {
    return malformed("dims and the amount of data do not agree");
  }
  Tensor tensor;
  AMPC_TRY(tensor.data.allocate(bytes));
  if (message.hasRaw) {
    if (bytes) {
      memcpy(tensor.data.data(), message.raw.at, bytes);
    }
  } else {
    AMPC_TRY(storeTyped(whole, dtype, elements, &tensor.data));
  }
  tensor.name = std::move(message.name);
  tensor.dtype = dtype;
  tensor.dims = std::move(message.dims);
  outTensors->push(std::move(tensor));
  return Status();
}

static void appendVarint(Str *out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) {
    out->appendChar(static_cast<char>(value | 0x80));
  }
  out->appendChar(static_cast<char>(value));
}

static void appendTag(Str *out, uint32_t field, uint32_t wire) {
  appendVarint(out, static_cast<uint64_t>(field) << 3 | wire);
}

Status writeOnnxTensor(FileWriter &file, const TensorView &tensor) {
  constexpr uint64_t most = INT32_MAX - (1 << 20); // room for the name
  if (tensor.bytes > most || strlen(tensor.name) > (1 << 19)) {
    return Status::error(AMPC_LIMIT, "a TensorProto holds at most 2 GiB; "
                                     "write .npy or .safetensors");
  }
  Str head;
  for (size_t i = 0; i < tensor.rank; ++i) {
    appendTag(&head, fieldDims, wireVarint);
    appendVarint(&head, static_cast<uint64_t>(tensor.dims[i]));
  }
  appendTag(&head, fieldDataType, wireVarint);
  appendVarint(&head, tensor.dtype);
  appendTag(&head, fieldName, wireBytes);
  appendVarint(&head, strlen(tensor.name));
  head.append(tensor.name);
  appendTag(&head, fieldRawData, wireBytes);
  appendVarint(&head, tensor.bytes);
  AMPC_TRY(file.write(head.c_str(), head.size()));
  return file.write(tensor.data, tensor.bytes);
}

} // namespace ampc::runtime
