//===- CrashHandler.cpp - What an internal error looks like ---------------===//
#include "compiler/Driver/CrashHandler.h"

#include "compiler/Driver/ExitCodes.h"
#include "compiler/Driver/Version.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <new>
#include <unistd.h>

namespace ampc::driver {

static const char *commandText = "ampc";

static constexpr int crashSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE,
                                       SIGABRT};

/// Only calls that are allowed in a signal handler.
static void say(const char *text) {
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text, strlen(text));
}

static void sayHowToReport(const char *reason) {
  say("ampc: error: internal error: ");
  say(reason);
  say("\n  hint: this is a defect of ampc ");
  say(versionText);
  say("; please report it with the model and this command line:\n        ");
  say(commandText);
  say("\n");
}

static void onSignal(int signal) {
  const char *name = signal == SIGSEGV  ? "invalid memory access"
                     : signal == SIGBUS ? "a mapped file changed or ended"
                     : signal == SIGILL ? "illegal instruction"
                     : signal == SIGFPE ? "arithmetic error"
                                        : "aborted";
  sayHowToReport(name);
  llvm::sys::RunInterruptHandlers(); // removes temporary files
  _exit(static_cast<int>(ExitCode::Internal));
}

static void onFatalError(void *, const char *reason, bool) {
  sayHowToReport(reason);
  llvm::sys::RunInterruptHandlers();
  _exit(static_cast<int>(ExitCode::Internal));
}

static void onBadAlloc(void *, const char *, bool) {
  say("ampc: error: out of memory\n");
  llvm::sys::RunInterruptHandlers();
  _exit(static_cast<int>(ExitCode::Limit));
}

static void onNoMemory() { onBadAlloc(nullptr, nullptr, false); }

void installCrashHandler(const char *what) {
  commandText = what;
  // A stack of its own: deep recursion leaves none.
  static constexpr size_t stackSize = 64 << 10;
  static char stack[stackSize];
  stack_t alternative{};
  alternative.ss_sp = stack;
  alternative.ss_size = stackSize;
  sigaltstack(&alternative, nullptr);
  // LLVM installs handlers of its own, once, with the first file that is to be
  // removed on a signal. It does so now, and ours come after.
  llvm::sys::AddSignalHandler([](void *) {}, nullptr);
  struct sigaction action{};
  action.sa_handler = onSignal;
  action.sa_flags = SA_ONSTACK | SA_RESETHAND;
  for (int signal : crashSignals) {
    sigaction(signal, &action, nullptr);
  }
  llvm::install_fatal_error_handler(onFatalError);
  llvm::install_bad_alloc_error_handler(onBadAlloc);
  std::set_new_handler(onNoMemory);
}

void removeCrashHandler() {
  for (int signal : crashSignals) {
    std::signal(signal, SIG_DFL);
  }
  llvm::remove_fatal_error_handler();
}

} // namespace ampc::driver
