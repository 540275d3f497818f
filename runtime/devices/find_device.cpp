//===- find_device.cpp - The device that runs a program -------------------===//
#include "runtime/core/gpu_images.h"
#include "runtime/devices/device.h"

namespace ampc::runtime {

/// Whether `name` is `device`, or that with a number behind: "cuda:1".
static bool selects(const char *name, const char *device) {
  size_t length = strlen(device);
  return strncmp(name, device, length) == 0 &&
         (name[length] == 0 || name[length] == ':');
}

Status findDevice(const ampc_program &program, const char *name,
                  const DeviceApi **out) {
  const DeviceApi &own = program.gpu ? program.gpu->device->api : cpuDeviceApi;
  if (name && !selects(name, own.name)) {
    Str code;
    if (program.gpu) {
      code.appendf(" (%s)", describeImages(*program.gpu).c_str());
    }
    return Status::error(AMPC_DEVICE,
                         "this program is compiled for the device '%s'%s, not "
                         "for '%s'",
                         own.name, code.c_str(), name);
  }
  *out = &own;
  return Status();
}

} // namespace ampc::runtime
