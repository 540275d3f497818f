//===- KernelEmitter.cpp - Loops, addresses, loads and stores -------------===//
#include "compiler/Targets/Codegen/KernelEmitter.h"

#include "dialects/Amp/Impl/Conversion.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

#include <numeric>

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;

namespace {
/// The type a tensor element has in memory, as LLVM loads it: bf16 as the i16
/// that holds it, booleans as bytes, unsigned integers as signless.
Type memoryType(Type element) {
  MLIRContext *context = element.getContext();
  if (element.isBF16()) {
    return IntegerType::get(context, 16);
  }
  if (element.isInteger(1)) {
    return IntegerType::get(context, 8);
  }
  if (auto integer = dyn_cast<IntegerType>(element)) {
    return IntegerType::get(context, integer.getWidth());
  }
  return element;
}

Type withLanes(Type element, int64_t lanes) {
  return lanes == 1 ? element : VectorType::get({lanes}, element);
}

/// `like`'s shape with another element type.
Type cloneElement(Type like, Type element) {
  auto vector = dyn_cast<VectorType>(like);
  return vector ? Type(vector.clone(element)) : element;
}

int64_t byteWidth(Type memoryType) {
  return llvm::divideCeil(memoryType.getIntOrFloatBitWidth(), 8);
}
} // namespace

KernelEmitter::KernelEmitter(amp::KernelOp kernel, func::FuncOp function,
                             const KernelTraits &traits)
    : kernel(kernel), function(function), traits(traits),
      b(kernel.getContext()), loc(kernel.getLoc()) {}

Block *KernelEmitter::beginFunction() {
  Region &region = function.getBody();
  region.dropAllReferences();
  region.getBlocks().clear();
  Block *entry = function.addEntryBlock();
  b.setInsertionPointToStart(entry);
  func::ReturnOp ret = func::ReturnOp::create(b, loc);
  b.setInsertionPoint(ret);
  pointers.clear();
  launch = KernelLaunch();
  return entry;
}

int64_t codegen::knownDivisor(Value index) {
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant))) {
    // Zero is a multiple of everything; this much is asked of it.
    return constant.isZero() ? int64_t(1) << 20
                             : std::abs(constant.getSExtValue());
  }
  if (auto loopArgument = dyn_cast<BlockArgument>(index)) {
    auto loop =
        dyn_cast_or_null<scf::ForOp>(loopArgument.getOwner()->getParentOp());
    return loop && loop.getInductionVar() == index
               ? std::gcd(knownDivisor(loop.getLowerBound()),
                          knownDivisor(loop.getStep()))
               : 1;
  }
  Operation *op = index.getDefiningOp();
  if (isa<arith::AddIOp, arith::SubIOp, arith::RemUIOp, arith::MinUIOp>(op)) {
    return std::gcd(knownDivisor(op->getOperand(0)),
                    knownDivisor(op->getOperand(1)));
  }
  if (isa<arith::MulIOp>(op)) {
    return std::min<int64_t>(int64_t(1) << 20,
                             knownDivisor(op->getOperand(0)) *
                                 knownDivisor(op->getOperand(1)));
  }
  if (isa<arith::IndexCastOp>(op)) {
    return knownDivisor(op->getOperand(0));
  }
  return 1;
}

//===----------------------------------------------------------------------===//
// Indices and loops
//===----------------------------------------------------------------------===//

Value KernelEmitter::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value KernelEmitter::addIndex(Value lhs, Value rhs) {
  APInt l, r;
  bool constLhs = matchPattern(lhs, m_ConstantInt(&l));
  bool constRhs = matchPattern(rhs, m_ConstantInt(&r));
  if (constLhs && constRhs) {
    return index(l.getSExtValue() + r.getSExtValue());
  }
  if (constLhs && l.isZero()) {
    return rhs;
  }
  if (constRhs && r.isZero()) {
    return lhs;
  }
  return arith::AddIOp::create(b, loc, lhs, rhs);
}

Value KernelEmitter::mulIndex(Value lhs, int64_t rhs) {
  APInt l;
  if (matchPattern(lhs, m_ConstantInt(&l))) {
    return index(l.getSExtValue() * rhs);
  }
  if (rhs == 0) {
    return index(0);
  }
  return rhs == 1 ? lhs
                  : arith::MulIOp::create(b, loc, lhs, index(rhs)).getResult();
}

SmallVector<Value> KernelEmitter::delinearize(Value linear,
                                              ArrayRef<int64_t> shape) {
  SmallVector<Value> result(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    bool first = llvm::all_of(shape.take_front(i),
                              [](int64_t size) { return size == 1; });
    if (shape[i] == 1) {
      result[i] = index(0);
    } else if (first) {
      result[i] = linear;
      linear = index(0);
    } else {
      Value size = index(shape[i]);
      result[i] = arith::RemUIOp::create(b, loc, linear, size);
      linear = arith::DivUIOp::create(b, loc, linear, size);
    }
  }
  return result;
}

Value KernelEmitter::linearize(ArrayRef<Value> indices,
                               ArrayRef<int64_t> shape) {
  Value linear = index(0);
  for (auto [i, size] : llvm::zip_equal(indices, shape)) {
    linear = addIndex(mulIndex(linear, size), i);
  }
  return linear;
}

void KernelEmitter::forLoop(Value lower, Value upper, int64_t step,
                            function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(b, loc, lower, upper, index(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

SmallVector<Value> KernelEmitter::forLoopCarried(
    Value lower, Value upper, int64_t step, ValueRange init,
    function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(b, loc, lower, upper, index(step), init);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> next =
        body(loop.getInductionVar(), loop.getRegionIterArgs());
    scf::YieldOp::create(b, loc, next);
  }
  return SmallVector<Value>(loop.getResults());
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value KernelEmitter::elementPointer(Value pointer, Type memory, Value offset) {
  if (matchPattern(offset, m_Zero())) {
    return pointer;
  }
  Value offset64 = arith::IndexCastOp::create(b, loc, b.getI64Type(), offset);
  return LLVM::GEPOp::create(b, loc, pointer.getType(), memory, pointer,
                             ArrayRef<LLVM::GEPArg>{offset64});
}

Value KernelEmitter::fromMemory(Value value, Type element) {
  Type f32 = cloneElement(value.getType(), b.getF32Type());
  if (element.isF16()) {
    return arith::ExtFOp::create(b, loc, f32, value);
  }
  if (element.isBF16()) {
    return amp::unpackBf16(b, loc, value);
  }
  if (element.isInteger(1)) {
    Value zero =
        arith::ConstantOp::create(b, loc, b.getZeroAttr(value.getType()));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value, zero);
  }
  return value;
}

Value KernelEmitter::toMemory(Value value, Type element) {
  Type memory = cloneElement(value.getType(), memoryType(element));
  if (element.isF16()) {
    return arith::TruncFOp::create(b, loc, memory, value);
  }
  if (element.isBF16()) {
    // The value is a bf16 held in f32: its low half is zero.
    Type i32 = cloneElement(value.getType(), b.getI32Type());
    Value bits = arith::BitcastOp::create(b, loc, i32, value);
    Value sixteen = arith::ConstantOp::create(
        b, loc,
        isa<VectorType>(i32) ? TypedAttr(DenseElementsAttr::get(
                                   cast<VectorType>(i32), int32_t(16)))
                             : TypedAttr(b.getI32IntegerAttr(16)));
    Value high = arith::ShRUIOp::create(b, loc, bits, sixteen);
    return arith::TruncIOp::create(b, loc, memory, high);
  }
  if (element.isInteger(1)) {
    return arith::ExtUIOp::create(b, loc, memory, value);
  }
  return value;
}

Value KernelEmitter::load(Value pointer, Type element, Value offset,
                          int64_t lanes) {
  Type memory = memoryType(element);
  Value address = elementPointer(pointer, memory, offset);
  Value loaded =
      LLVM::LoadOp::create(b, loc, withLanes(memory, lanes), address,
                           getAlignment(offset, byteWidth(memory), lanes));
  return fromMemory(loaded, element);
}

void KernelEmitter::store(Value value, Value pointer, Type element,
                          Value offset) {
  Type memory = memoryType(element);
  Value address = elementPointer(pointer, memory, offset);
  auto vector = dyn_cast<VectorType>(value.getType());
  LLVM::StoreOp::create(b, loc, toMemory(value, element), address,
                        getAlignment(offset, byteWidth(memory),
                                     vector ? vector.getNumElements() : 1));
}

Value KernelEmitter::loadMasked(Value pointer, Type element, Value offset,
                                Value mask) {
  Type memory = memoryType(element);
  Type vector = cloneElement(mask.getType(), memory);
  Value address = elementPointer(pointer, memory, offset);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(vector));
  Value loaded =
      LLVM::MaskedLoadOp::create(b, loc, vector, address, mask, zero,
                                 b.getI32IntegerAttr(byteWidth(memory)));
  return fromMemory(loaded, element);
}

void KernelEmitter::storeMasked(Value value, Value pointer, Type element,
                                Value offset, Value mask) {
  Type memory = memoryType(element);
  Value address = elementPointer(pointer, memory, offset);
  LLVM::MaskedStoreOp::create(b, loc, toMemory(value, element), address, mask,
                              b.getI32IntegerAttr(byteWidth(memory)));
}

Value KernelEmitter::round(Value value, Type element) {
  return amp::roundTo16Bit(b, loc, value, element);
}
