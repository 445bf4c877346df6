// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "compile/compile.hpp"

namespace kbench {

/// The name under which every source is compiled, so that equal sources give equal images. Messages
/// and logs show the candidate's own name instead.
inline constexpr std::string_view kSourceName = "candidate.cu";

/// Maximum size of a log; the rest is cut off.
inline constexpr std::size_t kMaxLogBytes = 256 * std::size_t{1024};
/// Maximum size of kbench-cc's standard output.
inline constexpr std::size_t kMaxAnswerBytes = std::size_t{256} << 20;

/// One job, which kbench-cc reads from its standard input.
struct CompilerJob {
  std::filesystem::path nvrtc;
  std::vector<std::filesystem::path> includes;
  std::size_t memory_bytes = 0;  ///< limit of its resident size
  CompileRequest request;
};

/// The fields of an error, in a message or a cache.
nlohmann::json error_json(const CompileError& error);
CompileError error_from_json(const nlohmann::json& head);

/// A job or result as bytes: "<head bytes> <body bytes>\n", a JSON head, a body (the source or the
/// image). The unpack functions throw kbench::Error if the bytes have another form.
std::string pack(const CompilerJob& job);
std::string pack(const CompileResult& result);
/// Packs a fault of kbench-cc in place of a result; unpack_result() throws it as CompilerFault.
std::string pack_fault(std::string_view message);
CompilerJob unpack_job(std::string_view bytes);
CompileResult unpack_result(std::string_view bytes);

}  // namespace kbench
