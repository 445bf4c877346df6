// SPDX-License-Identifier: MIT
#include "compile/host/implicit_headers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kbench {
namespace {

using testing::HasSubstr;
using testing::Optional;
using testing::StartsWith;

std::optional<std::string> missing(const std::vector<std::string>& texts, bool is_bound = false) {
  std::vector<HostText> named;
  named.reserve(texts.size());
  for (const auto& text : texts) named.push_back({"k.py", text});
  return name_without_header(named, is_bound);
}

TEST(ImplicitHeaders, WhoBringsThemLacksNothing) {
  for (const char* include :
       {"#include <torch/extension.h>", "#include \"torch/types.h\"", "# include <ATen/ATen.h>",
        "#include <c10/cuda/CUDAStream.h>", "#include <pybind11/pybind11.h>", "#include HEADER"})
    EXPECT_EQ(missing({std::string(include) + "\nat::Tensor f(at::Tensor x);\n"}, true),
              std::nullopt)
        << include;
  // The texts are one file.
  EXPECT_EQ(missing({"#include <torch/types.h>\n", "torch::Tensor f();\n"}), std::nullopt);
}

TEST(ImplicitHeaders, ANameBeforeThemIsUndeclaredAtItsLine) {
  EXPECT_THAT(missing({"#include <cuda.h>\n\ntorch::Tensor f();\n#include <torch/types.h>\n"}),
              Optional(StartsWith("k.py:3: 'torch' has not been declared: with no_implicit_head")));
  EXPECT_THAT(missing({"void f() {\n  TORCH_CHECK(true);\n}\n"}),
              Optional(StartsWith("k.py:2: 'TORCH_CHECK' has not been declared")));
  EXPECT_THAT(missing({"int x;", "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {}"}),
              Optional(StartsWith("k.py:1: 'PYBIND11_MODULE'")));
}

TEST(ImplicitHeaders, WhatIsNoneOfTorchsNamesNeedsNone) {
  EXPECT_EQ(
      missing({"// torch::Tensor\nconst char* s = \"at::Tensor\";\nint at = 1; int torch(int);\n"
               "int f(V v) { return v.at(0) + torch(at ? 1 : 2); }\n"}),
      std::nullopt);
  EXPECT_EQ(missing({"namespace at { class Tensor; }\nvoid f(at::Tensor& x);\n"}), std::nullopt);
  EXPECT_EQ(missing({}, true), std::nullopt);
}

TEST(ImplicitHeaders, FunctionsAreBoundByPybind) {
  EXPECT_THAT(missing({"int f(int x);\n"}, true),
              Optional(HasSubstr("none of the cpp_sources includes <torch/extension.h>")));
}

}  // namespace
}  // namespace kbench
