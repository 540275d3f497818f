//===- Assembler.cpp - PTX to cubins, by ptxas ----------------------------===//
#include "compiler/Targets/CUDA/Assembler.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"

using namespace ampc;
using namespace ampc::cuda;
namespace fs = llvm::sys::fs;

std::string cuda::findCudaTool(llvm::StringRef name) {
  if (auto named =
          llvm::sys::Process::GetEnv(("AMPC_" + name.upper()).c_str())) {
    return *named;
  }
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (auto home = llvm::sys::Process::GetEnv(variable)) {
      llvm::SmallString<128> path(*home);
      llvm::sys::path::append(path, "bin", name);
      if (fs::can_execute(path)) {
        return std::string(path);
      }
    }
  }
  if (auto found = llvm::sys::findProgramByName(name)) {
    return *found;
  }
  auto found = llvm::sys::findProgramByName(name, {"/usr/local/cuda/bin"});
  return found ? *found : "";
}

int cuda::runTool(llvm::ArrayRef<llvm::StringRef> arguments,
                  std::string &output) {
  llvm::SmallString<128> log;
  if (auto error = fs::createTemporaryFile("ampc", "log", log)) {
    output = "cannot make a temporary file: " + error.message();
    return -1;
  }
  llvm::scope_exit cleanup([&] { fs::remove(log); });
  std::optional<llvm::StringRef> redirects[] = {std::nullopt, log.str(),
                                                log.str()};
  output.clear();
  int code = llvm::sys::ExecuteAndWait(arguments.front(), arguments,
                                       std::nullopt, redirects,
                                       /*SecondsToWait=*/600, 0, &output);
  if (auto said = llvm::MemoryBuffer::getFile(log)) {
    output += (*said)->getBuffer();
  }
  return code;
}

bool cuda::canAssemble() { return !findCudaTool("ptxas").empty(); }

const std::string &cuda::getPtxasVersion() {
  static const std::string version = [] {
    std::string ptxas = findCudaTool("ptxas"), said;
    bool ok = !ptxas.empty() && runTool({ptxas, "--version"}, said) == 0;
    return ok ? said : "";
  }();
  return version;
}

/// Sums the numbers before `what` in all that `ptxas -v` says.
static uint64_t sumBytes(llvm::StringRef log, llvm::StringRef what) {
  uint64_t sum = 0;
  llvm::Regex pattern(("([0-9]+) bytes " + what).str());
  llvm::SmallVector<llvm::StringRef, 2> parts;
  while (pattern.match(log, &parts)) {
    uint64_t bytes = 0;
    (void)parts[1].getAsInteger(10, bytes);
    sum += bytes;
    log = log.drop_front(parts[0].end() - log.begin());
  }
  return sum;
}

mlir::FailureOr<Assembly> cuda::assemble(llvm::StringRef ptx,
                                         const CudaArchitecture &architecture,
                                         std::string &error) {
  std::string ptxas = findCudaTool("ptxas");
  if (ptxas.empty()) {
    error = "cannot find ptxas: set AMPC_PTXAS or CUDA_HOME";
    return mlir::failure();
  }
  llvm::SmallString<128> source, object;
  int descriptor;
  llvm::scope_exit cleanup([&] {
    for (const auto &path : {source, object}) {
      if (!path.empty()) {
        fs::remove(path);
      }
    }
  });
  if (auto failed =
          fs::createTemporaryFile("ampc", "ptx", descriptor, source)) {
    error = failed.message();
    return mlir::failure();
  }
  {
    llvm::raw_fd_ostream os(descriptor, /*shouldClose=*/true);
    os << ptx;
  }
  if (fs::createTemporaryFile("ampc", "cubin", object)) {
    error = "cannot make a temporary file";
    return mlir::failure();
  }
  std::string arch = "-arch=" + architecture.name.str(), said;
  if (runTool({ptxas, arch, "-O3", "-v", source, "-o", object}, said) != 0) {
    error = said;
    return mlir::failure();
  }
  auto data = llvm::MemoryBuffer::getFile(object, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!data) {
    error = data.getError().message();
    return mlir::failure();
  }
  Assembly result;
  result.cubin = (*data)->getBuffer().str();
  result.spillStoreBytes = sumBytes(said, "spill stores");
  result.spillLoadBytes = sumBytes(said, "spill loads");
  result.log = std::move(said);
  return result;
}

/// Writes a file that the caller removes.
static bool writeTemporary(llvm::StringRef bytes, llvm::StringRef suffix,
                           llvm::SmallString<128> &path) {
  int descriptor;
  if (fs::createTemporaryFile("ampc", suffix, descriptor, path)) {
    return false;
  }
  llvm::raw_fd_ostream os(descriptor, /*shouldClose=*/true);
  os << bytes;
  return true;
}

std::optional<std::string> cuda::disassemble(llvm::StringRef cubin) {
  static const std::string nvdisasm = findCudaTool("nvdisasm");
  static const std::string cuobjdump = findCudaTool("cuobjdump");
  llvm::SmallString<128> path;
  if ((nvdisasm.empty() && cuobjdump.empty()) || cubin.empty() ||
      !writeTemporary(cubin, "cubin", path)) {
    return std::nullopt;
  }
  llvm::scope_exit cleanup([&] { fs::remove(path); });
  std::string text;
  int code = nvdisasm.empty() ? runTool({cuobjdump, "-sass", path}, text)
                              : runTool({nvdisasm, "-c", path}, text);
  return code == 0 ? std::optional(std::move(text)) : std::nullopt;
}

std::optional<std::string> cuda::makeFatbin(
    llvm::ArrayRef<std::pair<const CudaArchitecture *, llvm::StringRef>> cubins,
    const CudaArchitecture &ptxArchitecture, llvm::StringRef ptx) {
  static const std::string fatbinary = findCudaTool("fatbinary");
  llvm::SmallVector<llvm::SmallString<128>> paths;
  llvm::scope_exit cleanup([&] {
    for (const auto &path : paths) {
      fs::remove(path);
    }
  });
  if (fatbinary.empty() ||
      !writeTemporary("", "fatbin", paths.emplace_back())) {
    return std::nullopt;
  }
  std::vector<std::string> arguments = {fatbinary, "--64",
                                        "--create=" + paths[0].str().str()};
  auto add = [&](const CudaArchitecture &architecture, llvm::StringRef kind,
                 llvm::StringRef code) {
    if (!writeTemporary(code, kind, paths.emplace_back())) {
      return false;
    }
    arguments.push_back(
        ("--image3=kind=" + llvm::Twine(kind == "ptx" ? kind : "elf") +
         ",sm=" + architecture.name.drop_front(3) + ",file=" + paths.back())
            .str());
    return true;
  };
  bool written = add(ptxArchitecture, "ptx", ptx);
  for (const auto &[architecture, code] : cubins) {
    written = written && add(*architecture, "cubin", code);
  }
  std::string said;
  llvm::SmallVector<llvm::StringRef> texts(arguments.begin(), arguments.end());
  if (!written || runTool(texts, said) != 0) {
    return std::nullopt;
  }
  auto data = llvm::MemoryBuffer::getFile(paths[0], /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  return data ? std::optional((*data)->getBuffer().str()) : std::nullopt;
}
