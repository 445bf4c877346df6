// SPDX-License-Identifier: MIT
//
// Whole sources, by the compilers that their halves are for: NVRTC, and the C++ compiler that built
// this. Each source of the folder split/ names in its second line what its host half launches.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "compile/compile_fixture.hpp"
#include "compile/split_fixture.hpp"

namespace kbench {
namespace {

const std::filesystem::path kFolder =
    std::filesystem::path(KBENCH_SOURCE_DIR) / "tests" / "compile" / "split";

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::filesystem::path> sources() {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".cu") found.push_back(entry.path());
  }
  return found;
}

std::vector<std::string> kernels_of(const std::string& source) {
  const std::string mark = "// kernels: ";
  const std::size_t begin = source.find(mark) + mark.size();
  std::istringstream line(source.substr(begin, source.find('\n', begin) - begin));
  std::vector<std::string> names;
  for (std::string name; std::getline(line, name, ';');) {
    names.push_back(name.substr(name.find_first_not_of(' ')));
  }
  return names;
}

struct SplitCompileTest : CompileTest {
  /// What the C++ compiler says of a host half; empty where it is content.
  std::string host_errors(const std::string& name, const std::string& half) const {
    const auto path = folder_.path() / (name + ".cpp");
    std::ofstream(path) << half;
    std::string command = std::string(KBENCH_CXX) + " -std=c++17 -fsyntax-only -w -include " +
                          (kFolder / "prelude.hpp").string();
    for (const auto& include : setup().includes) command += " -isystem " + include.string();
    const auto log = folder_.path() / (name + ".log");
    command += " " + path.string() + " > " + log.string() + " 2>&1";
    const int status = std::system(command.c_str());
    return status == 0 ? "" : content(log) + "\n";
  }
};

TEST_F(SplitCompileTest, TheDeviceCodeCompilesWithItsKernels) {
  CompilePool pool(setup());
  std::vector<std::pair<std::string, std::shared_future<CompileResult>>> futures;
  for (const auto& path : sources()) {
    SCOPED_TRACE(path.filename());
    const std::string source = content(path);
    const SplitSource made = must_split(source);
    for (const std::string& name : kernels_of(source)) {
      const bool is_known =
          std::any_of(made.kernels.begin(), made.kernels.end(), [&name](const SplitKernel& kernel) {
            return kernel.name == name.substr(0, name.find('<')) &&
                   kernel.is_template == (name.find('<') != std::string::npos);
          });
      EXPECT_TRUE(is_known) << name;
    }
    futures.emplace_back(path.filename(), pool.compile(request(made.device, kernels_of(source))));
  }
  EXPECT_GE(futures.size(), 8u);
  for (const auto& [name, future] : futures) {
    SCOPED_TRACE(name);
    EXPECT_FALSE(artifact(future.get()).image.empty());
  }
}

TEST_F(SplitCompileTest, TheHostCodeCompiles) {
  std::size_t count = 0;
  for (const auto& path : sources()) {
    const std::string source = content(path);
    if (source.find("torch") != std::string::npos) continue;  // there may be none here
    EXPECT_EQ(host_errors(path.stem(), must_split(source).host), "") << path;
    ++count;
  }
  EXPECT_GE(count, 6u);
}

TEST_F(SplitCompileTest, ErrorsNameTheSourcesLines) {
  const std::string source =
      "#include <cuda_runtime.h>\n#define OP(name) \\\n  __global__ void name(float* x) { \\\n"
      "    x[0] = missing; }\nOP(\n  k)\nvoid f(float* x) {\n  k<<<1, 1>>>(x, absent);\n}\n";
  const SplitSource made = must_split(source);
  EXPECT_THAT(must_fail(request(made.device, {"k"})).log, testing::HasSubstr("candidate.cu(5)"));
  EXPECT_THAT(host_errors("lines", made.host), testing::HasSubstr("candidate.cu:8"));
}

}  // namespace
}  // namespace kbench
