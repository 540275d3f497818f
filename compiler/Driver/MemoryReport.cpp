//===- MemoryReport.cpp - The static memory plan, for people and tools ----===//
#include "compiler/Driver/MemoryReport.h"

#include "dialects/Amp/IR/AmpOps.h"
#include "dialects/Rt/IR/RtDialect.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using namespace mlir;

namespace ampc::driver {

static uint64_t getBytes(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  unsigned width = divideCeil(tensor.getElementTypeBitWidth(), 8);
  return static_cast<uint64_t>(tensor.getNumElements()) * width;
}

namespace {

struct Step {
  StringRef label, kernel;
  SmallVector<std::pair<rt::BufferAttr, uint64_t>> buffers; ///< with bytes
  uint64_t arenaEnd = 0; ///< end of its last arena buffer
};

} // namespace

/// The steps of a program; kernels tell the sizes of their buffers.
static std::vector<Step> collectSteps(ModuleOp module, rt::ProgramOp program) {
  SymbolTable symbols(module);
  std::vector<Step> steps;
  auto add = [](Step &step, rt::BufferAttr buffer, uint64_t bytes) {
    step.buffers.emplace_back(buffer, bytes);
    if (buffer.getRegion() == rt::BufferRegion::Arena) {
      step.arenaEnd = std::max<uint64_t>(step.arenaEnd,
                                         buffer.getOffset().getFixed() + bytes);
    }
  };
  for (Operation &op : program.getBody().front()) {
    Step step;
    if (auto launch = dyn_cast<rt::LaunchOp>(op)) {
      step.label = launch.getLabel();
      step.kernel = launch.getKernel();
      auto kernel = symbols.lookup<amp::KernelOp>(launch.getKernel());
      SmallVector<Type> types;
      if (kernel) {
        append_range(types, kernel.getArgumentTypes());
        append_range(types, kernel.getResultTypes());
      }
      for (auto [i, attr] : enumerate(launch.getBuffers())) {
        add(step, cast<rt::BufferAttr>(attr),
            i < types.size() ? getBytes(types[i]) : 0);
      }
    } else if (auto copy = dyn_cast<rt::CopyOp>(op)) {
      step.label = copy.getLabel();
      step.kernel = "copy";
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
    bytes += getBytes(cast<TypeAttr>(type).getValue());
  }
  return bytes;
}

static void printJson(rt::ProgramOp program, ArrayRef<Step> steps,
                      raw_ostream &os) {
  json::OStream out(os, 2);
  out.object([&] {
    out.attribute("arena_bytes", program.getArena().getFixed());
    out.attribute("weight_bytes", program.getWeights().getFixed());
    out.attribute("input_bytes", sumBytes(program.getInputTypes()));
    out.attribute("output_bytes", sumBytes(program.getOutputTypes()));
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
  });
  os << '\n';
}

static void printTable(rt::ProgramOp program, ArrayRef<Step> steps,
                       raw_ostream &os) {
  auto line = [&](StringRef what, uint64_t bytes) {
    os << format("%-12s %14llu bytes\n", what.str().c_str(),
                 static_cast<unsigned long long>(bytes));
  };
  line("activations", program.getArena().getFixed());
  line("weights", program.getWeights().getFixed());
  line("inputs", sumBytes(program.getInputTypes()));
  line("outputs", sumBytes(program.getOutputTypes()));
  os << "\n   arena up to  step\n";
  for (const Step &step : steps) {
    os << format("%14llu  ", static_cast<unsigned long long>(step.arenaEnd))
       << step.label << " (" << step.kernel << ")\n";
  }
}

void printMemoryReport(ModuleOp module, raw_ostream &os, bool json) {
  for (auto program : module.getOps<rt::ProgramOp>()) {
    std::vector<Step> steps = collectSteps(module, program);
    if (json) {
      printJson(program, steps, os);
    } else {
      printTable(program, steps, os);
    }
  }
}

} // namespace ampc::driver
