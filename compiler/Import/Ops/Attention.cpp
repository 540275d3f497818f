#include "compiler/Import/OpTable.h"
namespace ampc::importer {
void addAttentionOps(OpTable &) {}
} // namespace ampc::importer
