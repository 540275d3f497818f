//===- BuildId.cpp - Which compiler this is -------------------------------===//
#include "compiler/Targets/CUDA/KernelCache.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"

#include <elf.h>
#include <link.h>

using namespace llvm;

/// The notes of a loaded object that its linker made from its content.
static std::string findBuildId(const dl_phdr_info &object) {
  for (unsigned i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = object.dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) {
      continue;
    }
    auto *at =
        reinterpret_cast<const char *>(object.dlpi_addr + segment.p_vaddr);
    const char *end = at + segment.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      const auto &note = *reinterpret_cast<const ElfW(Nhdr) *>(at);
      StringRef name(at + sizeof note, note.n_namesz);
      const char *data = at + sizeof note + alignTo(note.n_namesz, 4);
      if (note.n_type == NT_GNU_BUILD_ID && name == StringRef("GNU\0", 4)) {
        return toHex(StringRef(data, note.n_descsz), /*LowerCase=*/true);
      }
      at = data + alignTo(note.n_descsz, 4);
    }
  }
  return "";
}

static int addObject(dl_phdr_info *object, size_t, void *out) {
  StringRef name = object->dlpi_name;
  bool isProgram = name.empty() && object->dlpi_addr != 0;
  auto &text = *static_cast<std::string *>(out);
  // The program comes first; it may be linked at a fixed address.
  if (!isProgram && !text.empty() && !name.contains("libLLVM") &&
      !name.contains("libMLIR")) {
    return 0;
  }
  std::string id = findBuildId(*object);
  StringRef path = name.empty() ? StringRef("/proc/self/exe") : name;
  sys::fs::file_status status;
  if (id.empty() && !sys::fs::status(path, status)) {
    // Linked without one: a file that is built again is another.
    id = utostr(status.getSize()) + "@" +
         utostr(status.getLastModificationTime().time_since_epoch().count());
  }
  text += id + ";";
  return 0;
}

const std::string &ampc::cuda::getBuildId() {
  static const std::string id = [] {
    std::string text;
    dl_iterate_phdr(addObject, &text);
    return text;
  }();
  return id;
}
