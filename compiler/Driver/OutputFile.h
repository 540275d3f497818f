//===- OutputFile.h - Files that appear whole or not at all ---------------===//
#ifndef AMPC_COMPILER_DRIVER_OUTPUTFILE_H
#define AMPC_COMPILER_DRIVER_OUTPUTFILE_H

#include "compiler/Driver/DiagnosticSink.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/FileSystem.h"

namespace ampc::driver {

/// A file written under another name beside its own, which it takes in
/// `commit`. Without commit, or if the process ends, nothing remains and what
/// was there stays. `-` and files that are no regular ones (a pipe, /dev/null)
/// are written directly.
class OutputFile {
public:
  explicit OutputFile(DiagnosticSink &sink) : sink(sink) {}
  ~OutputFile();
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;

  /// `isExecutable` asks for the permission to execute.
  llvm::LogicalResult open(llvm::StringRef path, bool isExecutable = false);
  /// Where the bytes go. Seekable unless `isDirect`.
  llvm::raw_fd_ostream &os() { return *stream; }
  bool isDirect() const { return !temporary; }
  /// The name written under, for a program that writes the file itself.
  llvm::StringRef getTemporaryPath() const { return temporary->TmpName; }
  /// `isDurable`: the bytes are on the disk before the name is.
  llvm::LogicalResult commit(bool isDurable = false);

private:
  DiagnosticSink &sink;
  std::string path;
  std::optional<llvm::sys::fs::TempFile> temporary;
  std::unique_ptr<llvm::raw_fd_ostream> stream;
};

/// Reports a path that cannot be written because its folder is missing or
/// closed, so that nobody waits for a compilation in vain.
llvm::LogicalResult checkWritable(llvm::StringRef path, DiagnosticSink &sink);

/// Writes a text file (or standard output for `-`) in one go.
llvm::LogicalResult
writeFile(llvm::StringRef path, DiagnosticSink &sink,
          llvm::function_ref<void(llvm::raw_ostream &)> write);

/// A folder for temporary files, removed with its contents.
class TemporaryFolder {
public:
  TemporaryFolder() = default;
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  /// Uses `keep` instead, and keeps it, if that is not empty.
  llvm::LogicalResult create(llvm::StringRef keep, DiagnosticSink &sink);
  std::string getPath(llvm::StringRef name) const;

private:
  std::string path;
  bool isKept = false;
};

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_OUTPUTFILE_H
