//===- export_model.cpp - The original model with trained parameters ------===//
#include "runtime/training/export_model.h"

#include "runtime/core/checksum.h"
#include "runtime/training/convert_elements.h"

#include <algorithm>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ampc::runtime {
namespace {

Str folderOf(const Str &path) {
  const char *slash = strrchr(path.c_str(), '/');
  return slash
             ? Str(path.c_str(), static_cast<size_t>(slash + 1 - path.c_str()))
             : Str();
}

/// External data lies below the model's folder; a name that leads out of it
/// must not decide where files are written.
bool isPlainName(const Str &name) {
  return !name.empty() && !strchr(name.c_str(), '/') &&
         strlen(name.c_str()) == name.size() && !name.equals(".") &&
         !name.equals("..");
}

/// Whether files can be made in the folder of a path.
Status checkFolderOf(const Str &path) {
  Str folder = folderOf(path);
  const char *name = folder.empty() ? "." : folder.c_str();
  return access(name, W_OK | X_OK) == 0
             ? Status()
             : Status::error(AMPC_IO, "%s: cannot write into the folder: %s",
                             path.c_str(), strerror(errno));
}

/// Calls `use(bytes, count)` for [begin, end) of a file in pieces.
template <typename F>
Status forEachPiece(const FileReader &file, uint64_t begin, uint64_t end,
                    F &&use) {
  Bytes piece;
  constexpr uint64_t most = 1u << 20;
  AMPC_TRY(piece.allocate(most));
  while (begin < end) {
    uint64_t taken = end - begin < most ? end - begin : most;
    AMPC_TRY(file.read(begin, piece.data(), taken));
    AMPC_TRY(use(piece.data(), taken));
    begin += taken;
  }
  return Status();
}

bool sameFile(const Str &a, const Str &b) {
  struct stat first, second;
  return stat(a.c_str(), &first) == 0 && stat(b.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

} // namespace

Status ModelExport::addFile(const Str &name, uint32_t *outIndex) {
  if (name.empty()) {
    *outIndex = 0;
    return Status();
  }
  if (!isPlainName(name)) {
    return Status::error(AMPC_UNSUPPORTED,
                         "the model's data lies in '%s'; only files beside the "
                         "model can be exported",
                         name.c_str());
  }
  Str source = folderOf(files[0].source), target = folderOf(files[0].target);
  source.append(name.c_str());
  target.append(name.c_str());
  for (*outIndex = 0; *outIndex < files.size(); ++*outIndex) {
    if (files[*outIndex].source.equals(source.c_str())) {
      return Status();
    }
  }
  File &file = files.push(File());
  file.source = std::move(source);
  file.target = std::move(target);
  return file.reader.open(file.source.c_str()).withPrefix(file.source.c_str());
}

Status ModelExport::addPatch(const InitializerPlace &place) {
  int64_t state = trainer->findState(place.name.c_str());
  if (state < 0) {
    return Status::error(AMPC_INVALID, "the program's metadata: no state '%s'",
                         place.name.c_str());
  }
  if (!place.isContiguous) {
    return Status::error(AMPC_UNSUPPORTED,
                         "the initializer '%s' does not lie in one piece in "
                         "the model; save the model with raw data",
                         place.name.c_str());
  }
  Patch patch;
  patch.state = static_cast<uint32_t>(state);
  patch.place = &place;
  AMPC_TRY(addFile(place.file, &patch.file));
  const ampc_tensor_desc &desc = trainer->program().states[state].tensor;
  uint64_t elements = desc.bytes / ampc_dtype_size(desc.dtype);
  uint32_t dtype = place.dtype ? place.dtype : desc.dtype;
  ElementConversion ignored;
  AMPC_TRY(findConversion(desc.dtype, dtype, &ignored)
               .withPrefix(place.name.c_str()));
  if (place.bytes != elements * ampc_dtype_size(dtype) ||
      !files[patch.file].reader.contains(place.offset, place.bytes)) {
    return Status::error(
        AMPC_INVALID,
        "the initializer '%s' does not lie where the program's "
        "metadata says",
        place.name.c_str());
  }
  patches.push(patch);
  return Status();
}

/// In the order of files and places; no two may overlap.
Status ModelExport::checkPatches() {
  std::sort(patches.begin(), patches.end(), [](const Patch &a, const Patch &b) {
    return a.file != b.file ? a.file < b.file
                            : a.place->offset < b.place->offset;
  });
  for (size_t i = 1; i < patches.size(); ++i) {
    const Patch &before = patches[i - 1];
    if (before.file == patches[i].file &&
        before.place->offset + before.place->bytes > patches[i].place->offset) {
      return Status::error(AMPC_INVALID,
                           "the initializers '%s' and '%s' "
                           "overlap",
                           before.place->name.c_str(),
                           patches[i].place->name.c_str());
    }
  }
  return Status();
}

/// Whether the model is the one that the program was compiled from.
Status ModelExport::checkModel(const char *path) {
  const TrainingFacts &facts = trainer->facts();
  const FileReader &file = files[0].reader;
  bool same = !facts.hasModelBytes || file.size() == facts.modelBytes;
  Sha256 hash;
  uint32_t sum = 0;
  AMPC_TRY(forEachPiece(file, 0, file.size(),
                        [&](const uint8_t *bytes, uint64_t count) {
                          if (!facts.modelSha256.empty()) {
                            hash.update(bytes, count);
                          }
                          sum = crc32c(sum, bytes, count);
                          return Status();
                        }));
  same = same && (facts.modelSha256.empty() ||
                  hash.finish().equals(facts.modelSha256.c_str()));
  same = same && (!facts.hasModelCrc32c || sum == facts.modelCrc32c);
  return same ? Status()
              : Status::error(AMPC_INVALID,
                              "%s: it is not the model that the program was "
                              "compiled from; name that with --model",
                              path);
}

Status ModelExport::open(const Trainer &chosen, const char *model,
                         const char *target) {
  trainer = &chosen;
  const TrainingFacts &facts = chosen.facts();
  const char *path = model ? model : facts.modelFile.c_str();
  if (!*path || facts.initializers.empty()) {
    return Status::error(AMPC_UNSUPPORTED,
                         "the program does not say where its parameters lie in "
                         "the model; compile it again to export");
  }
  File &file = files.push(File());
  file.source = Str(path);
  file.target = Str(target);
  AMPC_TRY(file.reader.open(path).withPrefix(path));
  AMPC_TRY(checkModel(path));
  AMPC_TRY(checkFolderOf(file.target));
  for (const InitializerPlace &place : facts.initializers) {
    AMPC_TRY(addPatch(place));
  }
  for (const File &each : files) {
    if (sameFile(each.source, each.target)) {
      return Status::error(AMPC_USAGE,
                           "%s: the export would overwrite the original; "
                           "choose another %s",
                           each.target.c_str(),
                           &each == files.begin() ? "name" : "folder");
    }
  }
  return checkPatches();
}

Status ModelExport::writePatch(ampc_session session, const Patch &patch,
                               FileWriter *out) {
  const ampc_tensor_desc &desc = trainer->program().states[patch.state].tensor;
  Bytes value, narrowed;
  AMPC_TRY(value.allocate(desc.bytes));
  AMPC_TRY(Status(ampc_session_read_state(session, patch.state, value.data())));
  ElementConversion conversion;
  AMPC_TRY(findConversion(desc.dtype,
                          patch.place->dtype ? patch.place->dtype : desc.dtype,
                          &conversion));
  AMPC_TRY(narrowed.allocate(patch.place->bytes));
  AMPC_TRY(conversion.apply(value.data(), narrowed.data(),
                            desc.bytes / ampc_dtype_size(desc.dtype)));
  return out->write(narrowed.data(), patch.place->bytes);
}

Status ModelExport::writeFile(ampc_session session, uint32_t index) {
  const File &file = files[index];
  FileWriter out;
  AMPC_TRY(out.open(file.target.c_str()));
  auto copy = [&](uint64_t begin, uint64_t end) {
    return forEachPiece(file.reader, begin, end,
                        [&](const uint8_t *bytes, uint64_t count) {
                          return out.write(bytes, count);
                        });
  };
  uint64_t at = 0;
  for (const Patch &patch : patches) {
    if (patch.file == index) {
      AMPC_TRY(copy(at, patch.place->offset));
      AMPC_TRY(writePatch(session, patch, &out));
      at = patch.place->offset + patch.place->bytes;
    }
  }
  AMPC_TRY(copy(at, file.reader.size()));
  return out.commit();
}

Status ModelExport::write(ampc_session session) {
  // The model last: it is what refers to the others.
  for (uint32_t i = static_cast<uint32_t>(files.size()); i-- > 0;) {
    AMPC_TRY(writeFile(session, i).withPrefix(files[i].target.c_str()));
  }
  return Status();
}

} // namespace ampc::runtime
