//===- OptionValues.cpp - Check and convert the values of options ---------===//
#include "compiler/Driver/OptionValues.h"

#include "compiler/Driver/OptionTable.h"
#include "compiler/Driver/PrecisionPolicy.h"
#include "compiler/Driver/TuningFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Option/Arg.h"
#include "llvm/Option/ArgList.h"

using namespace llvm;
using namespace llvm::opt;

namespace ampc::driver {

namespace {

/// Turns parsed arguments into Options, reporting what has a wrong form.
class OptionReader {
public:
  OptionReader(const InputArgList &args, DiagnosticSink &sink)
      : args(args), sink(sink) {}

  void read(Options &options);

private:
  std::string text(OptSpecifier id, StringRef otherwise = "") {
    return args.getLastArgValue(id, otherwise).str();
  }
  bool has(OptSpecifier id) { return args.hasArg(id); }
  LogicalResult bad(const Arg &arg, const Twine &expected) {
    StringRef spelling = arg.getSpelling();
    spelling.consume_back("=");
    return sink.error(ExitCode::Usage, Twine(spelling) + ": expected " +
                                           expected + ", got '" +
                                           arg.getValue() + "'");
  }
  std::string oneOf(OptSpecifier id, ArrayRef<StringRef> values,
                    StringRef otherwise);
  void readUnsigned(OptSpecifier id, unsigned &value, unsigned lowest,
                    unsigned highest);
  void readDouble(OptSpecifier id, double &value);
  void readSize(OptSpecifier id, std::optional<uint64_t> &value);
  void readEmit(Options &options);
  void readAmp(Options &options);
  void readPrecisions(Options &options);
  void readPolicyFile(Options &options);
  void addRules(OptSpecifier id, StringRef type,
                std::vector<std::string> &rules);
  void readTarget(Options &options);
  void readShapes(Options &options);
  void readDimParams(Options &options);
  void readBindings(Options &options);
  void readMaxError(Tolerance &tolerance);

  const InputArgList &args;
  DiagnosticSink &sink;
};

} // namespace

std::string OptionReader::oneOf(OptSpecifier id, ArrayRef<StringRef> values,
                                StringRef otherwise) {
  const Arg *arg = args.getLastArg(id);
  if (!arg) {
    return otherwise.str();
  }
  std::string value = StringRef(arg->getValue()).lower();
  if (!is_contained(values, value)) {
    (void)bad(*arg, "one of " + join(values, ", "));
  }
  return value;
}

void OptionReader::readUnsigned(OptSpecifier id, unsigned &value,
                                unsigned lowest, unsigned highest) {
  const Arg *arg = args.getLastArg(id);
  if (!arg) {
    return;
  }
  if (StringRef(arg->getValue()).getAsInteger(10, value) || value < lowest ||
      value > highest) {
    (void)bad(*arg, "a number from " + Twine(lowest) + " to " + Twine(highest));
  }
}

void OptionReader::readDouble(OptSpecifier id, double &value) {
  const Arg *arg = args.getLastArg(id);
  if (!arg) {
    return;
  }
  if (!to_float(StringRef(arg->getValue()), value) || !(value >= 0)) {
    (void)bad(*arg, "a number that is not negative");
  }
}

void OptionReader::readSize(OptSpecifier id, std::optional<uint64_t> &value) {
  const Arg *arg = args.getLastArg(id);
  if (!arg) {
    return;
  }
  value = parseSize(arg->getValue());
  if (!value) {
    (void)bad(*arg, "a size such as 4096, 512M or 8G");
  }
}

void OptionReader::readEmit(Options &options) {
  const Arg *named = args.getLastArg(OPT_emit);
  if (named && StringRef(named->getValue()).lower() == "cuda") {
    (void)sink.error(ExitCode::Usage,
                     "--emit=cuda: kernels are made as PTX, by MLIR and LLVM; "
                     "there is no CUDA C++ of them",
                     "--emit=kernels writes PTX, cubins and C headers for "
                     "cuLaunchKernel; --emit=ptx the PTX alone");
    return;
  }
  std::string emit = oneOf(OPT_emit,
                           {"exe", "lib", "obj", "kernels", "onnx", "mlir",
                            "llvm", "asm", "ptx", "cubin"},
                           "exe");
  options.emit = StringSwitch<EmitKind>(emit)
                     .Case("lib", EmitKind::Lib)
                     .Case("obj", EmitKind::Obj)
                     .Case("kernels", EmitKind::Kernels)
                     .Case("onnx", EmitKind::Onnx)
                     .Case("mlir", EmitKind::Mlir)
                     .Case("llvm", EmitKind::Llvm)
                     .Case("asm", EmitKind::Asm)
                     .Case("ptx", EmitKind::Ptx)
                     .Case("cubin", EmitKind::Cubin)
                     .Default(EmitKind::Exe);
  bool isTraining = has(OPT_train);
  StringRef phases = isTraining
                         ? "import, graph, precision, training, fusion, memory"
                         : "import, graph, precision, fusion, memory";
  auto isPhase = [&](std::optional<Phase> phase) {
    return phase && (isTraining || *phase != Phase::Training);
  };
  if (const Arg *arg = args.getLastArg(OPT_compile_from)) {
    options.compileFrom = symbolizePhase(arg->getValue());
    if (!isPhase(options.compileFrom) ||
        *options.compileFrom == Phase::Codegen) {
      (void)bad(*arg, "one of " + phases);
    }
  }
  const Arg *arg = args.getLastArg(OPT_compile_to);
  if (!arg) {
    return;
  }
  options.compileTo = symbolizePhase(arg->getValue());
  if (!isPhase(options.compileTo)) {
    (void)bad(*arg, "one of " + phases + ", codegen");
  } else if (*options.compileTo != Phase::Codegen) {
    if (has(OPT_emit) && options.emit != EmitKind::Mlir) {
      (void)sink.error(ExitCode::Usage, Twine("--emit=") + emit +
                                            " needs the phase codegen, but "
                                            "--compile-to=" +
                                            stringifyPhase(*options.compileTo) +
                                            " stops before it");
    }
    options.emit = EmitKind::Mlir;
  }
}

void OptionReader::readAmp(Options &options) {
  static constexpr StringRef policies[] = {
      "auto", "off", "fp16", "bf16", "tf32", "pure-fp16", "pure-bf16"};
  std::string lowType = oneOf(OPT_low_precision_type, {"fp16", "bf16"}, "auto");
  const Arg *arg = args.getLastArg(OPT_amp);
  if (!arg || options.command != Command::Bench) {
    options.amp = oneOf(OPT_amp, policies, lowType);
    bool isOpen = !arg && !has(OPT_low_precision_type) &&
                  !has(OPT_precision_policy) && !has(OPT_profile);
    if (options.command == Command::Bench && has(OPT_train) && isOpen) {
      options.amp = "off,fp16,bf16";
    }
    return;
  }
  // bench compares several.
  options.amp = StringRef(arg->getValue()).lower();
  for (StringRef amp : split(options.amp, ',')) {
    if (!is_contained(policies, amp)) {
      (void)bad(*arg, "some of " + llvm::join(llvm::ArrayRef(policies), ", "));
    }
  }
}

/// Adds a rule for each item of a list, all of one type unless that is empty
/// and the items name their own.
void OptionReader::addRules(OptSpecifier id, StringRef type,
                            std::vector<std::string> &rules) {
  for (const Arg *arg : args.filtered(id)) {
    for (StringRef item : split(arg->getValue(), ',')) {
      item = item.trim();
      if (type.empty() && !item.contains(':')) {
        (void)bad(*arg, "a list of NAME:TYPE");
        return;
      }
      rules.push_back(type.empty() ? item.str() : (item + ":" + type).str());
    }
  }
}

void OptionReader::readPrecisions(Options &options) {
  options.constants = oneOf(OPT_constants, {"fp32", "saturate"}, "fp32");
  options.normOutput = oneOf(OPT_norm_output, {"follow", "fp32"}, "follow");
  options.fp32Contractions =
      oneOf(OPT_fp32_contractions, {"ieee", "tf32"}, "ieee");
  readPolicyFile(options);
  StringRef low = StringRef(options.amp).ends_with("fp16") ? "fp16" : "bf16";
  addRules(OPT_nodes_to_include, low, options.layerPrecisions);
  addRules(OPT_nodes_to_exclude, "fp32", options.layerPrecisions);
  addRules(OPT_layer_precisions, "", options.layerPrecisions);
  addRules(OPT_op_types_to_include, low, options.opPrecisions);
  addRules(OPT_op_types_to_exclude, "fp32", options.opPrecisions);
  addRules(OPT_op_precisions, "", options.opPrecisions);
}

/// Takes from the policy file what the command line does not say itself.
void OptionReader::readPolicyFile(Options &options) {
  const Arg *arg = args.getLastArg(OPT_precision_policy);
  if (!arg) {
    return;
  }
  std::optional<PrecisionPolicy> policy =
      readPrecisionPolicy(arg->getValue(), sink);
  if (!policy) {
    return;
  }
  options.precisionPolicy = arg->getValue();
  options.policyLayers = std::move(policy->layers);
  options.policyOps = std::move(policy->ops);
  options.policyDefault = policy->defaultType;
  options.precisionCertificate = std::move(policy->certificate);
  if (!has(OPT_constants) && !policy->constants.empty()) {
    options.constants = policy->constants;
  }
  if (!has(OPT_norm_output) && !policy->normOutput.empty()) {
    options.normOutput = policy->normOutput;
  }
  StringRef amp = options.amp;
  auto contradicts = [&](const Twine &what) {
    (void)sink.error(ExitCode::Usage, "--amp=" + amp +
                                          " contradicts \"default\": \"" +
                                          options.policyDefault + "\" of '" +
                                          options.precisionPolicy + "'" + what);
  };
  if (options.policyDefault == "autocast") {
    if (amp == "auto") {
      options.amp = "bf16";
    } else if (amp == "off" || amp == "tf32" || amp.starts_with("pure-")) {
      contradicts(", which needs --amp=fp16 or bf16");
    }
  } else if (options.policyDefault == "fp32") {
    if (amp.starts_with("pure-")) {
      contradicts("");
    }
  } else if (!options.policyDefault.empty()) {
    if (amp != "auto" && !amp.ends_with(options.policyDefault)) {
      contradicts("");
    }
    options.amp = "pure-" + options.policyDefault;
  }
}

/// Once the types are known: a named chip must have them.
void OptionReader::readTarget(Options &options) {
  options.target =
      oneOf(OPT_target, {"cpu", "cuda"},
            has(OPT_cuda_arch) || has(OPT_simulate) || options.inspectKernels
                ? "cuda"
                : "cpu");
  options.simulate = has(OPT_simulate);
  if (options.simulate && options.target == "cpu") {
    (void)sink.error(ExitCode::Usage,
                     "--simulate does not apply to --target=cpu");
  }
  for (const Arg *arg : args.filtered(OPT_cuda_arch)) {
    if (options.target == "cpu") {
      (void)sink.error(ExitCode::Usage,
                       "--cuda-arch does not apply to --target=cpu");
    }
    for (StringRef name : split(arg->getValue(), ',')) {
      options.cudaArchs.push_back(name.trim().str());
    }
  }
  if (options.target != "cuda") {
    bool needsCuda = options.emit == EmitKind::Ptx ||
                     options.emit == EmitKind::Cubin ||
                     options.emit == EmitKind::Kernels;
    if (needsCuda) {
      (void)sink.error(ExitCode::Usage,
                       "--emit=" + text(OPT_emit) + " needs --target=cuda");
    } else if (options.inspectKernels) {
      (void)sink.error(ExitCode::Usage, "--kernels needs --target=cuda");
    }
    return;
  }
  if (options.emit == EmitKind::Cubin && options.cudaArchs.size() != 1) {
    (void)sink.error(ExitCode::Usage,
                     "--emit=cubin is code of one architecture; expected "
                     "--cuda-arch=NAME");
  }
  (void)checkCudaArchs(options, sink);
}

void OptionReader::readShapes(Options &options) {
  for (const Arg *arg : args.filtered(OPT_shapes)) {
    for (StringRef item : split(arg->getValue(), ',')) {
      // Names may hold colons (`input:0`); shapes do not.
      auto [name, text] = item.rsplit(':');
      SmallVector<int64_t> dims;
      bool isGood = item.contains(':') && !name.empty();
      if (!text.empty() && text != "scalar") {
        for (StringRef dim : split(text, 'x')) {
          int64_t value = -1;
          isGood &= !dim.getAsInteger(10, value) && value >= 0;
          dims.push_back(value);
        }
      }
      if (!isGood) {
        (void)bad(*arg, "NAME:1x3x224x224,...");
        return;
      }
      options.shapes.emplace_back(name.str(), std::move(dims));
    }
  }
}

void OptionReader::readDimParams(Options &options) {
  for (const Arg *arg : args.filtered(OPT_dim_params)) {
    for (StringRef item : split(arg->getValue(), ',')) {
      auto [name, text] = item.rsplit('=');
      int64_t value;
      if (name.empty() || text.getAsInteger(10, value) || value < 0) {
        (void)bad(*arg, "NAME=SIZE,...");
        return;
      }
      options.dimParams.emplace_back(name.str(), value);
    }
  }
}

void OptionReader::readBindings(Options &options) {
  for (const Arg *arg : args.filtered(OPT_bind_input)) {
    auto [name, file] = StringRef(arg->getValue()).split("=@");
    bool hasSource = !file.empty() || options.command == Command::Verify;
    if (name.empty() || !hasSource) {
      (void)bad(*arg, "NAME=@FILE");
      continue;
    }
    options.bindings.push_back({name.str(), file.str()});
  }
}

void OptionReader::readMaxError(Tolerance &tolerance) {
  std::string fallback =
      oneOf(OPT_metric, {"rel", "frobenius", "max", "cosine", "top1"}, "rel");
  const Arg *arg = args.getLastArg(OPT_max_error);
  if (!arg) {
    return;
  }
  StringRef value = arg->getValue();
  auto [name, text] = value.contains(':')
                          ? value.split(':')
                          : std::pair(StringRef(fallback), value);
  std::optional<tune::Metric> metric = tune::symbolizeMetric(name);
  double number;
  if (!metric || !to_float(text, number) || !(number >= 0)) {
    (void)bad(*arg, "METRIC:VALUE with rel, max, cosine or top1 and a number "
                    "that is not negative");
    return;
  }
  tolerance.bound = {*metric, number};
}

void OptionReader::read(Options &options) {
  options.output = text(OPT_output);
  readEmit(options);
  options.dumpPhasesTo = text(OPT_dump_phases_to);
  options.saveTemps = text(OPT_save_temps);
  std::optional<uint64_t> elide = options.elideAbove;
  readSize(OPT_elide_above, elide);
  options.elideAbove = elide.value_or(0);

  options.march = text(OPT_march, "native");
  readUnsigned(OPT_opt_level, options.optLevel, 0, 3);
  readUnsigned(OPT_jobs, options.jobs, 1, 1024);

  readAmp(options);
  readPrecisions(options);
  options.calibrate = has(OPT_calibrate);
  options.strictRounding = has(OPT_strict_rounding);
  options.keepsIoTypes =
      oneOf(OPT_keep_io_types_is, {"true", "false"}, "true") == "true";
  if (!options.keepsIoTypes && options.emit != EmitKind::Onnx) {
    (void)sink.error(ExitCode::Usage,
                     "--keep-io-types=false needs --emit=onnx: a program's "
                     "inputs and outputs have the types of the model");
  }
  options.precisionReport = text(OPT_precision_report);
  options.inspectKernels = has(OPT_kernels);
  options.gpu = text(OPT_gpu);
  readTarget(options);
  readCacheOptions(args, options, sink);
  if (const Arg *arg = args.getLastArg(OPT_tuning_file)) {
    options.contractionRules = readTuningFile(arg->getValue(), sink)
                                   .value_or(std::vector<ContractionRule>());
  }

  readTrainingOptions(args, options, sink);

  readShapes(options);
  readDimParams(options);
  readBindings(options);
  readSize(OPT_max_nodes, options.maxNodes);

  readSize(OPT_memory_limit, options.memoryLimit);
  readSize(OPT_weight_limit, options.weightLimit);
  options.memoryReport = text(OPT_memory_report);
  options.externalWeights = text(OPT_external_weights, "auto");

  options.data = text(OPT_data);
  options.heldOut = text(OPT_held_out);
  readUnsigned(OPT_tune_trials, options.tuneTrials, 1, 1u << 20);
  if (has(OPT_steps)) {
    readUnsigned(OPT_steps, options.benchSteps.emplace(), 1, 1u << 20);
  }
  readUnsigned(OPT_seed, options.seed, 0, ~0u);
  std::optional<uint64_t> traceMemory = options.traceMemory;
  readSize(OPT_trace_memory, traceMemory);
  options.traceMemory = traceMemory.value_or(0);
  options.worstFirst = has(OPT_worst_first);
  options.suite = text(OPT_suite);
  readUnsigned(OPT_suite_timeout, options.suiteTimeout, 1, 86400);
  readDouble(OPT_rtol, options.tolerance.rtol);
  readDouble(OPT_atol, options.tolerance.atol);
  readMaxError(options.tolerance);
  readUnsigned(OPT_threads, options.threads, 1, 1024);

  options.unsupportedOnly = has(OPT_unsupported);
  options.json = has(OPT_json);
  options.diagnostics =
      oneOf(OPT_diagnostics, {"text", "json"}, "text") == "json"
          ? DiagnosticForm::Json
          : DiagnosticForm::Text;
  options.timeReport = has(OPT_time_report);
  options.mlirTiming = has(OPT_mlir_timing);
  options.remarks = text(OPT_remarks);
  options.verifyEach = has(OPT_verify_each);
  options.printIr = has(OPT_print_ir);
  options.quiet = has(OPT_quiet);
  options.verbose = has(OPT_verbose);
  options.help = has(OPT_help);
  options.helpAll = has(OPT_help_all);
  options.version = has(OPT_version);
  options.generate = oneOf(OPT_generate, {"man", "bash", "zsh", "fish"}, "");
}

void readOptionValues(const InputArgList &args, Options &options,
                      DiagnosticSink &sink) {
  OptionReader(args, sink).read(options);
}

} // namespace ampc::driver
