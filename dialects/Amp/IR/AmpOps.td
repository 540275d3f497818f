//===- AmpOps.td - All operations of the amp dialect ----------------------===//
#ifndef AMPC_DIALECTS_AMP_IR_AMPOPS_TD
#define AMPC_DIALECTS_AMP_IR_AMPOPS_TD

include "dialects/Amp/IR/AmpContractionOps.td"
include "dialects/Amp/IR/AmpElementwiseOps.td"
include "dialects/Amp/IR/AmpGradientOps.td"
include "dialects/Amp/IR/AmpIndexingOps.td"
include "dialects/Amp/IR/AmpReductionOps.td"
include "dialects/Amp/IR/AmpShapeOps.td"
include "dialects/Amp/IR/AmpStructureOps.td"

#endif // AMPC_DIALECTS_AMP_IR_AMPOPS_TD
