//===- ModuleWriter.cpp - A module as MLIR that can be read again ---------===//
#include "compiler/Driver/ModuleWriter.h"

#include "compiler/Driver/OutputFile.h"
#include "compiler/Import/WeightReferences.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/EndianStream.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using mlir::DenseResourceElementsAttr;

namespace ampc::driver {

struct ModuleWriter::Weight {
  std::string key;
  mlir::RankedTensorType type;
  ArrayRef<char> data;
  importer::WeightReference reference;
};

/// A resource is printed as two hexadecimal digits a byte. The limit holds for
/// references too, so it leaves room for them.
static uint64_t getCharacterLimit(uint64_t inlineLimit) {
  return std::max<uint64_t>(SaturatingMultiply<uint64_t>(inlineLimit, 2),
                            16 << 10);
}

mlir::OpPrintingFlags getPrintingFlags(uint64_t inlineLimit) {
  mlir::OpPrintingFlags flags;
  flags.enableDebugInfo(/*enable=*/true, /*prettyForm=*/false);
  flags.elideLargeResourceString(getCharacterLimit(inlineLimit));
  return flags;
}

/// Whether `path` names, or will name, a file that others can stand beside.
static bool isRegular(StringRef path) {
  return path != "-" &&
         (!sys::fs::exists(path) || sys::fs::is_regular_file(path));
}

std::vector<ModuleWriter::Weight>
ModuleWriter::collect(mlir::ModuleOp module) const {
  SetVector<DenseResourceElementsAttr> resources;
  module.walk([&](mlir::Operation *op) {
    for (mlir::NamedAttribute attr : op->getAttrs()) {
      attr.getValue().walk([&](DenseResourceElementsAttr resource) {
        resources.insert(resource);
      });
    }
    if (mlir::Attribute properties = op->getPropertiesAsAttribute()) {
      properties.walk([&](DenseResourceElementsAttr resource) {
        resources.insert(resource);
      });
    }
  });
  std::vector<Weight> weights;
  for (DenseResourceElementsAttr resource : resources) {
    const mlir::AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    auto type = dyn_cast<mlir::RankedTensorType>(resource.getType());
    // Some digits of alignment and the quotes come with the data.
    constexpr uint64_t overhead = 32;
    if (blob && type &&
        2 * blob->getData().size() + overhead >
            getCharacterLimit(inlineLimit)) {
      weights.push_back(
          {resource.getRawHandle().getKey().str(), type, blob->getData(), {}});
    }
  }
  return weights;
}

/// `path` without links, `.` and `..`; as it is if it cannot be followed.
static SmallString<256> follow(StringRef path) {
  SmallString<256> real;
  if (sys::fs::real_path(path.empty() ? "." : path, real)) {
    real = path;
  }
  return real;
}

/// The place of a constant in a mapped file below `folder`, if the gate lets it
/// be read from there.
std::optional<importer::WeightReference>
ModuleWriter::findBelow(StringRef folder, const Weight &weight) const {
  ArrayRef<uint8_t> bytes(reinterpret_cast<const uint8_t *>(weight.data.data()),
                          weight.data.size());
  auto place = locate(bytes);
  if (!place) {
    return std::nullopt;
  }
  // The last part of the path stays: the gate judges whether it is a link.
  SmallString<256> file = follow(sys::path::parent_path(place->first));
  sys::path::append(file, sys::path::filename(place->first));
  StringRef below = file;
  SmallString<256> base = follow(folder);
  if (!below.consume_front(base) || !below.consume_front("/")) {
    return std::nullopt;
  }
  importer::ImportDiagnostics ignored(folder);
  if (!importer::ExternalData(base).read(below, place->second, bytes.size(), "",
                                         ignored)) {
    return std::nullopt;
  }
  return importer::WeightReference{below.str(), place->second, bytes.size()};
}

/// What the safetensors format calls an element type; bytes for what it lacks.
static StringRef getTypeName(mlir::Type type) {
  if (type.isF64()) {
    return "F64";
  }
  if (type.isF32()) {
    return "F32";
  }
  if (type.isF16()) {
    return "F16";
  }
  if (type.isBF16()) {
    return "BF16";
  }
  auto integer = dyn_cast<mlir::IntegerType>(type);
  if (!integer || integer.getWidth() % 8 != 0) {
    return "";
  }
  static constexpr StringLiteral signedNames[] = {"I8", "I16", "I32", "I64"};
  static constexpr StringLiteral unsignedNames[] = {"U8", "U16", "U32", "U64"};
  unsigned index = Log2_32(integer.getWidth() / 8);
  if (index > 3) {
    return "";
  }
  return integer.isUnsigned() ? unsignedNames[index] : signedNames[index];
}

/// The header of a safetensors file with these constants, one after another.
static std::string
makeHeader(ArrayRef<std::pair<std::string, std::string>> rows) {
  std::string header = "{\"__metadata__\":{\"format\":\"ampc constants\"}";
  for (const auto &[name, description] : rows) {
    header += formatv(",{0}:{1}", json::Value(name), description).str();
  }
  header += "}";
  // The data begins at a multiple of 64 bytes.
  header.resize(
      alignTo(header.size() + sizeof(uint64_t), 64) - sizeof(uint64_t), ' ');
  return header;
}

LogicalResult ModuleWriter::writeWeights(ArrayRef<Weight *> weights,
                                         StringRef path) {
  std::string folder = sys::path::parent_path(path).str();
  std::string file = sys::path::filename(path).str();
  std::vector<std::pair<std::string, std::string>> rows;
  StringSet<> names;
  uint64_t position = 0;
  for (const Weight *weight : weights) {
    std::string name = json::fixUTF8(weight->key);
    if (name == "__metadata__" || !names.insert(name).second) {
      name += "#" + std::to_string(rows.size());
      names.insert(name);
    }
    StringRef dtype = getTypeName(weight->type.getElementType());
    json::Array shape;
    if (dtype.empty()) {
      shape.push_back(static_cast<int64_t>(weight->data.size()));
    } else {
      append_range(shape, weight->type.getShape());
    }
    uint64_t end = position + weight->data.size();
    rows.emplace_back(
        name, formatv("{0}", json::Value(json::Object{
                                 {"dtype", dtype.empty() ? "U8" : dtype},
                                 {"shape", std::move(shape)},
                                 {"data_offsets",
                                  json::Array{static_cast<int64_t>(position),
                                              static_cast<int64_t>(end)}}})));
    position = end;
  }
  std::string header = makeHeader(rows);
  OutputFile output(sink);
  if (failed(output.open(path))) {
    return failure();
  }
  support::endian::write<uint64_t>(output.os(), header.size(),
                                   llvm::endianness::little);
  output.os() << header;
  uint64_t offset = sizeof(uint64_t) + header.size();
  for (Weight *weight : weights) {
    output.os().write(weight->data.data(), weight->data.size());
    weight->reference = {file, offset, weight->data.size()};
    written[weight->data.data()] = {folder, file, offset};
    offset += weight->data.size();
  }
  return output.commit();
}

LogicalResult ModuleWriter::place(std::vector<Weight> &weights,
                                  StringRef path) {
  StringRef folder = sys::path::parent_path(path);
  SmallVector<Weight *> homeless;
  for (Weight &weight : weights) {
    auto earlier = written.find(weight.data.data());
    if (earlier != written.end() && earlier->second.folder == folder) {
      weight.reference = {earlier->second.file, earlier->second.offset,
                          weight.data.size()};
    } else if (auto below = findBelow(folder, weight)) {
      weight.reference = *below;
    } else {
      homeless.push_back(&weight);
    }
  }
  return homeless.empty()
             ? success()
             : writeWeights(homeless, (path + ".weights.safetensors").str());
}

LogicalResult ModuleWriter::write(mlir::ModuleOp module, StringRef path) {
  std::vector<Weight> weights;
  if (isRegular(path)) {
    weights = collect(module);
    if (failed(place(weights, path))) {
      return failure();
    }
  }
  return writeFile(path, sink, [&](raw_ostream &os) {
    mlir::AsmState state(module, getPrintingFlags(inlineLimit));
    if (!weights.empty()) {
      state.attachResourcePrinter(
          importer::weightResource,
          [&](mlir::Operation *, mlir::AsmResourceBuilder &builder) {
            for (const Weight &weight : weights) {
              builder.buildString(weight.key, weight.reference.toText());
            }
          });
    }
    module->print(os, state);
    os << '\n';
  });
}

} // namespace ampc::driver
