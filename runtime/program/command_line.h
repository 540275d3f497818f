//===- command_line.h - The parts of a program's command line -------------===//
#ifndef AMPC_RUNTIME_PROGRAM_COMMAND_LINE_H
#define AMPC_RUNTIME_PROGRAM_COMMAND_LINE_H

#include "runtime/io/tensor.h"
#include "runtime/program/options.h"

namespace ampc::runtime {

/// The commands of a trainer; null for another program. One of an older
/// compiler has no room to say so.
const ampc_training_commands *trainingOf(const ampc_program &program);

/// A session that ends with its scope.
struct SessionHolder {
  ampc_session session = nullptr;
  ~SessionHolder() { ampc_session_destroy(session); }
};
/// Creates a session, with the states of a checkpoint if there is one.
Status openSession(const ampc_program &program, const Options &options,
                   SessionHolder *out);

// The commands.
Status runCommand(const ampc_program &program, const Options &options);
Status benchCommand(const ampc_program &program, const Options &options);
Status inspectCommand(const ampc_program &program, const Options &options);
/// Writes the GPU code of a program into a folder, which is made.
Status exportCode(const ampc_program &program, const char *folder);

/// What to do about inputs that no option names.
enum class Missing { Reject, Fill };

/// One tensor for each graph input, of its type and shape, from `--input`.
/// Missing::Fill takes random numbers for floats and zeros for the rest.
Status gatherInputs(const ampc_program &program, const Options &options,
                    Missing missing, Vec<Tensor> *outTensors);
/// What `--input` gives for `count` inputs; `*outGiven` tells which.
Status takeInputs(const ampc_tensor_desc *inputs, uint32_t count,
                  const Options &options, Vec<bool> *outGiven,
                  Vec<Tensor> *outTensors);
/// What stands in for input `index` in measurements: random numbers, or zeros
/// where they are no floats.
Status fillInput(const ampc_tensor_desc &desc, uint32_t index,
                 Tensor *outTensor);
/// One tensor for each graph input from `--data`, of its type, its first
/// dimension free. AMPC_INVALID names every input that the data lacks.
Status gatherData(const ampc_program &program, const Options &options,
                  Vec<Tensor> *outTensors);

/// Whether `value` is no file but numbers, `random`, or either behind a type.
bool isLiteral(const char *value);
/// The tensor for `desc` that a literal describes; `seed` varies `random`.
Status parseLiteral(const ampc_tensor_desc &desc, const char *value,
                    uint64_t seed, Tensor *outTensor);
/// Skips a leading `2x3xf32=` after checking it against `desc`.
Status skipType(const ampc_tensor_desc &desc, const char **value);
Status fillRandom(const ampc_tensor_desc &desc, uint64_t seed,
                  Tensor *outTensor);
Status fillZero(const ampc_tensor_desc &desc, Tensor *outTensor);
/// Random whole numbers from 0 to below `count`, which is positive, for a type
/// that is no float.
Status fillBelow(const ampc_tensor_desc &desc, uint64_t count, uint64_t seed,
                 Tensor *outTensor);

/// Splits `[NAME=]VALUE` by the longest of the names that fits; the only name
/// may be left out. `*outIndex` is `count` when VALUE stands for all of them.
Status splitName(const char *what, const char *text,
                 const ampc_tensor_desc *descs, uint32_t count,
                 uint32_t *outIndex, const char **outValue);

/// Checks `--output` and `--output-dir`, before there is anything to write.
Status checkOutputs(const ampc_program &program, const Options &options);
/// Writes the tensors, one for each graph output, where the options say, and
/// prints a summary of them when they say nothing.
Status deliverOutputs(const ampc_program &program, const Options &options,
                      const Vec<Tensor> &tensors);

/// Prints time and launches of each node, as the mean of `runs` runs.
void printProfile(ampc_session session, uint64_t runs);

/// Prints `note: TEXT` to stderr unless quiet.
void note(const Options &options, const char *text);
/// Flushes stdout; AMPC_IO if anything printed was lost.
Status finishOutput();
/// "12.3 MiB".
Str formatBytes(uint64_t bytes);

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_PROGRAM_COMMAND_LINE_H
