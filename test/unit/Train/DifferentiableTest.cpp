//===- DifferentiableTest.cpp - Every operation has a gradient or a reason ===//
#include "compiler/Registration/Registration.h"
#include "dialects/Amp/IR/AmpOps.h"
#include "dialects/Interfaces/DifferentiableInterfaces.h"
#include "dialects/Train/IR/TrainDialect.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace {

/// Operations without a gradient, with the reason, of the list.
llvm::StringMap<std::string> readReasons() {
  llvm::StringMap<std::string> reasons;
  auto file =
      llvm::MemoryBuffer::getFile(AMPC_TEST_DATA "/not_differentiable.tsv");
  EXPECT_TRUE(file);
  llvm::SmallVector<llvm::StringRef> lines;
  (*file)->getBuffer().split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef line : lines) {
    if (line.starts_with("#")) {
      continue;
    }
    auto [name, reason] = line.split('\t');
    EXPECT_FALSE(reason.trim().empty()) << name.str();
    EXPECT_TRUE(reasons.try_emplace(name, reason.str()).second) << name.str();
  }
  return reasons;
}

} // namespace

TEST(Differentiable, EveryOperationOrAReason) {
  DialectRegistry registry;
  ampc::registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadDialect<ampc::amp::AmpDialect, ampc::train::TrainDialect>();
  llvm::StringMap<std::string> reasons = readReasons();
  unsigned differentiable = 0;
  for (RegisteredOperationName op : context.getRegisteredOperations()) {
    if (op.getDialectNamespace() != "amp" &&
        op.getDialectNamespace() != "train") {
      continue;
    }
    bool isListed = reasons.erase(op.getStringRef());
    if (op.hasInterface<ampc::DifferentiableOpInterface>()) {
      ++differentiable;
      EXPECT_FALSE(isListed) << op.getStringRef().str() << " has a gradient";
    } else {
      EXPECT_TRUE(isListed) << op.getStringRef().str()
                            << " has no gradient, and no reason for it";
    }
  }
  for (const auto &entry : reasons) {
    ADD_FAILURE() << "there is no operation " << entry.first().str();
  }
  EXPECT_GT(differentiable, 70u);
}
