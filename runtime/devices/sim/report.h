//===- report.h - What a simulated launch found and counted ---------------===//
#ifndef AMPC_RUNTIME_DEVICES_SIM_REPORT_H
#define AMPC_RUNTIME_DEVICES_SIM_REPORT_H

#include "ampc/sim_abi.h"
#include "runtime/core/support.h"

#include <pthread.h>

namespace ampc::runtime::sim {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return static_cast<uint64_t>(x) * y * z; }
};

enum class Fault : uint8_t {
  sharedRace,
  globalRace,
  outOfBounds,
  misaligned,
  uninitialized,
  divergence, // lanes or threads that wait for different things
  deadlock,
  livelock,
  missingWait, // of cp.async, bulk copies, wgmma
  barrierMisuse,
  missingFence,
  unsupported, // a legal use that the simulator does not cover
  invalidOperand,
};

/// "shared-race" and so on.
const char *faultName(Fault fault);

/// Where in a launch something happened. `thread` is negative where no single
/// thread is to blame.
struct Place {
  const char *kernel = "";
  Dim3 block;
  int64_t thread = -1;
};

struct Finding {
  Fault fault;
  Str message; // complete, with sites and threads
  /// Texts of the site at fault and of the other one; empty where none is.
  Str site, otherSite;
};

/// How many passes the accesses of an instruction to one memory took. The site
/// is valid while its module is.
struct SiteTraffic {
  const ampc_sim_site *site = nullptr;
  bool shared = false;   // else global
  uint64_t requests = 0; // of whole warps, of ldmatrix for each matrix
  uint64_t passes = 0;   // shared: bank cycles; global: 32-byte sectors
  uint64_t leastPasses = 0;
};

struct Counters {
  uint64_t blocks = 0, switches = 0, accesses = 0, barriers = 0;
  uint64_t collectives = 0, matrixOps = 0, matrixLoads = 0;
  uint64_t asyncCopies = 0, bulkCopies = 0;
  uint64_t bankConflicts = 0; // extra cycles of ldmatrix and stmatrix

  void add(const Counters &other);
};

/// Collects from all host threads. Equal faults at equal sites are told once.
class Report {
public:
  explicit Report(uint32_t maxFindings = 16) : most(maxFindings) {}

  [[gnu::format(printf, 6, 7)]] void add(Fault fault, const Place &place,
                                         const ampc_sim_site *site,
                                         const ampc_sim_site *otherSite,
                                         const char *format, ...);
  /// What the launches from now on compute, told by their findings; null: not
  /// known. No launch may be running.
  void setLabel(const char *text) { label = text; }
  void addCounters(const Counters &more);
  void addTraffic(const SiteTraffic *rows, size_t count);

  bool clean() const { return total == 0; }
  /// All faults, including those equal to one already told.
  uint64_t faults() const { return total; }
  bool has(Fault fault) const;
  const Vec<Finding> &findings() const { return list; }
  const Counters &counters() const { return sums; }
  const Vec<SiteTraffic> &traffic() const { return sites; }
  /// All findings as text, one paragraph each.
  Str text() const;
  /// The counters, and a table of the instructions of each kernel that need
  /// more passes than the least, those that waste most first.
  Str trafficText() const;

private:
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  uint32_t most;
  const char *label = nullptr;
  uint64_t total = 0;
  Vec<Finding> list;
  struct Key {
    Fault fault;
    const ampc_sim_site *site, *otherSite;
    const char *format;
  };
  Vec<Key> seen;
  Counters sums;
  Vec<SiteTraffic> sites;
};

/// "kernel: op at location".
Str describeSite(const ampc_sim_site *site);

} // namespace ampc::runtime::sim

#endif // AMPC_RUNTIME_DEVICES_SIM_REPORT_H
