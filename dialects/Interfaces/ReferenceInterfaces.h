//===- ReferenceInterfaces.h - What the reference evaluator asks ----------===//
#ifndef AMPC_DIALECTS_INTERFACES_REFERENCEINTERFACES_H
#define AMPC_DIALECTS_INTERFACES_REFERENCEINTERFACES_H

#include "mlir/IR/OpDefinition.h"

namespace ampc::ref {
class Tensor;
} // namespace ampc::ref

#include "dialects/Interfaces/ReferenceInterfaces.h.inc"

#endif // AMPC_DIALECTS_INTERFACES_REFERENCEINTERFACES_H
