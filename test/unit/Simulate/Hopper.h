//===- Hopper.h - Kernels of TMA, mbarriers and wgmma ---------------------===//
#ifndef AMPC_TEST_UNIT_SIMULATE_HOPPER_H
#define AMPC_TEST_UNIT_SIMULATE_HOPPER_H

#include <cstdint>
#include <string>

namespace ampc::test {

/// Faults that can be put into a kernel.
enum class HopperBug {
  none,
  noWait,      // for the mbarrier
  wrongParity, // waits for the phase before
  tooFewBytes, // expected by the mbarrier
  tooManyBytes,
  noBarrierAfterInit,
  groupInFlight, // wgmma.wait_group 1 where the next copy may begin
  noWgmmaWait,   // results used at once
  noWgmmaFence,
  noProxyFence, // a tile written by threads, stored by TMA
  noStoreWait,  // the block ends with its store in flight
  misalignedTile,
  earlyRelease, // of the stage that the wgmma in flight reads
};
/// D = A B of one warpgroup: a tile of A of 64 rows and one of B, both brought
/// by TMA and read by wgmma, as the swizzle and the majors ask.
struct WgmmaShape {
  std::string type = "f16"; // bf16, tf32
  int n = 64;
  int swizzle = 128;                             // bytes; 0 for none
  bool aTransposed = false, bTransposed = false; // M, N contiguous
  bool aInRegisters = false;
  bool halfAccumulators = false;

  int elementBytes() const { return type == "tf32" ? 4 : 2; }
  int k() const { return type == "tf32" ? 8 : 16; } // of an instruction
  /// Elements in a row of a swizzled tile.
  int rowElements() const { return (swizzle ? swizzle : 16) / elementBytes(); }
  /// Of the whole tile: as many as a row of the swizzle holds, two
  /// instructions at least.
  int depth() const {
    return rowElements() > 2 * k() ? rowElements() : 2 * k();
  }
};
/// Takes the two tensor maps by value, A as a plain pointer too (for
/// registers), and D. A's box is rowElements by 64 (by depth if transposed),
/// B's the same.
std::string wgmmaKernel(const WgmmaShape &shape,
                        HopperBug bug = HopperBug::none);

/// C = A B of f16, tiles of 128 x 128 x 64, two stages.
std::string hopperGemm(HopperBug bug = HopperBug::none);

/// D = A B of 64 x 64 tiles: a producer brings stages by TMA, a warpgroup keeps
/// one group of wgmma in flight, one of its threads hands stages back.
std::string warpSpecializedGemm(HopperBug bug = HopperBug::none);

/// Threads write a 32 x 64 tile of f16, one of them stores it by TMA.
std::string tensorStore(HopperBug bug = HopperBug::none);

} // namespace ampc::test

#endif // AMPC_TEST_UNIT_SIMULATE_HOPPER_H
