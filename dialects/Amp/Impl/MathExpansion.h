#include "mlir/IR/Builders.h"
namespace ampc::amp { mlir::Value roundTo16Bit(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value, mlir::Type element); }
