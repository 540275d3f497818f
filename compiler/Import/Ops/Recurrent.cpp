#include "compiler/Import/OpTable.h"
namespace ampc::importer {
void addRecurrentOps(OpTable &) {}
} // namespace ampc::importer
