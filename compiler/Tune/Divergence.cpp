//===- Divergence.cpp - How far a tensor is from another ------------------===//
#include "compiler/Tune/Divergence.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>

using namespace llvm;

namespace ampc::tune {

StringRef stringifyMetric(Metric metric) {
  switch (metric) {
  case Metric::Relative:
    return "rel";
  case Metric::Maximum:
    return "max";
  case Metric::Cosine:
    return "cosine";
  case Metric::TopOne:
    return "top1";
  }
  llvm_unreachable("not a metric");
}

std::optional<Metric> symbolizeMetric(StringRef name) {
  return StringSwitch<std::optional<Metric>>(name)
      .Cases({"rel", "frobenius"}, Metric::Relative)
      .Case("max", Metric::Maximum)
      .Case("cosine", Metric::Cosine)
      .Case("top1", Metric::TopOne)
      .Default(std::nullopt);
}

StringRef describeMetric(Metric metric) {
  switch (metric) {
  case Metric::Relative:
    return "relative Frobenius error";
  case Metric::Maximum:
    return "maximum absolute error";
  case Metric::Cosine:
    return "cosine distance";
  case Metric::TopOne:
    return "share of rows with another top element";
  }
  llvm_unreachable("not a metric");
}

std::string ErrorBound::print() const {
  std::string text;
  raw_string_ostream(text) << stringifyMetric(metric) << format(":%.3g", value);
  return text;
}

void ValueRange::add(double value) {
  double magnitude = std::fabs(value);
  if (std::isnan(value)) {
    ++nans;
  } else if (std::isinf(value)) {
    ++infinities;
  } else {
    largest = std::max(largest, magnitude);
    if (magnitude > 0) {
      smallest = std::min(smallest, magnitude);
    }
  }
}

bool Divergence::add(double got, double expected) {
  ++count;
  gotRange.add(got);
  expectedRange.add(expected);
  bool isSame = true;
  if (std::isfinite(got) && std::isfinite(expected)) {
    double difference = std::fabs(got - expected);
    maximum = std::max(maximum, difference);
    if (expected != 0) {
      maximumRelative =
          std::max(maximumRelative, difference / std::fabs(expected));
    }
    errorSquares += difference * difference;
    expectedSquares += expected * expected;
    gotSquares += got * got;
    products += got * expected;
  } else {
    isSame = std::isnan(expected) ? std::isnan(got) : got == expected;
    mismatched += !isSame;
    row.isMismatched |= !isSame;
  }
  if (row.length == 0 || got > row.bestGot) {
    row.bestGot = got;
    row.topGot = row.length;
  }
  if (row.length == 0 || expected > row.bestExpected) {
    row.bestExpected = expected;
    row.topExpected = row.length;
  }
  if (++row.length == rowLength) {
    finishRow();
  }
  return isSame;
}

void Divergence::finishRow() {
  ++rows;
  rowsThatDiffer += row.isMismatched || row.topGot != row.topExpected;
  row = Row();
}

double Divergence::getFiniteRelative() const {
  double error = std::sqrt(errorSquares), norm = std::sqrt(expectedSquares);
  return norm > 0 ? error / norm : error;
}

double Divergence::getFiniteCosineDistance() const {
  if (gotSquares == 0 && expectedSquares == 0) {
    return 0;
  }
  double norms = std::sqrt(gotSquares) * std::sqrt(expectedSquares);
  return norms > 0 ? std::max(0.0, 1 - products / norms) : 1;
}

double Divergence::getError(Metric metric) const {
  if (metric == Metric::TopOne) {
    return rows ? static_cast<double>(rowsThatDiffer) / rows : 0;
  }
  if (mismatched != 0) {
    return std::numeric_limits<double>::infinity();
  }
  double error = metric == Metric::Relative  ? getFiniteRelative()
                 : metric == Metric::Maximum ? maximum
                                             : getFiniteCosineDistance();
  // Squares beyond the range of a double.
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

} // namespace ampc::tune
