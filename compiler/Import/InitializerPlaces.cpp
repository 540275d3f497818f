//===- InitializerPlaces.cpp - Where a model's weights lie in its files ---===//
#include "compiler/Import/InitializerPlaces.h"

#include "compiler/Import/Proto/onnx_subset.pb.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

namespace ampc::importer {

namespace {
/// A range of the model's file.
struct Range {
  uint64_t offset = 0, bytes = 0;
};

/// The fields of a tensor that can hold its elements one after the other as
/// they are in memory; at most one is in use.
struct TensorRanges {
  SmallVector<Range, 1> stores;
};
} // namespace

/// Enters fields of type bytes; the scanner has checked the structure before.
static void
forEachBytesField(CodedInputStream &input, uint64_t end,
                  function_ref<void(uint32_t field, uint64_t fieldEnd)> visit) {
  while (static_cast<uint64_t>(input.CurrentPosition()) < end) {
    uint32_t tag = input.ReadTag();
    if (tag == 0) {
      return;
    }
    if (WireFormatLite::GetTagWireType(tag) !=
        WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      if (!WireFormatLite::SkipField(&input, tag)) {
        return;
      }
      continue;
    }
    uint32_t length = 0;
    if (!input.ReadVarint32(&length)) {
      return;
    }
    uint64_t fieldEnd = static_cast<uint64_t>(input.CurrentPosition()) + length;
    visit(static_cast<uint32_t>(WireFormatLite::GetTagFieldNumber(tag)),
          fieldEnd);
    int rest = static_cast<int>(fieldEnd -
                                static_cast<uint64_t>(input.CurrentPosition()));
    if (!input.Skip(rest)) {
      return;
    }
  }
}

/// The element ranges of each initializer, in order.
static std::vector<TensorRanges> findRanges(ArrayRef<uint8_t> file) {
  constexpr uint32_t graphField = 7, initializerField = 5;
  constexpr uint32_t elementFields[] = {
      onnx::TensorProto::kFloatDataFieldNumber,
      onnx::TensorProto::kDoubleDataFieldNumber,
      onnx::TensorProto::kRawDataFieldNumber};
  std::vector<TensorRanges> ranges;
  CodedInputStream input(file.data(), static_cast<int>(file.size()));
  forEachBytesField(input, file.size(), [&](uint32_t field, uint64_t end) {
    if (field != graphField) {
      return;
    }
    forEachBytesField(input, end, [&](uint32_t field, uint64_t end) {
      if (field != initializerField) {
        return;
      }
      TensorRanges &tensor = ranges.emplace_back();
      forEachBytesField(input, end, [&](uint32_t field, uint64_t end) {
        if (is_contained(elementFields, field)) {
          auto begin = static_cast<uint64_t>(input.CurrentPosition());
          tensor.stores.push_back({begin, end - begin});
        }
      });
    });
  });
  return ranges;
}

std::vector<InitializerPlace>
locateInitializers(ModelFile &model, function_ref<bool(StringRef)> isWanted) {
  std::vector<TensorRanges> ranges = findRanges(model.getBytes());
  std::vector<InitializerPlace> places;
  ImportDiagnostics ignored(model.getPath()); // import reports
  for (auto [i, tensor] :
       llvm::enumerate(model.getProto().graph().initializer())) {
    if (!isWanted(tensor.name())) {
      continue;
    }
    InitializerPlace &place = places.emplace_back();
    place.name = tensor.name();
    place.elementType = tensor.data_type();
    auto count = countElements(
        ArrayRef<int64_t>(tensor.dims().data(), tensor.dims_size()));
    place.bytes = divideCeil(static_cast<uint64_t>(count.value_or(0)) *
                                 getElementBits(tensor.data_type()),
                             8);
    if (tensor.data_location() == onnx::TensorProto::EXTERNAL) {
      auto view = readTensor(model, tensor, tensor.name(), ignored);
      auto found =
          view ? model.getExternalData().locate(view->bytes) : std::nullopt;
      if (found) {
        StringRef path = found->first;
        path.consume_front(sys::path::parent_path(model.getPath()));
        path.consume_front("/");
        place.file = path.str();
        place.offset = found->second;
      }
    } else if (i < ranges.size() && ranges[i].stores.size() == 1 &&
               ranges[i].stores[0].bytes == place.bytes) {
      place.offset = ranges[i].stores[0].offset;
    }
  }
  return places;
}

} // namespace ampc::importer
