// SPDX-License-Identifier: MIT
#include "ptx/nvrtc_helper.hpp"

namespace kbench::ptx::testing {
namespace {

/// Reads one special register in each thread of a launch.
std::vector<std::uint64_t> read(const std::string& name, const Launch& shape) {
  const std::string text =
      ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out) {\n"
      ".reg .b32 %i, %n, %b; .reg .b64 %at, %v; .reg .b32 %w; .shared .b32 held[64];\n"
      "mov.u32 %n, %ntid.x; mov.u32 %b, %ntid.y; mul.lo.u32 %n, %n, %b;\n"
      "mov.u32 %b, %ntid.z; mul.lo.u32 %n, %n, %b;\n"
      "mov.u32 %i, %tid.z; mov.u32 %b, %ntid.y; mul.lo.u32 %i, %i, %b;\n"
      "mov.u32 %b, %tid.y; add.u32 %i, %i, %b; mov.u32 %b, %ntid.x; mul.lo.u32 %i, %i, %b;\n"
      "mov.u32 %b, %tid.x; add.u32 %i, %i, %b; mov.u32 %b, %ctaid.x; mad.lo.u32 %i, %b, %n, %i;\n"
      "ld.param.u64 %at, [out]; mad.wide.u32 %at, %i, 8, %at; mov.u32 %w, held;\n"
      "mov.u64 %v, " +
      name + "; st.global.u64 [%at], %v; ret; }\n";
  auto loaded = load(text);
  const auto count = std::size_t{shape.block[0]} * shape.block[1] * shape.block[2] * shape.grid[0];
  std::vector<std::uint64_t> values(count, 77);
  if (const auto* bad = std::get_if<Unsupported>(&loaded)) {
    ADD_FAILURE() << bad->message;
    return values;
  }
  Launch launch = shape;
  launch.kernel = "k";
  launch.arguments = arguments(values.data());
  run(std::get<Module>(loaded), launch,
      {Region{"out", reinterpret_cast<std::byte*>(values.data()), count * 8, 0, 0, true}});
  return values;
}

Launch shape() {
  Launch launch;
  launch.block = {5, 7, 2};
  launch.grid = {3, 1, 1};
  launch.dynamic_shared_bytes = 512;
  return launch;
}

TEST(SpecialRegisters, positions_and_masks) {
  struct Case {
    const char* name;
    std::uint64_t (*want)(std::uint64_t thread, std::uint64_t block);
  };
  const Case cases[] = {
      {"%tid.x", [](std::uint64_t t, std::uint64_t) { return t % 5; }},
      {"%tid.y", [](std::uint64_t t, std::uint64_t) { return t / 5 % 7; }},
      {"%tid.z", [](std::uint64_t t, std::uint64_t) { return t / 35; }},
      {"%ntid.x", [](std::uint64_t, std::uint64_t) { return std::uint64_t{5}; }},
      {"%ntid.z", [](std::uint64_t, std::uint64_t) { return std::uint64_t{2}; }},
      {"%ctaid.x", [](std::uint64_t, std::uint64_t b) { return b; }},
      {"%nctaid.x", [](std::uint64_t, std::uint64_t) { return std::uint64_t{3}; }},
      {"%laneid", [](std::uint64_t t, std::uint64_t) { return t % 32; }},
      {"%warpid", [](std::uint64_t t, std::uint64_t) { return t / 32; }},
      {"%lanemask_eq", [](std::uint64_t t, std::uint64_t) { return std::uint64_t{1} << (t % 32); }},
      {"%lanemask_lt",
       [](std::uint64_t t, std::uint64_t) { return (std::uint64_t{1} << (t % 32)) - 1; }},
      {"%lanemask_le",
       [](std::uint64_t t, std::uint64_t) { return (std::uint64_t{2} << (t % 32)) - 1; }},
      {"%lanemask_gt",
       [](std::uint64_t t, std::uint64_t) {
         return std::uint64_t{0xffffffff} - ((std::uint64_t{2} << (t % 32)) - 1);
       }},
      {"%lanemask_ge",
       [](std::uint64_t t, std::uint64_t) {
         return std::uint64_t{0xffffffff} - ((std::uint64_t{1} << (t % 32)) - 1);
       }},
      {"%dynamic_smem_size", [](std::uint64_t, std::uint64_t) { return std::uint64_t{512}; }},
      {"%total_smem_size", [](std::uint64_t, std::uint64_t) { return std::uint64_t{768}; }},
      {"%aggr_smem_size", [](std::uint64_t, std::uint64_t) { return std::uint64_t{1792}; }},
      {"%current_graph_exec", [](std::uint64_t, std::uint64_t) { return std::uint64_t{0}; }},
  };
  for (const Case& c : cases) {
    const auto values = read(c.name, shape());
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(values[i], c.want(i % 70, i / 70)) << c.name << " of thread " << i;
    }
  }
}

TEST(SpecialRegisters, of_the_machine_are_in_range) {
  for (const auto value : read("%smid", shape())) EXPECT_LT(value, DeviceModel{}.sms);
  for (const auto value : read("%nsmid", shape())) EXPECT_EQ(value, DeviceModel{}.sms);
  for (const auto value : read("%nwarpid", shape())) EXPECT_GE(value, 3U);
  for (const char* clock : {"%clock64", "%globaltimer"}) {
    const auto before = read(clock, shape()), after = read(clock, shape());
    EXPECT_GT(after[0], before[0]) << clock;
  }
}

TEST(SpecialRegisters, of_performance_monitors_are_refused_by_name) {
  const auto loaded = load(
      ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k() {\n"
      ".reg .b32 %r; mov.u32 %r, %pm3; ret; }\n");
  const auto* unsupported = std::get_if<Unsupported>(&loaded);
  ASSERT_NE(unsupported, nullptr);
  EXPECT_NE(unsupported->message.find("%pm3"), std::string::npos);
}

}  // namespace
}  // namespace kbench::ptx::testing
