//===- recording.cpp - What launches read, write and multiply, in files ---===//
#include "runtime/devices/sim/recording.h"

#include "runtime/devices/sim/global_memory.h"

#include <errno.h>
#include <sys/stat.h>

namespace ampc::runtime::sim {

Recording::~Recording() {
  if (index) {
    fclose(index);
  }
}

FILE *Recording::openFile(const char *name) {
  Str path = folder.copy();
  path.append("/");
  path.append(name);
  FILE *file = fopen(path.c_str(), "wb");
  failed |= !file;
  return file;
}

void Recording::write(FILE *file, const void *bytes, size_t count) {
  failed |= !file || fwrite(bytes, 1, count, file) != count;
}

Status Recording::open(const char *path) {
  folder = Str(path);
  if (mkdir(path, 0777) != 0 && errno != EEXIST) {
    return Status::error(AMPC_IO, "cannot make the folder '%s' for a recording",
                         path);
  }
  index = openFile("launches.jsonl");
  return status();
}

Status Recording::status() const {
  return failed ? Status::error(AMPC_IO, "cannot write the recording in '%s'",
                                folder.c_str())
                : Status();
}

static void appendQuoted(Str *out, const char *text) {
  out->append("\"");
  for (const char *c = text ? text : ""; *c; ++c) {
    if (*c == '"' || *c == '\\') {
      out->appendChar('\\');
    }
    out->appendChar(static_cast<unsigned char>(*c) < 0x20 ? ' ' : *c);
  }
  out->append("\"");
}

void Recording::begin(const LaunchConfig &config, const char *label,
                      uint32_t arch, const GlobalMemory &memory) {
  const ampc_sim_kernel &kernel = *config.kernel;
  Str line;
  line.appendf("{\"launch\": %u, \"kernel\": ", launch);
  appendQuoted(&line, kernel.name);
  line.append(", \"label\": ");
  appendQuoted(&line, label);
  line.appendf(", \"arch\": %u, \"buffers\": [", arch);
  buffers.clear();
  for (uint32_t i = 0; i < kernel.num_params; ++i) {
    Buffer buffer;
    if (kernel.params[i].bytes == sizeof(void *)) {
      memcpy(&buffer.address, config.params[i], sizeof(void *));
      buffer.bytes = memory.bytesFrom(buffer.address);
    }
    line.append(i ? ", " : "");
    if (!buffer.bytes) {
      line.append("null");
      buffers.push(buffer);
      continue;
    }
    line.appendf("%llu", static_cast<unsigned long long>(buffer.bytes));
    buffer.before = allocateSmall(buffer.bytes);
    memcpy(buffer.before, buffer.address, buffer.bytes);
    Str name;
    name.appendf("%u-%u.before", launch, i);
    if (FILE *file = openFile(name.c_str())) {
      write(file, buffer.before, buffer.bytes);
      failed |= fclose(file) != 0;
    }
    buffers.push(buffer);
  }
  line.append("]}\n");
  write(index, line.c_str(), line.size());
  failed |= index && fflush(index) != 0;
  Str name;
  name.appendf("%u.products", launch);
  products = openFile(name.c_str());
}

void Recording::end(const GlobalMemory &memory) {
  for (uint32_t i = 0; i < buffers.size(); ++i) {
    Buffer &buffer = buffers[i];
    if (buffer.before && memory.contains(buffer.address, buffer.bytes) &&
        memcmp(buffer.before, buffer.address, buffer.bytes) != 0) {
      Str name;
      name.appendf("%u-%u.after", launch, i);
      if (FILE *file = openFile(name.c_str())) {
        write(file, buffer.address, buffer.bytes);
        failed |= fclose(file) != 0;
      }
    }
    free(buffer.before);
  }
  buffers.clear();
  if (products) {
    failed |= fclose(products) != 0;
    products = nullptr;
  }
  ++launch;
}

void Recording::add(const MatrixProblem &problem, const uint32_t *c) {
  pthread_mutex_lock(&lock);
  const uint32_t head[] = {problem.rows,
                           problem.columns,
                           problem.k,
                           static_cast<uint32_t>(problem.type),
                           static_cast<uint32_t>(problem.out),
                           0};
  write(products, head, sizeof head);
  auto put = [&](const uint32_t *bits, size_t count) {
    if (problem.type == MatrixType::tf32) {
      return write(products, bits, count * sizeof *bits);
    }
    uint16_t narrow[64 * 16];
    while (count > 0) {
      size_t some = count < 64 * 16 ? count : 64 * 16;
      for (size_t i = 0; i < some; ++i) {
        narrow[i] = static_cast<uint16_t>(bits[i]);
      }
      write(products, narrow, some * sizeof *narrow);
      bits += some;
      count -= some;
    }
  };
  size_t sums = static_cast<size_t>(problem.rows) * problem.columns;
  put(problem.aBits, static_cast<size_t>(problem.rows) * problem.k);
  put(problem.bBits, static_cast<size_t>(problem.k) * problem.columns);
  write(products, c, sums * sizeof *c);
  write(products, problem.cd, sums * sizeof *c);
  pthread_mutex_unlock(&lock);
}

} // namespace ampc::runtime::sim
