//===- profile.cpp - The table of --profile -------------------------------===//
#include "runtime/program/command_line.h"

#include <algorithm>
#include <stdio.h>

namespace ampc::runtime {

void printProfile(ampc_session session, uint64_t runs) {
  struct Row {
    ampc_profile_entry entry;
    size_t order;
  };
  Vec<Row> rows;
  uint64_t nanoseconds = 0, launches = 0, copies = 0;
  for (size_t i = 0; i < ampc_session_profile_size(session); ++i) {
    ampc_profile_entry entry;
    ampc_session_profile_entry(session, i, &entry);
    if (!entry.launches) {
      continue; // of another entry, or a branch not taken
    }
    bool isCopy = strcmp(entry.kernel, "copy") == 0;
    (isCopy ? copies : launches) += entry.launches;
    nanoseconds += entry.nanoseconds;
    rows.push({entry, i});
  }
  std::sort(rows.begin(), rows.end(), [](const Row &a, const Row &b) {
    return a.entry.nanoseconds != b.entry.nanoseconds
               ? a.entry.nanoseconds > b.entry.nanoseconds
               : a.order < b.order;
  });
  double perRun = 1e-6 / static_cast<double>(runs);
  double total = static_cast<double>(nanoseconds);
  printf("\n%10s %6s %8s  %-48s %s\n", "ms", "%", "launches", "kernel",
         "nodes");
  for (const Row &row : rows) {
    double time = static_cast<double>(row.entry.nanoseconds);
    printf("%10.4f %6.2f %8.6g  %-48s %s\n", time * perRun,
           total > 0 ? 100 * time / total : 0.0,
           static_cast<double>(row.entry.launches) / static_cast<double>(runs),
           row.entry.kernel, row.entry.label);
  }
  printf("%10.4f ms in nodes, %g launches, %g copies a run\n", total * perRun,
         static_cast<double>(launches) / static_cast<double>(runs),
         static_cast<double>(copies) / static_cast<double>(runs));
}

} // namespace ampc::runtime
