// SPDX-License-Identifier: MIT
#include "worker/candidate/compile_client.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

namespace kbench::worker {
namespace {

using nlohmann::json;
using protocol::MessageType;

/// The driver limits the time of a build. This limit only ends the wait for a driver that hangs.
constexpr auto kPatience = std::chrono::minutes(30);

std::string read_all(int fd) {
  std::string text(static_cast<std::size_t>(std::max<off_t>(lseek(fd, 0, SEEK_END), 0)), '\0');
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = pread(fd, text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (n <= 0) break;
    done += static_cast<std::size_t>(n);
  }
  return text;
}

std::string dumped(const json& body) {
  return body.dump(-1, ' ', false, json::error_handler_t::replace);
}

BuiltExtension built_from(const json& body, std::vector<Fd> fds) {
  BuiltExtension built;
  built.device.image = read_all(fds.at(1).value());
  built.shared_object = std::move(fds.at(0));
  built.whole = body.at("whole");
  for (const json& kernel : body.at("kernels"))
    built.device.kernels.push_back({kernel.at("offset"), kernel.at("symbol"), kernel.at("name")});
  for (const json& variable : body.at("variables"))
    built.device.variables.push_back(
        {variable.at("offset"), variable.at("bytes"), variable.at("symbol")});
  return built;
}

}  // namespace

CompileClient::CompileClient(Fd channel, std::uint64_t nonce)
    : channel_(std::move(channel), nonce, protocol::kMaxBody) {}

std::variant<BuiltExtension, BuildFailure> CompileClient::build(const json& request) {
  order(request);
  protocol::Message message;
  const auto status = channel_.receive(message, protocol::Clock::now() + kPatience);
  if (status != protocol::ReceiveStatus::kOk || message.type != MessageType::kCompiled)
    throw CandidateFailure{Outcome::kCompileFailure, "compiler_gone",
                           "the compiler does not answer"};
  const json body = json::parse(message.body);
  if (body.at("built").get<bool>()) return built_from(body, std::move(message.fds));
  BuildFailure failure;
  failure.outcome =
      outcome_from_name(body.at("outcome").get<std::string>()).value_or(Outcome::kCompileFailure);
  failure.cause = body.at("cause");
  failure.message = body.at("message");
  failure.log = body.at("log");
  return failure;
}

void CompileClient::order(const json& request) {
  const std::string body = dumped(request);
  if (body.size() > protocol::kMaxCompileBody)
    throw CandidateFailure{Outcome::kCompileFailure, "source_too_large",
                           fmt::format("{} bytes of source exceed kbench's limit", body.size())};
  channel_.send(MessageType::kCompile, body);
}

void CompileClient::dry_imported(const json& how) {
  channel_.send(MessageType::kDryImported, dumped(how));
}

}  // namespace kbench::worker
