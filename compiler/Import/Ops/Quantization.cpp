#include "compiler/Import/OpTable.h"
namespace ampc::importer {
void addQuantizationOps(OpTable &) {}
} // namespace ampc::importer
