//===- tensor.h - Tensors in files ----------------------------------------===//
//
// Readers take any file: sizes are checked before they are used, memory is
// taken only as far as the file's own size justifies it, and an error says what
// was expected and what was found. Writers never leave half a file: they write
// beside the destination, sync, and rename.
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_RUNTIME_IO_TENSOR_H
#define AMPC_RUNTIME_IO_TENSOR_H

#include "runtime/core/dtype.h"

namespace ampc::runtime {

/// A dense row-major tensor.
struct Tensor {
  Str name;                        // empty when the format has none
  uint32_t dtype = AMPC_DTYPE_F32; // or dtypeRaw16
  Vec<int64_t> dims;
  Bytes data;
};

/// A tensor to be written; nothing is owned.
struct TensorView {
  const char *name;
  uint32_t dtype;
  const int64_t *dims;
  size_t rank;
  const void *data;
  uint64_t bytes;
};

TensorView view(const Tensor &tensor);

struct ReadOptions {
  /// Read only the tensor of this name from a file that holds several; null:
  /// all of them.
  const char *only = nullptr;
  /// Most bytes that the tensors read from one file may take. Compressed files
  /// are held to a tighter bound that grows with the file.
  uint64_t maxBytes = 1ull << 40;
};

enum class TensorFormat { Npy, Npz, OnnxTensor, Safetensors };

/// The format of a path by its extension (.npy .npz .pb .safetensors);
/// AMPC_USAGE for any other.
Status findFormat(const char *path, TensorFormat *outFormat);
/// Whether the format holds several named tensors.
bool isContainer(TensorFormat format);

/// Reads the tensors of a file, in the file's order. Errors begin with the
/// path: AMPC_IO, AMPC_INVALID, AMPC_UNSUPPORTED, AMPC_LIMIT.
Status readTensors(const char *path, const ReadOptions &options,
                   Vec<Tensor> *outTensors);

/// Writes tensors to a file, or fails and leaves what was there. A format that
/// is no container takes exactly one.
Status writeTensors(const char *path, const TensorView *tensors, size_t count);

// One reader and one writer per format; errors do not name the path.
class FileReader;
class FileWriter;
Status readNpy(const FileReader &file, const ReadOptions &options,
               Vec<Tensor> *outTensors);
Status readNpz(const FileReader &file, const ReadOptions &options,
               Vec<Tensor> *outTensors);
Status readOnnxTensor(const FileReader &file, const ReadOptions &options,
                      Vec<Tensor> *outTensors);
Status readSafetensors(const FileReader &file, const ReadOptions &options,
                       Vec<Tensor> *outTensors);
Status writeNpy(FileWriter &file, const TensorView &tensor);
Status writeNpz(FileWriter &file, const TensorView *tensors, size_t count);
Status writeOnnxTensor(FileWriter &file, const TensorView &tensor);
Status writeSafetensors(FileWriter &file, const TensorView *tensors,
                        size_t count);

/// Takes one NAME=@FILE off a list of them. A comma ends it only where another
/// NAME=@ follows, so that paths may have some.
Str takeDataItem(const char **at);

/// Makes `tensor` what the program's input `desc` expects. Shapes must be
/// equal, and so must types, except that raw 16-bit values become bf16, and f32
/// is rounded to f16 or bf16, in which case `*outNote` is set to one line of
/// text that says so. AMPC_INVALID otherwise.
Status convertToInput(const ampc_tensor_desc &desc, Tensor *tensor,
                      Str *outNote);
/// The part of convertToInput that looks at types alone.
Status convertType(const char *name, uint32_t dtype, Tensor *tensor,
                   Str *outNote);

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_IO_TENSOR_H
