// SPDX-License-Identifier: MIT
// The contents of memory before calls, and their order.
#include "worker/device/poison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>

namespace kbench::worker {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr int kSeeds = 50;

template <typename T>
T value_of(Poison poison) {
  T value{};
  std::memset(&value, poison_byte(poison), sizeof value);
  return value;
}

/// A number of 16 bits with `digits` bits of mantissa.
double half_of(Poison poison, int digits) {
  const auto bits = value_of<std::uint16_t>(poison);
  const int exponent_bits = 15 - digits;
  const int exponent = bits >> digits & ((1 << exponent_bits) - 1);
  EXPECT_NE(exponent, (1 << exponent_bits) - 1) << "not finite";
  const double mantissa = 1 + (bits & ((1 << digits) - 1)) / std::ldexp(1.0, digits);
  return std::ldexp(mantissa, exponent - (1 << (exponent_bits - 1)) + 1);
}

TEST(Poison, NumbersThatAreFiniteAreSoInEveryType) {
  PoisonOrder order(1);
  std::map<Poison, int> seen;
  for (int i = 0; i < 1000; ++i) {
    const Poison poison = order.next();
    if (poison_kind(poison) == PoisonKind::kPlausible) ++seen[poison];
  }
  EXPECT_THAT(seen, SizeIs(6));
  for (const auto& [poison, count] : seen) {
    SCOPED_TRACE(poison);
    EXPECT_GT(std::abs(value_of<float>(poison)), 0.5f);
    EXPECT_LT(std::abs(value_of<float>(poison)), 30.0f);
    EXPECT_GT(std::abs(value_of<double>(poison)), 1e-4);
    EXPECT_LT(std::abs(value_of<double>(poison)), 1e9);
    for (const int digits : {10, 7}) {  // fp16, bf16
      EXPECT_GT(half_of(poison, digits), 0.5);
      EXPECT_LT(half_of(poison, digits), 30);
    }
  }
  EXPECT_GT(value_of<float>(kLoudPoison), 1e30f);
  EXPECT_TRUE(std::isfinite(value_of<float>(kLoudPoison)));
  EXPECT_TRUE(std::isfinite(value_of<double>(kLoudPoison)));
  EXPECT_GT(half_of(kLoudPoison, 10), 6e4);
  EXPECT_GT(half_of(kLoudPoison, 7), 1e30);
  EXPECT_TRUE(std::isnan(value_of<float>(kPoison)));
}

TEST(Poison, EachKindComesOnceInFiveCallsAndNaNFirst) {
  std::set<std::vector<PoisonKind>> orders;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    PoisonOrder order(seed);
    EXPECT_EQ(order.next(), kPoison);
    std::vector<PoisonKind> kinds{PoisonKind::kNaN};
    while (kinds.size() < 3 * kPoisonKinds) kinds.push_back(poison_kind(order.next()));
    for (auto five = kinds.begin(); five != kinds.end(); five += kPoisonKinds)
      EXPECT_THAT(std::set(five, five + kPoisonKinds), SizeIs(kPoisonKinds));
    orders.insert(kinds);
  }
  EXPECT_GT(orders.size(), kSeeds / 2u) << "an order that is known could be counted";
}

TEST(Poison, TheSameSeedGivesTheSameOrder) {
  PoisonOrder one(7), other(7);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(one.next(), other.next());
  for (int i = 0; i < 20; ++i) EXPECT_EQ(one.next_timed(), other.next_timed());
}

TEST(Poison, WhatWasNotComparedIsKnown) {
  PoisonOrder order(3);
  EXPECT_THAT(order.not_compared(), SizeIs(kPoisonKinds));
  order.note_compared(kPoison);
  order.note_compared(kDataPoison + 77);
  order.note_compared(0x41);
  EXPECT_THAT(order.not_compared(), testing::ElementsAre(kZeroPoison, kLoudPoison));
  for (std::size_t i = 0; i < kPoisonKinds; ++i) order.note_compared(order.next());
  EXPECT_THAT(order.not_compared(), IsEmpty());
}

TEST(Poison, TimedCallsFindNoZerosAndNoData) {
  PoisonOrder order(5);
  std::set<PoisonKind> kinds;
  for (int i = 0; i < 200; ++i) kinds.insert(poison_kind(order.next_timed()));
  EXPECT_THAT(kinds, Not(Contains(PoisonKind::kZero)));
  EXPECT_THAT(kinds, Not(Contains(PoisonKind::kData)));
  EXPECT_THAT(kinds, SizeIs(kPoisonKinds - 2));
}

TEST(Poison, DataIsSpreadFromItsPlaceOn) {
  std::vector<std::byte> data(40);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i);
  for (const Poison place : {Poison{0}, kDataPlaces / 2, kDataPlaces - 1}) {
    const Poison poison = kDataPoison + place;
    const std::size_t offset = poison_offset(poison, data.size());
    EXPECT_EQ(offset % 8, 0u);
    EXPECT_EQ(offset, place == 0 ? 0u : place == kDataPlaces / 2 ? 16u : 32u);
    for (const std::size_t size : {0u, 3u, 8u, 24u, 40u, 100u}) {
      std::vector<std::byte> memory(size + 1);
      spread_data(memory.data(), size, poison, data,
                  [](std::byte* to, const std::byte* from, std::size_t bytes) {
                    std::memcpy(to, from, bytes);
                  });
      for (std::size_t i = 0; i < size; ++i)
        EXPECT_EQ(memory[i], data[(offset + i) % data.size()]) << size << " " << i;
      EXPECT_EQ(memory[size], std::byte{0}) << "past the end";
    }
  }
}

}  // namespace
}  // namespace kbench::worker
