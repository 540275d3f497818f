//===- Options.td - The command line of ampc ------------------------------===//
include "llvm/Option/OptParser.td"

// The commands an option belongs to.
def CompileVis : OptionVisibility; // ampc MODEL -o OUT
def RunVis : OptionVisibility;
def VerifyVis : OptionVisibility;
def BenchVis : OptionVisibility;
def ExplainVis : OptionVisibility;
def InspectVis : OptionVisibility;
def OpsVis : OptionVisibility;
def DevicesVis : OptionVisibility;
def CompareVis : OptionVisibility;
def TuneVis : OptionVisibility;

// Shown by --help; the others by --help-all.
def CommonOption : OptionFlag;
// Passed on to the command line of the compiled program.
def ProgramOption : OptionFlag;

defvar compile = [CompileVis];
defvar compiling = [CompileVis, RunVis, VerifyVis, BenchVis, ExplainVis, CompareVis, TuneVis];
// Also `ampc inspect --kernels MODEL`.
defvar emitting = !listconcat(compiling, [InspectVis]);
defvar reading = !listconcat(compiling, [InspectVis, OpsVis]);
defvar everything = !listconcat(reading, [DevicesVis]);
defvar run = [RunVis];
defvar verify = [VerifyVis];
defvar training = [CompileVis, ExplainVis, InspectVis, BenchVis];
defvar bench = [BenchVis];
defvar measuring = [CompileVis, CompareVis, TuneVis];

def group_output : OptionGroup<"Output">;
def group_target : OptionGroup<"Target">;
def group_precision : OptionGroup<"Precision">;
def group_training : OptionGroup<"Training">;
def group_model : OptionGroup<"Model">;
def group_memory : OptionGroup<"Memory and weights">;
def group_run : OptionGroup<"Running and measuring">;
def group_report : OptionGroup<"Reports and diagnostics">;

// --name=VALUE and --name VALUE.
multiclass Value<string name, string metavar, string help, OptionGroup group, list<OptionVisibility> commands,
                 list<OptionFlag> flags = []> {
  let Visibility = commands, Group = group, Flags = flags in {
    def NAME : Joined<["--"], name # "=">, MetaVarName<metavar>, HelpText<help>;
    def NAME # _separate : Separate<["--"], name>, Alias<!cast<Option>(NAME)>;
  }
}
class Switch<string name, string help, OptionGroup group, list<OptionVisibility> commands,
             list<OptionFlag> flags = []> : Flag<["--"], name>, HelpText<help> {
  let Visibility = commands;
  let Group = group;
  let Flags = flags;
}

//===-- Output ------------------------------------------------------------===//

def output : Separate<["-"], "o">, MetaVarName<" FILE">, Group<group_output>, Flags<[CommonOption]>,
             HelpText<"Output file; with --emit=lib also FILE.h beside it; tune: the policy">,
             Visibility<[CompileVis, TuneVis]>;
defm emit : Value<"emit", "KIND", "What to write: exe (default), lib, obj, kernels (a folder), onnx, mlir, llvm, asm, ptx, cubin",
                  group_output,
                  compile,
                  [CommonOption]>;
defm compile_to : Value<"compile-to", "PHASE",
                        "Stop after a phase and write its MLIR: import, graph, precision, training, fusion, memory, codegen",
                        group_output, compile, [CommonOption]>;
defm compile_from : Value<"compile-from", "PHASE", "The phase whose output a model given as .mlir is (default import)",
                          group_model, emitting>;
defm dump_phases_to : Value<"dump-phases-to", "DIR", "Write the MLIR after each phase into DIR", group_output,
                            compiling>;
defm save_temps : Value<"save-temps", "DIR", "Keep the files handed to the linker in DIR", group_output, compile>;
defm elide_above : Value<"elide-above", "SIZE",
                         "Let written MLIR refer to files for constants larger than SIZE bytes (default 64K)", group_output,
                         compiling>;

//===-- Target ------------------------------------------------------------===//

defm target : Value<"target", "NAME", "Where the program runs: cpu (default), cuda", group_target, emitting,
                    [CommonOption]>;
defm march : Value<"march", "NAME", "CPU architecture: native (default), x86-64-v3, x86-64-v4", group_target,
                   emitting, [CommonOption]>;
defm cuda_arch : Value<"cuda-arch", "sm_80,sm_90a,...", "GPUs, by architecture or name (rtx3060, a100, h200)",
                       group_target, emitting>;
def simulate : Switch<"simulate", "Make GPU kernels for the simulator, which runs on the CPU and checks them",
                      group_target, emitting>;
defm tuning_file : Value<"tuning-file", "FILE.json",
                         "Choices of GPU kernels: {\"contractions\": [{\"type\": TYPE, \"m\": M, ..., \"tile\": [M, N, K]}]}",
                         group_target, emitting>;
defm cache_dir : Value<"cache-dir", "DIR",
                       "Where compiled GPU kernels are kept (default: $AMPC_CACHE_DIR, $XDG_CACHE_HOME/ampc, ~/.cache/ampc)",
                       group_target, emitting>;
defm cache_limit : Value<"cache-limit", "SIZE", "Most bytes kept there (default 1G)", group_target, emitting>;
def no_cache : Switch<"no-cache", "Compile each GPU kernel anew, and keep none", group_target, emitting>;
def opt_level : Joined<["-"], "O">, MetaVarName<"LEVEL">, Group<group_target>, Visibility<emitting>,
                HelpText<"Effort of machine code generation, 0 to 3 (default 3)">;
def jobs : JoinedOrSeparate<["-"], "j">, MetaVarName<" N">, Group<group_target>, Visibility<emitting>,
           HelpText<"Threads of the compiler; the output does not depend on it">;

//===-- Precision ---------------------------------------------------------===//

defm amp : Value<"amp", "POLICY",
                 "Mixed precision: auto (default), off, fp16, bf16, tf32, pure-fp16, pure-bf16", group_precision,
                 emitting, [CommonOption]>;
defm layer_precisions : Value<"layer-precisions", "PATTERN:TYPE,...", "Types of nodes by name, path or glob",
                              group_precision, emitting, [CommonOption]>;
defm op_precisions : Value<"op-precisions", "OP:TYPE,...", "Types of nodes by operator or function of the model",
                           group_precision, emitting>;
defm precision_policy : Value<"precision-policy", "FILE.json",
                              "Types from a file: {\"default\": TYPE, \"layers\": {PATTERN: TYPE}, \"ops\": {OP: TYPE}}",
                              group_precision, emitting>;
defm constants : Value<"constants", "fp32|saturate",
                       "Where a constant does not fit the 16-bit type, run in fp32 (default) or saturate it",
                       group_precision, emitting>;
defm fp32_contractions : Value<"fp32-contractions", "ieee|tf32",
                               "Products of contractions left in fp32, on a GPU: fp32 (default) or TF32",
                               group_precision, emitting>;
// The names that NVIDIA ModelOpt's AutoCast uses.
defm nodes_to_exclude : Value<"nodes-to-exclude", "PATTERN,...", "Nodes that stay in fp32", group_precision,
                              emitting>;
defm nodes_to_include : Value<"nodes-to-include", "PATTERN,...", "Nodes to lower", group_precision, emitting>;
defm op_types_to_exclude : Value<"op-types-to-exclude", "OP,...", "Operators that stay in fp32", group_precision,
                                 emitting>;
defm op_types_to_include : Value<"op-types-to-include", "OP,...", "Operators to lower", group_precision, emitting>;
defm low_precision_type : Value<"low-precision-type", "fp16|bf16", "Same as --amp", group_precision, emitting>;
def keep_io_types : Switch<"keep-io-types", "Inputs and outputs keep their types (default)", group_precision,
                           emitting>;
def keep_io_types_is : Joined<["--"], "keep-io-types=">, MetaVarName<"true|false">, Group<group_precision>,
                       HelpText<"With false, --emit=onnx also narrows inputs and outputs">, Visibility<emitting>;
def calibrate : Switch<"calibrate",
                       "Keep in fp32 what leaves the range of the 16-bit type on --data; --amp=auto with --data does so",
                       group_precision, compile>;
def strict_rounding : Switch<"strict-rounding", "Round after every operator, as eager execution does",
                             group_precision, emitting>;
defm norm_output : Value<"norm-output", "follow|fp32",
                         "Type of norm results: of their input (default), or fp32 as PyTorch's autocast",
                         group_precision, emitting>;
defm precision_report : Value<"precision-report", "FILE",
                              "Write each node's type and the rule that chose it as JSON; a table with -",
                              group_precision, emitting, [CommonOption]>;

//===-- Training ----------------------------------------------------------===//

def train : Switch<"train", "Make a program that trains the model", group_training, training, [CommonOption]>;
defm loss : Value<"loss", "NAME",
                  "What to minimize: softmax-cross-entropy, bce-with-logits, mse, l1, huber; none: the model computes it "
                  "(default: as the model's TrainingInfoProto says)",
                  group_training, training, [CommonOption]>;
defm loss_input : Value<"loss-input", "NAME", "The output that the loss is of (default: the only one)", group_training,
                        training>;
defm loss_output : Value<"loss-output", "NAME", "With --loss=none: the output that is the loss (default: the only one)",
                         group_training, training>;
defm label_name : Value<"label-name", "NAME", "Name of the labels in data sets (default labels)", group_training,
                        training>;
def soft_labels : Switch<"soft-labels", "Labels are a probability for each class, of the logits' shape",
                         group_training, training>;
defm label_smoothing : Value<"label-smoothing", "F", "The share of a target that all classes have in common (default 0)",
                             group_training, training>;
defm ignore_index : Value<"ignore-index", "N", "The label of what does not count (default -100)", group_training,
                          training>;
defm class_weights : Value<"class-weights", "FILE.npy|F,F,...", "How much each class counts", group_training, training>;
defm optimizer : Value<"optimizer", "NAME", "sgd (default), momentum, nesterov, adam, adamw, adagrad", group_training, training,
                       [CommonOption]>;
defm freeze : Value<"freeze", "GLOB,...", "Initializers that are not trained; statistics of batch norms that stay",
                    group_training, training>;
defm trainable : Value<"trainable", "GLOB,...", "The only initializers that are trained", group_training, training>;
defm recompute : Value<"recompute", "none|blocks|all", "What the backward pass computes again to save memory (default none)",
                       group_training, training>;
defm grad_dtype : Value<"grad-dtype", "f32|f16|bf16", "To what gradients of parameters are rounded (default f32)",
                        group_training, training>;

//===-- Model -------------------------------------------------------------===//

defm shapes : Value<"shapes", "NAME:1x3x224x224,...", "Shapes of graph inputs", group_model, reading,
                    [CommonOption]>;
defm dim_params : Value<"dim-params", "N=8,S=128", "Sizes of named dimensions", group_model, reading,
                        [CommonOption]>;
defm bind_input : Value<"bind-input", "NAME[=@FILE]",
                        "Make a graph input a constant: its value is in FILE, or in the data set of verify",
                        group_model, compiling>;
defm max_nodes : Value<"max-nodes", "N", "Most nodes after functions are inlined and loops unrolled", group_model,
                         reading>;

//===-- Memory and weights ------------------------------------------------===//

defm memory_limit : Value<"memory-limit", "SIZE", "Refuse a program that needs more memory for activations",
                          group_memory, compiling, [CommonOption]>;
defm weight_limit : Value<"weight-limit", "SIZE",
                          "Refuse a program with larger constants (default: 1 GiB and four times the model's)",
                          group_memory, compiling>;
defm memory_report : Value<"memory-report", "FILE", "Write the static memory plan as JSON; a table with -",
                           group_memory, compiling>;
defm external_weights : Value<"external-weights", "auto|embed|FILE",
                              "Weights in the program, or beside it in FILE (auto: beside above 1 GiB)", group_memory,
                              compile>;

//===-- Running -----------------------------------------------------------===//

defm input : Value<"input", "[NAME=]VALUE", "An input: @FILE (.npy .npz .pb .safetensors), numbers, or random",
                   group_run, [RunVis, BenchVis, CompareVis], [CommonOption, ProgramOption]>;
defm output_value : Value<"output", "[NAME=]@FILE", "Where an output goes", group_run, run, [ProgramOption]>;
defm output_dir : Value<"output-dir", "DIR", "Write every output into DIR", group_run, run, [ProgramOption]>;
defm data : Value<"data", "DIR",
                  "run: a data set. verify: DIR/input_K and DIR/output_K (.pb, .npy), or many test_data_set_N; "
                  "inputs alone where precisions are compared",
                  group_run, [RunVis, VerifyVis, CompileVis, CompareVis, TuneVis], [CommonOption]>;
defm suite : Value<"suite", "LISTFILE", "verify: run the listed tests, each in a process of its own", group_run,
                   verify>;
defm suite_timeout : Value<"suite-timeout", "SECONDS", "Longest time of one test of a suite (default 20)", group_run,
                           verify>;
defm rtol : Value<"rtol", "F", "Relative tolerance (default 1e-3)", group_run, verify>;
defm atol : Value<"atol", "F", "Absolute tolerance (default 1e-7)", group_run, verify>;
defm max_error : Value<"max-error", "METRIC:F",
                       "Fail above this error of the outputs as a whole: rel (frobenius), max, cosine or top1; to fp32, "
                       "but to the data set in verify", group_run, !listconcat(measuring, verify)>;
defm metric : Value<"metric", "rel|max|cosine|top1", "The metric of a --max-error that is a number alone (default rel)",
                    group_run, !listconcat(measuring, verify)>;
def worst_first : Switch<"worst-first", "compare: the nodes that lose most alone first, instead of the graph's order",
                         group_run, [CompareVis]>;
defm held_out : Value<"held-out", "DIR", "tune: data sets to check the policy on, not used to find it", group_run,
                      [TuneVis]>;
defm tune_trials : Value<"tune-trials", "N", "tune: most programs that are compiled and measured (default 64)",
                         group_run, [TuneVis]>;
defm seed : Value<"seed", "N", "Seed of inputs that are made up (default 0)", group_run, [CompareVis, TuneVis]>;
defm trace_memory : Value<"trace-memory", "SIZE",
                          "Most memory for intermediate values of one run; more of them take more runs (default 256M)",
                          group_run, measuring>;
defm iterations : Value<"iterations", "N", "bench: fewest runs measured", group_run, bench, [ProgramOption]>;
defm warm_up : Value<"warm-up", "MS", "bench: time to run before measuring", group_run, bench, [ProgramOption]>;
defm duration : Value<"duration", "S", "bench: shortest time measured", group_run, bench, [ProgramOption]>;
defm percentile : Value<"percentile", "90,95,99", "bench: latency percentiles to print", group_run, bench,
                        [ProgramOption]>;
defm export_times : Value<"export-times", "FILE.json", "bench: write the time of each run", group_run, bench,
                          [ProgramOption]>;
defm lr : Value<"lr", "F", "bench --train: the learning rate (default: the model's, or 1e-3)", group_run, bench, [ProgramOption]>;
defm steps : Value<"steps", "N", "bench --train: steps after which losses are compared (default 10)", group_run, bench>;
def profile : Switch<"profile", "Print the time of each kernel", group_run, [RunVis, BenchVis], [ProgramOption]>;
def debug_arena : Switch<"debug-arena", "Fill working memory with NaN before each run", group_run,
                         [RunVis, BenchVis], [ProgramOption]>;
defm threads : Value<"threads", "N", "Threads of the program", group_run,
                     [RunVis, VerifyVis, BenchVis, CompareVis, TuneVis], [ProgramOption]>;
defm device : Value<"device", "NAME", "Device the program runs on: cpu, cuda, cuda:N, sim", group_run, [RunVis, VerifyVis, BenchVis],
                    [ProgramOption]>;

//===-- Reports and diagnostics -------------------------------------------===//

def unsupported : Switch<"unsupported", "ops: list everything the model needs that is missing", group_report,
                         [OpsVis]>;
def kernels : Switch<"kernels",
                     "What the GPU kernels of a model or program need, and their time at best (static)",
                     group_report, [InspectVis], [CommonOption]>;
defm gpu : Value<"gpu", "NAME", "--kernels: the GPU whose limits and rates count (default: one of each architecture)",
                 group_report, [InspectVis], [CommonOption]>;
def json : Switch<"json", "Print JSON", group_report,
                  [InspectVis, OpsVis, DevicesVis, ExplainVis, CompareVis, TuneVis, BenchVis]>;
defm diagnostics : Value<"diagnostics", "text|json", "Form of diagnostics (json: one object a line)", group_report,
                         everything>;
defm remarks : Value<"remarks", "PATTERN",
                     "Print what passes decided, of those whose name matches the regular expression (precision-.*)",
                     group_report, compiling>;
def time_report : Switch<"time-report", "Print the time and peak memory of each phase", group_report, compiling>;
def mlir_timing : Switch<"mlir-timing", "Print the time of each pass", group_report, compiling>;
def verify_each : Switch<"verify-each", "Verify the IR after each pass, not only after each phase", group_report,
                         compiling>;
def print_ir : Switch<"print-ir-after-all", "Print the IR after each pass that changed it", group_report, compiling>;
def quiet : Switch<"quiet", "Print errors only", group_report, everything>;
def verbose : Switch<"verbose", "Print what is done, and the linker's command line", group_report, everything>;
def help : Switch<"help", "Show the common options", group_report, everything>;
def help_short : Flag<["-"], "h">, Alias<help>, Visibility<everything>;
def help_all : Switch<"help-all", "Show all options", group_report, everything>;
def version : Switch<"version", "Show the version", group_report, everything>;
defm generate : Value<"generate", "man|bash|zsh|fish", "Print the man page, or a shell's completion, of ampc",
                      group_report, compile>;
