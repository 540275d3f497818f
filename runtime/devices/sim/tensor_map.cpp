//===- tensor_map.cpp - Tiled tensor maps ---------------------------------===//
#include "runtime/devices/sim/tensor_map.h"

namespace ampc::runtime::sim {

/// Bytes of an element by CUtensorMapDataType, and whether it has a NaN.
static constexpr struct {
  uint8_t bytes;
  bool isFloat;
} dataTypes[] = {
    {1, false}, {2, false}, {4, false}, {4, false}, {8, false}, // u8 to u64
    {8, false},                                                 // s64
    {2, true},  {4, true},  {8, true},  {2, true}, // f16 f32 f64 bf16
    {4, true},  {4, true},  {4, true},             // f32 ftz, tf32, tf32 ftz
};

static Status refuse(const char *what, uint64_t got) {
  return Status::error(AMPC_USAGE, "tensor map: expected %s, got %llu", what,
                       static_cast<unsigned long long>(got));
}

Status encodeTensorMap(const TensorMapArguments &given, TensorMap *out) {
  if (given.dataType >= sizeof dataTypes / sizeof dataTypes[0]) {
    return Status::error(AMPC_UNSUPPORTED,
                         "tensor map: element type %u is not supported",
                         given.dataType);
  }
  if (given.rank < 1 || given.rank > TensorMap::maxRank) {
    return refuse("a rank from 1 to 5", given.rank);
  }
  if (given.interleave != 0) {
    return Status::error(AMPC_UNSUPPORTED,
                         "tensor map: interleaved layouts are not supported");
  }
  if (given.swizzle > 3) {
    return Status::error(AMPC_UNSUPPORTED,
                         "tensor map: swizzle mode %u is not supported",
                         given.swizzle);
  }
  auto base = reinterpret_cast<uint64_t>(given.address);
  if (base == 0 || base % 16 != 0) {
    return refuse("a global address that is a multiple of 16", base);
  }
  if (given.l2Promotion > 3) {
    return refuse("an L2 promotion from 0 to 3", given.l2Promotion);
  }
  uint32_t bytes = dataTypes[given.dataType].bytes;
  if (given.oobFill > 1 ||
      (given.oobFill == 1 && !dataTypes[given.dataType].isFloat)) {
    return refuse("a NaN fill of a floating-point type only", given.oobFill);
  }
  TensorMap map{};
  map.magic = TensorMap::magicNumber;
  map.rank = static_cast<uint8_t>(given.rank);
  map.elementBytes = static_cast<uint8_t>(bytes);
  map.swizzle = static_cast<Swizzle>(given.swizzle);
  map.fillNan = static_cast<uint8_t>(given.oobFill);
  map.nanType = static_cast<uint8_t>(given.dataType);
  map.base = base;
  for (uint32_t i = 0; i < given.rank; ++i) {
    if (given.sizes[i] < 1 || given.sizes[i] > 1ull << 32) {
      return refuse("sizes from 1 to 2^32", given.sizes[i]);
    }
    if (given.box[i] < 1 || given.box[i] > 256) {
      return refuse("a box of 1 to 256 elements", given.box[i]);
    }
    if (given.elementStrides[i] < 1 || given.elementStrides[i] > 8) {
      return refuse("element strides from 1 to 8", given.elementStrides[i]);
    }
    map.sizesLess1[i] = static_cast<uint32_t>(given.sizes[i] - 1);
    map.box[i] = static_cast<uint16_t>(given.box[i]);
    map.elementStrides[i] = static_cast<uint8_t>(given.elementStrides[i]);
  }
  for (uint32_t i = 0; i + 1 < given.rank; ++i) {
    if (given.strides[i] % 16 != 0 || given.strides[i] >= 1ull << 40) {
      return refuse("strides that are multiples of 16 below 2^40",
                    given.strides[i]);
    }
    map.strides[i] = given.strides[i];
  }
  uint64_t inner = static_cast<uint64_t>(map.boxCount(0)) * bytes;
  if (inner % 16 != 0) {
    return refuse("a multiple of 16 bytes along the box's first dimension",
                  inner);
  }
  uint64_t span = 16ull << given.swizzle; // 32, 64, 128 when swizzled
  if (given.swizzle != 0 && inner > span) {
    return refuse("a box no wider than its swizzle", inner);
  }
  *out = map;
  return Status();
}

} // namespace ampc::runtime::sim
