/*===- nvtx_injection.c - A profiler that prints ranges
--------------------===*\
|*
|* Written against NVIDIA's headers: what the runtime's own table has to fit.
|* Each range is a line on standard error, indented by its depth.
|*
\*===----------------------------------------------------------------------===*/
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>

static int depth = 0;

static int push(const char *name) {
  fprintf(stderr, "nvtx %*s[%s]\n", 2 * depth, "", name);
  return depth++;
}
static int pop(void) { return --depth; }

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t getExportTable);
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t getExportTable) {
  const NvtxExportTableVersionInfo *version =
      getExportTable(NVTX_ETID_VERSIONINFO);
  const NvtxExportTableCallbacks *callbacks =
      getExportTable(NVTX_ETID_CALLBACKS);
  NvtxFunctionTable table = NULL;
  unsigned size = 0;
  if (!version || version->struct_size < sizeof *version ||
      version->version < 2 || !callbacks ||
      callbacks->struct_size < sizeof *callbacks ||
      callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_SYNC, &table, &size) ||
      !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) ||
      size != NVTX_CBID_CORE2_SIZE ||
      !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) ||
      size != NVTX_CBID_CORE_SIZE) {
    return 0;
  }
  version->SetInjectionNvtxVersion(NVTX_VERSION);
  *table[NVTX_CBID_CORE_RangePushA] = (NvtxFunctionPointer)push;
  *table[NVTX_CBID_CORE_RangePop] = (NvtxFunctionPointer)pop;
  return 1;
}
