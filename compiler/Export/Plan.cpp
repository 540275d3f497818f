//===- Plan.cpp - The type of every value of the original graph -----------===//
#include "compiler/Export/Plan.h"

#include "llvm/ADT/STLExtras.h"

#include <cstring>

using namespace llvm;

namespace ampc::exporter {

void ValuePlan::use(Form form) {
  for (auto &[known, count] : uses) {
    if (known == form) {
      ++count;
      return;
    }
  }
  uses.push_back({form, 1});
}

void ValuePlan::dropUse(Form form) {
  for (auto &[known, count] : uses) {
    count -= known == form;
  }
  llvm::erase_if(uses, [](const auto &use) { return use.second == 0; });
}

std::optional<float> ValuePlan::readNumber() const {
  if (!isWeak || original != onnx::TensorProto::FLOAT) {
    return std::nullopt;
  }
  if (numbers) {
    return numbers->f();
  }
  if (constant && constant->float_data_size() == 1) {
    return constant->float_data(0);
  }
  if (constant && constant->raw_data().size() == sizeof(float)) {
    float number;
    memcpy(&number, constant->raw_data().data(), sizeof(number));
    return number;
  }
  return std::nullopt;
}

int64_t RegionPlan::getVersion(StringRef domain) const {
  auto it = opsets->find(importer::normalizeDomain(domain));
  return it == opsets->end() ? 1 : it->second;
}

ValuePlan *RegionPlan::find(StringRef name) const {
  for (const RegionPlan *region = this; region; region = region->parent) {
    if (auto it = region->scope.find(name); it != region->scope.end()) {
      return it->second;
    }
  }
  return nullptr;
}

ArrayRef<uint32_t> getNodeOrder(const importer::CheckedModel &checked,
                                const void *graphOrFunction) {
  auto it = checked.orders.find(graphOrFunction);
  return it == checked.orders.end() ? ArrayRef<uint32_t>()
                                    : ArrayRef(it->second);
}

} // namespace ampc::exporter
