/*===- launch_kernel.c - Launch a kernel by its header --------------------===*\
|*
|* A host program as users write it, with the simulator's look-alike in place of
|* CUDA's driver and its header: the product of two small matrices of integers,
|* which is exact in every type.
|*
\*===----------------------------------------------------------------------===*/
#include <stdio.h>
#include <stdlib.h>

/* The part of <cuda.h> that is used. */
typedef int CUresult, CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef unsigned long long CUdeviceptr;
enum { CUDA_SUCCESS = 0, CUDA_ERROR_NOT_SUPPORTED = 801 };
enum { CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8 };
CUresult cuInit(unsigned flags);
CUresult cuDeviceGet(CUdevice *device, int ordinal);
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device);
CUresult cuCtxSetCurrent(CUcontext context);
CUresult cuCtxSynchronize(void);
CUresult cuModuleLoadData(CUmodule *module, const void *image);
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module,
                             const char *name);
CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value);
CUresult cuMemAlloc_v2(CUdeviceptr *memory, size_t bytes);
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes);
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes);
CUresult cuLaunchKernel(CUfunction function, unsigned gridX, unsigned gridY,
                        unsigned gridZ, unsigned blockX, unsigned blockY,
                        unsigned blockZ, unsigned shared, CUstream stream,
                        void **params, void **extra);
#define CUDA_VERSION 12000

#include KERNEL_HEADER

static void check(CUresult result, const char *what) {
  if (result != CUDA_SUCCESS) {
    fprintf(stderr, "%s: error %d\n", what, result);
    exit(1);
  }
}

int main(void) {
  const ampc_kernel *kernel = &KERNEL;
  const ampc_kernel_code *code = &kernel->codes[0];
  if (kernel->num_params != 3 || kernel->params[0].rank != 2 ||
      kernel->params[0].type[1] != '3' || code->kind[0] != 's' ||
      ampc_kernel_choose(kernel, 7, 5) || !ampc_kernel_choose(kernel, 9, 0)) {
    fprintf(stderr, "not the kernel that was expected\n");
    return 1;
  }
  long m = kernel->params[0].shape[0], k = kernel->params[0].shape[1],
       n = kernel->params[1].shape[1];
  float *a = malloc(kernel->params[0].bytes),
        *b = malloc(kernel->params[1].bytes),
        *c = malloc(kernel->params[2].bytes);
  for (long i = 0; i < m * k; ++i) {
    a[i] = (float)(i % 7 - 3);
  }
  for (long i = 0; i < k * n; ++i) {
    b[i] = (float)(i % 5 - 2);
  }
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction function;
  CUdeviceptr buffers[3];
  check(cuInit(0), "cuInit");
  check(cuDeviceGet(&device, 0), "cuDeviceGet");
  check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  check(cuModuleLoadData(&module, KERNEL_MODULE), "cuModuleLoadData");
  check(cuModuleGetFunction(&function, module, kernel->symbol),
        "cuModuleGetFunction");
  for (int i = 0; i < 3; ++i) {
    check(cuMemAlloc_v2(&buffers[i], kernel->params[i].bytes), "cuMemAlloc");
  }
  check(cuMemcpyHtoD_v2(buffers[0], a, kernel->params[0].bytes),
        "cuMemcpyHtoD");
  check(cuMemcpyHtoD_v2(buffers[1], b, kernel->params[1].bytes),
        "cuMemcpyHtoD");
  check(ampc_kernel_launch(kernel, code, function, NULL, buffers),
        "ampc_kernel_launch");
  check(cuCtxSynchronize(), "cuCtxSynchronize");
  check(cuMemcpyDtoH_v2(c, buffers[2], kernel->params[2].bytes),
        "cuMemcpyDtoH");
  for (long i = 0; i < m; ++i) {
    for (long j = 0; j < n; ++j) {
      float sum = 0;
      for (long p = 0; p < k; ++p) {
        sum += a[i * k + p] * b[p * n + j];
      }
      if (c[i * n + j] != sum) {
        fprintf(stderr, "[%ld, %ld]: expected %g, got %g\n", i, j, sum,
                c[i * n + j]);
        return 1;
      }
    }
  }
  printf("%ld results are equal\n", m * n);
  return 0;
}
