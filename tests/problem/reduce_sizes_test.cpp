// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kbench/error.hpp"
#include "kbench/problem.hpp"

namespace kbench {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(ParseReduceSizes, WordsAndLimits) {
  EXPECT_EQ(parse_reduce_sizes("auto").when, ReduceSizesOptions::When::kOnCpu);
  EXPECT_EQ(parse_reduce_sizes("off").when, ReduceSizesOptions::When::kNever);
  const ReduceSizesOptions on = parse_reduce_sizes("on");
  EXPECT_EQ(on.when, ReduceSizesOptions::When::kAlways);
  EXPECT_EQ(on.max_bytes, 4 << 20);
  EXPECT_EQ(on.max_flops, 50e6);
  const ReduceSizesOptions bytes = parse_reduce_sizes("16MiB");
  EXPECT_EQ(bytes.when, ReduceSizesOptions::When::kAlways);
  EXPECT_EQ(bytes.max_bytes, 16 << 20);
  EXPECT_EQ(bytes.max_flops, 50e6);
  const ReduceSizesOptions both = parse_reduce_sizes("1.5G, 500MFLOP");
  EXPECT_EQ(both.max_bytes, 1.5 * (1 << 30));
  EXPECT_EQ(both.max_flops, 5e8);
  EXPECT_EQ(parse_reduce_sizes("1000000").max_bytes, 1e6);
  EXPECT_EQ(parse_reduce_sizes("4kB,2T").max_flops, 2e12);
  EXPECT_EQ(parse_reduce_sizes("4KiB,2k").max_bytes, 4096);
  EXPECT_EQ(parse_reduce_sizes("4KiB,2k").max_flops, 2000);
}

TEST(ParseReduceSizes, OtherTextsAreErrorsThatSayWhatToWrite) {
  for (const char* text : {"", "yes", "0", "-1M", "16X", "16MB3", "nan", "inf", "1M,", "1M,0",
                           "1M,2,3", "1MFLOP", ",1G"}) {
    EXPECT_THAT([&] { parse_reduce_sizes(text); },
                ThrowsMessage<UsageError>(HasSubstr("as in --reduce-sizes=16MiB")))
        << text;
  }
}

TEST(ReduceSizesOptions, WhatTheyApplyTo) {
  Problem plain;
  Problem sized;
  sized.named_sizes = {{"cpu", {{"n", "4"}}}};
  ReduceSizesOptions options;
  EXPECT_TRUE(options.applies_to(plain, "cpu"));
  EXPECT_FALSE(options.applies_to(plain, "gpu"));
  EXPECT_FALSE(options.applies_to(sized, "cpu"));
  options.when = ReduceSizesOptions::When::kAlways;
  EXPECT_TRUE(options.applies_to(plain, "gpu"));
  EXPECT_TRUE(options.applies_to(sized, "gpu"));
  EXPECT_FALSE(options.applies_to(sized, "cpu"));
  options.when = ReduceSizesOptions::When::kNever;
  EXPECT_FALSE(options.applies_to(plain, "cpu"));
}

TEST(ReducedSizes, SizesSurviveTheWayThroughJson) {
  const ChosenSizes chosen{{{"n", "512"}, {"shape", "(3, 5)"}},
                           ReducedSizes{1, 2, 3e12, 4e15, true}};
  const json text = json::parse(to_json(chosen).dump());
  const ChosenSizes again = chosen_sizes_from_json(text);
  EXPECT_EQ(again.sizes, chosen.sizes);
  EXPECT_EQ(to_json(*again.reduced_sizes), to_json(*chosen.reduced_sizes));
  EXPECT_FALSE(chosen_sizes_from_json(to_json(ChosenSizes{})).reduced_sizes);
  for (const auto& entry : std::initializer_list<std::pair<json, const char*>>{
           {{{"sizes", {{"n", 512}}}}, "sizes"},
           {{{"reduced_sizes", nullptr}}, "sizes"},
           {{{"sizes", json::object()}, {"reduced_sizes", {{"bytes", "1"}}}}, "bytes"}}) {
    EXPECT_THAT([&] { chosen_sizes_from_json(entry.first); },
                ThrowsMessage<Error>(HasSubstr(entry.second)));
  }
}

TEST(ReducedSizes, HopelessIsFarAboveOneLimit) {
  const ReduceSizesOptions options;
  EXPECT_FALSE((ReducedSizes{550e6, 40e9, 1e9, 1e12, false}).hopeless(options));
  EXPECT_TRUE((ReducedSizes{550e6, 65e9, 1e9, 1e12, false}).hopeless(options));
  EXPECT_TRUE((ReducedSizes{5e9, 0, 5e9, 0, false}).hopeless(options));
}

TEST(ReducedSizes, TextsForPeople) {
  EXPECT_EQ(cost_text(0, 999), "0 B and 999 FLOP");
  EXPECT_EQ(cost_text(1.5 * (1 << 30), 39.3e9), "1.5 GiB and 39.3 GFLOP");
  EXPECT_EQ(reduced_sizes_text({}), "");
  const ReducedSizes small{1, 1, 9, 9, true}, stuck{1 << 30, 1e9, 1 << 30, 1e9, false};
  EXPECT_EQ(reduced_sizes_text({{"a", small}}), "1 problem at reduced sizes (--reduce-sizes)");
  EXPECT_EQ(reduced_sizes_text({{"a", small}, {"b", small}, {"c", stuck}}),
            "2 problems at reduced sizes (--reduce-sizes); still above its limits: c (1 GiB and "
            "1 GFLOP)");
  EXPECT_EQ(reduced_sizes_text({{"c", stuck}}),
            "above the limits of --reduce-sizes: c (1 GiB and 1 GFLOP)");
}

}  // namespace
}  // namespace kbench
