//===- journal.cpp - What a training run tells ----------------------------===//
#include "runtime/training/journal.h"

#include "runtime/io/json.h"
#include "runtime/training/clock.h"

#include <stdio.h>
#include <unistd.h>

namespace ampc::runtime {
namespace {

bool isFinite(double value) { return value - value == 0; }

/// printf's NaN may have a sign.
Str formatReal(const char *format, double value) {
  Str out;
  if (value != value) {
    out.append("nan");
  } else {
    char text[64];
    snprintf(text, sizeof text, format, value);
    out.append(text);
  }
  return out;
}

void appendNumber(Str *out, const char *key, uint64_t value) {
  out->appendf(", \"%s\": %llu", key, static_cast<unsigned long long>(value));
}

void appendSigned(Str *out, const char *key, int64_t value) {
  out->appendf(", \"%s\": %lld", key, static_cast<long long>(value));
}

void appendStats(Str *out, const GradientStats &stats) {
  out->append(", \"grad_stats\": [");
  for (size_t i = 0; i < stats.names.size(); ++i) {
    out->append(i ? ", {\"name\": " : "{\"name\": ");
    appendJsonString(out, stats.names[i]);
    appendJsonReal(out, "mean_abs", static_cast<double>(stats.meanAbs[i]));
    appendJsonReal(out, "zero_share", static_cast<double>(stats.zeroShare[i]));
    appendJsonReal(out, "norm", static_cast<double>(stats.norm[i]));
    out->append("}");
  }
  out->append("]");
}

Str stepMembers(const StepRecord &record, bool accuracy) {
  const UpdateReport &report = record.report;
  Str out;
  appendNumber(&out, "step", record.step);
  appendNumber(&out, "epoch", record.epoch);
  appendJsonReal(&out, "loss", report.loss);
  appendJsonReal(&out, "weight", report.weight);
  if (accuracy) {
    appendJsonReal(&out, "accuracy", report.correct);
  }
  appendJsonReal(&out, "norm", report.norm);
  appendJsonReal(&out, "lr", record.learningRate);
  appendJsonReal(&out, "scale", report.scale);
  appendJsonReal(&out, "next_scale", report.nextScale);
  appendSigned(&out, "growth_tracker", report.tracker);
  out.appendf(", \"found_inf\": %s", report.foundInf ? "true" : "false");
  appendSigned(&out, "taken", report.taken);
  appendSigned(&out, "skipped", report.skipped);
  appendNumber(&out, "samples", record.samples);
  appendJsonReal(&out, "ms", record.seconds * 1e3);
  appendJsonReal(&out, "data_ms", record.dataSeconds * 1e3);
  if (record.hasStats) {
    appendStats(&out, record.stats);
  }
  return out;
}

void addEvent(Vec<ScalarEvent> *out, const char *tag, double value) {
  ScalarEvent event;
  event.tag = Str(tag);
  event.value = value;
  out->push(std::move(event));
}

Vec<ScalarEvent> stepEvents(const StepRecord &record, bool accuracy) {
  const UpdateReport &report = record.report;
  Vec<ScalarEvent> out;
  addEvent(&out, "train/loss", report.loss);
  if (accuracy) {
    addEvent(&out, "train/accuracy", report.correct);
  }
  addEvent(&out, "train/norm", report.norm);
  addEvent(&out, "train/lr", record.learningRate);
  addEvent(&out, "train/scale", report.scale);
  addEvent(&out, "train/skipped", static_cast<double>(report.skipped));
  for (size_t i = 0; record.hasStats && i < record.stats.names.size(); ++i) {
    auto add = [&](const char *what, float value) {
      Str tag("gradients/");
      tag.appendf("%s/%s", record.stats.names[i], what);
      addEvent(&out, tag.c_str(), static_cast<double>(value));
    };
    add("mean_abs", record.stats.meanAbs[i]);
    add("zero_share", record.stats.zeroShare[i]);
    add("norm", record.stats.norm[i]);
  }
  return out;
}

Status flushLine() {
  return fflush(stdout) == 0 && !ferror(stdout)
             ? Status()
             : Status::error(AMPC_IO, "cannot write to standard output");
}

} // namespace

Str formatRate(double value) {
  Str out;
  if (value >= 1e6) {
    out.appendf("%.1fM", value / 1e6);
  } else if (value >= 1e3) {
    out.appendf("%.1fk", value / 1e3);
  } else {
    out.appendf("%.3g", value);
  }
  return out;
}

void appendJsonReal(Str *out, const char *key, double value) {
  out->appendf(", \"%s\": ", key);
  isFinite(value) ? out->appendf("%.9g", value) : out->append("null");
}

Status Journal::open(const TrainOptions &options, bool isQuiet,
                     bool hasAccuracy) {
  quiet = isQuiet;
  accuracy = hasAccuracy;
  terminal = !quiet && isatty(STDERR_FILENO);
  start = secondsNow();
  if (options.log) {
    AMPC_TRY(json.open(options.log));
    AMPC_TRY(json.endLine());
  }
  return options.tensorboard ? events.open(options.tensorboard) : Status();
}

Status Journal::line(const char *event, const Str &members) {
  if (!json.isOpen()) {
    return Status();
  }
  Str text("{\"event\": ");
  appendJsonString(&text, event);
  text.append(members.c_str(), members.size());
  text.append("}\n");
  return json.write(text);
}

Status Journal::config(const Str &members) { return line("config", members); }

void Journal::clearBar() {
  if (barShown) {
    fputs("\r\033[K", stderr);
    barShown = false;
  }
}

void Journal::bar(uint64_t step, uint64_t steps) {
  if (!terminal) {
    return;
  }
  firstStep = firstStep ? firstStep : step;
  constexpr uint64_t width = 30;
  char cells[width + 1];
  for (uint64_t i = 0; i < width; ++i) {
    cells[i] = i < step * width / steps ? '=' : ' ';
  }
  cells[width] = 0;
  double each =
      (secondsNow() - start) / static_cast<double>(step - firstStep + 1);
  fprintf(stderr, "[%s] %llu/%llu, %.0f s left", cells,
          static_cast<unsigned long long>(step),
          static_cast<unsigned long long>(steps),
          each * static_cast<double>(steps - step));
  fflush(stderr);
  barShown = true;
}

Status Journal::step(const StepRecord &record) {
  const UpdateReport &report = record.report;
  AMPC_TRY(line("step", stepMembers(record, accuracy)));
  if (events.isOpen()) {
    AMPC_TRY(events.scalars(record.step, stepEvents(record, accuracy)));
  }
  if (quiet) {
    return Status();
  }
  clearBar();
  printf(
      "step %llu/%llu | loss %s | norm %s | lr %.1e | scale %g | skipped "
      "%lld | %.1f ms | %s samples/s\n",
      static_cast<unsigned long long>(record.step),
      static_cast<unsigned long long>(record.steps),
      formatReal("%.5g", report.loss).c_str(),
      formatReal("%.3g", report.norm).c_str(), record.learningRate,
      report.scale, static_cast<long long>(report.skipped),
      record.seconds * 1e3,
      formatRate(static_cast<double>(record.samples) / record.seconds).c_str());
  AMPC_TRY(flushLine());
  bar(record.step, record.steps);
  return Status();
}

Status Journal::epoch(const EpochRecord &record) {
  const Evaluation *evaluation = record.evaluation;
  Str members;
  Vec<ScalarEvent> scalars;
  appendNumber(&members, "epoch", record.epoch);
  appendNumber(&members, "step", record.step);
  Str text;
  auto add = [&](const char *key, const char *name, const char *tag,
                 double value) {
    appendJsonReal(&members, key, value);
    text.appendf(" | %s %s", name, formatReal("%.4g", value).c_str());
    addEvent(&scalars, tag, value);
  };
  add("loss", "loss", "epoch/loss", record.loss);
  if (accuracy) {
    add("accuracy", "accuracy", "epoch/accuracy", record.accuracy);
  }
  if (evaluation) {
    add("eval_loss", "eval loss", "eval/loss", evaluation->meanLoss());
  }
  if (evaluation && accuracy) {
    add("eval_accuracy", "eval accuracy", "eval/accuracy",
        evaluation->accuracy());
  }
  appendJsonReal(&members, "seconds", record.seconds);
  AMPC_TRY(line("epoch", members));
  if (events.isOpen()) {
    AMPC_TRY(events.scalars(record.step, scalars));
  }
  if (quiet) {
    return Status();
  }
  clearBar();
  printf("epoch %llu/%llu%s | %.1f s\n",
         static_cast<unsigned long long>(record.epoch),
         static_cast<unsigned long long>(record.epochs), text.c_str(),
         record.seconds);
  return flushLine();
}

Status Journal::checkpoint(uint64_t step, const char *path, double seconds) {
  Str members;
  appendNumber(&members, "step", step);
  members.append(", \"path\": ");
  appendJsonString(&members, path);
  appendJsonReal(&members, "ms", seconds * 1e3);
  return line("checkpoint", members);
}

Status Journal::hint(const char *kind, uint64_t step, const char *text) {
  Str members;
  appendNumber(&members, "step", step);
  members.append(", \"kind\": ");
  appendJsonString(&members, kind);
  members.append(", \"text\": ");
  appendJsonString(&members, text);
  if (!quiet) {
    clearBar();
    fprintf(stderr, "hint: %s\n", text);
  }
  return line("hint", members);
}

Status Journal::end(uint64_t step, const char *reason) {
  clearBar();
  Str members;
  appendNumber(&members, "step", step);
  members.append(", \"reason\": ");
  appendJsonString(&members, reason);
  appendJsonReal(&members, "seconds", secondsNow() - start);
  return line("end", members);
}

void note(const char *lines, bool quiet) {
  for (const char *at = lines; !quiet && *at;) {
    size_t length = strcspn(at, "\n");
    fprintf(stderr, "note: %.*s\n", static_cast<int>(length), at);
    at += length + (at[length] == '\n');
  }
}

} // namespace ampc::runtime
