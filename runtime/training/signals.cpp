//===- signals.cpp - SIGINT and SIGTERM as requests to end ----------------===//
#include "runtime/training/signals.h"

namespace ampc::runtime {

static constexpr int endSignals[2] = {SIGINT, SIGTERM};

/// A handler has nothing else to write to.
static volatile sig_atomic_t received = 0;

static void receive(int number) { received = number; }

EndRequest::EndRequest() {
  received = 0;
  struct sigaction action = {};
  action.sa_handler = receive;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < 2; ++i) {
    sigaction(endSignals[i], &action, &before[i]);
    // As `nohup` and shells' background jobs want it.
    if (before[i].sa_handler == SIG_IGN) {
      sigaction(endSignals[i], &before[i], nullptr);
    }
  }
}

EndRequest::~EndRequest() {
  for (int i = 0; i < 2; ++i) {
    sigaction(endSignals[i], &before[i], nullptr);
  }
}

int EndRequest::signal() { return received; }

} // namespace ampc::runtime
