// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "base/json/tree.hpp"
#include "record/run_samples.hpp"

namespace kbench {
namespace {

using nlohmann::json;

/// nlohmann::json decides what a text means; both parsers have to agree with it.
void expect_as_nlohmann(const std::string& text) {
  const json expected = json::parse(text, nullptr, false);
  JsonTree tree;
  EXPECT_EQ(tree.parse(text), !expected.is_discarded()) << text;
  if (!expected.is_discarded()) {
    EXPECT_EQ(tree.root().to_json(), expected) << text;
  }
  EXPECT_EQ(tree.parse_with_nlohmann(text), !expected.is_discarded()) << text;
  if (!expected.is_discarded()) {
    EXPECT_EQ(tree.root().to_json(), expected) << text;
  }
}

TEST(JsonTree, HoldsWhatIsThere) {
  for (const char* text : {"null",
                           "true",
                           "false",
                           "0",
                           "-0",
                           "-1",
                           "1.5",
                           "-1e-7",
                           "18446744073709551615",
                           "18446744073709551616",
                           "-9223372036854775808",
                           "-9223372036854775809",
                           "1e400",
                           R"("")",
                           R"("a\"\\\/\b\f\n\r\t\u20ac\ud83d\ude80")",
                           "[]",
                           "{}",
                           "[[],[1,[2,3],4],{}]",
                           R"({"a":{"b":[{"c":null},{"d":"e"}]},"f":[1,2,3],"g":-2.5})",
                           R"({"a":1,"a":2,"a":3})",
                           R"( {"a" : [ 1 , 2 ] } )",
                           "\xef\xbb\xbf{}"})
    expect_as_nlohmann(text);
  expect_as_nlohmann(std::string(3000, '[') + std::string(3000, ']'));
}

TEST(JsonTree, RefusesWhatIsNoJson) {
  for (const char* text : {"", " ", "{", "[1,]", "{\"a\"}", "nul", "NaN", "01", "1.", "+1", "'a'",
                           "\"a", "\"\\x\"", "\"\t\"", "\"\xff\"", "{} {}", "[1] 2", "\"\\ud800\""})
    expect_as_nlohmann(text);
}

TEST(JsonTree, AgreesOnLinesThatWereDamaged) {
  const std::string line = to_json(samples::observed()).dump();
  expect_as_nlohmann(line);
  std::mt19937 random(1);
  const std::string bytes = "{}[]\",:\\0-eE.tn\x01\x80 ";
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = line;
    for (auto n = random() % 3 + 1; n > 0; --n)
      damaged[random() % damaged.size()] = bytes[random() % bytes.size()];
    expect_as_nlohmann(damaged);
  }
}

TEST(JsonIndex, FindsWhatGoingOverTheChildrenFinds) {
  const auto found = [](const std::optional<JsonView>& view) {
    return view ? view->to_json() : json("none");
  };
  JsonTree tree;
  for (const std::size_t names : {JsonIndex::kLeast, JsonIndex::kMost}) {
    json object;
    for (std::size_t i = 0; i < names; ++i) object[std::string(i, 'a')] = i;
    const std::string text = object.dump();
    // Of names that stand there twice, the one that counts is the same.
    ASSERT_TRUE(tree.parse(names < JsonIndex::kMost ? "{\"aa\":-1," + text.substr(1) : text));
    ASSERT_TRUE(JsonIndex::suits(tree.root()));
    const JsonIndex index(tree.root());
    for (std::size_t i = 0; i <= names; ++i) {
      const std::string name(i, 'a');
      EXPECT_EQ(found(index.find(name)), found(tree.root().find(name))) << i;
    }
    EXPECT_FALSE(index.find("b"));
  }
  ASSERT_TRUE(tree.parse(R"({"few":1})"));
  EXPECT_FALSE(JsonIndex::suits(tree.root()));
}

TEST(JsonTree, IsUsedAgainForTheNextText) {
  JsonTree tree;
  ASSERT_TRUE(tree.parse(R"({"long":"text","list":[1,2,3,4,5,6,7,8]})"));
  EXPECT_FALSE(tree.parse("{\"cut\":[1"));
  ASSERT_TRUE(tree.parse("[\"a\"]"));
  EXPECT_EQ(tree.root().to_json(), json({"a"}));
}

TEST(JsonView, AnswersAlikeOverBoth) {
  const json value = {{"text", "a"},    {"natural", 3u},  {"signed", 4},
                      {"negative", -5}, {"float", 0.5},   {"none", nullptr},
                      {"yes", true},    {"list", {1, 2}}, {"object", {{"x", 1}}}};
  JsonTree tree;
  ASSERT_TRUE(tree.parse(value.dump()));
  for (const JsonView view : {JsonView(value), tree.root()}) {
    EXPECT_TRUE(view.is_object() && !view.is_array() && !view.is_null());
    EXPECT_EQ(view.size(), value.size());
    EXPECT_EQ(view.find("text")->text(), "a");
    EXPECT_FALSE(view.find("text")->number() || view.find("text")->boolean());
    EXPECT_EQ(view.find("natural")->natural(), 3u);
    EXPECT_EQ(view.find("signed")->natural(), 4u);
    EXPECT_EQ(view.find("signed")->negative(), std::nullopt);
    EXPECT_EQ(view.find("negative")->natural(), std::nullopt);
    EXPECT_EQ(view.find("negative")->negative(), -5);
    EXPECT_EQ(view.find("negative")->number(), -5);
    EXPECT_EQ(view.find("float")->number(), 0.5);
    EXPECT_EQ(view.find("float")->natural(), std::nullopt);
    EXPECT_EQ(view.find("yes")->boolean(), true);
    EXPECT_TRUE(view.find("none")->is_null());
    EXPECT_FALSE(view.find("nothing"));
    EXPECT_FALSE(view.find("list")->find("x"));
    std::vector<double> items;
    for (const JsonView item : *view.find("list")) items.push_back(item.number().value());
    EXPECT_EQ(items, (std::vector<double>{1, 2}));
    for (const JsonView item : *view.find("object")) EXPECT_EQ(item.key(), "x");
    EXPECT_EQ(view.to_json(), value);
  }
}

}  // namespace
}  // namespace kbench
