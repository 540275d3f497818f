//===- Divergence.h - How far a tensor is from another --------------------===//
#ifndef AMPC_COMPILER_TUNE_DIVERGENCE_H
#define AMPC_COMPILER_TUNE_DIVERGENCE_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace ampc::tune {

/// By which number a result is judged. Smaller is better, 0 is equality.
enum class Metric {
  Relative, ///< ||got - expected|| / ||expected||, Frobenius norms
  Maximum,  ///< largest |got - expected|
  Cosine,   ///< 1 - cosine of the angle between both
  TopOne,   ///< share of rows (last dimension) whose largest element is another
};

/// Spelling of a metric on the command line: rel, max, cosine, top1.
llvm::StringRef stringifyMetric(Metric metric);
/// Takes `frobenius` for rel.
std::optional<Metric> symbolizeMetric(llvm::StringRef name);
/// The metric in words, "relative Frobenius error".
llvm::StringRef describeMetric(Metric metric);

/// What a result may differ by.
struct ErrorBound {
  Metric metric = Metric::Relative;
  double value = 0;

  /// rel:1e-3
  std::string print() const;
};

/// The magnitudes of a tensor's elements.
struct ValueRange {
  double smallest = std::numeric_limits<double>::infinity(); ///< but for 0
  double largest = 0;                                        ///< finite
  uint64_t infinities = 0, nans = 0;

  void add(double value);
  bool isFinite() const { return infinities == 0 && nans == 0; }
};

/// Compares a tensor with a reference, element by element, in the order of
/// memory; several tensors of one kind may follow each other.
class Divergence {
public:
  /// `rowLength` is the last dimension, for TopOne.
  explicit Divergence(uint64_t rowLength = 1) : rowLength(rowLength) {}

  /// Two elements differ in kind if one is finite and the other is not, or they
  /// are another infinity or NaN. Norms run over those that are both finite.
  /// Returns whether they are of one kind.
  bool add(double got, double expected);

  uint64_t getCount() const { return count; }
  /// Elements that differ in kind.
  uint64_t getNumMismatched() const { return mismatched; }
  /// Over elements that are finite in both.
  double getFiniteRelative() const;
  double getFiniteMaximum() const { return maximum; }
  double getFiniteMaximumRelative() const { return maximumRelative; }
  double getFiniteCosineDistance() const;
  /// The number that the metric asks for; infinite if an element differs in
  /// kind. TopOne counts a row that holds such an element as different.
  double getError(Metric metric) const;

  const ValueRange &getGotRange() const { return gotRange; }
  const ValueRange &getExpectedRange() const { return expectedRange; }

private:
  void finishRow();

  uint64_t rowLength;
  uint64_t count = 0, mismatched = 0;
  double errorSquares = 0, expectedSquares = 0, gotSquares = 0, products = 0;
  double maximum = 0, maximumRelative = 0;
  ValueRange gotRange, expectedRange;

  // The row that is being read.
  struct Row {
    uint64_t length = 0, topGot = 0, topExpected = 0;
    double bestGot = 0, bestExpected = 0;
    bool isMismatched = false;
  } row;
  uint64_t rows = 0, rowsThatDiffer = 0;
};

} // namespace ampc::tune

#endif // AMPC_COMPILER_TUNE_DIVERGENCE_H
