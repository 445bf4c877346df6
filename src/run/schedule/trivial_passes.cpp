// SPDX-License-Identifier: MIT
#include "run/schedule/trivial_passes.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/file_tree.hpp"
#include "base/hash.hpp"

namespace kbench::run {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

using Names = std::vector<std::string>;

std::optional<Names> read_names(const fs::path& file) {
  try {
    std::ifstream stream(file);
    if (stream) return json::parse(stream).get<Names>();
  } catch (const json::exception&) {
    // The file is truncated, so the problem is checked again.
  }
  return std::nullopt;
}

}  // namespace

TrivialPasses::TrivialPasses(fs::path folder, std::string check)
    : folder_(std::move(folder)), check_(std::move(check)) {}

fs::path TrivialPasses::file_of(const std::string& problem_hash) const {
  return folder_ / (Sha256().field(check_).field(problem_hash).hex() + ".json");
}

std::optional<Names> TrivialPasses::find(const std::string& problem_hash) {
  const std::lock_guard lock(mutex_);
  if (const auto known = known_.find(problem_hash); known != known_.end()) return known->second;
  auto kept = read_names(file_of(problem_hash));
  if (kept) known_[problem_hash] = *kept;
  return kept;
}

void TrivialPasses::keep(const std::string& problem_hash, const Names& names) {
  const std::lock_guard lock(mutex_);
  // Ignores errors; the next run then checks the problem again.
  if (known_.insert_or_assign(problem_hash, names).second)
    replace_file(file_of(problem_hash), json(names).dump() + '\n');
}

}  // namespace kbench::run
