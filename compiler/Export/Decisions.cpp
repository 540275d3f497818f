//===- Decisions.cpp - The table of decisions by place in the model -------===//
#include "compiler/Export/Decisions.h"

#include "compiler/Import/Proto/onnx_subset.pb.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace ampc::exporter {

int32_t parseTypeName(StringRef name) {
  return StringSwitch<int32_t>(name)
      .Case("f32", onnx::TensorProto::FLOAT)
      .Case("f16", onnx::TensorProto::FLOAT16)
      .Case("bf16", onnx::TensorProto::BFLOAT16)
      .Default(0);
}

bool isLow(int32_t type) {
  return type == onnx::TensorProto::FLOAT16 ||
         type == onnx::TensorProto::BFLOAT16;
}

bool isEligible(int32_t type) {
  return type == onnx::TensorProto::FLOAT || isLow(type);
}

DecisionIndex::DecisionIndex(const precision::Report &report) {
  for (const precision::OpDecision &op : report.ops) {
    for (StringRef path : op.paths) {
      byPath[path].push_back(&op);
      while (path.contains('/')) {
        auto [parent, step] = path.rsplit('/');
        steps[parent].insert(step.str());
        path = parent;
      }
    }
  }
}

ArrayRef<const precision::OpDecision *>
DecisionIndex::find(StringRef path) const {
  auto it = byPath.find(path);
  return it == byPath.end() ? ArrayRef<const precision::OpDecision *>()
                            : ArrayRef(it->second);
}

std::vector<std::string> DecisionIndex::findSteps(StringRef path) const {
  auto it = steps.find(path);
  return it == steps.end()
             ? std::vector<std::string>()
             : std::vector<std::string>(it->second.begin(), it->second.end());
}

} // namespace ampc::exporter
