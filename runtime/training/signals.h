//===- signals.h - SIGINT and SIGTERM as requests to end ------------------===//
#ifndef AMPC_RUNTIME_TRAINING_SIGNALS_H
#define AMPC_RUNTIME_TRAINING_SIGNALS_H

#include <signal.h>

namespace ampc::runtime {

/// While it lives, the first SIGINT or SIGTERM is a request; a second ends the
/// process as ever.
class EndRequest {
public:
  EndRequest();
  EndRequest(const EndRequest &) = delete;
  EndRequest &operator=(const EndRequest &) = delete;
  ~EndRequest();

  /// The signal that came, or 0.
  static int signal();

private:
  struct sigaction before[2];
};

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_TRAINING_SIGNALS_H
