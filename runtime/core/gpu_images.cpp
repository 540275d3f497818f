//===- gpu_images.cpp - The GPU code of a program -------------------------===//
#include "runtime/core/gpu_images.h"

#include "runtime/core/plan.h"

namespace ampc::runtime {

/// Whether all that a map describes lies in its buffer.
static bool isInside(const ampc_gpu_launch &launch,
                     const ampc_gpu_tensor_map &map) {
  if (map.param >= launch.num_params || map.rank < 1 || map.rank > 5) {
    return false;
  }
  uint64_t end = map.strides[0];
  for (uint32_t i = 0; i < map.rank; ++i) {
    uint64_t last;
    if (map.sizes[i] == 0 ||
        mulOverflow(map.sizes[i] - 1, map.strides[i], &last) ||
        addOverflow(end, last, &end)) {
      return false;
    }
  }
  return end <= launch.params[map.param].bytes;
}

static Status checkTensorMaps(const ampc_gpu_launch &launch, uint32_t index) {
  bool good = launch.num_tensor_maps <= AMPC_GPU_MAX_TENSOR_MAPS &&
              (launch.num_tensor_maps == 0 || launch.tensor_maps);
  for (uint32_t i = 0; good && i < launch.num_tensor_maps; ++i) {
    good = isInside(launch, launch.tensor_maps[i]);
  }
  return good ? Status()
              : Status::error(AMPC_INVALID,
                              "malformed program: tensor maps of kernel %u",
                              index);
}

static Status checkLaunch(const ampc_gpu_image &image, uint32_t index) {
  const ampc_gpu_launch &launch = image.launches[index];
  uint64_t threads = static_cast<uint64_t>(launch.block[0]) * launch.block[1];
  if (!launch.symbol || launch.module >= image.num_modules ||
      (launch.num_params && !launch.params) || launch.block[0] > 1024 ||
      launch.block[1] > 1024 || launch.block[2] > 64 ||
      threads * launch.block[2] > 1024 || launch.shared_bytes > (1u << 20)) {
    return Status::error(AMPC_INVALID, "malformed program: launch of kernel %u",
                         index);
  }
  return checkTensorMaps(launch, index);
}

/// The driver is not told how long a module is.
static bool isComplete(const ampc_gpu_module &module, uint32_t kind) {
  auto *text = static_cast<const char *>(module.data);
  return text && (kind == AMPC_GPU_IMAGE_SIMULATOR || module.bytes != 0) &&
         (kind != AMPC_GPU_IMAGE_PTX || text[module.bytes] == 0);
}

Status checkGpuCode(const ampc_program &program) {
  const ampc_gpu_code &code = *program.gpu;
  if (code.num_images == 0 || !code.images || !code.device) {
    return Status::error(AMPC_INVALID, "malformed program: no GPU code");
  }
  for (uint32_t i = 0; i < code.num_images; ++i) {
    const ampc_gpu_image &image = code.images[i];
    bool complete = image.kind <= AMPC_GPU_IMAGE_EXACT_CUBIN &&
                    (image.modules || !image.num_modules) &&
                    (image.launches || !program.num_kernels);
    for (uint32_t m = 0; complete && m < image.num_modules; ++m) {
      complete = isComplete(image.modules[m], image.kind);
    }
    if (!complete) {
      return Status::error(AMPC_INVALID, "malformed program: GPU image %u", i);
    }
    for (uint32_t k = 0; k < program.num_kernels; ++k) {
      AMPC_TRY(checkLaunch(image, k));
    }
  }
  return Status();
}

uint64_t workspaceBytes(const ampc_gpu_image &image,
                        const ampc_program &program) {
  uint64_t most = 0;
  for (uint32_t i = 0; i < program.num_kernels; ++i) {
    uint64_t bytes = image.launches[i].workspace_bytes;
    most = bytes > most ? bytes : most;
  }
  return most;
}

uint64_t regionBytes(const ampc_program &program, const ampc_buffer_ref &ref) {
  switch (ref.region) {
  case AMPC_REGION_ARENA:
    return program.arena_bytes.fixed;
  case AMPC_REGION_WEIGHTS:
    return constantBytes(program);
  case AMPC_REGION_STATE:
    return program.state_bytes;
  case AMPC_REGION_INPUT:
    return program.inputs[ref.index].bytes;
  default:
    return program.outputs[ref.index].bytes;
  }
}

static Status checkBuffer(const ampc_program &program, const ampc_node &node,
                          uint32_t index, uint64_t bytes) {
  const ampc_buffer_ref &ref = node.buffers[index];
  uint64_t room = regionBytes(program, ref) - ref.offset.fixed;
  if (bytes <= room) {
    return Status();
  }
  return Status::error(AMPC_INVALID,
                       "malformed program: node '%s' needs %llu bytes of "
                       "buffer %u, which has %llu",
                       node.label ? node.label : "",
                       static_cast<unsigned long long>(bytes), index,
                       static_cast<unsigned long long>(room));
}

static Status checkNode(const ampc_program &program, const ampc_node &node) {
  if (node.kind == AMPC_NODE_COPY) {
    AMPC_TRY(checkBuffer(program, node, 0, node.bytes.fixed));
    return checkBuffer(program, node, 1, node.bytes.fixed);
  }
  if (node.kind != AMPC_NODE_LAUNCH) {
    bool loops = node.kind == AMPC_NODE_LOOP;
    uint32_t bodies = loops ? 1 : 2;
    const uint64_t controls[] = {loops ? sizeof(int64_t) : 1, 1,
                                 sizeof(int64_t)};
    for (uint32_t i = 0; i < (loops ? 3 : 1); ++i) {
      AMPC_TRY(checkBuffer(program, node, i, controls[i]));
    }
    for (uint32_t i = 0; i < bodies; ++i) {
      AMPC_TRY(checkGpuNodes(program, node.bodies[i]));
    }
    return Status();
  }
  for (uint32_t i = 0; i < program.gpu->num_images; ++i) {
    const ampc_gpu_launch &launch =
        program.gpu->images[i].launches[node.kernel];
    if (launch.num_params != node.num_buffers) {
      return Status::error(AMPC_INVALID,
                           "malformed program: node '%s' has %u buffers, its "
                           "kernel takes %u",
                           node.label ? node.label : "", node.num_buffers,
                           launch.num_params);
    }
    for (uint32_t p = 0; p < launch.num_params; ++p) {
      AMPC_TRY(checkBuffer(program, node, p, launch.params[p].bytes));
    }
  }
  return Status();
}

Status checkGpuNodes(const ampc_program &program, const ampc_node_list &list) {
  for (uint32_t i = 0; i < list.num_nodes; ++i) {
    AMPC_TRY(checkNode(program, list.nodes[i]));
  }
  return Status();
}

const char *imageKindName(uint32_t kind) {
  return kind == AMPC_GPU_IMAGE_PTX         ? "ptx"
         : kind == AMPC_GPU_IMAGE_SIMULATOR ? "simulator"
                                            : "cubin";
}

Str architectureName(const ampc_gpu_image &image) {
  Str text;
  text.appendf("sm_%u%s", image.architecture,
               image.kind == AMPC_GPU_IMAGE_EXACT_CUBIN ? "a" : "");
  return text;
}

uint64_t imageBytes(const ampc_gpu_image &image) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < image.num_modules; ++i) {
    bytes += image.modules[i].bytes;
  }
  return bytes;
}

Str describeImages(const ampc_gpu_code &code) {
  Str text;
  for (uint32_t i = 0; i < code.num_images; ++i) {
    const ampc_gpu_image &image = code.images[i];
    const char *prefix = image.kind == AMPC_GPU_IMAGE_PTX         ? "PTX of "
                         : image.kind == AMPC_GPU_IMAGE_SIMULATOR ? "simulated "
                                                                  : "";
    text.appendf("%s%s%s", i ? ", " : "", prefix,
                 architectureName(image).c_str());
  }
  return text;
}

uint32_t oldestArchitecture(const ampc_gpu_code &code) {
  uint32_t oldest = code.images[0].architecture;
  for (uint32_t i = 1; i < code.num_images; ++i) {
    uint32_t other = code.images[i].architecture;
    oldest = other < oldest ? other : oldest;
  }
  return oldest;
}

static bool fits(const ampc_gpu_image &image, uint32_t architecture) {
  switch (image.kind) {
  case AMPC_GPU_IMAGE_CUBIN:
    return image.architecture / 10 == architecture / 10 &&
           image.architecture <= architecture;
  case AMPC_GPU_IMAGE_PTX:
    return image.architecture <= architecture;
  default:
    return image.architecture == architecture;
  }
}

/// What fits a device closer comes first.
static int rankOf(uint32_t kind) {
  return kind == AMPC_GPU_IMAGE_EXACT_CUBIN ? 0
         : kind == AMPC_GPU_IMAGE_CUBIN     ? 1
                                            : 2;
}

const ampc_gpu_image *chooseImage(const ampc_gpu_code &code,
                                  uint32_t architecture) {
  const ampc_gpu_image *best = nullptr;
  for (uint32_t i = 0; i < code.num_images; ++i) {
    const ampc_gpu_image &image = code.images[i];
    if (!fits(image, architecture)) {
      continue;
    }
    bool better =
        !best || rankOf(image.kind) < rankOf(best->kind) ||
        (image.kind == best->kind && image.architecture > best->architecture);
    best = better ? &image : best;
  }
  return best;
}

} // namespace ampc::runtime
