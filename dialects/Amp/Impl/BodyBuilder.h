//===- BodyBuilder.h - Arithmetic on scalars or vectors alike -------------===//
#ifndef AMPC_DIALECTS_AMP_IMPL_BODYBUILDER_H
#define AMPC_DIALECTS_AMP_IMPL_BODYBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

namespace ampc::amp {

/// Builds `arith` and `math` ops on values that are all scalars or all vectors
/// of one shape; constants take that shape.
class BodyBuilder {
public:
  using Float = mlir::arith::CmpFPredicate;
  using Int = mlir::arith::CmpIPredicate;

  /// Values have the shape of `like`, whatever their element types.
  BodyBuilder(mlir::OpBuilder &b, mlir::Location loc, mlir::Value like)
      : b(b), loc(loc), like(like.getType()) {}

  template <typename Op, typename... Args>
  mlir::Value make(Args &&...args) {
    return Op::create(b, loc, std::forward<Args>(args)...);
  }

  /// `element`, or the vector of it in the shape at hand.
  mlir::Type shaped(mlir::Type element) const {
    auto vector = mlir::dyn_cast<mlir::VectorType>(like);
    return vector ? vector.clone(element) : element;
  }

  /// `value` rounded to the float type `element`, in all lanes.
  mlir::Value constant(mlir::FloatType element, double value) {
    return splat(b.getFloatAttr(element, value));
  }
  mlir::Value constant(mlir::IntegerType element, const llvm::APInt &value) {
    return splat(b.getIntegerAttr(element, value));
  }
  /// The constant in the element type of `other`, an int or a float.
  mlir::Value constantLike(mlir::Value other, double value) {
    return constant(mlir::cast<mlir::FloatType>(element(other)), value);
  }
  mlir::Value intLike(mlir::Value other, int64_t value) {
    auto type = mlir::cast<mlir::IntegerType>(element(other));
    return constant(type, llvm::APInt(type.getWidth(), value,
                                      /*isSigned=*/true,
                                      /*implicitTrunc=*/true));
  }

  mlir::Value add(mlir::Value x, mlir::Value y) {
    return isFloat(x) ? make<mlir::arith::AddFOp>(x, y)
                      : make<mlir::arith::AddIOp>(x, y);
  }
  mlir::Value sub(mlir::Value x, mlir::Value y) {
    return isFloat(x) ? make<mlir::arith::SubFOp>(x, y)
                      : make<mlir::arith::SubIOp>(x, y);
  }
  mlir::Value mul(mlir::Value x, mlir::Value y) {
    return isFloat(x) ? make<mlir::arith::MulFOp>(x, y)
                      : make<mlir::arith::MulIOp>(x, y);
  }
  mlir::Value div(mlir::Value x, mlir::Value y) {
    return make<mlir::arith::DivFOp>(x, y);
  }
  mlir::Value fma(mlir::Value x, mlir::Value y, mlir::Value z) {
    return make<mlir::math::FmaOp>(x, y, z);
  }
  mlir::Value abs(mlir::Value x) { return make<mlir::math::AbsFOp>(x); }
  mlir::Value neg(mlir::Value x) { return make<mlir::arith::NegFOp>(x); }
  mlir::Value bitAnd(mlir::Value x, mlir::Value y) {
    return make<mlir::arith::AndIOp>(x, y);
  }
  mlir::Value bitOr(mlir::Value x, mlir::Value y) {
    return make<mlir::arith::OrIOp>(x, y);
  }
  mlir::Value bitXor(mlir::Value x, mlir::Value y) {
    return make<mlir::arith::XOrIOp>(x, y);
  }
  mlir::Value compare(Float predicate, mlir::Value x, mlir::Value y) {
    return make<mlir::arith::CmpFOp>(predicate, x, y);
  }
  mlir::Value compare(Int predicate, mlir::Value x, mlir::Value y) {
    return make<mlir::arith::CmpIOp>(predicate, x, y);
  }
  mlir::Value select(mlir::Value c, mlir::Value x, mlir::Value y) {
    return make<mlir::arith::SelectOp>(c, x, y);
  }
  mlir::Value isNan(mlir::Value x) { return compare(Float::UNO, x, x); }
  /// The same bits as an int, or as a float, of that width.
  mlir::Value bits(mlir::Value x) {
    return make<mlir::arith::BitcastOp>(
        shaped(b.getIntegerType(element(x).getIntOrFloatBitWidth())), x);
  }
  mlir::Value floatOfBits(mlir::FloatType type, mlir::Value x) {
    return make<mlir::arith::BitcastOp>(shaped(type), x);
  }
  /// c[0] + x * (c[1] + x * (...)).
  mlir::Value polynomial(mlir::Value x, llvm::ArrayRef<double> c) {
    mlir::Value sum = constantLike(x, c.back());
    for (double coefficient : llvm::reverse(c.drop_back())) {
      sum = fma(sum, x, constantLike(x, coefficient));
    }
    return sum;
  }

  static mlir::Type element(mlir::Value x) {
    return mlir::getElementTypeOrSelf(x.getType());
  }
  static bool isFloat(mlir::Value x) {
    return mlir::isa<mlir::FloatType>(element(x));
  }

  mlir::OpBuilder &b;
  mlir::Location loc;

private:
  mlir::Value splat(mlir::TypedAttr attr) {
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(like)) {
      attr = mlir::DenseElementsAttr::get(
          vector.clone(attr.getType()), llvm::ArrayRef<mlir::Attribute>(attr));
    }
    return make<mlir::arith::ConstantOp>(attr);
  }

  mlir::Type like;
};

} // namespace ampc::amp

#endif // AMPC_DIALECTS_AMP_IMPL_BODYBUILDER_H
