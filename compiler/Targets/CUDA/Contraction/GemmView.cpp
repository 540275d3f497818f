//===- GemmView.cpp - Contractions as products of matrices ----------------===//
#include "compiler/Targets/CUDA/Contraction/GemmView.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cuda;

static FailureOr<Value> pull(CudaEmitter &e, const GemmView::Place &place,
                             int64_t count) {
  ElementPuller puller(e, count);
  FailureOr<Value> value = puller.get(place.tensor, place.index);
  return failed(value) ? value : FailureOr<Value>(puller.splat(*value));
}

FailureOr<Value> GemmView::elements(CudaEmitter &e, Side side,
                                    const Place &place, int64_t count) {
  if (!place.inside) {
    return pull(e, place, count);
  }
  Type type = getComputeType(operand(side).element);
  Type wide = count == 1 ? type : Type(VectorType::get({count}, type));
  auto choice =
      scf::IfOp::create(e.b, e.loc, wide, place.inside, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(choice.thenBlock());
  FailureOr<Value> value = pull(e, place, count);
  if (failed(value)) {
    return failure();
  }
  scf::YieldOp::create(e.b, e.loc, *value);
  e.b.setInsertionPointToStart(choice.elseBlock());
  Value zero = arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(wide));
  scf::YieldOp::create(e.b, e.loc, zero);
  return choice.getResult(0);
}

std::unique_ptr<GemmView> GemmView::create(Operation *op) {
  for (auto create :
       {createMatmulView, createConvView, createWeightGradientView}) {
    if (auto view = create(op)) {
      return view;
    }
  }
  return nullptr;
}
