//===- training_facts.cpp - What the metadata says of a trainer -----------===//
#include "runtime/training/training_facts.h"

#include "runtime/core/dtype.h"
#include "runtime/io/json.h"

namespace ampc::runtime {
namespace {

uint32_t dtypeNamed(const Str &name) {
  for (uint32_t dtype = 1; dtype <= AMPC_DTYPE_BF16; ++dtype) {
    if (ampc_dtype_size(dtype) && name.equals(ampc_dtype_name(dtype))) {
      return dtype;
    }
  }
  return 0;
}

Status readInitializer(JsonReader &json, InitializerPlace *out) {
  return json.object([&](const Str &key) {
    if (key.equals("name")) {
      return json.string(&out->name);
    }
    if (key.equals("file")) {
      return json.string(&out->file);
    }
    if (key.equals("offset")) {
      out->isContiguous = true;
      return json.natural(&out->offset);
    }
    if (key.equals("bytes")) {
      return json.natural(&out->bytes);
    }
    if (key.equals("dtype")) {
      Str name;
      AMPC_TRY(json.string(&name));
      out->dtype = dtypeNamed(name);
      return out->dtype ? Status()
                        : Status::error(AMPC_INVALID, "unknown type '%s'",
                                        name.c_str());
    }
    return json.skip();
  });
}

Status readTraining(JsonReader &json, TrainingFacts *out, bool *saysScaling) {
  return json.object([&](const Str &key) {
    if (key.equals("optimizer")) {
      return json.string(&out->optimizer);
    }
    if (key.equals("defaults")) {
      return json.object([&](const Str &name) {
        NumberDefault &number = out->defaults.push(NumberDefault());
        number.name.append(name.c_str());
        return json.real(&number.value);
      });
    }
    if (key.equals("label")) {
      return json.string(&out->label);
    }
    if (key.equals("classes")) {
      out->hasClasses = true;
      return json.integer(&out->classes);
    }
    if (key.equals("ignore_index")) {
      out->hasIgnoreIndex = true;
      return json.integer(&out->ignoreIndex);
    }
    if (key.equals("loss_scaling")) {
      *saysScaling = true;
      return json.boolean(&out->computesF16Gradients);
    }
    return json.skip();
  });
}

Status readCrc(JsonReader &json, uint32_t *out) {
  uint64_t value;
  AMPC_TRY(json.natural(&value));
  *out = static_cast<uint32_t>(value);
  return value <= UINT32_MAX
             ? Status()
             : Status::error(AMPC_INVALID, "expected a number of 32 bits");
}

} // namespace

const double *TrainingFacts::findDefault(const char *name) const {
  for (const NumberDefault &number : defaults) {
    if (number.name.equals(name)) {
      return &number.value;
    }
  }
  return nullptr;
}

Status readTrainingFacts(const char *metadata, TrainingFacts *out) {
  if (!metadata || !*metadata) {
    return Status();
  }
  JsonReader json(metadata, strlen(metadata));
  bool saysScaling = false;
  Str amp;
  Status status = json.object([&](const Str &key) {
    if (key.equals("amp")) {
      return json.string(&amp);
    }
    if (key.equals("training")) {
      return readTraining(json, out, &saysScaling);
    }
    if (key.equals("model_file")) {
      return json.string(&out->modelFile);
    }
    if (key.equals("model_bytes")) {
      out->hasModelBytes = true;
      return json.natural(&out->modelBytes);
    }
    if (key.equals("model_sha256")) {
      return json.string(&out->modelSha256);
    }
    if (key.equals("model_crc32c")) {
      out->hasModelCrc32c = true;
      return readCrc(json, &out->modelCrc32c);
    }
    if (key.equals("initializers")) {
      return json.array([&] {
        return readInitializer(json,
                               &out->initializers.push(InitializerPlace()));
      });
    }
    return json.skip();
  });
  if (!saysScaling) {
    out->computesF16Gradients = amp.equals("fp16") || amp.equals("pure-fp16");
  }
  return std::move(status).withPrefix("the program's metadata");
}

} // namespace ampc::runtime
