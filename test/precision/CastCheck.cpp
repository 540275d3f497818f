//===- CastCheck.cpp - Looks for casts that a program could do without ----===//
//
// usage: ampc-cast-check [--amp=f16|bf16] FILE.mlir
//
// Prints each cast of the program that is not needed, and why:
//
//   unread     nobody reads it
//   exact      it widens, and its readers verify, with the types that they
//   have,
//              when they read its operand
//   pair       it restores what an exact cast widened
//   duplicate  an equal cast of the same value stands before it in its region
//
// With --amp, FILE is typed by precision-autocast first, and the casts that
// this inserts are looked at by the rules:
//
//   rule       each of its readers would be given the operand's type if it read
//              the operand
//
// The last line is `N casts, M not needed`; the exit code is 1 if M is not 0.
//
//===----------------------------------------------------------------------===//
#include "compiler/Registration/Registration.h"
#include "dialects/Amp/IR/AmpOps.h"
#include "passes/Precision/AutocastRules.h"
#include "passes/Precision/ExactChains.h"
#include "passes/Precision/TypeModule.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"

using namespace mlir;
using namespace ampc;
namespace cl = llvm::cl;

static cl::OptionCategory category("ampc-cast-check options");
static cl::opt<std::string> file(cl::Positional, cl::Required,
                                 cl::desc("<file.mlir>"), cl::cat(category));
static cl::opt<std::string>
    amp16("amp", cl::cat(category),
          cl::desc("Type the program first: f16, bf16"));

namespace {
/// Whether every number of the operand's type is one of the result's.
bool isExact(amp::CastOp op) {
  auto from = dyn_cast<FloatType>(getElementTypeOrSelf(op.getInput()));
  auto to = dyn_cast<FloatType>(getElementTypeOrSelf(op.getResult()));
  return from && to && from.getWidth() == 16 && to.getWidth() > 16;
}

/// Runs `test` while `use` reads `value`.
template <typename Fn>
bool whileReading(OpOperand &use, Value value, Fn test) {
  Value before = use.get();
  use.set(value);
  bool result = test();
  use.set(before);
  return result;
}

/// Whether the reader verifies when it reads the cast's operand.
bool verifiesWithout(amp::CastOp op, OpOperand &use) {
  return whileReading(use, op.getInput(), [&] {
    ScopedDiagnosticHandler silent(op.getContext(), [](Diagnostic &) {});
    Operation *user = use.getOwner();
    return succeeded(verify(user->hasTrait<OpTrait::IsTerminator>()
                                ? user->getParentOp()
                                : user,
                            /*verifyRecursively=*/false)) &&
           succeeded(verify(user, /*verifyRecursively=*/false));
  });
}

class Checker {
public:
  explicit Checker(ModuleOp module) : dominance(module) {}

  void look(amp::CastOp op) {
    ++casts;
    Value input = op.getInput();
    if (op->use_empty()) {
      return report(op, "unread");
    }
    if (isExact(op) && llvm::all_of(op->getUses(), [&](OpOperand &use) {
          return verifiesWithout(op, use);
        })) {
      return report(op, "exact");
    }
    auto inner = input.getDefiningOp<amp::CastOp>();
    if (inner && isExact(inner) && inner.getInput().getType() == op.getType()) {
      return report(op, "pair");
    }
    for (Operation *other : input.getUsers()) {
      auto equal = dyn_cast<amp::CastOp>(other);
      if (equal && equal != op && equal.getType() == op.getType() &&
          equal.getSaturate() == op.getSaturate() &&
          equal->getParentRegion() == op->getParentRegion() &&
          dominance.properlyDominates(equal.getOperation(), op)) {
        return report(op, "duplicate");
      }
    }
  }

  /// Whether the rules would let each reader have the operand's type.
  void lookByRules(amp::CastOp op, const precision::Policy &policy,
                   const llvm::DenseSet<Operation *> &exact) {
    ++casts;
    Type element = getElementTypeOrSelf(op.getInput());
    if (llvm::all_of(op->getUses(), [&](OpOperand &use) {
          auto user = dyn_cast<PrecisionOpInterface>(use.getOwner());
          return user && whileReading(use, op.getInput(), [&] {
                   return precision::decide(user, policy, exact).element ==
                          element;
                 });
        })) {
      report(op, "rule");
    }
  }

  unsigned casts = 0, found = 0;

private:
  void report(amp::CastOp op, StringRef why) {
    ++found;
    llvm::outs() << why << ": " << op.getInput().getType() << " -> "
                 << op.getType() << " " << op.getLoc() << "\n";
  }

  DominanceInfo dominance;
};

LogicalResult checkRules(ModuleOp module, Checker &checker) {
  precision::Policy policy;
  policy.low = precision::toFloatType(
      module.getContext(),
      amp16 == "f16" ? precision::LowType::F16 : precision::LowType::BF16);
  if (failed(precision::typeModule(module, policy, nullptr, "", "check"))) {
    return failure();
  }
  module.walk<WalkOrder::PreOrder>([&](FunctionOpInterface function) {
    auto exact = precision::findExactChains(function);
    function->walk<WalkOrder::PreOrder>([&](Operation *op) {
      auto cast = dyn_cast<amp::CastOp>(op);
      if (cast && !cast.getFromModel()) {
        checker.lookByRules(cast, policy, exact);
      }
      return isa<amp::CompositeOp>(op) ? WalkResult::skip()
                                       : WalkResult::advance();
    });
    return WalkResult::skip();
  });
  return success();
}
} // namespace

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "Looks for casts without a use.\n");
  if (!amp16.empty() && amp16 != "f16" && amp16 != "bf16") {
    llvm::errs() << "error: expected f16 or bf16, got " << amp16 << "\n";
    return 2;
  }
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry);
  auto module = parseSourceFile<ModuleOp>(file, &context);
  if (!module) {
    return 3;
  }
  Checker checker(*module);
  if (amp16.empty()) {
    module->walk([&](amp::CastOp op) { checker.look(op); });
  } else if (failed(checkRules(*module, checker))) {
    return 3;
  }
  llvm::outs() << checker.casts << " casts, " << checker.found
               << " not needed\n";
  return checker.found ? 1 : 0;
}
