//===- TuneNodes.cpp - The parts of a model that tuning chooses from ------===//
#include "compiler/Driver/TuneNodes.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace llvm;

namespace ampc::driver {

LogicalResult TuneNodes::measure(ArrayRef<DataSet> sets) {
  low = driver::getLowType(variants.getPolicy());
  largest = APFloat::getLargest(low == "f16" ? APFloat::IEEEhalf()
                                             : APFloat::BFloat())
                .convertToDouble();
  traces = findTraces(variants);
  if (failed(variants.type({}))) {
    return failure();
  }
  readDecisions(*variants.getCompilation().getPrecisionReport(), traces);
  SmallVector<size_t> chosen = findLow(variants, traces);
  erase_if(chosen, [&](size_t index) { return traces[index].isOverridden; });
  // All values are measured: those in fp32 are operands of others.
  if (failed(
          traceAlone(variants, sets, to_vector(seq(traces.size())), traces))) {
    return failure();
  }
  for (const NodeTrace &trace : traces) {
    StringMap<unsigned> own;
    for (StringRef text : concat<const std::string>(trace.names, trace.paths)) {
      if (own.try_emplace(text).second) {
        ++uses[text];
      }
    }
  }
  StringMap<size_t> known;
  for (size_t index : chosen) {
    const NodeTrace &trace = traces[index];
    std::string pattern = makePattern(trace);
    auto [it, isNew] = known.try_emplace(pattern, parts.size());
    if (isNew) {
      parts.push_back({pattern, {}, 0});
    }
    Part &part = parts[it->second];
    part.traces.push_back(index);
    part.score = std::max(part.score,
                          leavesRange(trace) ? HUGE_VAL : trace.getOwnError());
  }
  return success();
}

/// `text` as a pattern that matches nothing else.
static std::string escapeGlob(StringRef text) {
  std::string pattern;
  for (char c : text) {
    if (StringRef("*?[]{}\\").contains(c)) {
      pattern += '\\';
    }
    pattern += c;
  }
  return pattern;
}

/// A name or place that the operation shares with as few others as possible: a
/// name if none has it, else the place.
std::string TuneNodes::makePattern(const NodeTrace &trace) const {
  for (const auto &texts : {trace.names, trace.paths}) {
    for (StringRef text : texts) {
      if (!text.empty() && uses.lookup(text) == 1) {
        return escapeGlob(text);
      }
    }
  }
  return escapeGlob(trace.paths.empty() ? trace.names.front()
                                        : trace.paths.front());
}

/// The largest magnitude that the operation reads or makes in fp32.
double TuneNodes::getReach(const NodeTrace &trace) const {
  double reach = trace.alone.getExpectedRange().largest;
  for (size_t producer : trace.producers) {
    reach = std::max(reach, traces[producer].alone.getExpectedRange().largest);
  }
  return reach;
}

double TuneNodes::getReach(const Part &part) const {
  double reach = 0;
  for (size_t trace : part.traces) {
    reach = std::max(reach, getReach(traces[trace]));
  }
  return reach;
}

bool TuneNodes::leavesRange(const NodeTrace &trace) const {
  return trace.alone.getNumMismatched() != 0 ||
         getReach(trace) * headroom > largest;
}

std::vector<tune::Candidate> TuneNodes::makeCandidates() const {
  DenseMap<size_t, size_t> partOf;
  for (auto [i, part] : enumerate(parts)) {
    for (size_t trace : part.traces) {
      partOf[trace] = i;
    }
  }
  std::vector<tune::Candidate> candidates;
  for (auto [i, part] : enumerate(parts)) {
    tune::Candidate &candidate = candidates.emplace_back();
    candidate.score = part.score;
    for (size_t trace : part.traces) {
      for (size_t producer : traces[trace].producers) {
        auto found = partOf.find(producer);
        if (found != partOf.end() && found->second != i) {
          candidate.producers.push_back(found->second);
        }
      }
    }
  }
  return candidates;
}

std::vector<std::string>
TuneNodes::getRules(ArrayRef<size_t> candidates) const {
  std::vector<std::string> rules;
  for (size_t candidate : candidates) {
    rules.push_back(parts[candidate].pattern + ":fp32");
  }
  return rules;
}

std::vector<std::string> TuneNodes::findPathsOutOfRange() const {
  SetVector<StringRef> paths;
  for (const Part &part : parts) {
    for (size_t index : part.traces) {
      if (leavesRange(traces[index])) {
        paths.insert(traces[index].paths.begin(), traces[index].paths.end());
      }
    }
  }
  return std::vector<std::string>(paths.begin(), paths.end());
}

size_t TuneNodes::countLow() {
  readDecisions(*variants.getCompilation().getPrecisionReport(), traces);
  return count_if(traces, [&](const NodeTrace &trace) { return isLow(trace); });
}

const NodeTrace *TuneNodes::findUnsafe() {
  readDecisions(*variants.getCompilation().getPrecisionReport(), traces);
  auto unsafe = find_if(traces, [&](const NodeTrace &trace) {
    return isLow(trace) && !trace.isOverridden && leavesRange(trace);
  });
  return unsafe == traces.end() ? nullptr : &*unsafe;
}

std::string TuneNodes::describe(size_t candidate) const {
  const Part &part = parts[candidate];
  const NodeTrace &trace = traces[part.traces.front()];
  std::string text;
  raw_string_ostream os(text);
  os << part.pattern << " (" << trace.op << "): ";
  if (std::isinf(part.score)) {
    os << format("reads or makes %.3g", getReach(part));
  } else {
    os << format("alone, an error of %.3g", part.score);
  }
  return text;
}

json::Value TuneNodes::toJson(size_t candidate) const {
  const Part &part = parts[candidate];
  const NodeTrace &trace = traces[part.traces.front()];
  return json::Object{{"pattern", json::fixUTF8(part.pattern)},
                      {"op", trace.op},
                      {"alone", driver::toJson(part.score)},
                      {"largest", getReach(part)}};
}

} // namespace ampc::driver
