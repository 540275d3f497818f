//===- CacheOptions.cpp - Where compiled kernels are kept -----------------===//
#include "compiler/Driver/OptionTable.h"
#include "compiler/Driver/OptionValues.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Option/Arg.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

using namespace llvm;
using namespace llvm::opt;

namespace ampc::driver {

/// The folder of this user; empty if there is no home for it.
static std::string findCacheFolder() {
  if (auto named = sys::Process::GetEnv("AMPC_CACHE_DIR")) {
    return *named; // empty: no cache
  }
  // Honours $XDG_CACHE_HOME.
  SmallString<128> folder;
  if (!sys::path::cache_directory(folder)) {
    return "";
  }
  sys::path::append(folder, "ampc");
  return std::string(folder);
}

void readCacheOptions(const InputArgList &args, Options &options,
                      DiagnosticSink &sink) {
  if (args.hasArg(OPT_no_cache)) {
    if (args.hasArg(OPT_cache_dir)) {
      (void)sink.error(ExitCode::Usage, "--no-cache contradicts --cache-dir");
    }
    return;
  }
  if (const Arg *arg = args.getLastArg(OPT_cache_limit)) {
    auto limit = parseSize(arg->getValue());
    if (!limit) {
      (void)sink.error(ExitCode::Usage,
                       Twine("--cache-limit: expected a size such as 4096, "
                             "512M or 8G, got '") +
                           arg->getValue() + "'");
    }
    options.cacheLimit = limit.value_or(0);
  }
  const Arg *arg = args.getLastArg(OPT_cache_dir);
  options.cacheFolder = arg ? std::string(arg->getValue()) : findCacheFolder();
  if (arg && options.cacheFolder.empty()) {
    (void)sink.error(ExitCode::Usage, "--cache-dir: expected a folder");
  }
}

} // namespace ampc::driver
