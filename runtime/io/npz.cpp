//===- npz.cpp - Archives of .npy files -----------------------------------===//
#include "runtime/io/npy.h"
#include "runtime/io/zip.h"

// Hidden here, zlib's functions are hidden in whatever links this archive.
#pragma GCC visibility push(hidden)
#include <zlib.h>
#pragma GCC visibility pop

namespace ampc::runtime {
namespace {

/// What compressed archives may grow to: 100 times the file, and a little file
/// of zeros may still be 256 MiB.
constexpr uint64_t maxRatio = 100;
constexpr uint64_t freeGrowth = 256ull << 20;

/// The bytes of a member, in order, with their checksum.
class MemberStream {
public:
  MemberStream(const FileReader &file, const ZipMember &member)
      : file(file), member(member), offset(member.dataOffset),
        left(member.compressedBytes) {}
  MemberStream(const MemberStream &) = delete;
  MemberStream &operator=(const MemberStream &) = delete;
  ~MemberStream() {
    if (inflating) {
      inflateEnd(&zlib);
    }
  }

  Status start() {
    if (member.method == zipStored) {
      return member.compressedBytes == member.bytes
                 ? Status()
                 : Status::error(AMPC_INVALID,
                                 "sizes of a stored member do not agree");
    }
    if (member.method != zipDeflated) {
      return Status::error(AMPC_UNSUPPORTED,
                           "unsupported compression method %u", member.method);
    }
    constexpr int rawDeflate = -15; // no zlib header, largest window
    inflating = inflateInit2(&zlib, rawDeflate) == Z_OK;
    return inflating ? Status() : Status::error(AMPC_LIMIT, "out of memory");
  }

  static Status read(void *self, void *to, uint64_t length) {
    return static_cast<MemberStream *>(self)->next(static_cast<uint8_t *>(to),
                                                   length);
  }

  /// After all bytes are read: nothing may follow, and the checksum holds.
  Status finish() {
    if (inflating) {
      uint8_t extra;
      uint64_t got = 0;
      AMPC_TRY(inflateSome(&extra, 1, &got));
      if (got || !ended || left || zlib.avail_in) {
        return Status::error(AMPC_INVALID,
                             "the member is longer than the archive says");
      }
    }
    return crc == member.crc
               ? Status()
               : Status::error(AMPC_INVALID,
                               "the checksum does not match: expected %08x, "
                               "got %08x",
                               member.crc, crc);
  }

private:
  Status next(uint8_t *to, uint64_t length) {
    if (!inflating) {
      AMPC_TRY(file.read(offset, to, length));
      offset += length;
    }
    for (uint64_t done = 0; inflating && done < length;) {
      uint64_t got = 0;
      AMPC_TRY(inflateSome(to + done, length - done, &got));
      if (got == 0) {
        return Status::error(AMPC_INVALID,
                             "the member is shorter than the archive says");
      }
      done += got;
    }
    crc = static_cast<uint32_t>(crc32_z(crc, to, length));
    return Status();
  }

  /// Produces up to `room` bytes; 0 only at the end of the stream.
  Status inflateSome(uint8_t *to, uint64_t room, uint64_t *outGot) {
    constexpr uint64_t most = 1u << 30;
    uint64_t wanted = room < most ? room : most;
    zlib.next_out = to;
    zlib.avail_out = static_cast<uInt>(wanted);
    while (!ended && zlib.avail_out == wanted) {
      if (zlib.avail_in == 0 && left) {
        uint64_t chunk = left < sizeof input ? left : sizeof input;
        AMPC_TRY(file.read(offset, input, chunk));
        offset += chunk;
        left -= chunk;
        zlib.next_in = input;
        zlib.avail_in = static_cast<uInt>(chunk);
      }
      int result = inflate(&zlib, Z_NO_FLUSH);
      ended = result == Z_STREAM_END;
      if (result != Z_OK && !ended) {
        return Status::error(AMPC_INVALID, "the compressed data is damaged");
      }
    }
    *outGot = wanted - zlib.avail_out;
    return Status();
  }

  const FileReader &file;
  const ZipMember &member;
  uint64_t offset; // of the next byte to read
  uint64_t left;   // compressed bytes not read yet
  uint32_t crc = 0;
  bool inflating = false;
  bool ended = false;
  z_stream zlib = {};
  uint8_t input[16384];
};

/// The array's name, or false if the member is no array.
bool arrayName(const ZipMember &member, Str *out) {
  size_t length = member.name.size();
  if (length <= 4 || strcmp(member.name.c_str() + length - 4, ".npy") != 0) {
    return false;
  }
  *out = Str(member.name.c_str(), length - 4);
  return true;
}

Status readMember(const FileReader &file, const ZipMember &member,
                  const ReadOptions &options, Tensor *out) {
  MemberStream stream(file, member);
  AMPC_TRY(stream.start());
  AMPC_TRY(
      readNpyStream({&stream, MemberStream::read, member.bytes}, options, out));
  return stream.finish();
}

} // namespace

Status readNpz(const FileReader &file, const ReadOptions &options,
               Vec<Tensor> *outTensors) {
  Vec<ZipMember> members;
  AMPC_TRY(readZipDirectory(file, &members));
  uint64_t grown; // a file of more bytes than that does not exist
  uint64_t allowed =
      mulOverflow(file.size(), maxRatio, &grown) ? UINT64_MAX : grown;
  allowed = allowed < freeGrowth ? freeGrowth : allowed;
  allowed = allowed < options.maxBytes ? allowed : options.maxBytes;
  uint64_t total = 0;
  for (const ZipMember &member : members) {
    Tensor tensor;
    if (!arrayName(member, &tensor.name) ||
        (options.only && !tensor.name.equals(options.only))) {
      continue;
    }
    if (addOverflow(total, member.bytes, &total) || total > allowed) {
      return Status::error(AMPC_LIMIT,
                           "the archive unpacks to more than %llu bytes (%llu "
                           "times its size); store it uncompressed",
                           static_cast<unsigned long long>(allowed),
                           static_cast<unsigned long long>(maxRatio));
    }
    AMPC_TRY(readMember(file, member, options, &tensor)
                 .withPrefix(member.name.c_str()));
    outTensors->push(std::move(tensor));
  }
  return Status();
}

namespace {

struct Written {
  Str name;
  uint32_t crc;
  uint64_t bytes;
  uint64_t offset;
};

template <typename T>
void put(Str *out, T value) {
  out->append(reinterpret_cast<const char *>(&value), sizeof value);
}

uint32_t clip32(uint64_t value) {
  return value < UINT32_MAX ? static_cast<uint32_t>(value) : UINT32_MAX;
}

constexpr uint16_t version = 45;          // the first with zip64
constexpr uint16_t utf8Names = 1u << 11;  // flag
constexpr uint32_t date1980 = 0x00210000; // so that equal data is equal bytes

/// What local and central headers share, from the version to the sizes.
void putCommon(Str *out, const Written &member) {
  put<uint16_t>(out, version);
  put<uint16_t>(out, utf8Names);
  put<uint16_t>(out, zipStored);
  put<uint32_t>(out, date1980);
  put<uint32_t>(out, member.crc);
  put<uint32_t>(out, clip32(member.bytes));
  put<uint32_t>(out, clip32(member.bytes));
  put<uint16_t>(out, static_cast<uint16_t>(member.name.size()));
}

Str localHeader(const Written &member) {
  Str out;
  bool large = member.bytes >= UINT32_MAX;
  put<uint32_t>(&out, zipLocal);
  putCommon(&out, member);
  put<uint16_t>(&out, large ? 20 : 0);
  out.append(member.name.c_str(), member.name.size());
  if (large) {
    put<uint16_t>(&out, 1);
    put<uint16_t>(&out, 16);
    put<uint64_t>(&out, member.bytes);
    put<uint64_t>(&out, member.bytes);
  }
  return out;
}

Str centralHeader(const Written &member) {
  Str out, extra;
  if (member.bytes >= UINT32_MAX) {
    put<uint64_t>(&extra, member.bytes);
    put<uint64_t>(&extra, member.bytes);
  }
  if (member.offset >= UINT32_MAX) {
    put<uint64_t>(&extra, member.offset);
  }
  put<uint32_t>(&out, zipCentral);
  put<uint16_t>(&out, version);
  putCommon(&out, member);
  put<uint16_t>(&out,
                static_cast<uint16_t>(extra.empty() ? 0 : extra.size() + 4));
  put<uint64_t>(&out, 0); // comment, disk, attributes
  put<uint16_t>(&out, 0);
  put<uint32_t>(&out, clip32(member.offset));
  out.append(member.name.c_str(), member.name.size());
  if (!extra.empty()) {
    put<uint16_t>(&out, 1);
    put<uint16_t>(&out, static_cast<uint16_t>(extra.size()));
    out.append(extra.c_str(), extra.size());
  }
  return out;
}

/// The records that close the archive; the zip64 forms are always written, so
/// that their path is the tested one.
Str endRecords(uint64_t offset, uint64_t bytes, uint64_t members) {
  Str out;
  put<uint32_t>(&out, zip64End);
  put<uint64_t>(&out, zip64EndSize - 12);
  put<uint16_t>(&out, version);
  put<uint16_t>(&out, version);
  put<uint64_t>(&out, 0); // this disk, the directory's disk
  put<uint64_t>(&out, members);
  put<uint64_t>(&out, members);
  put<uint64_t>(&out, bytes);
  put<uint64_t>(&out, offset);
  put<uint32_t>(&out, zip64Locator);
  put<uint32_t>(&out, 0);
  put<uint64_t>(&out, offset + bytes);
  put<uint32_t>(&out, 1);
  uint16_t count =
      static_cast<uint16_t>(members < UINT16_MAX ? members : UINT16_MAX);
  put<uint32_t>(&out, zipEnd);
  put<uint32_t>(&out, 0);
  put<uint16_t>(&out, count);
  put<uint16_t>(&out, count);
  put<uint32_t>(&out, clip32(bytes));
  put<uint32_t>(&out, clip32(offset));
  put<uint16_t>(&out, 0);
  return out;
}

} // namespace

Status writeNpz(FileWriter &file, const TensorView *tensors, size_t count) {
  Vec<Written> members;
  for (size_t i = 0; i < count; ++i) {
    const TensorView &tensor = tensors[i];
    Str header;
    AMPC_TRY(makeNpyHeader(tensor, &header));
    Written &member = members.push({Str(tensor.name), 0, 0, file.position()});
    member.name.append(".npy");
    if (member.name.size() > UINT16_MAX) {
      return Status::error(AMPC_LIMIT, "the name of a tensor is too long");
    }
    auto *text = reinterpret_cast<const Bytef *>(header.c_str());
    uLong crc = crc32_z(0, text, header.size());
    if (tensor.bytes) {
      crc = crc32_z(crc, static_cast<const Bytef *>(tensor.data), tensor.bytes);
    }
    member.crc = static_cast<uint32_t>(crc);
    member.bytes = header.size() + tensor.bytes;
    Str local = localHeader(member);
    AMPC_TRY(file.write(local.c_str(), local.size()));
    AMPC_TRY(file.write(header.c_str(), header.size()));
    AMPC_TRY(file.write(tensor.data, tensor.bytes));
  }
  uint64_t begin = file.position();
  for (const Written &member : members) {
    Str central = centralHeader(member);
    AMPC_TRY(file.write(central.c_str(), central.size()));
  }
  Str end = endRecords(begin, file.position() - begin, members.size());
  return file.write(end.c_str(), end.size());
}

} // namespace ampc::runtime
