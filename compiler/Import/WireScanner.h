//===- WireScanner.h - First look at the bytes of a model -----------------===//
//
// A model is mostly weights. The scanner walks the protobuf wire format once,
// checks its structure and size limits, and hands the message parser a stream
// in which every large `raw_data` is replaced by a reference to its byte range,
// so that weights are never copied out of the mapped file.
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_COMPILER_IMPORT_WIRESCANNER_H
#define AMPC_COMPILER_IMPORT_WIRESCANNER_H

#include "compiler/Import/ImportDiagnostics.h"
#include "google/protobuf/io/zero_copy_stream.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace ampc::importer {

/// Limits on what a model file may make the parser allocate.
struct WireLimits {
  uint64_t maxBytes = (uint64_t(1) << 31) - 1; ///< protobuf's own limit
  uint32_t maxDepth = 200;                     ///< nested messages
  uint64_t maxFields = 8u << 20;               ///< length-delimited fields
  uint64_t minSliceBytes = 4096;               ///< raw_data left in the file
};

/// The message stream without large raw data. Points into the scanned bytes.
class ScannedModel final : public google::protobuf::io::ZeroCopyInputStream {
public:
  /// Byte ranges taken out of the stream, indexed by `raw_slice`.
  llvm::ArrayRef<llvm::ArrayRef<uint8_t>> getSlices() const { return slices; }

  bool Next(const void **data, int *size) override;
  void BackUp(int count) override;
  bool Skip(int count) override;
  int64_t ByteCount() const override { return consumed; }

private:
  friend class WireScanner;
  std::vector<llvm::ArrayRef<uint8_t>> segments;
  std::deque<std::vector<uint8_t>> headers; // owns rewritten bytes
  std::vector<llvm::ArrayRef<uint8_t>> slices;
  size_t nextSegment = 0;
  size_t offsetInSegment = 0;
  int64_t consumed = 0;
};

/// Scans a serialized ModelProto. Reports malformed structure as invalid and a
/// breached limit as such. The scanned bytes must outlive `result`.
llvm::LogicalResult scanModel(llvm::ArrayRef<uint8_t> bytes,
                              const WireLimits &limits, ScannedModel &result,
                              ImportDiagnostics &diags);

} // namespace ampc::importer

#endif // AMPC_COMPILER_IMPORT_WIRESCANNER_H
