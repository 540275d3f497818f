//===- CudaEmitter.cpp - Kernels as functions of a GPU --------------------===//
#include "compiler/Targets/CUDA/CudaEmitter.h"

#include "compiler/Targets/CUDA/Rows/BlockRowWalker.h"
#include "compiler/Targets/CUDA/Rows/ColumnRowWalker.h"
#include "compiler/Targets/CUDA/Rows/RegisterRowWalker.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <numeric>

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cuda;

void CudaEmitter::reset() {
  for (LLVM::GlobalOp global : reserved) {
    global.erase();
  }
  reserved.clear();
  tensorMaps.clear();
  scratchAlignment = 16;
  blocksPerMultiprocessor = 0;
  // Without the parameters that an earlier attempt has added.
  SmallVector<Type> buffers(kernel.getNumArguments() + kernel.getNumResults(),
                            LLVM::LLVMPointerType::get(b.getContext()));
  function.setFunctionType(b.getFunctionType(buffers, {}));
  Block *entry = beginFunction();
  llvm::append_range(pointers, entry->getArguments());
}

Value CudaEmitter::addTensorMap(const ampc_gpu_tensor_map &map) {
  tensorMaps.push_back(map);
  unsigned number = function.getNumArguments();
  (void)function.insertArgument(
      number, LLVM::LLVMPointerType::get(b.getContext()), {}, loc);
  return function.getArgument(number);
}

void CudaEmitter::forEachItem(function_ref<void(Value)> body) {
  Value first =
      arith::MulIOp::create(b, loc, blockIndex(), index(blockThreads));
  Value item = arith::AddIOp::create(b, loc, first, threadIndex());
  onlyIf(launch.items % blockThreads == 0 ? Value()
                                          : isBelow(item, launch.items),
         [&] { body(item); });
}

void CudaEmitter::forEachBlock(int64_t threads,
                               function_ref<void(Value)> body) {
  launch.group = threads;
  body(blockIndex());
}

Value CudaEmitter::threadIndex() {
  Value id = NVVM::ThreadIdXOp::create(b, loc, b.getI32Type());
  return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), id);
}

Value CudaEmitter::blockIndex() {
  Value id = NVVM::BlockIdXOp::create(b, loc, b.getI32Type());
  return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), id);
}

void CudaEmitter::barrier() { NVVM::Barrier0Op::create(b, loc); }

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

static LLVM::GlobalOp createShared(func::FuncOp function, StringRef name,
                                   int64_t bytes, LLVM::Linkage linkage,
                                   int64_t alignment = 16) {
  OpBuilder b(function);
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes);
  return LLVM::GlobalOp::create(b, function.getLoc(), type,
                                /*isConstant=*/false, linkage, name,
                                /*value=*/Attribute(), alignment,
                                /*addrSpace=*/3);
}

Value CudaEmitter::scratchPointer(int64_t offset) {
  auto module = function->getParentOfType<ModuleOp>();
  StringRef name =
      scratchAlignment > 16 ? alignedSharedName : dynamicSharedName;
  auto global = module.lookupSymbol<LLVM::GlobalOp>(name);
  if (!global) {
    global = createShared(function, name, 0, LLVM::Linkage::External,
                          scratchAlignment);
  }
  Value base = LLVM::AddressOfOp::create(b, loc, global);
  return offset == 0
             ? base
             : LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), base,
                                   ArrayRef<LLVM::GEPArg>{int32_t(offset)})
                   .getResult();
}

Value CudaEmitter::reserveShared(int64_t bytes) {
  std::string name =
      (function.getName() + "_shared" + Twine(reserved.size())).str();
  reserved.push_back(
      createShared(function, name, bytes, LLVM::Linkage::Internal));
  return LLVM::AddressOfOp::create(b, loc, reserved.back());
}

void CudaEmitter::reserveWorkspace(int64_t bytes) {
  if (launch.workspaceBytes == 0) {
    SmallVector<Type> types(function.getArgumentTypes());
    Type pointer = LLVM::LLVMPointerType::get(b.getContext());
    types.push_back(pointer);
    function.setFunctionType(b.getFunctionType(types, {}));
    function.getBody().front().addArgument(pointer, loc);
  }
  launch.workspaceBytes = std::max(launch.workspaceBytes, bytes);
}

Value CudaEmitter::workspace() {
  assert(launch.workspaceBytes != 0);
  return function.getArguments().back();
}

int64_t CudaEmitter::getAlignment(Value offset, int64_t bytes,
                                  int64_t lanes) const {
  // Buffers are 64-byte aligned; the widest access of a thread is 16 bytes.
  int64_t known = std::gcd<int64_t>(knownDivisor(offset), 16) * bytes;
  return std::min<int64_t>(
      {known, 16, int64_t(llvm::bit_floor(uint64_t(bytes * lanes)))});
}

//===----------------------------------------------------------------------===//
// Lanes of a warp
//===----------------------------------------------------------------------===//

Value CudaEmitter::shuffleXor(Value value, int64_t mask) {
  Type type = value.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  Type i32 = b.getI32Type();
  auto number = [&](int64_t n) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(n));
  };
  auto shuffle = [&](Value word) -> Value {
    return NVVM::ShflOp::create(b, loc, i32, number(-1), word, number(mask),
                                number(31), NVVM::ShflKind::bfly, UnitAttr());
  };
  if (width < 32) {
    Type integer = b.getIntegerType(width);
    Value bits = type == integer
                     ? value
                     : arith::BitcastOp::create(b, loc, integer, value);
    Value wide = arith::ExtUIOp::create(b, loc, i32, bits);
    Value got = arith::TruncIOp::create(b, loc, integer, shuffle(wide));
    return type == integer ? got : arith::BitcastOp::create(b, loc, type, got);
  }
  if (width == 32) {
    Value bits =
        type == i32 ? value : arith::BitcastOp::create(b, loc, i32, value);
    Value got = shuffle(bits);
    return type == i32 ? got : arith::BitcastOp::create(b, loc, type, got);
  }
  Type i64 = b.getI64Type();
  Value bits =
      type == i64 ? value : arith::BitcastOp::create(b, loc, i64, value);
  Value half = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(32));
  Value low = shuffle(arith::TruncIOp::create(b, loc, i32, bits));
  Value high = shuffle(arith::TruncIOp::create(
      b, loc, i32, arith::ShRUIOp::create(b, loc, bits, half)));
  Value joined = arith::OrIOp::create(
      b, loc, arith::ExtUIOp::create(b, loc, i64, low),
      arith::ShLIOp::create(b, loc, arith::ExtUIOp::create(b, loc, i64, high),
                            half));
  return type == i64 ? joined : arith::BitcastOp::create(b, loc, type, joined);
}

Value CudaEmitter::broadcastFirst(Value value) {
  Type i32 = b.getI32Type();
  auto number = [&](int64_t n) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(n));
  };
  Value word = arith::IndexCastOp::create(b, loc, i32, value);
  Value first =
      NVVM::ShflOp::create(b, loc, i32, number(-1), word, number(0), number(31),
                           NVVM::ShflKind::idx, UnitAttr());
  return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), first);
}

Value CudaEmitter::reduceBlock(Value value, int64_t threads,
                               function_ref<Value(Value, Value)> combine) {
  constexpr int64_t warpThreads = 32;
  for (int64_t mask = warpThreads / 2; mask > 0; mask /= 2) {
    value = combine(value, shuffleXor(value, mask));
  }
  int64_t warps = threads / warpThreads;
  if (warps == 1) {
    return value;
  }
  Type type = value.getType();
  Value partials = reserveShared(warps * 8);
  Value thread = threadIndex();
  Value lane = arith::RemUIOp::create(b, loc, thread, index(warpThreads));
  Value warp = arith::DivUIOp::create(b, loc, thread, index(warpThreads));
  Value isFirst =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, lane, index(0));
  auto choice = scf::IfOp::create(b, loc, isFirst, /*withElse=*/false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(choice.thenBlock());
    store(value, partials, type, warp);
  }
  barrier();
  Value total = load(partials, type, index(0), 1);
  for (int64_t i = 1; i < warps; ++i) {
    total = combine(total, load(partials, type, index(i), 1));
  }
  return total;
}

void CudaEmitter::onFirstThread(function_ref<void()> body) {
  onlyIf(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, threadIndex(),
                               index(0)),
         body);
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

Value CudaEmitter::isBelow(Value lhs, int64_t rhs) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, lhs,
                               index(rhs));
}

Value CudaEmitter::bothOf(Value lhs, Value rhs) {
  return !lhs   ? rhs
         : !rhs ? lhs
                : arith::AndIOp::create(b, loc, lhs, rhs).getResult();
}

void CudaEmitter::onlyIf(Value condition, function_ref<void()> body) {
  if (!condition) {
    body();
    return;
  }
  auto choice = scf::IfOp::create(b, loc, condition, /*withElse=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  body();
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

std::unique_ptr<RowWalker> CudaEmitter::makeRowWalker(const RowSpace &space,
                                                      int64_t lanes) {
  bool isReducedOnce =
      isa_and_nonnull<amp::ReduceSumOp, amp::ReduceMeanOp, amp::ReduceProdOp,
                      amp::ReduceMaxOp, amp::ReduceMinOp,
                      amp::ConvWeightGradientOp>(findRoot(kernel));
  if (!space.lanesAlongRow) {
    return std::make_unique<ColumnRowWalker>(*this, space, lanes,
                                             isReducedOnce);
  }
  // What is held is held as it is computed.
  constexpr int64_t elementBytes = 4;
  if (RegisterRowWalker::covers(space, lanes, elementBytes)) {
    return std::make_unique<RegisterRowWalker>(*this, space, lanes,
                                               elementBytes);
  }
  return std::make_unique<BlockRowWalker>(*this, space, lanes, isReducedOnce);
}
