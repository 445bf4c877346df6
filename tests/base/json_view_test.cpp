// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/json/view.hpp"
#include "kbench/error.hpp"

namespace kbench {
namespace {

using nlohmann::json;

TEST(JsonView, HoldsWhatIsThere) {
  const json value = {{"text", "a\"\n\u20ac"}, {"natural", 18446744073709551615u},
                      {"signed", 4},           {"negative", -5},
                      {"float", 0.1},          {"none", nullptr},
                      {"yes", true},           {"list", {1, 2}},
                      {"object", {{"x", 1}}}};
  const JsonReader reader(value);
  const JsonView view = reader.root();
  EXPECT_TRUE(view.is_object() && !view.is_array() && !view.is_null());
  EXPECT_EQ(view.size(), value.size());
  EXPECT_EQ(view.find("text")->text(), "a\"\n\u20ac");
  EXPECT_FALSE(view.find("text")->number() || view.find("text")->boolean());
  EXPECT_EQ(view.find("natural")->natural(), 18446744073709551615u);
  EXPECT_EQ(view.find("signed")->natural(), 4u);
  EXPECT_EQ(view.find("signed")->negative(), std::nullopt);
  EXPECT_EQ(view.find("negative")->natural(), std::nullopt);
  EXPECT_EQ(view.find("negative")->negative(), -5);
  EXPECT_EQ(view.find("negative")->number(), -5);
  EXPECT_EQ(view.find("float")->number(), 0.1);
  EXPECT_EQ(view.find("float")->natural(), std::nullopt);
  EXPECT_EQ(view.find("yes")->boolean(), true);
  EXPECT_TRUE(view.find("none")->is_null());
  EXPECT_FALSE(view.find("nothing"));
  EXPECT_FALSE(view.find("list")->find("x"));
  std::vector<double> items;
  for (const JsonView item : *view.find("list")) items.push_back(item.number().value());
  EXPECT_EQ(items, (std::vector<double>{1, 2}));
  for (const JsonView item : *view.find("object")) EXPECT_EQ(item.key(), "x");
  for (const JsonView item : *view.find("yes")) FAIL() << item.key();
  EXPECT_EQ(view.to_json(), value);
}

TEST(JsonReader, TakesOneTextAfterAnother) {
  JsonReader reader;
  ASSERT_TRUE(reader.parse(R"({"long":"text","list":[1,2,3,4,5,6,7,8]})"));
  EXPECT_FALSE(reader.parse("{\"cut\":[1"));
  EXPECT_FALSE(reader.parse("{\"a\":NaN}"));
  EXPECT_FALSE(reader.parse(""));
  ASSERT_TRUE(reader.parse("[\"a\"]"));
  EXPECT_EQ(reader.root().to_json(), json({"a"}));
}

TEST(JsonReader, SaysOfWhatIsTooDeepThatItIs) {
  json deep;
  for (int i = 0; i < 2000; ++i) deep = json::array({std::move(deep)});
  EXPECT_THROW(JsonReader{deep}, Error);
}

}  // namespace
}  // namespace kbench
