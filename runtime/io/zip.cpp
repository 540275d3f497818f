//===- zip.cpp - The directory of a zip archive ---------------------------===//
#include "runtime/io/zip.h"

#include <algorithm>

namespace ampc::runtime {
namespace {

constexpr uint64_t maxMembers = 65536;

Status malformed(const char *what) {
  return Status::error(AMPC_INVALID, "malformed zip archive: %s", what);
}

struct Directory {
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint64_t members = 0;
};

/// Takes the 64-bit forms of the directory's place, if the archive has them.
Status readZip64(const FileReader &file, uint64_t endOffset, Directory *out) {
  uint8_t locator[zip64LocatorSize];
  if (endOffset < zip64LocatorSize) {
    return Status();
  }
  AMPC_TRY(file.read(endOffset - zip64LocatorSize, locator, sizeof locator));
  if (loadLE<uint32_t>(locator) != zip64Locator) {
    return Status();
  }
  uint8_t end[zip64EndSize];
  uint64_t offset = loadLE<uint64_t>(locator + 8);
  if (!file.contains(offset, sizeof end)) {
    return malformed("the zip64 end record lies outside the file");
  }
  AMPC_TRY(file.read(offset, end, sizeof end));
  if (loadLE<uint32_t>(end) != zip64End || loadLE<uint32_t>(end + 16) != 0 ||
      loadLE<uint32_t>(end + 20) != 0 ||
      loadLE<uint64_t>(end + 24) != loadLE<uint64_t>(end + 32)) {
    return malformed("expected a zip64 end record of a single disk");
  }
  *out = {loadLE<uint64_t>(end + 48), loadLE<uint64_t>(end + 40),
          loadLE<uint64_t>(end + 32)};
  return Status();
}

/// Finds the directory through the record at the end of the file, behind which
/// there may be a comment.
Status findDirectory(const FileReader &file, Directory *out) {
  uint64_t most = zipEndSize + UINT16_MAX;
  uint64_t length = file.size() < most ? file.size() : most;
  Vec<uint8_t> tail;
  tail.resize(length);
  AMPC_TRY(file.read(file.size() - length, tail.data(), length));
  for (uint64_t i = length; i >= zipEndSize; --i) {
    const uint8_t *end = tail.data() + (i - zipEndSize);
    if (loadLE<uint32_t>(end) != zipEnd ||
        loadLE<uint16_t>(end + 20) != length - i) {
      continue;
    }
    if (loadLE<uint16_t>(end + 4) != 0 || loadLE<uint16_t>(end + 6) != 0) {
      return malformed("expected a single disk");
    }
    *out = {loadLE<uint32_t>(end + 16), loadLE<uint32_t>(end + 12),
            loadLE<uint16_t>(end + 10)};
    uint64_t endOffset = file.size() - length + (i - zipEndSize);
    AMPC_TRY(readZip64(file, endOffset, out));
    if (out->offset > endOffset || out->bytes > endOffset - out->offset) {
      return malformed("the directory lies outside the file");
    }
    return Status();
  }
  return Status::error(AMPC_INVALID, "expected a zip archive");
}

/// Replaces fields that say "see the zip64 extra field".
Status applyExtra(const uint8_t *extra, size_t length, ZipMember *member) {
  uint64_t *fields[] = {&member->bytes, &member->compressedBytes,
                        &member->headerOffset};
  while (length >= 4) {
    uint16_t id = loadLE<uint16_t>(extra);
    size_t size = loadLE<uint16_t>(extra + 2);
    extra += 4;
    length -= 4;
    if (size > length) {
      return malformed("an extra field is cut off");
    }
    if (id == 1) {
      size_t used = 0;
      for (uint64_t *field : fields) {
        if (*field != UINT32_MAX) {
          continue;
        }
        if (size - used < 8) {
          return malformed("a zip64 field is missing");
        }
        *field = loadLE<uint64_t>(extra + used);
        used += 8;
      }
      return Status();
    }
    extra += size;
    length -= size;
  }
  return Status();
}

/// One entry of the directory; moves `*at` behind it.
Status readEntry(const uint8_t **at, const uint8_t *end, ZipMember *member) {
  const uint8_t *record = *at;
  if (static_cast<size_t>(end - record) < zipCentralSize ||
      loadLE<uint32_t>(record) != zipCentral) {
    return malformed("expected a directory entry");
  }
  size_t name = loadLE<uint16_t>(record + 28);
  size_t extra = loadLE<uint16_t>(record + 30);
  size_t comment = loadLE<uint16_t>(record + 32);
  size_t length = zipCentralSize + name + extra + comment;
  if (length > static_cast<size_t>(end - record)) {
    return malformed("a directory entry is cut off");
  }
  if (loadLE<uint16_t>(record + 8) & 1) {
    return Status::error(AMPC_UNSUPPORTED, "unsupported encrypted archive");
  }
  member->method = loadLE<uint16_t>(record + 10);
  member->crc = loadLE<uint32_t>(record + 16);
  member->compressedBytes = loadLE<uint32_t>(record + 20);
  member->bytes = loadLE<uint32_t>(record + 24);
  member->headerOffset = loadLE<uint32_t>(record + 42);
  const char *text = reinterpret_cast<const char *>(record) + zipCentralSize;
  if (memchr(text, 0, name)) {
    return malformed("a name holds a NUL");
  }
  member->name = Str(text, name);
  AMPC_TRY(applyExtra(record + zipCentralSize + name, extra, member));
  *at = record + length;
  return Status();
}

/// Finds where the member's data begins: its own header repeats the name and
/// may have another extra field.
Status locate(const FileReader &file, uint64_t limit, ZipMember *member) {
  uint8_t header[zipLocalSize];
  if (!file.contains(member->headerOffset, sizeof header)) {
    return malformed("a member lies outside the file");
  }
  AMPC_TRY(file.read(member->headerOffset, header, sizeof header));
  if (loadLE<uint32_t>(header) != zipLocal) {
    return malformed("expected a member's header");
  }
  uint64_t skip = zipLocalSize + loadLE<uint16_t>(header + 26) +
                  loadLE<uint16_t>(header + 28);
  member->dataOffset = member->headerOffset + skip;
  if (member->dataOffset > limit ||
      member->compressedBytes > limit - member->dataOffset) {
    return malformed("a member lies outside the file");
  }
  return Status();
}

/// Overlapping members are how a small archive claims vast contents.
Status checkOverlap(const Vec<ZipMember> &members) {
  Vec<const ZipMember *> sorted;
  for (const ZipMember &member : members) {
    sorted.push(&member);
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const ZipMember *a, const ZipMember *b) {
              return a->headerOffset < b->headerOffset;
            });
  for (size_t i = 1; i < sorted.size(); ++i) {
    const ZipMember &before = *sorted[i - 1];
    if (before.dataOffset + before.compressedBytes > sorted[i]->headerOffset) {
      return malformed("members overlap");
    }
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const ZipMember *a, const ZipMember *b) {
              return strcmp(a->name.c_str(), b->name.c_str()) < 0;
            });
  for (size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i]->name.equals(sorted[i - 1]->name.c_str())) {
      return Status::error(AMPC_INVALID,
                           "malformed zip archive: '%s' occurs twice",
                           sorted[i]->name.c_str());
    }
  }
  return Status();
}

} // namespace

Status readZipDirectory(const FileReader &file, Vec<ZipMember> *outMembers) {
  Directory directory;
  AMPC_TRY(findDirectory(file, &directory));
  if (directory.members > maxMembers) {
    return Status::error(AMPC_LIMIT, "expected at most %llu members, got %llu",
                         static_cast<unsigned long long>(maxMembers),
                         static_cast<unsigned long long>(directory.members));
  }
  Bytes records;
  AMPC_TRY(records.allocate(directory.bytes));
  AMPC_TRY(file.read(directory.offset, records.data(), directory.bytes));
  const uint8_t *at = records.data();
  const uint8_t *end = at + directory.bytes;
  for (uint64_t i = 0; i < directory.members; ++i) {
    ZipMember member;
    AMPC_TRY(readEntry(&at, end, &member));
    AMPC_TRY(locate(file, directory.offset, &member));
    outMembers->push(std::move(member));
  }
  return at == end ? checkOverlap(*outMembers)
                   : malformed("the directory is longer than its entries");
}

} // namespace ampc::runtime
