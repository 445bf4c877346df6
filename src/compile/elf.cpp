// SPDX-License-Identifier: MIT
#include "compile/elf.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "kbench/error.hpp"

namespace kbench {
namespace {

/// The `T` at `offset`, or zeros if the file is too short.
template <typename T>
T read_at(std::string_view bytes, std::uint64_t offset) {
  T value{};
  if (offset <= bytes.size() && bytes.size() - offset >= sizeof(T)) {
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
  }
  return value;
}

}  // namespace

ElfFile::ElfFile(std::string_view bytes) : bytes_(bytes) {
  const auto header = read_at<Elf64_Ehdr>(bytes, 0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB) {
    throw Error("the compiler's output is not a 64-bit ELF file");
  }
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    const auto entry = read_at<Elf64_Shdr>(bytes, header.e_shoff + i * sizeof(Elf64_Shdr));
    sections_.push_back({entry.sh_type, entry.sh_link, entry.sh_offset, entry.sh_size});
  }
}

const ElfFile::Section* ElfFile::find(std::uint32_t type) const {
  const auto found = std::ranges::find(sections_, type, &Section::type);
  return found == sections_.end() ? nullptr : &*found;
}

std::string_view ElfFile::contents(const Section& section) const {
  if (section.offset > bytes_.size()) return {};
  return bytes_.substr(section.offset, section.size);
}

std::string_view ElfFile::text_at(const Section& strings, std::uint64_t offset) const {
  const std::string_view all = contents(strings);
  if (offset >= all.size()) return {};
  return all.substr(offset, all.find('\0', offset) - offset);
}

std::vector<ElfSymbol> ElfFile::read_symbols(std::uint32_t type) const {
  std::vector<ElfSymbol> symbols;
  const Section* table = find(type);
  if (table == nullptr || table->link >= sections_.size()) return symbols;
  const std::string_view entries = contents(*table);
  for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= entries.size(); at += sizeof(Elf64_Sym)) {
    const auto entry = read_at<Elf64_Sym>(entries, at);
    const std::string_view name = text_at(sections_[table->link], entry.st_name);
    if (name.empty()) continue;
    symbols.push_back({name, entry.st_value, entry.st_size,
                       ELF64_ST_TYPE(entry.st_info) == STT_FUNC,
                       ELF64_ST_TYPE(entry.st_info) == STT_OBJECT, entry.st_shndx != SHN_UNDEF,
                       ELF64_ST_BIND(entry.st_info) == STB_WEAK});
  }
  return symbols;
}

std::vector<ElfSymbol> ElfFile::symbols() const { return read_symbols(SHT_SYMTAB); }

std::vector<ElfSymbol> ElfFile::dynamic_symbols() const { return read_symbols(SHT_DYNSYM); }

}  // namespace kbench
