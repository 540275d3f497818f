//===- ampc-opt.cpp - Runs passes and phases alone, for tests -------------===//
#include "compiler/Registration/Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  ampc::registerDialects(registry);
  ampc::registerPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "ampc optimizer driver\n", registry));
}
