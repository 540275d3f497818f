//===- InstructionMix.cpp - What the main loop of a kernel is made of -----===//
#include "compiler/Targets/CUDA/InstructionMix.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <tuple>

using namespace llvm;
using namespace ampc::cuda;

namespace {

struct Line {
  StringRef opcode; ///< with its modifiers
  StringRef target; ///< of a branch
};

/// The instructions of a function, and which one follows each label.
struct Listing {
  SmallVector<Line> lines;
  StringMap<size_t> labels;
};

struct Kind {
  StringLiteral prefix, name;
};

/// The first that fits counts.
constexpr Kind ptxKinds[] = {
    {"wgmma.mma_async", "mma"},
    {"mma", "mma"},
    {"ldmatrix", "ldmatrix"},
    {"stmatrix", "stmatrix"},
    {"cp.async.bulk", "tma"},
    {"cp.async", "cp.async"},
    {"ld.global", "ld.global"},
    {"st.global", "st.global"},
    {"ld.shared", "ld.shared"},
    {"st.shared", "st.shared"},
    {"ld.local", "ld.local"},
    {"st.local", "st.local"},
    {"ld.param", "ld.param"},
    {"fma", "fma"},
    {"ex2", "special"},
    {"lg2", "special"},
    {"rcp", "special"},
    {"rsqrt", "special"},
    {"sqrt", "special"},
    {"div.rn", "special"},
    {"shfl", "shuffle"},
    {"bar", "barrier"},
    {"mbarrier", "barrier"},
    {"wgmma", "barrier"},
    {"fence", "barrier"},
    {"cvt", "convert"},
    {"bra", "branch"},
    {"setp", "compare"},
    {"mov", "move"},
    {"prmt", "move"},
};
constexpr Kind sassKinds[] = {
    {"HMMA", "mma"},      {"HGMMA", "mma"},         {"LDSM", "ldmatrix"},
    {"STSM", "stmatrix"}, {"UTMALDG", "tma"},       {"UTMASTG", "tma"},
    {"UBLKCP", "tma"},    {"LDGSTS", "cp.async"},   {"LDG", "ld.global"},
    {"STG", "st.global"}, {"LDS", "ld.shared"},     {"STS", "st.shared"},
    {"LDL", "ld.local"},  {"STL", "st.local"},      {"LDC", "ld.param"},
    {"ULDC", "ld.param"}, {"FFMA", "fma"},          {"HFMA2", "fma"},
    {"DFMA", "fma"},      {"MUFU", "special"},      {"SHFL", "shuffle"},
    {"BAR", "barrier"},   {"DEPBAR", "barrier"},    {"LDGDEPBAR", "barrier"},
    {"SYNCS", "barrier"}, {"WARPGROUP", "barrier"}, {"F2F", "convert"},
    {"I2F", "convert"},   {"F2I", "convert"},       {"BRA", "branch"},
    {"ISETP", "compare"}, {"FSETP", "compare"},     {"MOV", "move"},
    {"UMOV", "move"},     {"PRMT", "move"},
};

StringRef kindOf(StringRef opcode, ArrayRef<Kind> kinds) {
  for (const Kind &kind : kinds) {
    StringRef rest = opcode;
    if (rest.consume_front(kind.prefix) &&
        (rest.empty() || !isAlnum(rest.front()))) {
      return kind.name;
    }
  }
  StringRef type = opcode.rsplit('.').second;
  bool isFloat = type.starts_with("f") || type.starts_with("bf") ||
                 opcode.starts_with("F") || opcode.starts_with("H");
  return isFloat ? "float" : "integer";
}

} // namespace

/// The lines of a kernel's body: from its entry to the brace that closes it.
static StringRef findPtxBody(StringRef ptx, StringRef symbol) {
  size_t at = ptx.find((".entry " + symbol + "(").str());
  if (at == StringRef::npos) {
    return "";
  }
  StringRef body = ptx.drop_front(at);
  body = body.drop_front(std::min(body.find("\n{"), body.size()));
  return body.take_front(body.find("\n}"));
}

static Listing listPtx(StringRef body) {
  Listing listing;
  SmallVector<StringRef> texts;
  body.split(texts, '\n');
  for (StringRef text : texts) {
    text = text.split("//").first.trim().ltrim("{ \t");
    if (text.ends_with(":")) {
      listing.labels[text.drop_back()] = listing.lines.size();
      continue;
    }
    if (text.starts_with("@")) {
      text =
          text.drop_until([](char c) { return c == ' ' || c == '\t'; }).trim();
    }
    if (text.empty() || text.starts_with(".") || text.starts_with("}")) {
      continue;
    }
    Line line;
    line.opcode = text.take_while(
        [](char c) { return c != ' ' && c != '\t' && c != ';'; });
    if (line.opcode.starts_with("bra")) {
      line.target = text.drop_front(line.opcode.size()).trim("; \t");
    }
    listing.lines.push_back(line);
  }
  return listing;
}

static Listing listSass(StringRef sass, StringRef symbol) {
  Listing listing;
  SmallVector<StringRef> texts;
  sass.split(texts, '\n');
  bool isInside = false;
  for (StringRef text : texts) {
    text = text.trim();
    // nvdisasm prints ".text.SYMBOL:", cuobjdump "Function : SYMBOL".
    StringRef name = text;
    if ((name.consume_front(".text.") && name.consume_back(":")) ||
        name.consume_front("Function : ")) {
      isInside = name == symbol;
      continue;
    }
    if (!isInside || text.empty()) {
      continue;
    }
    if (text.starts_with(".L_") && text.ends_with(":")) {
      listing.labels[text.drop_back()] = listing.lines.size();
      continue;
    }
    if (!text.consume_front("/*")) {
      continue;
    }
    auto [address, rest] = text.split("*/");
    rest = rest.trim();
    if (rest.starts_with("/*") || rest.empty()) {
      continue; // the second word of an instruction
    }
    uint64_t place;
    if (!address.getAsInteger(16, place)) {
      listing.labels["0x" + utohexstr(place, /*LowerCase=*/true)] =
          listing.lines.size();
    }
    if (rest.starts_with("@")) {
      rest = rest.split(' ').second.trim();
    }
    Line line;
    line.opcode = rest.take_while([](char c) { return c != ' ' && c != ';'; });
    if (line.opcode.starts_with("BRA")) {
      StringRef operands = rest.split(';').first.trim();
      line.target = operands.rsplit(' ').second.trim("`()");
    }
    listing.lines.push_back(line);
  }
  return listing;
}

static InstructionMix countMix(const Listing &listing, ArrayRef<Kind> kinds) {
  using Range = std::pair<size_t, size_t>; // [first, last]
  SmallVector<Range> loops;
  for (auto [i, line] : llvm::enumerate(listing.lines)) {
    auto label = line.target.empty() ? listing.labels.end()
                                     : listing.labels.find(line.target);
    // A kernel ends in a branch to itself.
    if (label != listing.labels.end() && label->second < i) {
      loops.push_back({label->second, i});
    }
  }
  auto count = [&](Range range, StringRef kind) {
    unsigned found = 0;
    for (size_t i = range.first; i <= range.second; ++i) {
      found += kindOf(listing.lines[i].opcode, kinds) == kind;
    }
    return found;
  };
  auto isInnermost = [&](Range loop) {
    return none_of(loops, [&](Range other) {
      return other != loop && other.first >= loop.first &&
             other.second <= loop.second;
    });
  };
  InstructionMix mix;
  if (listing.lines.empty()) {
    return mix;
  }
  Range best = {0, listing.lines.size() - 1};
  std::tuple<unsigned, unsigned, size_t> most = {0, 0, 0};
  for (Range loop : loops) {
    std::tuple<unsigned, unsigned, size_t> weight = {
        count(loop, "mma"), count(loop, "fma"), loop.second - loop.first};
    if (isInnermost(loop) && weight > most) {
      best = loop;
      most = weight;
      mix.isLoop = true;
    }
  }
  // Products outside of all loops: they are unrolled.
  if (mix.isLoop && std::get<0>(most) == 0 &&
      count({0, listing.lines.size() - 1}, "mma") != 0) {
    best = {0, listing.lines.size() - 1};
    mix.isLoop = false;
  }
  for (size_t i = best.first; i <= best.second; ++i) {
    ++mix.total;
    ++mix.counts[kindOf(listing.lines[i].opcode, kinds).str()];
  }
  return mix;
}

InstructionMix ampc::cuda::readPtxMix(StringRef ptx, StringRef symbol) {
  return countMix(listPtx(findPtxBody(ptx, symbol)), ptxKinds);
}

InstructionMix ampc::cuda::readSassMix(StringRef sass, StringRef symbol) {
  return countMix(listSass(sass, symbol), sassKinds);
}

ProductRate ampc::cuda::findProductRate(StringRef ptx, StringRef symbol) {
  ProductRate kind = ProductRate::None;
  for (const Line &line : listPtx(findPtxBody(ptx, symbol)).lines) {
    StringRef name = kindOf(line.opcode, ptxKinds);
    if (name == "mma") {
      return line.opcode.contains(".tf32") ? ProductRate::Tf32
                                           : ProductRate::Half;
    }
    kind = name == "fma" ? ProductRate::Fp32 : kind;
  }
  return kind;
}
