//===- Verify.cpp - Compare a program's outputs with a data set -----------===//
#include "compiler/Driver/Commands.h"
#include "compiler/Driver/Compilation.h"
#include "compiler/Driver/Jit.h"
#include "compiler/Driver/TensorData.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace ampc::driver {

namespace {

/// A session that ends with its scope.
struct Session {
  ampc_session handle = nullptr;
  ~Session() { ampc_session_destroy(handle); }
};

/// Runs and compares one data set after the other.
class Verifier {
public:
  Verifier(Compilation &compilation, const ampc_program &program)
      : compilation(compilation), options(compilation.getOptions()),
        sink(compilation.getSink()), program(program) {}

  LogicalResult open();
  /// Failure only if the comparison could not be made; mismatches are errors.
  LogicalResult run(StringRef dataSet);

private:
  LogicalResult readInputs(StringRef dataSet,
                           std::vector<runtime::Tensor> &inputs);
  LogicalResult compare(StringRef dataSet, uint32_t index,
                        const runtime::Bytes &got);

  Compilation &compilation;
  const Options &options;
  DiagnosticSink &sink;
  const ampc_program &program;
  Session session;
};

} // namespace

LogicalResult Verifier::open() {
  ampc_session_options sessionOptions;
  ampc_session_options_init(&sessionOptions);
  sessionOptions.num_threads = options.threads;
  // What a kernel forgets to write shows as NaN.
  sessionOptions.debug_arena = 1;
  return reportStatus(runtime::Status(ampc_session_create(
                          &program, &sessionOptions, &session.handle)),
                      sink);
}

LogicalResult Verifier::readInputs(StringRef dataSet,
                                   std::vector<runtime::Tensor> &inputs) {
  // Files count the model's inputs; those bound at compile time are no inputs
  // of the program.
  std::vector<std::string> names = compilation.getGraphInputs();
  for (uint32_t i = 0; i < program.num_inputs; ++i) {
    const ampc_tensor_desc &desc = program.inputs[i];
    size_t index = llvm::find(names, desc.name) - names.begin();
    if (index == names.size()) {
      index = i; // a model given as MLIR
    }
    std::optional<std::string> file = findDataFile(dataSet, "input", index);
    if (!file) {
      return sink.error(ExitCode::InputOutput,
                        "'" + dataSet + "' holds no input_" + Twine(index) +
                            ".pb or .npy for the input '" + desc.name + "'");
    }
    runtime::Tensor tensor;
    runtime::Str note;
    if (failed(readTensor(*file, tensor, sink)) ||
        failed(reportStatus(runtime::convertToInput(desc, &tensor, &note),
                            sink))) {
      return failure();
    }
    inputs.push_back(std::move(tensor));
  }
  return success();
}

LogicalResult Verifier::run(StringRef dataSet) {
  std::vector<runtime::Tensor> inputs;
  if (failed(readInputs(dataSet, inputs))) {
    return failure();
  }
  std::vector<runtime::Bytes> outputs(program.num_outputs);
  SmallVector<const void *> inputPointers;
  SmallVector<void *> outputPointers;
  for (runtime::Tensor &tensor : inputs) {
    inputPointers.push_back(tensor.data.data());
  }
  for (auto [i, bytes] : enumerate(outputs)) {
    uint64_t size = program.outputs[i].bytes;
    if (failed(reportStatus(bytes.allocate(size), sink))) {
      return failure();
    }
    if (size != 0) {
      std::memset(bytes.data(), 0xff, size);
    }
    outputPointers.push_back(bytes.data());
  }
  if (failed(reportStatus(
          runtime::Status(ampc_session_run(session.handle, inputPointers.data(),
                                           outputPointers.data())),
          sink))) {
    return failure();
  }
  for (uint32_t i = 0; i < program.num_outputs; ++i) {
    if (failed(compare(dataSet, i, outputs[i]))) {
      return failure();
    }
  }
  if (findDataFile(dataSet, "output", program.num_outputs)) {
    (void)sink.error(ExitCode::Mismatch,
                     "expected more outputs than the program's " +
                         Twine(program.num_outputs));
  }
  return success();
}

LogicalResult Verifier::compare(StringRef dataSet, uint32_t index,
                                const runtime::Bytes &got) {
  const ampc_tensor_desc &desc = program.outputs[index];
  std::optional<std::string> file = findDataFile(dataSet, "output", index);
  if (!file) {
    return sink.error(ExitCode::InputOutput,
                      "'" + dataSet + "' holds no output_" + Twine(index) +
                          ".pb or .npy for the output '" + desc.name + "'");
  }
  runtime::Tensor expected;
  if (failed(readTensor(*file, expected, sink))) {
    return failure();
  }
  Comparison result =
      compareTensors(desc, got.data(), expected, options.tolerance);
  if (!options.quiet) {
    outs() << formatv("{0}: {1}: max abs {2:e2}, max rel {3:e2}, frobenius "
                      "{4:e2}: {5}\n",
                      dataSet, desc.name, result.maxAbsolute,
                      result.maxRelative, result.frobenius,
                      result.isEqual() ? "ok" : "MISMATCH");
  }
  if (!result.isEqual()) {
    (void)sink.error(ExitCode::Mismatch, result.problem, "", desc.name);
  }
  return success();
}

LogicalResult verifyCommand(const Options &options, DiagnosticSink &sink) {
  std::vector<std::string> dataSets = findDataSets(options.data);
  if (dataSets.empty()) {
    return sink.error(
        ExitCode::InputOutput,
        "'" + options.data +
            "' holds neither input_0 nor output_0 (.pb, .npy), nor "
            "test_data_set_0");
  }
  // A bound input has one value in the program; it comes from the first set.
  Options compileOptions = options;
  compileOptions.data = dataSets.front();
  Compilation compilation(compileOptions, sink);
  if (failed(compilation.open()) || failed(compilation.run(Phase::Memory))) {
    return failure();
  }
  std::unique_ptr<LoadedProgram> program = LoadedProgram::load(compilation);
  if (!program) {
    return failure();
  }
  compilation.getTimer().enter("run");
  Verifier verifier(compilation, program->get());
  if (failed(verifier.open())) {
    return failure();
  }
  for (const std::string &dataSet : dataSets) {
    if (failed(verifier.run(dataSet))) {
      return failure();
    }
  }
  if (options.timeReport) {
    compilation.getTimer().print(errs());
  }
  if (!options.quiet && sink.getNumErrors() == 0) {
    outs() << "verified " << dataSets.size() << " data set"
           << (dataSets.size() == 1 ? "" : "s") << '\n';
  }
  return success();
}

} // namespace ampc::driver
