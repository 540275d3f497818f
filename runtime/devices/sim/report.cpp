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
      bool same = row.site == rows[i].site && row.shared == rows[i].shared;
      to = same ? &row : to;
    }
    if (!to) {
      to = &sites.push(SiteTraffic{rows[i].site, rows[i].shared, 0, 0, 0});
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

namespace {
/// Equal instructions of a kernel.
struct TrafficLine {
  Str what;
  SiteTraffic sum;

  /// Lanes that read overlapping bytes may need less than seems the least.
  uint64_t wasted() const {
    return sum.passes > sum.leastPasses ? sum.passes - sum.leastPasses : 0;
  }
  bool before(const TrafficLine &other) const {
    return wasted() != other.wasted()
               ? wasted() > other.wasted()
               : strcmp(what.c_str(), other.what.c_str()) < 0;
  }
};

void addLine(Vec<TrafficLine> &lines, const SiteTraffic &row) {
  Str what = describeSite(row.site);
  for (TrafficLine &line : lines) {
    if (line.sum.shared == row.shared && line.what.equals(what.c_str())) {
      line.sum.requests += row.requests;
      line.sum.passes += row.passes;
      line.sum.leastPasses += row.leastPasses;
      return;
    }
  }
  TrafficLine line;
  line.what = std::move(what);
  line.sum = row;
  lines.push(std::move(line));
}

void appendRow(Str *out, const SiteTraffic &sum, const char *what) {
  double least = static_cast<double>(sum.leastPasses ? sum.leastPasses : 1ull);
  out->appendf("%-6s %12llu %12llu %12llu %6.2f  %s\n",
               sum.shared ? "shared" : "global",
               static_cast<unsigned long long>(sum.requests),
               static_cast<unsigned long long>(sum.passes),
               static_cast<unsigned long long>(sum.leastPasses),
               static_cast<double>(sum.passes) / least, what);
}
} // namespace

Str Report::trafficText() const {
  Str text;
  text.appendf("%llu blocks, %llu barriers, %llu instructions of warps, %llu "
               "matrix products, %llu matrix loads, %llu asynchronous copies, "
               "%llu bulk copies\n",
               static_cast<unsigned long long>(sums.blocks),
               static_cast<unsigned long long>(sums.barriers),
               static_cast<unsigned long long>(sums.collectives),
               static_cast<unsigned long long>(sums.matrixOps),
               static_cast<unsigned long long>(sums.matrixLoads),
               static_cast<unsigned long long>(sums.asyncCopies),
               static_cast<unsigned long long>(sums.bulkCopies));
  text.appendf("%-6s %12s %12s %12s %6s  %s\n", "memory", "requests", "passes",
               "at least", "factor", "instruction");
  SiteTraffic totals[2];
  totals[1].shared = true;
  Vec<TrafficLine> lines;
  for (const SiteTraffic &row : sites) {
    SiteTraffic &total = totals[row.shared];
    total.requests += row.requests;
    total.passes += row.passes;
    total.leastPasses += row.leastPasses;
    addLine(lines, row);
  }
  for (const SiteTraffic &total : totals) {
    appendRow(&text, total, "all");
  }
  while (true) {
    TrafficLine *first = nullptr;
    for (TrafficLine &line : lines) {
      if (line.wasted() && (!first || line.before(*first))) {
        first = &line;
      }
    }
    if (!first) {
      return text;
    }
    appendRow(&text, first->sum, first->what.c_str());
    first->sum.leastPasses = first->sum.passes;
  }
}

} // namespace ampc::runtime::sim
