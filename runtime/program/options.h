//===- options.h - The options of a produced program ----------------------===//
#ifndef AMPC_RUNTIME_PROGRAM_OPTIONS_H
#define AMPC_RUNTIME_PROGRAM_OPTIONS_H

#include "runtime/training/options.h"

namespace ampc::runtime {

enum class Command { None, Run, Bench, Inspect, Train, Eval };

/// A command line, parsed and checked as far as that needs no program. Texts
/// point into argv.
struct Options {
  Command command = Command::None;
  bool help = false;
  bool version = false;

  Vec<const char *> inputs;  // [NAME=]VALUE
  Vec<const char *> outputs; // [NAME=][@]FILE
  const char *outputDir = nullptr;
  const char *data = nullptr;
  const char *checkpoint = nullptr; // of a trainer; null: first values

  uint32_t threads = 0;         // 0: all
  const char *device = nullptr; // the one that the program is made for
  const char *weightsDir = nullptr;
  bool quiet = false;
  bool profile = false;
  bool debugArena = false;

  uint64_t iterations = 10; // at least
  uint64_t warmUpMs = 200;  // at least
  double durationS = 3;     // at least
  Vec<double> percentiles;  // 0 < p <= 100; 90, 95, 99 unless given
  const char *exportTimes = nullptr;

  bool json = false;
  const char *exportCode = nullptr; // folder for the GPU code

  TrainOptions train;
  const char *stepOption = nullptr; // the last one given that needs --step
};

struct OptionTable;

/// AMPC_USAGE, with the nearest known name, for what is not understood. Only a
/// trainer has the commands train and eval, and `training`, the options of
/// train.
Status parseOptions(int argc, char **argv, const OptionTable *training,
                    Options *outOptions);

/// Usage line, examples, and the options of a command or, without one, of all
/// that the program has.
Str helpText(const char *program, const OptionTable *training, Command command);

/// The candidate nearest to `text` by edit distance, or null if none is near.
const char *nearest(const char *text, const Vec<const char *> &candidates);

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_PROGRAM_OPTIONS_H
