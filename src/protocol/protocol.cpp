// SPDX-License-Identifier: MIT
#include "protocol/protocol.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "kbench/error.hpp"

namespace kbench::protocol {
namespace {

struct Header {
  std::uint32_t magic;
  std::uint16_t type;
  std::uint16_t fds;
  std::uint32_t length;
  std::uint32_t reserved;
  std::uint64_t nonce;
};
constexpr std::uint32_t kMagic = 0x686e626b;  // "kbnh"

/// The kernel limits a user's descriptors in flight, and the user's other processes may reach the
/// limit for a while.
constexpr std::chrono::seconds kInFlightPatience{30};
constexpr std::chrono::milliseconds kInFlightPause{20};

/// Outcomes that a candidate's process may claim for itself; any other claim is a crash.
constexpr Outcome kClaimable[] = {
    Outcome::kCompileFailure, Outcome::kLoadFailure,  Outcome::kUnsupported, Outcome::kCrash,
    Outcome::kOutOfMemory,    Outcome::kIllegalWrite, Outcome::kTimeout,     Outcome::kWrongShape,
    Outcome::kWrongDtype,     Outcome::kCheat,
};

void random_bytes(void* data, std::size_t size) {
  auto* out = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t got = getrandom(out, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      throw Error(
          fmt::format("cannot get random numbers from the system: {}", std::strerror(errno)));
    out += got;
    size -= static_cast<std::size_t>(got);
  }
}

/// Sends the first bytes of a frame with its descriptors; -1 if the other end is closed. Throws
/// kbench::Error if the kernel refuses the descriptors for longer than kInFlightPatience, because
/// the receiver is not at fault.
ssize_t send_first(int socket, const msghdr& message) {
  const auto end = Clock::now() + kInFlightPatience;
  for (;;) {
    const ssize_t sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
    if (sent >= 0 || (errno != EINTR && errno != ETOOMANYREFS)) return sent;
    if (errno == EINTR) continue;
    if (Clock::now() > end)
      throw Error(
          "cannot send file descriptors between processes: processes of this user have too many in "
          "flight; raise ulimit -n");
    std::this_thread::sleep_for(kInFlightPause);
  }
}

bool send_all(int socket, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t sent = ::send(socket, data, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    data += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

void take_fds(msghdr& msg, std::vector<Fd>* fds) {
  for (cmsghdr* c = CMSG_FIRSTHDR(&msg); c != nullptr; c = CMSG_NXTHDR(&msg, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
      Fd owned(fd);  // closes the descriptor at once if the caller does not take it
      if (fds != nullptr) fds->push_back(std::move(owned));
    }
  }
}

}  // namespace

ClaimedFailure claimed_failure(std::string_view body) {
  FailedBody failed{};
  if (body.size() < sizeof failed)
    return {Outcome::kCrash, "protocol", "the candidate's process sent a message of wrong size"};
  std::memcpy(&failed, body.data(), sizeof failed);
  failed.cause[sizeof failed.cause - 1] = failed.message[sizeof failed.message - 1] = '\0';
  return {claimable(static_cast<Outcome>(failed.outcome)), failed.cause, failed.message};
}

Outcome claimable(Outcome outcome) {
  const bool is_one = std::ranges::find(kClaimable, outcome) != std::end(kClaimable);
  return is_one ? outcome : Outcome::kCrash;
}

std::uint64_t random_nonce() {
  std::uint64_t nonce = 0;
  random_bytes(&nonce, sizeof nonce);
  return nonce;
}

std::string random_hex(std::size_t bytes) {
  std::string raw(bytes, '\0');
  random_bytes(raw.data(), bytes);
  std::string hex;
  for (const char c : raw) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return hex;
}

Channel::Channel(Fd socket, std::uint64_t nonce, std::uint32_t max_body)
    : socket_(std::move(socket)), nonce_(nonce), max_body_(max_body) {}

bool Channel::send(MessageType type, std::string_view body, const std::vector<int>& fds) {
  if (body.size() > kMaxBody || fds.size() > kMaxFds)
    throw Error(fmt::format("message of {} bytes and {} descriptors is over the protocol's limit",
                            body.size(), fds.size()));
  Header header{kMagic,
                static_cast<std::uint16_t>(type),
                static_cast<std::uint16_t>(fds.size()),
                static_cast<std::uint32_t>(body.size()),
                0,
                nonce_ + sent_};
  ++sent_;
  iovec iov{&header, sizeof header};
  msghdr msg{};
  msg.msg_iov = &iov;
  msg.msg_iovlen = 1;
  std::vector<char> control(fds.empty() ? 0 : CMSG_SPACE(sizeof(int) * fds.size()));
  if (!fds.empty()) {
    msg.msg_control = control.data();
    msg.msg_controllen = control.size();
    cmsghdr* c = CMSG_FIRSTHDR(&msg);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
    std::memcpy(CMSG_DATA(c), fds.data(), sizeof(int) * fds.size());
  }
  const ssize_t sent = send_first(socket_.value(), msg);
  if (sent <= 0) return false;
  const auto rest = sizeof header - static_cast<std::size_t>(sent);
  return send_all(socket_.value(), reinterpret_cast<const char*>(&header) + sent, rest) &&
         send_all(socket_.value(), body.data(), body.size());
}

ReceiveStatus Channel::fill(std::size_t size, std::vector<Fd>* fds, Clock::time_point deadline,
                            int cancel_fd) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMaxFds)> control;
  partial_.resize(size);
  while (filled_ < size) {
    std::array<pollfd, 2> polls{pollfd{socket_.value(), POLLIN, 0}, pollfd{cancel_fd, POLLIN, 0}};
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    const int wait = static_cast<int>(std::clamp<long long>(left + 1, 0, 1'000'000));
    const int ready = poll(polls.data(), polls.size(), wait);
    if (ready < 0 && errno == EINTR) continue;
    if (ready > 0 && polls[1].revents != 0) return ReceiveStatus::kCancelled;
    if (ready <= 0) {
      if (Clock::now() < deadline) continue;
      return ReceiveStatus::kTimeout;
    }
    iovec iov{partial_.data() + filled_, size - filled_};
    msghdr msg{};
    msg.msg_iov = &iov;
    msg.msg_iovlen = 1;
    msg.msg_control = control.data();
    msg.msg_controllen = control.size();
    const ssize_t got = recvmsg(socket_.value(), &msg, MSG_CMSG_CLOEXEC);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return ReceiveStatus::kClosed;
    take_fds(msg, fds);
    filled_ += static_cast<std::size_t>(got);
  }
  return ReceiveStatus::kOk;
}

ReceiveStatus Channel::receive(Message& message, Clock::time_point deadline, int cancel_fd) {
  // After a timeout within a frame, the next call continues it with the bytes read so far.
  if (filled_ < sizeof(Header)) {
    const auto status = fill(sizeof(Header), &partial_fds_, deadline, cancel_fd);
    if (status != ReceiveStatus::kOk) return status;
  }
  Header header{};
  std::memcpy(&header, partial_.data(), sizeof header);
  if (header.magic != kMagic || header.reserved != 0 || header.nonce != nonce_ + received_ ||
      header.length > max_body_ || header.fds != partial_fds_.size())
    return ReceiveStatus::kMalformed;
  const auto status = fill(sizeof header + header.length, nullptr, deadline, cancel_fd);
  if (status != ReceiveStatus::kOk) return status;
  ++received_;
  message.type = static_cast<MessageType>(header.type);
  message.body.assign(partial_, sizeof header);
  message.fds = std::exchange(partial_fds_, {});
  filled_ = 0;
  return ReceiveStatus::kOk;
}

}  // namespace kbench::protocol
