//===- Version.cpp - Which ampc this is -----------------------------------===//
#include "compiler/Driver/Version.h"

// Written when building; no other file is compiled again for a new revision.
#include "compiler/Driver/Version.inc"

namespace ampc::driver {
const char *const versionText = AMPC_VERSION_STRING;
const char *const revisionText = AMPC_REVISION;
} // namespace ampc::driver
