//===- Tune.cpp - Find a precision policy that meets an error bound -------===//
#include "compiler/Driver/Commands.h"
#include "compiler/Driver/ErrorCheck.h"
#include "compiler/Driver/OutputFile.h"
#include "compiler/Driver/TuneNodes.h"
#include "compiler/Tune/Searcher.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace llvm;

namespace ampc::driver {

/// Searches that start anew, with a tighter bound, when the result of one does
/// not hold on held-out data.
static constexpr unsigned maxRounds = 4;

namespace {

/// One run of the command.
class Tuner {
public:
  Tuner(const Options &options, DiagnosticSink &sink)
      : options(options), sink(sink), bound(*options.tolerance.bound),
        variants(options, sink), nodes(variants) {}

  LogicalResult run();

private:
  LogicalResult readData(const ampc_program &program);
  std::optional<double> tryKeeping(ArrayRef<size_t> kept);
  LogicalResult measureHeldOut(ArrayRef<size_t> kept, double &error);
  LogicalResult search();
  LogicalResult reportFailure(const tune::Searcher &searcher);
  LogicalResult writePolicy();
  void printResult(const tune::Searcher &searcher);
  void printJson(const tune::Searcher &searcher);
  bool isTalking() const { return !options.quiet && !options.json; }

  const Options &options;
  DiagnosticSink &sink;
  const tune::ErrorBound bound;
  Variants variants;
  TuneNodes nodes;
  std::unique_ptr<ProgramRun> reference;
  std::vector<DataSet> tuningSets, heldOutSets;
  std::string heldOutSource; ///< for people
  std::string heldOutKind;   ///< as Measurement's
  tune::Outcome outcome;
  double heldOutError = 0;
  size_t numLow = 0; ///< nodes that run in 16 bits in the end
  unsigned rounds = 0;
};

} // namespace

LogicalResult Tuner::readData(const ampc_program &program) {
  const Compilation &compilation = variants.getCompilation();
  if (failed(
          readDataSets(compilation, program, options.data, tuningSets, sink))) {
    return failure();
  }
  if (!options.heldOut.empty()) {
    heldOutSource = options.heldOut;
    heldOutKind = "given";
    return readDataSets(compilation, program, options.heldOut, heldOutSets,
                        sink);
  }
  if (tuningSets.size() > 1) {
    size_t count = std::max<size_t>(tuningSets.size() / 4, 1);
    heldOutSource = "the last of " + options.data;
    heldOutKind = "split";
    for (size_t i = tuningSets.size() - count; i < tuningSets.size(); ++i) {
      heldOutSets.push_back(std::move(tuningSets[i]));
    }
    tuningSets.resize(tuningSets.size() - count);
    return success();
  }
  heldOutSource = "a variation of " + options.data + ", seed " +
                  std::to_string(options.seed);
  heldOutKind = "varied";
  return varyDataSet(tuningSets.front(), options.seed,
                     heldOutSets.emplace_back(), sink);
}

/// The error with these candidates in fp32; infinite, without a run, if a value
/// would come close to the end of the 16-bit type's range.
std::optional<double> Tuner::tryKeeping(ArrayRef<size_t> kept) {
  Variant variant;
  variant.layerPrecisions = nodes.getRules(kept);
  if (failed(variants.type(variant))) {
    return std::nullopt;
  }
  // Without a rule, what is measured decides.
  double error = HUGE_VAL;
  bool isUnsafe = !kept.empty() && nodes.findUnsafe() != nullptr;
  if (!isUnsafe) {
    std::unique_ptr<ProgramRun> program = variants.load();
    if (!program || failed(measureError(*program, *reference, tuningSets,
                                        bound.metric, error))) {
      return std::nullopt;
    }
  }
  if (isTalking()) {
    outs() << "  " << kept.size() << " in fp32: ";
    if (isUnsafe) {
      outs() << "leaves the range of " << nodes.getLowType() << '\n';
    } else {
      outs() << tune::stringifyMetric(bound.metric) << format(" %.3g\n", error);
    }
    outs().flush();
  }
  return error;
}

LogicalResult Tuner::measureHeldOut(ArrayRef<size_t> kept, double &error) {
  Variant variant;
  variant.layerPrecisions = nodes.getRules(kept);
  std::unique_ptr<ProgramRun> program = variants.build(variant);
  return program ? measureError(*program, *reference, heldOutSets, bound.metric,
                                error)
                 : failure();
}

LogicalResult Tuner::search() {
  tune::Searcher searcher(nodes.makeCandidates(), options.tuneTrials);
  double target = bound.value;
  auto trial = [&](ArrayRef<size_t> kept) { return tryKeeping(kept); };
  for (rounds = 1;; ++rounds) {
    std::optional<tune::Outcome> found = searcher.search(target, trial);
    if (!found) {
      return failure();
    }
    outcome = std::move(*found);
    if (!outcome.isMet) {
      return reportFailure(searcher);
    }
    if (failed(measureHeldOut(outcome.kept, heldOutError))) {
      return failure();
    }
    if (heldOutError <= bound.value) {
      break;
    }
    if (isTalking()) {
      outs() << format("  but %.3g on held-out data\n", heldOutError);
    }
    // What is seen there chooses the margin alone, never a node.
    double excess = bound.value / heldOutError; // 0 if that is infinite
    target = std::min(target, outcome.error) * std::max(0.9 * excess, 0.25);
    if (rounds == maxRounds || searcher.isExhausted()) {
      return reportFailure(searcher);
    }
  }
  numLow = nodes.countLow(); // of the program that was measured last
  if (failed(writePolicy())) {
    return failure();
  }
  options.json ? printJson(searcher) : printResult(searcher);
  return success();
}

LogicalResult Tuner::reportFailure(const tune::Searcher &searcher) {
  std::string least =
      formatv("{0}", format("%.3g", std::max(outcome.error, heldOutError)));
  return sink.error(
      ExitCode::Mismatch,
      formatv("found no policy with a {0} of at most {1:e2} in {2} trials; the "
              "best keeps {3} of {4} nodes in fp32 and has {5}",
              tune::describeMetric(bound.metric), bound.value,
              searcher.getNumTrials(), outcome.kept.size(), nodes.getNumNodes(),
              least),
      searcher.isExhausted() ? "--tune-trials allows more" : "");
}

LogicalResult Tuner::writePolicy() {
  Variant variant;
  variant.layerPrecisions = nodes.getRules(outcome.kept);
  variants.select(variant);
  Certificate certificate(variants.getCompilation(), bound);
  certificate.setTuning(
      {tuningSets.size(), outcome.error, hashDataSets(tuningSets), "given"});
  certificate.setHeldOut({heldOutSets.size(), heldOutError,
                          hashDataSets(heldOutSets), heldOutKind});
  json::Object object = certificate.makePolicy();
  return writeFile(options.output, sink, [&](raw_ostream &os) {
    os << formatv("{0:2}\n", json::Value(std::move(object)));
  });
}

void Tuner::printResult(const tune::Searcher &searcher) {
  if (options.quiet) {
    return;
  }
  outs() << "kept in fp32: " << outcome.kept.size() << " of "
         << nodes.getNumNodes() << " nodes, after " << searcher.getNumTrials()
         << " trials"
         << (outcome.isMinimal && !outcome.kept.empty()
                 ? "; none of them can be left out"
                 : "")
         << "\ncomputed in " << nodes.getLowType() << ": " << numLow
         << "; others are fp32 by their operator or their operands\n";
  for (size_t candidate : outcome.kept) {
    outs() << "  " << nodes.describe(candidate) << '\n';
  }
  StringRef metric = tune::stringifyMetric(bound.metric);
  outs() << metric << format(" %.3g on ", outcome.error) << tuningSets.size()
         << " data set" << (tuningSets.size() == 1 ? "" : "s") << " of "
         << options.data << '\n'
         << metric << format(" %.3g on ", heldOutError) << heldOutSets.size()
         << " held out: " << heldOutSource << '\n';
  if (rounds > 1) {
    outs() << "held-out data made the search start anew " << rounds - 1
           << (rounds == 2 ? " time\n" : " times\n");
  }
}

void Tuner::printJson(const tune::Searcher &searcher) {
  json::Array kept;
  for (size_t candidate : outcome.kept) {
    kept.push_back(nodes.toJson(candidate));
  }
  json::Object object{{"kept", std::move(kept)},
                      {"nodes", static_cast<int64_t>(nodes.getNumNodes())},
                      {"low_nodes", static_cast<int64_t>(numLow)},
                      {"trials", searcher.getNumTrials()},
                      {"rounds", rounds},
                      {"minimal", outcome.isMinimal},
                      {"tuning", toJson(outcome.error)},
                      {"held_out", toJson(heldOutError)}};
  outs() << formatv("{0:2}\n", json::Value(std::move(object)));
}

LogicalResult Tuner::run() {
  if (failed(checkWritable(options.output, sink)) || failed(variants.open()) ||
      failed(variants.checkIsMixed())) {
    return failure();
  }
  reference = variants.buildReference();
  if (!reference || failed(readData(reference->getProgram())) ||
      failed(nodes.measure(tuningSets))) {
    return failure();
  }
  if (isTalking()) {
    outs() << "tuning " << nodes.getNumCandidates() << " parts in "
           << nodes.getLowType() << " of " << nodes.getNumNodes()
           << " nodes to " << bound.print() << "; held out: " << heldOutSource
           << '\n';
  }
  return search();
}

LogicalResult tuneCommand(const Options &options, DiagnosticSink &sink) {
  return Tuner(options, sink).run();
}

} // namespace ampc::driver
