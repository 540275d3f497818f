//===- support.cpp - Containers of the runtime ----------------------------===//
#include "runtime/core/support.h"

#include "ampc/abi.h"

#include <stdio.h>

namespace ampc::runtime {

void *allocateSmall(size_t bytes) {
  void *memory = malloc(bytes ? bytes : 1);
  if (!memory) {
    abort();
  }
  return memory;
}

void Str::append(const char *text, size_t length) {
  if (length == 0) {
    return;
  }
  size_t old = size();
  size_t wanted = old + length + 1;
  bytes.resize(wanted);
  memcpy(bytes.data() + old, text, length);
  bytes[wanted - 1] = 0;
}

void Str::appendf(const char *format, ...) {
  va_list args;
  va_start(args, format);
  appendv(format, args);
  va_end(args);
}

void Str::appendv(const char *format, va_list args) {
  char local[256];
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(local, sizeof local, format, args);
  if (length > 0 && static_cast<size_t>(length) < sizeof local) {
    append(local, static_cast<size_t>(length));
  } else if (length > 0) {
    size_t room = static_cast<size_t>(length) + 1;
    char *heap = static_cast<char *>(allocateSmall(room));
    vsnprintf(heap, room, format, again);
    append(heap, room - 1);
    free(heap);
  }
  va_end(again);
}

Status Bytes::allocate(uint64_t size) {
  free(memory);
  memory = nullptr;
  length = 0;
  uint64_t padded;
  void *fresh = nullptr;
  if (!alignUp(size ? size : 1, AMPC_ALIGNMENT, &padded) ||
      posix_memalign(&fresh, AMPC_ALIGNMENT, padded) != 0) {
    return Status::error(AMPC_LIMIT, "cannot allocate %llu bytes",
                         static_cast<unsigned long long>(size));
  }
  memory = static_cast<uint8_t *>(fresh);
  length = size;
  return Status();
}

} // namespace ampc::runtime
