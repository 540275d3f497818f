//===- options.cpp - The options of a produced program --------------------===//
#include "runtime/program/options.h"

#include <errno.h>

namespace ampc::runtime {
namespace {

enum CommandBit : unsigned { onRun = 1, onBench = 2, onInspect = 4, onAll = 7 };

struct CommandEntry {
  const char *name;
  Command command;
  unsigned bit;
  const char *help;
};
constexpr CommandEntry commands[] = {
    {"run", Command::Run, onRun, "run once, or over a data set"},
    {"bench", Command::Bench, onBench, "measure throughput and latency"},
    {"inspect", Command::Inspect, onInspect, "print what the program holds"},
};

/// Takes the option's value (null for a flag); AMPC_USAGE when it is wrong.
using Setter = Status (*)(Options &options, const char *value);

struct OptionEntry {
  const char *name;
  const char *value; // what the help calls it; null for a flag
  unsigned on;       // commands that take it
  const char *help;
  Setter set;
};

Status parseNatural(const char *text, uint64_t low, uint64_t high,
                    uint64_t *out) {
  char *end = nullptr;
  errno = 0;
  unsigned long long value =
      *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
  if (!end || *end || errno || value < low || value > high) {
    return Status::error(AMPC_USAGE,
                         "expected a whole number from %llu to %llu, got '%s'",
                         static_cast<unsigned long long>(low),
                         static_cast<unsigned long long>(high), text);
  }
  *out = value;
  return Status();
}

Status parseReal(const char *text, double high, double *out, char **outEnd) {
  double value = strtod(text, outEnd);
  // The comparison is false for a NaN too.
  if (*outEnd == text || !(value >= 0 && value <= high)) {
    return Status::error(AMPC_USAGE, "expected a number from 0 to %g, got '%s'",
                         high, text);
  }
  *out = value;
  return Status();
}

Status setThreads(Options &options, const char *value) {
  uint64_t threads;
  AMPC_TRY(parseNatural(value, 1, 1024, &threads));
  options.threads = static_cast<uint32_t>(threads);
  return Status();
}

Status setDuration(Options &options, const char *value) {
  char *end;
  AMPC_TRY(parseReal(value, 1e6, &options.durationS, &end));
  return *end ? Status::error(AMPC_USAGE, "expected seconds, got '%s'", value)
              : Status();
}

Status setPercentiles(Options &options, const char *value) {
  options.percentiles.clear();
  for (const char *at = value;; ++at) {
    double percentile = 0;
    char *end;
    AMPC_TRY(parseReal(at, 100, &percentile, &end));
    if (percentile == 0 || (*end && *end != ',') ||
        options.percentiles.size() == 32) {
      return Status::error(
          AMPC_USAGE, "expected percentiles such as 90,95,99, got '%s'", value);
    }
    options.percentiles.push(percentile);
    at = end;
    if (!*end) {
      return Status();
    }
  }
}

/// Setters of texts, numbers and flags differ only in the member.
template <const char *Options::*member>
Status setText(Options &options, const char *value) {
  options.*member = value;
  return Status();
}
template <Vec<const char *> Options::*member>
Status addText(Options &options, const char *value) {
  (options.*member).push(value);
  return Status();
}
template <bool Options::*member>
Status setFlag(Options &options, const char *) {
  options.*member = true;
  return Status();
}
template <uint64_t Options::*member, uint64_t low, uint64_t high>
Status setNatural(Options &options, const char *value) {
  return parseNatural(value, low, high, &(options.*member));
}

constexpr OptionEntry entries[] = {
    {"input", "[NAME=]VALUE", onRun | onBench,
     "@FILE (.npy .npz .pb .safetensors), numbers (1,2,3), one number for all "
     "elements, or 'random'; a type may stand before: 2x3xf32=0",
     addText<&Options::inputs>},
    {"output", "[NAME=]@FILE", onRun,
     "write an output; all of them to an .npz or .safetensors without NAME",
     addText<&Options::outputs>},
    {"output-dir", "DIR", onRun, "write each output to DIR/NAME.npy",
     setText<&Options::outputDir>},
    {"data", "FILE", onRun,
     "a data set (.npz .safetensors, or NAME=@x.npy,...) to run in batches of "
     "the compiled size; rows must not depend on each other",
     setText<&Options::data>},
    {"threads", "N", onRun | onBench, "threads that compute (default: all)",
     setThreads},
    {"device", "NAME", onRun | onBench,
     "cpu, cuda, cuda:N or sim (default: what the program is compiled for)",
     setText<&Options::device>},
    {"weights-dir", "DIR", onRun | onBench,
     "folder of the weight file (default: beside the program)",
     setText<&Options::weightsDir>},
    {"profile", nullptr, onRun | onBench, "print the time of each launch",
     setFlag<&Options::profile>},
    {"debug-arena", nullptr, onRun | onBench,
     "fill working memory with NaN before each run",
     setFlag<&Options::debugArena>},
    {"iterations", "N", onBench, "measure at least N runs (default 10)",
     setNatural<&Options::iterations, 1, 1'000'000'000>},
    {"warm-up", "MS", onBench, "milliseconds before measuring (default 200)",
     setNatural<&Options::warmUpMs, 0, 1'000'000'000>},
    {"duration", "S", onBench, "measure at least S seconds (default 3)",
     setDuration},
    {"percentile", "P,...", onBench, "percentiles (default 90,95,99)",
     setPercentiles},
    {"export-times", "FILE", onBench, "write each run's time as JSON",
     setText<&Options::exportTimes>},
    {"json", nullptr, onInspect, "print JSON", setFlag<&Options::json>},
    {"export-code", "DIR", onInspect,
     "write the GPU code into DIR, as IMAGE.MODULE.cubin or .ptx",
     setText<&Options::exportCode>},
    {"quiet", nullptr, onAll, "print errors and results only",
     setFlag<&Options::quiet>},
    {"help", nullptr, onAll, "print this text", setFlag<&Options::help>},
    {"version", nullptr, onAll, "print the model's and the compiler's name",
     setFlag<&Options::version>},
};

/// Whether `text` spells the option, with '_' for '-' allowed.
bool spells(const char *text, size_t length, const char *name) {
  if (strlen(name) != length) {
    return false;
  }
  for (size_t i = 0; i < length; ++i) {
    char c = text[i] == '_' ? '-' : text[i];
    if (c != name[i]) {
      return false;
    }
  }
  return true;
}

const OptionEntry *findOption(const char *text, size_t length) {
  for (const OptionEntry &entry : entries) {
    if (spells(text, length, entry.name)) {
      return &entry;
    }
  }
  return nullptr;
}

Status unknownOption(const char *text, size_t length) {
  Str name(text, length);
  Vec<const char *> names;
  for (const OptionEntry &entry : entries) {
    names.push(entry.name);
  }
  const char *near = nearest(name.c_str(), names);
  return near ? Status::error(AMPC_USAGE,
                              "unknown option '--%s'; did you mean '--%s'?",
                              name.c_str(), near)
              : Status::error(AMPC_USAGE, "unknown option '--%s'; see --help",
                              name.c_str());
}

Status setCommand(const char *text, Options *out) {
  Vec<const char *> names;
  for (const CommandEntry &entry : commands) {
    if (strcmp(entry.name, text) == 0) {
      out->command = entry.command;
      return Status();
    }
    names.push(entry.name);
  }
  if (strcmp(text, "train") == 0 || strcmp(text, "eval") == 0) {
    return Status::error(AMPC_USAGE,
                         "this program is compiled for inference; compile the "
                         "model with --train for '%s'",
                         text);
  }
  const char *near = nearest(text, names);
  return Status::error(AMPC_USAGE, "unknown command '%s'; did you mean '%s'?",
                       text, near ? near : "run");
}

unsigned bitOf(Command command) {
  for (const CommandEntry &entry : commands) {
    if (entry.command == command) {
      return entry.bit;
    }
  }
  return onAll; // --help and --version stand without a command
}

/// One option at argv[*index]; moves the index over a value of its own.
Status parseOption(int argc, char **argv, int *index, Options *out) {
  const char *text = argv[*index] + 2;
  size_t length = strcspn(text, "=");
  const char *value = text[length] ? text + length + 1 : nullptr;
  const OptionEntry *entry = findOption(text, length);
  if (!entry) {
    return unknownOption(text, length);
  }
  if (!(entry->on & bitOf(out->command))) {
    return Status::error(AMPC_USAGE,
                         "option '--%s' does not belong to this "
                         "command; see --help",
                         entry->name);
  }
  if (!entry->value && value) {
    return Status::error(AMPC_USAGE, "option '--%s' takes no value",
                         entry->name);
  }
  if (entry->value && !value) {
    if (*index + 1 == argc) {
      return Status::error(AMPC_USAGE, "option '--%s' expects %s", entry->name,
                           entry->value);
    }
    value = argv[++*index];
  }
  Status status = entry->set(*out, value);
  if (status.ok()) {
    return status;
  }
  Str option("option '--");
  option.appendf("%s'", entry->name);
  return std::move(status).withPrefix(option.c_str());
}

size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/// Insertions, deletions and replacements from `a` to `b`.
size_t editDistance(const char *a, const char *b) {
  size_t width = strlen(b);
  Vec<size_t> row;
  for (size_t j = 0; j <= width; ++j) {
    row.push(j);
  }
  for (size_t i = 0; a[i]; ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < width; ++j) {
      size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = smaller(replaced, smaller(row[j], row[j + 1]) + 1);
    }
  }
  return row[width];
}

} // namespace

const char *nearest(const char *text, const Vec<const char *> &candidates) {
  const char *best = nullptr;
  // A third of the letters may differ, or two, but never all of them.
  size_t length = strlen(text);
  size_t bestDistance = smaller(length, length < 6 ? 3 : length / 3 + 1);
  for (const char *candidate : candidates) {
    size_t distance = length < 256 ? editDistance(text, candidate) : SIZE_MAX;
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

Status parseOptions(int argc, char **argv, Options *outOptions) {
  for (double percentile : {90.0, 95.0, 99.0}) {
    outOptions->percentiles.push(percentile);
  }
  int index = 1;
  if (index < argc && argv[index][0] != '-') {
    AMPC_TRY(setCommand(argv[index++], outOptions));
  }
  for (; index < argc; ++index) {
    const char *text = argv[index];
    if (strcmp(text, "-h") == 0) {
      outOptions->help = true;
    } else if (strncmp(text, "--", 2) == 0 && text[2]) {
      AMPC_TRY(parseOption(argc, argv, &index, outOptions));
    } else {
      return Status::error(AMPC_USAGE,
                           "unexpected argument '%s'; an input is given as "
                           "--input=NAME=@FILE",
                           text);
    }
  }
  if (outOptions->command == Command::None && !outOptions->help &&
      !outOptions->version) {
    return Status::error(AMPC_USAGE, "expected a command: run, bench or "
                                     "inspect");
  }
  return Status();
}

Str helpText(const char *program) {
  Str out;
  out.appendf("usage: %s COMMAND [OPTIONS]\n\ncommands:\n", program);
  for (const CommandEntry &entry : commands) {
    out.appendf("  %-10s %s\n", entry.name, entry.help);
  }
  constexpr const char *examples[] = {
      "run --input=x=@x.npy --output=y=@y.npy",
      "run --input=random --quiet --output=@all.npz",
      "run --data=set.npz --output-dir=results",
      "bench --duration=5 --threads=4 --profile",
      "inspect --json",
  };
  out.append("\nexamples:\n");
  for (const char *example : examples) {
    out.appendf("  %s %s\n", program, example);
  }
  out.append("\noptions:\n");
  for (const OptionEntry &entry : entries) {
    Str left("--");
    left.append(entry.name);
    if (entry.value) {
      left.appendf("=%s", entry.value);
    }
    out.appendf("  %-22s %s\n", left.c_str(), entry.help);
  }
  out.append("\nexit codes: 0 ok, 2 usage, 3 invalid data, 4 unsupported, 5 "
             "input/output, 6 limit, 8 device\n");
  return out;
}

} // namespace ampc::runtime
