//===- options.cpp - The options of a produced program --------------------===//
#include "runtime/program/option_table.h"

namespace ampc::runtime {
namespace {

struct CommandEntry {
  const char *name;
  Command command;
  unsigned bit;
  const char *help;
};
constexpr CommandEntry commands[] = {
    {"run", Command::Run, onRun, "run once, or over a data set"},
    {"bench", Command::Bench, onBench | onStep,
     "measure throughput and latency"},
    {"inspect", Command::Inspect, onInspect, "print what the program holds"},
    {"train", Command::Train, onTrain, "train the parameters on a data set"},
    {"eval", Command::Eval, onEval, "compute the loss over a data set"},
};

/// What only a trainer takes.
constexpr unsigned onTrainer = onTrain | onEval | onStep;

/// The commands that a program has.
unsigned commandsOf(const OptionTable *training) {
  return training ? onAll : onAll & ~onTrainer;
}

/// Calls `visit(entry)` for each option of any of `commands`.
template <typename F>
void forEachOption(const OptionTable *training, unsigned commands, F &&visit) {
  for (const OptionTable *table : {&generalOptions, training}) {
    for (size_t i = 0; table && i < table->count; ++i) {
      if (table->entries[i].on & commands) {
        visit(table->entries[i]);
      }
    }
  }
}

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

const OptionEntry *findOption(const OptionTable *training, const char *text,
                              size_t length) {
  const OptionEntry *found = nullptr;
  forEachOption(training, onAll, [&](const OptionEntry &entry) {
    found = spells(text, length, entry.name) ? &entry : found;
  });
  return found;
}

Status unknownOption(const OptionTable *training, const char *text,
                     size_t length) {
  Str name(text, length);
  Vec<const char *> names;
  forEachOption(training, commandsOf(training),
                [&](const OptionEntry &entry) { names.push(entry.name); });
  const char *near = nearest(name.c_str(), names);
  return near ? Status::error(AMPC_USAGE,
                              "unknown option '--%s'; did you mean '--%s'?",
                              name.c_str(), near)
              : Status::error(AMPC_USAGE, "unknown option '--%s'; see --help",
                              name.c_str());
}

Status setCommand(const char *text, const OptionTable *training, Options *out) {
  Vec<const char *> names;
  for (const CommandEntry &entry : commands) {
    bool has = entry.bit & commandsOf(training);
    if (strcmp(entry.name, text) == 0) {
      out->command = entry.command;
      return has ? Status()
                 : Status::error(AMPC_USAGE,
                                 "this program is compiled for inference; "
                                 "compile the model with --train for '%s'",
                                 text);
    }
    if (has) {
      names.push(entry.name);
    }
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
Status parseOption(int argc, char **argv, const OptionTable *training,
                   int *index, Options *out) {
  const char *text = argv[*index] + 2;
  size_t length = strcspn(text, "=");
  const char *value = text[length] ? text + length + 1 : nullptr;
  const OptionEntry *entry = findOption(training, text, length);
  if (!entry) {
    return unknownOption(training, text, length);
  }
  if (!(entry->on & bitOf(out->command))) {
    return Status::error(AMPC_USAGE,
                         "option '--%s' does not belong to this "
                         "command; see --help",
                         entry->name);
  }
  if (out->command == Command::Bench && !(entry->on & onBench)) {
    out->stepOption = entry->name;
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

Status parseOptions(int argc, char **argv, const OptionTable *training,
                    Options *outOptions) {
  for (double percentile : {90.0, 95.0, 99.0}) {
    outOptions->percentiles.push(percentile);
  }
  int index = 1;
  if (index < argc && argv[index][0] != '-') {
    AMPC_TRY(setCommand(argv[index++], training, outOptions));
  }
  for (; index < argc; ++index) {
    const char *text = argv[index];
    if (strcmp(text, "-h") == 0) {
      outOptions->help = true;
    } else if (strncmp(text, "--", 2) == 0 && text[2]) {
      AMPC_TRY(parseOption(argc, argv, training, &index, outOptions));
    } else {
      return Status::error(AMPC_USAGE,
                           "unexpected argument '%s'; an input is given as "
                           "--input=NAME=@FILE",
                           text);
    }
  }
  if (outOptions->stepOption && !outOptions->train.benchStep) {
    return Status::error(AMPC_USAGE, "option '--%s' needs --step",
                         outOptions->stepOption);
  }
  if (outOptions->command == Command::None && !outOptions->help &&
      !outOptions->version) {
    return Status::error(AMPC_USAGE, training
                                         ? "expected a command: train, eval, "
                                           "run, bench or inspect"
                                         : "expected a command: run, bench or "
                                           "inspect");
  }
  return Status();
}

Str helpText(const char *program, const OptionTable *training,
             Command command) {
  Str out;
  unsigned has = commandsOf(training);
  unsigned shown = command == Command::None ? has : bitOf(command);
  out.appendf("usage: %s COMMAND [OPTIONS]\n\ncommands:\n", program);
  for (const CommandEntry &entry : commands) {
    if (entry.bit & has) {
      out.appendf("  %-10s %s\n", entry.name, entry.help);
    }
  }
  struct Example {
    unsigned on;
    const char *text;
  };
  constexpr Example examples[] = {
      {onTrain, "train --data=set.npz --epochs=3 --lr=1e-3"},
      {onTrain, "train --data=set.npz --eval-data=test.npz --epochs=10 "
                "--lr=1e-3 --schedule=cosine --warmup-steps=100"},
      {onTrain, "train --data=set.npz --epochs=10 --lr=1e-3 "
                "--checkpoint-dir=run --resume"},
      {onEval,
       "eval --data=test.npz --checkpoint=run/step-00000120.safetensors"},
      {onRun, "run --input=x=@x.npy --output=y=@y.npy"},
      {onRun, "run --input=random --quiet --output=@all.npz"},
      {onRun, "run --data=set.npz --output-dir=results"},
      {onBench, "bench --duration=5 --threads=4 --profile"},
      {onInspect, "inspect --json"},
  };
  out.append("\nexamples:\n");
  for (const Example &example : examples) {
    if (example.on & shown) {
      out.appendf("  %s %s\n", program, example.text);
    }
  }
  out.append("\noptions:\n");
  forEachOption(training, shown, [&](const OptionEntry &entry) {
    Str left("--");
    left.append(entry.name);
    if (entry.value) {
      left.appendf("=%s", entry.value);
    }
    out.appendf("  %-22s %s\n", left.c_str(), entry.help);
  });
  out.append("\nexit codes: 0 ok, 2 usage, 3 invalid data, 4 unsupported, 5 "
             "input/output, 6 limit, 8 device");
  out.append(shown & onTrainer
                 ? ", 1 training diverged, 10 checkpoint unusable, 130 and 143 "
                   "ended by SIGINT and SIGTERM\n"
                 : "\n");
  return out;
}

} // namespace ampc::runtime
