//===- TmaOperand.cpp - Matrices that the copy engine brings --------------===//
#include "compiler/Targets/CUDA/Contraction/TmaOperand.h"

#include "compiler/Targets/CUDA/Contraction/StridedView.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cuda;

namespace {

constexpr int64_t elementBytes = 2;
constexpr int64_t chunkElements = 8; // 16 bytes, what strides are multiples of
constexpr int64_t maxBatches = 3;    // a map has five dimensions

} // namespace

/// Dimensions [first, last) of `view` as one; nothing when they are not evenly
/// spaced. One of a single element has whatever stride suits: 0.
std::optional<TmaOperand::Dimension>
TmaOperand::merge(const StridedView &view, ArrayRef<int64_t> dimensions) {
  Dimension merged{1, 0};
  for (int64_t i : llvm::reverse(dimensions)) {
    if (view.sizes[i] == 1) {
      continue;
    }
    if (merged.size == 1) {
      merged.stride = view.strides[i];
    } else if (view.strides[i] != merged.stride * merged.size) {
      return std::nullopt;
    }
    merged.size *= view.sizes[i];
  }
  return merged;
}

bool TmaOperand::describeMatmul(amp::MatmulOp op, bool isLeft) {
  auto view = StridedView::create(isLeft ? op.getLhs() : op.getRhs());
  if (!view) {
    return false;
  }
  argument = view->argument;
  ArrayRef<int64_t> result = shapeOf(op.getResult());
  batchShape.assign(result.begin(), result.end() - 2);
  auto own = static_cast<int64_t>(view->sizes.size()) - 2;
  auto batchRank = static_cast<int64_t>(batchShape.size());
  for (int64_t i = 0; i < own; ++i) {
    if (view->sizes[i] != 1) {
      batches.push_back({view->sizes[i], view->strides[i],
                         /*isK=*/false, batchRank - own + i});
    }
  }
  // (m, k) and (k, n), or the other way round.
  bool kLast = isLeft ? !op.getTransposeLhs() : op.getTransposeRhs();
  inner = *merge(*view, {kLast ? own + 1 : own});
  outer = *merge(*view, {kLast ? own : own + 1});
  return true;
}

/// The input where a window is one pixel; the weight with channels within taps.
template <typename ConvOp>
bool TmaOperand::describeConv(ConvOp op, bool isLeft) {
  auto view = StridedView::create(isLeft ? op.getInput() : op.getWeight());
  if (!view || op.getLayout() != amp::Layout::ChannelsLast ||
      op.getGroup() != 1) {
    return false;
  }
  argument = view->argument;
  auto rank = static_cast<int64_t>(view->sizes.size());
  std::optional<Dimension> along, other;
  if (isLeft) {
    auto all = [](ArrayRef<int64_t> values, int64_t wanted) {
      return llvm::all_of(values, [&](int64_t v) { return v == wanted; });
    };
    if (!all(shapeOf(op.getWeight()).drop_front(2), 1) ||
        !all(op.getStrides(), 1) || !all(op.getPads(), 0)) {
      return false;
    }
    along = merge(*view, {rank - 1});
    other = merge(*view, llvm::to_vector(llvm::seq<int64_t>(0, rank - 1)));
  } else {
    constexpr bool transposed = std::is_same_v<ConvOp, amp::ConvTransposeOp>;
    auto window = llvm::to_vector(llvm::seq<int64_t>(2, rank));
    window.push_back(transposed ? 0 : 1);
    along = merge(*view, window);
    other = merge(*view, {transposed ? 1 : 0});
  }
  if (!along || !other) {
    return false;
  }
  inner = *along;
  outer = *other;
  return true;
}

std::optional<TmaOperand> TmaOperand::create(Operation *op, bool isLeft) {
  TmaOperand operand;
  bool described = false;
  if (auto matmul = dyn_cast<amp::MatmulOp>(op)) {
    described = operand.describeMatmul(matmul, isLeft);
  } else if (auto conv = dyn_cast<amp::ConvOp>(op)) {
    described = operand.describeConv(conv, isLeft);
  } else if (auto conv = dyn_cast<amp::ConvTransposeOp>(op)) {
    described = operand.describeConv(conv, isLeft);
  }
  if (!described) {
    return std::nullopt;
  }
  operand.inner.isK = true;
  auto suits = [](const Dimension &inner, const Dimension &outer) {
    return (inner.stride == 1 || inner.size == 1) &&
           outer.stride % chunkElements == 0;
  };
  if (!suits(operand.inner, operand.outer)) {
    std::swap(operand.inner, operand.outer);
    if (!suits(operand.inner, operand.outer)) {
      return std::nullopt;
    }
  }
  bool aligned = llvm::all_of(operand.batches, [](const Dimension &dimension) {
    return dimension.stride % chunkElements == 0;
  });
  return aligned && operand.batches.size() <= maxBatches
             ? std::optional(std::move(operand))
             : std::nullopt;
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
        i == 0 ? elementBytes
               : std::max<uint64_t>(dimension.stride * elementBytes,
                                    chunkElements * elementBytes);
    described.box[i] = static_cast<uint32_t>(box);
  };
  add(inner, depth);
  add(outer, alongK() ? extent : depth);
  for (const Dimension &dimension : batches) {
    add(dimension, 1);
  }
  map = e.addTensorMap(described);
}

uint64_t TmaOperand::descriptorBits(bool alongK) {
  // Groups of eight rows follow each other; MN-major, 64 elements of m or n
  // after the other are a box of their own.
  constexpr uint64_t swizzle128 = 1, groupBytes = 8 * 128;
  uint64_t leading = alongK ? 16 : depth * 128;
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
