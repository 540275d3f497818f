//===- status.h - Outcome of a runtime call, inside the runtime -----------===//
#ifndef AMPC_RUNTIME_CORE_STATUS_H
#define AMPC_RUNTIME_CORE_STATUS_H

#include "ampc/runtime.h"

#include <utility>

namespace ampc::runtime {

/// Owns an ampc_status. Costs one pointer; a success allocates nothing.
class [[nodiscard]] Status {
public:
  Status() = default;
  explicit Status(ampc_status taken) : held(taken) {}
  Status(Status &&other) noexcept : held(other.release()) {}
  Status &operator=(Status &&other) noexcept {
    std::swap(held, other.held);
    return *this;
  }
  ~Status() { ampc_status_free(held); }

  /// A failure. The message is cut at 2000 bytes; control characters in it
  /// become question marks.
  [[gnu::format(printf, 2, 3)]] static Status error(ampc_code code,
                                                    const char *format, ...);
  /// The same failure with `prefix: ` before its message.
  Status withPrefix(const char *prefix) &&;

  bool ok() const { return held == nullptr; }
  ampc_code code() const { return ampc_status_code(held); }
  const char *message() const { return ampc_status_message(held); }
  /// Hands the status to a caller of the C API.
  ampc_status release() { return std::exchange(held, nullptr); }

private:
  ampc_status held = nullptr;
};

/// Returns from the enclosing function when the call failed.
#define AMPC_TRY(call)                                                         \
  do {                                                                         \
    ::ampc::runtime::Status tried = (call);                                    \
    if (!tried.ok()) {                                                         \
      return tried;                                                            \
    }                                                                          \
  } while (false)

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_CORE_STATUS_H
