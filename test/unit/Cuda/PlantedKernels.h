//===- PlantedKernels.h - Kernels that faults are planted into ------------===//
#ifndef AMPC_TEST_UNIT_CUDA_PLANTEDKERNELS_H
#define AMPC_TEST_UNIT_CUDA_PLANTEDKERNELS_H

#include "compiler/Targets/ContractionRule.h"

#include <vector>

namespace ampc::test::planted {

struct PlantedKernel {
  const char *name;
  const char *text;
  /// The tile of a contraction, so that a change of the cost model leaves these
  /// kernels as they are; an empty type: the model's choice.
  const char *type = "";
  std::array<int64_t, 3> tile = {};
  int64_t split = 1;

  std::vector<ContractionRule> rules() const {
    ContractionRule rule;
    rule.type = type;
    rule.tile = tile;
    rule.split = split;
    return rule.type.empty() ? std::vector<ContractionRule>()
                             : std::vector<ContractionRule>{rule};
  }
};

// Sizes are distinct and odd, so that a constant of the code says what it is
// the size of, and every edge is a partial tile.
inline const PlantedKernel edges = {
    "Edges",
    R"((%a: tensor<35x50xf16>, %b: tensor<50x19xf16>, %c: tensor<19xf16>) -> tensor<35x19xf32> {
       %0 = amp.matmul %a, %b, %c : (tensor<35x50xf16>, tensor<50x19xf16>, tensor<19xf16>) -> tensor<35x19xf32>
       %1 = amp.relu %0 : (tensor<35x19xf32>) -> tensor<35x19xf32>
       amp.yield %1 : tensor<35x19xf32>
     })",
    "f16",
    {64, 64, 32}};
inline const PlantedKernel stages = {
    "Stages",
    R"((%a: tensor<64x712xf16>, %b: tensor<712x64xf16>) -> tensor<64x64xf32> {
       %0 = amp.matmul %a, %b : (tensor<64x712xf16>, tensor<712x64xf16>) -> tensor<64x64xf32>
       amp.yield %0 : tensor<64x64xf32>
     })",
    "f16",
    {64, 64, 32}};
inline const PlantedKernel batches = {
    "Batches",
    R"((%a: tensor<2x3x21x33xf16>, %b: tensor<3x33x23xf16>) -> tensor<2x3x21x23xf32> {
       %0 = amp.matmul %a, %b : (tensor<2x3x21x33xf16>, tensor<3x33x23xf16>) -> tensor<2x3x21x23xf32>
       amp.yield %0 : tensor<2x3x21x23xf32>
     })",
    "f16",
    {64, 64, 32}};
// With scores far apart: a wrong maximum would not show in those of equal size.
// Twelve slices, through a ring of six stages.
inline const PlantedKernel ring = {
    "Ring",
    R"((%a: tensor<64x712xf16>, %b: tensor<712x72xf16>, %c: tensor<72xf16>) -> tensor<64x72xf32> {
       %0 = amp.matmul %a, %b, %c : (tensor<64x712xf16>, tensor<712x72xf16>, tensor<72xf16>) -> tensor<64x72xf32>
       amp.yield %0 : tensor<64x72xf32>
     })",
    "f16",
    {64, 64, 64}};
// So deep that blocks share the sums of one tile.
inline const PlantedKernel deep = {
    "Deep",
    R"((%a: tensor<32x4096xf16>, %b: tensor<4096x24xf16>) -> tensor<32x24xf32> {
       %0 = amp.matmul %a, %b : (tensor<32x4096xf16>, tensor<4096x24xf16>) -> tensor<32x24xf32>
       amp.yield %0 : tensor<32x24xf32>
     })",
    "f16",
    {32, 64, 64},
    4};
inline const PlantedKernel tf32 = {
    "Tf32",
    R"((%a: tensor<35x148xf32>, %b: tensor<148x20xf32>) -> tensor<35x20xf32> {
       %0 = amp.matmul %a, %b {amp.fp32_contractions = "tf32"} : (tensor<35x148xf32>, tensor<148x20xf32>) -> tensor<35x20xf32>
       amp.yield %0 : tensor<35x20xf32>
     })",
    "tf32",
    {64, 64, 16}};
inline const PlantedKernel f32 = {
    "F32",
    R"((%a: tensor<35x148xf32>, %b: tensor<148x20xf32>, %c: tensor<20xf32>) -> tensor<35x20xf32> {
       %0 = amp.matmul %a, %b, %c : (tensor<35x148xf32>, tensor<148x20xf32>, tensor<20xf32>) -> tensor<35x20xf32>
       amp.yield %0 : tensor<35x20xf32>
     })",
    "f32",
    {64, 64, 16}};
inline const PlantedKernel conv = {
    "Conv",
    R"((%a: tensor<2x9x9x64xf16>, %w: tensor<24x64x3x3xf16>, %b: tensor<24xf16>) -> tensor<2x5x5x24xf32> {
       %0 = amp.conv %a, %w, %b {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64, layout = #amp.layout<channels_last>} : (tensor<2x9x9x64xf16>, tensor<24x64x3x3xf16>, tensor<24xf16>) -> tensor<2x5x5x24xf32>
       amp.yield %0 : tensor<2x5x5x24xf32>
     })",
    "f16",
    {64, 64, 32}};
inline const PlantedKernel softmax = {
    "Softmax",
    R"((%a: tensor<24x2004xf32>) -> tensor<24x2004xf32> {
       %s = amp.constant dense<2.0e+05> : tensor<f32>
       %0 = amp.mul %a, %s : (tensor<24x2004xf32>, tensor<f32>) -> tensor<24x2004xf32>
       %1 = amp.softmax %0 {axis = 1 : i64} : (tensor<24x2004xf32>) -> tensor<24x2004xf32>
       amp.yield %1 : tensor<24x2004xf32>
     })"};
// Too long for registers: a block shares a row.
inline const PlantedKernel longRows = {
    "LongRows",
    R"((%a: tensor<4x20003xf32>) -> tensor<4x20003xf32> {
       %0 = amp.softmax %a {axis = 1 : i64} : (tensor<4x20003xf32>) -> tensor<4x20003xf32>
       amp.yield %0 : tensor<4x20003xf32>
     })"};
inline const PlantedKernel layerNorm = {
    "LayerNorm",
    R"((%a: tensor<3x2048xf32>, %s: tensor<2048xf32>, %b: tensor<2048xf32>) -> tensor<3x2048xf32> {
       %0 = amp.layer_norm %a scale %s bias %b {axis = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<3x2048xf32>, tensor<2048xf32>, tensor<2048xf32>) -> tensor<3x2048xf32>
       amp.yield %0 : tensor<3x2048xf32>
     })"};
inline const PlantedKernel map = {
    "Map",
    R"((%a: tensor<5x37xf32>, %b: tensor<37xf32>) -> tensor<5x37xf32> {
       %0 = amp.mul %a, %b : (tensor<5x37xf32>, tensor<37xf32>) -> tensor<5x37xf32>
       amp.yield %0 : tensor<5x37xf32>
     })"};
inline const PlantedKernel attention = {
    "Attention",
    R"((%q: tensor<1x4x29x16xf16>, %k: tensor<1x2x41x16xf16>, %v: tensor<1x2x41x24xf16>, %m: tensor<29x41xi1>) -> tensor<1x4x29x24xf32> {
       %0 = amp.attention %q, %k, %v, %m {scale = 1000.0 : f64, causal = false} : (tensor<1x4x29x16xf16>, tensor<1x2x41x16xf16>, tensor<1x2x41x24xf16>, tensor<29x41xi1>) -> tensor<1x4x29x24xf32>
       amp.yield %0 : tensor<1x4x29x24xf32>
     })"};

} // namespace ampc::test::planted

#endif // AMPC_TEST_UNIT_CUDA_PLANTEDKERNELS_H
