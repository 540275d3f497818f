//===- TrainingValues.cpp - The options of trainers -----------------------===//
#include "compiler/Driver/OptionTable.h"
#include "compiler/Driver/OptionValues.h"
#include "compiler/Driver/TensorData.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Option/Arg.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Support/GlobPattern.h"

#include <cmath>

using namespace llvm;
using namespace llvm::opt;
using ampc::training::GradientType;
using ampc::training::Loss;
using ampc::training::Optimizer;
using ampc::training::RecomputeMode;

namespace ampc::driver {

namespace {

class TrainingReader {
public:
  TrainingReader(const InputArgList &args, Options &options,
                 DiagnosticSink &sink)
      : args(args), options(options), training(options.training), sink(sink) {}

  void read();

private:
  void bad(const Arg &arg, const Twine &expected) {
    StringRef spelling = arg.getSpelling();
    spelling.consume_back("=");
    (void)sink.error(ExitCode::Usage, Twine(spelling) + ": expected " +
                                          expected + ", got '" +
                                          arg.getValue() + "'");
  }
  /// An option with one of a few words.
  template <typename T>
  void choose(OptSpecifier id, ArrayRef<std::pair<StringRef, T>> words,
              T &value);
  void refuse(OptSpecifier id, const Twine &why);
  void readLoss();
  void readOptimizer();
  void readClassWeights();
  void readGlobs(OptSpecifier id, std::vector<std::string> &globs);
  void checkOthers();

  const InputArgList &args;
  Options &options;
  TrainingOptions &training;
  DiagnosticSink &sink;
};

} // namespace

/// What only means something with --train.
static constexpr unsigned trainingOptions[] = {
    OPT_loss,        OPT_loss_input,      OPT_loss_output,  OPT_label_name,
    OPT_soft_labels, OPT_label_smoothing, OPT_ignore_index, OPT_class_weights,
    OPT_optimizer,   OPT_freeze,          OPT_trainable,    OPT_recompute,
    OPT_grad_dtype};

/// What only means something to cross-entropy.
static constexpr unsigned crossEntropyOptions[] = {
    OPT_soft_labels, OPT_label_smoothing, OPT_ignore_index, OPT_class_weights};

template <typename T>
void TrainingReader::choose(OptSpecifier id,
                            ArrayRef<std::pair<StringRef, T>> words, T &value) {
  const Arg *arg = args.getLastArg(id);
  if (!arg) {
    return;
  }
  std::string given = StringRef(arg->getValue()).lower();
  SmallVector<StringRef> names;
  for (const auto &[word, meaning] : words) {
    if (given == word) {
      value = meaning;
      return;
    }
    names.push_back(word);
  }
  bad(*arg, "one of " + join(names, ", "));
}

void TrainingReader::refuse(OptSpecifier id, const Twine &why) {
  if (const Arg *arg = args.getLastArg(id)) {
    StringRef spelling = arg->getSpelling();
    spelling.consume_back("=");
    (void)sink.error(ExitCode::Usage, spelling + " " + why);
  }
}

/// FILE.npy, or numbers.
void TrainingReader::readClassWeights() {
  const Arg *arg = args.getLastArg(OPT_class_weights);
  if (!arg) {
    return;
  }
  StringRef text = arg->getValue();
  if (text.ends_with(".npy")) {
    runtime::Tensor tensor;
    if (failed(readTensor(text, tensor, sink))) {
      return;
    }
    if (!runtime::isFloat(tensor.dtype) || tensor.dims.size() != 1) {
      bad(*arg, "a file with one dimension of floats");
      return;
    }
    uint64_t count = tensor.data.size() / ampc_dtype_size(tensor.dtype);
    for (uint64_t i = 0; i < count; ++i) {
      training.classWeights.push_back(
          readFloat(tensor.dtype, tensor.data.data(), i));
    }
  } else {
    for (StringRef item : split(text, ',')) {
      double weight;
      if (!to_float(item.trim(), weight)) {
        bad(*arg, "FILE.npy or numbers");
        return;
      }
      training.classWeights.push_back(weight);
    }
  }
  if (training.classWeights.empty() ||
      any_of(training.classWeights, [](double weight) {
        return !std::isfinite(weight) || weight < 0;
      })) {
    bad(*arg, "numbers that are not negative");
  }
}

void TrainingReader::readLoss() {
  choose<Loss>(OPT_loss,
               {{"softmax-cross-entropy", Loss::SoftmaxCrossEntropy},
                {"mse", Loss::Mse},
                {"bce-with-logits", Loss::BceWithLogits},
                {"l1", Loss::L1},
                {"huber", Loss::Huber},
                {"none", Loss::None}},
               training.loss);
  training.lossInput = args.getLastArgValue(OPT_loss_input).str();
  training.lossOutput = args.getLastArgValue(OPT_loss_output).str();
  training.label = args.getLastArgValue(OPT_label_name, "labels").str();
  training.probabilities = args.hasArg(OPT_soft_labels);
  if (const Arg *arg = args.getLastArg(OPT_label_smoothing)) {
    if (!to_float(StringRef(arg->getValue()), training.smoothing) ||
        !(training.smoothing >= 0 && training.smoothing < 1)) {
      bad(*arg, "a number from 0 to less than 1");
    }
  }
  if (const Arg *arg = args.getLastArg(OPT_ignore_index)) {
    if (StringRef(arg->getValue()).getAsInteger(10, training.ignoreIndex)) {
      bad(*arg, "an integer");
    }
  }
  readClassWeights();
  if (training.loss != Loss::SoftmaxCrossEntropy) {
    for (unsigned id : crossEntropyOptions) {
      refuse(id, "needs --loss=softmax-cross-entropy");
    }
  }
  if (training.probabilities) {
    refuse(OPT_ignore_index, "contradicts --soft-labels");
  }
  if (training.loss == Loss::None) {
    refuse(OPT_loss_input, "contradicts --loss=none; the loss is an output of "
                           "the model, --loss-output=NAME");
    refuse(OPT_label_name, "contradicts --loss=none; labels are an input of "
                           "the model");
  } else {
    refuse(OPT_loss_output, "needs --loss=none");
  }
}

void TrainingReader::readOptimizer() {
  options.optimizer =
      StringRef(args.getLastArgValue(OPT_optimizer, "sgd")).lower();
  choose<Optimizer>(OPT_optimizer,
                    {{"sgd", Optimizer::Sgd},
                     {"momentum", Optimizer::Momentum},
                     {"nesterov", Optimizer::Nesterov},
                     {"adam", Optimizer::Adam},
                     {"adamw", Optimizer::AdamW},
                     {"adagrad", Optimizer::Adagrad}},
                    training.optimizer);
  choose<GradientType>(OPT_grad_dtype,
                       {{"f32", GradientType::F32},
                        {"fp32", GradientType::F32},
                        {"f16", GradientType::F16},
                        {"fp16", GradientType::F16},
                        {"bf16", GradientType::BF16}},
                       training.gradientType);
  choose<RecomputeMode>(OPT_recompute,
                        {{"none", RecomputeMode::None},
                         {"blocks", RecomputeMode::Blocks},
                         {"all", RecomputeMode::All}},
                        training.recompute);
  training.choosesRecompute = !args.hasArg(OPT_recompute);
}

void TrainingReader::readGlobs(OptSpecifier id,
                               std::vector<std::string> &globs) {
  for (const Arg *arg : args.filtered(id)) {
    for (StringRef item : split(arg->getValue(), ',')) {
      item = item.trim();
      auto glob = GlobPattern::create(item);
      if (item.empty() || !glob) {
        consumeError(glob.takeError());
        bad(*arg, "patterns of initializers");
        break;
      }
      globs.push_back(item.str());
    }
  }
}

/// What a trainer has no use for.
void TrainingReader::checkOthers() {
  if (options.emit == EmitKind::Onnx) {
    (void)sink.error(ExitCode::Usage,
                     "--emit=onnx writes the model for inference; it does not "
                     "apply to --train",
                     "a trainer writes the trained model: train "
                     "--export-onnx=FILE");
  }
  for (unsigned id : {OPT_data, OPT_max_error, OPT_calibrate}) {
    refuse(id, "measures programs for inference; it does not apply to --train");
  }
}

void TrainingReader::read() {
  options.train = args.hasArg(OPT_train);
  if (!options.train) {
    for (unsigned id : trainingOptions) {
      refuse(id, "needs --train");
    }
    for (unsigned id : {OPT_lr, OPT_steps}) {
      refuse(id, "needs --train");
    }
    return;
  }
  readLoss();
  readOptimizer();
  readGlobs(OPT_freeze, training.frozen);
  readGlobs(OPT_trainable, training.trained);
  checkOthers();
  options.hasLoss = args.hasArg(OPT_loss);
  if (!options.hasLoss &&
      options.compileFrom.value_or(Phase::Import) == Phase::Import) {
    // The model says how it is trained.
    for (unsigned id : trainingOptions) {
      if (id != OPT_freeze && id != OPT_recompute && id != OPT_grad_dtype) {
        refuse(id, "needs --loss");
      }
    }
  }
}

void readTrainingOptions(const InputArgList &args, Options &options,
                         DiagnosticSink &sink) {
  TrainingReader(args, options, sink).read();
}

} // namespace ampc::driver
