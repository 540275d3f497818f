//===- checksum.cpp - CRC-32C and SHA-256 ---------------------------------===//
#include "runtime/core/checksum.h"

namespace ampc::runtime {
namespace {

/// Tables for eight bytes at a time (Kounavis and Berry, "A Systematic Approach
/// to Building High Performance, Software-based, CRC Generators", 2005).
struct CrcTables {
  uint32_t rows[8][256];

  constexpr CrcTables() : rows() {
    constexpr uint32_t polynomial = 0x82f63b78; // reflected
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) {
        value = value >> 1 ^ (value & 1 ? polynomial : 0);
      }
      rows[0][i] = value;
    }
    for (uint32_t i = 0; i < 256; ++i) {
      for (int row = 1; row < 8; ++row) {
        uint32_t before = rows[row - 1][i];
        rows[row][i] = before >> 8 ^ rows[0][before & 0xff];
      }
    }
  }
};
constexpr CrcTables crcTables;

uint32_t rotate(uint32_t value, unsigned by) {
  return value >> by | value << (32 - by);
}

constexpr uint32_t shaConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t loadBE(const uint8_t *from) {
  return __builtin_bswap32(loadLE<uint32_t>(from));
}

} // namespace

uint32_t crc32c(uint32_t crc, const void *data, uint64_t bytes) {
  auto *at = static_cast<const uint8_t *>(data);
  const auto &rows = crcTables.rows;
  crc = ~crc;
  for (; bytes >= 8; bytes -= 8, at += 8) {
    uint32_t low = loadLE<uint32_t>(at) ^ crc;
    uint32_t high = loadLE<uint32_t>(at + 4);
    crc = rows[7][low & 0xff] ^ rows[6][low >> 8 & 0xff] ^
          rows[5][low >> 16 & 0xff] ^ rows[4][low >> 24] ^
          rows[3][high & 0xff] ^ rows[2][high >> 8 & 0xff] ^
          rows[1][high >> 16 & 0xff] ^ rows[0][high >> 24];
  }
  for (; bytes; --bytes, ++at) {
    crc = crc >> 8 ^ rows[0][(crc ^ *at) & 0xff];
  }
  return ~crc;
}

void Sha256::block(const uint8_t *from) {
  uint32_t w[64];
  for (int i = 0; i < 16; ++i) {
    w[i] = loadBE(from + 4 * i);
  }
  for (int i = 16; i < 64; ++i) {
    uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] +
           (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
  }
  uint32_t s[8];
  memcpy(s, state, sizeof s);
  for (int i = 0; i < 64; ++i) {
    uint32_t e = s[4], a = s[0];
    uint32_t first = s[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
                     ((e & s[5]) ^ (~e & s[6])) + shaConstants[i] + w[i];
    uint32_t second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
                      ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
    memmove(s + 1, s, 7 * sizeof *s);
    s[4] += first;
    s[0] = first + second;
  }
  for (int i = 0; i < 8; ++i) {
    state[i] += s[i];
  }
}

void Sha256::update(const void *data, uint64_t bytes) {
  auto *at = static_cast<const uint8_t *>(data);
  while (bytes) {
    uint64_t held = total % sizeof pending;
    uint64_t room = sizeof pending - held;
    uint64_t taken = bytes < room ? bytes : room;
    if (taken == sizeof pending) {
      block(at);
    } else {
      memcpy(pending + held, at, taken);
      if (held + taken == sizeof pending) {
        block(pending);
      }
    }
    total += taken;
    at += taken;
    bytes -= taken;
  }
}

Str Sha256::finish() {
  uint64_t bits = __builtin_bswap64(total * 8);
  const uint8_t one = 0x80, zero = 0;
  update(&one, 1);
  while (total % sizeof pending != sizeof pending - sizeof bits) {
    update(&zero, 1);
  }
  update(&bits, sizeof bits);
  Str hex;
  for (uint32_t word : state) {
    hex.appendf("%08x", word);
  }
  return hex;
}

} // namespace ampc::runtime
