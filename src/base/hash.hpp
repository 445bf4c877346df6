// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace kbench {

/// SHA-256 (FIPS 180-4) of data that comes in pieces. Content keys decide which verdict is reused,
/// so a candidate must not be able to find collisions.
class Sha256 {
 public:
  Sha256();
  /// Adds the bytes of `data`.
  Sha256& update(std::string_view data);
  /// Adds the length of `field` and then `field`, so that ("ab","c") and ("a","bc") differ.
  Sha256& field(std::string_view field);
  /// The digest of everything added; the object must not be used afterwards.
  std::array<std::uint8_t, 32> digest();
  /// The digest as 64 hexadecimal digits.
  std::string hex();

 private:
  void block(const std::uint8_t* data);
  std::array<std::uint32_t, 8> state_;
  std::array<std::uint8_t, 64> buffer_{};
  std::uint64_t length_ = 0;
};

/// SHA-256 of `data` as 64 hexadecimal digits.
std::string sha256_hex(std::string_view data);

/// The input seed of one trial: the first 8 bytes of SHA-256(secret, problem, trial), without sign
/// bit, as torch's generators take it. It cannot be predicted without the secret.
std::uint64_t trial_seed(std::string_view secret, std::string_view problem, std::uint32_t trial);

}  // namespace kbench
