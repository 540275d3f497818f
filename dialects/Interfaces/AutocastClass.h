//===- AutocastClass.h - How autocast treats an operation -----------------===//
#ifndef AMPC_DIALECTS_INTERFACES_AUTOCASTCLASS_H
#define AMPC_DIALECTS_INTERFACES_AUTOCASTCLASS_H

#include "mlir/IR/BuiltinAttributes.h"

#include "dialects/Interfaces/AutocastClass.h.inc"

#endif // AMPC_DIALECTS_INTERFACES_AUTOCASTCLASS_H
