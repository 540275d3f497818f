//===- AttachLoss.cpp - A loss behind the results of a model --------------===//
#include "dialects/Train/IR/TrainDialect.h"
#include "passes/Training/LossFormula.h"
#include "passes/Training/Passes.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace ampc::training {
#define GEN_PASS_DEF_TRAININGATTACHLOSSPASS
#include "passes/Training/Passes.h.inc"

llvm::StringRef stringifyLoss(Loss loss) {
  switch (loss) {
  case Loss::SoftmaxCrossEntropy:
    return "softmax-cross-entropy";
  case Loss::Mse:
    return "mse";
  case Loss::L1:
    return "l1";
  case Loss::Huber:
    return "huber";
  case Loss::BceWithLogits:
    return "bce-with-logits";
  case Loss::None:
    return "none";
  }
  llvm_unreachable("not a loss");
}

namespace {

/// A loss that is a node of the model, as the importer marked it.
struct OwnLoss {
  amp::CompositeOp op;
  bool ofLogits = false;
  StringRef reduction;
  std::optional<int64_t> ignoreIndex;
};

struct TrainingAttachLossPass final
    : impl::TrainingAttachLossPassBase<TrainingAttachLossPass> {
  using Base::Base;

  void runOnOperation() override {
    main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isDeclaration()) {
      getOperation().emitError("expected a function @main with a body");
      return signalPassFailure();
    }
    facts.clear();
    batch = findBatch();
    if (failed(attach())) {
      signalPassFailure();
    }
  }

private:
  /// What becomes of the operands of the loss, in f32.
  using Build =
      llvm::function_ref<LossSums(LossFormula &, OpBuilder &, ValueRange)>;

  LogicalResult attach();
  LogicalResult attachLoss(unsigned position);
  LogicalResult attachOwn(unsigned position);
  FailureOr<unsigned> findResult(StringRef name, StringRef what);
  int64_t findBatch();
  Value findLogits(Value x, int64_t along);
  static std::optional<OwnLoss> matchOwn(Value loss);
  FailureOr<Value> addArgument(StringRef name, Type type, StringRef mark);
  LogicalResult addSums(ValueRange operands, double nominal, Build build);
  Value makeClassWeights(OpBuilder &b, Location loc);

  func::FuncOp main;
  int64_t batch = 1;
  NamedAttrList facts; ///< what the program says of its loss
};

} // namespace

FailureOr<unsigned> TrainingAttachLossPass::findResult(StringRef name,
                                                       StringRef what) {
  if (name.empty()) {
    if (main.getNumResults() != 1) {
      return main.emitError("expected the name of the result that the loss ")
             << what << ", one of " << main.getNumResults();
    }
    return 0;
  }
  for (unsigned i = 0; i < main.getNumResults(); ++i) {
    auto given = main.getResultAttrOfType<StringAttr>(i, "amp.name");
    if (given && given.getValue() == name) {
      return i;
    }
  }
  return main.emitError("there is no result '") << name << "'";
}

/// The first dimension of the model's first input that has one.
int64_t TrainingAttachLossPass::findBatch() {
  for (auto [i, type] : llvm::enumerate(main.getArgumentTypes())) {
    auto tensor = cast<RankedTensorType>(type);
    if (!main.getArgAttr(i, train::stateName) && tensor.getRank() > 0) {
      return tensor.getDimSize(0);
    }
  }
  return 1;
}

FailureOr<Value> TrainingAttachLossPass::addArgument(StringRef name, Type type,
                                                     StringRef mark) {
  unsigned at = main.getNumArguments();
  for (unsigned i = 0; i < at; ++i) {
    auto taken = main.getArgAttrOfType<StringAttr>(i, "amp.name");
    if (taken && taken.getValue() == name) {
      return main.emitError("the model has an input '")
             << name << "', which a trainer needs for its own";
    }
  }
  Builder b(&getContext());
  NamedAttrList attrs;
  attrs.set("amp.name", b.getStringAttr(name));
  attrs.set(mark, b.getUnitAttr());
  if (failed(main.insertArgument(at, type, attrs.getDictionary(&getContext()),
                                 main.getLoc()))) {
    return failure();
  }
  return Value(main.getArgument(at));
}

/// A model that ends in probabilities is taken at what they are made of: the
/// loss is then exact, and has a gradient where they round to 0 or 1.
Value TrainingAttachLossPass::findLogits(Value x, int64_t along) {
  Operation *op = x.getDefiningOp();
  bool isCrossEntropy = loss == Loss::SoftmaxCrossEntropy;
  auto isAlong = [&](auto softmax) {
    return softmax && isCrossEntropy &&
           static_cast<int64_t>(softmax.getAxis()) == along;
  };
  bool isProbability =
      isAlong(dyn_cast_or_null<amp::SoftmaxOp>(op)) ||
      isAlong(dyn_cast_or_null<amp::LogSoftmaxOp>(op)) ||
      (loss == Loss::BceWithLogits && isa_and_nonnull<amp::SigmoidOp>(op));
  if (!isProbability) {
    return x;
  }
  emitRemark(op->getLoc(), "the loss is taken at the logits, before ")
      << op->getName().stripDialect();
  return op->getOperand(0);
}

Value TrainingAttachLossPass::makeClassWeights(OpBuilder &b, Location loc) {
  if (classWeights.empty()) {
    return {};
  }
  SmallVector<float> values;
  for (double weight : classWeights) {
    values.push_back(static_cast<float>(weight));
  }
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())},
                                    b.getF32Type());
  return amp::ConstantOp::create(
      b, loc, DenseElementsAttr::get(type, ArrayRef<float>(values)));
}

/// Computes sums of `operands` in one operation that precision leaves in f32,
/// whatever the policy, and returns them.
LogicalResult TrainingAttachLossPass::addSums(ValueRange operands,
                                              double nominal, Build build) {
  Operation *terminator = main.getBody().front().getTerminator();
  OpBuilder b(terminator);
  Location loc = NameLoc::get(b.getStringAttr("loss"), main.getLoc());
  FailureOr<Value> samples = addArgument(
      "samples", RankedTensorType::get({}, b.getI64Type()), samplesName);
  if (failed(samples)) {
    return failure();
  }
  SmallVector<Value> inputs(operands);
  inputs.push_back(*samples);
  SmallVector<int64_t> pinned;
  Region region;
  Block &block = region.emplaceBlock();
  for (auto [i, input] : llvm::enumerate(inputs)) {
    pinned.push_back(static_cast<int64_t>(i));
    block.addArgument(input.getType(), loc);
  }
  OpBuilder inner(&getContext());
  inner.setInsertionPointToStart(&block);
  LossFormula formula(inner, loc, block.getArguments().back(), batch);
  amp::Formula wide(inner, loc);
  SmallVector<Value> arguments;
  for (Value argument : block.getArguments().drop_back()) {
    bool isFloat = isa<FloatType>(getElementTypeOrSelf(argument));
    arguments.push_back(isFloat ? wide.cast(argument, b.getF32Type())
                                : argument);
  }
  LossSums sums = build(formula, inner, arguments);
  SmallVector<std::tuple<Value, StringRef, StringRef, Attribute>> results{
      {sums.loss, "loss", lossName, b.getUnitAttr()},
      {sums.weight, "loss_weight", nominalWeightName,
       b.getF64FloatAttr(nominal)}};
  if (sums.correct) {
    for (auto [value, name] :
         {std::pair(sums.correct, "correct"), std::pair(sums.count, "count")}) {
      results.push_back({value, name, summedName, b.getStringAttr(name)});
    }
  }
  SmallVector<Value> yields;
  SmallVector<Type> types;
  for (auto &[value, name, mark, attr] : results) {
    yields.push_back(value);
    types.push_back(value.getType());
  }
  amp::YieldOp::create(inner, loc, yields);
  OperationState state(loc, amp::CompositeOp::getOperationName());
  amp::CompositeOp::build(b, state, types, "Loss", AutocastClass::Fp32, inputs,
                          pinned);
  state.regions.front()->takeBody(region);
  Operation *composite = b.create(state);
  for (auto [value, result] :
       llvm::zip_equal(composite->getResults(), results)) {
    auto &[yielded, name, mark, attr] = result;
    NamedAttrList attrs;
    attrs.set("amp.name", b.getStringAttr(name));
    attrs.set(mark, attr);
    unsigned at = main.getNumResults();
    if (failed(main.insertResult(at, value.getType(),
                                 attrs.getDictionary(&getContext())))) {
      return failure();
    }
    terminator->insertOperands(at, value);
  }
  facts.set("accuracy", b.getBoolAttr(static_cast<bool>(sums.correct)));
  getOperation()->setAttr(trainingName, facts.getDictionary(&getContext()));
  return success();
}

LogicalResult TrainingAttachLossPass::attachLoss(unsigned position) {
  Operation *terminator = main.getBody().front().getTerminator();
  Value x = terminator->getOperand(position);
  auto type = cast<RankedTensorType>(x.getType());
  if (!isa<FloatType>(type.getElementType())) {
    return main.emitError("expected a loss of floats, got ") << type;
  }
  Builder b(&getContext());
  int64_t rank = type.getRank(), rows = rank == 0 ? 1 : type.getDimSize(0);
  bool isCrossEntropy = loss == Loss::SoftmaxCrossEntropy;
  int64_t along = 0;
  RankedTensorType labelType =
      RankedTensorType::get(type.getShape(), b.getF32Type());
  double nominal = static_cast<double>(rows);
  if (isCrossEntropy) {
    along = axis >= 0 ? static_cast<int64_t>(axis) : rank == 3 ? 2 : 1;
    if (along >= rank) {
      return main.emitError("expected logits with classes along dimension ")
             << along << ", got " << type;
    }
    int64_t classes = type.getDimSize(along);
    if (!classWeights.empty() &&
        static_cast<int64_t>(classWeights.size()) != classes) {
      return main.emitError("expected ")
             << classes << " class weights, got " << classWeights.size();
    }
    SmallVector<int64_t> shape(type.getShape());
    shape.erase(shape.begin() + along);
    nominal = 1;
    for (int64_t size : shape) {
      nominal *= static_cast<double>(size);
    }
    if (!probabilities) {
      labelType = RankedTensorType::get(shape, b.getI64Type());
      facts.set("ignore_index", b.getI64IntegerAttr(ignoreIndex));
    }
    facts.set("classes", b.getI64IntegerAttr(classes));
    // The scale of gradients shall not depend on that of the weights.
    double sum = 0;
    for (double weight : classWeights) {
      sum += weight;
    }
    if (!probabilities && sum > 0) {
      nominal *= sum / static_cast<double>(classes);
    }
  }
  if (rows % std::max<int64_t>(batch, 1) != 0) {
    return main.emitError("expected a loss of a multiple of ")
           << batch << " rows, one or more for each sample, got " << type;
  }
  FailureOr<Value> labels = addArgument(label, labelType, labelName);
  if (failed(labels)) {
    return failure();
  }
  facts.set("label", b.getStringAttr(label));
  facts.set("partial_batches", b.getBoolAttr(true));
  x = findLogits(x, along);
  return addSums(
      {x, *labels}, nominal,
      [&](LossFormula &formula, OpBuilder &inner, ValueRange in) {
        if (!isCrossEntropy) {
          return formula.elementwise(loss, in[0], in[1]);
        }
        CrossEntropy options;
        options.axis = along;
        options.smoothing = smoothing;
        options.classWeights = makeClassWeights(inner, in[0].getLoc());
        if (probabilities) {
          return formula.crossEntropyOfProbabilities(in[0], in[1], options);
        }
        options.ignoreIndex = ignoreIndex;
        return formula.crossEntropy(in[0], in[1], options);
      });
}

std::optional<OwnLoss> TrainingAttachLossPass::matchOwn(Value loss) {
  auto op = loss.getDefiningOp<amp::CompositeOp>();
  auto reduction =
      op ? op->getAttrOfType<StringAttr>(reductionName) : StringAttr();
  if (!reduction || loss != op.getResult(0)) {
    return std::nullopt;
  }
  OwnLoss own;
  own.op = op;
  own.ofLogits = op.getName() == "SoftmaxCrossEntropyLoss";
  own.reduction = reduction.getValue();
  if (auto ignored = op->getAttrOfType<IntegerAttr>(ignoreIndexName)) {
    own.ignoreIndex = ignored.getInt();
  }
  return own;
}

/// The loss that the model computes itself, taken apart where it is a node that
/// says what it averages over, so that windows of batches are averaged right.
LogicalResult TrainingAttachLossPass::attachOwn(unsigned position) {
  Operation *terminator = main.getBody().front().getTerminator();
  Value value = terminator->getOperand(position);
  auto type = cast<RankedTensorType>(value.getType());
  if (!isa<FloatType>(type.getElementType())) {
    return main.emitError("expected a loss of floats, got ") << type;
  }
  Builder b(&getContext());
  main.setResultAttr(position, ownLossName, b.getUnitAttr());
  std::optional<OwnLoss> own = matchOwn(value);
  int64_t rows = type.getRank() == 0 ? batch : type.getDimSize(0);
  bool isPerSample = own || type.getRank() != 0;
  if (isPerSample && rows % std::max<int64_t>(batch, 1) != 0) {
    return main.emitError("expected a loss of a multiple of ")
           << batch << " rows, one or more for each sample, got " << type;
  }
  facts.set("partial_batches", b.getBoolAttr(isPerSample));
  if (!own) {
    double nominal =
        type.getRank() == 0 ? 1 : static_cast<double>(type.getDimSize(0));
    return addSums(value, nominal,
                   [](LossFormula &formula, OpBuilder &, ValueRange in) {
                     return formula.given(in[0]);
                   });
  }
  Value target = own->op.getInputs()[1];
  auto targetType = cast<RankedTensorType>(target.getType());
  if (auto argument = dyn_cast<BlockArgument>(target)) {
    if (Attribute name = main.getArgAttr(argument.getArgNumber(), "amp.name")) {
      facts.set("label", name);
    }
  }
  auto scores = cast<RankedTensorType>(own->op.getInputs()[0].getType());
  facts.set("classes", b.getI64IntegerAttr(scores.getDimSize(1)));
  if (own->ignoreIndex) {
    facts.set("ignore_index", b.getI64IntegerAttr(*own->ignoreIndex));
  }
  double nominal = own->reduction == "sum"
                       ? 1
                       : static_cast<double>(targetType.getNumElements());
  return addSums(own->op.getInputs(), nominal,
                 [&](LossFormula &formula, OpBuilder &, ValueRange in) {
                   CrossEntropy options;
                   options.ignoreIndex = own->ignoreIndex;
                   options.classWeights = in.size() > 2 ? in[2] : Value();
                   LossSums sums =
                       own->ofLogits
                           ? formula.crossEntropy(in[0], in[1], options)
                           : formula.negativeLogLikelihood(in[0], in[1],
                                                           options);
                   return formula.reduced(sums, own->reduction, in[1]);
                 });
}

LogicalResult TrainingAttachLossPass::attach() {
  Builder b(&getContext());
  facts.set("loss", b.getStringAttr(stringifyLoss(loss)));
  bool isOwn = loss == Loss::None;
  FailureOr<unsigned> position =
      isOwn ? findResult(output, "is") : findResult(input, "is of");
  if (failed(position)) {
    return failure();
  }
  return isOwn ? attachOwn(*position) : attachLoss(*position);
}

} // namespace ampc::training
