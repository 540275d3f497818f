//===- ConstantTest.cpp - Values of constants, slices of constants --------===//
#include "compiler/Registration/Registration.h"
#include "dialects/Amp/IR/AmpOps.h"
#include "dialects/Amp/Reference/ConstantValue.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "passes/Analysis/ConstantSlice.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace ampc;
using namespace ampc::ref;

namespace {

constexpr StringLiteral source = R"mlir(
func.func @main(%x: tensor<2xi64>) -> (tensor<3xi64>, tensor<2xi64>, tensor<2xbf16>, tensor<f32>, tensor<1xi64>) {
  %shape = amp.constant dense<[2, 3, 4]> : tensor<3xi64>
  %tail = amp.slice %shape {starts = array<i64: 1>, sizes = array<i64: 2>, strides = array<i64: 1>} : (tensor<3xi64>) -> tensor<2xi64>
  %size = amp.reduce_prod %tail {axes = array<i64: 0>, keepdims = true} : (tensor<2xi64>) -> tensor<1xi64>
  %known = amp.concat %tail, %size {axis = 0 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<3xi64>
  %unknown = amp.add %x, %tail : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %w = amp.constant dense_resource<w> : tensor<2xf32>
  %cast = amp.cast %w : (tensor<2xf32>) -> tensor<2xbf16>
  %huge = amp.constant dense<0.5> : tensor<1000000x1000000xf32>
  %sum = amp.reduce_sum %huge {axes = array<i64: 0, 1>, keepdims = false} : (tensor<1000000x1000000xf32>) -> tensor<f32>
  %body = amp.composite "Neg" follow(%size) : (tensor<1xi64>) -> tensor<1xi64> {
  ^bb0(%a: tensor<1xi64>):
    %n = amp.neg %a : (tensor<1xi64>) -> tensor<1xi64>
    amp.yield %n : tensor<1xi64>
  }
  return %known, %unknown, %cast, %sum, %body : tensor<3xi64>, tensor<2xi64>, tensor<2xbf16>, tensor<f32>, tensor<1xi64>
}
{-# dialect_resources: { builtin: { w: "0x040000000000803F000020C0" } } #-}
)mlir";

class Constants : public ::testing::Test {
protected:
  Constants() {
    DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    module = parseSourceString<ModuleOp>(source, &context);
  }

  /// Operand `i` of the return.
  Value getReturned(unsigned i) {
    auto function = *module->getOps<func::FuncOp>().begin();
    return function.getBody().front().getTerminator()->getOperand(i);
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
};

TEST_F(Constants, ShapeArithmetic) {
  ASSERT_TRUE(module);
  FailureOr<SmallVector<int64_t>> ints = evaluateConstantInts(getReturned(0));
  ASSERT_TRUE(succeeded(ints));
  EXPECT_EQ(*ints, (SmallVector<int64_t>{3, 4, 12}));
}

TEST_F(Constants, ArgumentsAreUnknown) {
  EXPECT_TRUE(failed(evaluateConstant(getReturned(1), 1 << 20)));
  auto function = *module->getOps<func::FuncOp>().begin();
  EXPECT_TRUE(failed(evaluateConstant(function.getArgument(0), 1 << 20)));
}

TEST_F(Constants, ResourcesAreRead) {
  FailureOr<Tensor> tensor = evaluateConstant(getReturned(2), 1 << 20);
  ASSERT_TRUE(succeeded(tensor));
  EXPECT_EQ(tensor->getDouble(0), 1.0);
  EXPECT_EQ(tensor->getDouble(1), -2.5);
  // They are no integers.
  EXPECT_TRUE(failed(evaluateConstantInts(getReturned(2))));
}

TEST_F(Constants, Budgets) {
  // The slice takes 16 bytes, the product 8 and the result 24.
  EXPECT_TRUE(succeeded(evaluateConstant(getReturned(0), 48)));
  EXPECT_TRUE(failed(evaluateConstant(getReturned(0), 47)));
  // Four ops, the constant among them.
  EXPECT_TRUE(succeeded(evaluateConstant(getReturned(0), 48, 4)));
  EXPECT_TRUE(failed(evaluateConstant(getReturned(0), 48, 3)));
  // Four bytes, but 10^12 elements to touch.
  EXPECT_TRUE(failed(evaluateConstant(getReturned(3), 1 << 20)));
}

TEST_F(Constants, Slices) {
  auto function = *module->getOps<func::FuncOp>().begin();
  ConstantSlice slice(function);
  EXPECT_TRUE(slice.isComputable(getReturned(0)));
  EXPECT_FALSE(slice.isComputable(getReturned(1)));
  EXPECT_FALSE(slice.isComputable(function.getArgument(0)));
  EXPECT_TRUE(slice.isComputable(getReturned(2)));
  EXPECT_TRUE(slice.isComputable(getReturned(4)));
  SmallVector<StringRef> names;
  for (Operation *op : slice.getSlice(getReturned(0))) {
    names.push_back(op->getName().getStringRef());
  }
  EXPECT_EQ(names, (SmallVector<StringRef>{"amp.constant", "amp.slice",
                                           "amp.reduce_prod", "amp.concat"}));
}

// Every attribute storage comes back as it was.
TEST_F(Constants, AttributesRoundTrip) {
  Builder b(&context);
  auto expectSame = [&](DenseElementsAttr attr) {
    auto tensor = Tensor::fromAttribute(attr);
    ASSERT_TRUE(tensor);
    EXPECT_EQ(tensor->toAttribute(), attr);
    EXPECT_EQ(tensor->isSplat(), attr.isSplat() && attr.getNumElements());
  };
  auto type = [&](int64_t size, Type element) {
    return RankedTensorType::get({size}, element);
  };
  SmallVector<bool> flags{true, false, true, true,  false, false,
                          true, true,  true, false, true};
  expectSame(DenseElementsAttr::get(type(11, b.getI1Type()), flags));
  expectSame(DenseElementsAttr::get(type(11, b.getI1Type()), true));
  expectSame(DenseElementsAttr::get(type(3, b.getI1Type()), false));
  expectSame(DenseElementsAttr::get(type(2, b.getI64Type()),
                                    ArrayRef<int64_t>{-1, 5}));
  expectSame(DenseElementsAttr::get(type(5, b.getF32Type()), 1.5f));
  expectSame(
      DenseElementsAttr::get(type(0, b.getF32Type()), ArrayRef<float>()));
}

} // namespace
