//===- fiber.cpp - Stacks and switches of simulated threads ---------------===//
#include "runtime/devices/sim/fiber.h"

#include <sys/mman.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define AMPC_SIM_ASAN
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define AMPC_SIM_ASAN
#endif
#ifdef AMPC_SIM_ASAN
extern "C" void __asan_unpoison_memory_region(void const volatile *, size_t);
#endif

#if !defined(__x86_64__)
#error "the simulator switches stacks on x86-64 only"
#endif

// The callee-saved registers of the System V ABI; the rest is dead at a call.
__asm__(R"(
  .text
  .globl ampc_sim_switch
  .hidden ampc_sim_switch
  .type ampc_sim_switch, @function
ampc_sim_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size ampc_sim_switch, .-ampc_sim_switch
)");

namespace ampc::runtime::sim {

static constexpr size_t guardBytes = 4096;

FiberStacks::~FiberStacks() {
  if (memory) {
    munmap(memory, stacks * bytesEach);
  }
}

Status FiberStacks::allocate(uint32_t count) {
  void *mapped = mmap(nullptr, count * bytesEach, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) {
    return Status::error(AMPC_LIMIT, "cannot allocate %u stacks", count);
  }
  memory = static_cast<uint8_t *>(mapped);
  stacks = count;
  for (uint32_t i = 0; i < count; ++i) {
    mprotect(memory + i * bytesEach, guardBytes, PROT_NONE);
  }
  return Status();
}

void *FiberStacks::prepare(uint32_t index, void (*start)()) {
  uint8_t *low = memory + index * bytesEach;
#ifdef AMPC_SIM_ASAN
  // A block that was given up left frames behind.
  __asan_unpoison_memory_region(low + guardBytes, bytesEach - guardBytes);
#endif
  // Tops at equal distances would all fall into the same sets of the caches.
  size_t stagger = (index % 32) * 320 + (index / 32 % 8) * 1280;
  auto *top = reinterpret_cast<uint64_t *>(low + bytesEach - 64 - stagger);
  top[-1] = 0; // where `start` would return to
  top[-2] = reinterpret_cast<uint64_t>(start);
  for (int i = 3; i <= 8; ++i) {
    top[-i] = 0;
  }
  return top - 8;
}

} // namespace ampc::runtime::sim
