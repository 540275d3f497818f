//===- TmaOperand.cpp - Matrices that the copy engine brings --------------===//
#include "compiler/Targets/CUDA/TmaOperand.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cuda;

namespace {

/// A kernel argument seen through transposes, and reshapes of all of it.
struct StridedView {
  BlockArgument argument;
  SmallVector<int64_t> sizes, strides; ///< elements

  static std::optional<StridedView> create(Value tensor) {
    if (auto argument = dyn_cast<BlockArgument>(tensor)) {
      return dense(argument, shapeOf(tensor));
    }
    if (auto transpose = tensor.getDefiningOp<amp::TransposeOp>()) {
      auto input = create(transpose.getInput());
      if (!input) {
        return std::nullopt;
      }
      StridedView view{input->argument, {}, {}};
      for (int64_t dimension : transpose.getPermutation()) {
        view.sizes.push_back(input->sizes[dimension]);
        view.strides.push_back(input->strides[dimension]);
      }
      return view;
    }
    if (auto reshape = tensor.getDefiningOp<amp::ReshapeOp>()) {
      auto input = create(reshape.getInput());
      bool whole = input && input->strides ==
                                dense(input->argument, input->sizes).strides;
      return whole ? std::optional(dense(input->argument, shapeOf(tensor)))
                   : std::nullopt;
    }
    return std::nullopt;
  }

private:
  static StridedView dense(BlockArgument argument, ArrayRef<int64_t> shape) {
    StridedView view{argument, SmallVector<int64_t>(shape),
                     SmallVector<int64_t>(shape.size())};
    int64_t stride = 1;
    for (size_t i = shape.size(); i-- > 0; stride *= shape[i]) {
      view.strides[i] = stride;
    }
    return view;
  }
};

constexpr int64_t elementBytes = 2;
constexpr int64_t chunkElements = 8; // 16 bytes, what strides are multiples of
constexpr int64_t maxBatches = 3;    // a map has five dimensions

} // namespace

std::optional<TmaOperand> TmaOperand::create(Operation *op, bool isLeft) {
  TmaOperand operand;
  std::optional<StridedView> view;
  Dimension along, other; // k; m or n
  if (auto matmul = dyn_cast<amp::MatmulOp>(op)) {
    view = StridedView::create(isLeft ? matmul.getLhs() : matmul.getRhs());
    if (!view) {
      return std::nullopt;
    }
    ArrayRef<int64_t> result = shapeOf(matmul.getResult());
    operand.batchShape.assign(result.begin(), result.end() - 2);
    auto own = static_cast<int64_t>(view->sizes.size()) - 2;
    auto batchRank = static_cast<int64_t>(operand.batchShape.size());
    for (int64_t i = 0; i < own; ++i) {
      if (view->sizes[i] != 1) {
        operand.batches.push_back({view->sizes[i], view->strides[i],
                                   /*isK=*/false, batchRank - own + i});
      }
    }
    // (m, k) and (k, n), or the other way round.
    bool kLast = isLeft ? !matmul.getTransposeLhs() : matmul.getTransposeRhs();
    int64_t k = kLast ? own + 1 : own, mn = kLast ? own : own + 1;
    along = {view->sizes[k], view->strides[k]};
    other = {view->sizes[mn], view->strides[mn]};
  } else {
    return std::nullopt;
  }
  along.isK = true;
  // A dimension of one element has whatever stride suits.
  for (Dimension *dimension : {&along, &other}) {
    if (dimension->size == 1) {
      dimension->stride = 0;
    }
  }
  auto canBe = [](const Dimension &inner, const Dimension &outer) {
    return (inner.stride == 1 || inner.size == 1) &&
           (outer.stride % chunkElements == 0);
  };
  if (canBe(along, other)) {
    operand.inner = along;
    operand.outer = other;
  } else if (canBe(other, along)) {
    operand.inner = other;
    operand.outer = along;
  } else {
    return std::nullopt;
  }
  bool aligned = llvm::all_of(operand.batches, [](const Dimension &dimension) {
    return dimension.stride % chunkElements == 0;
  });
  if (!aligned || operand.batches.size() > maxBatches) {
    return std::nullopt;
  }
  operand.argument = view->argument;
  return operand;
}

void TmaOperand::addMap(CudaEmitter &e, int64_t blockExtent) {
  extent = blockExtent;
  Type element = getElementTypeOrSelf(argument.getType());
  ampc_gpu_tensor_map described{};
  described.param = argument.getArgNumber();
  described.dtype = element.isF16() ? AMPC_DTYPE_F16 : AMPC_DTYPE_BF16;
  described.swizzle = depth * elementBytes;
  auto add = [&](const Dimension &dimension, int64_t box) {
    uint32_t i = described.rank++;
    described.sizes[i] = static_cast<uint64_t>(dimension.size);
    described.strides[i] =
        static_cast<uint64_t>(i == 0 ? 1 : dimension.stride) * elementBytes;
    described.box[i] = static_cast<uint32_t>(box);
  };
  add(inner, depth);
  add(outer, alongK() ? extent : depth);
  for (const Dimension &dimension : batches) {
    add(dimension, 1);
  }
  map = e.addTensorMap(described);
}

uint64_t TmaOperand::descriptorBits() const {
  // Groups of eight rows follow each other; MN-major, 64 elements of m or n
  // after the other are a box of their own.
  constexpr uint64_t swizzle128 = 1, groupBytes = 8 * 128;
  uint64_t leading = alongK() ? 16 : depth * 128;
  return swizzle128 << 62 | (groupBytes >> 4) << 32 | (leading >> 4) << 16;
}

void TmaOperand::load(CudaEmitter &e, Value to, Value barrier, Value batch,
                      Value first, Value kk) const {
  Type i32 = e.b.getI32Type();
  auto coordinate = [&](Value index) -> Value {
    return arith::IndexCastOp::create(e.b, e.loc, i32, index);
  };
  SmallVector<Value> batchIndex = e.delinearize(batch, batchShape);
  auto cluster = LLVM::LLVMPointerType::get(
      e.b.getContext(),
      static_cast<unsigned>(NVVM::NVVMMemorySpace::SharedCluster));
  int64_t boxes = alongK() ? 1 : extent / depth;
  for (int64_t i = 0; i < boxes; ++i) {
    Value at = e.addIndex(first, e.index(i * depth));
    SmallVector<Value> coordinates{coordinate(alongK() ? kk : at),
                                   coordinate(alongK() ? at : kk)};
    for (const Dimension &dimension : batches) {
      coordinates.push_back(coordinate(batchIndex[dimension.ofBatch]));
    }
    Value place = LLVM::GEPOp::create(
        e.b, e.loc, to.getType(), e.b.getI8Type(), to,
        ArrayRef<LLVM::GEPArg>{int32_t(i * depth * depth * elementBytes)});
    place = LLVM::AddrSpaceCastOp::create(e.b, e.loc, cluster, place);
    NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
        e.b, e.loc, place, map, coordinates, barrier,
        /*im2colOffsets=*/ValueRange{}, /*multicastMask=*/Value(),
        /*l2CacheHint=*/Value(), NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false,
        /*group=*/nullptr, /*predicate=*/Value());
  }
}

void TmaOperand::prefetchMap(CudaEmitter &e) const {
  NVVM::PrefetchOp::create(e.b, e.loc, /*cacheLevel=*/nullptr,
                           /*evictPriority=*/nullptr, map,
                           /*predicate=*/Value(),
                           /*tensormap=*/e.b.getUnitAttr(),
                           /*uniform=*/nullptr, /*in_param_space=*/nullptr);
}
