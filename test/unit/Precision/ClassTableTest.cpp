//===- ClassTableTest.cpp - Declared classes against the class table ------===//
//
// Each op with an autocast class has the class that the table of ONNX operators
// gives its counterpart. Ops that differ or have no counterpart are listed
// here; an entry that is no longer needed fails.
//
//===----------------------------------------------------------------------===//
#include "dialects/Amp/IR/AmpOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace ampc;

namespace {
/// Ops whose ONNX counterparts are called otherwise.
const std::pair<StringRef, StringRef> counterparts[] = {
    {"avg_pool", "AveragePool"},
    {"batch_norm", "BatchNormalization"},
    {"broadcast", "Expand"},
    {"compare", "Less"},
    {"compare", "LessOrEqual"},
    {"compare", "Greater"},
    {"compare", "GreaterOrEqual"},
    {"compare", "Equal"},
    {"group_norm", "GroupNormalization"},
    {"iota", "Range"},
    {"layer_norm", "LayerNormalization"},
    {"logical_not", "Not"},
    {"rms_norm", "RMSNormalization"},
    {"select", "Where"},
    {"shift_left", "BitShift"},
    {"shift_right", "BitShift"},
    {"silu", "Swish"},
};

/// Ops that have another class than their counterpart.
const std::pair<StringRef, StringRef> deviations[] = {
    {"group_norm", "returns its input's type unless norm-output=fp32"},
    {"iota", "has no float operand"},
    {"layer_norm", "returns its input's type unless norm-output=fp32"},
    {"pad", "the value that fills takes the type of the data"},
    {"rms_norm", "returns its input's type unless norm-output=fp32"},
};

/// Ops that stand for no ONNX operator.
const StringRef ownOps[] = {"avg_pool_gradient",
                            "composite",
                            "conv_weight_gradient",
                            "max_pool_gradient",
                            "pack",
                            "rsqrt",
                            "unpack"};

std::string normalize(StringRef name) {
  std::string text;
  llvm::copy_if(name.lower(), std::back_inserter(text),
                [](char c) { return c != '_'; });
  return text;
}

llvm::StringMap<std::string> readTable() {
  auto file = llvm::MemoryBuffer::getFile(AMPC_CLASS_TABLE);
  llvm::StringMap<std::string> table;
  if (!file) {
    return table;
  }
  SmallVector<StringRef> lines, fields;
  (*file)->getBuffer().split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : ArrayRef(lines).drop_front()) {
    fields.clear();
    line.split(fields, '\t');
    table[normalize(fields[0])] = fields[1].str();
  }
  return table;
}

/// The class that an op without operands or attributes states.
std::string getClass(RegisteredOperationName name) {
  OperationState state(UnknownLoc::get(name.getContext()), name);
  Operation *op = Operation::create(state);
  std::string text =
      stringifyAutocastClass(cast<PrecisionOpInterface>(op).getAutocastClass())
          .str();
  op->destroy();
  return text;
}
} // namespace

TEST(ClassTable, declaredClassesAreThoseOfTheTable) {
  llvm::StringMap<std::string> table = readTable();
  ASSERT_EQ(table.size(), 208u);
  DialectRegistry registry;
  registry.insert<amp::AmpDialect>();
  MLIRContext context(registry);
  context.loadAllAvailableDialects();

  unsigned compared = 0;
  for (RegisteredOperationName name :
       context.getRegisteredOperationsByDialect("amp")) {
    StringRef mnemonic = name.stripDialect();
    if (!name.hasInterface<PrecisionOpInterface>()) {
      continue;
    }
    SmallVector<std::string> onnx;
    for (auto [own, counterpart] : counterparts) {
      if (own == mnemonic) {
        onnx.push_back(normalize(counterpart));
        EXPECT_NE(normalize(counterpart), normalize(own)) << "needless entry";
      }
    }
    if (onnx.empty()) {
      onnx.push_back(normalize(mnemonic));
    }
    if (llvm::is_contained(ownOps, mnemonic)) {
      EXPECT_FALSE(table.contains(onnx.front())) << mnemonic.str();
      continue;
    }
    bool deviates = llvm::any_of(
        deviations, [&](auto &entry) { return entry.first == mnemonic; });
    std::string actual = getClass(name);
    for (const std::string &counterpart : onnx) {
      auto row = table.find(counterpart);
      if (row == table.end()) {
        ADD_FAILURE() << mnemonic.str() << " is in no row of the table";
        continue;
      }
      EXPECT_EQ(actual != row->second, deviates)
          << mnemonic.str() << " is " << actual << ", the table says "
          << row->second;
      ++compared;
    }
  }
  EXPECT_GT(compared, 80u);
}
