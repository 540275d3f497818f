//===- checkpoint_folder.cpp - Generations of checkpoints -----------------===//
#include "runtime/training/checkpoint_folder.h"

#include <algorithm>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ampc::runtime {
namespace {

constexpr char prefix[] = "step-";
constexpr char suffix[] = ".safetensors";

Status systemError(const char *what, const Str &path) {
  return Status::error(AMPC_IO, "%s: cannot %s: %s", path.c_str(), what,
                       strerror(errno));
}

/// Reads step-00000120.safetensors, and the name of an unfinished one, with
/// .tmp. and a number behind.
bool parseName(const char *name, uint64_t *outStep, bool *outUnfinished) {
  if (strncmp(name, prefix, strlen(prefix)) != 0) {
    return false;
  }
  const char *digits = name + strlen(prefix);
  char *end;
  errno = 0;
  *outStep = strtoull(digits, &end, 10);
  if (errno || end - digits < 8 || *digits < '0' || *digits > '9' ||
      strncmp(end, suffix, strlen(suffix)) != 0) {
    return false;
  }
  const char *rest = end + strlen(suffix);
  *outUnfinished = strncmp(rest, ".tmp.", 5) == 0;
  return *outUnfinished || !*rest;
}

template <typename F>
Status forEachName(const Str &folder, F &&visit) {
  DIR *stream = opendir(folder.c_str());
  if (!stream) {
    return systemError("list the folder", folder);
  }
  errno = 0;
  while (const dirent *entry = readdir(stream)) {
    uint64_t step;
    bool unfinished;
    if (parseName(entry->d_name, &step, &unfinished)) {
      visit(entry->d_name, step, unfinished);
    }
    errno = 0;
  }
  Status status = errno ? systemError("list the folder", folder) : Status();
  closedir(stream);
  return status;
}

} // namespace

CheckpointFolder::~CheckpointFolder() {
  if (lock >= 0) {
    close(lock);
  }
}

Status CheckpointFolder::open(const char *path) {
  folder = Str(path);
  if (mkdir(path, 0777) != 0 && errno != EEXIST) {
    return systemError("make the folder", folder);
  }
  lock = ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock < 0) {
    return systemError("open the folder", folder);
  }
  // A file system without locks is used without.
  if (flock(lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return Status::error(AMPC_IO, "%s: another process trains into the folder",
                         path);
  }
  return removeUnfinished();
}

Status CheckpointFolder::removeUnfinished() const {
  return forEachName(folder, [&](const char *name, uint64_t, bool unfinished) {
    if (unfinished) {
      unlinkat(lock, name, 0);
    }
  });
}

Status CheckpointFolder::list(Vec<uint64_t> *outSteps) const {
  AMPC_TRY(
      forEachName(folder, [&](const char *, uint64_t step, bool unfinished) {
        if (!unfinished) {
          outSteps->push(step);
        }
      }));
  std::sort(outSteps->begin(), outSteps->end());
  return Status();
}

Str CheckpointFolder::pathOf(uint64_t step) const {
  Str path = folder.copy();
  path.appendf("/%s%08llu%s", prefix, static_cast<unsigned long long>(step),
               suffix);
  return path;
}

Status CheckpointFolder::openNewest(const ampc_program &program,
                                    Checkpoint *out, bool *outFound,
                                    Str *outNotes) const {
  Vec<uint64_t> steps;
  AMPC_TRY(list(&steps));
  *outFound = false;
  for (size_t i = steps.size(); i-- > 0;) {
    Checkpoint candidate;
    bool foreign;
    Str path = pathOf(steps[i]);
    Status status = candidate.open(program, path.c_str(), &foreign);
    if (status.ok() && candidate.info().progress.step != steps[i]) {
      status = Status::error(
          AMPC_CHECKPOINT, "%s: unusable checkpoint: it is of step %llu",
          path.c_str(),
          static_cast<unsigned long long>(candidate.info().progress.step));
    }
    if (status.ok()) {
      *out = std::move(candidate);
      *outFound = true;
      return Status();
    }
    if (foreign) {
      return status;
    }
    outNotes->appendf("%s\n", status.message());
  }
  return steps.empty() ? Status()
                       : Status::error(AMPC_CHECKPOINT,
                                       "%s: none of %zu checkpoints is "
                                       "usable",
                                       folder.c_str(), steps.size());
}

Status CheckpointFolder::add(ampc_session session, const CheckpointInfo &info,
                             uint64_t keep) {
  uint64_t newest = info.progress.step;
  AMPC_TRY(writeCheckpoint(session, pathOf(newest).c_str(), info));
  Vec<uint64_t> steps;
  AMPC_TRY(list(&steps));
  uint64_t seen = 0;
  for (size_t i = steps.size(); i-- > 0;) {
    // Only now, as the new one is durable.
    seen += steps[i] <= newest;
    if (steps[i] <= newest && seen > keep) {
      Str path = pathOf(steps[i]);
      if (unlink(path.c_str()) != 0 && errno != ENOENT) {
        return systemError("remove the file", path);
      }
    }
  }
  return Status();
}

} // namespace ampc::runtime
