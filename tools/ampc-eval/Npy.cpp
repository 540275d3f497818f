//===- Npy.cpp - NumPy files as tensors of the evaluator ------------------===//
#include "tools/ampc-eval/Npy.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace llvm;
using namespace ampc;
using namespace ampc::eval;
using namespace ampc::ref;

static constexpr StringLiteral magic = "\x93NUMPY";

/// NumPy's name of the stored elements.
static StringRef getDescriptor(Kind kind) {
  switch (kind) {
  case Kind::Bool:
    return "|b1";
  case Kind::I8:
    return "|i1";
  case Kind::I16:
    return "<i2";
  case Kind::I32:
    return "<i4";
  case Kind::I64:
    return "<i8";
  case Kind::U8:
    return "|u1";
  case Kind::U16:
    return "<u2";
  case Kind::U32:
    return "<u4";
  case Kind::U64:
    return "<u8";
  case Kind::F16:
    return "<f2";
  case Kind::BF16:
    return "<V2";
  case Kind::F32:
    return "<f4";
  case Kind::F64:
    return "<f8";
  }
  llvm_unreachable("all kinds are named");
}

/// The text after `key` in the header's dictionary, without leading spaces.
static StringRef getField(StringRef header, StringRef key) {
  size_t at = header.find(("'" + key + "':").str());
  return at == StringRef::npos ? StringRef()
                               : header.drop_front(at + key.size() + 3).ltrim();
}

static bool hasShape(StringRef text, ArrayRef<int64_t> shape) {
  if (!text.consume_front("(")) {
    return false;
  }
  text = text.take_until([](char c) { return c == ')'; });
  SmallVector<StringRef> parts;
  text.split(parts, ',', -1, /*KeepEmpty=*/false);
  llvm::erase_if(parts, [](StringRef part) { return part.trim().empty(); });
  return llvm::equal(parts, shape, [](StringRef part, int64_t dim) {
    int64_t value;
    return !part.trim().getAsInteger(10, value) && value == dim;
  });
}

Expected<Tensor> eval::readNpy(StringRef path, mlir::RankedTensorType type) {
  auto fail = [&](const Twine &what) {
    return createStringError(path + ": " + what);
  };
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  if (!file) {
    return fail(file.getError().message());
  }
  StringRef bytes = (*file)->getBuffer();
  if (!bytes.starts_with(magic) || bytes.size() < 12 || bytes[6] < 1 ||
      bytes[6] > 3) {
    return fail("expected a .npy file of version 1 to 3");
  }
  bool isLong = bytes[6] > 1;
  size_t length = isLong ? support::endian::read32le(bytes.data() + 8)
                         : support::endian::read16le(bytes.data() + 8);
  bytes = bytes.drop_front(isLong ? 12 : 10);
  if (length > bytes.size()) {
    return fail("the header is cut off");
  }
  StringRef header = bytes.take_front(length);
  bytes = bytes.drop_front(length);
  auto result = Tensor::allocate(type);
  if (!result) {
    return fail("no memory for its tensor");
  }
  StringRef descriptor = getField(header, "descr");
  StringRef name = getDescriptor(result->getKind());
  bool fits =
      descriptor.starts_with(("'" + name + "'").str()) ||
      (result->getKind() == Kind::BF16 &&
       (descriptor.starts_with("'<u2'") || descriptor.starts_with("'|V2'")));
  if (!fits) {
    return fail("expected elements " + name + ", got " +
                descriptor.take_until([](char c) { return c == ','; }));
  }
  if (!getField(header, "fortran_order").starts_with("False")) {
    return fail("expected C order");
  }
  if (!hasShape(getField(header, "shape"), type.getShape())) {
    std::string expected;
    raw_string_ostream(expected) << type;
    return fail("expected the shape of " + expected + ", got header " +
                header.trim());
  }
  if (bytes.size() != result->getBytes().size()) {
    return fail("expected " + Twine(result->getBytes().size()) +
                " bytes of data, got " + Twine(bytes.size()));
  }
  if (!bytes.empty()) {
    std::memcpy(result->mutableBytes(), bytes.data(), bytes.size());
  }
  return *result;
}

Error eval::writeNpy(StringRef path, const Tensor &tensor) {
  auto full = tensor.expanded();
  std::error_code code;
  raw_fd_ostream out(path, code);
  if (code || !full) {
    return createStringError(path + ": " +
                             (code ? code.message() : "no memory"));
  }
  std::string header;
  raw_string_ostream text(header);
  text << "{'descr': '" << getDescriptor(tensor.getKind())
       << "', 'fortran_order': False, 'shape': (";
  for (int64_t dim : tensor.getShape()) {
    text << dim << ",";
  }
  text << "), }";
  // The data begin at a multiple of 64 bytes; the header ends in a new line.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  char size[2];
  support::endian::write16le(size, header.size());
  out << magic << StringRef("\x01\x00", 2) << StringRef(size, 2) << header;
  out.write(full->getBytes().data(), full->getBytes().size());
  out.close();
  return out.has_error() ? createStringError(path + ": cannot be written")
                         : Error::success();
}
