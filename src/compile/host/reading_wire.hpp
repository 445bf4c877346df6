// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "compile/host/reading.hpp"

namespace kbench {

using ReadingJob = std::variant<TextsJob, ObjectJob, LogJob>;

/// Limit of one reader's resident size; the largest objects need a tenth of it.
inline constexpr std::size_t kReaderBytes = std::size_t{1} << 30;

/// The first letter of an answer of `kbench-cc --read`.
enum class ReadingEnd : char { kRead = 'r', kFault = 'f', kOutOfMemory = 'm' };

/// Jobs and answers as bytes, without the letter of ReadingEnd. The unpack functions throw
/// kbench::Error if the bytes have another form.
std::string pack(const TextsJob& job);
std::string pack(const ObjectJob& job);
std::string pack(const LogJob& job);
ReadingJob unpack_reading_job(std::string_view bytes);

std::string pack(const TextsRead& read);
std::string pack(const ObjectRead& read);
std::string pack(const LogRead& read);
void unpack(std::string_view bytes, TextsRead& read);
void unpack(std::string_view bytes, ObjectRead& read);
void unpack(std::string_view bytes, LogRead& read);

}  // namespace kbench
