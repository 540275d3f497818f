//===- tensorboard.cpp - Event files for TensorBoard ----------------------===//
#include "runtime/training/tensorboard.h"

#include "runtime/core/checksum.h"
#include "runtime/training/clock.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ampc::runtime {
namespace {

/// Fields of the messages, with the wire type in the low three bits.
enum Field : uint8_t {
  eventWallTime = 1 << 3 | 1,    // double
  eventStep = 2 << 3 | 0,        // varint
  eventFileVersion = 3 << 3 | 2, // string
  eventSummary = 5 << 3 | 2,     // message
  summaryValue = 1 << 3 | 2,     // message
  valueTag = 1 << 3 | 2,         // string
  valueSimple = 2 << 3 | 5,      // float
};

template <typename T>
void put(Str *out, T value) {
  out->append(reinterpret_cast<const char *>(&value), sizeof value);
}

void putVarint(Str *out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) {
    out->appendChar(static_cast<char>(value | 0x80));
  }
  out->appendChar(static_cast<char>(value));
}

void putField(Str *out, Field field) {
  out->appendChar(static_cast<char>(field));
}

void putBytes(Str *out, Field field, const Str &bytes) {
  putField(out, field);
  putVarint(out, bytes.size());
  out->append(bytes.c_str(), bytes.size());
}

/// tensorflow/core/lib/hash/crc32c.h: so that a sum over data with sums in it
/// is not a constant.
uint32_t maskedSum(const void *data, size_t bytes) {
  uint32_t sum = crc32c(0, data, bytes);
  return (sum >> 15 | sum << 17) + 0xa282ead8u;
}

} // namespace

Str makeRecord(const Str &data) {
  Str out;
  uint64_t length = data.size();
  put(&out, length);
  put(&out, maskedSum(&length, sizeof length));
  out.append(data.c_str(), data.size());
  put(&out, maskedSum(data.c_str(), data.size()));
  return out;
}

Str makeEvent(double wallTime, uint64_t step, const Vec<ScalarEvent> &values) {
  Str out, summary;
  putField(&out, eventWallTime);
  put(&out, wallTime);
  if (values.empty()) {
    putBytes(&out, eventFileVersion, Str("brain.Event:2"));
    return out;
  }
  putField(&out, eventStep);
  putVarint(&out, step);
  for (const ScalarEvent &scalar : values) {
    Str value;
    putBytes(&value, valueTag, scalar.tag);
    putField(&value, valueSimple);
    put(&value, static_cast<float>(scalar.value));
    putBytes(&summary, summaryValue, value);
  }
  putBytes(&out, eventSummary, summary);
  return out;
}

Status EventFile::open(const char *folder) {
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
    return Status::error(AMPC_IO, "%s: cannot make the folder: %s", folder,
                         strerror(errno));
  }
  char host[65] = "";
  if (gethostname(host, sizeof host - 1) != 0) {
    host[0] = 0;
  }
  double now = secondsOf(CLOCK_REALTIME);
  // Names that TensorBoard takes for event files hold "tfevents"; it reads
  // those of a folder in the order of their names.
  Str path;
  path.appendf(
      "%s/events.out.tfevents.%010llu.%s.%d.%09u", folder,
      static_cast<unsigned long long>(now), host, static_cast<int>(getpid()),
      static_cast<unsigned>(
          (now - static_cast<double>(static_cast<uint64_t>(now))) * 1e9));
  AMPC_TRY(file.open(path.c_str()));
  return file.write(makeRecord(makeEvent(now, 0, Vec<ScalarEvent>())));
}

Status EventFile::scalars(uint64_t step, const Vec<ScalarEvent> &values) {
  double now = secondsOf(CLOCK_REALTIME);
  return values.empty() ? Status()
                        : file.write(makeRecord(makeEvent(now, step, values)));
}

} // namespace ampc::runtime
