// SPDX-License-Identifier: MIT
#include "ptx/random/golden.hpp"

#include <fmt/format.h>

#include <cstring>
#include <sstream>

#include "ptx/random/rng.hpp"

namespace kbench::ptx::random {
namespace {

constexpr std::size_t kShownWords = 4;

std::uint64_t word(const Outputs& outputs, std::size_t at) {
  std::uint64_t value = 0;
  std::memcpy(&value, outputs.results.data() + at, sizeof value);
  return value;
}

/// All words of an approximation; of other kernels the first results of thread 0.
std::vector<std::uint64_t> kept_words(const Kernel& kernel, Family family, const Outputs& outputs) {
  const bool all = family == Family::kApproximate;
  const std::size_t stride = all ? kSlotBytes : kernel.threads() * kSlotBytes;
  std::vector<std::uint64_t> words;
  for (std::size_t at = 0; at < outputs.results.size(); at += stride) {
    if (!all && words.size() == kShownWords) break;
    words.push_back(word(outputs, at));
  }
  return words;
}

}  // namespace

Golden golden(const Case& c, const Kernel& kernel, const Outputs& outputs) {
  return {c, hash_bytes(kernel.ptx), c.family == Family::kApproximate ? 0 : hash(outputs),
          kept_words(kernel, c.family, outputs)};
}

std::string to_line(const Golden& golden) {
  std::string line =
      fmt::format("{} : {:016x} {:016x}", name(golden.c), golden.ptx_hash, golden.output_hash);
  for (const std::uint64_t word : golden.words) line += fmt::format(" {:x}", word);
  return line;
}

Golden parse_golden(const std::string& line) {
  Golden golden;
  const auto colon = line.find(':');
  golden.c = parse_case(line.substr(0, colon));
  std::istringstream in(line.substr(colon + 1));
  in >> std::hex >> golden.ptx_hash >> golden.output_hash;
  for (std::uint64_t word = 0; in >> word;) golden.words.push_back(word);
  return golden;
}

std::optional<std::string> disagreement(const Golden& golden, const Kernel& kernel,
                                        const Outputs& outputs) {
  if (golden.c.family == Family::kApproximate) {
    Outputs expected = first_outputs(kernel);
    if (expected.results.size() != golden.words.size() * kSlotBytes) return "words are missing";
    std::memcpy(expected.results.data(), golden.words.data(), expected.results.size());
    std::uint64_t words = 0;
    const auto list = differences(kernel, expected, outputs, words);
    if (list.empty()) return std::nullopt;
    return fmt::format("{} words differ; thread {}: {:x} on the GPU, {:x} here", list.size(),
                       list[0].thread, list[0].expected, list[0].found);
  }
  if (hash(outputs) == golden.output_hash) return std::nullopt;
  const auto here = kept_words(kernel, golden.c.family, outputs);
  for (std::size_t i = 0; i < here.size() && i < golden.words.size(); ++i) {
    if (here[i] == golden.words[i]) continue;
    return fmt::format("result {} of thread 0 is {:x} on the GPU and {:x} here", i, golden.words[i],
                       here[i]);
  }
  return "outputs differ, not among the first of thread 0";
}

}  // namespace kbench::ptx::random
