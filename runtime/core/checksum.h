//===- checksum.h - CRC-32C and SHA-256 -----------------------------------===//
#ifndef AMPC_RUNTIME_CORE_CHECKSUM_H
#define AMPC_RUNTIME_CORE_CHECKSUM_H

#include "runtime/core/support.h"

namespace ampc::runtime {

/// CRC-32C (Castagnoli; RFC 3720, appendix B.4) of the bytes before, whose sum
/// is `crc`, and of these; 0 before the first.
uint32_t crc32c(uint32_t crc, const void *data, uint64_t bytes);

/// SHA-256 (FIPS 180-4) of bytes that come in pieces.
class Sha256 {
public:
  void update(const void *data, uint64_t bytes);
  void update(const Str &text) { update(text.c_str(), text.size()); }
  /// The digest of all bytes, in lower-case hexadecimal. Once.
  Str finish();

private:
  void block(const uint8_t *from);

  uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  uint8_t pending[64];
  uint64_t total = 0;
};

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_CORE_CHECKSUM_H
