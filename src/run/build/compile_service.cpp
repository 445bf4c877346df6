// SPDX-License-Identifier: MIT
#include "run/build/compile_service.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/json/dumped.hpp"
#include "kbench/error.hpp"
#include "os/memory_file.hpp"

namespace kbench::run {
namespace {

using nlohmann::json;
using protocol::MessageType;

constexpr auto kForever = std::chrono::hours(24 * 365);
/// The most extensions that one process may request.
constexpr std::size_t kMostBuilds = 64;
/// The most bytes of all its requests together.
constexpr std::size_t kMostOrderedBytes = 64u << 20;

std::shared_future<ExtensionResult> refused_request(const std::string& why) {
  std::promise<ExtensionResult> promise;
  promise.set_value(ExtensionError{Outcome::kCompileFailure, "bad_request",
                                   "invalid build request: " + why, "", 0, false});
  return promise.get_future().share();
}

}  // namespace

CompileService::CompileService(ExtensionBuilder& builder, ExtensionOwner owner, Fd channel,
                               std::uint64_t nonce, bool answers)
    : builder_(builder),
      owner_(std::move(owner)),
      answers_(answers),
      channel_(std::move(channel), nonce, protocol::kMaxCompileBody),
      ended_(eventfd(0, EFD_CLOEXEC)) {
  std::tie(stop_read_, stop_write_) = socket_pair();
  thread_ = std::thread([this] {
    try {
      serve();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      fault_ = std::current_exception();
    }
    // Closes the channel, so that a process that waits for an answer notices.
    channel_ = {};
    eventfd_write(ended_.value(), 1);
  });
}

CompileService::~CompileService() {
  stop_write_.reset();
  thread_.join();
}

void CompileService::serve() {
  protocol::Message message;
  while (channel_.receive(message, protocol::Clock::now() + kForever, stop_read_.value()) ==
         protocol::ReceiveStatus::kOk) {
    if (message.type == MessageType::kDryImported) {
      const std::lock_guard lock(mutex_);
      dry_import_end_ = read_dry_import_end(message.body);
      return;
    }
    if (message.type != MessageType::kCompile) return;
    const auto building = order(message.body);
    if (!building) return;
    if (answers_) answer(building->get());
  }
}

std::optional<std::shared_future<ExtensionResult>> CompileService::order(const std::string& body) {
  ordered_bytes_ += body.size();
  if (ordered_.size() >= kMostBuilds || ordered_bytes_ > kMostOrderedBytes) return std::nullopt;
  const auto request = read_compile_request(body);
  const auto* fault = std::get_if<std::string>(&request);
  auto building =
      fault != nullptr ? refused_request(*fault) : builder_.build(std::get<json>(request), owner_);
  const std::lock_guard lock(mutex_);
  ordered_.push_back(building);
  if (fault != nullptr) return building;
  for (auto& flag : ignored_flags(std::get<json>(request)))
    if (std::ranges::find(ignored_flags_, flag) == ignored_flags_.end())
      ignored_flags_.push_back(std::move(flag));
  return building;
}

std::optional<DryImportEnd> CompileService::dry_import_end() {
  const std::lock_guard lock(mutex_);
  return dry_import_end_;
}

void CompileService::answer(const ExtensionResult& result) {
  if (const auto* error = std::get_if<ExtensionError>(&result)) {
    channel_.send(MessageType::kCompiled, dumped({{"built", false},
                                                  {"outcome", to_string(error->outcome)},
                                                  {"cause", error->cause},
                                                  {"message", error->message},
                                                  {"log", error->log}}));
    return;
  }
  const Extension extension = with_bytes(std::get<Extension>(result));
  json body{{"built", true},
            {"whole", extension.whole},
            {"kernels", json::array()},
            {"variables", json::array()}};
  for (const auto& kernel : extension.kernels)
    body["kernels"].push_back(
        {{"offset", kernel.offset}, {"symbol", kernel.symbol}, {"name", kernel.name}});
  for (const auto& variable : extension.variables)
    body["variables"].push_back(
        {{"offset", variable.offset}, {"bytes", variable.bytes}, {"symbol", variable.symbol}});
  const Fd object = sealed_memory_file(extension.object);
  const Fd image = sealed_memory_file(extension.image);
  channel_.send(MessageType::kCompiled, dumped(body), {object.value(), image.value()});
}

bool CompileService::wait_dry_imported(std::chrono::milliseconds limit, int cancel_fd) {
  std::array<pollfd, 2> polls{pollfd{ended_.value(), POLLIN, 0}, pollfd{cancel_fd, POLLIN, 0}};
  poll(polls.data(), polls.size(), static_cast<int>(limit.count()));
  return polls[0].revents != 0;
}

BuildSummary CompileService::summary() {
  std::vector<std::shared_future<ExtensionResult>> ordered;
  BuildSummary summary;
  {
    const std::lock_guard lock(mutex_);
    ordered = ordered_;
    summary.ignored_flags = ignored_flags_;
  }
  // Both alternatives of a result have these fields.
  const auto add = [&](const auto& built) {
    summary.seconds += built.seconds;
    if (built.host_s) summary.host_s = summary.host_s.value_or(0) + *built.host_s;
    summary.cached = summary.cached && built.cached;
    if (!built.way.empty()) summary.way = built.way;
    if (!built.fallback.empty()) summary.fallback = built.fallback;
  };
  for (const auto& building : ordered) {
    const ExtensionResult& result = building.get();
    ++summary.builds;
    std::visit(add, result);
    if (const auto* extension = std::get_if<Extension>(&result))
      summary.reads_machine = summary.reads_machine || extension->reads_machine;
    const auto* error = std::get_if<ExtensionError>(&result);
    if (error == nullptr) continue;
    summary.log += error->log;
    if (!summary.failure) summary.failure = *error;
  }
  return summary;
}

std::exception_ptr CompileService::fault() {
  const std::lock_guard lock(mutex_);
  return fault_;
}

}  // namespace kbench::run
