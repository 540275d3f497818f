//===- TypeModule.cpp - The walk that types every operation ---------------===//
#include "passes/Precision/TypeModule.h"

#include "dialects/Amp/IR/AmpOps.h"
#include "passes/Precision/CastInserter.h"
#include "passes/Precision/Constants.h"
#include "passes/Precision/ExactChains.h"
#include "passes/Precision/NodeNames.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::precision;

namespace {
std::vector<std::string> toStrings(ArrayRef<StringRef> names) {
  return std::vector<std::string>(names.begin(), names.end());
}

std::string toText(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

/// Types one function. Operations are visited in order, so operands have their
/// final types when an operation is decided.
class Autocast {
public:
  /// `measures` tells whether anybody reads what constants lose.
  Autocast(FunctionOpInterface function, const Policy &policy, Report &report,
           bool measures, StringRef passName)
      : policy(policy), report(report), measures(measures), passName(passName),
        function(function), exact(findExactChains(function)),
        inserter(constants) {}

  LogicalResult run() { return visitRegion(function.getFunctionBody()); }

private:
  LogicalResult visitRegion(Region &region);
  LogicalResult visitOp(Operation *op);
  LogicalResult typeOp(PrecisionOpInterface op);
  LogicalResult joinBranches(Operation *op);
  void restoreOperands(Operation *op);
  void castOperand(OpOperand &operand, Type element, StringRef reason);
  void setType(Value value, Type type);
  Type declaredType(Value value) const;
  void record(PrecisionOpInterface op, const Decision &decision);

  const Policy &policy;
  Report &report;
  bool measures;
  StringRef passName;
  FunctionOpInterface function;
  llvm::DenseSet<Operation *> exact;
  /// Results of operations on constants alone.
  llvm::DenseSet<Value> constants;
  CastInserter inserter;
  /// The types that retyped values had in the program; looked up only.
  llvm::DenseMap<Value, Type> declared;
  /// The entry of each inserted cast in the report; looked up only.
  llvm::DenseMap<Value, size_t> castEntries;
};

Type Autocast::declaredType(Value value) const {
  auto it = declared.find(value);
  return it == declared.end() ? value.getType() : it->second;
}

void Autocast::setType(Value value, Type type) {
  if (value.getType() != type) {
    declared.try_emplace(value, value.getType());
    value.setType(type);
  }
}

void Autocast::castOperand(OpOperand &operand, Type element, StringRef reason) {
  Value value = operand.get();
  Operation *user = operand.getOwner();
  bool inserted = false;
  Value result = inserter.cast(value, element, user, &inserted);
  if (result == value) {
    return;
  }
  operand.set(result);
  if (inserted) {
    CastDecision entry;
    auto type = cast<RankedTensorType>(result.getType());
    NodeNames names = getNodeNames(value.getLoc());
    entry.producer = toStrings(names.names);
    entry.producerPaths = toStrings(names.paths);
    entry.from = toText(getElementTypeOrSelf(value));
    entry.to = toText(element);
    entry.elements = type.getNumElements();
    entry.bytes = entry.elements * type.getElementTypeBitWidth() / 8;
    entry.reason = reason.str();
    bool computed = constants.contains(value);
    entry.ofConstant = isConstantValue(value) || computed;
    if (computed && measures && element.getIntOrFloatBitWidth() == 16) {
      entry.computedLoss =
          measureNarrowing(value, mlir::cast<FloatType>(element));
    } else if (entry.ofConstant) {
      matchPattern(value, m_Constant(&entry.constant));
    }
    castEntries[result] = report.casts.size();
    report.casts.push_back(std::move(entry));
  }
  NodeNames names = getNodeNames(user->getLoc());
  report.casts[castEntries.lookup(result)].uses.push_back(
      {toStrings(names.names), toStrings(names.paths),
       getOperatorName(user).str(), operand.getOperandNumber()});
}

LogicalResult Autocast::visitRegion(Region &region) {
  for (Block &block : region) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (failed(visitOp(&op))) {
        return failure();
      }
    }
  }
  return success();
}

/// Whether each region of `op` ends once and yields the results of `op`, so
/// that these may take the types of what is yielded.
bool isJoin(Operation *op) {
  auto branch = dyn_cast_or_null<RegionBranchOpInterface>(op);
  if (!branch || branch.hasLoop() || op->getNumResults() == 0) {
    return false;
  }
  return llvm::all_of(op->getRegions(), [&](Region &region) {
    return region.hasOneBlock() &&
           region.front().getTerminator()->getNumOperands() ==
               op->getNumResults();
  });
}

LogicalResult Autocast::visitOp(Operation *op) {
  if (auto typed = dyn_cast<PrecisionOpInterface>(op)) {
    return typeOp(typed);
  }
  if (!op->hasTrait<OpTrait::IsTerminator>() || !isJoin(op->getParentOp())) {
    restoreOperands(op);
  }
  if (!op->hasTrait<OpTrait::IsIsolatedFromAbove>()) {
    for (Region &region : op->getRegions()) {
      if (failed(visitRegion(region))) {
        return failure();
      }
    }
  }
  return isJoin(op) ? joinBranches(op) : success();
}

/// An operation that knows nothing of precision reads what the program
/// declares.
void Autocast::restoreOperands(Operation *op) {
  for (OpOperand &operand : op->getOpOperands()) {
    Type type = declaredType(operand.get());
    if (type != operand.get().getType()) {
      castOperand(operand, getElementTypeOrSelf(type),
                  "the program declares this type");
    }
  }
}

/// The branches of a conditional yield one type per result: the widest.
LogicalResult Autocast::joinBranches(Operation *op) {
  for (OpResult result : op->getResults()) {
    if (!isAutocastEligible(result.getType())) {
      continue;
    }
    SmallVector<OpOperand *> yields;
    SmallVector<FloatType> types;
    for (Region &region : op->getRegions()) {
      Operation *terminator = region.front().getTerminator();
      yields.push_back(&terminator->getOpOperand(result.getResultNumber()));
      types.push_back(
          cast<FloatType>(getElementTypeOrSelf(yields.back()->get())));
    }
    FloatType element = widest(types);
    for (OpOperand *yield : yields) {
      castOperand(*yield, element, "the branches yield one type");
    }
    setType(result, cast<RankedTensorType>(result.getType()).clone(element));
  }
  return success();
}

LogicalResult Autocast::typeOp(PrecisionOpInterface op) {
  Decision decision = decide(op, policy, exact);
  if (decision.rule == Rule::Kept) {
    restoreOperands(op);
    record(op, decision);
    return success();
  }
  if (decision.isTf32 && op.getAutocastClass() == AutocastClass::Lower) {
    op->setAttr("amp.fp32_contractions",
                StringAttr::get(op.getContext(), "tf32"));
  }
  bool changed = llvm::any_of(op->getOperands(), [&](Value operand) {
    return declaredType(operand) != operand.getType();
  });
  if (decision.element) {
    for (OpOperand &operand : op->getOpOperands()) {
      if (isCastable(op, operand) &&
          getElementTypeOrSelf(operand.get()) != decision.element) {
        castOperand(operand, decision.element, decision.reason);
        changed = true;
      }
    }
  }
  if (changed) {
    SmallVector<Type> before(op->getResultTypes());
    if (failed(op.updateResultTypes())) {
      return failure();
    }
    for (auto [result, type] : llvm::zip_equal(op->getResults(), before)) {
      if (result.getType() != type) {
        declared.try_emplace(result, type);
      }
    }
  }
  record(op, decision);
  return success();
}

void Autocast::record(PrecisionOpInterface op, const Decision &decision) {
  bool ofConstants =
      op->getNumOperands() > 0 &&
      llvm::all_of(op->getOperands(), [&](Value operand) {
        auto cast = operand.getDefiningOp<amp::CastOp>();
        Value source = cast && !cast.getFromModel() ? cast.getInput() : operand;
        return isConstantValue(source) || constants.contains(source);
      });
  if (ofConstants) {
    constants.insert_range(op->getResults());
  }
  if (decision.rule == Rule::None) {
    return;
  }
  OpDecision entry;
  NodeNames names = getNodeNames(op.getLoc());
  entry.nodes = toStrings(names.names);
  entry.paths = toStrings(names.paths);
  entry.op = getOperatorName(op).str();
  entry.function = mlir::cast<SymbolOpInterface>(*function).getName().str();
  entry.autocastClass = op.getAutocastClass();
  entry.rule = decision.rule;
  entry.reason = decision.reason;
  if (op->getNumResults() > 0) {
    entry.result = toText(getElementTypeOrSelf(op->getResult(0)));
  }
  entry.type = decision.element ? toText(decision.element) : entry.result;
  if (decision.rule == Rule::Kept) {
    for (OpOperand &operand : llvm::reverse(op->getOpOperands())) {
      if (isCastable(op, operand)) {
        entry.type = toText(getElementTypeOrSelf(operand.get()));
      }
    }
  }
  entry.ofConstants = ofConstants;
  auto fusable = dyn_cast<FusableOpInterface>(op.getOperation());
  entry.isView = fusable && fusable.getFusionKind() == FusionKind::View;
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    NodeNames place = getNodeNames(value.getLoc());
    // An argument of the program has a name alone.
    entry.operands.push_back(
        {toStrings(place.paths.empty() ? place.names : place.paths),
         toText(getElementTypeOrSelf(value)),
         op.isPinnedOperand(operand.getOperandNumber())});
  }
  remark::passed(
      op.getLoc(),
      remark::RemarkOpts::name(stringifyRule(decision.rule)).category(passName))
      << entry.op << " in " << entry.type << ": " << entry.reason;
  report.ops.push_back(std::move(entry));
}

LogicalResult writeReport(ModuleOp module, Report &report, StringRef file) {
  if (file.empty()) {
    return success();
  }
  report.countFinal(module);
  if (file == "-") {
    report.print(llvm::outs());
    return success();
  }
  std::string error;
  auto output = openOutputFile(file, &error);
  if (!output) {
    return module.emitError(error);
  }
  output->os() << llvm::formatv("{0:2}\n", report.toJson());
  output->keep();
  return success();
}
} // namespace

FloatType precision::toFloatType(MLIRContext *context, LowType type) {
  if (type == LowType::F16) {
    return Float16Type::get(context);
  }
  return BFloat16Type::get(context);
}

LogicalResult precision::typeModule(ModuleOp module, const Policy &policy,
                                    Report *report, StringRef reportFile,
                                    StringRef passName) {
  Report local;
  Report &table = report ? *report : local;
  bool measures = report || !reportFile.empty();
  WalkResult result =
      module.walk<WalkOrder::PreOrder>([&](FunctionOpInterface function) {
        // A kernel is typed already.
        if (function.isExternal() || isa<amp::KernelOp>(*function)) {
          return WalkResult::skip();
        }
        return failed(
                   Autocast(function, policy, table, measures, passName).run())
                   ? WalkResult::interrupt()
                   : WalkResult::skip();
      });
  return failure(result.wasInterrupted() ||
                 failed(writeReport(module, table, reportFile)));
}
