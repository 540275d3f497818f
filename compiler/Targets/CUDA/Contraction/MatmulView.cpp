//===- MatmulView.cpp - Matrix products, in batches -----------------------===//
#include "compiler/Targets/CUDA/Contraction/GemmView.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cuda;

namespace {

class MatmulView final : public GemmView {
public:
  explicit MatmulView(amp::MatmulOp op) : op(op) {
    ArrayRef<int64_t> shape = shapeOf(op.getResult());
    batchShape.assign(shape.begin(), shape.end() - 2);
    batch = llvm::product_of(batchShape);
    m = shape[shape.size() - 2];
    n = shape.back();
    ArrayRef<int64_t> lhs = shapeOf(op.getLhs());
    k = lhs[lhs.size() - (op.getTransposeLhs() ? 2 : 1)];
    result = op.getResult();
    bias = op.getBias();
    left = {getElementTypeOrSelf(op.getLhs().getType()), !op.getTransposeLhs(),
            lanesFor(lhs.back())};
    right = {getElementTypeOrSelf(op.getRhs().getType()), op.getTransposeRhs(),
             lanesFor(shapeOf(op.getRhs()).back())};
  }

  Place place(CudaEmitter &e, Side side, Value batchIndex, Value line,
              const Depth &depth, int64_t count) override {
    Value kk = depth.total(e);
    Value tensor = side == Side::Left ? op.getLhs() : op.getRhs();
    ArrayRef<int64_t> shape = shapeOf(tensor);
    SmallVector<Value> full = e.delinearize(batchIndex, batchShape);
    Place result;
    result.tensor = tensor;
    size_t own = shape.size() - 2;
    for (size_t i = 0; i < own; ++i) {
      result.index.push_back(
          {shape[i] == 1 ? e.index(0) : full[batchShape.size() - own + i], 0});
    }
    bool alongK = operand(side).alongK;
    result.index.push_back({alongK ? line : kk, 0});
    result.index.push_back({alongK ? kk : line, count == 1 ? 0 : 1});
    return result;
  }

  SmallVector<Value> resultIndex(CudaEmitter &e, Value batchIndex, Value row,
                                 Value column) override {
    SmallVector<Value> index = e.delinearize(batchIndex, batchShape);
    index.append({row, column});
    return index;
  }

private:
  amp::MatmulOp op;
  SmallVector<int64_t> batchShape;
};

} // namespace

std::unique_ptr<GemmView> cuda::createMatmulView(Operation *op) {
  auto matmul = dyn_cast<amp::MatmulOp>(op);
  return matmul ? std::make_unique<MatmulView>(matmul) : nullptr;
}
