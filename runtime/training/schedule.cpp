//===- schedule.cpp - The learning rate over the updates ------------------===//
#include "runtime/training/schedule.h"

namespace ampc::runtime {
namespace {

constexpr double pi = 3.14159265358979323846;

/// Sums x^first/first! - x^(first+2)/(first+2)! + ... for x up to pi/4, where
/// ten terms are below the rounding error. A program links no libm.
double alternatingSeries(double x, int first) {
  double term = first ? x : 1, sum = term;
  for (int n = first + 2; n < first + 20; n += 2) {
    term *= -x * x / (n * (n - 1));
    sum += term;
  }
  return sum;
}

/// cos(pi p) for p in [0, 1].
double cosineOfTurn(double p) {
  if (p > 0.5) {
    return -cosineOfTurn(1 - p);
  }
  return p <= 0.25 ? alternatingSeries(pi * p, 0)
                   : alternatingSeries(pi * (0.5 - p), 1);
}

} // namespace

double LearningRate::at(uint64_t taken) const {
  if (taken < warmup) {
    return base * static_cast<double>(taken + 1) / static_cast<double>(warmup);
  }
  double progress = taken >= total ? 1
                                   : static_cast<double>(taken - warmup) /
                                         static_cast<double>(total - warmup);
  switch (kind) {
  case ScheduleKind::Constant:
    return base;
  case ScheduleKind::Linear:
    return base * (1 - progress);
  case ScheduleKind::Cosine:
    return base * 0.5 * (1 + cosineOfTurn(progress));
  }
  return base;
}

const char *scheduleName(ScheduleKind kind) {
  switch (kind) {
  case ScheduleKind::Constant:
    return "constant";
  case ScheduleKind::Linear:
    return "linear";
  case ScheduleKind::Cosine:
    return "cosine";
  }
  return "";
}

} // namespace ampc::runtime
