//===- inputs.cpp - The inputs of a program from options and files --------===//
#include "runtime/core/dtype.h"
#include "runtime/program/command_line.h"

namespace ampc::runtime {

Status splitName(const char *what, const char *text,
                 const ampc_tensor_desc *descs, uint32_t count,
                 uint32_t *outIndex, const char **outValue) {
  size_t longest = 0;
  *outIndex = count;
  *outValue = text;
  // Names may hold '=' themselves, so they are looked for, not split off.
  for (uint32_t i = 0; i < count; ++i) {
    size_t length = strlen(descs[i].name);
    if (strncmp(text, descs[i].name, length) == 0 && text[length] == '=' &&
        length >= longest) {
      longest = length;
      *outIndex = i;
      *outValue = text + length + 1;
    }
  }
  if (*outIndex < count || count == 1) {
    *outIndex = *outIndex < count ? *outIndex : 0;
    return Status();
  }
  const char *at = strstr(text, "=@");
  if (!at && text[0] == '@') {
    return Status();
  }
  Str name(text, at ? static_cast<size_t>(at - text) : strcspn(text, "="));
  Vec<const char *> names;
  for (uint32_t i = 0; i < count; ++i) {
    names.push(descs[i].name);
  }
  const char *near = nearest(name.c_str(), names);
  return Status::error(AMPC_USAGE,
                       near ? "unknown %s '%s'; did you mean '%s'?"
                            : "unknown %s '%s'; see the command inspect",
                       what, name.c_str(), near);
}

namespace {

/// Reads the tensor for `desc` from a file of one or of several.
Status readFor(const ampc_tensor_desc &desc, const char *path, Tensor *out) {
  TensorFormat format;
  AMPC_TRY(findFormat(path, &format));
  ReadOptions options;
  Vec<Tensor> found;
  options.only = isContainer(format) ? desc.name : nullptr;
  AMPC_TRY(readTensors(path, options, &found));
  if (found.empty()) {
    // The only tensor of a file need not have the input's name.
    options.only = nullptr;
    AMPC_TRY(readTensors(path, options, &found));
  }
  if (found.size() != 1) {
    return Status::error(AMPC_INVALID,
                         "%s: expected a tensor named '%s', or a single one, "
                         "got %zu others",
                         path, desc.name, found.size());
  }
  *out = std::move(found[0]);
  return Status();
}

const char *skipAt(const char *value) {
  return *value == '@' ? value + 1 : value;
}

Status takeInput(const ampc_tensor_desc &desc, const Options &options,
                 uint32_t index, const char *value, Tensor *out) {
  if (isLiteral(value)) {
    return parseLiteral(desc, value, index + 1, out);
  }
  AMPC_TRY(skipType(desc, &value));
  AMPC_TRY(readFor(desc, skipAt(value), out));
  Str text;
  AMPC_TRY(convertToInput(desc, out, &text));
  if (!text.empty()) {
    note(options, text.c_str());
  }
  return Status();
}

Status missingInputs(const ampc_program &program, const Vec<bool> &given,
                     ampc_code code, const char *hint) {
  Str list;
  for (uint32_t i = 0; i < program.num_inputs; ++i) {
    if (!given[i]) {
      list.appendf("%s'%s' (%s)", list.empty() ? "" : ", ",
                   program.inputs[i].name, describe(program.inputs[i]).c_str());
    }
  }
  return list.empty()
             ? Status()
             : Status::error(code, "missing input %s; %s", list.c_str(), hint);
}

/// Checks one array of a data set: like the input, but its first dimension may
/// differ.
Status takeData(const ampc_program &program, const Options &options,
                uint32_t index, Tensor *tensor) {
  const ampc_tensor_desc &desc = program.inputs[index];
  bool fits = tensor->dims.size() == desc.rank;
  for (uint32_t i = 1; fits && i < desc.rank; ++i) {
    fits = tensor->dims[i] == desc.dims[i];
  }
  if (!fits) {
    Str got = describe(tensor->dtype, tensor->dims.data(), tensor->dims.size());
    return Status::error(AMPC_INVALID,
                         "input '%s': expected data like %s with any first "
                         "dimension, got %s",
                         desc.name, describe(desc).c_str(), got.c_str());
  }
  Str text;
  AMPC_TRY(convertType(desc.name, desc.dtype, tensor, &text));
  if (!text.empty()) {
    note(options, text.c_str());
  }
  return Status();
}

/// Takes the arrays that are inputs out of one file.
Status takeDataFile(const ampc_program &program, const Options &options,
                    const char *path, Vec<bool> *given, Vec<Tensor> *out) {
  Vec<Tensor> arrays;
  AMPC_TRY(readTensors(path, ReadOptions(), &arrays));
  for (Tensor &array : arrays) {
    uint32_t index = 0;
    while (index < program.num_inputs &&
           !array.name.equals(program.inputs[index].name)) {
      ++index;
    }
    if (index == program.num_inputs) {
      Str text;
      text.appendf("%s: '%s' is no input and is not used", path,
                   array.name.c_str());
      note(options, text.c_str());
      continue;
    }
    AMPC_TRY(takeData(program, options, index, &array));
    (*out)[index] = std::move(array);
    (*given)[index] = true;
  }
  return Status();
}

/// NAME=@FILE,NAME=@FILE,...
Status takeDataList(const ampc_program &program, const Options &options,
                    Vec<bool> *given, Vec<Tensor> *out) {
  for (const char *at = options.data; *at;) {
    Str item = takeDataItem(&at);
    uint32_t index;
    const char *value;
    AMPC_TRY(splitName("input", item.c_str(), program.inputs,
                       program.num_inputs, &index, &value));
    if (index == program.num_inputs) {
      return Status::error(AMPC_USAGE,
                           "expected NAME=@FILE in --data, got "
                           "'%s'",
                           item.c_str());
    }
    Tensor &tensor = (*out)[index];
    AMPC_TRY(readFor(program.inputs[index], skipAt(value), &tensor));
    AMPC_TRY(takeData(program, options, index, &tensor));
    (*given)[index] = true;
  }
  return Status();
}

} // namespace

Status takeInputs(const ampc_tensor_desc *inputs, uint32_t count,
                  const Options &options, Vec<bool> *outGiven,
                  Vec<Tensor> *outTensors) {
  outGiven->resize(count);
  outTensors->resize(count);
  for (const char *text : options.inputs) {
    uint32_t index;
    const char *value;
    AMPC_TRY(splitName("input", text, inputs, count, &index, &value));
    if (index == count) {
      return Status::error(AMPC_USAGE,
                           "expected --input=NAME=VALUE where there are %u "
                           "inputs, got '%s'",
                           count, text);
    }
    if ((*outGiven)[index]) {
      return Status::error(AMPC_USAGE, "input '%s' is given twice",
                           inputs[index].name);
    }
    AMPC_TRY(
        takeInput(inputs[index], options, index, value, &(*outTensors)[index]));
    (*outGiven)[index] = true;
  }
  return Status();
}

Status fillInput(const ampc_tensor_desc &desc, uint32_t index,
                 Tensor *outTensor) {
  return isFloat(desc.dtype) ? fillRandom(desc, index + 1, outTensor)
                             : fillZero(desc, outTensor);
}

Status gatherInputs(const ampc_program &program, const Options &options,
                    Missing missing, Vec<Tensor> *outTensors) {
  Vec<bool> given;
  AMPC_TRY(takeInputs(program.inputs, program.num_inputs, options, &given,
                      outTensors));
  for (uint32_t i = 0; missing == Missing::Fill && i < program.num_inputs;
       ++i) {
    if (!given[i]) {
      AMPC_TRY(fillInput(program.inputs[i], i, &(*outTensors)[i]));
      given[i] = true;
    }
  }
  return missingInputs(program, given, AMPC_USAGE,
                       "give --input=NAME=@FILE, or --input=NAME=0");
}

Status gatherData(const ampc_program &program, const Options &options,
                  Vec<Tensor> *outTensors) {
  Vec<bool> given;
  given.resize(program.num_inputs);
  outTensors->resize(program.num_inputs);
  if (strstr(options.data, "=@")) {
    AMPC_TRY(takeDataList(program, options, &given, outTensors));
  } else {
    AMPC_TRY(takeDataFile(program, options, skipAt(options.data), &given,
                          outTensors));
  }
  return missingInputs(program, given, AMPC_INVALID,
                       "the data set must hold every input by its name");
}

} // namespace ampc::runtime
