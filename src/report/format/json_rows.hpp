// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <future>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <thread>

#include "base/json/dumped.hpp"
#include "report/text/workflow_commands.hpp"

namespace kbench::report {

using nlohmann::ordered_json;

/// null if the number is missing or not finite.
inline ordered_json number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? ordered_json(*value) : ordered_json();
}

/// Writes an object without its closing brace, so that rows can follow.
inline void write_head(std::ostream& out, const ordered_json& head) {
  const std::string text = dumped(head, 1);
  out << json_without_commands(text.substr(0, text.rfind('\n')));
}

/// Writes "name": [ … ] with one row per line. Several threads call `to_row`, which returns
/// ordered_json or JsonText. At most about a thousand rows are in memory at a time.
template <typename Rows, typename ToJson>
void write_rows(std::ostream& out, const char* name, const Rows& rows, ToJson to_row) {
  constexpr std::size_t kBlock = 128;
  const auto block_from = [&](std::size_t begin) {
    std::string text;
    for (std::size_t i = begin; i < std::min(rows.size(), begin + kBlock); ++i) {
      text += i == 0 ? "\n" : ",\n";
      if constexpr (requires { to_row(rows[i]).text(); }) {
        text += to_row(rows[i]).text();
      } else {
        text += dumped(to_row(rows[i]));
      }
    }
    return json_without_commands(std::move(text));
  };
  out << ",\n\"" << name << "\": [";
  // A short list is not worth a thread.
  const auto policy = rows.size() > kBlock ? std::launch::async : std::launch::deferred;
  const std::size_t ahead = std::clamp(std::thread::hardware_concurrency(), 1u, 8u);
  std::deque<std::future<std::string>> blocks;
  for (std::size_t begin = 0; begin < rows.size() || !blocks.empty(); begin += kBlock) {
    if (begin < rows.size()) blocks.push_back(std::async(policy, block_from, begin));
    if (blocks.size() <= ahead && begin + kBlock < rows.size()) continue;
    out << blocks.front().get();
    blocks.pop_front();
  }
  out << "]";
}

}  // namespace kbench::report
