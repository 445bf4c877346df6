// SPDX-License-Identifier: MIT
//
// libFuzzer feeds the source splitter: each input has to be split or refused, within the limits of
// time and memory that README.md beside it names.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "compile/split/split.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto made =
      kbench::split_source({reinterpret_cast<const char*>(data), size}, "candidate.cu");
  const auto* refusal = std::get_if<kbench::SplitRefusal>(&made);
  if (refusal != nullptr && (refusal->cause.empty() || refusal->message.empty())) __builtin_trap();
  return 0;
}
