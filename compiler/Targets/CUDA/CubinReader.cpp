//===- CubinReader.cpp - What the kernels of a cubin need -----------------===//
#include "compiler/Targets/CUDA/CubinReader.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Endian.h"

using namespace llvm;
using namespace ampc::cuda;
using llvm::support::endian::read16le;
using llvm::support::endian::read32le;

// Sections ".text.KERNEL" hold code, ".nv.shared.KERNEL" have the size of the
// static shared memory. ".nv.info" is a list of attributes: format, number and
// either a 16-bit value or the size of what follows. Those of 8 bytes are pairs
// of a symbol and a value (names as cuobjdump -elf prints them).
namespace {
constexpr uint64_t systemShared = 1 << 10;
constexpr uint8_t formatSized = 4;           // EIFMT_SVAL
constexpr uint8_t attributeFrameSize = 0x11; // EIATTR_FRAME_SIZE
constexpr uint8_t attributeRegisters = 0x2f; // EIATTR_REGCOUNT
} // namespace

static KernelResources *find(std::vector<KernelResources> &kernels,
                             StringRef symbol) {
  for (KernelResources &kernel : kernels) {
    if (kernel.symbol == symbol) {
      return &kernel;
    }
  }
  return nullptr;
}

static void
readAttributes(ArrayRef<uint8_t> info,
               function_ref<void(uint8_t, uint32_t, uint32_t)> add) {
  while (info.size() >= 4) {
    uint8_t format = info[0], attribute = info[1];
    size_t size = format == formatSized ? read16le(&info[2]) : 0;
    info = info.drop_front(4);
    if (size > info.size()) {
      return;
    }
    if (size == 8) {
      add(attribute, read32le(&info[0]), read32le(&info[4]));
    }
    info = info.drop_front(size);
  }
}

Expected<std::vector<KernelResources>> ampc::cuda::readCubin(StringRef bytes) {
  using Elf = object::ELF64LEFile;
  Expected<Elf> file = Elf::create(bytes);
  if (!file) {
    return file.takeError();
  }
  if (file->getHeader().e_machine != ELF::EM_CUDA) {
    return createStringError("not a cubin: code of another machine");
  }
  auto sections = file->sections();
  if (!sections) {
    return sections.takeError();
  }
  std::vector<KernelResources> kernels;
  uint64_t reserved = 0;
  const Elf::Elf_Shdr *symbols = nullptr, *info = nullptr;
  for (const Elf::Elf_Shdr &section : *sections) {
    auto name = file->getSectionName(section);
    if (!name) {
      return name.takeError();
    }
    if (StringRef symbol = *name; symbol.consume_front(".text.")) {
      kernels.emplace_back();
      kernels.back().symbol = symbol.str();
      kernels.back().codeBytes = section.sh_size;
    }
    // From sm_90 on, each ".nv.shared.KERNEL" begins with what the system
    // takes.
    reserved = *name == ".nv.shared.reserved.0" ? systemShared : reserved;
    symbols = section.sh_type == ELF::SHT_SYMTAB ? &section : symbols;
    info = *name == ".nv.info" ? &section : info;
  }
  for (const Elf::Elf_Shdr &section : *sections) {
    StringRef symbol = cantFail(file->getSectionName(section));
    KernelResources *kernel =
        symbol.consume_front(".nv.shared.") ? find(kernels, symbol) : nullptr;
    if (kernel) {
      kernel->sharedBytes =
          section.sh_size - std::min<uint64_t>(section.sh_size, reserved);
    }
  }
  if (!symbols || !info) {
    return kernels;
  }
  auto content = file->getSectionContents(*info);
  auto table = file->symbols(symbols);
  auto names = file->getStringTableForSymtab(*symbols);
  if (!content || !table || !names) {
    return joinErrors(joinErrors(content.takeError(), table.takeError()),
                      names.takeError());
  }
  readAttributes(
      *content, [&](uint8_t attribute, uint32_t index, uint32_t value) {
        if (index >= table->size()) {
          return;
        }
        auto name = (*table)[index].getName(*names);
        KernelResources *kernel = name ? find(kernels, *name) : nullptr;
        consumeError(name.takeError());
        if (kernel && attribute == attributeRegisters) {
          kernel->registers = value;
        } else if (kernel && attribute == attributeFrameSize) {
          kernel->stackBytes = value;
        }
      });
  return kernels;
}
