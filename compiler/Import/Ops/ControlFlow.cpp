#include "compiler/Import/OpTable.h"
namespace ampc::importer {
void addControlFlowOps(OpTable &) {}
} // namespace ampc::importer
