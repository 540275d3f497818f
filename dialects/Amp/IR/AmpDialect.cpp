//===- AmpDialect.cpp - Registration of the amp dialect -------------------===//
#include "dialects/Amp/IR/AmpDialect.h"

#include "dialects/Amp/IR/AmpOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "dialects/Amp/IR/AmpDialect.cpp.inc"
#include "dialects/Amp/IR/AmpEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Amp/IR/AmpAttrs.cpp.inc"

void ampc::amp::AmpDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Amp/IR/AmpOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Amp/IR/AmpAttrs.cpp.inc"
      >();
}
