// SPDX-License-Identifier: MIT
#include "protocol/timing_method.hpp"

#include <gtest/gtest.h>

#include <set>

namespace kbench {
namespace {

TEST(TimingMethods, EachRowIsFoundByItsName) {
  std::set<std::string_view> names;
  for (const TimingMethod& method : timing_methods()) {
    EXPECT_TRUE(names.insert(method.name).second) << method.name;
    EXPECT_EQ(find_timing_method(method.name), &method);
    EXPECT_FALSE(method.meaning.empty()) << method.name;
    EXPECT_NE(method.meaning.back(), '.') << method.name;
    // What the CPU takes as well cannot need a clock that only a GPU has.
    EXPECT_TRUE(method.by_gpu || method.clock == protocol::TimeClock::kEvents) << method.name;
  }
  EXPECT_EQ(timing_methods().front().name, "auto");
  EXPECT_EQ(find_timing_method("sundial"), nullptr);
}

}  // namespace
}  // namespace kbench
