//===- bench.cpp - The command bench --------------------------------------===//
#include "runtime/io/file.h"
#include "runtime/io/json.h"
#include "runtime/program/command_line.h"
#include "runtime/program/update_work.h"
#include "runtime/training/commands.h"

#include <algorithm>
#include <stdio.h>
#include <time.h>

namespace ampc::runtime {
namespace {

/// More runs than this are not measured: their times would fill the memory.
constexpr size_t maxSamples = 1u << 25;

double seconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) +
         static_cast<double>(now.tv_nsec) * 1e-9;
}

class Bench {
public:
  Bench(const ampc_program &program, const Options &options)
      : program(program), options(options) {}
  Status run();

private:
  Status prepare();
  Status once() {
    return options.train.benchStep
               ? updates.update(holder.session)
               : Status(
                     ampc_session_run(holder.session, in.data(), out.data()));
  }
  Status warmUp();
  Status measure();
  Status measureParts();
  Status profile();
  void report();
  Status exportTimes();

  const ampc_program &program;
  const Options &options;
  SessionHolder holder;
  Vec<Tensor> inputs;
  Vec<Bytes> outputs;
  Vec<const void *> in;
  Vec<void *> out;
  UpdateWork updates;
  Vec<double> times;                  // milliseconds, in order of the runs
  Vec<double> microTimes, applyTimes; // of the parts of an update
  double wall = 0;                    // seconds of all measured runs
  uint64_t launches = 0;              // of one run, as a mean
};

Status Bench::prepare() {
  if (options.train.benchStep) {
    AMPC_TRY(openSession(program, options, &holder));
    return trainingOf(program)->openUpdates(holder.session, options, &updates);
  }
  AMPC_TRY(gatherInputs(program, options, Missing::Fill, &inputs));
  AMPC_TRY(openSession(program, options, &holder));
  for (const Tensor &tensor : inputs) {
    in.push(tensor.data.data());
  }
  for (uint32_t i = 0; i < program.num_outputs; ++i) {
    Bytes &bytes = outputs.push(Bytes());
    AMPC_TRY(bytes.allocate(program.outputs[i].bytes));
    out.push(bytes.data());
  }
  return Status();
}

Status Bench::warmUp() {
  double end = seconds() + static_cast<double>(options.warmUpMs) * 1e-3;
  do {
    AMPC_TRY(once());
  } while (seconds() < end);
  return Status();
}

Status Bench::measure() {
  uint64_t before = ampc_session_total_launches(holder.session);
  double start = seconds();
  double last = start;
  while (times.size() < maxSamples && (times.size() < options.iterations ||
                                       last - start < options.durationS)) {
    AMPC_TRY(once());
    double now = seconds();
    times.push((now - last) * 1e3);
    last = now;
  }
  wall = last - start;
  launches =
      (ampc_session_total_launches(holder.session) - before) / times.size();
  return Status();
}

/// The parts of an update by themselves. On a GPU they are two graphs, so that
/// both together may take longer than the update.
Status Bench::measureParts() {
  size_t rounds = std::min<size_t>(times.size(), 1000);
  double last = seconds();
  for (size_t i = 0; i < rounds; ++i) {
    AMPC_TRY(updates.microStep(holder.session));
    double middle = seconds();
    AMPC_TRY(updates.apply(holder.session));
    double now = seconds();
    microTimes.push((middle - last) * 1e3);
    applyTimes.push((now - middle) * 1e3);
    last = now;
  }
  return Status();
}

/// Apart from the measured runs, whose times it would change.
Status Bench::profile() {
  ampc_session_set_profiling(holder.session, 1);
  uint64_t runs = std::min<uint64_t>(times.size(), 10);
  for (uint64_t i = 0; i < runs; ++i) {
    AMPC_TRY(once());
  }
  printProfile(holder.session, runs);
  ampc_session_set_profiling(holder.session, 0);
  return Status();
}

/// The smallest time that `percent` of the sorted times do not exceed.
double percentile(const Vec<double> &sorted, double percent) {
  double rank = percent / 100 * static_cast<double>(sorted.size());
  size_t index = static_cast<size_t>(rank);
  index -= static_cast<double>(index) == rank && index > 0;
  return sorted[std::min(index, sorted.size() - 1)];
}

Vec<double> sort(const Vec<double> &times) {
  Vec<double> sorted;
  for (double time : times) {
    sorted.push(time);
  }
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

double median(const Vec<double> &sorted) {
  size_t count = sorted.size();
  return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

void Bench::report() {
  Vec<double> sorted = sort(times);
  double sum = 0;
  for (double time : times) {
    sum += time;
  }
  size_t count = sorted.size();
  double mean = sum / static_cast<double>(count);
  bool isStep = options.train.benchStep;
  double micro = isStep ? median(sort(microTimes)) : 0;
  double apply = isStep ? median(sort(applyTimes)) : 0;
  double throughput = static_cast<double>(count) / wall;
  unsigned threads = ampc_session_num_threads(holder.session);

  if (!options.quiet) {
    printf("Model: %s, %u threads, %llu launches %s\n",
           program.name ? program.name : "", threads,
           static_cast<unsigned long long>(launches),
           isStep ? "a step" : "a run");
    printf("Runs: %zu in %.3f s after %llu ms of warm-up\n", count, wall,
           static_cast<unsigned long long>(options.warmUpMs));
    if (isStep) {
      printf("Throughput: %.6g steps/s, %.6g samples/s\n", throughput,
             throughput * static_cast<double>(updates.batch()));
    } else {
      printf("Throughput: %.6g runs/s\n", throughput);
    }
    printf("Latency: min = %.6g ms, max = %.6g ms, mean = %.6g ms, median = "
           "%.6g ms",
           sorted[0], sorted[count - 1], mean, median(sorted));
    for (double percent : options.percentiles) {
      printf(", percentile(%g%%) = %.6g ms", percent,
             percentile(sorted, percent));
    }
    printf("\n");
    if (isStep) {
      printf("Parts: micro-step, median = %.6g ms, update, median = %.6g ms\n",
             micro, apply);
    }
  }
  // One line for scripts; the keys are part of the interface.
  printf("ampc-bench: PASSED runs=%zu throughput=%.6g min_ms=%.6g max_ms=%.6g "
         "mean_ms=%.6g median_ms=%.6g",
         count, throughput, sorted[0], sorted[count - 1], mean, median(sorted));
  for (double percent : options.percentiles) {
    printf(" p%g_ms=%.6g", percent, percentile(sorted, percent));
  }
  if (isStep) {
    printf(" micro_step_ms=%.6g update_ms=%.6g samples_per_s=%.6g", micro,
           apply, throughput * static_cast<double>(updates.batch()));
  }
  printf(" launches=%llu threads=%u\n",
         static_cast<unsigned long long>(launches), threads);
}

Status Bench::exportTimes() {
  Str text("{\"model\": ");
  appendJsonString(&text, program.name ? program.name : "");
  text.appendf(", \"threads\": %u, \"launches\": %llu, \"wall_s\": %.9g, "
               "\"times_ms\": [",
               ampc_session_num_threads(holder.session),
               static_cast<unsigned long long>(launches), wall);
  for (size_t i = 0; i < times.size(); ++i) {
    text.appendf("%s%.6f", i ? ", " : "", times[i]);
  }
  text.append("]}\n");
  FileWriter file;
  AMPC_TRY(file.open(options.exportTimes));
  AMPC_TRY(file.write(text.c_str(), text.size()));
  return file.commit();
}

Status Bench::run() {
  AMPC_TRY(prepare());
  AMPC_TRY(warmUp());
  AMPC_TRY(measure());
  if (options.train.benchStep) {
    AMPC_TRY(measureParts());
  }
  if (options.profile) {
    AMPC_TRY(profile());
  }
  if (options.exportTimes) {
    AMPC_TRY(exportTimes().withPrefix(options.exportTimes));
  }
  report();
  return Status();
}

} // namespace

Status benchCommand(const ampc_program &program, const Options &options) {
  return Bench(program, options).run();
}

} // namespace ampc::runtime
