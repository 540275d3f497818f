//===- MathTest.cpp - Functions on f64, and angles on f32 -----------------===//
// Against the C library in long double, whose eleven bits more make the result
// rounded to double right but for ties: its functions of double are eight units
// off where cos(x) is smallest.
#include "test/unit/Cuda/KernelRun.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <limits>
#include <random>

using namespace mlir;

namespace ampc::test {
namespace {

constexpr int64_t count = 4096;
constexpr double infinity = std::numeric_limits<double>::infinity();

struct Case {
  const char *op;
  long double (*function)(long double);
  double low, high;
  double bound = 2; ///< units in the last place
  const char *element = "f64";
  bool isLogarithmic = false; ///< arguments by magnitude, of both signs
};

void PrintTo(const Case &test, std::ostream *os) {
  *os << test.op << " on " << test.element;
}

/// The arguments: the corners of the range and of the type, and numbers
/// between.
std::vector<double> argumentsOf(const Case &test) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<double> values = {0.0, -0.0, 1, -1, 0.5, -0.5, infinity,
                                -infinity, NAN, test.low, test.high, 1e-300,
                                5e-324, -5e-324, 0x1.921fb54442d18p+0,
                                // Nearest to a multiple of pi / 2 of all f64.
                                0x1.6ac5b262ca1ffp+849, 1e22, 1.7e308};
  while (values.size() < count) {
    double u = uniform(random);
    double x = test.low + u * (test.high - test.low);
    if (test.isLogarithmic) {
      x = test.low * std::pow(test.high / test.low, u);
      x = random() & 1 ? x : -x;
    }
    values.push_back(x);
  }
  if (StringRef(test.element) == "f32") {
    for (double &x : values) {
      x = static_cast<float>(x);
    }
  }
  return values;
}

double unitsBetween(double got, double wanted, bool isSingle) {
  if (std::isnan(got) || std::isnan(wanted) || std::isinf(wanted)) {
    bool same = (std::isnan(got) && std::isnan(wanted)) || got == wanted;
    return same ? 0 : infinity;
  }
  int exponent;
  std::frexp(wanted, &exponent);
  double unit = isSingle ? std::ldexp(1.0, std::max(exponent - 24, -149))
                         : std::ldexp(1.0, std::max(exponent - 53, -1074));
  return std::abs(got - wanted) / unit;
}

class Function : public testing::TestWithParam<Case> {};

TEST_P(Function, WithinItsBound) {
  const Case &test = GetParam();
  std::vector<double> values = argumentsOf(test);
  std::string text = llvm::formatv(
      R"((%a: tensor<{0}x{1}>) -> tensor<{0}x{1}> {{
       %0 = amp.{2} %a : (tensor<{0}x{1}>) -> tensor<{0}x{1}>
       amp.yield %0 : tensor<{0}x{1}>
     })",
      count, test.element, test.op);
  ShippedKernel kernel(
      text, "sm_80", {}, [&](MutableArrayRef<ref::Tensor> all) {
        overwrite(all[0], [&](int64_t i) { return std::optional(values[i]); });
      });
  ASSERT_TRUE(kernel.isReady());
  ShippedKernel::Run run = kernel.run(kernel.code());
  ASSERT_EQ(run.program->error(), "");
  EXPECT_EQ(kernel.assemble(), "");
  EXPECT_TRUE(run.device->report.clean()) << run.device->report.text().c_str();
  bool isSingle = StringRef(test.element) == "f32";
  double worst = 0, where = 0, made = 0;
  for (int64_t i = 0; i < count; ++i) {
    double wanted = isSingle ? static_cast<float>(test.function(values[i]))
                             : static_cast<double>(test.function(values[i]));
    double units = unitsBetween(run.got.getDouble(i), wanted, isSingle);
    if (units > worst) {
      worst = units;
      where = values[i];
      made = run.got.getDouble(i);
    }
  }
  EXPECT_LE(worst, test.bound)
      << llvm::formatv("{0:e20} at {1:e20}", made, where).str();
  RecordProperty("units", std::to_string(worst));
}

const Case cases[] = {
    {"exp", expl, -750, 715},
    {"exp", expl, -1, 1},
    {"log", logl, 1e-310, 1e300, 2, "f64", true},
    {"log", logl, 0.5, 2},
    {"sin", sinl, -100, 100},
    {"sin", sinl, 1e5, 1.7e308, 2, "f64", true},
    {"cos", cosl, -100, 100},
    {"cos", cosl, 1e5, 1.7e308, 2, "f64", true},
    {"tan", tanl, -100, 100, 3},
    {"tan", tanl, 1e5, 1.7e308, 3, "f64", true},
    {"asin", asinl, -1.01, 1.01},
    {"acos", acosl, -1.01, 1.01},
    {"atan", atanl, -20, 20},
    {"atan", atanl, 1e-10, 1e300, 2, "f64", true},
    {"sinh", sinhl, -712, 712},
    {"sinh", sinhl, 1e-20, 30, 2, "f64", true},
    {"cosh", coshl, -712, 712},
    {"cosh", coshl, -3, 3},
    {"tanh", tanhl, -25, 25, 3},
    {"tanh", tanhl, 1e-20, 1, 3, "f64", true},
    {"asinh", asinhl, 1e-20, 1e300, 2, "f64", true},
    {"acosh", acoshl, 1, 10, 3},
    {"acosh", acoshl, 1, 1e300, 3, "f64", true},
    {"atanh", atanhl, -1, 1, 3},
    {"atanh", atanhl, 1e-20, 0.5, 3, "f64", true},
    {"sin", sinl, -100, 100, 2, "f32"},
    {"sin", sinl, 1e4, 3.4e38, 2, "f32", true},
    {"cos", cosl, -100, 100, 2, "f32"},
    {"cos", cosl, 1e4, 3.4e38, 2, "f32", true},
    {"tan", tanl, 1e-5, 3.4e38, 4, "f32", true},
};

INSTANTIATE_TEST_SUITE_P(All, Function, testing::ValuesIn(cases),
                         [](const testing::TestParamInfo<Case> &info) {
                           return std::string(info.param.op) + "_" +
                                  info.param.element + "_" +
                                  std::to_string(info.index);
                         });

/// Powers of f64, whose operands cover every special case.
TEST(Power, WithinItsBound) {
  std::vector<double> special = {0.0,   -0.0, 1,     -1,    infinity, -infinity,
                                 NAN,   2,    -2,    0.5,   3,        -3,
                                 1e300, 0.75, -0.25, 1e-310};
  std::vector<double> x, y;
  for (double a : special) {
    for (double b : special) {
      x.push_back(a);
      y.push_back(b);
    }
  }
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> uniform(0, 1);
  while (x.size() < count) {
    double base = std::pow(10, 600 * uniform(random) - 300);
    x.push_back(random() & 1 ? base : 0.5 + uniform(random));
    double most = 700 / std::max(std::abs(std::log(x.back())), 1e-3);
    y.push_back(most * (2 * uniform(random) - 1));
  }
  std::string text = llvm::formatv(
      R"((%a: tensor<{0}xf64>, %b: tensor<{0}xf64>) -> tensor<{0}xf64> {{
       %0 = amp.pow %a, %b : (tensor<{0}xf64>, tensor<{0}xf64>) -> tensor<{0}xf64>
       amp.yield %0 : tensor<{0}xf64>
     })",
      count);
  ShippedKernel kernel(
      text, "sm_80", {}, [&](MutableArrayRef<ref::Tensor> all) {
        overwrite(all[0], [&](int64_t i) { return std::optional(x[i]); });
        overwrite(all[1], [&](int64_t i) { return std::optional(y[i]); });
      });
  ASSERT_TRUE(kernel.isReady());
  ShippedKernel::Run run = kernel.run(kernel.code());
  ASSERT_EQ(run.program->error(), "");
  for (int64_t i = 0; i < count; ++i) {
    double got = run.got.getDouble(i),
           wanted = static_cast<double>(powl(x[i], y[i]));
    EXPECT_LE(unitsBetween(got, wanted, false), 2)
        << x[i] << " to the power " << y[i] << " is " << wanted << ", got "
        << got;
    EXPECT_EQ(std::signbit(got), std::signbit(wanted) && !std::isnan(wanted))
        << x[i] << " to the power " << y[i];
  }
}

} // namespace
} // namespace ampc::test
