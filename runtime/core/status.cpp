//===- status.cpp - Outcome of a runtime call -----------------------------===//
#include "runtime/core/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ampc_status_s {
  ampc_code code;
  char message[1]; // as long as needed, ends with NUL
};

/// What remains when there is no memory for a message; never freed.
static const ampc_status_s outOfMemory = {AMPC_LIMIT, {0}};

static ampc_status makeStatus(ampc_code code, const char *message) {
  size_t length = strlen(message);
  auto *status =
      static_cast<ampc_status_s *>(malloc(sizeof(ampc_status_s) + length));
  if (!status) {
    return &outOfMemory;
  }
  status->code = code;
  memcpy(status->message, message, length + 1);
  return status;
}

ampc_code ampc_status_code(ampc_status status) {
  return status ? status->code : AMPC_OK;
}

const char *ampc_status_message(ampc_status status) {
  if (status == &outOfMemory) {
    return "out of memory";
  }
  return status ? status->message : "";
}

void ampc_status_free(ampc_status status) {
  if (status != &outOfMemory) {
    free(const_cast<ampc_status_s *>(status));
  }
}

namespace ampc::runtime {

Status Status::error(ampc_code code, const char *format, ...) {
  char text[2000];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  // Names out of hostile files may hold what a terminal would obey.
  for (char *c = text; *c; ++c) {
    *c = (*c >= 0 && *c < ' ') || *c == 0x7f ? '?' : *c;
  }
  return Status(makeStatus(code, text));
}

Status Status::withPrefix(const char *prefix) && {
  if (ok()) {
    return Status();
  }
  return error(code(), "%s: %s", prefix, message());
}

} // namespace ampc::runtime
