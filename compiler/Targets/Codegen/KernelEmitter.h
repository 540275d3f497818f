//===- KernelEmitter.h - From an amp.kernel to loops and vectors ----------===//
#ifndef AMPC_COMPILER_TARGETS_CODEGEN_KERNELEMITTER_H
#define AMPC_COMPILER_TARGETS_CODEGEN_KERNELEMITTER_H

#include "dialects/Amp/IR/AmpOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include <functional>
#include <map>

namespace ampc::codegen {

class RowWalker;
struct RowSpace;

/// What emitters that every target shares need to know of one.
struct KernelTraits {
  int64_t lanes = 8; ///< f32 elements that one thread handles at once
  /// Elements of a map's work item along the innermost dimension.
  /// 0: one vector.
  int64_t mapChunk = 2048;
  /// A row whose elements take more than this is pulled anew for each pass
  /// over it instead of being kept in scratch.
  int64_t rowScratchBytes = 1 << 20;
};

/// How a kernel is launched.
struct KernelLaunch {
  int64_t items = 0;        ///< independent work items
  int64_t grain = 1;        ///< fewest items worth handing to another thread
  int64_t scratchBytes = 0; ///< of each thread, or of each group of threads
  int64_t group = 0; ///< threads that share an item; 0: one thread an item
  int64_t workspaceBytes = 0; ///< that all items share; zero when first used
};

/// State of the emission of one kernel as a function. Arguments and results of
/// the kernel are dense row-major buffers. Inside, 16-bit floats live widened
/// as f32 (always exactly representable), booleans as i1, unsigned integers as
/// signless. Each target says how a function begins and gets at its work.
class KernelEmitter {
public:
  KernelEmitter(amp::KernelOp kernel, mlir::func::FuncOp function,
                const KernelTraits &traits);
  virtual ~KernelEmitter() = default;

  /// Starts the function anew with an empty entry block.
  virtual void reset() = 0;

  /// Builds code for each of the launch's work items.
  virtual void forEachItem(llvm::function_ref<void(mlir::Value item)> body) = 0;

  /// A pointer `offset` bytes into the scratch.
  virtual mlir::Value scratchPointer(int64_t offset) = 0;

  /// How this target walks the rows of `space` with `lanes` lanes.
  virtual std::unique_ptr<RowWalker> makeRowWalker(const RowSpace &space,
                                                   int64_t lanes) = 0;

  /// Builds `for i in [lower, upper) step step`.
  void forLoop(mlir::Value lower, mlir::Value upper, int64_t step,
               llvm::function_ref<void(mlir::Value i)> body);

  /// As forLoop, carrying `init` through the iterations; returns the last
  /// values that `body` returned.
  llvm::SmallVector<mlir::Value>
  forLoopCarried(mlir::Value lower, mlir::Value upper, int64_t step,
                 mlir::ValueRange init,
                 llvm::function_ref<llvm::SmallVector<mlir::Value>(
                     mlir::Value i, mlir::ValueRange carried)>
                     body);

  /// The buffer behind a kernel argument or result.
  mlir::Value argumentPointer(unsigned argument) { return pointers[argument]; }
  mlir::Value resultPointer(unsigned result) {
    return pointers[kernel.getNumArguments() + result];
  }
  /// A pointer to element `offset` of a buffer of elements that memory holds as
  /// `memoryType`.
  mlir::Value elementPointer(mlir::Value pointer, mlir::Type memoryType,
                             mlir::Value offset);
  /// Loads `lanes` consecutive elements at element `offset` of a buffer of
  /// `element`s, in the compute type.
  mlir::Value load(mlir::Value pointer, mlir::Type element, mlir::Value offset,
                   int64_t lanes);
  /// Stores a scalar or vector of the compute type as `element`s.
  void store(mlir::Value value, mlir::Value pointer, mlir::Type element,
             mlir::Value offset);
  /// As load and store, of the first `count` lanes only; nothing else is
  /// accessed. Lanes beyond are zero after a load.
  mlir::Value loadMasked(mlir::Value pointer, mlir::Type element,
                         mlir::Value offset, mlir::Value mask);
  void storeMasked(mlir::Value value, mlir::Value pointer, mlir::Type element,
                   mlir::Value offset, mlir::Value mask);

  /// `value`, of the compute type and representable as `element`, as it stands
  /// in memory: bf16 as i16, booleans as i8.
  mlir::Value toMemory(mlir::Value value, mlir::Type element);

  /// `value` (f32 or vector of it) rounded to the 16-bit type `element`; itself
  /// for other types.
  mlir::Value round(mlir::Value value, mlir::Type element);

  /// Splits a linear index into one per dimension of `shape`.
  llvm::SmallVector<mlir::Value> delinearize(mlir::Value linear,
                                             llvm::ArrayRef<int64_t> shape);
  /// The row-major linear index.
  mlir::Value linearize(llvm::ArrayRef<mlir::Value> index,
                        llvm::ArrayRef<int64_t> shape);

  mlir::Value index(int64_t value);
  mlir::Value addIndex(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mulIndex(mlir::Value lhs, int64_t rhs);

  amp::KernelOp kernel;
  mlir::func::FuncOp function;
  const KernelTraits &traits;
  mlir::OpBuilder b;
  mlir::Location loc;
  KernelLaunch launch;

protected:
  /// The alignment in bytes that an access to `lanes` elements of `bytes` each
  /// at element `offset` of a buffer can rely on.
  virtual int64_t getAlignment(mlir::Value offset, int64_t bytes,
                               int64_t lanes) const {
    (void)offset;
    (void)lanes;
    return bytes;
  }

  /// Empties the function; the builder stands before its return.
  mlir::Block *beginFunction();

  llvm::SmallVector<mlir::Value> pointers; ///< arguments, then results

private:
  mlir::Value fromMemory(mlir::Value value, mlir::Type element);
};

/// Computes elements of the tensors in a kernel's body by pulling them through
/// the ops that define them, down to kernel arguments.
class ElementPuller final : public ElementBuilder {
public:
  ElementPuller(KernelEmitter &emitter, int64_t lanes)
      : ElementBuilder(emitter.b, emitter.loc, lanes), emitter(emitter) {}

  /// The element(s) of `tensor` at `index`, in the compute type.
  mlir::FailureOr<mlir::Value> get(mlir::Value tensor,
                                   llvm::ArrayRef<LaneIndex> index);

  mlir::FailureOr<mlir::Value>
  getOperand(mlir::OpOperand &operand,
             llvm::ArrayRef<LaneIndex> index) override {
    return get(operand.get(), index);
  }
  mlir::FailureOr<mlir::Value>
  getScalarOperand(mlir::OpOperand &operand,
                   llvm::ArrayRef<mlir::Value> index) override;

  /// From now on `tensor` is `value` at whatever index it is asked for: a
  /// root's result at the point where its epilogue is emitted.
  void bind(mlir::Value tensor, mlir::Value value) { bound[tensor] = value; }

  /// Elements of kernel arguments are read by `loader` instead (masked tails,
  /// packed copies); a null result falls back to the plain load.
  using Loader = std::function<mlir::Value(
      mlir::BlockArgument argument, mlir::Value offset, int64_t laneStep)>;
  Loader loader;

  /// Views the shapes of an elementwise body with neighbouring dimensions
  /// merged; see mergeDimensions.
  const llvm::DenseMap<mlir::Value, llvm::SmallVector<int64_t>> *mergedShapes =
      nullptr;

private:
  llvm::ArrayRef<int64_t> shapeOf(mlir::Value tensor) const;
  mlir::FailureOr<mlir::Value> loadArgument(mlir::BlockArgument argument,
                                            llvm::ArrayRef<LaneIndex> index);
  mlir::FailureOr<mlir::Value> compute(mlir::OpResult result,
                                       llvm::ArrayRef<LaneIndex> index);

  KernelEmitter &emitter;
  llvm::DenseMap<mlir::Value, mlir::Value> bound;
  /// Values already computed in this block at this index.
  using Key = std::pair<std::pair<mlir::Block *, mlir::Value>,
                        llvm::SmallVector<std::pair<mlir::Value, int64_t>>>;
  std::vector<std::pair<Key, mlir::Value>> computed;
};

/// Takes elements of a kernel's result, in the compute type and representable
/// as `element`.
using ResultTaker =
    llvm::function_ref<void(mlir::Value value, mlir::Type element)>;

/// The ops between a root's result and the kernel's results: elementwise ops
/// and views, followed forwards so that a view moves the place of the store.
/// Emits, for the elements `value` of the root's result `root` at `index`, the
/// epilogue and the stores of all kernel results. With `mask`, only its lanes
/// are stored and loaded. With `take`, that gets the elements instead of a
/// store. Fails where the index has no vector form.
mlir::LogicalResult emitEpilogue(KernelEmitter &emitter, mlir::Value root,
                                 mlir::Value value,
                                 llvm::ArrayRef<LaneIndex> index, int64_t lanes,
                                 mlir::Value mask = {}, ResultTaker take = {});

/// A number that divides `index` whatever the work item is, as far as the
/// arithmetic that makes it shows.
int64_t knownDivisor(mlir::Value index);

/// The index at which an op that broadcasts to `index` reads an operand of
/// `shape`.
llvm::SmallVector<LaneIndex> broadcastIndex(KernelEmitter &emitter,
                                            llvm::ArrayRef<LaneIndex> index,
                                            llvm::ArrayRef<int64_t> shape);

/// The shape of a tensor value.
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value tensor) {
  return llvm::cast<mlir::RankedTensorType>(tensor.getType()).getShape();
}

/// The op of the kernel whose fusion kind is not elementwise or a view: its
/// root. Null for a purely elementwise or view kernel.
mlir::Operation *findRoot(amp::KernelOp kernel);

// Emitters, one per kind of root. Each builds the whole function and sets
// `emitter.launch`; a failure has been diagnosed at the kernel.
mlir::LogicalResult emitMapKernel(KernelEmitter &emitter);
mlir::LogicalResult emitRowKernel(KernelEmitter &emitter,
                                  mlir::Operation *root);
mlir::LogicalResult emitSerialKernel(KernelEmitter &emitter,
                                     mlir::Operation *root);
/// Any contraction, one result element at a time.
mlir::LogicalResult emitNaiveContraction(KernelEmitter &emitter,
                                         mlir::Operation *root);

/// Whether the kernel has nothing to store.
bool isEmptyKernel(amp::KernelOp kernel);

/// `acc` plus the bias of the contraction at `index`, if any.
mlir::FailureOr<mlir::Value> addBias(KernelEmitter &emitter, mlir::Value bias,
                                     mlir::Value result, mlir::Value acc,
                                     llvm::ArrayRef<LaneIndex> index,
                                     int64_t lanes);

} // namespace ampc::codegen

#endif // AMPC_COMPILER_TARGETS_CODEGEN_KERNELEMITTER_H
