//===- journal.h - What a training run tells ------------------------------===//
//
// Lines on standard output, a JSON object a line in a file, and an event file
// for TensorBoard. Numbers that are not finite are null in JSON.
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_RUNTIME_TRAINING_JOURNAL_H
#define AMPC_RUNTIME_TRAINING_JOURNAL_H

#include "runtime/training/gradient_stats.h"
#include "runtime/training/options.h"
#include "runtime/training/tensorboard.h"

namespace ampc::runtime {

/// An update, as it is told. Steps and epochs count from 1.
struct StepRecord {
  uint64_t step = 0;
  uint64_t steps = 0;
  uint64_t epoch = 0;
  UpdateReport report;
  double learningRate = 0;
  uint64_t samples = 0;
  double seconds = 0;
  double dataSeconds = 0; // of these, waited for data
  bool hasStats = false;
  GradientStats stats;
};

/// Sums over a data set.
struct Evaluation {
  double loss = 0;
  double weight = 0;
  double correct = 0;
  double count = 0; // of how many
  uint64_t samples = 0;

  double meanLoss() const { return loss / weight; }
  double accuracy() const { return correct / count; }
};

struct EpochRecord {
  uint64_t epoch = 0;
  uint64_t epochs = 0;
  uint64_t step = 0;
  double loss = 0;
  double accuracy = 0;
  const Evaluation *evaluation = nullptr; // null: without
  double seconds = 0;
};

class Journal {
public:
  /// Opens the files; numbers of accuracy are told only where there are some.
  Status open(const TrainOptions &options, bool quiet, bool hasAccuracy);

  /// `members`: of a JSON object, without braces.
  Status config(const Str &members);
  Status step(const StepRecord &record);
  Status epoch(const EpochRecord &record);
  Status checkpoint(uint64_t step, const char *path, double seconds);
  /// What the user should know; `kind` is one word.
  Status hint(const char *kind, uint64_t step, const char *text);
  Status end(uint64_t step, const char *reason);

private:
  Status line(const char *event, const Str &members);
  void bar(uint64_t step, uint64_t steps);
  void clearBar();

  bool quiet = false;
  bool accuracy = false;
  bool terminal = false; // stderr shows a progress bar
  bool barShown = false;
  double start = 0;
  uint64_t firstStep = 0; // that this process made
  AppendFile json;
  EventFile events;
};

/// Prints lines to stderr, each as a note, unless quiet.
void note(const char *lines, bool quiet);

/// "10.3k".
Str formatRate(double value);
/// A number as JSON: as many digits as an f32 needs, null if not finite.
void appendJsonReal(Str *out, const char *key, double value);

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_TRAINING_JOURNAL_H
