//===- apply_inputs.cpp - The numbers that an update takes ----------------===//
#include "runtime/training/apply_inputs.h"

#include "runtime/core/dtype.h"
#include "runtime/training/journal.h"

namespace ampc::runtime {
namespace {

/// An f32 input, and the option that it comes from.
struct RealInput {
  const char *name;
  const char *option;
  Setting TrainOptions::*member;
};
constexpr RealInput realInputs[] = {
    {"learning_rate", "lr", &TrainOptions::learningRate},
    {"weight_decay", "weight-decay", &TrainOptions::weightDecay},
    {"max_norm", "clip-norm", &TrainOptions::clipNorm},
    {"max_value", "clip-value", &TrainOptions::clipValue},
    {"growth_factor", "growth-factor", &TrainOptions::growthFactor},
    {"backoff_factor", "backoff-factor", &TrainOptions::backoffFactor},
    {"scale_floor", "scale-floor", &TrainOptions::scaleFloor},
    {"momentum", "momentum", &TrainOptions::momentum},
    {"beta1", "beta1", &TrainOptions::beta1},
    {"beta2", "beta2", &TrainOptions::beta2},
    {"epsilon", "eps", &TrainOptions::epsilon},
    {"rate_decay", "lr-decay", &TrainOptions::rateDecay},
};

uint32_t realBits(double value) {
  float narrow = static_cast<float>(value);
  return loadLE<uint32_t>(&narrow);
}

} // namespace

double chooseNumber(const Trainer &trainer, const Setting &setting,
                    const char *input) {
  const double *own = trainer.facts().findDefault(input);
  return own && !setting.given ? *own : setting.value;
}

Status ApplyInputs::fill(const Trainer &trainer, const ampc_tensor_desc &desc,
                         const TrainOptions &options, ScalerKind scaler,
                         uint32_t *slot) {
  for (const RealInput &input : realInputs) {
    if (strcmp(desc.name, input.name) == 0 && desc.rank == 0 &&
        desc.dtype == AMPC_DTYPE_F32) {
      *slot =
          realBits(chooseNumber(trainer, options.*input.member, input.name));
      return Status();
    }
  }
  bool isWhole = desc.rank == 0 && desc.dtype == AMPC_DTYPE_I32;
  if (isWhole && strcmp(desc.name, "growth_interval") == 0) {
    *slot = static_cast<uint32_t>(options.growthInterval);
    return Status();
  }
  if (isWhole && strcmp(desc.name, "scaler") == 0) {
    *slot = static_cast<uint32_t>(scaler);
    return Status();
  }
  return Status::error(AMPC_INVALID, "unknown input '%s' (%s) of 'apply'",
                       desc.name, ampc::runtime::describe(desc).c_str());
}

Status ApplyInputs::open(const Trainer &trainer, const TrainOptions &options,
                         ScalerKind scaler) {
  const Entry &apply = trainer.apply();
  for (const RealInput &input : realInputs) {
    if ((options.*input.member).given && apply.input(input.name) < 0) {
      const Str &optimizer = trainer.facts().optimizer;
      return Status::error(AMPC_USAGE,
                           "option '--%s': the program's optimizer, %s, does "
                           "not have it",
                           input.option,
                           optimizer.empty() ? "unnamed" : optimizer.c_str());
    }
  }
  learningRate = apply.input("learning_rate");
  if (learningRate < 0 ||
      (scaler != ScalerKind::Off && apply.input("scaler") < 0)) {
    return Status::error(AMPC_INVALID, "expected an input '%s' of 'apply'",
                         learningRate < 0 ? "learning_rate" : "scaler");
  }
  slots.resize(apply.numInputs);
  addresses.resize(apply.numInputs);
  for (uint32_t i = 0; i < apply.numInputs; ++i) {
    AMPC_TRY(fill(trainer, apply.inputs[i], options, scaler, &slots[i]));
    addresses[i] = &slots[i];
  }
  return Status();
}

void ApplyInputs::setLearningRate(double value) {
  slots[learningRate] = realBits(value);
}

void ApplyInputs::describe(const Trainer &trainer, Str *out) const {
  const Entry &apply = trainer.apply();
  for (uint32_t i = 0; i < apply.numInputs; ++i) {
    if (apply.inputs[i].dtype == AMPC_DTYPE_F32) {
      appendJsonReal(out, apply.inputs[i].name,
                     static_cast<double>(loadLE<float>(&slots[i])));
    } else {
      out->appendf(", \"%s\": %d", apply.inputs[i].name,
                   static_cast<int32_t>(slots[i]));
    }
  }
}

} // namespace ampc::runtime
