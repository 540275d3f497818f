//===- ProgramRun.cpp - Run a program inside this process -----------------===//
#include "compiler/Driver/ProgramRun.h"

using namespace llvm;

namespace ampc::driver {

std::unique_ptr<ProgramRun> ProgramRun::create(Compilation &compilation) {
  DiagnosticSink &sink = compilation.getSink();
  std::unique_ptr<ProgramRun> made(new ProgramRun(sink));
  made->program = LoadedProgram::load(compilation);
  if (!made->program) {
    return nullptr;
  }
  ampc_session_options options;
  ampc_session_options_init(&options);
  options.num_threads = compilation.getOptions().threads;
  // What a kernel forgets to write shows as NaN.
  options.debug_arena = 1;
  runtime::Status created(
      ampc_session_create(&made->program->get(), &options, &made->session));
  return failed(reportStatus(created, sink)) ? nullptr : std::move(made);
}

ProgramRun::~ProgramRun() { ampc_session_destroy(session); }

LogicalResult ProgramRun::run(const DataSet &set,
                              std::vector<runtime::Bytes> &outputs) {
  const ampc_program &table = program->get();
  SmallVector<const void *> from;
  SmallVector<void *> to;
  for (const runtime::Tensor &tensor : set.inputs) {
    from.push_back(tensor.data.data());
  }
  outputs.resize(table.num_outputs);
  for (auto [i, bytes] : enumerate(outputs)) {
    uint64_t size = table.outputs[i].bytes;
    if (bytes.size() != size &&
        failed(reportStatus(bytes.allocate(size), sink))) {
      return failure();
    }
    if (size != 0) {
      std::memset(bytes.data(), 0xff, size);
    }
    to.push_back(bytes.data());
  }
  return reportStatus(
      runtime::Status(ampc_session_run(session, from.data(), to.data())), sink);
}

} // namespace ampc::driver
