//===- Report.h - What the precision phase decided, and why ---------------===//
#ifndef AMPC_PASSES_PRECISION_REPORT_H
#define AMPC_PASSES_PRECISION_REPORT_H

#include "dialects/Interfaces/AutocastClass.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "passes/Precision/Constants.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <string>
#include <vector>

namespace ampc::precision {

/// The rule that gave an operation its type.
enum class Rule {
  None,        ///< no float operand
  Pinned,      ///< no operand that may change: a cast of the model
  Lower,       ///< class lower
  Fp32,        ///< class fp32
  Promote,     ///< class promote
  Follow,      ///< class follow
  Pure,        ///< everything in the 16-bit type
  Override,    ///< the user asks for it
  Position,    ///< computes a position, which stays f32
  Constant,    ///< a constant does not fit the 16-bit type
  Calibration, ///< measured values do not fit the 16-bit type
  Kept,        ///< mixed precision is off
  Default,     ///< no rule of the user matches
};
llvm::StringRef stringifyRule(Rule rule);

/// One operand of an operation, once that is typed.
struct OperandDecision {
  std::vector<std::string> paths; ///< of the value; an argument's name
  std::string type;               ///< element type that the operation reads
  bool pinned = false;            ///< keeps its type whatever the class says
};

/// What was decided for one operation.
struct OpDecision {
  std::vector<std::string> nodes; ///< ONNX nodes whose work it does
  std::vector<std::string> paths; ///< their places: graph path and index
  std::string op;                 ///< operator name
  std::string function;           ///< function it stands in
  AutocastClass autocastClass;
  Rule rule = Rule::None;
  std::string reason; ///< a sentence without a period
  std::string type;   ///< element type of its operands, e.g. "bf16"
  std::string result; ///< element type of its first result
  std::vector<OperandDecision> operands;
  bool isView = false;      ///< moves data, computes nothing
  bool ofConstants = false; ///< executed when the program is written
};

/// One operand that reads a cast.
struct CastUse {
  std::vector<std::string> nodes, paths; ///< of the reading operation
  std::string op;
  unsigned operand = 0;
};

/// One cast that was inserted.
struct CastDecision {
  std::vector<std::string> producer; ///< names of the value that is cast
  std::vector<std::string> producerPaths;
  std::string from, to;
  int64_t elements = 0;
  int64_t bytes = 0;       ///< written by the cast
  bool ofConstant = false; ///< executed when the program is written
  std::string reason;
  std::vector<CastUse> uses;
  mlir::ElementsAttr constant; ///< set with `ofConstant`: what is narrowed
  /// What narrowing loses of a constant that is computed from others.
  std::optional<NarrowingLoss> computedLoss;
};

/// The policy behind the decisions, in the words of the command line.
struct PolicyFacts {
  std::string requested; ///< --amp as given
  std::string amp;       ///< what that came to; equal unless "auto" was asked
  std::string reason;    ///< why
  std::string defaults;  ///< of a policy file; empty: as `amp` says
  std::string file;      ///< the policy file; empty: none
  std::string constants, normOutput;
  std::string contractions; ///< of f32: "ieee" or "tf32", as asked for
  /// How the target multiplies f32, where that differs; else empty.
  std::string contractionsNote;
  bool strictRounding = false;
};

/// The side table of the precision phase, in the order of the program.
class Report {
public:
  /// Set by who knows the command line; absent without.
  std::optional<PolicyFacts> policy;
  std::vector<OpDecision> ops;
  std::vector<CastDecision> casts;

  /// Counts what is left after the whole phase. Without it, totals tell of the
  /// decisions only.
  void countFinal(mlir::ModuleOp module);

  /// The table as one JSON object {"version", "policy", "ops", "casts",
  /// "constants", "totals"}, described by docs/schemas. The data of narrowed
  /// constants is read here, not before.
  llvm::json::Value toJson() const;
  /// The table for people: a row per operation, constants that lose values,
  /// totals.
  void print(llvm::raw_ostream &os) const;

private:
  struct Totals {
    int64_t casts = 0;           ///< at run time
    int64_t castBytes = 0;       ///< they write
    int64_t constantCasts = 0;   ///< when the program is written
    int64_t activationBytes = 0; ///< all results of computing operations
    int64_t savedBytes = 0;      ///< against the same results in f32
    int64_t savedConstantBytes = 0;
  };
  bool counted = false;
  Totals totals;
};

} // namespace ampc::precision

#endif // AMPC_PASSES_PRECISION_REPORT_H
