//===- gpu_images.h - The GPU code of a program ---------------------------===//
#ifndef AMPC_RUNTIME_CORE_GPU_IMAGES_H
#define AMPC_RUNTIME_CORE_GPU_IMAGES_H

#include "runtime/core/support.h"

namespace ampc::runtime {

/// Checks the tables of a program's GPU code, before anything of it is used.
Status checkGpuCode(const ampc_program &program);

/// Checks that the nodes of a list give each kernel the buffers that it takes,
/// inside their regions. The program has been accepted by buildPlan.
Status checkGpuNodes(const ampc_program &program, const ampc_node_list &list);

/// "sm_90", or "sm_90a" where the image runs on no other architecture.
Str architectureName(const ampc_gpu_image &image);

/// "cubin", "ptx" or "simulator".
const char *imageKindName(uint32_t kind);

/// The bytes of all its modules.
uint64_t imageBytes(const ampc_gpu_image &image);

/// Of the launches of an image, the most.
uint64_t workspaceBytes(const ampc_gpu_image &image,
                        const ampc_program &program);

/// "sm_80, sm_90, PTX of sm_75".
Str describeImages(const ampc_gpu_code &code);

/// The oldest architecture that the images run on: 75 is 7.5.
uint32_t oldestArchitecture(const ampc_gpu_code &code);

/// The image that a device of compute capability `architecture` runs best:
/// the cubin of this very architecture, or else the newest cubin of the same
/// major version, or else the newest PTX; null if none fits.
const ampc_gpu_image *chooseImage(const ampc_gpu_code &code,
                                  uint32_t architecture);

/// How many bytes there are in the region that `ref` lies in. The plan has
/// been accepted.
uint64_t regionBytes(const ampc_program &program, const ampc_buffer_ref &ref);

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_CORE_GPU_IMAGES_H
