//===- ChannelsLastComposite.h - Composites with channels last --*- C++ -*-===//
#ifndef AMPC_DIALECTS_AMP_IMPL_CHANNELSLASTCOMPOSITE_H
#define AMPC_DIALECTS_AMP_IMPL_CHANNELSLASTCOMPOSITE_H

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace ampc::amp {
/// Gives LayoutOpInterface to amp.composite.
void attachCompositeModel(mlir::MLIRContext &context);
} // namespace ampc::amp

#endif // AMPC_DIALECTS_AMP_IMPL_CHANNELSLASTCOMPOSITE_H
