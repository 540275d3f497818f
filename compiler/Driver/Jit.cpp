//===- Jit.cpp - A compiled program inside this process -------------------===//
#include "compiler/Driver/Jit.h"

#include "compiler/Driver/WeightSection.h"
#ifdef AMPC_HAS_SIMULATOR
#include "runtime/devices/sim/simulator.h"
#endif
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>

using namespace llvm;
using namespace llvm::orc;

namespace ampc::driver {

namespace {

/// Writes into memory of a known size.
class MemoryStream final : public raw_ostream {
public:
  MemoryStream(char *to, uint64_t size)
      : raw_ostream(/*unbuffered=*/true), to(to), size(size) {}

private:
  void write_impl(const char *from, size_t count) override {
    assert(count <= size - position && "more weights than were announced");
    std::memcpy(to + position, from, count);
    position += count;
  }
  uint64_t current_pos() const override { return position; }

  char *to;
  uint64_t size;
  uint64_t position = 0;
};

} // namespace

LoadedProgram::~LoadedProgram() {
  jit.reset();
  if (weights) {
    munmap(weights, mappedBytes);
  }
}

static Expected<const ampc_program *>
loadObject(std::unique_ptr<LLJIT> &jit, std::unique_ptr<MemoryBuffer> object,
           const CodegenOptions &codegen, const void *weights) {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  Expected<std::unique_ptr<LLJIT>> created = LLJITBuilder().create();
  if (!created) {
    return created.takeError();
  }
  jit = std::move(*created);
  SymbolMap symbols;
  auto define = [&](StringRef name, const void *address) {
    symbols[jit->mangleAndIntern(name)] = {ExecutorAddr::fromPtr(address),
                                           JITSymbolFlags::Exported};
  };
  define(codegen.weightsSymbol, weights);
  define("ampc_cuda_device", &ampc_cuda_device);
  define("ampc_training", &ampc_training);
#ifdef AMPC_HAS_SIMULATOR
  define("ampc_sim_device", &ampc_sim_device);
  for (const auto *symbol = runtime::sim::symbols(); symbol->name; ++symbol) {
    define(symbol->name, symbol->address);
  }
#endif
  if (Error error =
          jit->getMainJITDylib().define(absoluteSymbols(std::move(symbols)))) {
    return error;
  }
  if (Error error = jit->addObjectFile(std::move(object))) {
    return error;
  }
  Expected<ExecutorAddr> address = jit->lookup(codegen.programSymbol);
  if (!address) {
    return address.takeError();
  }
  return address->toPtr<const ampc_program *>();
}

std::unique_ptr<LoadedProgram> LoadedProgram::load(Compilation &compilation) {
  DiagnosticSink &sink = compilation.getSink();
  std::unique_ptr<LoadedProgram> loaded(new LoadedProgram);
  WeightSection section(compilation.getModule());
  // At least one page, so that the symbol has an address.
  loaded->mappedBytes = alignTo(section.getSize() + AMPC_OVERREAD, 4096);
  void *memory = mmap(nullptr, loaded->mappedBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    (void)sink.error(ExitCode::Limit,
                     "cannot map " + Twine(loaded->mappedBytes) +
                         " bytes for weights: " + std::strerror(errno));
    return nullptr;
  }
  loaded->weights = memory;
  MemoryStream stream(static_cast<char *>(memory), loaded->mappedBytes);
  if (failed(compilation.writeWeights(section, stream))) {
    return nullptr;
  }
  mprotect(memory, loaded->mappedBytes, PROT_READ);

  CodegenOptions codegen = compilation.getCodegenOptions();
  SmallVector<char, 0> object;
  raw_svector_ostream os(object);
  if (failed(compilation.emitCode(CodeForm::Object, codegen, os))) {
    return nullptr;
  }
  compilation.getTimer().enter("load");
  auto buffer = std::make_unique<SmallVectorMemoryBuffer>(
      std::move(object), "program", /*RequiresNullTerminator=*/false);
  Expected<const ampc_program *> program =
      loadObject(loaded->jit, std::move(buffer), codegen, memory);
  if (!program) {
    (void)sink.error(ExitCode::Internal, "cannot load the program: " +
                                             toString(program.takeError()));
    return nullptr;
  }
  loaded->program = *program;
  return loaded;
}

} // namespace ampc::driver
