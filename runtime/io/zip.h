//===- zip.h - The directory of a zip archive -----------------------------===//
#ifndef AMPC_RUNTIME_IO_ZIP_H
#define AMPC_RUNTIME_IO_ZIP_H

#include "runtime/io/file.h"

namespace ampc::runtime {

/// Signatures and fixed sizes of a zip archive's records.
enum ZipRecord : uint32_t {
  zipLocal = 0x04034b50,
  zipCentral = 0x02014b50,
  zipEnd = 0x06054b50,
  zip64End = 0x06064b50,
  zip64Locator = 0x07064b50,
};
enum ZipSize : uint32_t {
  zipLocalSize = 30,
  zipCentralSize = 46,
  zipEndSize = 22,
  zip64EndSize = 56,
  zip64LocatorSize = 20,
};
enum ZipMethod : uint16_t { zipStored = 0, zipDeflated = 8 };

struct ZipMember {
  Str name;
  uint16_t method = 0;
  uint32_t crc = 0;
  uint64_t compressedBytes = 0;
  uint64_t bytes = 0;
  uint64_t headerOffset = 0;
  uint64_t dataOffset = 0;
};

/// Reads the members of an archive, in the directory's order, and checks that
/// they lie inside the file without overlap, are not encrypted, and have
/// different names.
Status readZipDirectory(const FileReader &file, Vec<ZipMember> *outMembers);

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_IO_ZIP_H
