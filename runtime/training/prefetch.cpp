//===- prefetch.cpp - Batches gathered ahead, on a thread of their own ----===//
#include "runtime/training/prefetch.h"

#include "runtime/training/clock.h"

#include <signal.h>

namespace ampc::runtime {

Prefetch::~Prefetch() {
  if (running) {
    pthread_mutex_lock(&mutex);
    stopping = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, nullptr);
  }
}

Status Prefetch::start(const Trainer &trainer, const DataSet &from,
                       const RunShape &chosen, const uint64_t *chosenSeed,
                       uint64_t step) {
  data = &from;
  shape = chosen;
  shuffled = chosenSeed != nullptr;
  seed = shuffled ? *chosenSeed : 0;
  firstStep = step;
  for (Slot &slot : slots) {
    AMPC_TRY(slot.batch.allocate(trainer));
  }
  // Signals are for the thread that trains.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  running = pthread_create(&thread, nullptr, threadMain, this) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return running ? Status()
                 : Status::error(AMPC_DEVICE, "cannot start a thread");
}

void *Prefetch::threadMain(void *self) {
  static_cast<Prefetch *>(self)->run();
  return nullptr;
}

bool Prefetch::waitForRoom(int index) {
  pthread_mutex_lock(&mutex);
  while (slots[index].ready && !stopping) {
    pthread_cond_wait(&changed, &mutex);
  }
  bool room = !stopping;
  pthread_mutex_unlock(&mutex);
  return room;
}

Status Prefetch::fill(uint64_t step, uint64_t index, Batch *out) {
  int64_t samples = static_cast<int64_t>(shape.samplesOf(index));
  if (!shuffled) {
    return data->gather(nullptr, index * shape.batch, samples, out);
  }
  uint64_t epoch = shape.epochOf(step);
  if (epoch != orderEpoch) {
    AMPC_TRY(shuffle(shape.rows, seed, epoch, &order));
    orderEpoch = epoch;
  }
  auto *first = reinterpret_cast<const uint64_t *>(order.data());
  return data->gather(first + index * shape.batch, 0, samples, out);
}

void Prefetch::run() {
  int at = 0;
  for (uint64_t step = firstStep; step < shape.steps; ++step) {
    for (uint64_t i = 0; i < shape.batchesOf(step); ++i) {
      if (!waitForRoom(at)) {
        return;
      }
      Slot &slot = slots[at];
      slot.status = fill(step, shape.firstBatch(step) + i, &slot.batch);
      bool failed = !slot.status.ok();
      pthread_mutex_lock(&mutex);
      slot.ready = true;
      pthread_cond_broadcast(&changed);
      pthread_mutex_unlock(&mutex);
      if (failed) {
        return;
      }
      at = (at + 1) % numSlots;
    }
  }
}

Status Prefetch::next(const Batch **out, double *waited) {
  double start = secondsNow();
  pthread_mutex_lock(&mutex);
  if (current >= 0) {
    slots[current].ready = false;
    pthread_cond_broadcast(&changed);
  }
  current = (current + 1) % numSlots;
  while (!slots[current].ready) {
    pthread_cond_wait(&changed, &mutex);
  }
  pthread_mutex_unlock(&mutex);
  *waited += secondsNow() - start;
  AMPC_TRY(std::move(slots[current].status));
  *out = &slots[current].batch;
  return Status();
}

} // namespace ampc::runtime
