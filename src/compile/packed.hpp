// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kbench/error.hpp"

namespace kbench {

/// Packs numbers and texts into one message; each text follows its length. Texts may hold any
/// bytes.
class Packer {
 public:
  Packer& number(std::uint64_t value) {
    bytes_ += std::to_string(value);
    bytes_ += ' ';
    return *this;
  }
  Packer& text(std::string_view value) {
    number(value.size());
    bytes_ += value;
    return *this;
  }
  Packer& texts(const std::vector<std::string>& values) {
    number(values.size());
    for (const auto& value : values) text(value);
    return *this;
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Unpacks a Packer's message in the same order. All functions throw kbench::Error if the bytes do
/// not fit.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}
  std::uint64_t number() {
    std::uint64_t value = 0;
    const char* const end = bytes_.data() + bytes_.size();
    const auto [next, error] = std::from_chars(bytes_.data(), end, value);
    if (error != std::errc{} || next == end || *next != ' ') {
      throw Error("a message of kbench-cc is malformed");
    }
    bytes_.remove_prefix(static_cast<std::size_t>(next + 1 - bytes_.data()));
    return value;
  }
  bool flag() { return number() != 0; }
  std::string text() {
    const std::uint64_t size = number();
    if (size > bytes_.size()) throw Error("a message of kbench-cc is cut off");
    std::string value(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
    return value;
  }
  std::vector<std::string> texts() {
    std::vector<std::string> values;
    for (std::uint64_t left = number(); left > 0; --left) values.push_back(text());
    return values;
  }

 private:
  std::string_view bytes_;
};

}  // namespace kbench
