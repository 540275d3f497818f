//===- Schemas.cpp - Float types that ONNX's operators take ---------------===//
#include "compiler/Export/Schemas.h"

#include "compiler/Import/GraphCheck.h"
#include "compiler/Import/Proto/onnx_subset.pb.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;

namespace ampc::exporter {

/// The letter of a slot in a list whose last one may repeat.
static char getSlot(StringRef slots, unsigned index) {
  bool repeats = slots.consume_back("*");
  if (index < slots.size()) {
    return slots[index];
  }
  return repeats ? slots.back() : '-';
}

char OpSchema::getInput(unsigned index) const { return getSlot(inputs, index); }
char OpSchema::getOutput(unsigned index) const {
  return getSlot(outputs, index);
}

bool OpSchema::hasSequence() const {
  return inputs.contains('S') || outputs.contains('S');
}

bool OpSchema::allows(char variable, int32_t type) const {
  SmallVector<StringRef> sets;
  types.split(sets, ' ');
  size_t index = variable - 'a';
  char wanted = type == onnx::TensorProto::FLOAT16    ? 'h'
                : type == onnx::TensorProto::BFLOAT16 ? 'b'
                                                      : 'f';
  return index < sets.size() && sets[index].contains(wanted);
}

namespace {
struct Row {
  const char *domain, *op;
  int64_t version;
  OpSchema schema;
};
} // namespace

static const Row rows[] = {
#define SCHEMA(domain, op, version, inputs, outputs, types, attribute, moves)  \
  {domain, op, version, {inputs, outputs, types, attribute, moves}},
#include "compiler/Export/Schemas.inc"
#undef SCHEMA
};

/// Rows by domain and operator; those of one operator stand by version.
using Index = StringMap<SmallVector<const Row *, 4>>;

const OpSchema *findSchema(StringRef domain, StringRef op, int64_t version) {
  static const Index index = [] {
    Index made;
    for (const Row &row : rows) {
      made[(Twine(row.domain) + "." + row.op).str()].push_back(&row);
    }
    return made;
  }();
  auto it = index.find((importer::normalizeDomain(domain) + "." + op).str());
  const OpSchema *found = nullptr;
  if (it != index.end()) {
    for (const Row *row : it->second) {
      found = row->version <= version ? &row->schema : found;
    }
  }
  return found;
}

} // namespace ampc::exporter
