// SPDX-License-Identifier: MIT
// `--profile` of modules: whose kernels run, their counters in the executor, and estimates for a
// GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/kbench_process.hpp"
#include "cli/module_samples.hpp"

namespace kbench::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::string kTritonModule = module_with(R"(
import triton
import triton.language as tl


@triton.jit
def relu_scale(x, scale, bias, y, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < columns
    row = tl.program_id(0) * columns
    value = tl.load(x + row + at, mask=inside)
    value = tl.maximum(value, 0.0) * tl.load(scale + at, mask=inside)
    tl.store(y + row + at, value + tl.load(bias + at, mask=inside), mask=inside)
)",
                                              R"(        y = torch.empty_like(x)
        relu_scale[(x.shape[0],)](x, self.scale, self.bias, y, x.shape[1], BLOCK=64)
        return y
)");

/// The kernel's source between its quotes, as an extension's file.
std::string extension() {
  const auto begin = kKernel.find("#include");
  return kKernel.substr(begin, kKernel.find("\"\"\"", begin) - begin);
}

/// Two calls, with copies and fills, which do not count as computing.
constexpr const char* kTwoCalls =
    "        extension.forward(x.clone(), torch.ones_like(self.scale), self.bias)\n"
    "        return extension.forward(x.contiguous(), self.scale, self.bias).reshape(x.shape)\n";

// One test, because it is one run.
TEST(ModuleProfile, CountsLaunchesAndTellsWhoseTheyAre) {
  const TempFolder folder;
  folder.write("set/level1/1_ReluScale.py", kModuleProblem);
  const auto add = [&](const std::string& name, const std::string& source) {
    folder.write("candidates/me/1_ReluScale/" + name, source);
  };
  add("own.py", module_with(kKernel + kLoad, kTwoCalls));
  add("own.cu", extension());
  add("mixed.py", module_with(kKernel + kLoad,
                              "        return torch.add(extension.forward(x, self.scale, "
                              "torch.zeros_like(self.bias)), self.bias)\n"));
  add("library.py", module_with("", kPlainCall));
  add("none.py", module_with("", "        return x.clone().view(-1).view(x.shape)\n"));
  add("triton.py", kTritonModule);
  const auto out = folder.path() / "run.jsonl";
  const auto result = run_kbench({"eval", (folder.path() / "set").string(), "--candidates",
                                  (folder.path() / "candidates").string(), "--device", "cpu",
                                  "--out", out.string(), "--profile", "--estimate-for", "H100"});
  ASSERT_EQ(result.status.code, 0) << result.error;
  std::map<std::string, Record> records;
  for (const auto& [id, record] : records_by_candidate(out))
    records.emplace(std::filesystem::path(id).filename().string(), record);

  for (const std::string name : {"own.py", "own.cu", "mixed.py", "library.py", "triton.py"})
    EXPECT_EQ(to_string(records.at(name).outcome), "correct")
        << name << ": " << records.at(name).message;
  EXPECT_EQ(records.at("none.py").outcome, Outcome::kMismatch);
  const std::map<std::string, std::string> classes{{"own.py", "own"},     {"own.cu", "own"},
                                                   {"mixed.py", "mixed"}, {"library.py", "library"},
                                                   {"none.py", "none"},   {"triton.py", "own"}};
  for (const auto& [name, expected] : classes)
    EXPECT_EQ(records.at(name).kernel_class, expected) << name;

  const auto own_out = folder.path() / "own.jsonl";
  const auto required = run_kbench({"eval", (folder.path() / "set").string(), "--candidates",
                                    (folder.path() / "candidates").string(), "--device", "cpu",
                                    "--out", own_out.string(), "--require", "own-kernels"});
  ASSERT_EQ(required.status.code, 0) << required.error;
  for (const auto& [id, record] : records_by_candidate(own_out)) {
    const auto name = std::filesystem::path(id).filename().string();
    if (name == "none.py") continue;
    const bool is_own = classes.at(name) == "own";
    EXPECT_EQ(to_string(record.outcome), is_own ? "correct" : "rejected") << name;
    EXPECT_EQ(record.cause, is_own ? "" : "not_own_kernels") << name;
    EXPECT_EQ(record.timing.has_value(), is_own) << name;
  }

  // 16 rows of 40 columns: 640 elements, a multiplication and an addition each, fused or not.
  const Record& own = records.at("own.py");
  EXPECT_EQ(own.launches, 2);
  ASSERT_THAT(own.profile, SizeIs(1));
  EXPECT_THAT(own.profile[0].kernel, HasSubstr("relu_scale<float>"));
  EXPECT_EQ(own.profile[0].grid, (std::array<std::uint32_t, 3>{3, 1, 1}));
  EXPECT_EQ(own.profile[0].block, (std::array<std::uint32_t, 3>{256, 1, 1}));
  EXPECT_EQ(own.profile[0].launches, 2u);
  EXPECT_EQ(total_flops(own.profile[0].counters), 2 * 2 * 640u);
  EXPECT_EQ(own.profile[0].counters.unique_written_bytes, 2 * 640 * 4u);
  ASSERT_TRUE(own.estimate);
  EXPECT_EQ(own.estimate->gpu, "H100");
  ASSERT_TRUE(own.estimate->candidate_ms && own.estimate->ratio());

  const Record& whole = records.at("own.cu");
  EXPECT_EQ(whole.launches, 1);
  ASSERT_THAT(whole.profile, SizeIs(1));
  ASSERT_TRUE(whole.estimate && whole.estimate->candidate_ms);
  // torch's operators add to the estimate.
  const Record& mixed = records.at("mixed.py");
  EXPECT_THAT(mixed.profile, SizeIs(1));
  ASSERT_TRUE(mixed.estimate && mixed.estimate->candidate_ms);
  EXPECT_GT(*mixed.estimate->candidate_ms, *whole.estimate->candidate_ms);
  // The same operators as the reference's have the reference's estimate.
  const Record& library = records.at("library.py");
  EXPECT_THAT(library.profile, IsEmpty());
  ASSERT_TRUE(library.estimate && library.estimate->ratio());
  EXPECT_NEAR(*library.estimate->ratio(), 1, 1e-4);
  // Triton's interpreter has no counters, so there is no estimate.
  EXPECT_EQ(records.at("triton.py").launches, 1);
  EXPECT_FALSE(records.at("triton.py").estimate);
  EXPECT_THAT(result.output, HasSubstr("relu_scale<fl…<<<3, 256>>> "));
}

}  // namespace
}  // namespace kbench::test
