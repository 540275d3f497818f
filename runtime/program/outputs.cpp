//===- outputs.cpp - Files and summaries of a program's outputs -----------===//
#include "runtime/core/dtype.h"
#include "runtime/program/command_line.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

namespace ampc::runtime {
namespace {

/// One `--output`: its file, and the output or (index == count) all of them.
Status splitOutput(const ampc_program &program, const char *text,
                   uint32_t *outIndex, const char **outPath) {
  TensorFormat format;
  uint32_t count = program.num_outputs;
  const char *bare = *text == '@' ? text + 1 : text;
  AMPC_TRY(findFormat(text, &format));
  bool named = false;
  for (uint32_t i = 0; i < count; ++i) {
    size_t length = strlen(program.outputs[i].name);
    named |= strncmp(text, program.outputs[i].name, length) == 0 &&
             text[length] == '=';
  }
  if (!named && isContainer(format) && !strstr(text, "=@")) {
    *outIndex = count;
    *outPath = bare;
    return Status();
  }
  const char *value;
  AMPC_TRY(splitName("output", text, program.outputs, count, outIndex, &value));
  if (*outIndex == count) {
    return Status::error(AMPC_USAGE,
                         "expected --output=NAME=@FILE where there are %u "
                         "outputs, got '%s'",
                         count, text);
  }
  *outPath = *value == '@' ? value + 1 : value;
  return findFormat(*outPath, &format);
}

/// A file name for an output: letters, digits, '.', '-' and '_' stay.
Str fileName(const ampc_program &program, uint32_t index) {
  auto clean = [](const char *name) {
    Str out;
    for (; *name; ++name) {
      bool keep = (*name >= '0' && *name <= '9') ||
                  ((*name | 0x20) >= 'a' && (*name | 0x20) <= 'z') ||
                  *name == '-' || (*name == '.' && !out.empty());
      out.appendChar(keep ? *name : '_');
    }
    return out;
  };
  Str out = clean(program.outputs[index].name);
  bool clash = out.empty() || out.size() > 200;
  for (uint32_t i = 0; i < program.num_outputs && !clash; ++i) {
    clash = i != index && clean(program.outputs[i].name).equals(out.c_str());
  }
  if (clash) {
    out = Str(out.c_str(), out.size() < 200 ? out.size() : 200);
    out.appendf("_%u", index);
  }
  return out;
}

void printStatistics(const Tensor &tensor, uint64_t elements) {
  double low = 0, high = 0, sum = 0;
  uint64_t nans = 0, infinities = 0, finite = 0;
  for (uint64_t i = 0; i < elements; ++i) {
    double value = elementAsDouble(tensor.dtype, tensor.data.data(), i);
    if (value != value) {
      ++nans;
      continue;
    }
    if (value - value != 0) { // an infinity less itself is a NaN
      ++infinities;
    } else {
      sum += value;
      ++finite;
    }
    bool first = i == nans;
    low = first || value < low ? value : low;
    high = first || value > high ? value : high;
  }
  if (nans < elements) {
    printf("  min %.6g  max %.6g", low, high);
  }
  if (finite) {
    printf("  mean %.6g", sum / static_cast<double>(finite));
  }
  if (nans) {
    printf("  NaN %llu", static_cast<unsigned long long>(nans));
  }
  if (infinities) {
    printf("  infinite %llu", static_cast<unsigned long long>(infinities));
  }
  printf("\n  values");
  uint64_t shown = elements < 8 ? elements : 8;
  for (uint64_t i = 0; i < shown; ++i) {
    printf(" %.6g", elementAsDouble(tensor.dtype, tensor.data.data(), i));
  }
  printf(elements > shown ? " ...\n" : "\n");
}

/// The five largest of `count` elements from `begin` on; ties to the first.
void printTopFive(const Tensor &tensor, uint64_t begin, uint64_t count) {
  constexpr int wanted = 5;
  uint64_t best[wanted];
  double bestValue[wanted];
  int found = 0;
  for (uint64_t i = 0; i < count; ++i) {
    double value = elementAsDouble(tensor.dtype, tensor.data.data(), begin + i);
    int at = found;
    while (at > 0 && value > bestValue[at - 1]) {
      --at;
    }
    if (at == wanted || value != value) {
      continue;
    }
    found += found < wanted;
    for (int k = found - 1; k > at; --k) {
      best[k] = best[k - 1];
      bestValue[k] = bestValue[k - 1];
    }
    best[at] = i;
    bestValue[at] = value;
  }
  printf("  top");
  for (int k = 0; k < found; ++k) {
    printf(" %llu (%.6g)", static_cast<unsigned long long>(best[k]),
           bestValue[k]);
  }
  printf("\n");
}

void printSummary(const Tensor &tensor) {
  Str text = describe(tensor.dtype, tensor.dims.data(), tensor.dims.size());
  printf("%s: %s\n", tensor.name.c_str(), text.c_str());
  uint64_t elements = tensor.data.size() / ampc_dtype_size(tensor.dtype);
  if (elements == 0) {
    return;
  }
  printStatistics(tensor, elements);
  // Vectors of scores: few rows, more classes than are shown.
  size_t rank = tensor.dims.size();
  if (!isFloat(tensor.dtype) || (rank != 1 && rank != 2)) {
    return;
  }
  uint64_t classes = static_cast<uint64_t>(tensor.dims[rank - 1]);
  uint64_t rows = elements / classes;
  for (uint64_t row = 0; classes > 5 && rows <= 8 && row < rows; ++row) {
    printTopFive(tensor, row * classes, classes);
  }
}

} // namespace

Status checkOutputs(const ampc_program &program, const Options &options) {
  for (const char *text : options.outputs) {
    uint32_t index;
    const char *path;
    AMPC_TRY(splitOutput(program, text, &index, &path));
  }
  if (options.outputDir && mkdir(options.outputDir, 0777) != 0 &&
      errno != EEXIST) {
    return Status::error(AMPC_IO, "%s: cannot create the folder: %s",
                         options.outputDir, strerror(errno));
  }
  return Status();
}

Status deliverOutputs(const ampc_program &program, const Options &options,
                      const Vec<Tensor> &tensors) {
  Vec<TensorView> views;
  for (const Tensor &tensor : tensors) {
    views.push(view(tensor));
  }
  for (const char *text : options.outputs) {
    uint32_t index;
    const char *path;
    AMPC_TRY(splitOutput(program, text, &index, &path));
    bool all = index == program.num_outputs;
    AMPC_TRY(writeTensors(path, views.data() + (all ? 0 : index),
                          all ? views.size() : 1));
  }
  for (uint32_t i = 0; options.outputDir && i < program.num_outputs; ++i) {
    Str path(options.outputDir);
    path.appendf("/%s.npy", fileName(program, i).c_str());
    AMPC_TRY(writeTensors(path.c_str(), &views[i], 1));
  }
  if (options.outputs.empty() && !options.outputDir) {
    for (const Tensor &tensor : tensors) {
      printSummary(tensor);
    }
  }
  return Status();
}

} // namespace ampc::runtime
