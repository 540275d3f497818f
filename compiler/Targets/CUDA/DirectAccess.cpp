//===- DirectAccess.cpp - Elements that lie in memory as an op reads them -===//
#include "compiler/Targets/CUDA/DirectAccess.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cuda;

Value DirectAccess::pointer(CudaEmitter &e) const {
  Type element = getElementTypeOrSelf(argument.getType());
  Type bits = e.b.getIntegerType(element.getIntOrFloatBitWidth());
  Value address = e.elementPointer(e.argumentPointer(argument.getArgNumber()),
                                   bits, offset);
  return LLVM::AddrSpaceCastOp::create(
      e.b, e.loc,
      LLVM::LLVMPointerType::get(
          e.b.getContext(),
          static_cast<unsigned>(NVVM::NVVMMemorySpace::Global)),
      address);
}

/// The elements are pulled as usual, with a stand-in for those of a buffer: if
/// that comes back as it is, nothing but views lies between.
std::optional<DirectAccess> cuda::findDirectAccess(CudaEmitter &e, Value tensor,
                                                   ArrayRef<LaneIndex> index,
                                                   int64_t lanes) {
  ElementPuller puller(e, lanes);
  std::optional<DirectAccess> access;
  Value standIn;
  Type element = getElementTypeOrSelf(tensor.getType());
  puller.loader = [&](BlockArgument argument, Value offset,
                      int64_t step) -> Value {
    if (getElementTypeOrSelf(argument.getType()) != element ||
        (lanes > 1 && step != 1)) {
      return {};
    }
    access = DirectAccess{argument, offset};
    standIn = puller.constant(getComputeType(element), 0);
    return standIn;
  };
  FailureOr<Value> value = puller.get(tensor, index);
  return succeeded(value) && access && *value == standIn ? access
                                                         : std::nullopt;
}
