//===- mma.cpp - mma.sync, ldmatrix, stmatrix -----------------------------===//
#include "runtime/devices/sim/matrix_ops.h"

#include "runtime/devices/sim/meeting.h"
#include "runtime/devices/sim/recording.h"

namespace ampc::runtime::sim {
namespace {

/// An mma.sync of m = 16. Lane l has group l / 4 and pair l % 4. Register r of
/// A holds row group + 8 * (r % 2) and the elements of its pair, from column
/// (r / 2) * perRegister * 4 on; B the same of its columns; C and D rows group
/// and group + 8.
struct Shape {
  uint32_t n, k, perRegister; // elements in a 32-bit register
  uint32_t aRegisters, bRegisters;
};

Shape shapeOf(const ampc_sim_site *site, MatrixType type) {
  Shape shape{site->imm[0] >> 16, site->imm[0] & 0xffff,
              type == MatrixType::tf32 ? 1u : 2u, 0, 0};
  uint32_t perLane = shape.perRegister * 4; // columns of a register's quad
  shape.bRegisters = shape.k / perLane;
  shape.aRegisters = 2 * shape.bRegisters;
  return shape;
}

uint32_t element(uint32_t word, uint32_t index, uint32_t perRegister) {
  return perRegister == 1 ? word : word >> (16 * index) & 0xffff;
}

void gather(MatrixScratch &scratch, const Thread *lanes, const Shape &shape,
            MatrixType type, MatrixType out) {
  scratch.a.special = scratch.b.special = false;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    uint32_t group = lane / 4, pair = lane % 4;
    const auto *words = static_cast<const uint32_t *>(lanes[lane].operands);
    for (uint32_t r = 0; r < shape.aRegisters; ++r) {
      for (uint32_t e = 0; e < shape.perRegister; ++e) {
        uint32_t row = group + 8 * (r % 2);
        uint32_t column = (r / 2 * 4 + pair) * shape.perRegister + e;
        uint32_t bits = element(words[r], e, shape.perRegister);
        uint32_t at = row * shape.k + column;
        scratch.aBits[at] = bits;
        scratch.a.decode(at, type, bits);
      }
    }
    words += shape.aRegisters;
    for (uint32_t r = 0; r < shape.bRegisters; ++r) {
      for (uint32_t e = 0; e < shape.perRegister; ++e) {
        uint32_t row = (r * 4 + pair) * shape.perRegister + e;
        uint32_t bits = element(words[r], e, shape.perRegister);
        uint32_t at = row * shape.n + group;
        scratch.bBits[at] = bits;
        scratch.b.decode(at, type, bits);
      }
    }
    words += shape.bRegisters;
    for (uint32_t i = 0; i < 4; ++i) {
      uint32_t row = group + 8 * (i / 2), column = 2 * pair + i % 2;
      scratch.cd[row * shape.n + column] =
          out == MatrixType::f32 ? words[i] : element(words[i / 2], i % 2, 2);
    }
  }
}

} // namespace

void multiply(Block &block, const MatrixProblem &problem) {
  const MatrixUnit &unit = matrixUnit(block.options().arch);
  Recording *recording = block.options().recording;
  if (!recording) {
    return matrixMultiply(unit, problem);
  }
  uint32_t *before = block.matrices->recorded;
  memcpy(before, problem.cd, sizeof *before * problem.rows * problem.columns);
  matrixMultiply(unit, problem);
  recording->add(problem, before);
}

namespace {

void runMma(Block &block, Thread *lanes, const LaneMeeting &meeting) {
  auto type = static_cast<MatrixType>(meeting.site->imm[1]);
  auto out = static_cast<MatrixType>(meeting.site->imm[2]);
  Shape shape = shapeOf(meeting.site, type);
  MatrixScratch &scratch = *block.matrices;
  gather(scratch, lanes, shape, type, out);
  MatrixProblem problem{
      16,         shape.n,    shape.k,       type,          out,
      &scratch.a, &scratch.b, scratch.aBits, scratch.bBits, scratch.cd};
  multiply(block, problem);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    uint32_t group = lane / 4, pair = lane % 4;
    auto *words = static_cast<uint32_t *>(lanes[lane].result);
    for (uint32_t i = 0; i < 4; ++i) {
      uint32_t row = group + 8 * (i / 2), column = 2 * pair + i % 2;
      uint32_t bits = scratch.cd[row * shape.n + column];
      if (out == MatrixType::f32) {
        words[i] = bits;
      } else if (i % 2 == 0) {
        words[i / 2] = bits;
      } else {
        words[i / 2] |= bits << 16;
      }
    }
  }
  ++block.counters.matrixOps;
}

struct StoreOperands {
  uint8_t *address;
  uint32_t registers[4];
};

/// The address of row `row` of matrix `matrix`, which lane 8 * matrix + row
/// gives, after its checks.
uint8_t *rowAddress(Block &block, Thread &lane, const ampc_sim_site *site,
                    uint32_t use) {
  auto *address = operandsOf<uint8_t *>(lane);
  auto bits = reinterpret_cast<uint64_t>(address);
  block.current = &lane;
  if (!block.inShared(bits)) {
    AMPC_SIM_FATAL(block, Fault::outOfBounds, site, nullptr,
                   "the row address, %s, is not in shared memory",
                   block.describe(bits).c_str());
  }
  if (bits % 16 != 0) {
    AMPC_SIM_FATAL(block, Fault::misaligned, site, nullptr,
                   "the row address %s is not 16-byte aligned",
                   describeShared(block, block.offsetOf(address)).c_str());
  }
  Accessor who{lane.id, lane.id, block.clocks.now(lane.id)};
  if (!block.shadow.access(block, who, block.offsetOf(address), 16, use,
                           site)) {
    block.abandon();
  }
  return address;
}

/// The fragment of an 8x8 matrix that a lane holds: row lane / 4, elements
/// 2 * (lane % 4) and the next; with `transposed`, of the transposed matrix.
void runMatrixMove(Block &block, Thread *lanes, const LaneMeeting &meeting,
                   bool stores) {
  uint32_t matrices = meeting.site->imm[0];
  bool transposed = meeting.site->imm[1];
  ++block.counters.matrixLoads;
  for (uint32_t matrix = 0; matrix < matrices; ++matrix) {
    uint16_t *rows[8];
    uint64_t addresses[8];
    for (uint32_t row = 0; row < 8; ++row) {
      uint8_t *address =
          rowAddress(block, lanes[matrix * 8 + row], meeting.site,
                     stores ? AMPC_SIM_WRITE : AMPC_SIM_READ);
      rows[row] = reinterpret_cast<uint16_t *>(address);
      addresses[row] = reinterpret_cast<uint64_t>(address);
    }
    uint32_t passes = bankPasses(addresses, 8, 16);
    block.counters.bankConflicts += passes - 1;
    if (block.options().traffic) {
      block.traffic.addPasses(meeting.site, passes);
    }
    for (uint32_t lane = 0; lane < 32; ++lane) {
      uint32_t *word =
          stores ? const_cast<uint32_t *>(
                       operandsOf<StoreOperands>(lanes[lane]).registers) +
                       matrix
                 : static_cast<uint32_t *>(lanes[lane].result) + matrix;
      uint32_t row = lane / 4, column = 2 * (lane % 4);
      uint16_t &low = transposed ? rows[column][row] : rows[row][column];
      uint16_t &high =
          transposed ? rows[column + 1][row] : rows[row][column + 1];
      if (stores) {
        low = static_cast<uint16_t>(*word);
        high = static_cast<uint16_t>(*word >> 16);
      } else {
        *word = low | static_cast<uint32_t>(high) << 16;
      }
    }
  }
}

} // namespace
} // namespace ampc::runtime::sim

using namespace ampc::runtime::sim;

void ampc_sim_mma(const ampc_sim_site *site, const void *operands,
                  void *result) {
  meetLanes({site, operands, result}, LaneOp::mma, ~0u, true, runMma);
}

void ampc_sim_ldmatrix(const ampc_sim_site *site, const void *operands,
                       void *result) {
  meetLanes({site, operands, result}, LaneOp::load, ~0u, true,
            [](Block &block, Thread *lanes, const LaneMeeting &meeting) {
              runMatrixMove(block, lanes, meeting, false);
            });
}

void ampc_sim_stmatrix(const ampc_sim_site *site, const void *operands,
                       void *result) {
  meetLanes({site, operands, result}, LaneOp::store, ~0u, true,
            [](Block &block, Thread *lanes, const LaneMeeting &meeting) {
              runMatrixMove(block, lanes, meeting, true);
            });
}
