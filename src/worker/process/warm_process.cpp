// SPDX-License-Identifier: MIT
#include "worker/process/warm_process.hpp"

#include "worker/reference/problem_host.hpp"

namespace kbench::worker {

std::optional<GivenJob> stand_by(protocol::Channel channel, const std::string& device) {
  touch_device(device);
  channel.send(protocol::MessageType::kStandsBy, {});
  protocol::Message message;
  const auto never = protocol::Clock::time_point::max() - std::chrono::hours(1);
  if (channel.receive(message, never) != protocol::ReceiveStatus::kOk) return std::nullopt;
  if (message.type != protocol::MessageType::kJob || message.fds.empty()) return std::nullopt;
  GivenJob given{std::move(message.fds[0]), Fd()};
  if (message.fds.size() > 1) given.compile = std::move(message.fds[1]);
  return given;
}

}  // namespace kbench::worker
