// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "os/subprocess.hpp"
#include "record/run_lines.hpp"

namespace kbench {

/// What the lines of one block say, in their order within each kind.
struct Block {
  std::vector<Record> records;
  std::vector<RosterEntry> roster;
  std::vector<std::variant<RunHeader, RunEnd>> marks;
  std::vector<std::pair<std::size_t, std::string>> bad;  ///< (line within the block, what)
  std::vector<std::pair<std::size_t, std::string>> unknown;
  std::size_t lines = 0;
  bool torn = false;
  std::exception_ptr failure;
};

/// A file whose blocks of lines can be read in any order and by several threads; of a file that is
/// being written it shows what was there when it was opened.
class BlockFile {
 public:
  /// Throws UsageError where `path` cannot be read or is no regular file.
  explicit BlockFile(const std::filesystem::path& path);
  std::size_t blocks() const;
  /// Lines, and where in the file the first of them begins.
  struct Lines {
    std::string_view text;
    std::uint64_t offset = 0;
  };
  /// The lines that begin in block `index`, the last one whole even where it ends in another. They
  /// stand in `buffer`, which is best used again: a new one is paged in anew.
  Lines lines(std::size_t index, std::string& buffer) const;

 private:
  /// Appends the bytes from `begin` to `end`.
  void read(std::size_t begin, std::size_t end, std::string& into) const;
  std::filesystem::path path_;
  Fd fd_;
  std::size_t size_ = 0;
};

/// Parses the blocks of a file on all cores and hands them over in their order. It refers to the
/// file, which has to outlive it.
class BlockParser {
 public:
  explicit BlockParser(const BlockFile& file);
  ~BlockParser();
  BlockParser(const BlockParser&) = delete;
  BlockParser& operator=(const BlockParser&) = delete;
  /// The next block; call once for each.
  Block take();

 private:
  void work();
  const BlockFile& file_;
  std::vector<std::unique_ptr<Block>> done_;
  std::size_t next_ = 0, taken_ = 0, ahead_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::thread> threads_;
};

}  // namespace kbench
