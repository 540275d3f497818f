//===- ContractionKernel.cpp - The panel kernel ---------------------------===//
// A work item is a block of rows times a range of panels. Its rows of the left
// matrix are read in place or copied to scratch as f32; the right matrix comes
// in panels, packed ahead or copied to scratch. A tile of `tileRows` rows by
// one panel accumulates in registers over all of k; the epilogue then runs over
// the tile, row by row.
#include "compiler/Targets/CPU/Contraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cpu;

namespace {

class PanelKernel {
public:
  PanelKernel(CpuEmitter &e, const ContractionView &view)
      : e(e), view(view), lanes(e.traits.lanes) {
    panel = view.panel ? view.panel : 2 * lanes;
    vectors = panel / lanes;
    tileRows = tileRowsFor(e.machine, vectors);
    panels = llvm::divideCeil(view.n, panel);
    planBlocks();
  }

  int64_t items() const { return view.batch * rowBlocks() * panelBlocks(); }

  /// Lays out scratch; returns the bytes.
  int64_t planScratch() {
    int64_t leftBytes = blockRows * leftStride() * 4;
    int64_t rightBytes =
        view.packedArgument ? 0 : blockPanels * view.k * panel * 4;
    tileOffset = llvm::alignTo(leftBytes, 64);
    rightOffset = tileOffset + tileRows * panel * 4;
    return llvm::alignTo(rightOffset + rightBytes, 64);
  }

  LogicalResult emitItem(Value item) {
    SmallVector<Value> at =
        e.delinearize(item, {view.batch, panelBlocks(), rowBlocks()});
    return emitBlock(at[0], e.mulIndex(at[2], blockRows),
                     e.mulIndex(at[1], blockPanels));
  }

private:
  int64_t rowBlocks() const { return llvm::divideCeil(view.m, blockRows); }
  int64_t panelBlocks() const { return llvm::divideCeil(panels, blockPanels); }

  /// Rows and panels of a work item: the rows of the left matrix stay in half
  /// of the second-level cache, and there are enough items to share out.
  void planBlocks() {
    int64_t fit = e.machine.l2Bytes / 2 / std::max<int64_t>(view.k * 4, 1);
    blockRows = std::clamp<int64_t>(fit / tileRows * tileRows, 2 * tileRows,
                                    20 * tileRows);
    blockRows = std::min(blockRows, view.m);
    constexpr int64_t wantedItems = 8;
    int64_t split = std::clamp<int64_t>(
        llvm::divideCeil(wantedItems, rowBlocks() * view.batch), 1, panels);
    blockPanels = llvm::divideCeil(panels, split);
    if (!view.packedArgument) {
      // Panels packed by the item share the cache with the rows.
      int64_t most = std::max<int64_t>(
          1, e.machine.l2Bytes / 2 / std::max<int64_t>(view.k * panel * 4, 1));
      blockPanels = std::min(blockPanels, most);
    }
  }

  /// Elements between rows in scratch: never a multiple of a page, which would
  /// put all rows of a tile into one cache set.
  int64_t leftStride() const { return llvm::alignTo(view.k, 16) + 16; }

  LogicalResult emitBlock(Value batch, Value firstRow, Value firstPanel) {
    Value rowEnd = bounded(firstRow, blockRows, view.m);
    Value panelEnd = bounded(firstPanel, blockPanels, panels);
    Value rows, rowsBase;
    int64_t stride = 0;
    // Rows a whole page apart fall into one cache set: copy those.
    auto direct = view.directRows(e, batch);
    if (direct) {
      stride = direct->second;
      rowsBase = e.addIndex(e.mulIndex(batch, view.m * stride),
                            e.mulIndex(firstRow, stride));
      rows = direct->first;
    } else {
      stride = leftStride();
      rows = e.scratchPointer(0);
      rowsBase = e.index(0);
      bool ok = true;
      e.forLoop(firstRow, rowEnd, 1, [&](Value row) {
        Value local = arith::SubIOp::create(e.b, e.loc, row, firstRow);
        Value target = offsetPointer(rows, e.mulIndex(local, stride));
        ok = succeeded(view.packRow(e, batch, row, target));
      });
      if (!ok) {
        return failure();
      }
    }
    bool ok = true;
    if (!view.packedArgument) {
      e.forLoop(firstPanel, panelEnd, 1, [&](Value j) {
        Value local = arith::SubIOp::create(e.b, e.loc, j, firstPanel);
        Value target = offsetPointer(e.scratchPointer(rightOffset),
                                     e.mulIndex(local, view.k * panel));
        ok = succeeded(
            view.packPanel(e, batch, e.mulIndex(j, panel), panel, target));
      });
    }
    e.forLoop(firstPanel, panelEnd, 1, [&](Value j) {
      MatrixBlock right = rightPanel(batch, j, firstPanel);
      auto tile = [&](Value row, int64_t height) {
        Value local = arith::SubIOp::create(e.b, e.loc, row, firstRow);
        Value offset = e.addIndex(rowsBase, e.mulIndex(local, stride));
        multiply({rows, offset, stride, e.b.getF32Type()}, right, height);
        ok = ok && succeeded(finish(batch, row, j, height));
      };
      int64_t rest = view.m % tileRows;
      bool onlyRest = view.m < tileRows;
      if (onlyRest) {
        tile(firstRow, rest);
        return;
      }
      Value size = arith::SubIOp::create(e.b, e.loc, rowEnd, firstRow);
      Value tail = rest == 0 ? e.index(0)
                             : arith::RemUIOp::create(e.b, e.loc, size,
                                                      e.index(tileRows))
                                   .getResult();
      Value mainEnd = arith::SubIOp::create(e.b, e.loc, rowEnd, tail);
      e.forLoop(firstRow, mainEnd, tileRows,
                [&](Value row) { tile(row, tileRows); });
      if (rest != 0) {
        e.forLoop(mainEnd, rowEnd, tileRows,
                  [&](Value row) { tile(row, rest); });
      }
    });
    return success(ok);
  }

  /// A tile, run by run.
  void multiply(MatrixBlock left, MatrixBlock right, int64_t height) {
    MatrixBlock tile{e.scratchPointer(tileOffset), e.index(0), panel,
                     e.b.getF32Type()};
    Value first = right.offset;
    SmallVector<ContractionView::Run> runs(view.runs);
    if (runs.empty()) {
      runs.push_back({0, view.k});
    }
    for (auto [i, run] : llvm::enumerate(runs)) {
      right.offset = e.addIndex(first, e.index(run.row * panel));
      emitTile(e, left, right, e.index(run.size), height, vectors, tile,
               /*accumulate=*/i != 0);
      left.offset = e.addIndex(left.offset, e.index(run.size));
    }
  }

  Value bounded(Value first, int64_t count, int64_t limit) {
    Value end = e.addIndex(first, e.index(count));
    return limit % count == 0
               ? end
               : arith::MinUIOp::create(e.b, e.loc, end, e.index(limit))
                     .getResult();
  }

  Value offsetPointer(Value pointer, Value elements) {
    Value offset =
        arith::IndexCastOp::create(e.b, e.loc, e.b.getI64Type(), elements);
    return LLVM::GEPOp::create(e.b, e.loc, pointer.getType(), e.b.getF32Type(),
                               pointer, ArrayRef<LLVM::GEPArg>{offset});
  }

  MatrixBlock rightPanel(Value batch, Value j, Value firstPanel) {
    if (!view.packedArgument) {
      Value local = arith::SubIOp::create(e.b, e.loc, j, firstPanel);
      return {e.scratchPointer(rightOffset), e.mulIndex(local, view.k * panel),
              panel, e.b.getF32Type()};
    }
    Value number =
        view.packedPerBatch ? e.addIndex(e.mulIndex(batch, panels), j) : j;
    return {e.argumentPointer(view.packedArgument.getArgNumber()),
            e.mulIndex(number, view.rightRows() * panel), panel,
            getElementTypeOrSelf(view.packedArgument.getType())};
  }

  /// The epilogue over a finished tile.
  LogicalResult finish(Value batch, Value firstRow, Value j, int64_t height) {
    Value tile = e.scratchPointer(tileOffset);
    Value firstColumn = e.mulIndex(j, panel);
    bool ok = true;
    e.forLoop(e.index(0), e.index(height), 1, [&](Value r) {
      Value row = e.addIndex(firstRow, r);
      auto emit = [&](Value c, int64_t width) {
        Value column = e.addIndex(firstColumn, c);
        SmallVector<LaneIndex> index;
        for (Value i : view.resultIndex(e, batch, row, column)) {
          index.push_back({i, 0});
        }
        index.back().step = width == 1 ? 0 : 1;
        Value acc = e.load(tile, e.b.getF32Type(),
                           e.addIndex(e.mulIndex(r, panel), c), width);
        FailureOr<Value> biased =
            addBias(e, view.bias, view.result, acc, index, width);
        ok = ok && succeeded(biased) &&
             succeeded(emitEpilogue(e, view.result, *biased, index, width));
      };
      if (view.n % panel == 0) {
        e.forLoop(e.index(0), e.index(panel), lanes,
                  [&](Value c) { emit(c, lanes); });
        return;
      }
      // Columns of this panel inside the matrix: whole vectors, then the rest.
      Value left =
          arith::SubIOp::create(e.b, e.loc, e.index(view.n), firstColumn);
      Value count = arith::MinUIOp::create(e.b, e.loc, left, e.index(panel));
      Value rest = arith::RemUIOp::create(e.b, e.loc, count, e.index(lanes));
      Value main = arith::SubIOp::create(e.b, e.loc, count, rest);
      if (view.n >= lanes) {
        e.forLoop(e.index(0), main, lanes, [&](Value c) { emit(c, lanes); });
      }
      if (view.n % lanes != 0) {
        e.forLoop(main, count, 1, [&](Value c) { emit(c, 1); });
      }
    });
    return success(ok);
  }

  CpuEmitter &e;
  const ContractionView &view;
  int64_t lanes, panel = 0, vectors = 0, tileRows = 0, panels = 0;
  int64_t blockRows = 0, blockPanels = 0;
  int64_t tileOffset = 0, rightOffset = 0;
};

/// The items of one view after those of another.
LogicalResult
emitPanelKernels(CpuEmitter &e,
                 ArrayRef<std::unique_ptr<ContractionView>> views) {
  SmallVector<PanelKernel> kernels;
  e.reset();
  e.launch.grain = 1;
  for (const auto &view : views) {
    if (view->m == 0 || view->n == 0 || view->rightRows() == 0 ||
        view->batch == 0) {
      return failure();
    }
    PanelKernel &kernel = kernels.emplace_back(e, *view);
    e.launch.items += kernel.items();
    e.launch.scratchBytes =
        std::max(e.launch.scratchBytes, kernel.planScratch());
  }
  bool ok = true;
  auto emit = [&](auto &&self, Value item, size_t i) -> void {
    if (i + 1 == kernels.size()) {
      ok = ok && succeeded(kernels[i].emitItem(item));
      return;
    }
    Value end = e.index(kernels[i].items());
    Value isMine =
        arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ult, item, end);
    auto choice = scf::IfOp::create(e.b, e.loc, isMine, /*withElse=*/true);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(choice.thenBlock());
    ok = ok && succeeded(kernels[i].emitItem(item));
    e.b.setInsertionPointToStart(choice.elseBlock());
    self(self, arith::SubIOp::create(e.b, e.loc, item, end), i + 1);
  };
  e.forEachItem([&](Value item) { emit(emit, item, 0); });
  return success(ok);
}

} // namespace

LogicalResult cpu::emitContractionKernel(CpuEmitter &emitter, Operation *root) {
  for (auto emit : {emitDepthwiseKernel, emitDepthwiseGradientKernel,
                    emitWeightGradientKernel}) {
    if (succeeded(emit(emitter, root))) {
      return success();
    }
  }
  auto views = ContractionView::create(root);
  if (!views.empty() && succeeded(emitPanelKernels(emitter, views))) {
    return success();
  }
  return emitNaiveContraction(emitter, root);
}
