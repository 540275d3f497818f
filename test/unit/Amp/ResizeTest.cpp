//===- ResizeTest.cpp - amp.resize against ONNX's definition --------------===//
#include "test/unit/Amp/OpRunner.h"
#include <algorithm>
#include <cmath>

using namespace ampc::test;

namespace {
using Doubles = std::vector<double>;

/// One dimension of a resize, with the names of its attributes.
struct Line {
  std::string mode = "linear", coordinates = "half_pixel",
              nearest = "round_prefer_floor";
  double scale = 1;
  int64_t out = 0;
  double cubicCoeff = -0.75;
  bool excludeOutside = false, antialias = false;
  double extrapolation = 0, roiBegin = 0, roiEnd = 1;
};

double coordinate(const Line &line, double x, double in) {
  double out = line.scale * in;
  const std::string &mode = line.coordinates;
  double halfPixel = (x + 0.5) / line.scale - 0.5;
  if (mode == "half_pixel") {
    return halfPixel;
  }
  if (mode == "half_pixel_symmetric") {
    return in / 2 * (1 - line.out / out) + halfPixel;
  }
  if (mode == "pytorch_half_pixel") {
    return line.out > 1 ? halfPixel : 0;
  }
  if (mode == "align_corners") {
    return line.out > 1 ? x * (in - 1) / (out - 1) : 0;
  }
  if (mode == "asymmetric") {
    return x / line.scale;
  }
  if (mode == "tf_half_pixel_for_nn") {
    return (x + 0.5) / line.scale;
  }
  double span = line.roiEnd - line.roiBegin;
  return line.out > 1
             ? line.roiBegin * (in - 1) + x * span * (in - 1) / (out - 1)
             : 0.5 * (line.roiBegin + line.roiEnd) * (in - 1);
}

double cubic(double d, double a) {
  d = std::fabs(d);
  if (d <= 1) {
    return (a + 2) * d * d * d - (a + 3) * d * d + 1;
  }
  return d < 2 ? a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a : 0;
}

/// The weighted mean over every input element by its distance, the input
/// continued beyond its ends.
double reference(const Line &line, const Doubles &in, int64_t x) {
  int64_t size = in.size();
  double at = coordinate(line, x, size);
  if (line.coordinates == "tf_crop_and_resize" && (at < 0 || at > size - 1)) {
    return line.extrapolation;
  }
  auto clamp = [&](double i) {
    return in[std::clamp<int64_t>(static_cast<int64_t>(i), 0, size - 1)];
  };
  if (line.mode == "nearest") {
    double below = std::floor(at), part = at - below;
    bool up = line.nearest == "floor"               ? false
              : line.nearest == "ceil"              ? part > 0
              : line.nearest == "round_prefer_ceil" ? part >= 0.5
                                                    : part > 0.5;
    return clamp(below + up);
  }
  double spread = line.antialias ? std::min(line.scale, 1.0) : 1.0;
  double sum = 0, weights = 0;
  for (int64_t i = -4 * size; i < 5 * size; ++i) {
    double d = (i - at) * spread;
    double weight = line.mode == "linear" ? std::max(0.0, 1 - std::fabs(d))
                                          : cubic(d, line.cubicCoeff);
    if (line.excludeOutside && (i < 0 || i >= size)) {
      weight = 0;
    }
    sum += weight * clamp(i);
    weights += weight;
  }
  return sum / weights;
}

std::string attributesOf(const Line &line) {
  auto flag = [](bool value) { return value ? "true" : "false"; };
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "{scales = array<f64: 1.0, " << llvm::format("%.17e", line.scale)
     << ", 1.0>, mode = #amp.resize_mode<" << line.mode
     << ">, coordinate_mode = #amp.coordinate_mode<" << line.coordinates
     << ">, nearest_mode = #amp.nearest_mode<" << line.nearest
     << ">, cubic_coeff = " << llvm::format("%e", line.cubicCoeff)
     << " : f64, exclude_outside = " << flag(line.excludeOutside)
     << ", antialias = " << flag(line.antialias)
     << ", extrapolation_value = " << llvm::format("%e", line.extrapolation)
     << " : f64, roi = array<f64: 0.0, " << llvm::format("%e", line.roiBegin)
     << ", 0.0, 1.0, " << llvm::format("%e", line.roiEnd) << ", 1.0>}";
  return text;
}

/// Resizes the middle dimension of [2, in, 4] and compares each line.
void check(Line line, int64_t in) {
  std::string attributes = attributesOf(line);
  SCOPED_TRACE(attributes + " of " + std::to_string(in));
  std::vector<float> x;
  for (int64_t i = 0; i < 2 * in * 4; ++i) {
    x.push_back(std::sin(1.7f * i) * 10);
  }
  std::string type = "(tensor<2x" + std::to_string(in) +
                     "x4xf32>) -> tensor<2x" + std::to_string(line.out) +
                     "x4xf32>";
  auto result = evaluateIndexed<float>("amp.resize", attributes, type, x);
  EXPECT_TRUE(result.vectorized);
  for (int64_t n = 0; n < 2; ++n) {
    for (int64_t c = 0; c < 4; ++c) {
      Doubles values;
      for (int64_t i = 0; i < in; ++i) {
        values.push_back(x[(n * in + i) * 4 + c]);
      }
      for (int64_t o = 0; o < line.out; ++o) {
        double expected = reference(line, values, o);
        EXPECT_NEAR(result.values[(n * line.out + o) * 4 + c], expected, 2e-5)
            << "output " << o;
      }
    }
  }
}

/// A result of the ONNX specification's own examples.
void checkExample(const char *attributes, const char *type,
                  std::vector<float> in, std::vector<float> expected) {
  auto result = evaluateIndexed<float>("amp.resize", attributes, type, in);
  ASSERT_EQ(result.values.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(result.values[i], expected[i], 1e-5) << attributes;
  }
}

std::vector<float> upTo(int count) {
  std::vector<float> result = counting<float>(count);
  for (float &value : result) {
    value += 1;
  }
  return result;
}
} // namespace

TEST(Resize, AllCoordinateModes) {
  for (const char *mode : {"linear", "cubic", "nearest"}) {
    for (const char *coordinates :
         {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
          "align_corners", "asymmetric", "tf_half_pixel_for_nn",
          "tf_crop_and_resize"}) {
      Line line;
      line.mode = mode;
      line.coordinates = coordinates;
      for (auto [in, out] : {std::make_pair(5, 9), {9, 4}, {4, 1}, {1, 3}}) {
        line.out = out;
        line.scale = static_cast<double>(out) / in;
        check(line, in);
      }
      line.scale = 1.7; // the size is rounded down
      line.out = 8;
      check(line, 5);
    }
  }
}

TEST(Resize, NearestModes) {
  for (const char *nearest :
       {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}) {
    Line line;
    line.mode = "nearest";
    line.nearest = nearest;
    line.scale = 2;
    line.out = 12;
    check(line, 6);
    line.scale = 0.5;
    line.out = 3;
    check(line, 6);
  }
}

TEST(Resize, AntialiasAndExcludeOutside) {
  for (const char *mode : {"linear", "cubic"}) {
    for (bool antialias : {false, true}) {
      for (bool exclude : {false, true}) {
        Line line;
        line.mode = mode;
        line.antialias = antialias;
        line.excludeOutside = exclude;
        line.cubicCoeff = -0.5;
        for (auto [in, out] : {std::make_pair(12, 5), {12, 2}, {5, 8}}) {
          line.out = out;
          line.scale = static_cast<double>(out) / in;
          check(line, in);
        }
      }
    }
  }
}

TEST(Resize, CropExtrapolates) {
  Line line;
  line.coordinates = "tf_crop_and_resize";
  line.roiBegin = 0.4;
  line.roiEnd = 1.2;
  line.extrapolation = 10;
  line.out = 6;
  line.scale = 1.5;
  check(line, 4);
}

TEST(Resize, SpecificationExamples) {
  checkExample(
      "{scales = array<f64: 2.0, 2.0>, mode = #amp.resize_mode<linear>,"
      " coordinate_mode = #amp.coordinate_mode<half_pixel>}",
      "(tensor<2x2xf32>) -> tensor<4x4xf32>", upTo(4),
      {1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5, 3, 3.25,
       3.75, 4});
  checkExample("{scales = array<f64: 0.8, 0.8>, mode = #amp.resize_mode<cubic>,"
               " coordinate_mode = #amp.coordinate_mode<half_pixel>}",
               "(tensor<4x4xf32>) -> tensor<3x3xf32>", upTo(16),
               {1.47119141, 2.78125, 4.08251953, 6.71142578, 8.02148438,
                9.32275391, 11.91650391, 13.2265625, 14.52783203});
  checkExample(
      "{scales = array<f64: 0.6, 0.6>, mode = #amp.resize_mode<linear>,"
      " coordinate_mode = #amp.coordinate_mode<half_pixel>,"
      " antialias = true}",
      "(tensor<4x4xf32>) -> tensor<2x2xf32>", upTo(16),
      {2.875, 4.5, 9.375, 11});
  checkExample("{scales = array<f64: 0.6, 0.6>, mode = #amp.resize_mode<cubic>,"
               " coordinate_mode = #amp.coordinate_mode<half_pixel>,"
               " antialias = true}",
               "(tensor<4x4xf32>) -> tensor<2x2xf32>", upTo(16),
               {2.5180721, 4.2858863, 9.589329, 11.357142});
  checkExample(
      "{scales = array<f64: 0.6, 0.6>, mode = #amp.resize_mode<linear>,"
      " coordinate_mode = #amp.coordinate_mode<align_corners>}",
      "(tensor<2x4xf32>) -> tensor<1x2xf32>", upTo(8), {1, 3.142857});
  checkExample("{scales = array<f64: 0.75, 0.75>,"
               " mode = #amp.resize_mode<linear>,"
               " coordinate_mode = #amp.coordinate_mode<tf_crop_and_resize>,"
               " roi = array<f64: 0.4, 0.6, 0.6, 0.8>}",
               "(tensor<4x4xf32>) -> tensor<3x3xf32>", upTo(16),
               {7.6, 7.9, 8.2, 8.8, 9.1, 9.4, 10, 10.3, 10.6});
}

TEST(Resize, TruncatesIntegersAndRounds16BitFloats) {
  auto bytes = evaluateIndexed<uint8_t>(
      "amp.resize",
      "{scales = array<f64: 2.0>, mode = #amp.resize_mode<linear>,"
      " coordinate_mode = #amp.coordinate_mode<half_pixel>}",
      "(tensor<2xui8>) -> tensor<4xui8>", std::vector<uint8_t>{1, 200});
  EXPECT_EQ(bytes.values, (std::vector<uint8_t>{1, 50, 150, 200}));
  auto halves = evaluateIndexed<float>(
      "amp.resize",
      "{scales = array<f64: 2.0>, mode = #amp.resize_mode<linear>,"
      " coordinate_mode = #amp.coordinate_mode<half_pixel>}",
      "(tensor<2xbf16>) -> tensor<4xbf16>", std::vector<float>{1, 256});
  // 64.75 lies between 64.5 and 65.
  EXPECT_EQ(halves.values, (std::vector<float>{1, 65, 192, 256}));
}
