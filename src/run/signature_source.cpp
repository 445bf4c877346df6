// SPDX-License-Identifier: MIT
#include <nlohmann/json.hpp>

#include "kbench/error.hpp"
#include "kbench/run.hpp"
#include "kbench/signature_cache.hpp"
#include "run/judge_client.hpp"
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
}

std::vector<SignatureResult> SignatureSource::get(
    const std::vector<std::pair<Problem, Sizes>>& problems, std::string_view precision) {
  std::vector<SignatureResult> results;
  results.reserve(problems.size());
  bool changed = false;
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
    changed = true;
  }
  if (changed) impl_->cache.flush();
  return results;
}

}  // namespace kbench
