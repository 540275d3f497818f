//===- RtDialect.cpp - Registration of the rt dialect ---------------------===//
#include "dialects/Rt/IR/RtDialect.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ampc;

#include "dialects/Rt/IR/RtDialect.cpp.inc"
#include "dialects/Rt/IR/RtEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Rt/IR/RtAttrs.cpp.inc"

void rt::RtDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Rt/IR/RtOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Rt/IR/RtAttrs.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "dialects/Rt/IR/RtOps.cpp.inc"
