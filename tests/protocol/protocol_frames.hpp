// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "protocol/protocol.hpp"

namespace kbench::protocol {

inline constexpr std::uint64_t kNonce = 0x1122334455667788;
inline constexpr std::uint32_t kCap = 1u << 20;
/// Where the fields of a frame stand on the wire, which no refactoring may move unnoticed.
inline constexpr std::size_t kHeaderBytes = 24;
inline constexpr std::size_t kMagicAt = 0, kTypeAt = 4, kFdsAt = 6, kLengthAt = 8, kReservedAt = 12;
inline constexpr std::size_t kNonceAt = 16;

inline Clock::time_point soon() { return Clock::now() + std::chrono::seconds(10); }
inline Clock::time_point at_once() { return Clock::now(); }

/// A channel, and the bare socket that somebody else holds at the other end.
struct Ends {
  Ends() {
    auto [ours, theirs] = socket_pair();
    channel = Channel(std::move(ours), kNonce, kCap);
    other = std::move(theirs);
  }
  void write(std::string_view bytes) const {
    ASSERT_EQ(::send(other.value(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  Channel channel;
  Fd other;
};

/// The bytes of one frame as a real channel sends it, with `sequence` frames before it.
inline std::string frame(MessageType type, std::string_view body, std::uint64_t sequence = 0) {
  auto [out, in] = socket_pair();
  Channel sender(std::move(out), kNonce + sequence, kCap);
  EXPECT_TRUE(sender.send(type, body));
  std::string bytes(kHeaderBytes + body.size(), '\0');
  EXPECT_EQ(recv(in.value(), bytes.data(), bytes.size(), MSG_WAITALL),
            static_cast<ssize_t>(bytes.size()));
  return bytes;
}

inline ReceiveStatus receive(Ends& ends) {
  Message message;
  return ends.channel.receive(message, soon());
}

}  // namespace kbench::protocol
