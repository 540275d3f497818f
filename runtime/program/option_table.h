//===- option_table.h - Options as data -----------------------------------===//
#ifndef AMPC_RUNTIME_PROGRAM_OPTION_TABLE_H
#define AMPC_RUNTIME_PROGRAM_OPTION_TABLE_H

#include "runtime/program/options.h"

namespace ampc::runtime {

enum CommandBit : unsigned {
  onRun = 1,
  onBench = 2,
  onInspect = 4,
  onTrain = 8,
  onEval = 16,
  onStep = 32, // bench --step
  onAll = 63
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

struct OptionTable {
  const OptionEntry *entries;
  size_t count;
};

/// Options of all programs.
extern const OptionTable generalOptions;
/// Options for trainers alone.
extern const OptionTable trainingOptions;

/// A whole number in [low, high].
Status parseNatural(const char *text, uint64_t low, uint64_t high,
                    uint64_t *out);
/// A number from 0 to `high`; `*outEnd` is where it ends.
Status parseReal(const char *text, double high, double *out, char **outEnd);

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

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_PROGRAM_OPTION_TABLE_H
