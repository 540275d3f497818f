#include "compiler/Import/OpTable.h"
namespace ampc::importer {
void addEinsumOps(OpTable &) {}
} // namespace ampc::importer
