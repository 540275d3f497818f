//===- nvtx.cpp - Ranges for a profiler -----------------------------------===//
// The binary interface is that of nvtx3/nvtxDetail/nvtxTypes.h, which does not
// change between versions.
#include "runtime/core/nvtx.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

namespace ampc::runtime {
namespace {

using Function = void (*)();

// NvtxCallbackModule, NvtxCallbackIdCore, NvtxExportTableID.
constexpr unsigned moduleCore = 1, moduleCore2 = 5;
constexpr unsigned rangePushA = 9, rangePop = 11, numFunctions = 16;
constexpr uint32_t tableCallbacks = 1, tableVersion = 3;
constexpr uint32_t nvtxVersion = 3;

/// What the profiler fills. It may set functions that are not called here.
Function functions[2][numFunctions];
/// Entry i points to function i; the last is followed by a null.
Function *entries[2][numFunctions + 1];

int getFunctionTable(unsigned module, Function ***outTable, unsigned *outSize) {
  if (module != moduleCore && module != moduleCore2) {
    return 0;
  }
  unsigned which = module == moduleCore ? 0 : 1;
  for (unsigned i = 1; i < numFunctions; ++i) {
    entries[which][i] = &functions[which][i];
  }
  *outTable = entries[which];
  *outSize = numFunctions;
  return 1;
}

struct CallbackTable {
  size_t size;
  int (*getFunctionTable)(unsigned, Function ***, unsigned *);
};
struct VersionTable {
  size_t size;
  uint32_t version, reserved;
  void (*setInjectionVersion)(uint32_t);
};
const CallbackTable callbacks = {sizeof callbacks, getFunctionTable};
const VersionTable version = {sizeof version, nvtxVersion, 0, [](uint32_t) {}};

const void *getExportTable(uint32_t id) {
  return id == tableCallbacks ? static_cast<const void *>(&callbacks)
         : id == tableVersion ? static_cast<const void *>(&version)
                              : nullptr;
}

int (*push)(const char *) = nullptr;
int (*pop)() = nullptr;

void attach() {
  const char *path = getenv("NVTX_INJECTION64_PATH");
  void *library = path && *path ? dlopen(path, RTLD_LAZY) : nullptr;
  if (!library) {
    return;
  }
  using Initialize = int (*)(const void *(*)(uint32_t));
  auto initialize =
      reinterpret_cast<Initialize>(dlsym(library, "InitializeInjectionNvtx2"));
  if (!initialize || !initialize(getExportTable)) {
    return;
  }
  if (functions[0][rangePushA] && functions[0][rangePop]) {
    push = reinterpret_cast<int (*)(const char *)>(functions[0][rangePushA]);
    pop = reinterpret_cast<int (*)()>(functions[0][rangePop]);
  }
}

} // namespace

void attachProfiler() {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, attach);
}

ProfilerRange::ProfilerRange(const char *name) : isOpen(push != nullptr) {
  if (isOpen) {
    push(name ? name : "");
  }
}

ProfilerRange::~ProfilerRange() {
  if (isOpen) {
    pop();
  }
}

} // namespace ampc::runtime
