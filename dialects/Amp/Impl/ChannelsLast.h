//===- ChannelsLast.h - Amp ops on channels-last tensors --------*- C++ -*-===//
#ifndef AMPC_DIALECTS_AMP_IMPL_CHANNELSLAST_H
#define AMPC_DIALECTS_AMP_IMPL_CHANNELSLAST_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace ampc::amp {
/// Gives LayoutOpInterface to the amp ops that can work with channels last.
/// Elementwise ops need no model.
void registerChannelsLastModels(mlir::DialectRegistry &registry);
} // namespace ampc::amp

#endif // AMPC_DIALECTS_AMP_IMPL_CHANNELSLAST_H
