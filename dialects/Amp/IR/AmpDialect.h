//===- AmpDialect.h - The amp dialect, its enums and attributes -----------===//
#ifndef AMPC_DIALECTS_AMP_IR_AMPDIALECT_H
#define AMPC_DIALECTS_AMP_IR_AMPDIALECT_H

#include "dialects/Interfaces/AutocastClass.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"

#include "dialects/Amp/IR/AmpDialect.h.inc"
#include "dialects/Amp/IR/AmpEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Amp/IR/AmpAttrs.h.inc"

#endif // AMPC_DIALECTS_AMP_IR_AMPDIALECT_H
