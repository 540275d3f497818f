/* Runs the library of relu_scale.txtpb. */
#include "librelu_scale.so.h"
#include <stdio.h>

int main(void) {
  const float x[6] = {1, -2, 3, -4, 5, -6};
  float y[6];
  const void *inputs[RELU_SCALE_NUM_INPUTS] = {x};
  void *outputs[RELU_SCALE_NUM_OUTPUTS] = {y};
  ampc_session_options options;
  ampc_session session;
  ampc_status status;
  relu_scale_options_init(&options);
  options.num_threads = 1;
  status = relu_scale_create(&options, &session);
  if (status == NULL) {
    status = relu_scale_run(session, inputs, outputs);
  }
  if (status != NULL) {
    printf("%d: %s\n", relu_scale_status_code(status),
           relu_scale_status_message(status));
    relu_scale_status_free(status);
    return 1;
  }
  printf("%s -> %s:", relu_scale_input(session, 0)->name,
         relu_scale_output(session, 0)->name);
  for (unsigned i = 0; i < RELU_SCALE_OUTPUT_0_BYTES / sizeof(float); ++i) {
    printf(" %g", y[i]);
  }
  printf("\n");
  relu_scale_destroy(session);
  return 0;
}
