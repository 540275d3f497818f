/*===- classify.c - runs a compiled model from C
 * ---------------------------===*/

#include "libclassifier.so.h"

#include <stdio.h>
#include <stdlib.h>

#if CLASSIFIER_NUM_INPUTS != 1 || CLASSIFIER_NUM_OUTPUTS != 1
#error "expected a model of one input and one output"
#endif

enum { float32 = 1 }; /* as ONNX numbers TensorProto.DataType */

/** Prints what went wrong, frees the status, and gives the exit code. */
static int report(const char *what, ampc_status status) {
  int code = (int)classifier_status_code(status);
  fprintf(stderr, "error: %s: %s\n", what, classifier_status_message(status));
  classifier_status_free(status);
  return code;
}

/** The place of the largest of `count` numbers. */
static int64_t largest(const float *row, int64_t count) {
  int64_t best = 0;
  for (int64_t i = 1; i < count; ++i) {
    if (row[i] > row[best]) {
      best = i;
    }
  }
  return best;
}

/** Runs once with every element of the input set to `value`, and prints the
 *  class of each row. */
static int classify(ampc_session session, float value) {
  const ampc_tensor_desc *in = classifier_input(session, 0);
  const ampc_tensor_desc *out = classifier_output(session, 0);
  if (in->dtype != float32 || out->dtype != float32 || out->rank != 2) {
    fprintf(stderr, "error: expected a classifier of f32\n");
    return 2;
  }
  float *input = malloc(in->bytes), *scores = malloc(out->bytes);
  int code = 6;
  if (input && scores) {
    for (uint64_t i = 0; i < in->bytes / sizeof(float); ++i) {
      input[i] = value;
    }
    const void *inputs[] = {input};
    void *outputs[] = {scores};
    ampc_status status = classifier_run(session, inputs, outputs);
    code = status ? report("run", status) : 0;
    for (int64_t row = 0; code == 0 && row < out->dims[0]; ++row) {
      printf("row %lld: class %lld\n", (long long)row,
             (long long)largest(scores + row * out->dims[1], out->dims[1]));
    }
  }
  free(input);
  free(scores);
  return code;
}

int main(int argc, char **argv) {
  ampc_session_options options;
  classifier_options_init(&options);
  options.num_threads = 1;
  ampc_session session;
  ampc_status status = classifier_create(&options, &session);
  if (status) {
    return report("create", status);
  }
  int code = classify(session, argc > 1 ? strtof(argv[1], NULL) : 0);
  classifier_destroy(session);
  return code;
}
