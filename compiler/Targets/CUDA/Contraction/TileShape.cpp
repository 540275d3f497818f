//===- TileShape.cpp - How the result of a contraction is cut up ----------===//
#include "compiler/Targets/CUDA/Contraction/TileShape.h"

using namespace ampc;
using namespace ampc::cuda;

// The registers are what ptxas 13 takes for sm_80, without an epilogue.
static constexpr TileShape mma16[] = {
    {256, 128, 32, 64, 64, 255}, {128, 256, 32, 64, 64, 255},
    {128, 128, 32, 64, 64, 255}, {128, 64, 32, 64, 32, 168},
    {64, 128, 32, 32, 64, 168},  {64, 64, 32, 32, 32, 128},
    {64, 64, 64, 32, 32, 128},   {128, 32, 32, 32, 32, 128},
    {32, 128, 32, 32, 32, 128},  {32, 64, 64, 16, 32, 96},
    {64, 32, 64, 32, 16, 96},    {16, 128, 64, 16, 32, 96},
    {16, 64, 64, 16, 16, 80},    {64, 16, 64, 16, 16, 80},
};
static constexpr TileShape tf32[] = {
    {128, 128, 16, 64, 64, 255}, {128, 64, 16, 64, 32, 168},
    {64, 128, 16, 32, 64, 168},  {64, 64, 16, 32, 32, 128},
    {64, 64, 32, 32, 32, 128},   {128, 32, 16, 32, 32, 128},
    {32, 64, 32, 16, 32, 96},    {16, 64, 32, 16, 16, 80},
    {64, 32, 32, 32, 16, 96},
};
static constexpr TileShape fma32[] = {
    {128, 128, 16, 32, 64, 184}, {128, 64, 16, 32, 32, 128},
    {64, 64, 16, 32, 32, 128},   {32, 64, 16, 16, 32, 96},
    {64, 32, 16, 32, 16, 96},    {16, 64, 16, 16, 16, 80},
};
static constexpr TileShape fma64[] = {
    {64, 64, 8, 32, 32, 168},
    {32, 64, 8, 16, 32, 128},
    {16, 64, 8, 16, 16, 96},
};

llvm::ArrayRef<TileShape> cuda::getTiles(ProductKind kind) {
  switch (kind) {
  case ProductKind::Mma16:
    return mma16;
  case ProductKind::Tf32:
    return tf32;
  case ProductKind::Fma32:
    return fma32;
  case ProductKind::Fma64:
    return fma64;
  }
  llvm_unreachable("a kind of product");
}
