//===- example-opt.cpp - ampc-opt with the example's passes ---------------===//
#include "Passes.h"

#include "compiler/Registration/Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  ampc::registerDialects(registry);
  ampc::registerPasses();
  example::registerExamplePasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "ampc example driver\n", registry));
}
