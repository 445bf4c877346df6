// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include "ptx/races_threads_kernels.hpp"

// Races of threads of one block in global memory.
namespace kbench::ptx::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(ThreadRaces, threads_that_add_without_atomics) {
  for (const std::uint64_t seed : kSeeds) {
    Buffer<float> x("input x", 128, 1.0F), y("output y", 4);
    const std::vector<Region> regions{x.region(false), y.region()};
    const auto values = arguments(x.data(), y.data());
    const Finding warps = expect_race(run("warps_add", 4, 128, values, regions, seed),
                                      FindingKind::kGlobalRace, 5, 5);
    EXPECT_EQ(warps.region, "output y");
    EXPECT_THAT(warps.message, HasSubstr("which thread ("));
    EXPECT_THAT(warps.message, HasSubstr("kernel.cu:5) with no barrier in between"));
    expect_race(run("threads_add", 4, 128, values, regions, seed), FindingKind::kGlobalRace, 8, 8);
    const Finding lanes = expect_race(run("threads_add", 4, 32, values, regions, seed),
                                      FindingKind::kGlobalRace, 8, 8);
    EXPECT_THAT(lanes.message, HasSubstr("with no __syncwarp in between"));
  }
}

TEST_F(ThreadRaces, lanes_that_write_different_values) {
  Buffer<float> y("output y", 64);
  const auto got = [&](int n) {
    return run("lanes_write", 1, 64, arguments(y.data(), n), {y.region()});
  };
  EXPECT_THAT(messages(got(1)), IsEmpty());
  expect_race(got(2), FindingKind::kGlobalRace, 11, 11);
}

TEST_F(ThreadRaces, a_missing_barrier) {
  for (const std::uint64_t seed : kSeeds) {
    Buffer<float> y("scratch y", 256), z("output z", 256);
    const std::vector<Region> regions{y.region(), z.region()};
    const auto got = [&](const char* kernel, auto... more) {
      return run(kernel, 1, 256, arguments(y.data(), z.data(), more...), regions, seed);
    };
    EXPECT_THAT(messages(got("reverses", 1)), IsEmpty());
    expect_race(got("reverses", 0), FindingKind::kGlobalRace, 16, 14);
    EXPECT_THAT(messages(got("loops", 4, 1)), IsEmpty());
    expect_race(got("loops", 4, 0), FindingKind::kGlobalRace, 21, 23);
    EXPECT_THAT(messages(got("warp_exchange", 1)), IsEmpty());
    expect_race(got("warp_exchange", 0), FindingKind::kGlobalRace, 38, 40);
  }
}

TEST_F(ThreadRaces, barriers_of_some_warps) {
  Buffer<float> y("scratch y", 64), z("output z", 64);
  const auto got = [&](int sync) {
    return run("halves_meet", 1, 128, arguments(y.data(), z.data(), sync),
               {y.region(), z.region()});
  };
  EXPECT_THAT(messages(got(1)), IsEmpty());
  expect_race(got(0), FindingKind::kGlobalRace, 136, 140);
}

TEST_F(ThreadRaces, the_other_line_is_that_of_the_word) {
  Buffer<float> y("output y", 64);
  expect_race(run("two_lines", 1, 64, arguments(y.data()), {y.region()}), FindingKind::kGlobalRace,
              163, 161);
}

TEST_F(ThreadRaces, a_sum_of_a_block_in_global_memory) {
  for (const std::uint64_t seed : kSeeds) {
    Buffer<float> y("scratch y", 512);
    EXPECT_THAT(messages(run("block_sum", 2, 256, arguments(y.data(), 1), {y.region()}, seed)),
                IsEmpty());
    EXPECT_EQ(y[256], 255 * 128.0F);
    expect_race(run("block_sum", 2, 256, arguments(y.data(), 0), {y.region()}, seed),
                FindingKind::kGlobalRace, 33, 33);
  }
}

TEST_F(ThreadRaces, counters_of_blocks_and_warps) {
  for (const std::uint64_t seed : kSeeds) {
    Buffer<float> x("input x", 64, 1.0F), part("scratch part", 1024), y("output y", 64);
    Buffer<int> count("scratch count", 1);
    const std::vector<Region> regions{x.region(false), part.region(), count.region(), y.region()};
    EXPECT_THAT(
        messages(run("last_block", 16, 64, arguments(x.data(), part.data(), count.data(), y.data()),
                     regions, seed)),
        IsEmpty());
    EXPECT_EQ(y[3], 16.0F);
    const auto warps = [&](int fence) {
      return run("last_warp", 1, 256, arguments(part.data(), count.data(), y.data(), fence),
                 regions, seed);
    };
    EXPECT_THAT(messages(warps(1)), IsEmpty());
    EXPECT_EQ(y[0], 36.0F);
    expect_race(warps(0), FindingKind::kGlobalRace, 58, 63);
  }
}

TEST_F(ThreadRaces, honest_writes) {
  for (const std::uint64_t seed : kSeeds) {
    Buffer<int> x("input x", 128, 1), bad("scratch bad", 1), flag("output flag", 128);
    EXPECT_THAT(messages(run("flags", 1, 128, arguments(x.data(), bad.data(), flag.data()),
                             {x.region(false), bad.region(), flag.region()}, seed)),
                IsEmpty());
    Buffer<float> y("output y", 514), s("scratch s", 4096);
    EXPECT_THAT(messages(run("repeats", 2, 256, arguments(y.data(), 512), {y.region()}, seed)),
                IsEmpty());
    EXPECT_THAT(messages(run("scratch", 2, 256, arguments(s.data(), y.data(), 8),
                             {s.region(), y.region()}, seed)),
                IsEmpty());
    EXPECT_THAT(messages(run("tiles", 1, 256, arguments(y.data()), {y.region()}, seed)), IsEmpty());
    Buffer<unsigned char> bytes("output bytes", 256);
    EXPECT_THAT(messages(run("bytes", 1, 256, arguments(bytes.data()), {bytes.region()}, seed)),
                IsEmpty());
  }
}

TEST_F(ThreadRaces, freed_memory_belongs_to_the_next_thread) {
  for (const std::uint64_t seed : kSeeds) {
    Buffer<float> y("output y", 512);
    EXPECT_THAT(messages(run("heap", 2, 256, arguments(y.data()), {y.region()}, seed)), IsEmpty());
  }
}

TEST_F(ThreadRaces, atomics_after_a_hint_are_none) {
  for (const std::uint64_t seed : kSeeds) {
    Buffer<float> x("input x", 128, 1000.0F), y("output y", 1);
    const std::vector<Region> regions{x.region(false), y.region()};
    EXPECT_THAT(messages(run("sums", 1, 128, arguments(x.data(), y.data(), 1), regions, seed)),
                IsEmpty());
    expect_race(run("sums", 1, 128, arguments(x.data(), y.data(), 0), regions, seed),
                FindingKind::kGlobalRace, 79, 80);
  }
}

TEST_F(ThreadRaces, flags_that_pass_data_on) {
  for (const std::uint64_t seed : kSeeds) {
    for (const int fence : {1, 0}) {
      Buffer<int> turn("scratch turn", 1), data("output data", 32);
      const Result got = run("ping_pong", 1, 64, arguments(turn.data(), data.data(), 5, fence),
                             {turn.region(), data.region()}, seed);
      EXPECT_EQ(data[7], 30);
      if (fence != 0) {
        EXPECT_THAT(messages(got), IsEmpty());
      } else {
        expect_race(got, FindingKind::kGlobalRace, 91, 91);
      }
    }
    Buffer<int> flag("scratch flag", 2), data("scratch data", 1), y("output y", 1);
    EXPECT_THAT(
        messages(run("by_way_of_a_block", 2, 64, arguments(flag.data(), data.data(), y.data()),
                     {flag.region(), data.region(), y.region()}, seed)),
        IsEmpty());
    EXPECT_EQ(y[0], 5);
  }
}

TEST_F(ThreadRaces, many_atomics_hide_no_race) {
  for (const unsigned blocks : {1U, 4U}) {
    Buffer<int> counts("scratch counts", 64), y("output y", 4);
    expect_race(run("after_atomics", blocks, 64, arguments(counts.data(), y.data(), 3000),
                    {counts.region(), y.region()}),
                FindingKind::kGlobalRace, 177, 177);
  }
}

TEST_F(ThreadRaces, each_lane_of_an_atomic_releases) {
  for (const std::uint64_t seed : kSeeds) {
    for (const int lane : {0, 5, 31}) {
      Buffer<int> data("scratch data", 32), flags("scratch flags", 32), y("output y", 1);
      const auto got = [&](int fence) {
        return run("flag_of_a_lane", 1, 64,
                   arguments(data.data(), flags.data(), y.data(), lane, fence),
                   {data.region(), flags.region(), y.region()}, seed);
      };
      EXPECT_THAT(messages(got(1)), IsEmpty());
      EXPECT_EQ(y[0], lane + 1);
      data = Buffer<int>("scratch data", 32);
      flags = Buffer<int>("scratch flags", 32);
      expect_race(got(0), FindingKind::kGlobalRace, 181, 187);
    }
  }
}

TEST_F(ThreadRaces, several_host_threads) {
  Buffer<float> x("input x", 128, 1.0F), part("scratch part", 1024), y("output y", 64);
  Buffer<int> count("scratch count", 1);
  const std::vector<Region> regions{x.region(false), part.region(), count.region(), y.region()};
  const auto got = [&](const char* kernel, unsigned blocks, unsigned threads, auto... values) {
    return run(kernel, blocks, threads, arguments(values...), regions, 0, 4);
  };
  EXPECT_THAT(messages(got("last_block", 16, 64, x.data(), part.data(), count.data(), y.data())),
              IsEmpty());
  EXPECT_THAT(messages(got("block_sum", 8, 128, part.data(), 1)), IsEmpty());
  expect_race(got("block_sum", 8, 128, part.data(), 0), FindingKind::kGlobalRace, 33, 33);
  expect_race(got("warps_add", 4, 128, x.data(), y.data()), FindingKind::kGlobalRace, 5, 5);
}

TEST_F(ThreadRaces, locks_in_a_block) {
  for (const std::uint64_t seed : kSeeds) {
    for (const int plain : {0, 1}) {
      Buffer<int> mutex("scratch mutex", 1), count("output count", 1);
      EXPECT_THAT(messages(run("lock", 1, 128, arguments(mutex.data(), count.data(), plain),
                               {mutex.region(), count.region()}, seed)),
                  IsEmpty());
      EXPECT_EQ(count[0], 128);
      EXPECT_THAT(
          messages(run("lock_in_shared", 1, 128, arguments(count.data()), {count.region()}, seed)),
          IsEmpty());
    }
  }
}

}  // namespace
}  // namespace kbench::ptx::testing
