//===- sampler.cpp - In which order samples are seen ----------------------===//
#include "runtime/training/sampler.h"

namespace ampc::runtime {
namespace {

uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

class Random {
public:
  /// Epochs of one seed, and seeds, are as unlike as any two states.
  Random(uint64_t seed, uint64_t epoch)
      : state(mix(mix(seed + increment) + epoch)) {}

  /// A number in [0, bound), each as likely as the others.
  uint64_t below(uint64_t bound) {
    unsigned __int128 wide = product(bound);
    if (static_cast<uint64_t>(wide) < bound) {
      uint64_t rest = -bound % bound;
      while (static_cast<uint64_t>(wide) < rest) {
        wide = product(bound);
      }
    }
    return static_cast<uint64_t>(wide >> 64);
  }

private:
  static constexpr uint64_t increment = 0x9e3779b97f4a7c15ull;

  unsigned __int128 product(uint64_t bound) {
    return static_cast<unsigned __int128>(mix(state += increment)) * bound;
  }

  uint64_t state;
};

} // namespace

Status planRun(uint64_t epochs, uint64_t steps, RunShape *shape) {
  if (shape->batchesPerEpoch() == 0) {
    return Status::error(AMPC_INVALID,
                         "the data set has %llu samples, fewer than a batch of "
                         "%llu; --last-batch=pad fills it up",
                         static_cast<unsigned long long>(shape->rows),
                         static_cast<unsigned long long>(shape->batch));
  }
  shape->steps = steps;
  uint64_t whole;
  if (epochs && mulOverflow(epochs, shape->stepsPerEpoch(), &whole)) {
    return Status::error(AMPC_LIMIT, "too many updates");
  }
  if (epochs && (steps == 0 || whole < steps)) {
    shape->steps = whole;
  }
  // The state counts updates in 32 bits.
  return shape->steps <= INT32_MAX
             ? Status()
             : Status::error(AMPC_LIMIT,
                             "expected at most %d updates, got %llu", INT32_MAX,
                             static_cast<unsigned long long>(shape->steps));
}

Status shuffle(uint64_t rows, uint64_t seed, uint64_t epoch, Bytes *outOrder) {
  uint64_t bytes;
  if (mulOverflow<uint64_t>(rows, sizeof(uint64_t), &bytes)) {
    return Status::error(AMPC_LIMIT, "too many samples");
  }
  if (outOrder->size() != bytes) {
    AMPC_TRY(outOrder->allocate(bytes));
  }
  auto *order = reinterpret_cast<uint64_t *>(outOrder->data());
  Random random(seed, epoch);
  for (uint64_t i = 0; i < rows; ++i) {
    uint64_t j = random.below(i + 1);
    order[i] = order[j];
    order[j] = i;
  }
  return Status();
}

} // namespace ampc::runtime
