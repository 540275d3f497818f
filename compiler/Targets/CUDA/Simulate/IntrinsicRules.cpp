//===- IntrinsicRules.cpp - Which function does which llvm.nvvm.* -------===//
#include "compiler/Targets/CUDA/Simulate/IntrinsicRules.h"

#include "ampc/sim_abi.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace ampc::cuda;

namespace {

/// An intrinsic whose operands are passed as they are.
struct PackedRule {
  const char *name; // without "llvm.nvvm."
  const char *callee;
  uint32_t imm[2];
};

constexpr PackedRule packedRules[] = {
    {"barrier.cta.sync.aligned.all",
     "ampc_sim_barrier",
     {AMPC_SIM_BARRIER_ALIGNED}},
    {"barrier.cta.sync.aligned.count",
     "ampc_sim_barrier",
     {AMPC_SIM_BARRIER_ALIGNED | AMPC_SIM_BARRIER_COUNTED}},
    {"barrier.cta.sync.all", "ampc_sim_barrier", {0}},
    {"barrier.cta.sync.count", "ampc_sim_barrier", {AMPC_SIM_BARRIER_COUNTED}},
    {"barrier.cta.arrive.aligned.count",
     "ampc_sim_barrier",
     {AMPC_SIM_BARRIER_ALIGNED | AMPC_SIM_BARRIER_COUNTED |
      AMPC_SIM_BARRIER_ARRIVE}},
    {"barrier.cta.arrive.count",
     "ampc_sim_barrier",
     {AMPC_SIM_BARRIER_COUNTED | AMPC_SIM_BARRIER_ARRIVE}},
    {"bar.warp.sync", "ampc_sim_warp_sync", {}},
    {"membar.cta", "ampc_sim_fence", {AMPC_SIM_FENCE_MEMORY}},
    {"membar.gl", "ampc_sim_fence", {AMPC_SIM_FENCE_MEMORY}},
    {"membar.sys", "ampc_sim_fence", {AMPC_SIM_FENCE_MEMORY}},
    {"fence.sc.cluster", "ampc_sim_fence", {AMPC_SIM_FENCE_MEMORY}},
    {"fence.proxy.async", "ampc_sim_fence", {AMPC_SIM_FENCE_PROXY}},
    {"fence.proxy.async.shared_cta", "ampc_sim_fence", {AMPC_SIM_FENCE_PROXY}},
    {"fence.proxy.async.shared_cluster",
     "ampc_sim_fence",
     {AMPC_SIM_FENCE_PROXY}},
    {"fence.proxy.async.global", "ampc_sim_fence", {AMPC_SIM_FENCE_OTHER}},
    {"fence.mbarrier_init.release.cluster",
     "ampc_sim_fence",
     {AMPC_SIM_FENCE_OTHER}},
    {"vote.all.sync", "ampc_sim_vote", {AMPC_SIM_VOTE_ALL}},
    {"vote.any.sync", "ampc_sim_vote", {AMPC_SIM_VOTE_ANY}},
    {"vote.uni.sync", "ampc_sim_vote", {AMPC_SIM_VOTE_UNIFORM}},
    {"vote.ballot.sync", "ampc_sim_vote", {AMPC_SIM_VOTE_BALLOT}},
    {"match.any.sync.i32", "ampc_sim_match", {0, 32}},
    {"match.any.sync.i64", "ampc_sim_match", {0, 64}},
    {"match.all.sync.i32p", "ampc_sim_match", {1, 32}},
    {"match.all.sync.i64p", "ampc_sim_match", {1, 64}},
    {"redux.sync.add", "ampc_sim_reduce", {AMPC_SIM_REDUCE_ADD}},
    {"redux.sync.min", "ampc_sim_reduce", {AMPC_SIM_REDUCE_MIN}},
    {"redux.sync.max", "ampc_sim_reduce", {AMPC_SIM_REDUCE_MAX}},
    {"redux.sync.umin", "ampc_sim_reduce", {AMPC_SIM_REDUCE_UNSIGNED_MIN}},
    {"redux.sync.umax", "ampc_sim_reduce", {AMPC_SIM_REDUCE_UNSIGNED_MAX}},
    {"redux.sync.and", "ampc_sim_reduce", {AMPC_SIM_REDUCE_AND}},
    {"redux.sync.or", "ampc_sim_reduce", {AMPC_SIM_REDUCE_OR}},
    {"redux.sync.xor", "ampc_sim_reduce", {AMPC_SIM_REDUCE_XOR}},
    {"elect.sync", "ampc_sim_elect", {}},
    {"activemask", "ampc_sim_active_mask", {}},
    {"setmaxnreg.inc.sync.aligned.u32", "ampc_sim_set_max_registers", {}},
    {"setmaxnreg.dec.sync.aligned.u32", "ampc_sim_set_max_registers", {}},
    {"nanosleep", "ampc_sim_pause", {}},
    {"cp.async.ca.shared.global.4", "ampc_sim_cp_async", {4, 0}},
    {"cp.async.ca.shared.global.8", "ampc_sim_cp_async", {8, 0}},
    {"cp.async.ca.shared.global.16", "ampc_sim_cp_async", {16, 0}},
    {"cp.async.cg.shared.global.16", "ampc_sim_cp_async", {16, 0}},
    {"cp.async.ca.shared.global.4.s", "ampc_sim_cp_async", {4, 1}},
    {"cp.async.ca.shared.global.8.s", "ampc_sim_cp_async", {8, 1}},
    {"cp.async.ca.shared.global.16.s", "ampc_sim_cp_async", {16, 1}},
    {"cp.async.cg.shared.global.16.s", "ampc_sim_cp_async", {16, 1}},
    {"cp.async.commit.group", "ampc_sim_cp_async_commit", {}},
    {"cp.async.wait.group", "ampc_sim_cp_async_wait", {0}},
    {"cp.async.wait.all", "ampc_sim_cp_async_wait", {1}},
    {"cp.async.mbarrier.arrive", "ampc_sim_cp_async_arrive", {0}},
    {"cp.async.mbarrier.arrive.shared", "ampc_sim_cp_async_arrive", {0}},
    {"cp.async.mbarrier.arrive.noinc", "ampc_sim_cp_async_arrive", {1}},
    {"cp.async.mbarrier.arrive.noinc.shared", "ampc_sim_cp_async_arrive", {1}},
    {"cp.async.bulk.commit.group", "ampc_sim_bulk_commit", {}},
    {"cp.async.bulk.wait.group", "ampc_sim_bulk_wait", {}},
    {"cp.async.bulk.wait.group.read", "ampc_sim_bulk_wait", {}},
    {"mbarrier.init", "ampc_sim_mbarrier_init", {}},
    {"mbarrier.init.shared", "ampc_sim_mbarrier_init", {}},
    {"mbarrier.inval", "ampc_sim_mbarrier_inval", {}},
    {"mbarrier.inval.shared", "ampc_sim_mbarrier_inval", {}},
    {"mbarrier.arrive", "ampc_sim_mbarrier_arrive", {AMPC_SIM_ARRIVE_ONCE, 0}},
    {"mbarrier.arrive.shared",
     "ampc_sim_mbarrier_arrive",
     {AMPC_SIM_ARRIVE_ONCE, 0}},
    {"mbarrier.arrive.noComplete",
     "ampc_sim_mbarrier_arrive",
     {AMPC_SIM_ARRIVE_COUNT, 0}},
    {"mbarrier.arrive.noComplete.shared",
     "ampc_sim_mbarrier_arrive",
     {AMPC_SIM_ARRIVE_COUNT, 0}},
    {"mbarrier.arrive.drop",
     "ampc_sim_mbarrier_arrive",
     {AMPC_SIM_ARRIVE_ONCE, 1}},
    {"mbarrier.arrive.drop.shared",
     "ampc_sim_mbarrier_arrive",
     {AMPC_SIM_ARRIVE_ONCE, 1}},
    {"mbarrier.test.wait", "ampc_sim_mbarrier_wait", {0, 0}},
    {"mbarrier.test.wait.shared", "ampc_sim_mbarrier_wait", {0, 0}},
    {"mbarrier.pending.count", "ampc_sim_mbarrier_pending", {}},
    {"wgmma.fence.sync.aligned", "ampc_sim_wgmma_fence", {}},
    {"wgmma.commit_group.sync.aligned", "ampc_sim_wgmma_commit", {}},
    {"wgmma.wait_group.sync.aligned", "ampc_sim_wgmma_wait", {}},
    {"prefetch.tensormap.p0", "ampc_sim_tensor_prefetch", {}},
};

/// Functions of floats that are called as they are.
struct DirectRule {
  const char *name, *callee;
};
constexpr DirectRule directRules[] = {
    {"ex2.approx.f", "ampc_sim_ex2"},
    {"ex2.approx.f32", "ampc_sim_ex2"},
    {"ex2.approx.ftz.f", "ampc_sim_ex2_ftz"},
    {"ex2.approx.ftz.f32", "ampc_sim_ex2_ftz"},
    {"lg2.approx.f", "ampc_sim_lg2"},
    {"lg2.approx.ftz.f", "ampc_sim_lg2_ftz"},
    {"rcp.approx.ftz.f", "ampc_sim_rcp_ftz"},
    {"rsqrt.approx.f", "ampc_sim_rsqrt"},
    {"rsqrt.approx.ftz.f", "ampc_sim_rsqrt_ftz"},
    {"sqrt.approx.f", "ampc_sim_sqrt"},
    {"sqrt.approx.ftz.f", "ampc_sim_sqrt_ftz"},
    {"sin.approx.f", "ampc_sim_sin"},
    {"cos.approx.f", "ampc_sim_cos"},
    {"prmt", "ampc_sim_permute"},
};

struct RegisterRule {
  const char *name; // after "read.ptx.sreg."
  uint32_t which;
};
constexpr RegisterRule registerRules[] = {
    {"tid.x", AMPC_SIM_REGISTER_THREAD_X},
    {"tid.y", AMPC_SIM_REGISTER_THREAD_Y},
    {"tid.z", AMPC_SIM_REGISTER_THREAD_Z},
    {"ctaid.x", AMPC_SIM_REGISTER_BLOCK_X},
    {"ctaid.y", AMPC_SIM_REGISTER_BLOCK_Y},
    {"ctaid.z", AMPC_SIM_REGISTER_BLOCK_Z},
    {"ntid.x", AMPC_SIM_REGISTER_BLOCK_SIZE_X},
    {"ntid.y", AMPC_SIM_REGISTER_BLOCK_SIZE_Y},
    {"ntid.z", AMPC_SIM_REGISTER_BLOCK_SIZE_Z},
    {"nctaid.x", AMPC_SIM_REGISTER_GRID_SIZE_X},
    {"nctaid.y", AMPC_SIM_REGISTER_GRID_SIZE_Y},
    {"nctaid.z", AMPC_SIM_REGISTER_GRID_SIZE_Z},
    {"laneid", AMPC_SIM_REGISTER_LANE},
    {"warpid", AMPC_SIM_REGISTER_WARP},
    {"nwarpid", AMPC_SIM_REGISTER_WARPS},
    {"warpsize", AMPC_SIM_REGISTER_WARP_SIZE},
    {"lanemask.eq", AMPC_SIM_REGISTER_LANES_EQUAL},
    {"lanemask.lt", AMPC_SIM_REGISTER_LANES_LESS},
    {"lanemask.le", AMPC_SIM_REGISTER_LANES_LESS_EQUAL},
    {"lanemask.gt", AMPC_SIM_REGISTER_LANES_GREATER},
    {"lanemask.ge", AMPC_SIM_REGISTER_LANES_GREATER_EQUAL},
    {"dynamic_smem_size", AMPC_SIM_REGISTER_DYNAMIC_SHARED},
    {"total_smem_size", AMPC_SIM_REGISTER_TOTAL_SHARED},
    {"cluster.ctarank", AMPC_SIM_REGISTER_ZERO},
    {"cluster.nctarank", AMPC_SIM_REGISTER_ONE},
    {"cluster.ctaid.x", AMPC_SIM_REGISTER_ZERO},
    {"cluster.ctaid.y", AMPC_SIM_REGISTER_ZERO},
    {"cluster.ctaid.z", AMPC_SIM_REGISTER_ZERO},
    {"cluster.nctaid.x", AMPC_SIM_REGISTER_ONE},
    {"cluster.nctaid.y", AMPC_SIM_REGISTER_ONE},
    {"cluster.nctaid.z", AMPC_SIM_REGISTER_ONE},
    {"clusterid.x", AMPC_SIM_REGISTER_BLOCK_X},
    {"clusterid.y", AMPC_SIM_REGISTER_BLOCK_Y},
    {"clusterid.z", AMPC_SIM_REGISTER_BLOCK_Z},
    {"nclusterid.x", AMPC_SIM_REGISTER_GRID_SIZE_X},
    {"nclusterid.y", AMPC_SIM_REGISTER_GRID_SIZE_Y},
    {"nclusterid.z", AMPC_SIM_REGISTER_GRID_SIZE_Z},
};

/// Hints, and instructions without effect where a kernel runs alone.
constexpr const char *noOps[] = {
    "prefetch.L1",
    "prefetch.L2",
    "prefetch.global.L1",
    "prefetch.global.L2",
    "prefetchu.L1",
    "prefetch.global.L2.evict.last",
    "prefetch.global.L2.evict.normal",
    "griddepcontrol.wait",
    "griddepcontrol.launch.dependents",
};

/// The imm of mma.sync from "m16n8k16.row.col.f32.f16"; nothing if it is not
/// one of the simulator's.
std::optional<Immediates> parseMma(StringRef name) {
  SmallVector<StringRef> parts;
  name.split(parts, '.');
  if (parts.size() < 4 || parts[1] != "row" || parts[2] != "col") {
    return std::nullopt;
  }
  uint32_t k = StringSwitch<uint32_t>(parts[0])
                   .Case("m16n8k16", 16)
                   .Case("m16n8k8", 8)
                   .Case("m16n8k4", 4)
                   .Default(0);
  // f16 names C and D (and, from LLVM's upgrade, A and B); the others A and B.
  StringRef type = parts[3];
  uint32_t ab = AMPC_SIM_F16, cd = AMPC_SIM_F32;
  if (type == "bf16" || type == "tf32") {
    ab = type == "bf16" ? AMPC_SIM_BF16 : AMPC_SIM_TF32;
    if (parts.size() != 4) {
      return std::nullopt;
    }
  } else {
    if (parts.size() != 5 || parts[3] != parts[4] ||
        (type != "f16" && type != "f32")) {
      return std::nullopt;
    }
    cd = type == "f16" ? AMPC_SIM_F16 : AMPC_SIM_F32;
  }
  bool legal = type == "tf32" ? k == 4 || k == 8 : k == 8 || k == 16;
  return legal ? std::optional<Immediates>({8u << 16 | k, ab, cd})
               : std::nullopt;
}

/// {matrices, transposed} from "m8n8.x4.trans.b16.p3".
std::optional<Immediates> parseMatrixMove(StringRef name) {
  if (!name.consume_front("m8n8.x")) {
    return std::nullopt;
  }
  uint32_t count;
  if (name.consumeInteger(10, count) ||
      (count != 1 && count != 2 && count != 4)) {
    return std::nullopt;
  }
  uint32_t transposed = name.consume_front(".trans");
  return name == ".b16" || name == ".b16.p3" || name == ".b16.p0"
             ? std::optional<Immediates>({count, transposed})
             : std::nullopt;
}

/// {mode, has predicate} from "down.i32p".
std::optional<Immediates> parseShuffle(StringRef name) {
  auto [mode, type] = name.split('.');
  uint32_t which = StringSwitch<uint32_t>(mode)
                       .Case("up", AMPC_SIM_SHUFFLE_UP)
                       .Case("down", AMPC_SIM_SHUFFLE_DOWN)
                       .Case("bfly", AMPC_SIM_SHUFFLE_BUTTERFLY)
                       .Case("idx", AMPC_SIM_SHUFFLE_INDEX)
                       .Default(~0u);
  uint32_t predicate = type.consume_back("p");
  if (which == ~0u || (type != "i32" && type != "f32")) {
    return std::nullopt;
  }
  return Immediates{which, predicate};
}

/// The call for "arrive.expect.tx.scope.cta.space.cta" and its like.
std::optional<PackedCall> parseMbarrier(StringRef name) {
  if (!name.consume_back(".space.cta") &&
      !name.consume_back(".space.cluster")) {
    return std::nullopt;
  }
  if (!name.consume_back(".scope.cta") &&
      !name.consume_back(".scope.cluster")) {
    return std::nullopt;
  }
  name.consume_back(".relaxed");
  using Result = PackedCall;
  const char *arrive = "ampc_sim_mbarrier_arrive";
  const char *bytes = "ampc_sim_mbarrier_bytes";
  const char *wait = "ampc_sim_mbarrier_wait";
  return StringSwitch<std::optional<Result>>(name)
      .Case("expect.tx", Result{bytes, {0}, {}, {}})
      .Case("complete.tx", Result{bytes, {1}, {}, {}})
      .Case("arrive", Result{arrive, {AMPC_SIM_ARRIVE_COUNT, 0}, {}, {}})
      .Case("arrive.expect.tx",
            Result{arrive, {AMPC_SIM_ARRIVE_BYTES, 0}, {}, {}})
      .Case("arrive.drop", Result{arrive, {AMPC_SIM_ARRIVE_COUNT, 1}, {}, {}})
      .Case("arrive.drop.expect.tx",
            Result{arrive, {AMPC_SIM_ARRIVE_BYTES, 1}, {}, {}})
      .Case("test.wait", Result{wait, {0, 0}, {}, {}})
      .Case("test.wait.parity", Result{wait, {1, 0}, {}, {}})
      .Cases({"try.wait", "try.wait.tl"}, Result{wait, {0, 1}, {}, {}})
      .Cases({"try.wait.parity", "try.wait.parity.tl"},
             Result{wait, {1, 1}, {}, {}})
      .Default(std::nullopt);
}

std::optional<PackedCall> parseBulk(StringRef name) {
  if (name == "global.to.shared.cluster") {
    return PackedCall{"ampc_sim_bulk_load", {0}, 4, 6};
  }
  if (name == "global.to.shared.cta") {
    return PackedCall{"ampc_sim_bulk_load", {0}, 4, std::nullopt};
  }
  if (name == "shared.cta.to.global") {
    return PackedCall{"ampc_sim_bulk_store", {0}, 3, std::nullopt};
  }
  bool cluster = name.consume_front("tensor.g2s.tile.");
  bool load = cluster || name.consume_front("tensor.g2s.cta.tile.");
  bool store = !load && name.consume_front("tensor.s2g.tile.");
  bool prefetch =
      !load && !store && name.consume_front("tensor.prefetch.tile.");
  uint32_t rank;
  if ((!load && !store && !prefetch) || name.consumeInteger(10, rank) ||
      name != "d" || rank < 1 || rank > 5) {
    return std::nullopt;
  }
  if (load) {
    std::optional<unsigned> flag;
    if (cluster) {
      flag = 3 + rank + 2; // after the mask and the cache hint
    }
    return PackedCall{"ampc_sim_tensor_load", {rank}, 3 + rank, flag};
  }
  return store
             ? PackedCall{"ampc_sim_tensor_store",
                          {rank},
                          2 + rank,
                          std::nullopt}
             : PackedCall{"ampc_sim_tensor_prefetch", {rank}, 1, std::nullopt};
}

} // namespace

std::optional<PackedCall> ampc::cuda::findPackedCall(StringRef name) {
  for (const PackedRule &rule : packedRules) {
    if (name == rule.name) {
      return PackedCall{rule.callee, {rule.imm[0], rule.imm[1]}, {}, {}};
    }
  }
  auto call = [](const char *callee,
                 std::optional<Immediates> imm) -> std::optional<PackedCall> {
    return imm ? std::optional(PackedCall{callee, *imm, {}, {}}) : std::nullopt;
  };
  if (name.consume_front("mma.")) {
    return call("ampc_sim_mma", parseMma(name));
  }
  if (name.consume_front("ldmatrix.sync.aligned.")) {
    return call("ampc_sim_ldmatrix", parseMatrixMove(name));
  }
  if (name.consume_front("stmatrix.sync.aligned.")) {
    return call("ampc_sim_stmatrix", parseMatrixMove(name));
  }
  if (name.consume_front("shfl.sync.")) {
    return call("ampc_sim_shuffle", parseShuffle(name));
  }
  if (name.consume_front("mbarrier.")) {
    return parseMbarrier(name);
  }
  if (name.consume_front("cp.async.bulk.")) {
    return parseBulk(name);
  }
  return std::nullopt;
}

const char *ampc::cuda::findDirectCall(StringRef name) {
  for (const DirectRule &rule : directRules) {
    if (name == rule.name) {
      return rule.callee;
    }
  }
  return nullptr;
}

std::optional<uint32_t> ampc::cuda::findRegister(StringRef name) {
  for (const RegisterRule &rule : registerRules) {
    if (name == rule.name) {
      return rule.which;
    }
  }
  return std::nullopt;
}

bool ampc::cuda::hasNoEffect(StringRef name) {
  return is_contained(noOps, name);
}
