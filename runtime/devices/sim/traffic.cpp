//===- traffic.cpp - Bank cycles and sectors of plain accesses ------------===//
#include "runtime/devices/sim/traffic.h"

namespace ampc::runtime::sim {

uint32_t bankPasses(const uint64_t *addresses, uint32_t count, uint32_t bytes) {
  // A word that several lanes want is read once.
  uint64_t words[32 * 4];
  uint32_t perBank[32] = {}, used = 0, most = 0;
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t first = addresses[i] / 4, last = (addresses[i] + bytes - 1) / 4;
    for (uint64_t word = first; word <= last && used < 32 * 4; ++word) {
      bool known = false;
      for (uint32_t j = 0; j < used; ++j) {
        known |= words[j] == word;
      }
      if (!known) {
        words[used++] = word;
        uint32_t passes = ++perBank[word % 32];
        most = passes > most ? passes : most;
      }
    }
  }
  return most;
}

/// 32-byte sectors that the lanes touch.
static uint32_t sectors(const uint64_t *addresses, uint32_t count,
                        uint32_t bytes) {
  uint64_t seen[64];
  uint32_t used = 0;
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t first = addresses[i] / 32, last = (addresses[i] + bytes - 1) / 32;
    for (uint64_t sector = first; sector <= last && used < 64; ++sector) {
      bool known = false;
      for (uint32_t j = 0; j < used; ++j) {
        known |= seen[j] == sector;
      }
      if (!known) {
        seen[used++] = sector;
      }
    }
  }
  return used;
}

void Traffic::reset(uint32_t warps, uint32_t sites) {
  numSites = sites;
  requests.resize(static_cast<size_t>(warps) * sites);
  rows.resize(sites);
}

void Traffic::count(Request &request, const ampc_sim_site *site) {
  uint64_t addresses[32];
  uint32_t lanes = 0;
  for (uint32_t i = 0; i < 32; ++i) {
    if (request.lanes >> i & 1) {
      addresses[lanes++] = request.addresses[i];
    }
  }
  uint32_t bytes = site->imm[0];
  SiteTraffic &row = rows[site->index];
  row.site = site;
  ++row.requests;
  if (!request.shared) {
    row.passes += sectors(addresses, lanes, bytes);
    row.leastPasses += (lanes * bytes + 31) / 32;
  } else {
    // 8 and 16 bytes a lane go in halves and quarters of a warp.
    uint32_t part = bytes >= 16 ? 8 : bytes >= 8 ? 16 : 32;
    for (uint32_t i = 0; i < lanes; i += part) {
      uint32_t some = lanes - i < part ? lanes - i : part;
      row.passes += bankPasses(addresses + i, some, bytes);
      row.leastPasses += 1;
    }
  }
  request.lanes = 0;
}

void Traffic::add(uint32_t warp, uint32_t lane, const ampc_sim_site *site,
                  uint64_t address, bool shared) {
  Request *&request =
      requests[static_cast<size_t>(warp) * numSites + site->index];
  if (!request) {
    request = new (allocateSmall(sizeof(Request))) Request();
  }
  if (request->lanes >> lane & 1) {
    count(*request, site);
  }
  request->lanes |= 1u << lane;
  request->shared = shared;
  request->addresses[lane] = address;
  rows[site->index].site = site;
  if (request->lanes == ~0u) {
    count(*request, site);
  }
}

void Traffic::finish(Report &report) {
  for (size_t i = 0; i < requests.size(); ++i) {
    Request *request = requests[i];
    if (request && request->lanes) {
      count(*request, rows[i % numSites].site);
    }
    free(request);
  }
  requests.clear();
  for (SiteTraffic &row : rows) {
    if (row.requests) {
      report.addTraffic(&row, 1);
    }
  }
  rows.clear();
}

} // namespace ampc::runtime::sim
