// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/kbench_process.hpp"

namespace kbench::test {
namespace {

using testing::HasSubstr;

const std::string kProblem = problem_of("x.relu() + 1", "torch.randn(64, 64)");

/// An extension with a kernel that computes the answer, and a kernel that adds zero. `body`: the
/// body of forward.
std::string extension(const std::string& body) {
  return R"(#include <torch/extension.h>
#include <stdexcept>
__global__ void relu_plus_one(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f) + 1.0f;
}
__global__ void add_zero(float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += 0.0f;
}
__global__ void write_one(int* one) { *one = 1; }
__global__ void write_nan(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && isnan(x[i])) y[i] = x[i];
}
torch::Tensor forward(torch::Tensor x) {
  const int n = x.numel();
)" + body +
         "  return y;\n}\n";
}

const std::string kLaunch =
    "  auto y = torch::empty_like(x);\n"
    "  relu_plus_one<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);\n";

/// Host code that computes the answer in `made`. Candidates add kernels without which their answer
/// is wrong.
const std::string kByTheHost =
    "  auto made = torch::empty_like(x);\n"
    "  const float* from = x.data_ptr<float>();\n"
    "  float* to = made.data_ptr<float>();\n"
    "  for (int i = 0; i < n; ++i) to[i] = std::max(from[i], 0.f) + 1;\n";

/// An extension with one kernel, which adds a number to each element.
std::string adding(const std::string& body) {
  return R"(#include <ATen/record_function.h>
#include <torch/extension.h>
__device__ float kept[4096];
__global__ void add(const float* x, float* y, int n, float by, bool cuts = false) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = (cuts ? fmaxf(x[i], 0.0f) : x[i]) + by;
}
void launch(const float* x, float* y, int n, float by, bool cuts = false) {
  add<<<(n + 255) / 256, 256>>>(x, y, n, by, cuts);
}
torch::Tensor forward(torch::Tensor x) {
  const int n = x.numel();
  auto y = torch::empty_like(x);
)" + body +
         "  return y;\n}\n";
}

/// An extension with one kernel, which sets each element of y to `value`, an expression of x and y.
std::string extension_of(const std::string& value, const std::string& y,
                         const std::string& result = "y") {
  return R"(#include <torch/extension.h>
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = )" +
         value + R"(;
}
torch::Tensor forward(torch::Tensor x) {
  const int n = x.numel();
  auto y = )" +
         y + R"(;
  k<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
  return )" +
         result + ";\n}\n";
}

using Files = std::map<std::string, std::string>;

const std::string kPlace = "candidates/me/1_Relu/";

/// Candidates with kernels that the answer needs, and with dead kernels.
void add_kernels(Files& files) {
  const auto write = [&](const std::string& name, const std::string& text) {
    files[kPlace + name + ".cu"] = text;
  };
  write("own", extension(kLaunch));
  // Only its kernels compute. Without them its host code ends the process.
  write("needs_them", extension("  auto one = torch::zeros({1}, x.options().dtype(torch::kInt));\n"
                                "  write_one<<<1, 1>>>(one.data_ptr<int>());\n"
                                "  if (one.cpu().item<int>() != 1) std::abort();\n" +
                                kLaunch));
  write("dead_kernels",
        extension("  auto y = x.relu() + 1;\n"
                  "  add_zero<<<(n + 255) / 256, 256>>>(y.data_ptr<float>(), n);\n"));
  const std::string by_host =
      "  auto y = torch::empty_like(x);\n"
      "  const auto from = x.cpu();\n"
      "  auto to = torch::empty_like(from);\n"
      "  for (int i = 0; i < n; ++i)\n"
      "    to.data_ptr<float>()[i] = std::max(from.data_ptr<float>()[i], 0.f) + 1;\n"
      "  y.copy_(to);\n";
  write("host",
        extension(by_host + "  add_zero<<<(n + 255) / 256, 256>>>(y.data_ptr<float>(), n);\n"));
  // Its kernel computes only for inputs that are NaN.
  write("host_beside_nan",
        extension(by_host + "  write_nan<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), "
                            "y.data_ptr<float>(), n);\n"));
}

/// Candidates whose host code computes a part of the answer.
void add_reads(Files& files) {
  const auto write = [&](const std::string& name, const std::string& text) {
    files[kPlace + name + ".cu"] = text;
  };
  write("reads_copied", adding(kByTheHost + "  launch(to, y.data_ptr<float>(), n, 0);\n"));
  write("reads_one_too_many",
        adding("  at::RecordFunctionGuard unseen(false);\n"
               "  const auto made = x.relu() + 2;\n"
               "  launch(made.data_ptr<float>(), y.data_ptr<float>(), n, -1);\n"));
  write("reads_by_an_own_copy",
        adding("  auto copy = torch::empty_like(x);\n"
               "  launch(x.data_ptr<float>(), copy.data_ptr<float>(), n, 0);\n"
               "  x = copy;\n" +
               kByTheHost + "  launch(to, y.data_ptr<float>(), n, 0);\n"));
  write("reads_by_a_copy_of_torchs",
        adding("  x = torch::cat({x.clone(), x}).to(torch::kFloat)\n"
               "          .slice(0, 0, x.size(0));\n" +
               kByTheHost + "  launch(to, y.data_ptr<float>(), n, 0);\n"));
  write("reads_by_a_copy_of_cudas",
        adding("  std::vector<float> copy(n);\n"
               "  cudaMemcpy(copy.data(), x.data_ptr<float>(), x.nbytes(), cudaMemcpyDefault);\n"
               "  x = torch::from_blob(copy.data(), x.sizes());\n" +
               kByTheHost + "  launch(to, y.data_ptr<float>(), n, 0);\n"));
  write("reads_element_by_element",
        adding("  std::vector<float> copy(n);\n"
               "  for (int i = 0; i < n; ++i) copy[i] = x.view(-1)[i].item<float>();\n"
               "  x = torch::from_blob(copy.data(), x.sizes());\n" +
               kByTheHost + "  launch(to, y.data_ptr<float>(), n, 0);\n"));
  write("reads_by_a_variable", adding("  void* address = nullptr;\n"
                                      "  cudaGetSymbolAddress(&address, kept);\n"
                                      "  auto* copy = static_cast<float*>(address);\n"
                                      "  launch(x.data_ptr<float>(), copy, n, 0);\n"
                                      "  x = torch::from_blob(copy, x.sizes());\n" +
                                      kByTheHost + "  launch(to, y.data_ptr<float>(), n, 0);\n"));
  write("reads_canary",
        adding(kByTheHost + "  auto word = torch::zeros({1}, x.options());\n"
                            "  launch(word.data_ptr<float>(), word.data_ptr<float>(), 1, 1);\n"
                            "  y = word.item<float>() == 1 ? made : torch::zeros_like(x);\n"));
}

/// Candidates whose host code computes nothing.
void add_copies(Files& files) {
  const auto write = [&](const std::string& name, const std::string& text) {
    files[kPlace + name + ".cu"] = text;
  };
  const std::string both = "  launch(x.data_ptr<float>(), y.data_ptr<float>(), n, 1, true);\n";
  write("copies_plain", adding(both));
  write("copies_two", adding("  launch(x.data_ptr<float>(), y.data_ptr<float>(), n, 0, true);\n"
                             "  launch(y.data_ptr<float>(), y.data_ptr<float>(), n, 1);\n"));
  write("copies_copies", adding("  x = x.clone().contiguous();\n" + both + "  y = y.clone();\n"));
  write("copies_casts", adding(both + "  y = y.to(torch::kDouble).to(torch::kFloat);\n"));
  write("copies_views", adding(both + "  y = y.view(-1).unsqueeze(0).reshape(x.sizes());\n"));
  write("copies_joins", adding(both + "  y = torch::cat({y.slice(0, 0, 7), y.slice(0, 7)});\n"));
  write("copies_filled", adding("  y = torch::full_like(x, 3);\n" + both));
  write("copies_in_part",
        adding("  y = torch::ones_like(x);\n"
               "  x = x.clone();\n"
               "  for (int first = 0; first < n; first += 512)\n"
               "    launch(x.data_ptr<float>() + first, y.data_ptr<float>() + first,\n"
               "           512, 1, true);\n"));
  write("copies_copies_of_cudas",
        adding("  float* to = nullptr;\n"
               "  cudaMalloc(&to, x.nbytes());\n"
               "  cudaMemset(to, 0, x.nbytes());\n"
               "  cudaMemcpy(to, x.data_ptr<float>(), x.nbytes(), cudaMemcpyDeviceToDevice);\n"
               "  launch(to, to, n, 1, true);\n"
               "  cudaMemcpyAsync(y.data_ptr<float>(), to, x.nbytes(), cudaMemcpyDeviceToDevice);\n"
               "  cudaFree(to);\n"));
  write("copies_kept_buffer",
        adding("  static auto& result = *new torch::Tensor(torch::empty_like(x));\n"
               "  y = result;\n" +
               both));
  write("copies_one_number",
        adding(both + "  TORCH_CHECK(!std::isnan(y.view(-1)[3].item<float>()));\n"
                      "  TORCH_CHECK(!std::isnan(y.cpu().view(-1)[5].item<float>()"
                      "));\n"));
}

/// Adds a problem whose answer may be in memory by chance, and two candidates: one whose kernel
/// computes it, and one with a dead kernel, where torch computes.
void add_pair(Files& files, const std::string& name, const std::string& answer,
              const std::string& input, const std::string& own, const std::string& dead) {
  files["set/level1/" + name + ".py"] = problem_of(answer, input);
  files["candidates/me/" + name + "/" + name + "_own.cu"] = own;
  files["candidates/me/" + name + "/" + name + "_dead.cu"] = dead;
}

constexpr auto kZeros = "torch::zeros_like(x)";

void add_chances(Files& files) {
  // Answers that are all zero, equal to the input, and zero with few exceptions.
  add_pair(files, "2_LateByChance", "torch.relu((x - 6) * 1.5)", "torch.randn(16, 16)",
           extension_of("fmaxf((x[i] - 6) * 1.5f, 0.0f)", kZeros),
           extension_of("y[i] + 0.0f", "torch::relu((x - 6) * 1.5)"));
  add_pair(files, "3_PositiveByChance", "torch.relu(x)", "torch.rand(16, 16)",
           extension_of("fmaxf(y[i], 0.0f)", "x.clone()"),
           extension_of("1.0f", kZeros, "torch::relu(x) + 0 * y"));
  add_pair(files, "4_FewByChance", "torch.relu(x - 2.5)", "torch.randn(16, 16)",
           extension_of("fmaxf(x[i] - 2.5f, 0.0f)", kZeros),
           extension_of("y[i] + 0.0f", "torch::relu(x - 2.5)"));
}

void add_certainties(Files& files) {
  // Answers that do not depend on the input: one value, and a table in memory that is kept.
  add_pair(files, "5_ZeroAlways", "torch.relu(x - x)", "torch.randn(16, 16)",
           extension_of("fmaxf(x[i] - x[i], 0.0f)", kZeros),
           extension_of("y[i] + 0.0f", "torch::relu(x - x)"));
  const std::string kept = "*new torch::Tensor(torch::empty_like(x))";
  add_pair(
      files, "6_TableAlways", "torch.arange(256.).reshape(16, 16) + 0 * x.abs()",
      "torch.randn(16, 16)",
      extension_of("i + 0 * fabsf(x[i])",
                   "[&] { static auto& kept = " + kept + "; return kept; }()"),
      extension_of("y[i] + 0.0f", "torch::arange(256., x.options()).reshape({16, 16}) + 0 * x"));
}

/// A run without options.
const JudgedRun& plain_run() {
  static const JudgedRun kRun = [] {
    Files files{{"set/level1/1_Relu.py", kProblem}};
    add_kernels(files);
    add_reads(files);
    add_chances(files);
    return JudgedRun(files);
  }();
  return kRun;
}

/// A run with `--require own-kernels`.
const JudgedRun& strict_run() {
  static const JudgedRun kRun = [] {
    Files files{{"set/level1/1_Relu.py", kProblem}};
    add_kernels(files);
    add_reads(files);
    add_copies(files);
    add_chances(files);
    add_certainties(files);
    return JudgedRun(files, {"--require", "own-kernels"});
  }();
  return kRun;
}

/// The records of the files that `add` has added.
std::map<std::string, Record> records_of(const JudgedRun& run, void (*add)(Files&)) {
  Files files;
  add(files);
  std::map<std::string, Record> records;
  for (const auto& [path, unused] : files) {
    if (!path.starts_with("candidates/")) continue;
    const std::filesystem::path file(path);
    records.emplace(file.stem().string(), run.of(file.filename().string()));
  }
  return records;
}

const std::map<std::string, std::string> kClasses{{"own", "own"},
                                                  {"needs_them", "own"},
                                                  {"dead_kernels", "library"},
                                                  {"host", "library"},
                                                  {"host_beside_nan", "library"}};

void expect_classes(const std::map<std::string, Record>& records) {
  EXPECT_EQ(records.size(), kClasses.size());
  for (const auto& [name, record] : records) {
    SCOPED_TRACE(name + ": " + record.message);
    EXPECT_EQ(to_string(record.outcome), "correct");
    EXPECT_EQ(record.kernel_class, kClasses.at(name));
    const bool has_dead_kernels = kClasses.at(name) == "library";
    // Its kernel writes nothing unless an input is NaN, so kbench may not find it dead.
    if (name != "host_beside_nan") {
      EXPECT_EQ(std::ranges::count(record.flags, "dead_kernels"), has_dead_kernels ? 1 : 0);
    }
    EXPECT_EQ(std::ranges::count(record.flags, "inputs_read_back"),
              name.starts_with("host") ? 1 : 0);
    EXPECT_EQ(std::ranges::count(record.flags, "ablation_skipped"), name == "needs_them" ? 1 : 0);
  }
}

TEST(Class, KernelsThatChangeNothingMakeNothingOwn) {
  expect_classes(records_of(plain_run(), add_kernels));
  Files files{{"set/level1/1_Relu.py", kProblem}};
  add_kernels(files);
  expect_classes(
      records_of(JudgedRun(files, {"--trials", "1", "--no-distributions"}), add_kernels));
}

TEST(Class, WhoHasToComputeHimselfIsHeldToIt) {
  for (const auto& [name, record] : records_of(strict_run(), add_kernels)) {
    SCOPED_TRACE(name + ": " + record.message);
    EXPECT_EQ(to_string(record.outcome),
              name == "own" || name == "needs_them" ? "correct" : "rejected");
    if (name.starts_with("host")) {
      EXPECT_EQ(record.cause, "not_own_kernels");
      EXPECT_THAT(record.message, HasSubstr("host code reads inputs"));
      EXPECT_FALSE(record.timing.has_value());
    }
  }
}

TEST(HostCode, ThatReadsInputsIsNoKernel) {
  const auto records = records_of(plain_run(), add_reads);
  EXPECT_EQ(records.size(), 8u);
  for (const auto& [name, record] : records) {
    SCOPED_TRACE(name + ": " + record.message);
    EXPECT_EQ(to_string(record.outcome), "correct");
    EXPECT_NE(record.kernel_class, "own");
    EXPECT_NE(record.kernel_class, "none");
    EXPECT_EQ(std::ranges::count(record.flags, "inputs_read_back"), 1);
  }
  for (const auto& [name, record] : records_of(strict_run(), add_reads))
    EXPECT_EQ(record.cause, "not_own_kernels") << name;
}

TEST(HostCode, ThatCopiesCastsJoinsAndFillsIsNone) {
  const auto records = records_of(strict_run(), add_copies);
  EXPECT_EQ(records.size(), 11u);
  for (const auto& [name, record] : records) {
    SCOPED_TRACE(name + ": " + record.message);
    EXPECT_EQ(to_string(record.outcome), "correct");
    EXPECT_EQ(record.kernel_class, "own");
    EXPECT_EQ(std::ranges::count(record.flags, "inputs_read_back"), 0);
  }
}

TEST(ByChance, InputsAreChosenForWhichNoMemoryHoldsTheAnswer) {
  const auto records = records_of(plain_run(), add_chances);
  EXPECT_EQ(records.size(), 6u);
  for (const auto& [name, record] : records) {
    SCOPED_TRACE(name + ": " + record.message);
    EXPECT_EQ(to_string(record.outcome), "correct");
    const bool is_own = name.ends_with("own");
    if (is_own) {
      EXPECT_NE(record.kernel_class, "library");
    } else {
      EXPECT_EQ(record.kernel_class, "library");
    }
    EXPECT_EQ(std::ranges::count(record.flags, "dead_kernels"), is_own ? 0 : 1);
    EXPECT_EQ(std::ranges::count(record.flags, "ablation_skipped"), 0);
  }
  for (const auto& [name, record] : records_of(strict_run(), add_chances)) {
    SCOPED_TRACE(name + ": " + record.message);
    EXPECT_EQ(to_string(record.outcome), name.ends_with("own") ? "correct" : "rejected");
  }
}

TEST(ByChance, WhereMemoryAlwaysHoldsItNothingIsSaid) {
  for (const auto& [name, record] : records_of(strict_run(), add_certainties)) {
    SCOPED_TRACE(name + ": " + record.message);
    EXPECT_EQ(std::ranges::count(record.flags, "dead_kernels"), 0);
    if (name.ends_with("own")) {
      EXPECT_EQ(to_string(record.outcome), "correct");
      EXPECT_EQ(std::ranges::count(record.flags, "ablation_skipped"), 1);
    }
  }
}

}  // namespace
}  // namespace kbench::test
