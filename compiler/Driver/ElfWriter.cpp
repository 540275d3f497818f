//===- ElfWriter.cpp - An object file around bytes that are streamed ------===//
#include "compiler/Driver/ElfWriter.h"

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace llvm::ELF;

namespace ampc::driver {

static constexpr uint64_t pageSize = 4096;
// GNU ld and lld both place sections of this name and flag far from the code,
// so that offsets between code and small data fit 32 bits whatever the size.
static constexpr StringLiteral dataSectionName = ".lrodata.ampc_weights";

namespace {

/// A string table under construction.
struct StringPool {
  std::string bytes = std::string(1, '\0');
  uint32_t add(StringRef text) {
    uint32_t offset = bytes.size();
    bytes.append(text.begin(), text.end());
    bytes.push_back('\0');
    return offset;
  }
};

} // namespace

template <typename T>
static void writeRecord(raw_ostream &os, const T &record) {
  static_assert(sys::IsLittleEndianHost, "records are written as they lie");
  os.write(reinterpret_cast<const char *>(&record), sizeof record);
}

static std::string makeNote(StringRef text) {
  std::string note;
  raw_string_ostream os(note);
  Elf64_Nhdr header{};
  header.n_namesz = 5;
  header.n_descsz = text.size() + 1;
  header.n_type = 1;
  writeRecord(os, header);
  os << "ampc" << '\0';
  os.write_zeros(offsetToAlignment(5, Align(4)));
  os << text << '\0';
  os.write_zeros(offsetToAlignment(text.size() + 1, Align(4)));
  return note;
}

LogicalResult
writeDataObject(raw_ostream &os, const DataObject &object,
                function_ref<LogicalResult(raw_ostream &)> writeData) {
  enum { Null, Data, Note, Stack, Symbols, Strings, Names, NumSections };
  StringPool names, strings;
  std::string note = makeNote(object.note);
  Elf64_Shdr sections[NumSections] = {};
  auto define = [&](unsigned index, StringRef name, uint32_t type,
                    uint64_t flags, uint64_t align) -> Elf64_Shdr & {
    Elf64_Shdr &section = sections[index];
    section.sh_name = names.add(name);
    section.sh_type = type;
    section.sh_flags = flags;
    section.sh_addralign = align;
    return section;
  };

  Elf64_Sym symbols[2] = {};
  symbols[1].st_name = strings.add(object.symbol);
  symbols[1].setBindingAndType(STB_GLOBAL, STT_OBJECT);
  symbols[1].st_other = STV_HIDDEN;
  symbols[1].st_shndx = Data;
  symbols[1].st_size = object.size;

  // Everything but the data has a known, small size, so each offset is known
  // before the first byte is written.
  uint64_t dataSize = object.size + object.padding;
  Elf64_Shdr &data = define(Data, dataSectionName, SHT_PROGBITS,
                            SHF_ALLOC | SHF_X86_64_LARGE, pageSize);
  data.sh_offset = pageSize;
  data.sh_size = dataSize;
  Elf64_Shdr &noteSection =
      define(Note, noteSectionName, SHT_NOTE, SHF_ALLOC, 4);
  noteSection.sh_offset = alignTo(pageSize + dataSize, 8);
  noteSection.sh_size = note.size();
  Elf64_Shdr &stack = define(Stack, ".note.GNU-stack", SHT_PROGBITS, 0, 1);
  stack.sh_offset = noteSection.sh_offset + note.size();
  Elf64_Shdr &symbolTable = define(Symbols, ".symtab", SHT_SYMTAB, 0, 8);
  symbolTable.sh_offset = alignTo(stack.sh_offset, 8);
  symbolTable.sh_size = sizeof symbols;
  symbolTable.sh_entsize = sizeof(Elf64_Sym);
  symbolTable.sh_link = Strings;
  symbolTable.sh_info = 1; // the first global symbol
  Elf64_Shdr &stringTable = define(Strings, ".strtab", SHT_STRTAB, 0, 1);
  stringTable.sh_offset = symbolTable.sh_offset + sizeof symbols;
  stringTable.sh_size = strings.bytes.size();
  Elf64_Shdr &nameTable = define(Names, ".shstrtab", SHT_STRTAB, 0, 1);
  nameTable.sh_offset = stringTable.sh_offset + strings.bytes.size();
  nameTable.sh_size = names.bytes.size();

  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ElfMagic, 4);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_REL;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = NumSections;
  header.e_shstrndx = Names;
  header.e_shoff = alignTo(nameTable.sh_offset + names.bytes.size(), 8);

  uint64_t start = os.tell();
  auto padTo = [&](uint64_t offset) {
    os.write_zeros(offset - (os.tell() - start));
  };
  writeRecord(os, header);
  padTo(data.sh_offset);
  if (failed(writeData(os))) {
    return failure();
  }
  padTo(noteSection.sh_offset);
  os << note;
  padTo(symbolTable.sh_offset);
  for (const Elf64_Sym &symbol : symbols) {
    writeRecord(os, symbol);
  }
  os << strings.bytes << names.bytes;
  padTo(header.e_shoff);
  for (const Elf64_Shdr &section : sections) {
    writeRecord(os, section);
  }
  return success();
}

StringRef findNote(StringRef file) {
  Expected<object::ELF64LEFile> elf = object::ELF64LEFile::create(file);
  if (!elf) {
    consumeError(elf.takeError());
    return "";
  }
  auto sections = elf->sections();
  if (!sections) {
    consumeError(sections.takeError());
    return "";
  }
  for (const object::ELF64LE::Shdr &section : *sections) {
    Expected<StringRef> name = elf->getSectionName(section);
    if (!name) {
      consumeError(name.takeError());
      continue;
    }
    Expected<ArrayRef<uint8_t>> bytes = elf->getSectionContents(section);
    if (!bytes) {
      consumeError(bytes.takeError());
      continue;
    }
    constexpr size_t descOffset = sizeof(Elf64_Nhdr) + 8;
    if (*name == noteSectionName && bytes->size() > descOffset) {
      return toStringRef(bytes->drop_front(descOffset)).take_until([](char c) {
        return c == '\0';
      });
    }
  }
  return "";
}

} // namespace ampc::driver
