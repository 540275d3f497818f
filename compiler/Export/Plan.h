//===- Plan.h - The type of every value of the original graph -------------===//
//
// A plan stands beside the model's message and refers to it. It says for each
// value which type it is produced in and holds, and for each slot of a node in
// which form it reads its value. `TypePlanner` makes it, `GraphRewriter`
// carries it out.
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_COMPILER_EXPORT_PLAN_H
#define AMPC_COMPILER_EXPORT_PLAN_H

#include "compiler/Import/GraphCheck.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ampc::exporter {

struct NodePlan;
struct OpSchema;
struct RegionPlan;

/// How a slot reads a value: rounded to one type, then in another.
struct Form {
  int32_t rounded = 0; ///< 0: not rounded
  int32_t type = 0;    ///< 0: as it is
  bool operator==(const Form &other) const {
    return rounded == other.rounded && type == other.type;
  }
  bool operator<(const Form &other) const {
    return std::tie(rounded, type) < std::tie(other.rounded, other.type);
  }
};

/// A value. Types are those of TensorProto, 0 where unknown; of a sequence, the
/// type of its elements.
struct ValuePlan {
  std::string name;
  RegionPlan *home = nullptr;
  int32_t original = 0; ///< in the model
  int32_t produced = 0; ///< as its node computes it
  int32_t current = 0;  ///< once its node's result is rounded
  int32_t wanted = 0;   ///< type as an output of its own region; 0: any
  bool isSequence = false;
  bool isWeak = false; ///< a constant of rank 0
  /// The 16-bit value that this f32 one was cast from.
  ValuePlan *exactSource = nullptr;
  /// A value that is equal for certain.
  ValuePlan *same = this;
  /// Moved elements of constants alone.
  bool isMovedConstant = false;
  std::vector<std::string> origins; ///< its place in the table of decisions
  /// The elements of an initializer or a Constant; null for other values.
  const onnx::TensorProto *constant = nullptr;
  /// For a Constant of numbers: the attribute that holds them.
  const onnx::AttributeProto *numbers = nullptr;
  /// How it is read, and by how many slots, in program order.
  std::vector<std::pair<Form, unsigned>> uses;
  /// The forms in which Casts of the model to the current type read it.
  std::vector<Form *> castUses;
  bool hasOtherUses = false;

  ValuePlan() = default;
  ValuePlan(const ValuePlan &) = delete;
  ValuePlan &operator=(const ValuePlan &) = delete;

  bool isConstant() const { return constant || numbers; }
  void use(Form form);
  void dropUse(Form form);
  /// The value of an f32 constant of rank 0.
  std::optional<float> readNumber() const;
};

struct NodePlan {
  std::vector<ValuePlan *> inputs; ///< null where left out
  std::vector<Form> forms;         ///< of the inputs
  std::vector<ValuePlan *> outputs;
  const OpSchema *schema = nullptr; ///< of the operator; null if unknown
  /// Bodies, in the order of forEachSubgraph.
  std::vector<std::unique_ptr<RegionPlan>> regions;
  /// The body of the function that the node calls.
  const onnx::FunctionProto *function = nullptr;
  std::unique_ptr<RegionPlan> callee;
};

/// A graph, or the body of a function as one of its calls sees it.
struct RegionPlan {
  RegionPlan *parent = nullptr; ///< null for the graph and for functions
  const void *key = nullptr;    ///< of the order of its nodes
  bool isLoopBody = false;
  const importer::OpsetMap *opsets = nullptr;
  /// Where the table has this region's nodes; several for iterations.
  std::vector<std::string> contexts;
  llvm::StringMap<ValuePlan *> scope;
  std::vector<NodePlan> nodes; ///< by index in the message
  std::vector<ValuePlan *> inputs, outputs;
  std::vector<int32_t> outputTypes; ///< that the outputs must have; 0: any

  int64_t getVersion(llvm::StringRef domain) const;
  ValuePlan *find(llvm::StringRef name) const;
};

struct ModelPlan {
  std::deque<ValuePlan> values;
  /// Nodes that move elements of constants, in program order.
  std::vector<NodePlan *> movesOfConstants;
  RegionPlan graph;
  /// The opsets that functions import.
  std::deque<importer::OpsetMap> functionOpsets;
};

/// The order in which the nodes of a graph or function are visited.
llvm::ArrayRef<uint32_t> getNodeOrder(const importer::CheckedModel &checked,
                                      const void *graphOrFunction);

} // namespace ampc::exporter

#endif // AMPC_COMPILER_EXPORT_PLAN_H
