//===- support.h - Containers and checked arithmetic of the runtime -------===//
//
// A produced program links libc alone, so the few containers needed stand here.
// Bookkeeping memory (names, shapes, option lists) that cannot be had ends the
// process; tensor memory, whose size comes from outside, is a Bytes and fails
// with a status.
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_RUNTIME_CORE_SUPPORT_H
#define AMPC_RUNTIME_CORE_SUPPORT_H

#include "runtime/core/status.h"

#include <new>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <utility>

namespace ampc::runtime {

/// Returns true and leaves `*out` undefined when the result does not fit.
template <typename T>
[[nodiscard]] inline bool mulOverflow(T a, T b, T *out) {
  return __builtin_mul_overflow(a, b, out);
}
template <typename T>
[[nodiscard]] inline bool addOverflow(T a, T b, T *out) {
  return __builtin_add_overflow(a, b, out);
}

/// Rounds up to a multiple of the power of two `alignment`; false if that
/// overflows.
[[nodiscard]] inline bool alignUp(uint64_t value, uint64_t alignment,
                                  uint64_t *out) {
  if (addOverflow(value, alignment - 1, out)) {
    return false;
  }
  *out &= ~(alignment - 1);
  return true;
}

/// malloc that ends the process when it fails. For bookkeeping only.
void *allocateSmall(size_t bytes);

/// A growable array.
template <typename T>
class Vec {
public:
  Vec() = default;
  Vec(const Vec &) = delete;
  Vec &operator=(const Vec &) = delete;
  Vec(Vec &&other) noexcept { swap(other); }
  Vec &operator=(Vec &&other) noexcept {
    Vec taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~Vec() {
    clear();
    free(items);
  }

  T &push(T value) {
    grow(count + 1);
    return *new (items + count++) T(std::move(value));
  }
  void reserve(size_t wanted) {
    if (wanted <= capacity) {
      return;
    }
    size_t bytes;
    if (mulOverflow(wanted, sizeof(T), &bytes)) {
      abort();
    }
    T *grown = static_cast<T *>(allocateSmall(bytes));
    for (size_t i = 0; i < count; ++i) {
      new (grown + i) T(std::move(items[i]));
      items[i].~T();
    }
    free(items);
    items = grown;
    capacity = wanted;
  }
  /// New elements are value-initialised.
  void resize(size_t wanted) {
    grow(wanted);
    while (count > wanted) {
      items[--count].~T();
    }
    while (count < wanted) {
      new (items + count++) T();
    }
  }
  void clear() { resize(0); }

  size_t size() const { return count; }
  bool empty() const { return count == 0; }
  T *data() { return items; }
  const T *data() const { return items; }
  T &operator[](size_t i) { return items[i]; }
  const T &operator[](size_t i) const { return items[i]; }
  T &back() { return items[count - 1]; }
  T *begin() { return items; }
  T *end() { return items + count; }
  const T *begin() const { return items; }
  const T *end() const { return items + count; }

private:
  /// Makes room, at least twice as much each time.
  void grow(size_t wanted) {
    if (wanted > capacity) {
      size_t doubled = capacity < 4 ? 8 : capacity * 2;
      reserve(wanted > doubled ? wanted : doubled);
    }
  }
  void swap(Vec &other) {
    std::swap(items, other.items);
    std::swap(count, other.count);
    std::swap(capacity, other.capacity);
  }

  T *items = nullptr;
  size_t count = 0;
  size_t capacity = 0;
};

/// An owned string; always ends with a NUL that size() does not count, and may
/// hold others.
class Str {
public:
  Str() = default;
  Str(const char *text) { append(text); }
  Str(const char *text, size_t length) { append(text, length); }
  Str(Str &&) noexcept = default;
  Str &operator=(Str &&) noexcept = default;

  void append(const char *text) { append(text, strlen(text)); }
  void append(const char *text, size_t length);
  void appendChar(char c) { append(&c, 1); }
  [[gnu::format(printf, 2, 3)]] void appendf(const char *format, ...);
  void appendv(const char *format, va_list args);
  void clear() { bytes.clear(); }

  const char *c_str() const { return bytes.empty() ? "" : bytes.data(); }
  size_t size() const { return bytes.empty() ? 0 : bytes.size() - 1; }
  bool empty() const { return size() == 0; }
  bool equals(const char *text) const {
    return size() == strlen(text) && memcmp(c_str(), text, size()) == 0;
  }
  Str copy() const { return Str(c_str(), size()); }

private:
  Vec<char> bytes;
};

/// Tensor memory: owned, AMPC_ALIGNMENT aligned, contents undefined at first.
class Bytes {
public:
  Bytes() = default;
  Bytes(Bytes &&other) noexcept { swap(other); }
  Bytes &operator=(Bytes &&other) noexcept {
    Bytes taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~Bytes() { free(memory); }

  /// Replaces the memory. AMPC_LIMIT when there is not enough.
  [[nodiscard]] Status allocate(uint64_t size);

  uint8_t *data() { return memory; }
  const uint8_t *data() const { return memory; }
  uint64_t size() const { return length; }

private:
  void swap(Bytes &other) {
    std::swap(memory, other.memory);
    std::swap(length, other.length);
  }

  uint8_t *memory = nullptr;
  uint64_t length = 0;
};

/// Unaligned little-endian access.
template <typename T>
inline T loadLE(const void *from) {
  static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
                "the runtime expects a little-endian machine");
  T value;
  memcpy(&value, from, sizeof value);
  return value;
}
template <typename T>
inline void storeLE(void *to, T value) {
  memcpy(to, &value, sizeof value);
}

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_CORE_SUPPORT_H
