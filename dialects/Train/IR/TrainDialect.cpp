//===- TrainDialect.cpp - Registration of the train dialect ---------------===//
#include "dialects/Train/IR/TrainDialect.h"

using namespace mlir;
using namespace ampc;

#include "dialects/Train/IR/TrainDialect.cpp.inc"

void train::TrainDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Train/IR/TrainOps.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "dialects/Train/IR/TrainOps.cpp.inc"
