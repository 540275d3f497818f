//===- ScalarBodyTest.cpp - Elementwise ops against their definitions -----===//
#include "test/unit/Amp/OpRunner.h"
#include <cmath>

using namespace ampc::test;

namespace {
constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::nanf("");

template <typename T>
struct TypeName;
#define AMPC_TYPE_NAME(T, NAME)                                                \
  template <>                                                                  \
  struct TypeName<T> {                                                         \
    static constexpr const char *value = NAME;                                 \
  }
AMPC_TYPE_NAME(int8_t, "tensor<1xi8>");
AMPC_TYPE_NAME(int16_t, "tensor<1xi16>");
AMPC_TYPE_NAME(int32_t, "tensor<1xi32>");
AMPC_TYPE_NAME(int64_t, "tensor<1xi64>");
AMPC_TYPE_NAME(uint8_t, "tensor<1xui8>");
AMPC_TYPE_NAME(uint16_t, "tensor<1xui16>");
AMPC_TYPE_NAME(uint32_t, "tensor<1xui32>");
AMPC_TYPE_NAME(uint64_t, "tensor<1xui64>");
AMPC_TYPE_NAME(float, "tensor<1xf32>");
AMPC_TYPE_NAME(double, "tensor<1xf64>");

template <typename T>
std::vector<T> interesting() {
  if constexpr (std::is_floating_point_v<T>) {
    return {0,       T(-0.0), 1,       -1,      T(0.5),   T(-2.5), 3,
            T(7.25), -100,    T(1e30), T(kInf), T(-kInf), T(kNan)};
  } else {
    using Limits = std::numeric_limits<T>;
    return {0,
            1,
            2,
            3,
            7,
            8,
            63,
            64,
            100,
            T(-1),
            T(-2),
            T(-3),
            T(-7),
            Limits::min(),
            T(Limits::min() + 1),
            Limits::max()};
  }
}

/// Expects op(x, y) == reference(x, y) on all pairs of interesting values.
template <typename T, typename Out, typename Reference>
void checkBinary(const char *name, const char *attributes, Reference reference,
                 const char *result = nullptr) {
  std::vector<T> x, y;
  for (T a : interesting<T>()) {
    for (T b : interesting<T>()) {
      x.push_back(a);
      y.push_back(b);
    }
  }
  std::string type = TypeName<T>::value;
  std::string signature = "(" + type + ", " + type + ") -> " +
                          (result ? std::string(result) : type);
  auto out = evaluate<Out>(name, attributes, signature, x, y);
  for (size_t i = 0; i < x.size(); ++i) {
    Out expected = reference(x[i], y[i]);
    bool bothNan = expected != expected && out[i] != out[i];
    EXPECT_TRUE(bothNan || out[i] == expected)
        << name << attributes << " of " << type << ": " << +x[i] << ", "
        << +y[i] << " gives " << +out[i] << ", expected " << +expected;
  }
}

template <typename T, typename Reference>
void checkUnary(const char *name, const char *attributes, Reference reference) {
  std::vector<T> x = interesting<T>();
  std::string type = TypeName<T>::value;
  auto out = evaluate<T>(name, attributes, "(" + type + ") -> " + type, x);
  for (size_t i = 0; i < x.size(); ++i) {
    T expected = reference(x[i]);
    bool bothNan = expected != expected && out[i] != out[i];
    EXPECT_TRUE(bothNan || out[i] == expected)
        << name << " of " << type << ": " << +x[i] << " gives " << +out[i]
        << ", expected " << +expected;
  }
}

template <typename T>
T divide(T x, T y) {
  return y == 0 ? 0 : y == T(-1) && std::is_signed_v<T> ? T(0 - x) : T(x / y);
}

template <typename T>
T remainder(T x, T y) {
  return y == 0 || (std::is_signed_v<T> && y == T(-1)) ? 0 : T(x % y);
}

template <typename T>
T floorRemainder(T x, T y) {
  T rest = remainder(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? T(rest + y) : rest;
}

template <typename T>
T power(T x, T y) {
  if (y < 0) {
    return x == 1 ? 1 : x == T(-1) ? (y % 2 ? T(-1) : T(1)) : T(0);
  }
  uint64_t product = 1, square = static_cast<uint64_t>(x);
  for (uint64_t rest = static_cast<uint64_t>(y); rest; rest >>= 1) {
    product = rest & 1 ? product * square : product;
    square *= square;
  }
  return static_cast<T>(product);
}

template <typename T>
class IntBody : public testing::Test {};
using Ints = testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t,
                            uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(IntBody, Ints);
} // namespace

TYPED_TEST(IntBody, DividesWithoutUndefinedCases) {
  using T = TypeParam;
  checkBinary<T, T>("amp.div", "", divide<T>);
  checkBinary<T, T>("amp.mod", "{fmod = true}", remainder<T>);
  checkBinary<T, T>("amp.mod", "", floorRemainder<T>);
}

TYPED_TEST(IntBody, RaisesToPowers) {
  using T = TypeParam;
  checkBinary<T, T>("amp.pow", "", power<T>);
}

TYPED_TEST(IntBody, ShiftsBitsOut) {
  using T = TypeParam;
  using U = std::make_unsigned_t<T>;
  constexpr U width = sizeof(T) * 8;
  checkBinary<T, T>("amp.shift_left", "", [](T x, T y) {
    return U(y) < width ? T(uint64_t(U(x)) << U(y)) : T(0);
  });
  checkBinary<T, T>("amp.shift_right", "", [](T x, T y) {
    return U(y) < width ? T(U(x) >> U(y)) : T(0);
  });
}

TYPED_TEST(IntBody, ComparesBySignedness) {
  using T = TypeParam;
  checkBinary<T, T>("amp.max", "", [](T x, T y) { return std::max(x, y); });
  checkBinary<T, T>("amp.min", "", [](T x, T y) { return std::min(x, y); });
  checkBinary<T, uint8_t>(
      "amp.compare", "{predicate = #amp.predicate<lt>}",
      [](T x, T y) { return x < y; }, "tensor<1xi1>");
  checkBinary<T, uint8_t>(
      "amp.compare", "{predicate = #amp.predicate<ge>}",
      [](T x, T y) { return x >= y; }, "tensor<1xi1>");
  checkUnary<T>("amp.relu", "", [](T x) { return std::max<T>(x, 0); });
  checkUnary<T>("amp.sign", "", [](T x) { return T((x > 0) - (x < 0)); });
  checkUnary<T>("amp.abs", "", [](T x) { return x < 0 ? T(0 - x) : x; });
}

TYPED_TEST(IntBody, Wraps) {
  using T = TypeParam;
  using U = std::make_unsigned_t<T>;
  checkBinary<T, T>("amp.add", "", [](T x, T y) { return T(U(x) + U(y)); });
  checkBinary<T, T>("amp.sub", "", [](T x, T y) { return T(U(x) - U(y)); });
  checkBinary<T, T>("amp.mul", "",
                    [](T x, T y) { return T(uint64_t(x) * uint64_t(y)); });
  checkBinary<T, T>("amp.xor", "", [](T x, T y) { return T(x ^ y); });
  checkUnary<T>("amp.neg", "", [](T x) { return T(0 - x); });
  checkUnary<T>("amp.bitwise_not", "", [](T x) { return T(~x); });
}

namespace {
template <typename T>
class FloatBody : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(FloatBody, Floats);
} // namespace

TYPED_TEST(FloatBody, BoundsPropagateNan) {
  using T = TypeParam;
  auto larger = [](T x, T y) {
    return x != x ? x : y != y ? y : x > y ? x : y;
  };
  auto smaller = [](T x, T y) {
    return x != x ? x : y != y ? y : x < y ? x : y;
  };
  checkBinary<T, T>("amp.max", "", larger);
  checkBinary<T, T>("amp.min", "", smaller);
  checkUnary<T>("amp.relu", "", [&](T x) { return larger(x, T(0)); });
  checkUnary<T>("amp.clip", "{min = -1.0 : f64, max = 6.0 : f64}",
                [&](T x) { return smaller(larger(x, T(-1)), T(6)); });
  // Bounds that no f32 holds bound nothing; those of f64 do.
  checkUnary<float>("amp.clip", "{min = -1.0e300 : f64, max = 1.0e300 : f64}",
                    [](float x) { return x; });
  checkUnary<T>("amp.leaky_relu", "{alpha = 0.25 : f64}",
                [](T x) { return x >= 0 ? x : x * T(0.25); });
  checkUnary<T>("amp.sign", "",
                [](T x) { return x != x ? x : T((x > 0) - (x < 0)); });
}

TYPED_TEST(FloatBody, TakesRemainders) {
  using T = TypeParam;
  checkBinary<T, T>("amp.mod", "{fmod = true}",
                    [](T x, T y) { return std::fmod(x, y); });
  checkBinary<T, T>("amp.mod", "", [](T x, T y) {
    T rest = std::fmod(x, y);
    return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
  });
}

TYPED_TEST(FloatBody, Compares) {
  using T = TypeParam;
  checkBinary<T, uint8_t>(
      "amp.compare", "{predicate = #amp.predicate<eq>}",
      [](T x, T y) { return x == y; }, "tensor<1xi1>");
  checkBinary<T, uint8_t>(
      "amp.compare", "{predicate = #amp.predicate<ne>}",
      [](T x, T y) { return x != y; }, "tensor<1xi1>");
  checkBinary<T, uint8_t>(
      "amp.compare", "{predicate = #amp.predicate<le>}",
      [](T x, T y) { return x <= y; }, "tensor<1xi1>");
  checkBinary<T, uint8_t>(
      "amp.compare", "{predicate = #amp.predicate<gt>}",
      [](T x, T y) { return x > y; }, "tensor<1xi1>");
}

TYPED_TEST(FloatBody, RoundsTiesToEven) {
  using T = TypeParam;
  std::vector<T> x = {0.5, 1.5, 2.5, -0.5, -1.5, 2.4, 2.6, T(1e20)};
  std::string type = TypeName<T>::value,
              signature = "(" + type + ") -> " + type;
  auto out = evaluate<T>("amp.round", "", signature, x);
  EXPECT_EQ(out, (std::vector<T>{0, 2, 2, 0, -2, 2, 3, T(1e20)}));
}

TYPED_TEST(FloatBody, CallsTheLibraryForTheRest) {
  using T = TypeParam;
  struct {
    const char *name;
    double (*reference)(double);
  } cases[] = {{"amp.sin", std::sin},     {"amp.cos", std::cos},
               {"amp.tan", std::tan},     {"amp.asin", std::asin},
               {"amp.acos", std::acos},   {"amp.atan", std::atan},
               {"amp.sinh", std::sinh},   {"amp.cosh", std::cosh},
               {"amp.asinh", std::asinh}, {"amp.acosh", std::acosh},
               {"amp.atanh", std::atanh}, {"amp.sqrt", std::sqrt},
               {"amp.exp", std::exp},     {"amp.log", std::log},
               {"amp.erf", std::erf},     {"amp.tanh", std::tanh}};
  std::vector<T> x;
  for (int i = -40; i <= 40; ++i) {
    x.push_back(T(i) / 8);
  }
  std::string type = TypeName<T>::value,
              signature = "(" + type + ") -> " + type;
  for (auto &[name, reference] : cases) {
    auto out = evaluate<T>(name, "", signature, x);
    for (size_t i = 0; i < x.size(); ++i) {
      double expected = reference(x[i]);
      double bound = 4 * std::numeric_limits<T>::epsilon();
      EXPECT_TRUE(out[i] == T(expected) ||
                  (expected != expected && out[i] != out[i]) ||
                  std::fabs(out[i] - expected) <= bound * std::fabs(expected))
          << name << " of " << x[i] << " gives " << out[i] << ", expected "
          << expected;
    }
  }
}

TYPED_TEST(FloatBody, Activates) {
  using T = TypeParam;
  auto check = [](const char *name, const char *attributes,
                  double (*reference)(double)) {
    std::vector<T> x;
    for (int i = -80; i <= 80; ++i) {
      x.push_back(T(i) / 10);
    }
    std::string type = TypeName<T>::value;
    auto out = evaluate<T>(name, attributes, "(" + type + ") -> " + type, x);
    for (size_t i = 0; i < x.size(); ++i) {
      double bound = 8 * std::numeric_limits<T>::epsilon();
      EXPECT_NEAR(out[i], reference(x[i]),
                  bound * std::max(1.0, std::fabs(reference(x[i]))))
          << name << " of " << x[i];
    }
  };
  check("amp.gelu", "{form = #amp.gelu_form<erf>}",
        [](double x) { return x * (1 + std::erf(x / std::sqrt(2.0))) / 2; });
  check("amp.gelu", "{form = #amp.gelu_form<tanh>}", [](double x) {
    return x *
           (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))) /
           2;
  });
  check("amp.silu", "", [](double x) { return x / (1 + std::exp(-x)); });
  check("amp.hard_swish", "",
        [](double x) { return x * std::max(0.0, std::min(1.0, x / 6 + 0.5)); });
  check("amp.hard_sigmoid", "{alpha = 0.2 : f64, beta = 0.5 : f64}",
        [](double x) { return std::max(0.0, std::min(1.0, 0.2 * x + 0.5)); });
}

TEST(ScalarBody, TestsFloats) {
  std::vector<float> x = {0, kNan, kInf, -kInf};
  const char *type = "(tensor<1xf32>) -> tensor<1xi1>";
  using Bools = std::vector<uint8_t>;
  EXPECT_EQ(evaluate<uint8_t>("amp.is_nan", "", type, x), (Bools{0, 1, 0, 0}));
  EXPECT_EQ(evaluate<uint8_t>("amp.is_inf", "", type, x), (Bools{0, 0, 1, 1}));
  EXPECT_EQ(evaluate<uint8_t>("amp.is_inf", "{negative = false}", type, x),
            (Bools{0, 0, 1, 0}));
  EXPECT_EQ(evaluate<uint8_t>("amp.is_inf",
                              "{negative = false, positive = false}", type, x),
            (Bools{0, 0, 0, 0}));
}

TEST(ScalarBody, ComputesOnBooleans) {
  using Bools = std::vector<uint8_t>;
  Bools x = {0, 0, 1, 1}, y = {0, 1, 0, 1};
  const char *type = "(tensor<1xi1>, tensor<1xi1>) -> tensor<1xi1>";
  EXPECT_EQ(evaluate<uint8_t>("amp.and", "", type, x, y), (Bools{0, 0, 0, 1}));
  EXPECT_EQ(evaluate<uint8_t>("amp.compare", "{predicate = #amp.predicate<lt>}",
                              type, x, y),
            (Bools{0, 1, 0, 0}));
  EXPECT_EQ(evaluate<uint8_t>("amp.logical_not", "",
                              "(tensor<1xi1>) -> tensor<1xi1>", x),
            (Bools{1, 1, 0, 0}));
  std::vector<float> a = {1, 2, 3, 4}, b = {5, 6, 7, 8};
  EXPECT_EQ(evaluate<float>("amp.select", "",
                            "(tensor<1xi1>, tensor<1xf32>, tensor<1xf32>) -> "
                            "tensor<1xf32>",
                            y, a, b),
            (std::vector<float>{5, 2, 7, 4}));
}
