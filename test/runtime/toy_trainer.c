/*===- toy_trainer.c - A compiled trainer, written by hand ----------------===*\
|*
|* What the compiler would emit for a softmax regression, logits = x w + b, with
|* cross-entropy and SGD with momentum: x f32 [4, 3], labels i64 [4], three
|* classes, labels of -1 ignored; with TOY_CLASS_WEIGHTS, classes have weights.
With TOY_F16, scaled gradients beyond the range
|* of f16 become infinite, as if they were computed there. TOY_STATISTIC adds
|* running statistics, TOY_NO_STATS leaves the entry grad_stats out,
TOY_METADATA
|* replaces the metadata, TOY_NAME names a parameter otherwise.
|*
\*===----------------------------------------------------------------------===*/
#include "ampc/abi.h"

#include <math.h>
#include <stddef.h>

enum { rows = 4, features = 3, classes = 3, numWeights = features * classes };

/* The state region: numbers first. */
typedef struct State {
  float scale;
  int32_t tracker, taken, skipped;
  float loss, weight, correct;
  int32_t micro;
  float lastLoss, lastNorm, lastScale;
  int32_t foundInf;
  float lastCorrect, lastWeight, count, lastCount;
  _Alignas(64) float w[numWeights];
  _Alignas(64) float b[classes];
  _Alignas(64) float wMomentum[numWeights];
  _Alignas(64) float bMomentum[classes];
  _Alignas(64) float wGradient[numWeights];
  _Alignas(64) float bGradient[classes];
  _Alignas(64) float mean[features];
} State;

#ifdef TOY_F16
static const int overflows = 1;
#else
static const int overflows = 0;
#endif

#ifdef TOY_CLASS_WEIGHTS
static const float classWeights[classes] = {0.5f, 1, 3};
#else
static const float classWeights[classes] = {1, 1, 1};
#endif

/* x [4, 3], w, b -> logits [4, 3]; items are rows */
static void gemm(void *const *buffers, void *scratch, int64_t begin,
                 int64_t end) {
  const float *x = buffers[0], *w = buffers[1], *b = buffers[2];
  float *logits = buffers[3];
  (void)scratch;
  for (int64_t i = begin; i < end; ++i) {
    for (int c = 0; c < classes; ++c) {
      float sum = b[c];
      for (int k = 0; k < features; ++k) {
        sum += x[i * features + k] * w[k * classes + c];
      }
      logits[i * classes + c] = sum;
    }
  }
}

/* The loss of a row, its gradient by the logits, and whether it is right. */
static float rowLoss(const float *logits, int64_t label, float *gradient,
                     float *correct) {
  float largest = logits[0];
  int best = 0;
  for (int c = 1; c < classes; ++c) {
    best = logits[c] > logits[best] ? c : best;
    largest = fmaxf(largest, logits[c]);
  }
  float sum = 0;
  for (int c = 0; c < classes; ++c) {
    sum += expf(logits[c] - largest);
  }
  for (int c = 0; c < classes; ++c) {
    gradient[c] = classWeights[label] *
                  (expf(logits[c] - largest) / sum - (float)(c == label));
  }
  *correct = best == label;
  return classWeights[label] * (logf(sum) + largest - logits[label]);
}

static int counts(int64_t row, int64_t samples, int64_t label) {
  return row < samples && label >= 0 && label < classes;
}

/* logits, labels, samples -> loss, loss_weight, correct, count */
static void evalLoss(void *const *buffers, void *scratch, int64_t begin,
                     int64_t end) {
  const float *logits = buffers[0];
  const int64_t *labels = buffers[1], *samples = buffers[2];
  float *loss = buffers[3], *weight = buffers[4], *correct = buffers[5],
        *count = buffers[6];
  float gradient[classes], right;
  (void)scratch;
  (void)begin;
  (void)end;
  *loss = *weight = *correct = *count = 0;
  for (int64_t i = 0; i < rows; ++i) {
    if (counts(i, *samples, labels[i])) {
      *loss += rowLoss(logits + i * classes, labels[i], gradient, &right);
      *weight += classWeights[labels[i]];
      *correct += right;
      *count += 1;
    }
  }
}

static float scaled(float gradient, float scale) {
  float value = gradient * scale;
  return overflows && fabsf(value) > 65504 ? copysignf(INFINITY, value) : value;
}

/* x, labels, samples, logits, scale -> gradients of w and b, sums of loss,
 * weight, correct and micro-steps: what is added to */
static void gradients(void *const *buffers, void *scratch, int64_t begin,
                      int64_t end) {
  const float *x = buffers[0], *logits = buffers[3], *scale = buffers[4];
  const int64_t *labels = buffers[1], *samples = buffers[2];
  float *gw = buffers[5], *gb = buffers[6], *loss = buffers[7],
        *weight = buffers[8], *correct = buffers[9], gradient[classes], right;
  (void)scratch;
  (void)begin;
  (void)end;
  for (int64_t i = 0; i < rows; ++i) {
    if (!counts(i, *samples, labels[i])) {
      continue;
    }
    *loss += rowLoss(logits + i * classes, labels[i], gradient, &right);
    *weight += classWeights[labels[i]];
    *correct += right;
    *(float *)buffers[11] += 1;
    for (int c = 0; c < classes; ++c) {
      gb[c] += scaled(gradient[c], *scale);
      for (int k = 0; k < features; ++k) {
        gw[k * classes + c] +=
            scaled(gradient[c] * x[i * features + k], *scale);
      }
    }
  }
  ++*(int32_t *)buffers[10];
}

/* x -> mean */
static void statistics(void *const *buffers, void *scratch, int64_t begin,
                       int64_t end) {
  const float *x = buffers[0];
  float *mean = buffers[1];
  (void)scratch;
  for (int64_t k = begin; k < end; ++k) {
    float sum = 0;
    for (int i = 0; i < rows; ++i) {
      sum += x[i * features + k];
    }
    mean[k] = 0.9f * mean[k] + 0.1f * sum / rows;
  }
}

static float *gradientOf(State *s, int i) {
  return i < numWeights ? &s->wGradient[i] : &s->bGradient[i - numWeights];
}

/* learning_rate, weight_decay, max_norm, max_value, growth_factor,
 * backoff_factor, growth_interval, scale_floor, scaler, momentum; state */
static void apply(void *const *buffers, void *scratch, int64_t begin,
                  int64_t end) {
  enum { count = numWeights + classes };
  float in[10];
  (void)scratch;
  (void)begin;
  (void)end;
  for (int i = 0; i < 10; ++i) {
    in[i] = *(const float *)buffers[i];
  }
  int32_t interval = *(const int32_t *)buffers[6];
  int32_t scaler = *(const int32_t *)buffers[8];
  State *s = buffers[10];
  float inverse = 1 / (s->scale * s->weight), norm = 0;
  int found = 0;
  for (int i = 0; i < count; ++i) {
    float g = *gradientOf(s, i);
    found |= !isfinite(g);
    norm += g * inverse * g * inverse;
  }
  norm = sqrtf(norm);
  s->lastLoss = s->loss / s->weight;
  s->lastCorrect = s->correct / s->count;
  s->lastCount = s->count;
  s->lastWeight = s->weight;
  s->lastNorm = norm;
  s->lastScale = s->scale;
  s->foundInf = found;
  int skip = found && scaler != 0;
  float clip = in[2] > 0 ? fminf(in[2] / (norm + 1e-6f), 1) : 1;
  for (int i = 0; i < count; ++i) {
    float *w = i < numWeights ? &s->w[i] : &s->b[i - numWeights];
    float *m =
        i < numWeights ? &s->wMomentum[i] : &s->bMomentum[i - numWeights];
    float g = *gradientOf(s, i) * inverse * clip;
    if (in[3] > 0) {
      g = fmaxf(fminf(g, in[3]), -in[3]);
    }
    if (!skip) {
      *m = in[9] * *m + g + in[1] * *w;
      *w -= in[0] * *m;
    }
    *gradientOf(s, i) = 0;
  }
  s->taken += !skip;
  s->skipped += skip;
  if (scaler == 2 && skip) {
    s->scale = fmaxf(s->scale * in[5], in[7]);
    s->tracker = 0;
  } else if (scaler == 2 && ++s->tracker == interval) {
    s->scale = isfinite(s->scale * in[4]) ? s->scale * in[4] : s->scale;
    s->tracker = 0;
  }
  s->loss = s->weight = s->correct = s->count = 0;
  s->micro = 0;
}

/* state -> mean_abs, zero_share, norm, of w and b */
static void gradStats(void *const *buffers, void *scratch, int64_t begin,
                      int64_t end) {
  State *s = buffers[0];
  float *meanAbs = buffers[1], *zeroShare = buffers[2], *norm = buffers[3];
  (void)scratch;
  for (int64_t p = begin; p < end; ++p) {
    int first = p == 0 ? 0 : numWeights;
    int count = p == 0 ? numWeights : classes;
    float sum = 0, zeros = 0, squares = 0;
    for (int i = first; i < first + count; ++i) {
      float g = *gradientOf(s, i) / (s->scale * s->weight);
      sum += fabsf(g);
      zeros += fabsf(*gradientOf(s, i)) < 0x1p-25f;
      squares += g * g;
    }
    meanAbs[p] = sum / (float)count;
    zeroShare[p] = zeros / (float)count;
    norm[p] = sqrtf(squares);
  }
}

static const ampc_kernel_desc kernels[] = {
    {"f32-gemm-4x3x3", gemm, rows, 1, 0},
    {"f32-cross-entropy-4x3", evalLoss, 1, 1, 0},
    {"f32-gradients-4x3", gradients, 1, 1, 0},
    {"f32-statistics-4x3", statistics, features, 1, 0},
    {"f32-momentum-12", apply, 1, 1, 0},
    {"f32-grad-stats-2", gradStats, 2, 1, 0},
};

static const int64_t xShape[] = {rows, features},
                     wShape[] = {features, classes},
                     logitShape[] = {rows, classes}, labelShape[] = {rows},
                     classShape[] = {classes}, featureShape[] = {features},
                     parameterShape[] = {2};

#define REAL(name) {name, AMPC_DTYPE_F32, 0, 0, 4}
#define WHOLE(name) {name, AMPC_DTYPE_I32, 0, 0, 4}
#define X {"x", AMPC_DTYPE_F32, 2, xShape, sizeof(float) * rows * features}
#define LABELS {"labels", AMPC_DTYPE_I64, 1, labelShape, 8 * rows}
#define SAMPLES {"samples", AMPC_DTYPE_I64, 0, 0, 8}
#define PER_PARAMETER(name) {name, AMPC_DTYPE_F32, 1, parameterShape, 8}

enum { mainInput, evalInput, stepInput = 4, applyInput = 7 };
static const ampc_tensor_desc inputs[] = {
    X,
    X,
    LABELS,
    SAMPLES,
    X,
    LABELS,
    SAMPLES,
    REAL("learning_rate"),
    REAL("weight_decay"),
    REAL("max_norm"),
    REAL("max_value"),
    REAL("growth_factor"),
    REAL("backoff_factor"),
    WHOLE("growth_interval"),
    REAL("scale_floor"),
    WHOLE("scaler"),
    REAL("momentum"),
};
static const ampc_tensor_desc outputs[] = {
    {"logits", AMPC_DTYPE_F32, 2, logitShape, sizeof(float) * rows * classes},
    REAL("loss"),
    REAL("loss_weight"),
    REAL("correct"),
    REAL("count"),
    PER_PARAMETER("mean_abs"),
    PER_PARAMETER("zero_share"),
    PER_PARAMETER("norm"),
};

#ifndef TOY_NAME
#define TOY_NAME "w"
#endif
/* First values: w, then b. */
static const _Alignas(64) float weights[16 + 16] = {
    0.1f, -0.2f, 0.3f, 0.05f, 0.25f, -0.15f, -0.3f, 0.2f, 0.1f};

#define AT(member) offsetof(State, member)
#define NUMBER(name, dtype, member, role)                                      \
  {{name, dtype, 0, 0, 4}, AT(member), AMPC_NO_INITIAL, role, 0}
#define TENSOR(name, shape, rank, member, initial, role)                       \
  {{name, AMPC_DTYPE_F32, rank, shape, sizeof(((State *)0)->member)},          \
   AT(member),                                                                 \
   initial,                                                                    \
   role,                                                                       \
   0}
static const ampc_state_desc states[] = {
    NUMBER("train.scale", AMPC_DTYPE_F32, scale, AMPC_STATE_CONTROL),
    NUMBER("train.tracker", AMPC_DTYPE_I32, tracker, AMPC_STATE_CONTROL),
    NUMBER("train.taken", AMPC_DTYPE_I32, taken, AMPC_STATE_CONTROL),
    NUMBER("train.skipped", AMPC_DTYPE_I32, skipped, AMPC_STATE_CONTROL),
    NUMBER("train.loss", AMPC_DTYPE_F32, loss, AMPC_STATE_TRANSIENT),
    NUMBER("train.weight", AMPC_DTYPE_F32, weight, AMPC_STATE_TRANSIENT),
    NUMBER("train.correct", AMPC_DTYPE_F32, correct, AMPC_STATE_TRANSIENT),
    NUMBER("train.micro", AMPC_DTYPE_I32, micro, AMPC_STATE_TRANSIENT),
    NUMBER("metrics.loss", AMPC_DTYPE_F32, lastLoss, AMPC_STATE_TRANSIENT),
    NUMBER("metrics.norm", AMPC_DTYPE_F32, lastNorm, AMPC_STATE_TRANSIENT),
    NUMBER("metrics.scale", AMPC_DTYPE_F32, lastScale, AMPC_STATE_TRANSIENT),
    NUMBER("metrics.found_inf", AMPC_DTYPE_I32, foundInf, AMPC_STATE_TRANSIENT),
    NUMBER("metrics.correct", AMPC_DTYPE_F32, lastCorrect,
           AMPC_STATE_TRANSIENT),
    NUMBER("metrics.weight", AMPC_DTYPE_F32, lastWeight, AMPC_STATE_TRANSIENT),
    NUMBER("train.count", AMPC_DTYPE_F32, count, AMPC_STATE_TRANSIENT),
    NUMBER("metrics.count", AMPC_DTYPE_F32, lastCount, AMPC_STATE_TRANSIENT),
    TENSOR(TOY_NAME, wShape, 2, w, 0, AMPC_STATE_PARAMETER),
    TENSOR("b", classShape, 1, b, 64, AMPC_STATE_PARAMETER),
    TENSOR("w.momentum_buffer", wShape, 2, wMomentum, AMPC_NO_INITIAL,
           AMPC_STATE_MOMENT),
    TENSOR("b.momentum_buffer", classShape, 1, bMomentum, AMPC_NO_INITIAL,
           AMPC_STATE_MOMENT),
    TENSOR("w.gradient", wShape, 2, wGradient, AMPC_NO_INITIAL,
           AMPC_STATE_TRANSIENT),
    TENSOR("b.gradient", classShape, 1, bGradient, AMPC_NO_INITIAL,
           AMPC_STATE_TRANSIENT),
#ifdef TOY_STATISTIC
    TENSOR("mean", featureShape, 1, mean, AMPC_NO_INITIAL,
           AMPC_STATE_STATISTIC),
#endif
};

#define REF(region, index, at, bytes, dtype)                                   \
  {region, index, {at, 0}, bytes, dtype, 0}
#define IN(i, bytes, dtype) REF(AMPC_REGION_INPUT, i, 0, bytes, dtype)
#define NUMBER_IN(i) IN(applyInput + i, 4, inputs[applyInput + i].dtype)
#define OUT(i, bytes) REF(AMPC_REGION_OUTPUT, i, 0, bytes, AMPC_DTYPE_F32)
#define STATE_AT(member)                                                       \
  REF(AMPC_REGION_STATE, 0, AT(member), sizeof(((State *)0)->member),          \
      AMPC_DTYPE_F32)
#define LOGITS REF(AMPC_REGION_ARENA, 0, 0, 48, AMPC_DTYPE_F32)
#define BATCH(first)                                                           \
  IN(first, 48, AMPC_DTYPE_F32), IN((first) + 1, 32, AMPC_DTYPE_I64),          \
      IN((first) + 2, 8, AMPC_DTYPE_I64)
#define WHOLE_STATE REF(AMPC_REGION_STATE, 0, 0, sizeof(State), AMPC_DTYPE_F32)

static const ampc_buffer_ref
    mainGemm[] = {IN(mainInput, 48, AMPC_DTYPE_F32), STATE_AT(w), STATE_AT(b),
                  OUT(0, 48)},
    evalGemm[] = {IN(evalInput, 48, AMPC_DTYPE_F32), STATE_AT(w), STATE_AT(b),
                  LOGITS},
    evalLossRefs[] = {LOGITS,
                      IN(evalInput + 1, 32, AMPC_DTYPE_I64),
                      IN(evalInput + 2, 8, AMPC_DTYPE_I64),
                      OUT(1, 4),
                      OUT(2, 4),
                      OUT(3, 4),
                      OUT(4, 4)},
    stepGemm[] = {IN(stepInput, 48, AMPC_DTYPE_F32), STATE_AT(w), STATE_AT(b),
                  LOGITS},
    gradientRefs[] = {BATCH(stepInput),
                      LOGITS,
                      STATE_AT(scale),
                      STATE_AT(wGradient),
                      STATE_AT(bGradient),
                      STATE_AT(loss),
                      STATE_AT(weight),
                      STATE_AT(correct),
                      REF(AMPC_REGION_STATE, 0, AT(micro), 4, AMPC_DTYPE_I32),
                      STATE_AT(count)},
    statisticRefs[] = {IN(stepInput, 48, AMPC_DTYPE_F32), STATE_AT(mean)},
    applyRefs[] = {NUMBER_IN(0), NUMBER_IN(1), NUMBER_IN(2), NUMBER_IN(3),
                   NUMBER_IN(4), NUMBER_IN(5), NUMBER_IN(6), NUMBER_IN(7),
                   NUMBER_IN(8), NUMBER_IN(9), WHOLE_STATE},
    statsRefs[] = {WHOLE_STATE, OUT(5, 8), OUT(6, 8), OUT(7, 8)};

#define LAUNCH(kernel, refs, outs, label)                                      \
  {AMPC_NODE_LAUNCH,                                                           \
   kernel,                                                                     \
   sizeof refs / sizeof *refs,                                                 \
   outs,                                                                       \
   refs,                                                                       \
   {0, 0},                                                                     \
   label,                                                                      \
   0}
static const ampc_node mainNodes[] = {LAUNCH(0, mainGemm, 1, "/Gemm")},
                       evalNodes[] = {LAUNCH(0, evalGemm, 1, "/Gemm"),
                                      LAUNCH(1, evalLossRefs, 4, "loss")},
                       stepNodes[] = {LAUNCH(0, stepGemm, 1, "/Gemm"),
#ifdef TOY_STATISTIC
                                      LAUNCH(3, statisticRefs, 1, "/Mean"),
#endif
                                      LAUNCH(2, gradientRefs, 7,
                                             "loss, /Gemm")},
                       applyNodes[] = {LAUNCH(4, applyRefs, 1, "update")},
                       statsNodes[] = {LAUNCH(5, statsRefs, 3, "statistics")};

#define LIST(nodes) {sizeof nodes / sizeof *nodes, nodes}
static const ampc_entry entries[] = {
    {"eval", evalInput, 3, 1, 4, LIST(evalNodes)},
    {"step", stepInput, 3, 5, 0, LIST(stepNodes)},
    {"apply", applyInput, 10, 5, 0, LIST(applyNodes)},
#ifndef TOY_NO_STATS
    {"grad_stats", applyInput + 10, 0, 5, 3, LIST(statsNodes)},
#endif
};

#ifndef TOY_METADATA
#ifdef TOY_F16
#define TOY_METADATA                                                           \
  "{\"amp\": \"fp16\", \"training\": {\"label\": \"labels\", \"classes\": 3, " \
  "\"ignore_index\": -1, \"optimizer\": \"momentum\"}}"
#else
#define TOY_METADATA                                                           \
  "{\"amp\": \"off\", \"training\": {\"label\": \"labels\", \"classes\": 3, "  \
  "\"ignore_index\": -1, \"optimizer\": \"momentum\"}}"
#endif
#endif

const ampc_program ampc_program_entry = {
    .abi_version = AMPC_ABI_VERSION,
    .struct_size = sizeof(ampc_program),
    .name = "toy",
    .producer = "by hand",
    .metadata = TOY_METADATA,
    .num_inputs = 1,
    .num_outputs = 1,
    .inputs = inputs,
    .outputs = outputs,
    .arena_bytes = {64, 0},
    .weights = weights,
    .weights_bytes = sizeof weights,
    .num_kernels = sizeof kernels / sizeof *kernels,
    .kernels = kernels,
    .main = LIST(mainNodes),
    .constant_bytes = 0,
    .num_entries = sizeof entries / sizeof *entries,
    .num_states = sizeof states / sizeof *states,
    .entries = entries,
    .states = states,
    .state_bytes = sizeof(State),
    .control_bytes = AT(w),
    .training = &ampc_training,
};
