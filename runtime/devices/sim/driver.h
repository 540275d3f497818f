//===- driver.h - A look-alike of CUDA's driver over the simulator --------===//
//
// One device, whose kernels come from objects lowered for the simulator: an
// image given to moduleLoadData is an ampc_sim_module. Work is done when it is
// enqueued, in an order that streams, events and graphs allow; that it may have
// been done in another is what the launches' order is kept for. A finding makes
// the next synchronisation fail, as a fault on a GPU does.
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_RUNTIME_DEVICES_SIM_DRIVER_H
#define AMPC_RUNTIME_DEVICES_SIM_DRIVER_H

#include "runtime/devices/cuda/driver_api.h"
#include "runtime/devices/sim/simulator.h"

namespace ampc::runtime::sim {

/// The functions. The device exists once in a process.
const cuda::DriverApi &driverApi();

/// Forgets all state, findings included, and begins with `options`.
void resetDriver(const Options &options);

/// Tells what a node computes; findings of its launch name it. `label` must
/// live as long as the graph.
void labelNode(cuda::GraphNode node, const char *label);

/// What has been found since.
const Report &driverReport();

} // namespace ampc::runtime::sim

#endif // AMPC_RUNTIME_DEVICES_SIM_DRIVER_H
