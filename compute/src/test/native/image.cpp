// Reads the names of kernels and the sizes of their parameters from PTX and from cubins, so that what
// the host compiler made and what the product ships are known to be of one source.
#include "emulator.h"

#include <elf.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

namespace emulator {
namespace {

std::string_view word(std::string_view text) {
  size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) {
    return {};
  }
  size_t end = text.find_first_of(" \t\n,()[;", begin);
  return text.substr(begin, end - begin);
}

std::string_view after(std::string_view text, std::string_view what, size_t from = 0) {
  size_t at = text.find(what, from);
  return at == std::string_view::npos ? std::string_view{} : text.substr(at + what.size());
}

// ".param .u64 .ptr .align 1 add_param_0" or ".param .align 8 .b8 add_param_1[24]"
size_t sizeOfParameter(std::string_view declaration) {
  size_t bytes = 0;
  for (std::string_view rest = after(declaration, " ."); !rest.empty(); rest = after(rest, " .")) {
    std::string_view type = word(rest);
    if (type.size() >= 2 && strchr("usbf", type[0]) != nullptr && type.substr(0, 3) != "spa") {
      bytes = strtoul(std::string(type.substr(1)).c_str(), nullptr, 10) / 8;
    }
  }
  std::string_view array = after(declaration, "[");
  return array.empty() ? bytes : bytes * strtoul(std::string(array).c_str(), nullptr, 10);
}

bool readPtx(std::string_view text, Image& image) {
  image.binary = false;
  image.ptxVersion = static_cast<int>(
      strtod(std::string(word(after(text, ".version"))).c_str(), nullptr) * 10 + 0.5);
  image.architecture = atoi(std::string(after(text, ".target sm_").substr(0, 3)).c_str());
  if (image.ptxVersion == 0 || image.architecture == 0) {
    return false;
  }
  for (std::string_view rest = after(text, ".entry"); !rest.empty(); rest = after(rest, ".entry")) {
    Entry entry{std::string(word(rest)), {}};
    std::string_view list = after(rest, "(");
    list = list.substr(0, list.find("\n)") == std::string_view::npos ? list.find(')') : list.find("\n)"));
    for (std::string_view p = after(list, ".param"); !p.empty(); p = after(p, ".param")) {
      entry.parameters.push_back(sizeOfParameter(p.substr(0, p.find(','))));
    }
    image.entries.push_back(entry);
  }
  return true;
}

bool readCubin(const char* bytes, Image& image) {
  auto* header = reinterpret_cast<const Elf64_Ehdr*>(bytes);
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != 190) {
    return false;
  }
  image.binary = true;
  image.ptxVersion = 0;
  // The architecture is the lowest byte of the flags in older cubins and the second in newer ones.
  unsigned flags = header->e_flags;
  image.architecture = header->e_ident[EI_ABIVERSION] >= 8 ? flags >> 8 & 0xff : flags & 0xff;
  auto* sections = reinterpret_cast<const Elf64_Shdr*>(bytes + header->e_shoff);
  const char* names = bytes + sections[header->e_shstrndx].sh_offset;
  for (int i = 0; i < header->e_shnum; i++) {
    std::string_view name = names + sections[i].sh_name;
    if (name.substr(0, 9) != ".nv.info.") {
      continue;
    }
    Entry entry{std::string(name.substr(9)), {}};
    const char* at = bytes + sections[i].sh_offset;
    const char* end = at + sections[i].sh_size;
    while (at + 4 <= end) {
      auto format = static_cast<unsigned char>(at[0]), attribute = static_cast<unsigned char>(at[1]);
      uint16_t length;
      memcpy(&length, at + 2, 2);
      at += 4;
      if (format == 4) {  // with a payload
        if (attribute == 0x17 && length >= 12) {  // a parameter of the kernel
          uint16_t ordinal;
          uint32_t packed;
          memcpy(&ordinal, at + 4, 2);
          memcpy(&packed, at + 8, 4);
          if (entry.parameters.size() <= ordinal) {
            entry.parameters.resize(ordinal + 1);
          }
          entry.parameters[ordinal] = packed >> 18;
        }
        at += length;
      }
    }
    image.entries.push_back(entry);
  }
  return true;
}

}  // namespace

bool read(const void* bytes, Image& image) {
  auto* text = static_cast<const char*>(bytes);
  bool done = memcmp(text, ELFMAG, SELFMAG) == 0 ? readCubin(text, image) : readPtx(text, image);
  if (!done) {
    refuse(INVALID_IMAGE, "neither PTX nor a cubin");
  }
  return done;
}

}  // namespace emulator
