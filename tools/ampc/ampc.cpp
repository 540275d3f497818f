//===- ampc.cpp - The compiler's program ----------------------------------===//
#include "compiler/Driver/Driver.h"

int main(int argc, char **argv) { return ampc::driver::ampcMain(argc, argv); }
