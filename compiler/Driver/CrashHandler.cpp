//===- CrashHandler.cpp - What an internal error looks like ---------------===//
#include "compiler/Driver/CrashHandler.h"

#include "compiler/Driver/ExitCodes.h"
#include "compiler/Driver/Version.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"

#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <new>
#include <unistd.h>

namespace ampc::driver {

static const char *commandText = "ampc";

static constexpr int crashSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE,
                                       SIGABRT};

static constexpr int endSignals[] = {SIGINT, SIGTERM, SIGHUP};

/// A handler may run between any two instructions, so paths stand in memory
/// that is never freed, and count once they are whole.
static constexpr int maxTemporaries = 16;
static char temporaries[maxTemporaries][PATH_MAX];
static volatile std::sig_atomic_t numTemporaries = 0;

void removeOnSignal(const char *path) {
  if (numTemporaries < maxTemporaries && strlen(path) < PATH_MAX) {
    strcpy(temporaries[numTemporaries], path);
    numTemporaries = numTemporaries + 1;
  }
}

void keepOnSignal() { numTemporaries = 0; }

static void removeTemporaries() {
  llvm::sys::RunInterruptHandlers(); // the output under its temporary name
  for (int i = numTemporaries; i-- > 0;) {
    if (unlink(temporaries[i]) != 0) {
      rmdir(temporaries[i]);
    }
  }
}

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
  removeTemporaries();
  _exit(static_cast<int>(ExitCode::Internal));
}

/// Ends by the same signal, as a shell expects.
static void onInterrupt(int signal) {
  removeTemporaries();
  std::signal(signal, SIG_DFL);
  raise(signal);
}

static void onFatalError(void *, const char *reason, bool) {
  sayHowToReport(reason);
  removeTemporaries();
  _exit(static_cast<int>(ExitCode::Internal));
}

static void onBadAlloc(void *, const char *, bool) {
  say("ampc: error: out of memory\n");
  removeTemporaries();
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
  action.sa_handler = onInterrupt;
  for (int signal : endSignals) {
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
  for (int signal : endSignals) {
    std::signal(signal, SIG_DFL);
  }
  llvm::remove_fatal_error_handler();
}

} // namespace ampc::driver
