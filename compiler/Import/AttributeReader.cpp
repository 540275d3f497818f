//===- AttributeReader.cpp - Checked access to a node's attributes --------===//
#include "compiler/Import/AttributeReader.h"

using namespace llvm;

namespace ampc::importer {

using onnx::AttributeProto;

AttributeReader::AttributeReader(const onnx::NodeProto &node, std::string label,
                                 const AttributeBindings *bindings,
                                 ImportDiagnostics &diags)
    : label(std::move(label)), op(node.op_type()), diags(diags) {
  for (const AttributeProto &attribute : node.attribute()) {
    const AttributeProto *proto = &attribute;
    if (!attribute.ref_attr_name().empty() && !bindings) {
      isWrong = true;
      (void)diags.invalid(this->label,
                          "attribute '" + printableName(attribute.name()) +
                              "' refers to one of a function, but stands in "
                              "none");
      continue;
    }
    if (!attribute.ref_attr_name().empty()) {
      // A reference to an attribute that the caller left out is left out too.
      proto = bindings->lookup(attribute.ref_attr_name());
      if (!proto) {
        continue;
      }
    }
    auto [it, isNew] = attributes.try_emplace(attribute.name(), Entry{proto});
    if (!isNew) {
      isWrong = true;
      (void)diags.invalid(this->label, "attribute '" +
                                           printableName(attribute.name()) +
                                           "' stands twice");
      continue;
    }
    order.push_back(it->getKey());
  }
}

const AttributeProto *AttributeReader::take(StringRef name) {
  auto it = attributes.find(name);
  if (it == attributes.end()) {
    return nullptr;
  }
  it->second.isUsed = true;
  return it->second.proto;
}

static StringRef getTypeName(AttributeProto::AttributeType type) {
  switch (type) {
  case AttributeProto::FLOAT:
    return "a float";
  case AttributeProto::INT:
    return "an integer";
  case AttributeProto::STRING:
    return "a string";
  case AttributeProto::TENSOR:
    return "a tensor";
  case AttributeProto::GRAPH:
    return "a graph";
  case AttributeProto::FLOATS:
    return "floats";
  case AttributeProto::INTS:
    return "integers";
  case AttributeProto::STRINGS:
    return "strings";
  case AttributeProto::SPARSE_TENSOR:
    return "a sparse tensor";
  case AttributeProto::TYPE_PROTO:
    return "a type";
  case AttributeProto::UNDEFINED:
    return "a value without a type";
  default:
    return "another kind of value";
  }
}

const AttributeProto *
AttributeReader::takeTyped(StringRef name, AttributeProto::AttributeType type) {
  const AttributeProto *proto = take(name);
  if (!proto) {
    return nullptr;
  }
  AttributeProto::AttributeType actual = proto->type();
  if (actual == type) {
    return proto;
  }
  isWrong = true;
  (void)diags.invalid(label, "expected attribute '" + name + "' of " + op +
                                 " to be " + getTypeName(type) + ", got " +
                                 getTypeName(actual));
  return nullptr;
}

std::optional<int64_t> AttributeReader::findInt(StringRef name) {
  const AttributeProto *proto = takeTyped(name, AttributeProto::INT);
  return proto ? std::optional<int64_t>(proto->i()) : std::nullopt;
}

std::optional<float> AttributeReader::findFloat(StringRef name) {
  const AttributeProto *proto = takeTyped(name, AttributeProto::FLOAT);
  return proto ? std::optional<float>(proto->f()) : std::nullopt;
}

std::optional<std::string> AttributeReader::findString(StringRef name) {
  const AttributeProto *proto = takeTyped(name, AttributeProto::STRING);
  return proto ? std::optional<std::string>(proto->s()) : std::nullopt;
}

std::optional<SmallVector<int64_t>> AttributeReader::findInts(StringRef name) {
  const AttributeProto *proto = takeTyped(name, AttributeProto::INTS);
  if (!proto) {
    return std::nullopt;
  }
  return SmallVector<int64_t>(proto->ints().begin(), proto->ints().end());
}

std::optional<SmallVector<float>> AttributeReader::findFloats(StringRef name) {
  const AttributeProto *proto = takeTyped(name, AttributeProto::FLOATS);
  if (!proto) {
    return std::nullopt;
  }
  return SmallVector<float>(proto->floats().begin(), proto->floats().end());
}

std::optional<SmallVector<std::string>>
AttributeReader::findStrings(StringRef name) {
  const AttributeProto *proto = takeTyped(name, AttributeProto::STRINGS);
  if (!proto) {
    return std::nullopt;
  }
  return SmallVector<std::string>(proto->strings().begin(),
                                  proto->strings().end());
}

const onnx::TensorProto *AttributeReader::findTensor(StringRef name) {
  const AttributeProto *proto = takeTyped(name, AttributeProto::TENSOR);
  return proto ? &proto->t() : nullptr;
}

const onnx::SparseTensorProto *
AttributeReader::findSparseTensor(StringRef name) {
  const AttributeProto *proto = takeTyped(name, AttributeProto::SPARSE_TENSOR);
  return proto ? &proto->sparse_tensor() : nullptr;
}

const onnx::GraphProto *AttributeReader::findGraph(StringRef name) {
  const AttributeProto *proto = takeTyped(name, AttributeProto::GRAPH);
  return proto ? &proto->g() : nullptr;
}

const onnx::TypeProto *AttributeReader::findType(StringRef name) {
  const AttributeProto *proto = takeTyped(name, AttributeProto::TYPE_PROTO);
  return proto ? &proto->tp() : nullptr;
}

int64_t AttributeReader::requireInt(StringRef name) {
  if (!has(name)) {
    isWrong = true;
    (void)diags.invalid(label, op + " lacks attribute '" + name + "'");
    return 0;
  }
  return getInt(name, 0);
}

void AttributeReader::finish() {
  for (StringRef name : order) {
    if (!attributes.lookup(name).isUsed) {
      isWrong = true;
      (void)diags.unsupported(label, "unsupported attribute '" +
                                         printableName(name) + "' of " + op);
    }
  }
}

} // namespace ampc::importer
