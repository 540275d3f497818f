/*===- mappings.c - The memory that a session maps ------------------------===*\
|*
|* Linked with --wrap=mmap into the library of a trainer (trainers.py), this
|* remembers what the runtime asks the system for, in order.
|*
\*===----------------------------------------------------------------------===*/
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#define EXPORT __attribute__((visibility("default")))

enum { most = 256 };
static struct {
  void *address;
  size_t bytes;
} mappings[most];
static uint32_t count;

void *__real_mmap(void *, size_t, int, int, int, off_t);

void *__wrap_mmap(void *where, size_t bytes, int protection, int flags, int fd,
                  off_t offset) {
  void *address = __real_mmap(where, bytes, protection, flags, fd, offset);
  if (address != MAP_FAILED && fd < 0 && count < most) {
    mappings[count].address = address;
    mappings[count++].bytes = bytes;
  }
  return address;
}

EXPORT uint32_t mappings_count(void) { return count; }
EXPORT size_t mappings_bytes(uint32_t index) { return mappings[index].bytes; }
EXPORT void *mappings_address(uint32_t index) {
  return mappings[index].address;
}
