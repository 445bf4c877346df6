// SPDX-License-Identifier: MIT
#include "kbench/protocol.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <random>
#include <set>
#include <thread>

#include "kbench/error.hpp"

namespace kbench::protocol {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kNonce = 0x1122334455667788;
constexpr std::uint32_t kCap = 1u << 20;
/// Where the fields of a frame stand on the wire, which no refactoring may move unnoticed.
constexpr std::size_t kHeaderBytes = 24;
constexpr std::size_t kMagicAt = 0, kTypeAt = 4, kFdsAt = 6, kLengthAt = 8, kReservedAt = 12;
constexpr std::size_t kNonceAt = 16;

Clock::time_point soon() { return Clock::now() + std::chrono::seconds(10); }
Clock::time_point at_once() { return Clock::now(); }

std::size_t open_descriptors() {
  std::size_t count = 0;
  for (int fd = 0; fd < 1024; ++fd) count += fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
  return count;
}

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
std::string frame(MessageType type, std::string_view body, std::uint64_t sequence = 0) {
  auto [out, in] = socket_pair();
  Channel sender(std::move(out), kNonce + sequence, kCap);
  EXPECT_TRUE(sender.send(type, body));
  std::string bytes(kHeaderBytes + body.size(), '\0');
  EXPECT_EQ(recv(in.value(), bytes.data(), bytes.size(), MSG_WAITALL),
            static_cast<ssize_t>(bytes.size()));
  return bytes;
}

ReceiveStatus receive(Ends& ends) {
  Message message;
  return ends.channel.receive(message, soon());
}

TEST(Channel, CarriesTypesAndBodiesInOrder) {
  auto [a, b] = socket_pair();
  Channel sender(std::move(a), kNonce, kCap), receiver(std::move(b), kNonce, kCap);
  const std::string binary("a\0b\xff\n", 5);
  ASSERT_TRUE(sender.send(MessageType::kEvaluate, binary));
  ASSERT_TRUE(sender.send(MessageType::kGo, {}));
  Message message;
  ASSERT_EQ(receiver.receive(message, soon()), ReceiveStatus::kOk);
  EXPECT_EQ(message.type, MessageType::kEvaluate);
  EXPECT_EQ(message.body, binary);
  EXPECT_TRUE(message.fds.empty());
  ASSERT_EQ(receiver.receive(message, soon()), ReceiveStatus::kOk);
  EXPECT_EQ(message.type, MessageType::kGo);
  EXPECT_TRUE(message.body.empty());
  ASSERT_TRUE(receiver.send(MessageType::kVerdict, "back"));
  ASSERT_EQ(sender.receive(message, soon()), ReceiveStatus::kOk);
  EXPECT_EQ(message.body, "back");
}

TEST(Channel, CarriesWhatNoSocketBufferHolds) {
  auto [a, b] = socket_pair();
  Channel sender(std::move(a), kNonce, kMaxBody), receiver(std::move(b), kNonce, kMaxBody);
  std::string body(8u << 20, '\0');
  std::mt19937 random(1);
  std::ranges::generate(body, [&] { return static_cast<char>(random()); });
  std::thread writer([&] { EXPECT_TRUE(sender.send(MessageType::kVerdict, body)); });
  Message message;
  EXPECT_EQ(receiver.receive(message, soon()), ReceiveStatus::kOk);
  writer.join();
  EXPECT_EQ(message.body, body);
}

TEST(Channel, CarriesDescriptors) {
  auto [a, b] = socket_pair();
  Channel sender(std::move(a), kNonce, kCap), receiver(std::move(b), kNonce, kCap);
  for (const std::size_t count : {std::size_t{1}, std::size_t{3}, kMaxFds}) {
    std::vector<Fd> files;
    std::vector<int> numbers;
    for (std::size_t i = 0; i < count; ++i) {
      files.emplace_back(memfd_create("kbench-test", MFD_CLOEXEC));
      const auto mark = static_cast<std::uint32_t>(i);
      ASSERT_EQ(pwrite(files.back().value(), &mark, sizeof mark, 0), sizeof mark);
      numbers.push_back(files.back().value());
    }
    ASSERT_TRUE(sender.send(MessageType::kBuffers, "entries", numbers));
    files.clear();
    Message message;
    ASSERT_EQ(receiver.receive(message, soon()), ReceiveStatus::kOk);
    ASSERT_EQ(message.fds.size(), count);
    EXPECT_EQ(message.body, "entries");
    for (std::size_t i = 0; i < count; ++i) {
      std::uint32_t mark = 0;
      ASSERT_EQ(pread(message.fds[i].value(), &mark, sizeof mark, 0), sizeof mark);
      EXPECT_EQ(mark, i);
      EXPECT_NE(fcntl(message.fds[i].value(), F_GETFD) & FD_CLOEXEC, 0);
    }
  }
}

TEST(Channel, RefusesToSendMoreThanTheProtocolHolds) {
  Ends ends;
  EXPECT_THROW(
      ends.channel.send(MessageType::kBuffers, {}, std::vector<int>(kMaxFds + 1, STDIN_FILENO)),
      Error);
  const std::string body(std::size_t{kMaxBody} + 1, 'x');
  EXPECT_THROW(ends.channel.send(MessageType::kVerdict, body), Error);
}

TEST(Channel, SendingToNobodyIsFalseAndNoSignal) {
  Ends ends;
  ends.other.reset();
  EXPECT_FALSE(ends.channel.send(MessageType::kGo, {}));
  EXPECT_FALSE(ends.channel.send(MessageType::kVerdict, std::string(1000, 'x')));
}

TEST(Malformed, AnotherNonceIsRefused) {
  auto [a, b] = socket_pair();
  Channel sender(std::move(a), kNonce ^ 1, kCap), receiver(std::move(b), kNonce, kCap);
  ASSERT_TRUE(sender.send(MessageType::kGo, {}));
  Message message;
  EXPECT_EQ(receiver.receive(message, soon()), ReceiveStatus::kMalformed);
}

TEST(Malformed, ARepeatedFrameIsRefused) {
  Ends ends;
  const std::string first = frame(MessageType::kCalled, {});
  ends.write(first);
  ends.write(first);
  EXPECT_EQ(receive(ends), ReceiveStatus::kOk);
  EXPECT_EQ(receive(ends), ReceiveStatus::kMalformed);
}

TEST(Malformed, ASkippedFrameIsRefused) {
  Ends ends;
  ends.write(frame(MessageType::kCalled, {}));
  ends.write(frame(MessageType::kCalled, {}, 2));
  EXPECT_EQ(receive(ends), ReceiveStatus::kOk);
  EXPECT_EQ(receive(ends), ReceiveStatus::kMalformed);
}

TEST(Malformed, WrongMagicAndReservedBitsAreRefused) {
  for (const std::size_t at : {kMagicAt, kMagicAt + 3, kReservedAt, kReservedAt + 3}) {
    Ends ends;
    std::string bytes = frame(MessageType::kCalled, "x");
    bytes[at] = static_cast<char>(bytes[at] ^ 0x40);
    ends.write(bytes);
    EXPECT_EQ(receive(ends), ReceiveStatus::kMalformed) << at;
  }
}

TEST(Malformed, ABodyOverTheReceiversCapIsRefusedUnread) {
  for (const std::uint32_t length : {kCap + 1, 0x7fffffffu, 0xffffffffu}) {
    Ends ends;
    std::string bytes = frame(MessageType::kTimes, {});
    std::memcpy(bytes.data() + kLengthAt, &length, sizeof length);
    ends.write(bytes);
    EXPECT_EQ(receive(ends), ReceiveStatus::kMalformed) << length;
  }
}

TEST(Malformed, ABodyOfExactlyTheCapArrives) {
  auto [a, b] = socket_pair();
  Channel sender(std::move(a), kNonce, kMaxBody), receiver(std::move(b), kNonce, 1000);
  Message message;
  ASSERT_TRUE(sender.send(MessageType::kTimes, std::string(1000, 'x')));
  EXPECT_EQ(receiver.receive(message, soon()), ReceiveStatus::kOk);
  ASSERT_TRUE(sender.send(MessageType::kTimes, std::string(1001, 'x')));
  EXPECT_EQ(receiver.receive(message, soon()), ReceiveStatus::kMalformed);
}

TEST(Malformed, DescriptorsThatTheHeaderDoesNotAnnounceAreClosed) {
  const std::size_t before = open_descriptors();
  {
    auto [a, b] = socket_pair();
    Channel sender(std::move(a), kNonce, kCap);
    ASSERT_TRUE(sender.send(MessageType::kBuffers, {}, {b.value(), b.value()}));
    // The same descriptors under a header that says one.
    std::array<char, kHeaderBytes> header;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> control;
    iovec iov{header.data(), header.size()};
    msghdr msg{};
    msg.msg_iov = &iov;
    msg.msg_iovlen = 1;
    msg.msg_control = control.data();
    msg.msg_controllen = control.size();
    ASSERT_EQ(recvmsg(b.value(), &msg, 0), static_cast<ssize_t>(kHeaderBytes));
    std::array<int, 2> passed;
    std::memcpy(passed.data(), CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof passed);
    header[kFdsAt] = 1;
    Ends ends;
    msg.msg_controllen = CMSG_SPACE(2 * sizeof(int));
    ASSERT_EQ(sendmsg(ends.other.value(), &msg, 0), static_cast<ssize_t>(kHeaderBytes));
    for (const int fd : passed) close(fd);
    EXPECT_EQ(receive(ends), ReceiveStatus::kMalformed);
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(Malformed, AnnouncedDescriptorsThatDoNotComeAreRefused) {
  Ends ends;
  std::string bytes = frame(MessageType::kBuffers, {});
  bytes[kFdsAt] = 1;
  ends.write(bytes);
  EXPECT_EQ(receive(ends), ReceiveStatus::kMalformed);
}

TEST(Closed, EveryPrefixOfAFrameThenTheEndIsClosed) {
  const std::string bytes = frame(MessageType::kTimes, "twelve bytes");
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    Ends ends;
    ends.write(std::string_view(bytes).substr(0, length));
    ends.other.reset();
    EXPECT_EQ(receive(ends), ReceiveStatus::kClosed) << length;
  }
}

TEST(Timeout, EveryPrefixOfAFrameIsNothingWhole) {
  const std::string bytes = frame(MessageType::kTimes, "twelve bytes");
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    Ends ends;
    ends.write(std::string_view(bytes).substr(0, length));
    Message message;
    EXPECT_EQ(ends.channel.receive(message, at_once()), ReceiveStatus::kTimeout) << length;
  }
}

TEST(Timeout, IsNeitherEarlyNorLate) {
  Ends ends;
  Message message;
  const auto start = Clock::now();
  EXPECT_EQ(ends.channel.receive(message, start + milliseconds(120)), ReceiveStatus::kTimeout);
  const auto waited = Clock::now() - start;
  EXPECT_GE(waited, milliseconds(120));
  EXPECT_LT(waited, std::chrono::seconds(5));
}

TEST(Timeout, ADripOfBytesDoesNotExtendIt) {
  Ends ends;
  const std::string bytes = frame(MessageType::kTimes, std::string(1000, 'x'));
  std::atomic<bool> stop = false;
  std::thread drip([&] {
    for (std::size_t i = 0; i < bytes.size() && !stop; ++i) {
      ends.write(std::string_view(bytes).substr(i, 1));
      std::this_thread::sleep_for(milliseconds(10));
    }
  });
  Message message;
  const auto start = Clock::now();
  EXPECT_EQ(ends.channel.receive(message, start + milliseconds(150)), ReceiveStatus::kTimeout);
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(5));
  stop = true;
  drip.join();
}

TEST(Timeout, WhatIsThereIsReadAfterTheDeadlineToo) {
  Ends ends;
  ends.write(frame(MessageType::kGo, "x"));
  Message message;
  EXPECT_EQ(ends.channel.receive(message, Clock::now() - std::chrono::seconds(1)),
            ReceiveStatus::kOk);
}

TEST(Cancel, AReadableDescriptorEndsTheWait) {
  Ends ends;
  auto [reading, writing] = socket_pair();
  std::thread later([&, fd = writing.value()] {
    std::this_thread::sleep_for(milliseconds(50));
    EXPECT_EQ(write(fd, "x", 1), 1);
  });
  Message message;
  EXPECT_EQ(ends.channel.receive(message, soon(), reading.value()), ReceiveStatus::kCancelled);
  later.join();
  writing.reset();
  EXPECT_EQ(ends.channel.receive(message, soon(), reading.value()), ReceiveStatus::kCancelled);
}

TEST(Cancel, AQuietDescriptorDisturbsNothing) {
  Ends ends;
  auto [reading, writing] = socket_pair();
  ends.write(frame(MessageType::kGo, "x"));
  Message message;
  EXPECT_EQ(ends.channel.receive(message, soon(), reading.value()), ReceiveStatus::kOk);
}

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

TEST(Random, NoncesAndHexDigitsDoNotRepeat) {
  EXPECT_NE(random_nonce(), random_nonce());
  const std::string hex = random_hex(32);
  EXPECT_EQ(hex.size(), 64u);
  EXPECT_EQ(hex.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(hex, random_hex(32));
  EXPECT_EQ(random_hex(0), "");
}

TEST(Layout, TheStructsOfTheWireHaveNoGaps) {
  EXPECT_EQ(sizeof(BufferEntry), 4 * 4 + 5 * 8u);
  EXPECT_EQ(sizeof(CallBody), 8u);
  EXPECT_EQ(sizeof(TimeBody), 8u);
  EXPECT_EQ(sizeof(FailedBody), 1024u);
  const std::string bytes = frame(MessageType::kTimes, "x", 3);
  std::uint64_t nonce = 0;
  std::memcpy(&nonce, bytes.data() + kNonceAt, sizeof nonce);
  EXPECT_EQ(nonce, kNonce + 3);
}

}  // namespace
}  // namespace kbench::protocol
