// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace kbench {

/// The first bytes of every ELF file.
inline constexpr std::string_view kElf = "\177ELF";

/// One symbol of an object file.
struct ElfSymbol {
  std::string_view name;
  std::uint64_t value = 0, size = 0;
  bool is_function = false, is_object = false, is_defined = false, is_weak = false;
};

/// A 64-bit little-endian ELF file, read in place: `bytes` must outlive it. Offsets in the file are
/// checked; data that would lie outside the file is treated as missing.
class ElfFile {
 public:
  /// Throws kbench::Error if the bytes are not such a file.
  explicit ElfFile(std::string_view bytes);
  /// All symbols, local ones included (.symtab); empty in a stripped file.
  std::vector<ElfSymbol> symbols() const;
  /// Exported and imported symbols (.dynsym).
  std::vector<ElfSymbol> dynamic_symbols() const;

 private:
  struct Section {
    std::uint32_t type = 0, link = 0;
    std::uint64_t offset = 0, size = 0;
  };
  std::vector<ElfSymbol> read_symbols(std::uint32_t type) const;
  const Section* find(std::uint32_t type) const;
  std::string_view contents(const Section& section) const;
  std::string_view text_at(const Section& strings, std::uint64_t offset) const;

  std::string_view bytes_;
  std::vector<Section> sections_;
};

}  // namespace kbench
