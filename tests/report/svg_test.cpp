// SPDX-License-Identifier: MIT
// Writing charts with a browser, which a script replaces here. formats_test.py tests a real
// browser.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "base/scratch_folder.hpp"
#include "kbench/error.hpp"
#include "report/format/formats.hpp"
#include "report/report_samples.hpp"

namespace kbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

class Svg : public testing::Test {
 protected:
  /// Makes kbench use a shell script as the browser.
  void use(const std::string& script) {
    namespace fs = std::filesystem;
    const fs::path file = folder_.path() / "chromium";
    std::ofstream(file) << "#!/bin/sh\n" << script << "\n";
    fs::permissions(file, fs::perms::owner_all);
    ::setenv("KBENCH_CHROMIUM", file.c_str(), 1);
  }
  void TearDown() override { ::unsetenv("KBENCH_CHROMIUM"); }

  const ScratchFolder folder_;
  const std::filesystem::path charts_ = folder_.path() / "charts";
  const Report report_ = build_report(samples::gpu_run(), {});
};

TEST_F(Svg, FilesThatTheBrowserPrintsAreWritten) {
  use(R"(for page; do :; done
grep -q showFiles "$page" && echo '<html><script type="application/json" id="files">{"a.svg":"\u003csvg/>"}</script>')");
  report::check_svg(charts_);
  report::write_svg(report_, charts_);
  std::string text;
  std::getline(std::ifstream(charts_ / "a.svg"), text);
  EXPECT_EQ(text, "<svg/>");
}

TEST_F(Svg, ABrowserThatPrintsNoChartsIsAnErrorWithItsWords) {
  use("echo no display >&2");
  EXPECT_THAT([&] { report::write_svg(report_, charts_); },
              ThrowsMessage<Error>(AllOf(HasSubstr("chromium ended"), HasSubstr("no display"))));
}

TEST_F(Svg, WithoutABrowserItIsSaidWhatToInstall) {
  ::setenv("KBENCH_CHROMIUM", "/none", 1);
  EXPECT_THAT([&] { report::check_svg(charts_); }, ThrowsMessage<UsageError>(HasSubstr("install")));
}

}  // namespace
}  // namespace kbench
