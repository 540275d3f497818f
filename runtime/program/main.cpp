//===- main.cpp - The entry point of a produced program -------------------===//
#include "ampc/runtime.h"

/// Defined by the compiled object.
extern "C" const ampc_program ampc_program_entry;

int main(int argc, char **argv) {
  return ampc_program_main(argc, argv, &ampc_program_entry);
}
