// SPDX-License-Identifier: MIT
#include "record/run_blocks.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <string_view>

#include "base/json/view.hpp"
#include "kbench/error.hpp"

namespace kbench {
namespace {

// Large enough that parsing takes longer than reading; small enough that the blocks in flight use
// little memory.
constexpr std::size_t kBlockBytes = 1u << 20;
constexpr std::size_t kBlocksAhead = 2;  // per thread, parsed but not yet taken

void add_to_block(Block& block, RunLine line) {
  if (auto* record = std::get_if<Record>(&line)) {
    block.records.push_back(std::move(*record));
  } else if (auto* manifest = std::get_if<std::vector<ManifestEntry>>(&line)) {
    std::ranges::move(*manifest, std::back_inserter(block.manifest));
  } else if (auto* header = std::get_if<RunHeader>(&line)) {
    block.marks.emplace_back(std::move(*header));
  } else if (auto* end = std::get_if<RunEnd>(&line)) {
    block.marks.emplace_back(std::move(*end));
  } else {
    block.unknown.emplace_back(block.lines, std::get<UnknownLine>(line).type);
  }
}

/// The reason why a line is not JSON. Other programs write numbers that JSON does not have.
std::string why_no_json(std::string_view text) {
  for (const std::string_view before : {":", ": ", "[", ", ", ","})
    for (const std::string_view number : {"NaN", "Infinity", "-Infinity"})
      if (text.find(std::string(before).append(number)) != std::string_view::npos)
        return fmt::format("is not JSON: {} is not a number in JSON", number);
  return "is not JSON (cut off or damaged)";
}

/// Parses a line; `reader` is reused from line to line.
void parse_line(Block& block, std::string_view text, bool whole, std::uint64_t offset,
                JsonReader& reader) {
  ++block.lines;
  if (text.find_first_not_of(" \t\r") == std::string_view::npos) return;
  if (!reader.parse(text)) {
    if (whole) {
      block.bad.emplace_back(block.lines, why_no_json(text));
    } else {
      block.torn = true;
    }
    return;
  }
  try {
    RunLine line = run_line_from(reader.root(), Trials::kShown);
    if (auto* record = std::get_if<Record>(&line);
        record != nullptr && std::in_range<std::uint32_t>(text.size()))
      record->place = {.length = static_cast<std::uint32_t>(text.size()), .offset = offset};
    add_to_block(block, std::move(line));
  } catch (const Error& error) {
    block.bad.emplace_back(block.lines, error.what());
  }
}

/// Buffers that a thread reuses from block to block.
struct Scratch {
  std::string text;
  JsonReader reader;
};

Block parse_block(const BlockFile& file, std::size_t index, Scratch& scratch) {
  Block block;
  try {
    const BlockFile::Lines lines = file.lines(index, scratch.text);
    std::string_view rest = lines.text;
    while (!rest.empty()) {
      const std::size_t newline = rest.find('\n');
      const std::uint64_t offset = lines.offset + (lines.text.size() - rest.size());
      parse_line(block, rest.substr(0, newline), newline != std::string_view::npos, offset,
                 scratch.reader);
      rest.remove_prefix(newline == std::string_view::npos ? rest.size() : newline + 1);
    }
  } catch (...) {
    block.failure = std::current_exception();
  }
  return block;
}

}  // namespace

Fd open_run_file(const std::filesystem::path& path) {
  Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.value(), &status) != 0)
    throw UsageError(fmt::format("cannot read {}: {}", path.string(), std::strerror(errno)));
  if (!S_ISREG(status.st_mode))
    throw UsageError(fmt::format("{} is not a run file: it is not a regular file", path.string()));
  return file;
}

BlockFile::BlockFile(const std::filesystem::path& path)
    : path_(path),
      fd_(open_run_file(path)),
      size_(static_cast<std::size_t>(::lseek(fd_.value(), 0, SEEK_END))) {}

std::size_t BlockFile::blocks() const { return (size_ + kBlockBytes - 1) / kBlockBytes; }

BlockFile::Lines BlockFile::lines(std::size_t index, std::string& buffer) const {
  const std::size_t begin = index * kBlockBytes;
  const std::size_t end = std::min(size_, begin + kBlockBytes);
  // Reads one byte more, because the byte before `begin` tells if a line starts there.
  const std::size_t from = begin == 0 ? 0 : begin - 1;
  buffer.clear();
  read(from, end, buffer);
  std::size_t first = 0;
  if (begin != 0) {
    first = buffer.find('\n');
    if (first == std::string::npos || first + 1 == buffer.size()) return {};
    ++first;
  }
  for (std::size_t next = end; next < size_ && buffer.back() != '\n';) {
    const std::size_t stop = std::min(size_, next + kBlockBytes / 16);
    const std::size_t had = buffer.size();
    read(next, stop, buffer);
    if (const std::size_t newline = buffer.find('\n', had); newline != std::string::npos)
      buffer.resize(newline + 1);
    next = stop;
  }
  return {std::string_view(buffer).substr(first), from + first};
}

void BlockFile::read(std::size_t begin, std::size_t end, std::string& into) const {
  const std::size_t had = into.size();
  into.resize(had + (end - begin));
  if (read_at(fd_.value(), begin, into.data() + had, end - begin) < end - begin)
    throw Error(
        fmt::format("cannot read {}: {}", path_.string(),
                    errno != 0 ? std::strerror(errno) : "it became shorter while kbench read it"));
}

BlockParser::BlockParser(const BlockFile& file) : file_(file), done_(file.blocks()) {
  const std::size_t cores = std::clamp(std::thread::hardware_concurrency(), 1u, 8u);
  const std::size_t count = std::min(cores, file.blocks());
  ahead_ = count * kBlocksAhead;
  for (std::size_t i = 0; i < count; ++i) threads_.emplace_back([this] { work(); });
}

BlockParser::~BlockParser() {
  {
    const std::scoped_lock lock(mutex_);
    next_ = done_.size();
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

Block BlockParser::take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return done_[taken_] != nullptr; });
  const std::unique_ptr<Block> block = std::move(done_[taken_++]);
  changed_.notify_all();
  return std::move(*block);
}

void BlockParser::work() {
  Scratch scratch;
  while (true) {
    std::size_t index = 0;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return next_ >= done_.size() || next_ < taken_ + ahead_; });
      if (next_ >= done_.size()) return;
      index = next_++;
    }
    auto block = std::make_unique<Block>(parse_block(file_, index, scratch));
    {
      const std::scoped_lock lock(mutex_);
      done_[index] = std::move(block);
    }
    changed_.notify_all();
  }
}

}  // namespace kbench
