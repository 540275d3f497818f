//===- Verify.cpp - Compare a program's outputs with a data set -----------===//
#include "compiler/Driver/Commands.h"
#include "compiler/Driver/Compilation.h"
#include "compiler/Driver/ProgramRun.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace ampc::driver {

namespace {

/// Runs and compares one data set after the other.
class Verifier {
public:
  Verifier(Compilation &compilation, ProgramRun &program)
      : compilation(compilation), options(compilation.getOptions()),
        sink(compilation.getSink()), run(program),
        program(program.getProgram()) {}

  /// Failure only if the comparison could not be made; mismatches are errors.
  LogicalResult verify(StringRef dataSet);

private:
  LogicalResult compare(StringRef dataSet, uint32_t index,
                        const runtime::Bytes &got);

  Compilation &compilation;
  const Options &options;
  DiagnosticSink &sink;
  ProgramRun &run;
  const ampc_program &program;
};

} // namespace

LogicalResult Verifier::verify(StringRef dataSet) {
  DataSet set;
  std::vector<runtime::Bytes> outputs;
  if (failed(readDataSet(compilation, program, dataSet, set, sink)) ||
      failed(run.run(set, outputs))) {
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
  std::unique_ptr<ProgramRun> program = ProgramRun::create(compilation);
  if (!program) {
    return failure();
  }
  compilation.getTimer().enter("run");
  Verifier verifier(compilation, *program);
  for (const std::string &dataSet : dataSets) {
    if (failed(verifier.verify(dataSet))) {
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
