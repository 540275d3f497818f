//===- watch.cpp - What a user should know of a run -----------------------===//
#include "runtime/training/watch.h"

namespace ampc::runtime {

static bool isFinite(double value) { return value - value == 0; }

Status Watch::hint(Kind kind, uint64_t step, const Str &text,
                   Journal *journal) {
  constexpr const char *names[] = {"overflow", "zero-gradients", "growth",
                                   "data-wait"};
  given[kind] = true;
  return journal->hint(names[kind], step, text.c_str());
}

Status Watch::overflowed(const StepRecord &record, Journal *journal) {
  const UpdateReport &report = record.report;
  if (given[overflow] || !report.foundInf || !isFinite(report.loss)) {
    return Status();
  }
  Str text;
  text.appendf("update %llu is skipped: scaled gradients overflow. ",
               static_cast<unsigned long long>(record.step));
  scaler == ScalerKind::Dynamic
      ? text.appendf("The scale goes from %g to %g; this is normal while it "
                     "finds its level",
                     report.scale, report.nextScale)
      : text.append("A smaller --init-scale, or --scaler=dynamic, avoids it");
  return hint(overflow, record.step, text, journal);
}

Status Watch::lostGradients(const StepRecord &record, Journal *journal) {
  // Half of all elements may be 0 for other reasons, such as ReLU.
  constexpr double most = 0.9;
  if (given[zeroGradients] || !record.hasStats ||
      !(record.stats.totalZeroShare() > most)) {
    return Status();
  }
  Str text;
  text.appendf("%.0f %% of all gradient elements of update %llu are 0 in 16 "
               "bits; %s",
               100 * record.stats.totalZeroShare(),
               static_cast<unsigned long long>(record.step),
               scaler == ScalerKind::Off ? "--scaler=dynamic keeps small ones"
                                         : "a larger scale keeps small ones");
  return hint(zeroGradients, record.step, text, journal);
}

Status Watch::grewTooFar(const StepRecord &record, Journal *journal) {
  const UpdateReport &report = record.report;
  bool grew = lastScale != 0 && report.scale > lastScale;
  lastScale = report.scale;
  if (!grew || scaler != ScalerKind::Dynamic) {
    return Status();
  }
  failedGrowths = report.foundInf ? failedGrowths + 1 : 0;
  if (given[growth] || failedGrowths < 3) {
    return Status();
  }
  Str text;
  text.appendf("each growth of the scale to %g is followed by a skipped "
               "update; a longer --growth-interval skips fewer",
               report.scale);
  return hint(growth, record.step, text, journal);
}

Status Watch::waited(const StepRecord &record, Journal *journal) {
  // The first updates warm up caches.
  constexpr uint64_t least = 20;
  constexpr double share = 0.2, leastSeconds = 0.5;
  constexpr double wakeUp =
      0.5e-3; // of an update, that no file can be blamed for
  if (++steps > least) {
    seconds += record.seconds;
    dataSeconds += record.dataSeconds;
  }
  if (given[dataWait] || seconds < leastSeconds ||
      !(dataSeconds > share * seconds) ||
      dataSeconds < wakeUp * static_cast<double>(steps - least)) {
    return Status();
  }
  Str text;
  text.appendf("%.0f %% of the time is spent waiting for data; uncompressed "
               ".npy files in the inputs' types are read fastest",
               100 * dataSeconds / seconds);
  return hint(dataWait, record.step, text, journal);
}

Status Watch::observe(const StepRecord &record, Journal *journal,
                      Verdict *out) {
  const UpdateReport &report = record.report;
  AMPC_TRY(overflowed(record, journal));
  AMPC_TRY(lostGradients(record, journal));
  AMPC_TRY(grewTooFar(record, journal));
  AMPC_TRY(waited(record, journal));
  bool atFloor = scaler == ScalerKind::Static ||
                 (scaler == ScalerKind::Dynamic &&
                  static_cast<float>(report.scale) <= scaleFloor);
  lossStreak = isFinite(report.loss) ? 0 : lossStreak + 1;
  floorStreak = report.foundInf && atFloor ? floorStreak + 1 : 0;
  bool lost =
      scaler == ScalerKind::Off && (report.foundInf || !isFinite(report.norm));
  normStreak = lost ? normStreak + 1 : 0;
  if (lossStreak >= patience || floorStreak >= patience ||
      normStreak >= patience) {
    *out = Verdict::Stop;
  } else if (!explained && !isFinite(report.loss)) {
    explained = true;
    *out = Verdict::Explain;
  } else {
    *out = Verdict::GoOn;
  }
  return Status();
}

Str Watch::reason() const {
  Str text;
  text.appendf("%llu updates in a row ",
               static_cast<unsigned long long>(patience));
  text.append(lossStreak >= patience ? "have a loss that is not finite"
              : floorStreak >= patience
                  ? "are skipped with the loss scale as small as it gets"
                  : "have gradients that are not finite");
  return text;
}

} // namespace ampc::runtime
