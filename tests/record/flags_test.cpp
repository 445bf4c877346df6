// SPDX-License-Identifier: MIT
#include "record/flags.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>

#include "base/file_tree.hpp"

namespace kbench {
namespace {

using testing::UnorderedElementsAreArray;

/// The names in the first cells of the tables in RUN_FILE.md's chapter about flags.
std::set<std::string> documented() {
  const std::string text = file_text(KBENCH_SOURCE_DIR "/src/record/RUN_FILE.md");
  const std::size_t begin = text.find("### Flags");
  const std::string chapter = text.substr(begin, text.find("\n### ", begin) - begin);
  std::set<std::string> names;
  const std::regex row(R"(\n\| ([^|]*`) \|)"), name(R"(`([^`]+)`)");
  for (std::sregex_iterator at(chapter.begin(), chapter.end(), row), end; at != end; ++at) {
    const std::string cell = (*at)[1];
    for (std::sregex_iterator word(cell.begin(), cell.end(), name); word != end; ++word)
      names.insert((*word)[1]);
  }
  return names;
}

TEST(Flags, AreThoseThatRunFileExplains) {
  std::set<std::string> names;
  for (const FlagRow& row : flags()) {
    EXPECT_TRUE(names.emplace(row.name).second) << row.name << " has two rows";
    EXPECT_FALSE(row.meaning.empty() || row.meaning.ends_with('.')) << row.name;
  }
  EXPECT_THAT(documented(), UnorderedElementsAreArray(names));
}

TEST(Flags, AreFoundByName) {
  ASSERT_NE(find_flag("shared_race"), nullptr);
  EXPECT_TRUE(find_flag("shared_race")->is_unclean);
  EXPECT_FALSE(find_flag("near_tolerance")->is_unclean);
  EXPECT_EQ(find_flag("shared"), nullptr);
}

}  // namespace
}  // namespace kbench
