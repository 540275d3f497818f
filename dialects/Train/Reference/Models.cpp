//===- Models.cpp - Attaches evaluation to the operations of train --------===//
#include "dialects/Train/Reference/Models.h"

#include "dialects/Amp/Reference/Models.h"
#include "dialects/Train/IR/Philox.h"
#include "dialects/Train/IR/TrainDialect.h"

using namespace mlir;
using namespace ampc;

static std::optional<ref::Tensor> bernoulli(train::BernoulliOp op,
                                            ArrayRef<ref::Tensor> operands) {
  auto result = ref::Tensor::allocate(ref::getResultType(op));
  if (!result) {
    return std::nullopt;
  }
  auto seed = static_cast<uint64_t>(operands[0].getInt(0));
  auto update = static_cast<uint32_t>(operands[1].getInt(0));
  auto micro = static_cast<uint32_t>(operands[2].getInt(0));
  auto stream = static_cast<uint32_t>(op.getStream());
  std::array<uint32_t, 2> key{static_cast<uint32_t>(seed),
                              static_cast<uint32_t>(seed >> 32)};
  char *to = result->mutableBytes();
  for (int64_t i = 0; i < result->size(); ++i) {
    uint32_t word = train::philox(
        {static_cast<uint32_t>(i), stream, micro, update}, key)[0];
    to[i] = word < op.getThreshold();
  }
  return result;
}

void train::registerTrainReferenceModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, TrainDialect *) {
    ref::attach<bernoulli>(context);
  });
}
