//===- Assembler.cpp - PTX to cubins, by ptxas ----------------------------===//
#include "compiler/Targets/CUDA/PtxWriter.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

using namespace ampc;
using namespace ampc::cuda;
namespace fs = llvm::sys::fs;

static std::string findPtxas() {
  if (auto named = llvm::sys::Process::GetEnv("AMPC_PTXAS")) {
    return *named;
  }
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (auto home = llvm::sys::Process::GetEnv(variable)) {
      llvm::SmallString<128> path(*home);
      llvm::sys::path::append(path, "bin", "ptxas");
      if (fs::can_execute(path)) {
        return std::string(path);
      }
    }
  }
  if (auto found = llvm::sys::findProgramByName("ptxas")) {
    return *found;
  }
  auto found = llvm::sys::findProgramByName("ptxas", {"/usr/local/cuda/bin"});
  return found ? *found : "";
}

bool cuda::canAssemble() { return !findPtxas().empty(); }

mlir::FailureOr<std::string>
cuda::assemble(llvm::StringRef ptx, const CudaArchitecture &architecture,
               std::string &error) {
  std::string ptxas = findPtxas();
  if (ptxas.empty()) {
    error = "cannot find ptxas: set AMPC_PTXAS or CUDA_HOME";
    return mlir::failure();
  }
  llvm::SmallString<128> source, object, log;
  int descriptor;
  auto created = [&](llvm::StringRef suffix, llvm::SmallString<128> &path) {
    return fs::createTemporaryFile("ampc", suffix, path);
  };
  llvm::scope_exit cleanup([&] {
    for (const auto &path : {source, object, log}) {
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
  if (created("cubin", object) || created("log", log)) {
    error = "cannot make a temporary file";
    return mlir::failure();
  }
  std::string arch = "-arch=" + architecture.name.str();
  std::optional<llvm::StringRef> redirects[] = {std::nullopt, log.str(),
                                                log.str()};
  int code = llvm::sys::ExecuteAndWait(
      ptxas, {ptxas, arch, "-O3", source.str(), "-o", object.str()},
      std::nullopt, redirects, /*SecondsToWait=*/600, 0, &error);
  auto said = llvm::MemoryBuffer::getFile(log);
  if (code != 0) {
    error += said ? (*said)->getBuffer().str() : "";
    return mlir::failure();
  }
  auto data = llvm::MemoryBuffer::getFile(object, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!data) {
    error = data.getError().message();
    return mlir::failure();
  }
  return (*data)->getBuffer().str();
}
