// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <limits>

#include "kbench/problem.hpp"

namespace kbench {
namespace {

TEST(DType, EveryRowIsFoundByItsNameWithAndWithoutTorch) {
  for (const DTypeRow& row : dtypes()) {
    EXPECT_EQ(dtype_from_name(row.name), row.dtype) << row.name;
    EXPECT_EQ(dtype_from_name("torch." + std::string(row.name)), row.dtype) << row.name;
    EXPECT_EQ(dtype_row(row.dtype).name, row.name);
    EXPECT_FALSE(row.cuda_type.empty()) << row.name;
  }
}

TEST(DType, SizesAreThoseOfTheCppTypes) {
  EXPECT_EQ(dtype_row(DType::kFloat32).size_bytes, sizeof(float));
  EXPECT_EQ(dtype_row(DType::kFloat64).size_bytes, sizeof(double));
  EXPECT_EQ(dtype_row(DType::kFloat16).size_bytes, 2u);
  EXPECT_EQ(dtype_row(DType::kBFloat16).size_bytes, 2u);
  EXPECT_EQ(dtype_row(DType::kInt16).size_bytes, sizeof(short));
  EXPECT_EQ(dtype_row(DType::kInt64).size_bytes, sizeof(long long));
  EXPECT_TRUE(dtype_row(DType::kBFloat16).floating);
  EXPECT_FALSE(dtype_row(DType::kBool).floating);
}

TEST(DType, UnknownNamesHaveNoDType) {
  for (const char* name : {"", "float", "torch.", "Float32", "float32 ", "complex64"}) {
    EXPECT_EQ(dtype_from_name(name), std::nullopt) << name;
  }
}

TEST(DType, NumelMultipliesAndSaturates) {
  EXPECT_EQ(numel({}), 1);
  EXPECT_EQ(numel({3, 4, 5}), 60);
  EXPECT_EQ(numel({1ll << 40, 1ll << 40}), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(numel({1ll << 40, 1ll << 40, 0}), 0);
}

}  // namespace
}  // namespace kbench
