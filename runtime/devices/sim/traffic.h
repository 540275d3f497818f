//===- traffic.h - Bank cycles and sectors of plain accesses --------------===//
#ifndef AMPC_RUNTIME_DEVICES_SIM_TRAFFIC_H
#define AMPC_RUNTIME_DEVICES_SIM_TRAFFIC_H

#include "runtime/devices/sim/report.h"

namespace ampc::runtime::sim {

/// Puts the accesses of a warp's lanes to one instruction together: lanes come
/// one by one, and a lane that comes again begins the next execution.
class Traffic {
public:
  void reset(uint32_t warps, uint32_t numSites);
  void add(uint32_t warp, uint32_t lane, const ampc_sim_site *site,
           uint64_t address, bool shared);
  /// A request to shared memory of which the passes are known.
  void addPasses(const ampc_sim_site *site, uint32_t passes);
  /// Counts what is incomplete and hands all rows to `report`.
  void finish(Report &report);

private:
  struct Request {
    uint32_t lanes = 0;
    uint64_t addresses[32];
  };
  void count(Request &request, SiteTraffic &row);
  /// A copy between memories has a row for each.
  static size_t rowOf(const ampc_sim_site *site, bool shared) {
    return 2 * static_cast<size_t>(site->index) + shared;
  }

  Vec<Request *> requests; // [warp][row]
  Vec<SiteTraffic> rows;
};

/// Passes that 32 banks of 4 bytes need for the 16-byte rows at 8 addresses.
uint32_t bankPasses(const uint64_t *addresses, uint32_t count, uint32_t bytes);

} // namespace ampc::runtime::sim

#endif // AMPC_RUNTIME_DEVICES_SIM_TRAFFIC_H
