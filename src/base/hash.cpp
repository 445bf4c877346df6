// SPDX-License-Identifier: MIT
#include "base/hash.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace kbench {
namespace {

// FIPS 180-4, 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64
// primes.
constexpr std::array<std::uint32_t, 64> kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

constexpr std::size_t kBlockBytes = 64;
constexpr std::size_t kLengthOffset = 56;  // offset of the message's length in the last block

std::uint32_t load_big_endian(const std::uint8_t* bytes) {
  return static_cast<std::uint32_t>(bytes[0]) << 24 | static_cast<std::uint32_t>(bytes[1]) << 16 |
         static_cast<std::uint32_t>(bytes[2]) << 8 | static_cast<std::uint32_t>(bytes[3]);
}

/// The message schedule of FIPS 180-4, 6.2.2 step 1.
std::array<std::uint32_t, 64> schedule(const std::uint8_t* data) {
  std::array<std::uint32_t, 64> words;
  for (std::size_t t = 0; t < 16; ++t) words[t] = load_big_endian(data + 4 * t);
  for (std::size_t t = 16; t < 64; ++t) {
    const std::uint32_t a = words[t - 15];
    const std::uint32_t b = words[t - 2];
    const std::uint32_t sigma0 = std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3);
    const std::uint32_t sigma1 = std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10);
    words[t] = sigma1 + words[t - 7] + sigma0 + words[t - 16];
  }
  return words;
}

template <std::size_t N>
void append_big_endian(std::uint64_t value, std::array<std::uint8_t, N>& bytes,
                       std::size_t offset) {
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[offset + i] = static_cast<std::uint8_t>(value >> (56 - 8 * i));
  }
}

}  // namespace

// FIPS 180-4, 5.3.3: the same bits of the square roots of the first 8 primes.
Sha256::Sha256()
    : state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
             0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19} {}

void Sha256::block(const std::uint8_t* data) {
  const std::array<std::uint32_t, 64> words = schedule(data);
  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t t = 0; t < 64; ++t) {
    const std::uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t choice = (e & f) ^ (~e & g);
    const std::uint32_t t1 = h + sum1 + choice + kRound[t] + words[t];
    const std::uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + sum0 + majority;
  }
  const std::array<std::uint32_t, 8> add = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; ++i) state_[i] += add[i];
}

Sha256& Sha256::update(std::string_view data) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(data.data());
  std::size_t left = data.size();
  const std::size_t filled = length_ % kBlockBytes;
  length_ += left;
  if (filled != 0) {
    const std::size_t take = std::min(kBlockBytes - filled, left);
    std::memcpy(buffer_.data() + filled, bytes, take);
    bytes += take;
    left -= take;
    if (filled + take < kBlockBytes) return *this;
    block(buffer_.data());
  }
  for (; left >= kBlockBytes; bytes += kBlockBytes, left -= kBlockBytes) block(bytes);
  if (left != 0) std::memcpy(buffer_.data(), bytes, left);
  return *this;
}

Sha256& Sha256::field(std::string_view field) {
  std::array<std::uint8_t, 8> length;
  append_big_endian(field.size(), length, 0);
  update({reinterpret_cast<const char*>(length.data()), length.size()});
  return update(field);
}

std::array<std::uint8_t, 32> Sha256::digest() {
  const std::uint64_t bits = length_ * 8;
  std::size_t filled = length_ % kBlockBytes;
  buffer_[filled++] = 0x80;
  if (filled > kLengthOffset) {
    std::fill(buffer_.begin() + static_cast<std::ptrdiff_t>(filled), buffer_.end(),
              std::uint8_t{0});
    block(buffer_.data());
    filled = 0;
  }
  std::fill(buffer_.begin() + static_cast<std::ptrdiff_t>(filled), buffer_.end(), std::uint8_t{0});
  append_big_endian(bits, buffer_, kLengthOffset);
  block(buffer_.data());
  std::array<std::uint8_t, 32> result;
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = static_cast<std::uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
  }
  return result;
}

std::string Sha256::hex() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : digest()) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string sha256_hex(std::string_view data) { return Sha256().update(data).hex(); }

std::uint64_t trial_seed(std::string_view secret, std::string_view problem, std::uint32_t trial) {
  const auto digest = Sha256().field(secret).field(problem).field(std::to_string(trial)).digest();
  std::uint64_t seed = 0;
  for (std::size_t i = 0; i < 8; ++i) seed = seed << 8 | digest[i];
  return seed & (~std::uint64_t{0} >> 1);
}

}  // namespace kbench
