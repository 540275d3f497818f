//===- ElfWriter.h - An object file around bytes that are streamed --------===//
//
// Weights may be gigabytes. They never enter LLVM: this writer puts a header in
// front of them and symbols behind, and holds none of them.
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_COMPILER_DRIVER_ELFWRITER_H
#define AMPC_COMPILER_DRIVER_ELFWRITER_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>

namespace ampc::driver {

/// Name of the note that marks a file as a product of ampc.
inline constexpr llvm::StringLiteral noteSectionName = ".note.ampc";

/// One section of constant data and the symbol at its start.
struct DataObject {
  llvm::StringRef symbol; ///< global, hidden
  uint64_t size = 0;      ///< bytes of data
  uint64_t padding = 0;   ///< bytes of zero behind them
  llvm::StringRef note;   ///< text of the note, a version
};

/// Writes an x86-64 ELF relocatable object whose read-only data section is
/// aligned to pages. `writeData` writes exactly `object.size` bytes; its
/// failure is handed on, and the output is then of no use.
llvm::LogicalResult writeDataObject(
    llvm::raw_ostream &os, const DataObject &object,
    llvm::function_ref<llvm::LogicalResult(llvm::raw_ostream &)> writeData);

/// The text of the note in an ELF file in memory; empty if it has none.
llvm::StringRef findNote(llvm::StringRef file);

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_ELFWRITER_H
