// SPDX-License-Identifier: MIT
// The live progress line, on a pseudo terminal.
#include "cli/terminal/progress.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/fd.hpp"

namespace kbench::cli {
namespace {

/// Standard error is a terminal while this lives.
class TerminalStderr {
 public:
  explicit TerminalStderr(unsigned short width)
      : before_(dup(STDERR_FILENO)), main_(posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK)) {
    grantpt(main_.value());
    unlockpt(main_.value());
    const Fd terminal(open(ptsname(main_.value()), O_RDWR | O_NOCTTY));
    winsize size{};
    size.ws_row = 24;
    size.ws_col = width;
    ioctl(terminal.value(), TIOCSWINSZ, &size);
    dup2(terminal.value(), STDERR_FILENO);
  }
  ~TerminalStderr() { dup2(before_.value(), STDERR_FILENO); }
  TerminalStderr(const TerminalStderr&) = delete;
  TerminalStderr& operator=(const TerminalStderr&) = delete;

  /// What was written since the last call.
  std::string read() const {
    std::array<char, 4096> chunk{};
    const ssize_t got = ::read(main_.value(), chunk.data(), chunk.size());
    return got > 0 ? std::string(chunk.data(), static_cast<std::size_t>(got)) : std::string();
  }

 private:
  Fd before_, main_;
};

TEST(Progress, ACandidateThatTakesLongIsNamed) {
  Record record;
  record.problem = "level1/1_ReLU";
  record.model = "mine";
  std::string said;
  {
    const TerminalStderr terminal(60);
    Progress progress(false);
    progress.planned(2, 0);
    progress.started(record);
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (said.empty() && std::chrono::steady_clock::now() < limit) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      said = terminal.read();
    }
  }
  EXPECT_THAT(said, testing::HasSubstr("[0/2] still judging level1/1_ReLU mine #0 ("));
}

TEST(Progress, TheLiveLineIsGoneBeforeOtherOutput) {
  std::string line, erased, later;
  {
    const TerminalStderr terminal(60);
    Progress progress(false);
    progress.planned(2, 0);
    progress.done("1_ReLU mine #0: correct", false, 0.1);
    line = terminal.read();
    progress.end();
    erased = terminal.read();
    progress.end();
    later = terminal.read();
  }
  EXPECT_THAT(line, testing::StartsWith("\r[1/2] "));
  EXPECT_EQ(erased, "\r\x1b[K");
  EXPECT_EQ(later, "") << "it is erased once";
}

TEST(Progress, ALineThatIsCutEndsWithADot) {
  std::string line;
  {
    const TerminalStderr terminal(30);
    Progress progress(false);
    progress.note("a message that is longer than 30 columns");
    line = terminal.read();
  }
  EXPECT_EQ(line, "\ra message that is longer tha…\x1b[K");
}

}  // namespace
}  // namespace kbench::cli
