// SPDX-License-Identifier: MIT
#include "protocol/protocol.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <random>
#include <thread>

#include "kbench/error.hpp"
#include "os/forked.hpp"
#include "protocol/protocol_frames.hpp"

namespace kbench::protocol {
namespace {

using std::chrono::milliseconds;

std::size_t open_descriptors() {
  std::size_t count = 0;
  for (int fd = 0; fd < 1024; ++fd) count += fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
  return count;
}

/// Puts as many descriptors in flight as the kernel takes from this process; where they lie.
std::pair<Fd, Fd> fill_flight(std::vector<int> fds) {
  auto ends = socket_pair();
  fcntl(ends.first.value(), F_SETFL, O_NONBLOCK);
  std::vector<char> control(CMSG_SPACE(sizeof(int) * fds.size()));
  char byte = 0;
  iovec part{&byte, 1};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
  std::memcpy(CMSG_DATA(header), fds.data(), sizeof(int) * fds.size());
  for (int i = 0; i < 100 && sendmsg(ends.first.value(), &message, 0) == 1; ++i) {
  }
  return ends;
}

/// As an ordinary user: root's processes pass descriptors without a bound.
void be_ordinary(rlim_t descriptors) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3]{};
  syscall(SYS_capset, &header, none);
  const rlimit limit{descriptors, descriptors};
  setrlimit(RLIMIT_NOFILE, &limit);
}

TEST(Channel, AFrameWaitsWhileOthersHaveAllDescriptorsInFlight) {
  EXPECT_EQ(said_by_child([]() -> std::string {
              be_ordinary(64);
              auto [a, b] = socket_pair();
              Channel sender(std::move(a), kNonce, kCap), receiver(std::move(b), kNonce, kCap);
              auto flight = fill_flight(std::vector<int>(50, STDIN_FILENO));
              std::atomic<bool> landed = false;
              std::thread other([&] {
                std::this_thread::sleep_for(milliseconds(300));
                landed = true;
                flight = {};
              });
              const bool sent = sender.send(MessageType::kBuffers, "entry", {STDIN_FILENO});
              const bool waited = landed;
              other.join();
              Message message;
              const bool came = receiver.receive(message, soon()) == ReceiveStatus::kOk &&
                                message.body == "entry" && message.fds.size() == 1;
              return std::string(sent ? "sent " : "lost ") + (waited ? "late " : "at once ") +
                     (came ? "whole" : "not whole");
            }),
            "sent late whole");
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

TEST(Timeout, AFrameThatTimeoutsCutArrivesWholeInTheEnd) {
  const std::string bytes = frame(MessageType::kTimes, "twelve bytes");
  for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
    Ends ends;
    Message message;
    ends.write(std::string_view(bytes).substr(0, cut));
    EXPECT_EQ(ends.channel.receive(message, at_once()), ReceiveStatus::kTimeout) << cut;
    ends.write(std::string_view(bytes).substr(cut));
    ends.write(frame(MessageType::kCalled, "next", 1));
    ASSERT_EQ(ends.channel.receive(message, soon()), ReceiveStatus::kOk) << cut;
    EXPECT_EQ(message.type, MessageType::kTimes);
    EXPECT_EQ(message.body, "twelve bytes");
    ASSERT_EQ(ends.channel.receive(message, soon()), ReceiveStatus::kOk) << cut;
    EXPECT_EQ(message.body, "next");
  }
}

TEST(Malformed, NothingIsReadAfterwards) {
  Ends ends;
  std::string bytes = frame(MessageType::kCalled, {});
  bytes[kMagicAt] = 'x';
  ends.write(bytes);
  ends.write(frame(MessageType::kCalled, {}));
  EXPECT_EQ(receive(ends), ReceiveStatus::kMalformed);
  EXPECT_EQ(receive(ends), ReceiveStatus::kMalformed);
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

TEST(Random, NoncesAndHexDigitsDoNotRepeat) {
  EXPECT_NE(random_nonce(), random_nonce());
  const std::string hex = random_hex(32);
  EXPECT_EQ(hex.size(), 64u);
  EXPECT_EQ(hex.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(hex, random_hex(32));
  EXPECT_EQ(random_hex(0), "");
}

TEST(Layout, TheStructsOfTheWireHaveNoGaps) {
  EXPECT_EQ(sizeof(BufferEntry), 6 * 4 + 5 * 8u);
  EXPECT_EQ(sizeof(CallBody), 24u);
  EXPECT_EQ(sizeof(TimeBody), 32u);
  EXPECT_EQ(sizeof(ProfiledBody), 16u);
  EXPECT_EQ(sizeof(LaunchCounts), 32 + 128 + sizeof(Counters) + 24);
  EXPECT_EQ(sizeof(OperatorCounts), 72u);
  EXPECT_EQ(sizeof(FailedBody), 1024u);
  // All findings of a candidate, and all rows of a profile, fit one message.
  EXPECT_LE(sizeof(FailedBody) + 20 * sizeof(FindingBody), kMaxCandidateBody);
  EXPECT_LE(sizeof(ProfiledBody) + kMaxProfileRows * sizeof(LaunchCounts) +
                kMaxProfileOperators * sizeof(OperatorCounts),
            kMaxCandidateBody);
  const std::string bytes = frame(MessageType::kTimes, "x", 3);
  std::uint64_t nonce = 0;
  std::memcpy(&nonce, bytes.data() + kNonceAt, sizeof nonce);
  EXPECT_EQ(nonce, kNonce + 3);
}

}  // namespace
}  // namespace kbench::protocol
