//===- separate_buffers.cpp - An allocation for each buffer of a program --===//
#include "runtime/devices/sim/separate_buffers.h"

namespace ampc::runtime::sim {

using cuda::Placement;

namespace {

/// A buffer of a node: bytes [begin, end) of its region.
struct Use {
  size_t slot;
  uint64_t begin, end;
  bool isOutput;

  bool overlaps(uint64_t otherBegin, uint64_t otherEnd) const {
    return begin < otherEnd && otherBegin < end;
  }
};

/// The buffers of a node in `region`.
void usesOf(const PlanNode &node, const ampc_gpu_image &image, uint32_t region,
            Vec<Use> *out) {
  const ampc_node &source = *node.source;
  const ampc_gpu_param *params =
      node.kernel ? image.launches[source.kernel].params : nullptr;
  bool isLoop = source.kind == AMPC_NODE_LOOP;
  // The iteration number, whether to go on, the largest number of trips.
  static constexpr uint64_t loopBytes[] = {sizeof(int64_t), 1, sizeof(int64_t)};
  for (uint32_t i = 0; i < source.num_buffers; ++i) {
    const ampc_buffer_ref &ref = source.buffers[i];
    if (ref.region == region) {
      uint64_t bytes = params                        ? params[i].bytes
                       : isLoop                      ? loopBytes[i]
                       : source.kind == AMPC_NODE_IF ? 1
                                                     : source.bytes.fixed;
      bool isOutput = params   ? params[i].is_output != 0
                      : isLoop ? i == 0
                               : i == 1;
      uint64_t begin = ref.offset.fixed;
      out->push({node.firstSlot + i, begin, begin + bytes, isOutput});
    }
  }
}

/// Finds the values of the arena by going through the program in its order:
/// both bodies of an If from the same beginning, that of a Loop until nothing
/// new comes round.
class ArenaValues {
public:
  ArenaValues(const Plan &plan, const ampc_gpu_image &image)
      : plan(plan), image(image) {
    ofSlot.resize(plan.slots.size());
    for (uint32_t &value : ofSlot) {
      value = none;
    }
  }

  void visit(const PlanList &list);
  /// No value of the arena outlives a run.
  void forget() { holdings.resize(0); }
  void finish(Placement *out);

private:
  static constexpr uint32_t none = ~0u;

  /// A value; those that are read together are joined to the first of them.
  struct Value {
    uint64_t begin, end;
    uint32_t joinedTo; // itself, or a lower one
  };
  /// Bytes of the arena that may hold a value at present. Where they overlap,
  /// which one does depends on the way that was taken.
  struct Holding {
    uint64_t begin, end;
    uint32_t value;
  };

  uint32_t root(uint32_t value) const {
    while (values[value].joinedTo != value) {
      value = values[value].joinedTo;
    }
    return value;
  }
  uint32_t join(uint32_t a, uint32_t b);
  void assign(const Use &use, uint32_t value);
  void read(const Use &use);
  void write(const Use &use);
  uint32_t hold(const Use &use);
  void visitUses(const Vec<Use> &uses);
  void visitLoop(const PlanNode &node, const Vec<Use> &uses);
  /// Adds what may be held after another way; false if it was there.
  bool merge(const Vec<Holding> &others);
  Vec<Holding> copyHoldings() const;

  const Plan &plan;
  const ampc_gpu_image &image;
  Vec<Value> values;
  Vec<Holding> holdings;
  Vec<uint32_t> ofSlot;
  uint32_t joins = 0;
};

uint32_t ArenaValues::join(uint32_t a, uint32_t b) {
  a = root(a);
  b = root(b);
  if (a == b) {
    return a;
  }
  ++joins;
  uint32_t first = a < b ? a : b;
  const Value other = values[a < b ? b : a];
  values[a < b ? b : a].joinedTo = first;
  Value &joined = values[first];
  joined.begin = other.begin < joined.begin ? other.begin : joined.begin;
  joined.end = other.end > joined.end ? other.end : joined.end;
  return first;
}

/// In a loop, a slot meets several values.
void ArenaValues::assign(const Use &use, uint32_t value) {
  uint32_t &assigned = ofSlot[use.slot];
  assigned = assigned == none ? value : join(assigned, value);
}

/// The bytes of `use` hold its slot's value, a new one at the first visit.
uint32_t ArenaValues::hold(const Use &use) {
  uint32_t value = ofSlot[use.slot];
  if (value == none) {
    value = static_cast<uint32_t>(values.size());
    values.push({use.begin, use.end, value});
  }
  holdings.push({use.begin, use.end, value});
  return value;
}

void ArenaValues::read(const Use &use) {
  uint64_t begin = use.end, end = use.begin; // what values cover
  bool found = false;
  uint32_t value = 0;
  for (const Holding &holding : holdings) {
    if (use.overlaps(holding.begin, holding.end)) {
      value = found ? join(value, holding.value) : root(holding.value);
      found = true;
    }
  }
  if (found) {
    begin = values[value].begin;
    end = values[value].end;
  }
  if (!found || begin > use.begin || end < use.end) {
    // Bytes that nothing has written; the read of them will be reported.
    uint32_t unwritten = hold(use);
    value = found ? join(value, unwritten) : unwritten;
  }
  assign(use, value);
}

void ArenaValues::write(const Use &use) {
  size_t count = holdings.size();
  for (size_t i = 0; i < count; ++i) {
    Holding &holding = holdings[i];
    if (!use.overlaps(holding.begin, holding.end)) {
      continue;
    }
    Holding behind = {use.end, holding.end, holding.value};
    holding.end = use.begin > holding.begin ? use.begin : holding.begin;
    if (behind.begin < behind.end) {
      holdings.push(behind);
    }
  }
  // Those of no bytes go.
  size_t kept = 0;
  for (const Holding &holding : holdings) {
    if (holding.begin < holding.end) {
      holdings[kept++] = holding;
    }
  }
  holdings.resize(kept);
  assign(use, hold(use));
}

/// The buffers of one node. An output that overlaps an input of the same node
/// is that value, changed in place.
void ArenaValues::visitUses(const Vec<Use> &uses) {
  for (const Use &use : uses) {
    if (!use.isOutput) {
      read(use);
    }
  }
  for (const Use &use : uses) {
    if (!use.isOutput) {
      continue;
    }
    bool inPlace = false;
    for (const Use &input : uses) {
      inPlace |= !input.isOutput && use.overlaps(input.begin, input.end);
    }
    if (inPlace) {
      read(use);
    } else {
      write(use);
    }
  }
}

Vec<ArenaValues::Holding> ArenaValues::copyHoldings() const {
  Vec<Holding> copy;
  for (const Holding &holding : holdings) {
    copy.push(holding);
  }
  return copy;
}

bool ArenaValues::merge(const Vec<Holding> &others) {
  bool added = false;
  for (const Holding &other : others) {
    bool known = false;
    for (const Holding &own : holdings) {
      known |= own.begin <= other.begin && other.end <= own.end &&
               root(own.value) == root(other.value);
    }
    if (!known) {
      holdings.push(other);
      added = true;
    }
  }
  return added;
}

void ArenaValues::visitLoop(const PlanNode &node, const Vec<Use> &uses) {
  bool changed = true;
  while (changed) {
    uint32_t before = joins;
    Vec<Holding> head = copyHoldings();
    visitUses(uses); // as before each iteration, and after the last one
    visit(node.bodies[0]);
    Vec<Holding> tail = std::move(holdings);
    holdings = std::move(head);
    changed = merge(tail) || joins != before;
  }
  visitUses(uses);
}

void ArenaValues::visit(const PlanList &list) {
  for (size_t i = list.first; i < list.first + list.count; ++i) {
    const PlanNode &node = plan.nodes[i];
    Vec<Use> uses;
    usesOf(node, image, AMPC_REGION_ARENA, &uses);
    if (node.source->kind == AMPC_NODE_LOOP) {
      visitLoop(node, uses);
      continue;
    }
    visitUses(uses);
    if (node.source->kind == AMPC_NODE_IF) {
      Vec<Holding> before = copyHoldings();
      visit(node.bodies[0]);
      Vec<Holding> after = std::move(holdings);
      holdings = std::move(before);
      visit(node.bodies[1]);
      merge(after);
    }
  }
}

void ArenaValues::finish(Placement *out) {
  Vec<uint32_t> slices;
  slices.resize(values.size());
  for (uint32_t i = 0; i < values.size(); ++i) {
    if (values[i].joinedTo == i) {
      slices[i] = static_cast<uint32_t>(out->slices.size());
      out->slices.push({AMPC_REGION_ARENA, values[i].begin, values[i].end});
    }
  }
  for (size_t slot = 0; slot < ofSlot.size(); ++slot) {
    if (ofSlot[slot] != none) {
      out->ofSlot[slot] = slices[root(ofSlot[slot])];
    }
  }
}

/// Weights that overlap are one.
void separateWeights(const Vec<Use> &uses, Placement *out) {
  size_t first = out->slices.size();
  for (const Use &use : uses) {
    cuda::Slice slice = {AMPC_REGION_WEIGHTS, use.begin, use.end};
    for (size_t i = first; i < out->slices.size();) {
      cuda::Slice &other = out->slices[i];
      bool same = slice.begin == other.begin && slice.end == other.end;
      if (!same && !use.overlaps(other.begin, other.end)) {
        ++i;
        continue;
      }
      slice.begin = other.begin < slice.begin ? other.begin : slice.begin;
      slice.end = other.end > slice.end ? other.end : slice.end;
      other = out->slices.back();
      out->slices.resize(out->slices.size() - 1);
      i = first; // the wider one may overlap what came before
    }
    out->slices.push(slice);
  }
  for (const Use &use : uses) {
    for (size_t i = first; i < out->slices.size(); ++i) {
      const cuda::Slice &slice = out->slices[i];
      if (slice.begin <= use.begin && use.end <= slice.end) {
        out->ofSlot[use.slot] = static_cast<uint32_t>(i);
      }
    }
  }
}

} // namespace

void separateBuffers(const ampc_program &program, const ampc_gpu_image &image,
                     const Plan &plan, Placement *out) {
  cuda::placeRegions(program, plan, out);
  ArenaValues arena(plan, image);
  for (const PlanEntry &entry : plan.entries) {
    arena.visit(entry.nodes);
    arena.forget();
  }
  Vec<Use> weights;
  for (const PlanNode &node : plan.nodes) {
    usesOf(node, image, AMPC_REGION_WEIGHTS, &weights);
  }
  out->slices[Placement::arena].end = 0;
  out->slices[Placement::weights].end = 0;
  arena.finish(out);
  separateWeights(weights, out);
}

} // namespace ampc::runtime::sim
