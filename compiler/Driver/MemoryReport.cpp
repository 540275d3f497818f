//===- MemoryReport.cpp - The static memory plan, for people and tools ----===//
#include "compiler/Driver/MemoryReport.h"

#include "compiler/Driver/ModelFacts.h"
#include "dialects/Amp/IR/AmpOps.h"
#include "dialects/Rt/IR/RtDialect.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using namespace mlir;

namespace ampc::driver {

namespace {

struct Step {
  StringRef label, kernel;
  SmallVector<std::pair<rt::BufferAttr, uint64_t>> buffers; ///< with bytes
  unsigned numOutputs = 0; ///< the last of the buffers
  uint64_t arenaEnd = 0;   ///< end of its last arena buffer
};

/// The nodes of the program itself, or of an entry.
struct StepList {
  StringRef name; ///< empty for the program itself
  std::vector<Step> steps;
  uint64_t inputBytes = 0, outputBytes = 0;
  uint64_t savedBytes = 0; ///< of the arena, from forward to backward
};

} // namespace

/// The steps of a list; kernels tell the sizes of their buffers.
static std::vector<Step> collectSteps(const SymbolTable &symbols,
                                      Block &block) {
  std::vector<Step> steps;
  auto add = [](Step &step, rt::BufferAttr buffer, uint64_t bytes) {
    step.buffers.emplace_back(buffer, bytes);
    if (buffer.getRegion() == rt::BufferRegion::Arena) {
      step.arenaEnd = std::max<uint64_t>(step.arenaEnd,
                                         buffer.getOffset().getFixed() + bytes);
    }
  };
  for (Operation &op : block) {
    Step step;
    if (auto launch = dyn_cast<rt::LaunchOp>(op)) {
      step.label = launch.getLabel();
      step.kernel = launch.getKernel();
      auto kernel = symbols.lookup<amp::KernelOp>(launch.getKernel());
      SmallVector<Type> types;
      if (kernel) {
        append_range(types, kernel.getArgumentTypes());
        append_range(types, kernel.getResultTypes());
        step.numOutputs = kernel.getResultTypes().size();
      }
      for (auto [i, attr] : enumerate(launch.getBuffers())) {
        add(step, cast<rt::BufferAttr>(attr),
            i < types.size() ? countBytes(types[i]) : 0);
      }
    } else if (auto copy = dyn_cast<rt::CopyOp>(op)) {
      step.label = copy.getLabel();
      step.kernel = "copy";
      step.numOutputs = 1;
      uint64_t bytes = copy.getBytes().getFixed();
      add(step, copy.getSource(), bytes);
      add(step, copy.getTarget(), bytes);
    } else {
      continue;
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

static uint64_t sumBytes(ArrayAttr types) {
  uint64_t bytes = 0;
  for (Attribute type : types) {
    bytes += countBytes(cast<TypeAttr>(type).getValue());
  }
  return bytes;
}

/// Bytes of the arena that the forward steps write and later ones read: what
/// is kept for the gradients. Backward begins with the first step that computes
/// a gradient.
static uint64_t countSavedBytes(ArrayRef<Step> steps) {
  auto isBackward = [](const Step &step) {
    return step.label.contains("gradient of ");
  };
  size_t boundary = find_if(steps, isBackward) - steps.begin();
  MapVector<int64_t, uint64_t> saved; // offset to bytes
  llvm::DenseSet<int64_t> overwritten;
  for (const Step &step : steps.drop_front(boundary)) {
    size_t numInputs = step.buffers.size() - step.numOutputs;
    for (auto [i, use] : enumerate(step.buffers)) {
      auto [buffer, bytes] = use;
      int64_t offset = buffer.getOffset().getFixed();
      if (buffer.getRegion() != rt::BufferRegion::Arena) {
        continue;
      }
      if (i >= numInputs) {
        overwritten.insert(offset);
      } else if (!overwritten.contains(offset)) {
        saved[offset] = std::max(saved[offset], bytes);
      }
    }
  }
  uint64_t sum = 0;
  for (auto [offset, bytes] : saved) {
    sum += bytes;
  }
  return boundary == steps.size() ? 0 : sum;
}

static std::vector<StepList> collectLists(ModuleOp module,
                                          rt::ProgramOp program) {
  SymbolTable symbols(module);
  std::vector<StepList> lists;
  auto add = [&](StringRef name, Block &block, ArrayAttr inputs,
                 ArrayAttr outputs) {
    StepList list{name, collectSteps(symbols, block), sumBytes(inputs),
                  sumBytes(outputs)};
    list.savedBytes = countSavedBytes(list.steps);
    lists.push_back(std::move(list));
  };
  add("", program.getBody().front(), program.getInputTypes(),
      program.getOutputTypes());
  for (auto entry : program.getBody().getOps<rt::EntryOp>()) {
    add(entry.getName(), entry.getBody().front(), entry.getInputTypes(),
        entry.getOutputTypes());
  }
  return lists;
}

/// Bytes of the states of each role, gradients apart from the rest of what is
/// transient.
static SmallVector<std::pair<StringRef, uint64_t>>
sumStates(rt::ProgramOp program) {
  SmallVector<std::pair<StringRef, uint64_t>> sums = {
      {"parameters", 0}, {"statistics", 0}, {"moments", 0},
      {"control", 0},    {"transient", 0},  {"gradients", 0}};
  for (auto state : program.getBody().getOps<rt::StateOp>()) {
    bool isGradient = state.getRole() == train::Role::Transient &&
                      state.getName().ends_with(".gradient");
    auto row = isGradient ? 5u : static_cast<unsigned>(state.getRole());
    sums[row].second += countBytes(state.getType());
  }
  return sums;
}

static void printSteps(json::OStream &out, ArrayRef<Step> steps) {
  out.attributeArray("steps", [&] {
    for (const Step &step : steps) {
      out.object([&] {
        out.attribute("label", json::fixUTF8(step.label));
        out.attribute("kernel", step.kernel);
        out.attributeArray("buffers", [&] {
          for (const auto &[buffer, bytes] : step.buffers) {
            out.object([&] {
              out.attribute("region",
                            rt::stringifyBufferRegion(buffer.getRegion()));
              out.attribute("index", buffer.getIndex());
              out.attribute("offset", buffer.getOffset().getFixed());
              out.attribute("bytes", bytes);
            });
          }
        });
      });
    }
  });
}

static void printJson(rt::ProgramOp program, ArrayRef<StepList> lists,
                      raw_ostream &os) {
  json::OStream out(os, 2);
  out.object([&] {
    out.attribute("arena_bytes", program.getArena().getFixed());
    out.attribute("weight_bytes", program.getWeights().getFixed());
    out.attribute("input_bytes", lists.front().inputBytes);
    out.attribute("output_bytes", lists.front().outputBytes);
    if (program.getStateBytes()) {
      out.attribute("constant_bytes", *program.getConstantBytes());
      out.attribute("state_bytes", *program.getStateBytes());
      out.attributeObject("states", [&] {
        for (auto [role, bytes] : sumStates(program)) {
          out.attribute(role, bytes);
        }
      });
    }
    printSteps(out, lists.front().steps);
    if (lists.size() > 1) {
      out.attributeArray("entries", [&] {
        for (const StepList &list : lists.drop_front()) {
          out.object([&] {
            out.attribute("name", list.name);
            out.attribute("input_bytes", list.inputBytes);
            out.attribute("output_bytes", list.outputBytes);
            out.attribute("saved_bytes", list.savedBytes);
            printSteps(out, list.steps);
          });
        }
      });
    }
  });
  os << '\n';
}

static void printTable(rt::ProgramOp program, ArrayRef<StepList> lists,
                       raw_ostream &os) {
  auto line = [&](StringRef what, uint64_t bytes) {
    os << format("%-12s %14llu bytes\n", what.str().c_str(),
                 static_cast<unsigned long long>(bytes));
  };
  line("activations", program.getArena().getFixed());
  for (const StepList &list : lists) {
    if (list.savedBytes != 0) {
      line("  kept", list.savedBytes);
    }
  }
  uint64_t constants =
      program.getConstantBytes().value_or(program.getWeights().getFixed());
  line("weights", constants);
  if (program.getStateBytes()) {
    line("state", *program.getStateBytes());
    for (auto [role, bytes] : sumStates(program)) {
      line(("  " + role).str(), bytes);
    }
  }
  line("inputs", lists.front().inputBytes);
  line("outputs", lists.front().outputBytes);
  for (const StepList &list : lists) {
    os << "\n   arena up to  step";
    os << (list.name.empty() ? "" : " of ") << list.name << '\n';
    for (const Step &step : list.steps) {
      os << format("%14llu  ", static_cast<unsigned long long>(step.arenaEnd))
         << step.label << " (" << step.kernel << ")\n";
    }
  }
}

void printMemoryReport(ModuleOp module, raw_ostream &os, bool json) {
  for (auto program : module.getOps<rt::ProgramOp>()) {
    std::vector<StepList> lists = collectLists(module, program);
    if (json) {
      printJson(program, lists, os);
    } else {
      printTable(program, lists, os);
    }
  }
}

} // namespace ampc::driver
