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

/// How many of the addresses differ; accesses at equal ones are one.
static uint32_t different(const uint64_t *addresses, uint32_t count) {
  uint32_t number = 0;
  for (uint32_t i = 0; i < count; ++i) {
    bool known = false;
    for (uint32_t j = 0; j < i; ++j) {
      known |= addresses[j] == addresses[i];
    }
    number += !known;
  }
  return number;
}

void Traffic::reset(uint32_t warps, uint32_t sites) {
  rows.resize(2 * static_cast<size_t>(sites));
  requests.resize(warps * rows.size());
}

void Traffic::count(Request &request, SiteTraffic &row) {
  uint64_t addresses[32];
  uint32_t lanes = 0;
  for (uint32_t i = 0; i < 32; ++i) {
    if (request.lanes >> i & 1) {
      addresses[lanes++] = request.addresses[i];
    }
  }
  // More than 16 bytes a lane are several instructions.
  uint32_t total = row.site->imm[0];
  ++row.requests;
  for (uint32_t done = 0; done < total; done += 16) {
    uint32_t bytes = total - done < 16 ? total - done : 16;
    if (!row.shared) {
      row.passes += sectors(addresses, lanes, bytes);
      row.leastPasses += (different(addresses, lanes) * bytes + 31) / 32;
    } else {
      // 8 and 16 bytes a lane go in halves and quarters of a warp.
      uint32_t part = bytes >= 16 ? 8 : bytes >= 8 ? 16 : 32;
      for (uint32_t i = 0; i < lanes; i += part) {
        uint32_t some = lanes - i < part ? lanes - i : part;
        row.passes += bankPasses(addresses + i, some, bytes);
        row.leastPasses += 1;
      }
    }
    for (uint32_t i = 0; i < lanes; ++i) {
      addresses[i] += 16;
    }
  }
  request.lanes = 0;
}

void Traffic::add(uint32_t warp, uint32_t lane, const ampc_sim_site *site,
                  uint64_t address, bool shared) {
  SiteTraffic &row = rows[rowOf(site, shared)];
  row.site = site;
  row.shared = shared;
  Request *&request = requests[warp * rows.size() + rowOf(site, shared)];
  if (!request) {
    request = new (allocateSmall(sizeof(Request))) Request();
  }
  if (request->lanes >> lane & 1) {
    count(*request, row);
  }
  request->lanes |= 1u << lane;
  request->addresses[lane] = address;
  if (request->lanes == ~0u) {
    count(*request, row);
  }
}

void Traffic::addPasses(const ampc_sim_site *site, uint32_t passes) {
  SiteTraffic &row = rows[rowOf(site, true)];
  row.site = site;
  row.shared = true;
  ++row.requests;
  row.passes += passes;
  ++row.leastPasses;
}

void Traffic::finish(Report &report) {
  for (size_t i = 0; i < requests.size(); ++i) {
    Request *request = requests[i];
    if (request && request->lanes) {
      count(*request, rows[i % rows.size()]);
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
