//===- ElfWriterTest.cpp - Objects read back by LLVM ----------------------===//
#include "compiler/Driver/ElfWriter.h"

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELFObjectFile.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace ampc::driver;

static std::string makeObject(StringRef data, uint64_t padding = 64) {
  std::string bytes;
  raw_string_ostream os(bytes);
  DataObject object;
  object.symbol = "the_weights";
  object.size = data.size();
  object.padding = padding;
  object.note = "ampc 1.2.3";
  EXPECT_TRUE(succeeded(writeDataObject(os, object, [&](raw_ostream &to) {
    to << data;
    return success();
  })));
  return bytes;
}

TEST(ElfWriter, SectionAndSymbol) {
  std::string data = "some weights, 24 bytes.";
  std::string bytes = makeObject(data);
  auto file = object::ObjectFile::createELFObjectFile(
      MemoryBufferRef(bytes, "weights.o"));
  ASSERT_TRUE(static_cast<bool>(file)) << toString(file.takeError());
  auto &elf = cast<object::ELFObjectFileBase>(**file);
  EXPECT_EQ(elf.getArch(), Triple::x86_64);
  EXPECT_TRUE(elf.isRelocatableObject());

  unsigned numSymbols = 0;
  for (object::ELFSymbolRef symbol : elf.symbols()) {
    ++numSymbols;
    EXPECT_EQ(cantFail(symbol.getName()), "the_weights");
    EXPECT_EQ(symbol.getBinding(), ELF::STB_GLOBAL);
    EXPECT_EQ(symbol.getOther(), ELF::STV_HIDDEN);
    EXPECT_EQ(symbol.getSize(), data.size());
    object::ELFSectionRef section(*cantFail(symbol.getSection()));
    EXPECT_EQ(section.getAlignment().value(), 4096u);
    EXPECT_EQ(section.getFlags(),
              uint64_t(ELF::SHF_ALLOC | ELF::SHF_X86_64_LARGE));
    EXPECT_EQ(cantFail(section.getContents()), data + std::string(64, '\0'));
    // Readers map the file: the data begins a page there as well.
    EXPECT_EQ(cantFail(section.getContents()).data() - bytes.data(), 4096);
  }
  EXPECT_EQ(numSymbols, 1u);
}

TEST(ElfWriter, NoData) {
  std::string bytes = makeObject("", 0);
  EXPECT_TRUE(static_cast<bool>(object::ObjectFile::createELFObjectFile(
      MemoryBufferRef(bytes, "weights.o"))));
  EXPECT_EQ(findNote(bytes), "ampc 1.2.3");
}

TEST(ElfWriter, FailureIsHandedOn) {
  raw_null_ostream os;
  EXPECT_TRUE(failed(writeDataObject(os, DataObject(),
                                     [](raw_ostream &) { return failure(); })));
}

TEST(ElfWriter, FindNoteTakesAnyBytes) {
  std::string bytes = makeObject("weights");
  EXPECT_EQ(findNote(bytes), "ampc 1.2.3");
  EXPECT_EQ(findNote(""), "");
  EXPECT_EQ(findNote("no ELF file"), "");
  for (size_t length = 0; length < bytes.size(); ++length) {
    findNote(StringRef(bytes).take_front(length));
  }
  // Every header byte spoilt in turn; the section headers come last.
  for (size_t i = 0; i < 64; ++i) {
    std::string spoilt = bytes;
    spoilt[i] = static_cast<char>(0xff);
    findNote(spoilt);
    spoilt = bytes;
    for (size_t section = 1; section <= 7; ++section) {
      spoilt[spoilt.size() - section * 64 + i] = static_cast<char>(0xff);
    }
    findNote(spoilt);
  }
}
