// SPDX-License-Identifier: MIT
// Damaged frames: whatever arrives, a receiver says what is wrong with it and goes on.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <set>

#include "protocol/protocol_frames.hpp"

namespace kbench::protocol {
namespace {

/// Fields whose every bit a receiver checks; a flip in the others makes another valid frame.
bool is_checked(std::size_t at) {
  const bool is_type = at >= kTypeAt && at < kFdsAt;
  return at < kHeaderBytes && !is_type;
}

TEST(Fuzz, NoSingleFlippedBitOfTheHeaderGoesUnnoticed) {
  const std::string good = frame(MessageType::kTimes, "twelve bytes");
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bytes = good;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    Ends ends;
    ends.write(bytes);
    ends.other.reset();
    Message message;
    const auto status = ends.channel.receive(message, soon());
    if (!is_checked(bit / 8)) {
      EXPECT_EQ(status, ReceiveStatus::kOk) << bit;
      EXPECT_FALSE(message.type == MessageType::kTimes && message.body == "twelve bytes") << bit;
      continue;
    }
    // A shorter length makes a whole frame, and what is left of the body no second one.
    std::uint32_t length = 0;
    std::memcpy(&length, bytes.data() + kLengthAt, sizeof length);
    const bool shorter = length < 12;
    EXPECT_EQ(status == ReceiveStatus::kOk, shorter) << bit;
    if (!shorter) {
      EXPECT_TRUE(status == ReceiveStatus::kMalformed || status == ReceiveStatus::kClosed) << bit;
    } else {
      EXPECT_EQ(ends.channel.receive(message, soon()), ReceiveStatus::kClosed) << bit;
    }
  }
}

TEST(Fuzz, ByteFlipsEndTheConversationAndNothingElse) {
  std::mt19937 random(20240229);
  std::set<ReceiveStatus> seen;
  for (int round = 0; round < 3000; ++round) {
    std::string stream;
    for (std::uint64_t i = 0; i < 4; ++i)
      stream +=
          frame(MessageType::kTimes, std::string(random() % 40, static_cast<char>('a' + i)), i);
    for (int flips = 1 + static_cast<int>(random() % 4); flips > 0; --flips)
      stream[random() % stream.size()] = static_cast<char>(random());
    const bool cut = random() % 2 == 0;
    if (cut) stream.resize(random() % stream.size());
    Ends ends;
    if (!stream.empty()) ends.write(stream);
    const bool hang_up = random() % 2 == 0;
    if (hang_up) ends.other.reset();
    int whole = 0;
    auto status = ReceiveStatus::kOk;
    while (status == ReceiveStatus::kOk) {
      Message message;
      status = ends.channel.receive(message, at_once());
      if (status != ReceiveStatus::kOk) break;
      EXPECT_LE(message.body.size(), stream.size());
      EXPECT_TRUE(message.fds.empty());
      ++whole;
    }
    EXPECT_LE(whole, 4);
    EXPECT_NE(status, ReceiveStatus::kCancelled);
    EXPECT_FALSE(status == ReceiveStatus::kTimeout && hang_up);
    EXPECT_FALSE(status == ReceiveStatus::kClosed && !hang_up);
    seen.insert(status);
  }
  EXPECT_EQ(seen.size(), 3u);  // the seeds reach every way to end
}

TEST(Fuzz, RandomBytesAreNoFrame) {
  std::mt19937 random(7);
  for (int round = 0; round < 1000; ++round) {
    std::string bytes(kHeaderBytes + random() % 100, '\0');
    std::ranges::generate(bytes, [&] { return static_cast<char>(random()); });
    Ends ends;
    ends.write(bytes);
    EXPECT_EQ(receive(ends), ReceiveStatus::kMalformed);
  }
}

}  // namespace
}  // namespace kbench::protocol
