//===- ReduceAngle.cpp - Arguments of sin and cos to a quarter turn -------===//
#include "compiler/Targets/Codegen/ReduceAngle.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"

#include <limits>

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;
using namespace ampc::codegen;

using Float = BodyBuilder::Float;
using Int = BodyBuilder::Int;

/// The binary digits of 2 / pi from 2^63 on, 64 a word.
static constexpr uint64_t twoOverPi[] = {0,
                                         0xa2f9836e4e441529,
                                         0xfc2757d1f534ddc0,
                                         0xdb6295993c439041,
                                         0xfe5163abdebbc561,
                                         0xb7246e3a424dd2e0,
                                         0x06492eea09d1921c,
                                         0xfe1deb1cb129a73e,
                                         0xe88235f52ebb4484,
                                         0xe99c7026b45f7e41,
                                         0x3991d639835339f4,
                                         0x9c845f8bbdf9283b,
                                         0x1ff897ffde05980f,
                                         0xef2f118b5a0a6d1f,
                                         0x6d367ecf27cb09b7,
                                         0x4f463f669e5fea2d,
                                         0x7527bac7ebe5f17b,
                                         0x3d0739f78a5292ea,
                                         0x6bfb5fb11f8d5d08,
                                         0x56033046fc7b6bab,
                                         0xf0cfbc209af4361d};

/// A pointer to those words.
static Value digits(BodyBuilder &m) {
  constexpr StringLiteral name = "ampc_two_over_pi";
  Operation *parent = m.b.getInsertionBlock()->getParentOp();
  auto module = parent->getParentOfType<ModuleOp>();
  auto global = module.lookupSymbol<LLVM::GlobalOp>(name);
  if (!global) {
    OpBuilder::InsertionGuard guard(m.b);
    m.b.setInsertionPointToStart(module.getBody());
    SmallVector<int64_t> words(std::begin(twoOverPi), std::end(twoOverPi));
    auto type = LLVM::LLVMArrayType::get(m.b.getI64Type(), words.size());
    global = LLVM::GlobalOp::create(m.b, m.loc, type, /*isConstant=*/true,
                                    LLVM::Linkage::Internal, name,
                                    m.b.getI64TensorAttr(words));
  }
  return m.make<LLVM::AddressOfOp>(global);
}

/// By Cody and Waite: pi / 2 in parts, whose products with n are subtracted
/// exactly, or to a known rest.
static ReducedAngle reduceSmall(BodyBuilder &m, Value x) {
  bool isDouble = m.element(x).isF64();
  Value n = m.make<math::RoundEvenOp>(
      m.mul(x, m.constantLike(x, 0x1.45f306dc9c883p-1)));
  Value quadrant = m.make<arith::FPToSIOp>(m.b.getI32Type(), n);
  Value minus = m.neg(n);
  if (!isDouble) {
    Value r = m.fma(minus, m.constantLike(x, 0x1.921fb0p+0), x);
    r = m.fma(minus, m.constantLike(x, 0x1.5110b4p-22), r);
    r = m.fma(minus, m.constantLike(x, 0x1.846988p-48), r);
    return {r, m.constantLike(x, 0), quadrant};
  }
  Value first = m.fma(minus, m.constantLike(x, 0x1.921fb54442d18p+0), x);
  Value second = m.constantLike(x, 0x1.1a62633145c07p-54);
  Value product = m.mul(n, second);
  Value lost = m.fma(n, second, m.neg(product));
  Value high = m.sub(first, product);
  Value low = m.sub(m.sub(m.sub(first, high), product), lost);
  low = m.fma(minus, m.constantLike(x, -0x1.f1976b7ed8fbcp-110), low);
  // What is left of a near multiple of pi / 2 may be in `low` for the most.
  Value sum = m.add(high, low);
  return {sum, m.sub(low, m.sub(sum, high)), quadrant};
}

/// By Payne and Hanek, for |x| >= 1 of type f64: only the digits of 2 / pi
/// whose product with x is neither a multiple of 4 nor too small to matter.
static ReducedAngle reduceLarge(BodyBuilder &m, Value x) {
  Type i64 = m.b.getI64Type();
  auto number = [&](uint64_t n) -> Value {
    return m.constant(cast<IntegerType>(i64), APInt(64, n));
  };
  auto shiftLeft = [&](Value a, Value n) {
    return m.make<arith::ShLIOp>(a, n);
  };
  auto shiftRight = [&](Value a, Value n) {
    return m.make<arith::ShRUIOp>(a, n);
  };
  Value bits = m.bits(x);
  Value mantissa = m.bitOr(m.bitAnd(bits, number((uint64_t(1) << 52) - 1)),
                           number(uint64_t(1) << 52));
  Value exponent = m.bitAnd(shiftRight(bits, number(52)), number(0x7ff));
  // x = mantissa * 2^(exponent - 1075). A digit worth 2^(63 - i) gives
  // multiples of 4 with any bit of the mantissa if exponent - 1075 + 63 - i
  // >= 2.
  Value first = m.sub(exponent, number(1075 - 63 + 1));
  // Three words from that digit on.
  Value index = shiftRight(first, number(6));
  Value shift = m.bitAnd(first, number(63));
  Value table = digits(m);
  Value words[4], window[3];
  for (int64_t i = 0; i < 4; ++i) {
    Value at = m.make<arith::MinUIOp>(m.add(index, number(i)),
                                      number(std::size(twoOverPi) - 1));
    Value pointer = m.make<LLVM::GEPOp>(table.getType(), i64, table,
                                        ArrayRef<LLVM::GEPArg>{at});
    words[i] = m.make<LLVM::LoadOp>(i64, pointer, 8);
  }
  for (int64_t i = 0; i < 3; ++i) {
    // Twice, as a shift by 64 is none.
    Value next = shiftRight(shiftRight(words[i + 1], number(1)),
                            m.sub(number(63), shift));
    window[i] = m.bitOr(shiftLeft(words[i], shift), next);
  }
  // The product, of which 192 bits are kept: what overflows is a multiple of 4.
  auto wide = [&](Value a) {
    return arith::MulUIExtendedOp::create(m.b, m.loc, a, mantissa);
  };
  auto p2 = wide(window[2]), p1 = wide(window[1]);
  auto addCarry = [&](Value a, Value b) {
    auto sum = arith::AddUIExtendedOp::create(m.b, m.loc, a, b);
    return std::pair<Value, Value>(
        sum.getSum(), m.make<arith::ExtUIOp>(i64, sum.getOverflow()));
  };
  Value low = p2.getLow();
  auto [middle, carry] = addCarry(p1.getLow(), p2.getHigh());
  Value high = m.add(m.add(m.mul(window[0], mantissa), p1.getHigh()), carry);
  // The point stands behind the first two bits.
  Value quarter = shiftRight(high, number(62));
  // 128 bits of the fraction, to the nearer quadrant.
  Value fraction = m.make<arith::ShLIOp>(high, number(2));
  fraction = m.bitOr(fraction, shiftRight(middle, number(62)));
  Value rest =
      m.bitOr(shiftLeft(middle, number(2)), shiftRight(low, number(62)));
  Value isUpper = m.compare(Int::slt, fraction, number(0));
  quarter = m.add(quarter, m.make<arith::ExtUIOp>(i64, isUpper));
  // Minus the fraction's complement, where it is half or more.
  Value all = number(~uint64_t(0));
  Value top = m.select(isUpper, m.bitXor(fraction, all), fraction);
  Value bottom = m.select(isUpper, m.bitXor(rest, all), rest);
  // Leading zeros move up, so that 64 bits are left of the smallest too.
  Value zeros = m.make<math::CountLeadingZerosOp>(top);
  Value isZero = m.compare(Int::eq, top, number(0));
  Value few = m.make<arith::MinUIOp>(zeros, number(63));
  Value joined =
      m.bitOr(shiftLeft(top, few), shiftRight(shiftRight(bottom, number(1)),
                                              m.sub(number(63), few)));
  joined = m.select(isZero, bottom, joined);
  Value scaleBits = m.select(isZero, number(64), few);
  // 53 bits, and those below them.
  Type f64 = m.b.getF64Type();
  Value upper = m.bitAnd(joined, number(~uint64_t(0x7ff)));
  Value lower = m.bitAnd(joined, number(0x7ff));
  Value scale =
      m.floatOfBits(m.b.getF64Type(),
                    shiftLeft(m.sub(number(1023 - 64), scaleBits), number(52)));
  Value h = m.mul(m.make<arith::UIToFPOp>(f64, upper), scale);
  Value l = m.mul(m.make<arith::UIToFPOp>(f64, lower), scale);
  // Times pi / 2, in two parts.
  Value half = m.constantLike(x, 0x1.921fb54442d18p+0);
  Value product = m.mul(h, half);
  Value error = m.fma(h, half, m.neg(product));
  error = m.fma(h, m.constantLike(x, 0x1.1a62633145c07p-54), error);
  error = m.fma(l, half, error);
  Value sum = m.add(product, error);
  Value left = m.sub(error, m.sub(sum, product));
  // The sign of the fraction and that of x.
  Value negative = m.compare(Int::slt, bits, number(0));
  Value flips = m.make<arith::XOrIOp>(negative, isUpper);
  sum = m.select(flips, m.neg(sum), sum);
  left = m.select(flips, m.neg(left), left);
  quarter = m.select(negative, m.sub(number(0), quarter), quarter);
  return {sum, left, m.make<arith::TruncIOp>(m.b.getI32Type(), quarter)};
}

ReducedAngle codegen::reduceAngle(BodyBuilder &m, Value x) {
  bool isDouble = m.element(x).isF64();
  // Up to here n times the first part of pi / 2 is exact enough.
  Value limit = m.constantLike(x, isDouble ? 0x1p+20 : 71476.0);
  Value small = m.compare(Float::OLE, m.abs(x), limit);
  Type type = x.getType();
  auto choice =
      scf::IfOp::create(m.b, m.loc, TypeRange{type, type, m.b.getI32Type()},
                        small, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(m.b);
  auto yield = [&](const ReducedAngle &r) {
    scf::YieldOp::create(m.b, m.loc, ValueRange{r.high, r.low, r.quadrant});
  };
  m.b.setInsertionPointToStart(choice.thenBlock());
  yield(reduceSmall(m, x));
  m.b.setInsertionPointToStart(choice.elseBlock());
  Value wide = isDouble ? x : m.make<arith::ExtFOp>(m.b.getF64Type(), x);
  ReducedAngle r = reduceLarge(m, wide);
  // Infinity and NaN have no angle.
  Value finite =
      m.compare(Float::OLT, m.abs(wide), m.constantLike(wide, HUGE_VAL));
  r.high =
      m.select(finite, r.high,
               m.constantLike(wide, std::numeric_limits<double>::quiet_NaN()));
  if (!isDouble) {
    r.high = m.make<arith::TruncFOp>(type, r.high);
    r.low = m.constantLike(x, 0);
  }
  yield(r);
  return {choice.getResult(0), choice.getResult(1), choice.getResult(2)};
}
