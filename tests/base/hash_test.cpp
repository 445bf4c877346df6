// SPDX-License-Identifier: MIT
#include "base/hash.hpp"

#include <gtest/gtest.h>

#include <set>

namespace kbench {
namespace {

// The examples of FIPS 180-4's companion document and of the NIST test vectors.
TEST(Sha256, PublishedVectors) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                       "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(sha256_hex("\xbd"), "68325720aabd7c82f30f554b313d0570c95accbb7dc4b5aae11204c08ffe732b");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesGiveTheDigestOfTheWhole) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += static_cast<char>(i * 7);
  for (std::size_t length = 0; length <= text.size(); length += 1 + length / 60) {
    const std::string_view whole = std::string_view(text).substr(0, length);
    const std::string expected = sha256_hex(whole);
    for (const std::size_t piece : {1u, 3u, 55u, 63u, 64u, 65u, 128u}) {
      Sha256 hash;
      for (std::size_t at = 0; at < length; at += piece) hash.update(whole.substr(at, piece));
      EXPECT_EQ(hash.hex(), expected) << length << " bytes in pieces of " << piece;
    }
  }
}

TEST(Sha256, FieldsKeepTheirBorders) {
  EXPECT_NE(Sha256().field("ab").field("c").hex(), Sha256().field("a").field("bc").hex());
  EXPECT_NE(Sha256().field("").field("a").hex(), Sha256().field("a").field("").hex());
  EXPECT_EQ(Sha256().field("ab").hex(), sha256_hex(std::string_view("\0\0\0\0\0\0\0\2ab", 10)));
}

TEST(TrialSeed, DependsOnEverythingAndHasNoSignBit) {
  std::set<std::uint64_t> seeds;
  for (const char* secret : {"s", "t"}) {
    for (const char* problem : {"level1/1_a", "level1/2_b"}) {
      for (std::uint32_t trial = 0; trial < 50; ++trial) {
        const std::uint64_t seed = trial_seed(secret, problem, trial);
        EXPECT_EQ(seed >> 63, 0u);
        EXPECT_EQ(seed, trial_seed(secret, problem, trial));
        seeds.insert(seed);
      }
    }
  }
  EXPECT_EQ(seeds.size(), 200u);
}

}  // namespace
}  // namespace kbench
