//===- report.cpp - What a simulated launch found and counted -------------===//
#include "runtime/devices/sim/report.h"

namespace ampc::runtime::sim {

const char *faultName(Fault fault) {
  static const char *const names[] = {
      "shared-race",    "global-race",    "out-of-bounds", "misaligned",
      "uninitialized",  "divergence",     "deadlock",      "livelock",
      "missing-wait",   "barrier-misuse", "missing-fence", "unsupported",
      "invalid-operand"};
  return names[static_cast<size_t>(fault)];
}

Str describeSite(const ampc_sim_site *site) {
  Str text;
  if (!site) {
    return text;
  }
  text.appendf("%s: %s", site->function, site->op);
  if (site->location && *site->location) {
    text.appendf(" at %s", site->location);
  }
  return text;
}

void Counters::add(const Counters &other) {
  blocks += other.blocks;
  switches += other.switches;
  accesses += other.accesses;
  barriers += other.barriers;
  collectives += other.collectives;
  matrixOps += other.matrixOps;
  matrixLoads += other.matrixLoads;
  asyncCopies += other.asyncCopies;
  bulkCopies += other.bulkCopies;
  bankConflicts += other.bankConflicts;
}

void Report::add(Fault fault, const Place &place, const ampc_sim_site *site,
                 const ampc_sim_site *otherSite, const char *format, ...) {
  pthread_mutex_lock(&lock);
  ++total;
  bool known = list.size() >= most;
  for (const Key &key : seen) {
    known |= key.fault == fault && key.site == site &&
             key.otherSite == otherSite && key.format == format;
  }
  if (!known) {
    seen.push({fault, site, otherSite, format});
    Finding finding{fault, Str(), describeSite(site), describeSite(otherSite)};
    Str &text = finding.message;
    text.appendf("%s in kernel %s", faultName(fault), place.kernel);
    if (label) {
      text.appendf(" of '%s'", label);
    }
    text.appendf(", block (%u, %u, %u)", place.block.x, place.block.y,
                 place.block.z);
    if (place.thread >= 0) {
      auto thread = static_cast<unsigned>(place.thread);
      text.appendf(", thread %u (warp %u, lane %u)", thread, thread / 32,
                   thread % 32);
    }
    text.append(": ");
    va_list args;
    va_start(args, format);
    text.appendv(format, args);
    va_end(args);
    if (site) {
      text.appendf("\n  at %s", finding.site.c_str());
    }
    if (otherSite) {
      text.appendf("\n  and %s", finding.otherSite.c_str());
    }
    list.push(std::move(finding));
  }
  pthread_mutex_unlock(&lock);
}

void Report::addCounters(const Counters &more) {
  pthread_mutex_lock(&lock);
  sums.add(more);
  pthread_mutex_unlock(&lock);
}

void Report::addTraffic(const SiteTraffic *rows, size_t count) {
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < count; ++i) {
    SiteTraffic *to = nullptr;
    for (SiteTraffic &row : sites) {
      to = row.site == rows[i].site ? &row : to;
    }
    if (!to) {
      to = &sites.push(SiteTraffic{rows[i].site, 0, 0, 0});
    }
    to->requests += rows[i].requests;
    to->passes += rows[i].passes;
    to->leastPasses += rows[i].leastPasses;
  }
  pthread_mutex_unlock(&lock);
}

bool Report::has(Fault fault) const {
  for (const Finding &finding : list) {
    if (finding.fault == fault) {
      return true;
    }
  }
  return false;
}

Str Report::text() const {
  Str text;
  for (const Finding &finding : list) {
    text.appendf("%s\n", finding.message.c_str());
  }
  return text;
}

Str Report::trafficText() const {
  Str text;
  for (const SiteTraffic &row : sites) {
    if (row.passes > row.leastPasses) {
      text.appendf("%s: %llu passes of %llu requests, %llu would do\n",
                   describeSite(row.site).c_str(),
                   static_cast<unsigned long long>(row.passes),
                   static_cast<unsigned long long>(row.requests),
                   static_cast<unsigned long long>(row.leastPasses));
    }
  }
  return text;
}

} // namespace ampc::runtime::sim
