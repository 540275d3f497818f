//===- GatheredOperand.cpp - im2col of a convolution, by threads ----------===//
#include "compiler/Targets/CUDA/Contraction/GatheredOperand.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cuda;

static constexpr int64_t chunkElements = 8, chunkBytes = 16;
static constexpr int64_t rowChunks = WgmmaTile::k / chunkElements;

std::optional<GatheredOperand> GatheredOperand::create(Operation *op,
                                                       const GemmView &view) {
  Value tensor;
  if (auto conv = dyn_cast<amp::ConvOp>(op)) {
    tensor = conv.getInput();
  } else if (auto conv = dyn_cast<amp::ConvTransposeOp>(op)) {
    tensor = conv.getInput();
  } else {
    return std::nullopt;
  }
  auto input = StridedView::create(tensor);
  if (!input || view.left.lanes != chunkElements ||
      input->strides.back() != 1) {
    return std::nullopt;
  }
  for (int64_t stride : ArrayRef(input->strides).drop_back()) {
    if (stride % chunkElements != 0) {
      return std::nullopt;
    }
  }
  GatheredOperand operand;
  operand.input = std::move(*input);
  return operand;
}

void GatheredOperand::load(CudaEmitter &e, GemmView &view, Value to,
                           Value thread, Value row, int64_t rows,
                           Value kk) const {
  Type i32 = e.b.getI32Type();
  auto toWord = [&](Value index) -> Value {
    return arith::IndexCastOp::create(e.b, e.loc, i32, index);
  };
  auto at = [&](Value pointer, Type type, Value bytes) -> Value {
    return LLVM::GEPOp::create(e.b, e.loc, pointer.getType(), type, pointer,
                               ArrayRef<LLVM::GEPArg>{bytes});
  };
  // A thread has the same chunk of every 16th row: one position along k.
  Value chunk = arith::RemUIOp::create(e.b, e.loc, thread, e.index(rowChunks));
  Value firstRow =
      arith::DivUIOp::create(e.b, e.loc, thread, e.index(rowChunks));
  GemmView::Depth own{kk, e.mulIndex(chunk, chunkElements), WgmmaTile::k};
  Value inK =
      view.k % WgmmaTile::k == 0 ? Value() : e.isBelow(own.total(e), view.k);
  // The swizzle: chunk xor row within a group of eight.
  Value bits = arith::AndIOp::create(e.b, e.loc, firstRow, e.index(7));
  Value moved = arith::XOrIOp::create(e.b, e.loc, chunk, bits);
  Value start = e.addIndex(e.mulIndex(firstRow, rowChunks * chunkBytes),
                           e.mulIndex(moved, chunkBytes));
  Value shared = at(to, e.b.getI8Type(), toWord(start));
  auto global = LLVM::LLVMPointerType::get(
      e.b.getContext(), static_cast<unsigned>(NVVM::NVVMMemorySpace::Global));
  Value source = LLVM::AddrSpaceCastOp::create(
      e.b, e.loc, global, e.argumentPointer(input.argument.getArgNumber()));
  constexpr int64_t step = WgmmaTile::warpgroupThreads / rowChunks;
  for (int64_t i = 0; i < rows; i += step) {
    Value line = e.addIndex(row, e.addIndex(firstRow, e.index(i)));
    GemmView::Place place = view.place(e, GemmView::Side::Left, e.index(0),
                                       line, own, chunkElements);
    Value inside = e.bothOf(place.inside, inK);
    // All rows of the tile, and not only the last ones, may lie outside.
    if (view.m % rows != 0) {
      inside = e.bothOf(inside, e.isBelow(line, view.m));
    }
    Value offset = e.index(0);
    for (auto [lane, stride] : llvm::zip_equal(place.index, input.strides)) {
      offset = e.addIndex(offset, e.mulIndex(lane.base, stride));
    }
    Value bytes = arith::ConstantOp::create(e.b, e.loc,
                                            e.b.getI32IntegerAttr(chunkBytes));
    if (inside) {
      offset = arith::SelectOp::create(e.b, e.loc, inside, offset, e.index(0));
      Value none =
          arith::ConstantOp::create(e.b, e.loc, e.b.getI32IntegerAttr(0));
      bytes = arith::SelectOp::create(e.b, e.loc, inside, bytes, none);
    }
    Value wide =
        arith::IndexCastOp::create(e.b, e.loc, e.b.getI64Type(), offset);
    Value from = LLVM::GEPOp::create(e.b, e.loc, global, e.b.getI16Type(),
                                     source, ArrayRef<LLVM::GEPArg>{wide});
    Value place16 = LLVM::GEPOp::create(
        e.b, e.loc, shared.getType(), e.b.getI8Type(), shared,
        ArrayRef<LLVM::GEPArg>{int32_t(i * rowChunks * chunkBytes)});
    NVVM::CpAsyncOp::create(e.b, e.loc, place16, from, chunkBytes,
                            NVVM::LoadCacheModifierKind::CG, bytes);
  }
}
