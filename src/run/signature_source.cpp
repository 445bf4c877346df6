// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kbench/error.hpp"
#include "kbench/hash.hpp"
#include "kbench/run.hpp"
#include "kbench/signature_cache.hpp"
#include "run/judge_client.hpp"
#include "run/judge_hash.hpp"
#include "run/lane.hpp"

namespace kbench {

struct SignatureSource::Impl {
  Impl(const Installation& from, int cancel, run::WorkerHost* shared)
      : installation(from),
        cancel_fd(cancel),
        cache(from.cache, from.torch_version),
        host(shared) {}

  /// Asks a judge of its own; one that dies over a problem takes no other problem with it.
  SignatureResult describe(const Problem& problem, const Sizes& sizes, std::string_view precision,
                           bool& lasting) {
    if (host == nullptr) host = &own_host.emplace(installation, cancel_fd);
    host->torch_version();
    if (!judge) judge = std::make_unique<run::JudgeClient>(*host, cancel_fd);
    try {
      auto answer = judge->describe(run::describe_request(problem, sizes, std::string(precision)));
      if (auto* signature = std::get_if<Signature>(&answer)) return std::move(*signature);
      const auto& fault = std::get<run::ProblemFault>(answer);
      // More memory, or a package installed, would give another answer.
      lasting = fault.cause != "does_not_fit" && fault.cause != "import_failed";
      return fault.message;
    } catch (const Error& error) {
      judge.reset();
      lasting = false;
      return std::string("its process died while it was described: ") + error.what();
    }
  }

  /// Nothing where the problem fails in a way that need not come again.
  std::optional<ChosenSizes> shrink(const Problem& problem, const Sizes& sizes,
                                    const ShrinkOptions& options) {
    if (host == nullptr) host = &own_host.emplace(installation, cancel_fd);
    host->torch_version();
    if (!judge) judge = std::make_unique<run::JudgeClient>(*host, cancel_fd);
    nlohmann::json request = run::describe_request(problem, sizes, "native");
    request["max_bytes"] = options.max_bytes;
    request["max_flops"] = options.max_flops;
    try {
      auto answer = judge->shrink(request);
      if (auto* chosen = std::get_if<ChosenSizes>(&answer)) return std::move(*chosen);
    } catch (const Error&) {
      judge.reset();  // describing it will meet the same, and tell
    }
    return std::nullopt;
  }

  std::optional<ChosenSizes> known_sizes(std::string_view key) {
    const auto text = cache.find_text(key);
    if (!text) return std::nullopt;
    try {
      return chosen_sizes_from_json(nlohmann::json::parse(*text, nullptr, false));
    } catch (const Error&) {
      return std::nullopt;  // damaged: looked for again
    }
  }

  /// A search whose rules have changed finds other sizes.
  std::string shrink_key(const Problem& problem, const Sizes& sizes,
                         const ShrinkOptions& options) const {
    return Sha256()
        .field("shrink")
        .field(run::kJudgeHash)
        .field(cache.key(problem, sizes, "native"))
        .field(fmt::format("{} {}", options.max_bytes, options.max_flops))
        .hex();
  }

  Installation installation;
  int cancel_fd;
  SignatureCache cache;
  std::optional<run::WorkerHost> own_host;
  run::WorkerHost* host;
  std::unique_ptr<run::JudgeClient> judge;
};

SignatureSource::SignatureSource(const Installation& installation, int cancel_fd,
                                 run::WorkerHost* host)
    : impl_(std::make_unique<Impl>(installation, cancel_fd, host)) {}
SignatureSource::~SignatureSource() {
  // The judge goes before the zygote that reaps it.
  impl_->judge.reset();
  try {
    impl_->cache.flush();  // sizes that nobody has asked a signature for yet
  } catch (const Error&) {
    // They will be looked for again.
  }
}

ChosenSizes SignatureSource::choose_sizes(const Problem& problem, std::string_view device_class,
                                          const Sizes& overrides, const ShrinkOptions& shrink) {
  const Sizes sizes = sizes_for(problem, device_class, overrides);
  if (!shrink.applies_to(problem, device_class)) return {sizes, std::nullopt};
  const std::string key = impl_->shrink_key(problem, sizes, shrink);
  if (auto known = impl_->known_sizes(key)) return std::move(*known);
  const auto found = impl_->shrink(problem, sizes, shrink);
  if (!found) return {sizes, std::nullopt};
  impl_->cache.put_text(key, to_json(*found).dump());
  return *found;
}

std::vector<SignatureResult> SignatureSource::get(
    const std::vector<std::pair<Problem, Sizes>>& problems, std::string_view precision) {
  std::vector<SignatureResult> results;
  results.reserve(problems.size());
  for (const auto& [problem, sizes] : problems) {
    const std::string key = impl_->cache.key(problem, sizes, precision);
    if (auto known = impl_->cache.find(key)) {
      results.push_back(std::move(*known));
      continue;
    }
    bool lasting = true;
    results.push_back(impl_->describe(problem, sizes, precision, lasting));
    if (!lasting) continue;
    impl_->cache.put(key, results.back());
  }
  impl_->cache.flush();
  return results;
}

}  // namespace kbench
