//===- Linker.cpp - Call the system's linker ------------------------------===//
#include "compiler/Driver/Linker.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace llvm;
namespace fs = llvm::sys::fs;

namespace ampc::driver {

std::string findRuntimeFolder(DiagnosticSink &sink) {
  // The address of any function of this program tells where it lies.
  std::string program = fs::getMainExecutable(
      "ampc", reinterpret_cast<void *>(&findRuntimeFolder));
  StringRef bin = sys::path::parent_path(program);
  SmallVector<StringRef> tried;
  // The build tree and the usual prefixes; then Debian's folder for archives.
  for (StringRef relative : {"../lib", "../lib64", "../lib/x86_64-linux-gnu"}) {
    SmallString<256> folder(bin);
    sys::path::append(folder, relative);
    sys::path::remove_dots(folder, /*remove_dot_dot=*/true);
    SmallString<256> archive(folder);
    sys::path::append(archive, "libampc_runtime.a");
    if (fs::exists(archive)) {
      return std::string(folder);
    }
  }
  (void)sink.error(ExitCode::Toolchain,
                   "cannot find libampc_runtime.a near '" + program + "'",
                   "install the runtime beside the compiler");
  return "";
}

/// The first program of these on PATH, with the flags that must go with it.
static std::vector<std::string> findCompilerDriver() {
#ifdef AMPC_SANITIZE
  // The runtime beside this compiler needs the sanitizers of its own compiler.
  return {AMPC_SANITIZE_COMPILER, "-fsanitize=" AMPC_SANITIZE};
#endif
  if (ErrorOr<std::string> cc = sys::findProgramByName("cc")) {
    return {*cc};
  }
  for (StringRef name : {"gcc", "clang-22", "clang"}) {
    if (ErrorOr<std::string> found = sys::findProgramByName(name)) {
      return {*found};
    }
  }
  if (ErrorOr<std::string> found = sys::findProgramByName(
          "clang", {"/usr/lib/llvm-22/bin", "/usr/local/bin"})) {
    return {*found, "-fuse-ld=lld"};
  }
  return {};
}

static std::vector<std::string> makeCommand(const LinkJob &job,
                                            StringRef runtime) {
  std::vector<std::string> command = findCompilerDriver();
  auto add = [&](std::initializer_list<StringRef> words) {
    for (StringRef word : words) {
      command.push_back(word.str());
    }
  };
  auto addObjects = [&] {
    command.insert(command.end(), job.objects.begin(), job.objects.end());
  };
  add({"-o", job.output});
  if (job.kind == LinkJob::Relocatable) {
    add({"-nostdlib", "-r", "-Wl,--build-id=none"});
    addObjects();
    return command;
  }
  // Full relocation read-only: the tables of a program hold pointers.
  add({"-Wl,--gc-sections", "-Wl,--build-id=none", "-Wl,-z,relro,-z,now",
       "-Wl,-z,noexecstack", "-Wl,--hash-style=gnu", "-Wl,--as-needed"});
  std::string folder = "-L" + runtime.str();
  if (job.kind == LinkJob::SharedLibrary) {
    add({"-shared"});
    command.push_back("-Wl,-soname," + job.soname);
    command.push_back("-Wl,--version-script=" + job.versionScript);
    addObjects();
    command.push_back(folder);
    if (job.needsSimulator) {
      add({"-lampc_sim"});
    }
    add({"-lampc_runtime", "-lm", "-pthread", "-ldl"});
    return command;
  }
  // Names of kernels stay, for profilers; the runtime's debug information goes.
  add({"-pie", "-Wl,--strip-debug"});
  addObjects();
  command.push_back(folder);
  add({"-lampc_main"});
  if (job.needsSimulator) {
    add({"-lampc_sim"});
  }
  add({"-lampc_runtime", "-lm", "-pthread", "-ldl"});
  return command;
}

LogicalResult runLinker(const LinkJob &job, DiagnosticSink &sink) {
  std::string runtime;
  if (job.kind != LinkJob::Relocatable) {
    runtime = findRuntimeFolder(sink);
    if (runtime.empty()) {
      return failure();
    }
  }
  std::vector<std::string> command = makeCommand(job, runtime);
  if (findCompilerDriver().empty()) {
    return sink.error(ExitCode::Toolchain,
                      "cannot find a linker: no cc, gcc or clang on PATH",
                      "install gcc or clang, or use --emit=obj with another "
                      "linker");
  }
  if (job.verbose) {
    sink.note("linking: " + join(command, " "));
  }
  SmallVector<StringRef> args(command.begin(), command.end());
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(job.log),
                                          StringRef(job.log)};
  std::string message;
  int code =
      sys::ExecuteAndWait(args[0], args, /*Env=*/std::nullopt, redirects,
                          /*SecondsToWait=*/600, /*MemoryLimit=*/0, &message);
  if (code == 0) {
    return success();
  }
  std::string said;
  if (auto buffer = MemoryBuffer::getFile(job.log)) {
    said = (*buffer)->getBuffer().trim().take_front(4000).str();
  }
  if (said.empty()) {
    said = message;
  }
  Finding finding;
  finding.category = ExitCode::Toolchain;
  finding.message = "the linker failed with exit code " + std::to_string(code);
  finding.notes.emplace_back("", "command: " + join(command, " "));
  for (StringRef line : split(said, '\n')) {
    finding.notes.emplace_back("", line.str());
  }
  sink.report(finding);
  return failure();
}

} // namespace ampc::driver
