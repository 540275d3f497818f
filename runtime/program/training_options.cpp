//===- training_options.cpp - Options of trainers -------------------------===//
#include "runtime/program/option_table.h"

namespace ampc::runtime {
namespace {

Status outOfRange(const char *expected, const char *text) {
  return Status::error(AMPC_USAGE, "expected %s, got '%s'", expected, text);
}

/// A number, or a power of two written 2^-24.
bool parseNumber(const char *text, double *out) {
  char *end;
  if (strncmp(text, "2^", 2) != 0) {
    *out = strtod(text, &end);
    return end != text && !*end;
  }
  long exponent = strtol(text + 2, &end, 10);
  if (end == text + 2 || *end || exponent < -1022 || exponent > 1023) {
    return false;
  }
  *out = 1;
  for (; exponent > 0; --exponent) {
    *out *= 2;
  }
  for (; exponent < 0; ++exponent) {
    *out /= 2;
  }
  return true;
}

/// What numbers an option takes. Programs take them as f32.
enum class Range { NotNegative, Positive, BelowOne, Fraction, AboveOne };

bool isIn(Range range, double value) {
  constexpr double largest = 3.4028234663852886e38; // of f32
  constexpr double least = 0x1p-126;                // that is normal in f32
  if (!(value >= 0 && value <= largest)) {
    return false;
  }
  switch (range) {
  case Range::NotNegative:
    return true;
  case Range::Positive:
    return value >= least;
  case Range::BelowOne:
    return static_cast<float>(value) < 1;
  case Range::Fraction:
    return value >= least && static_cast<float>(value) < 1;
  case Range::AboveOne:
    return static_cast<float>(value) > 1;
  }
  return false;
}

const char *describeRange(Range range) {
  switch (range) {
  case Range::NotNegative:
    return "a number of at least 0";
  case Range::Positive:
    return "a positive number, such as 65536 or 2^-24";
  case Range::BelowOne:
    return "a number of at least 0 and below 1";
  case Range::Fraction:
    return "a number between 0 and 1";
  case Range::AboveOne:
    return "a number above 1";
  }
  return "";
}

template <Setting TrainOptions::*member, Range range>
Status setNumber(Options &options, const char *text) {
  double value = 0;
  if (!parseNumber(text, &value) || !isIn(range, value)) {
    return outOfRange(describeRange(range), text);
  }
  options.train.*member = {value, true};
  return Status();
}

template <uint64_t TrainOptions::*member, uint64_t low, uint64_t high>
Status setCount(Options &options, const char *text) {
  return parseNatural(text, low, high, &(options.train.*member));
}

template <const char *TrainOptions::*member>
Status setPath(Options &options, const char *text) {
  options.train.*member = text;
  return *text ? Status() : outOfRange("a path", text);
}

template <bool TrainOptions::*member>
Status setSwitch(Options &options, const char *) {
  options.train.*member = true;
  return Status();
}

Status setSeed(Options &options, const char *text) {
  options.train.seedGiven = true;
  return parseNatural(text, 0, INT64_MAX, &options.train.seed);
}

/// A word that stands for a value.
template <typename T>
struct Word {
  const char *text;
  T value;
};

template <typename T, size_t count>
Status setWord(const Word<T> (&words)[count], const char *text, T *out) {
  Str expected;
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(words[i].text, text) == 0) {
      *out = words[i].value;
      return Status();
    }
    expected.appendf("%s%s",
                     i == 0           ? ""
                     : i + 1 == count ? " or "
                                      : ", ",
                     words[i].text);
  }
  return outOfRange(expected.c_str(), text);
}

Status setSchedule(Options &options, const char *text) {
  constexpr Word<ScheduleKind> words[] = {{"constant", ScheduleKind::Constant},
                                          {"linear", ScheduleKind::Linear},
                                          {"cosine", ScheduleKind::Cosine}};
  return setWord(words, text, &options.train.schedule);
}

Status setScaler(Options &options, const char *text) {
  constexpr Word<ScalerKind> words[] = {{"auto", ScalerKind::Auto},
                                        {"dynamic", ScalerKind::Dynamic},
                                        {"static", ScalerKind::Static},
                                        {"off", ScalerKind::Off}};
  return setWord(words, text, &options.train.scaler);
}

Status setLastBatch(Options &options, const char *text) {
  constexpr Word<LastBatch> words[] = {{"drop", LastBatch::Drop},
                                       {"pad", LastBatch::Pad}};
  return setWord(words, text, &options.train.lastBatch);
}

constexpr uint64_t manySteps = 1'000'000'000'000;

/// Commands that make updates.
constexpr unsigned onUpdate = onTrain | onStep;

constexpr OptionEntry entries[] = {
    {"step", nullptr, onBench,
     "measure training steps on one batch, not predictions; it is drawn unless "
     "--input names it, and the learning rate is 0 unless --lr is given",
     setSwitch<&TrainOptions::benchStep>},
    {"epochs", "N", onTrain, "passes over the data set",
     setCount<&TrainOptions::epochs, 1, manySteps>},
    {"steps", "N", onTrain, "updates at most, beside or instead of --epochs",
     setCount<&TrainOptions::steps, 1, manySteps>},
    {"lr", "F", onUpdate, "the largest learning rate of the schedule",
     setNumber<&TrainOptions::learningRate, Range::NotNegative>},
    {"schedule", "KIND", onTrain,
     "constant (default), linear or cosine, both down to 0; over the updates "
     "that are taken",
     setSchedule},
    {"warmup-steps", "N", onTrain, "updates over which the rate rises first",
     setCount<&TrainOptions::warmupSteps, 0, manySteps>},
    {"momentum", "F", onUpdate, "of sgd with momentum (default 0.9)",
     setNumber<&TrainOptions::momentum, Range::BelowOne>},
    {"weight-decay", "F", onUpdate, "as the optimizer defines it (default 0)",
     setNumber<&TrainOptions::weightDecay, Range::NotNegative>},
    {"beta1", "F", onUpdate, "of adam and adamw (default 0.9)",
     setNumber<&TrainOptions::beta1, Range::BelowOne>},
    {"beta2", "F", onUpdate, "of adam and adamw (default 0.999)",
     setNumber<&TrainOptions::beta2, Range::BelowOne>},
    {"eps", "F", onUpdate,
     "of adam and adamw (default 1e-8), and adagrad (1e-10)",
     setNumber<&TrainOptions::epsilon, Range::NotNegative>},
    {"lr-decay", "F", onUpdate,
     "of adagrad: by how much an update lowers the rate (default 0)",
     setNumber<&TrainOptions::rateDecay, Range::NotNegative>},
    {"clip-norm", "F", onUpdate, "largest norm of all gradients (0: any)",
     setNumber<&TrainOptions::clipNorm, Range::NotNegative>},
    {"clip-value", "F", onTrain, "largest magnitude of a gradient (0: any)",
     setNumber<&TrainOptions::clipValue, Range::NotNegative>},
    {"accumulate", "N", onTrain,
     "batches whose gradients make an update (default 1); the last of an epoch "
     "takes what is left",
     setCount<&TrainOptions::accumulate, 1, 1'000'000>},
    {"seed", "N", onUpdate, "of the order of the samples (default 0)", setSeed},
    {"scaler", "KIND", onUpdate,
     "loss scaling: dynamic, static, off or auto, the default: dynamic if "
     "gradients are computed in f16",
     setScaler},
    {"init-scale", "F", onUpdate, "the first loss scale (default 65536)",
     setNumber<&TrainOptions::initScale, Range::Positive>},
    {"growth-factor", "F", onTrain, "of the dynamic scale (default 2)",
     setNumber<&TrainOptions::growthFactor, Range::AboveOne>},
    {"backoff-factor", "F", onTrain, "of the dynamic scale (default 0.5)",
     setNumber<&TrainOptions::backoffFactor, Range::Fraction>},
    {"growth-interval", "N", onTrain,
     "updates without overflow before the scale grows (default 2000)",
     setCount<&TrainOptions::growthInterval, 1, INT32_MAX>},
    {"scale-floor", "F", onTrain, "the scale stays above (default 2^-24)",
     setNumber<&TrainOptions::scaleFloor, Range::Positive>},
    {"last-batch", "KIND", onTrain,
     "an incomplete last batch: drop (default) or pad", setLastBatch},
    {"eval-data", "FILE", onTrain, "a data set to evaluate after each epoch",
     setPath<&TrainOptions::evalData>},
    {"grad-stats", "N", onTrain,
     "statistics of gradients in the log, every N updates",
     setCount<&TrainOptions::gradStats, 1, manySteps>},
    {"checkpoint-dir", "DIR", onTrain, "folder for checkpoints, which is made",
     setPath<&TrainOptions::checkpointDir>},
    {"checkpoint-every", "N", onTrain,
     "updates between checkpoints (default: an epoch)",
     setCount<&TrainOptions::checkpointEvery, 1, manySteps>},
    {"keep", "N", onTrain, "checkpoints to keep (default 2)",
     setCount<&TrainOptions::keep, 1, 1'000'000>},
    {"resume", nullptr, onTrain, "go on from the newest valid checkpoint",
     setSwitch<&TrainOptions::resume>},
    {"export-onnx", "FILE", onTrain,
     "write the model with the trained parameters at the end",
     setPath<&TrainOptions::exportOnnx>},
    {"model", "FILE", onTrain, "the original model, if it was moved",
     setPath<&TrainOptions::model>},
    {"log", "FILE", onTrain, "append a JSON object a line",
     setPath<&TrainOptions::log>},
    {"tensorboard", "DIR", onTrain, "write an event file for TensorBoard",
     setPath<&TrainOptions::tensorboard>},
};

} // namespace

const OptionTable trainingOptions = {entries, sizeof entries / sizeof *entries};

} // namespace ampc::runtime
