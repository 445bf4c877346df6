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

/// The content of one block's lines, in file order within each kind.
struct Block {
  std::vector<Record> records;
  std::vector<ManifestEntry> manifest;
  std::vector<std::variant<RunHeader, RunEnd>> marks;
  std::vector<std::pair<std::size_t, std::string>> bad;  ///< (line within the block, error)
  std::vector<std::pair<std::size_t, std::string>> unknown;
  std::size_t lines = 0;
  bool torn = false;
  std::exception_ptr failure;
};

/// Opens a run file for reading. Throws UsageError if that is impossible or it is not a regular
/// file.
Fd open_run_file(const std::filesystem::path& path);

/// A file whose blocks of lines can be read in any order and by several threads. Lines that another
/// process appends after the opening are not read.
class BlockFile {
 public:
  /// Throws UsageError if `path` cannot be read or is not a regular file.
  explicit BlockFile(const std::filesystem::path& path);
  std::size_t blocks() const;
  /// Lines, and the file offset of the first one in bytes.
  struct Lines {
    std::string_view text;
    std::uint64_t offset = 0;
  };
  /// The lines that begin in block `index`. The last one is complete, even if it ends in a later
  /// block. They point into `buffer`. Reuse one buffer for many calls, because new memory pages
  /// cost time.
  Lines lines(std::size_t index, std::string& buffer) const;

 private:
  /// Appends the bytes from `begin` to `end`.
  void read(std::size_t begin, std::size_t end, std::string& into) const;
  std::filesystem::path path_;
  Fd fd_;
  std::size_t size_ = 0;
};

/// Parses the blocks of a file on up to eight threads and returns them in order. `file` has to
/// outlive the parser.
class BlockParser {
 public:
  explicit BlockParser(const BlockFile& file);
  ~BlockParser();
  BlockParser(const BlockParser&) = delete;
  BlockParser& operator=(const BlockParser&) = delete;
  /// Waits for the next block. Call it once for each block.
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
