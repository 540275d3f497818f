//===- WireScanner.cpp - First look at the bytes of a model ---------------===//
#include "compiler/Import/WireScanner.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace llvm;

namespace ampc::importer {

bool ScannedModel::Next(const void **data, int *size) {
  while (nextSegment < segments.size() &&
         offsetInSegment == segments[nextSegment].size()) {
    ++nextSegment;
    offsetInSegment = 0;
  }
  if (nextSegment == segments.size()) {
    return false;
  }
  // Whole segments may exceed an int only in theory: the file is below 2 GiB.
  ArrayRef<uint8_t> rest = segments[nextSegment].drop_front(offsetInSegment);
  *data = rest.data();
  *size = static_cast<int>(rest.size());
  offsetInSegment = segments[nextSegment].size();
  consumed += *size;
  return true;
}

void ScannedModel::BackUp(int count) {
  // Allowed only directly after Next, so it stays inside one segment.
  offsetInSegment -= static_cast<size_t>(count);
  consumed -= count;
}

bool ScannedModel::Skip(int count) {
  const void *data;
  int size;
  while (count > 0) {
    if (!Next(&data, &size)) {
      return false;
    }
    if (size > count) {
      BackUp(size - count);
      return true;
    }
    count -= size;
  }
  return true;
}

namespace {

enum class Kind : uint8_t {
  Leaf, // strings, packed numbers, messages without nested ones
  Model,
  Graph,
  Node,
  Attribute,
  Tensor,
  Sparse,
  Training,
  Function,
  ValueInfo,
  Type,
  TensorType,
  WrappedType, // sequence, optional
  Shape,
};

/// "field `field` of a `parent` holds a `child`"
struct Edge {
  Kind parent;
  uint32_t field;
  Kind child;
};

constexpr Edge edges[] = {
    {Kind::Model, 7, Kind::Graph},       {Kind::Model, 20, Kind::Training},
    {Kind::Model, 25, Kind::Function},   {Kind::Graph, 1, Kind::Node},
    {Kind::Graph, 5, Kind::Tensor},      {Kind::Graph, 11, Kind::ValueInfo},
    {Kind::Graph, 12, Kind::ValueInfo},  {Kind::Graph, 13, Kind::ValueInfo},
    {Kind::Graph, 15, Kind::Sparse},     {Kind::Node, 5, Kind::Attribute},
    {Kind::Attribute, 5, Kind::Tensor},  {Kind::Attribute, 6, Kind::Graph},
    {Kind::Attribute, 10, Kind::Tensor}, {Kind::Attribute, 11, Kind::Graph},
    {Kind::Attribute, 14, Kind::Type},   {Kind::Attribute, 15, Kind::Type},
    {Kind::Attribute, 22, Kind::Sparse}, {Kind::Attribute, 23, Kind::Sparse},
    {Kind::Sparse, 1, Kind::Tensor},     {Kind::Sparse, 2, Kind::Tensor},
    {Kind::Training, 1, Kind::Graph},    {Kind::Training, 2, Kind::Graph},
    {Kind::Function, 7, Kind::Node},     {Kind::Function, 11, Kind::Attribute},
    {Kind::ValueInfo, 2, Kind::Type},    {Kind::Type, 1, Kind::TensorType},
    {Kind::Type, 4, Kind::WrappedType},  {Kind::Type, 9, Kind::WrappedType},
    {Kind::WrappedType, 1, Kind::Type},  {Kind::TensorType, 2, Kind::Shape},
};

constexpr uint32_t rawDataField = 9;
constexpr uint32_t rawSliceField = 100000;

enum WireType : uint32_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

} // namespace

static Kind childKind(Kind parent, uint32_t field) {
  const Edge *edge = llvm::find_if(edges, [&](const Edge &edge) {
    return edge.parent == parent && edge.field == field;
  });
  return edge == std::end(edges) ? Kind::Leaf : edge->child;
}

static void appendVarint(std::vector<uint8_t> &out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) {
    out.push_back(static_cast<uint8_t>(value) | 0x80);
  }
  out.push_back(static_cast<uint8_t>(value));
}

/// Recursion is bounded by WireLimits::maxDepth.
class WireScanner {
public:
  WireScanner(ArrayRef<uint8_t> bytes, const WireLimits &limits,
              ScannedModel &result, ImportDiagnostics &diags)
      : bytes(bytes), limits(limits), result(result), diags(diags) {}

  LogicalResult run() {
    if (failed(scanMessage(bytes.size(), Kind::Model, 0))) {
      return failure();
    }
    flush(bytes.size());
    return success();
  }

private:
  LogicalResult malformed(const Twine &what) {
    return diags.invalid("", "not an ONNX model: " + what + " at byte " +
                                 Twine(position));
  }

  LogicalResult readVarint(uint64_t end, uint64_t &value) {
    value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      if (position == end) {
        return malformed("truncated number");
      }
      uint8_t byte = bytes[position++];
      value |= shift < 64 ? static_cast<uint64_t>(byte & 0x7f) << shift : 0;
      if (!(byte & 0x80)) {
        return success();
      }
    }
    return malformed("number of more than 10 bytes");
  }

  /// Moves the bytes not yet in the stream, up to `until`, into it.
  void flush(uint64_t until) {
    if (until > flushed) {
      result.segments.push_back(bytes.slice(flushed, until - flushed));
      emitted += until - flushed;
    }
    flushed = until;
  }

  /// Opens a slot for bytes that replace those of the file.
  std::vector<uint8_t> &addHeader() {
    result.headers.emplace_back();
    return result.headers.back();
  }

  LogicalResult scanMessage(uint64_t end, Kind kind, uint32_t depth);
  LogicalResult scanBytes(uint64_t tagBegin, uint64_t end, uint32_t field,
                          Kind kind, uint32_t depth);
  LogicalResult scanChild(uint64_t tagBegin, uint64_t end, uint32_t field,
                          Kind child, uint32_t depth);
  void replaceRawData(uint64_t tagBegin, uint64_t begin, uint64_t end);

  ArrayRef<uint8_t> bytes;
  const WireLimits &limits;
  ScannedModel &result;
  ImportDiagnostics &diags;
  uint64_t position = 0;
  uint64_t flushed = 0; // file bytes before this are in the stream or dropped
  uint64_t emitted = 0; // bytes in the stream
  uint64_t numFields = 0;
};

LogicalResult WireScanner::scanMessage(uint64_t end, Kind kind,
                                       uint32_t depth) {
  bool hasRawData = false;
  while (position < end) {
    uint64_t tagBegin = position, tag = 0;
    if (failed(readVarint(end, tag))) {
      return failure();
    }
    uint64_t field = tag >> 3;
    if (field == 0 || field > (1u << 29) - 1) {
      return malformed("field number " + Twine(field));
    }
    if (kind == Kind::Tensor && field == rawSliceField) {
      return malformed("reserved field");
    }
    if (kind == Kind::Tensor && field == rawDataField) {
      if (hasRawData) {
        return malformed("second raw_data in one tensor");
      }
      hasRawData = true;
    }
    uint64_t number = 0;
    switch (tag & 7) {
    case Varint:
      if (failed(readVarint(end, number))) {
        return failure();
      }
      break;
    case Fixed64:
    case Fixed32: {
      uint64_t width = (tag & 7) == Fixed64 ? 8 : 4;
      if (end - position < width) {
        return malformed("truncated number");
      }
      position += width;
      break;
    }
    case Bytes:
      if (failed(scanBytes(tagBegin, end, static_cast<uint32_t>(field), kind,
                           depth))) {
        return failure();
      }
      break;
    default:
      return malformed("wire type " + Twine(tag & 7));
    }
  }
  return success();
}

LogicalResult WireScanner::scanBytes(uint64_t tagBegin, uint64_t end,
                                     uint32_t field, Kind kind,
                                     uint32_t depth) {
  uint64_t length = 0;
  if (failed(readVarint(end, length))) {
    return failure();
  }
  if (length > end - position) {
    return malformed("field of " + Twine(length) + " bytes where " +
                     Twine(end - position) + " are left");
  }
  if (++numFields > limits.maxFields) {
    return diags.limit("", "the model has more than " +
                               Twine(limits.maxFields) +
                               " fields, names and messages");
  }
  uint64_t fieldEnd = position + length;
  if (kind == Kind::Tensor && field == rawDataField &&
      length >= limits.minSliceBytes) {
    replaceRawData(tagBegin, position, fieldEnd);
  } else if (Kind child = childKind(kind, field); child != Kind::Leaf) {
    return scanChild(tagBegin, fieldEnd, field, child, depth + 1);
  }
  position = fieldEnd;
  return success();
}

LogicalResult WireScanner::scanChild(uint64_t tagBegin, uint64_t end,
                                     uint32_t field, Kind child,
                                     uint32_t depth) {
  if (depth > limits.maxDepth) {
    return diags.limit("", "messages nest deeper than " +
                               Twine(limits.maxDepth) + " levels");
  }
  // The child's length is only known after its large data are taken out: leave
  // a gap for its header, to be filled when the child turned out to change.
  size_t segmentsBefore = result.segments.size();
  size_t slicesBefore = result.slices.size();
  uint64_t flushedBefore = flushed, emittedBefore = emitted;
  flush(tagBegin);
  uint64_t bodyBegin = emitted;
  size_t slot = result.segments.size();
  result.segments.emplace_back();
  flushed = position;
  if (failed(scanMessage(end, child, depth))) {
    return failure();
  }
  if (result.slices.size() == slicesBefore) {
    // Nothing taken out: the gap closes over the original bytes.
    result.segments.resize(segmentsBefore);
    flushed = flushedBefore;
    emitted = emittedBefore;
    return success();
  }
  flush(end);
  std::vector<uint8_t> &header = addHeader();
  appendVarint(header, (static_cast<uint64_t>(field) << 3) | Bytes);
  appendVarint(header, emitted - bodyBegin);
  result.segments[slot] = header;
  emitted += header.size();
  return success();
}

void WireScanner::replaceRawData(uint64_t tagBegin, uint64_t begin,
                                 uint64_t end) {
  flush(tagBegin);
  std::vector<uint8_t> &header = addHeader();
  appendVarint(header, (static_cast<uint64_t>(rawSliceField) << 3) | Varint);
  appendVarint(header, result.slices.size());
  result.segments.push_back(header);
  emitted += header.size();
  result.slices.push_back(bytes.slice(begin, end - begin));
  flushed = end;
}

LogicalResult scanModel(ArrayRef<uint8_t> bytes, const WireLimits &limits,
                        ScannedModel &result, ImportDiagnostics &diags) {
  if (bytes.empty()) {
    return diags.invalid("", "the file is empty");
  }
  if (bytes.size() > limits.maxBytes) {
    return diags.limit("",
                       "the file has " + Twine(bytes.size()) +
                           " bytes, more than the format's " +
                           Twine(limits.maxBytes),
                       "save the weights as external data");
  }
  return WireScanner(bytes, limits, result, diags).run();
}

} // namespace ampc::importer
