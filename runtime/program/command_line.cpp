//===- command_line.cpp - The command line of a produced program ----------===//
#include "runtime/program/command_line.h"

#include "runtime/training/commands.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

namespace ampc::runtime {

const ampc_training_commands *trainingOf(const ampc_program &program) {
  constexpr size_t needed =
      offsetof(ampc_program, training) + sizeof program.training;
  return program.struct_size >= needed ? program.training : nullptr;
}

Status openSession(const ampc_program &program, const Options &options,
                   SessionHolder *out) {
  ampc_session_options chosen;
  ampc_session_options_init(&chosen);
  chosen.num_threads = options.threads;
  chosen.device = options.device;
  chosen.weights_dir = options.weightsDir;
  chosen.debug_arena = options.debugArena;
  const ampc_training_commands *training = trainingOf(program);
  if (options.checkpoint && !training) {
    return Status::error(AMPC_USAGE, "option '--checkpoint': the program is no "
                                     "trainer");
  }
  AMPC_TRY(Status(ampc_session_create(&program, &chosen, &out->session)));
  return options.checkpoint
             ? training->loadCheckpoint(options.checkpoint, out->session)
             : Status();
}

void note(const Options &options, const char *text) {
  if (!options.quiet) {
    fprintf(stderr, "note: %s\n", text);
  }
}

Status finishOutput() {
  if (fflush(stdout) != 0 || ferror(stdout)) {
    return Status::error(AMPC_IO, "cannot write to standard output: %s",
                         strerror(errno));
  }
  return Status();
}

Str formatBytes(uint64_t bytes) {
  constexpr const char *units[] = {"KiB", "MiB", "GiB", "TiB"};
  Str out;
  if (bytes < 1024) {
    out.appendf("%llu bytes", static_cast<unsigned long long>(bytes));
    return out;
  }
  double value = static_cast<double>(bytes) / 1024;
  int unit = 0;
  for (; value >= 1024 && unit < 3; ++unit) {
    value /= 1024;
  }
  out.appendf("%.1f %s", value, units[unit]);
  return out;
}

static const OptionTable *trainingOptionsOf(const ampc_program &program) {
  const ampc_training_commands *training = trainingOf(program);
  return training ? training->options : nullptr;
}

static Status dispatch(const ampc_program &program, const char *name,
                       const Options &options, int *outSignal) {
  if (options.help) {
    fputs(helpText(name, trainingOptionsOf(program), options.command).c_str(),
          stdout);
    return finishOutput();
  }
  if (options.version) {
    printf("%s (%s)\n", program.name ? program.name : "",
           program.producer ? program.producer : "");
    return finishOutput();
  }
  Status status;
  switch (options.command) {
  case Command::Run:
    status = runCommand(program, options);
    break;
  case Command::Bench:
    status = benchCommand(program, options);
    break;
  case Command::Inspect:
    status = inspectCommand(program, options);
    break;
  case Command::Train:
    status = trainingOf(program)->train(program, options, outSignal);
    break;
  case Command::Eval:
    status = trainingOf(program)->eval(program, options);
    break;
  case Command::None:
    break;
  }
  Status flushed = finishOutput();
  return status.ok() ? std::move(flushed) : std::move(status);
}

} // namespace ampc::runtime

using namespace ampc::runtime;

int ampc_program_main(int argc, char **argv, const ampc_program *program) {
  const char *name = argc > 0 && argv[0] ? argv[0] : "program";
  if (argc < 2) {
    fputs(helpText(name, trainingOptionsOf(*program), Command::None).c_str(),
          stderr);
    return AMPC_USAGE;
  }
  Options options;
  int signal = 0;
  Status status =
      parseOptions(argc, argv, trainingOptionsOf(*program), &options);
  if (status.ok()) {
    status = dispatch(*program, name, options, &signal);
  }
  if (!status.ok()) {
    bool colour = isatty(STDERR_FILENO) && !getenv("NO_COLOR");
    fprintf(stderr, "%s: %serror:%s %s\n", name, colour ? "\033[1;31m" : "",
            colour ? "\033[0m" : "", status.message());
  }
  // As a shell reports a process that a signal ended.
  return status.ok() && signal ? 128 + signal : status.code();
}
