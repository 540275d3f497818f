//===- export_code.cpp - Write the GPU code of a program to files ---------===//
#include "runtime/core/gpu_images.h"
#include "runtime/io/file.h"
#include "runtime/program/command_line.h"

#include <errno.h>
#include <sys/stat.h>

namespace ampc::runtime {

static Status exportModule(const ampc_gpu_module &module, const Str &path) {
  FileWriter file;
  AMPC_TRY(file.open(path.c_str()));
  AMPC_TRY(file.write(module.data, module.bytes));
  return file.commit();
}

Status exportCode(const ampc_program &program, const char *folder) {
  if (!program.gpu) {
    return Status::error(AMPC_USAGE,
                         "--export-code: this program is for the cpu");
  }
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
    return Status::error(AMPC_IO, "cannot make the folder '%s': %s", folder,
                         strerror(errno));
  }
  for (uint32_t i = 0; i < program.gpu->num_images; ++i) {
    const ampc_gpu_image &image = program.gpu->images[i];
    // The simulator's code is part of the program.
    if (image.kind == AMPC_GPU_IMAGE_SIMULATOR) {
      continue;
    }
    for (uint32_t m = 0; m < image.num_modules; ++m) {
      Str path(folder);
      path.appendf("/%u.%u.%s", i, m, imageKindName(image.kind));
      AMPC_TRY(exportModule(image.modules[m], path).withPrefix(path.c_str()));
    }
  }
  return Status();
}

} // namespace ampc::runtime
