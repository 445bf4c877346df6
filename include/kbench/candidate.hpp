// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/problem.hpp"

namespace kbench {

/// The three forms of a candidate; src/candidate/CANDIDATES.md says how each runs.
enum class CandidateKind : std::uint8_t { kKernel, kExtension, kModule };

std::string_view to_string(CandidateKind kind);
std::optional<CandidateKind> candidate_kind_from_name(std::string_view name);

/// The place of the code that counts in an answer. Lines count from 1, fences excluded.
struct CodeBlock {
  std::size_t first_line = 1, last_line = 0;
  std::string language;  ///< as the fence claims, true or not; "" if it claims none
  bool fenced = false;   ///< false: an answer without fences is code as a whole
  bool operator==(const CodeBlock&) const = default;
};

/// What extract_code found in an answer.
struct ExtractedCode {
  /// The code, with an empty line in place of each line before it, so that line numbers of errors
  /// are those of the answer; "" if none counts.
  std::string source;
  CandidateKind kind = CandidateKind::kKernel;
  std::optional<CodeBlock> block;
  std::size_t blocks = 0;  ///< fenced blocks outside of thinking, nested ones included
  /// True if the text has fenced blocks or thinking, and is not code with fences in its comments.
  bool is_answer = false;
  /// If none counts: the cause slug "no_code_block", "no_candidate_block", "hidden_code" or
  /// "truncated", and one sentence.
  std::string cause, message;
};

/// Finds the code in a model's answer (Markdown, or plain text). The content decides what a block
/// is, not the language that its fence names.
///
///  1. <think>…</think> and its like never count. If only the end tag is there, all text before it
///     is thinking. A missing end tag is "truncated".
///  2. The last block that defines ModelNew counts. If there is none: the last with a plan and a
///     kernel; else the last with a kernel and a torch::Tensor, or with a PYBIND11_MODULE. Blocks
///     are never joined.
///  3. Fences are those of CommonMark (``` or ~~~, three or more), at any indentation, in lists,
///     and after tags like <answer>. A fence with a language inside of a block opens a nested
///     block, whose lines are not the outer block's. So an answer wrapped in ```markdown is read
///     through, and an example in a docstring belongs to its code only.
///  4. A block that counts but has no closing fence is "truncated"; so is an answer in which no
///     block counts and one has no closing fence.
///  5. If no block counts, the whole text is code, if the text outside of blocks would count (for
///     an extension: only if there are no blocks).
///  6. Parts that a rendered page does not show (HTML comments, hidden elements) never count; an
///     unfenced answer with such a part is "hidden_code".
///
/// Takes time and memory linear in the text, whatever it holds.
ExtractedCode extract_code(std::string_view answer);

/// Code that claims to compute a problem's reference, with where it comes from.
struct Candidate {
  std::string id;       ///< caller's id (`--candidates -`), else the path as shown to people
  std::string model;    ///< its author
  std::string problem;  ///< Problem::key
  int sample = 0;       ///< n-th candidate of that model for that problem, from 0
  CandidateKind kind = CandidateKind::kKernel;
  std::filesystem::path path;  ///< empty if it came by standard input
  std::string source;
  /// The accompanying files of a module that its source names, by that name; none is another
  /// candidate.
  std::map<std::string, std::string> files;
  std::optional<CodeBlock> block;  ///< the place of `source`, if it comes from an answer
  std::size_t blocks = 0;          ///< of that answer
  /// Set if the file cannot be judged as code at all: outcome `rejected` (or `missing`), the cause
  /// slug ("not_utf8", "not_text", "empty", "oversized", "unreadable", "no_code", "other_encoding",
  /// "other_problem", "not_a_module", or one of extract_code) and one sentence.
  std::string reject_cause, reject_message;
};

/// In bytes. Larger files are not read, but `rejected` as oversized.
inline constexpr std::size_t kMaxCandidateBytes = 4u << 20;

/// A place to search for candidates: a file or folder, and the model they are attributed to.
struct CandidateSource {
  std::optional<std::string> model;  ///< from "MODEL=PATH"
  std::filesystem::path path;
};

/// Parses "PATH" or "MODEL=PATH". A text that exists as a path is a path, whatever characters it
/// has. Throws UsageError if the model or the path is empty.
CandidateSource parse_candidate_source(std::string_view argument);

/// What find_candidates found.
struct FoundCandidates {
  std::vector<Candidate> candidates;  ///< sorted by problem, model, sample
  std::size_t of_other_problems = 0;  ///< left out: their problem is not among those asked for
  std::vector<std::string> notes;     ///< a sentence for each thing left out, for stderr
};

/// Finds candidates for `problems` under `sources` and gives each its problem, model and sample.
///
/// Problem: what the path names. That is a file of a KernelBench run folder
/// (level_L_problem_P_sample_S_kernel.py), a folder with a problem's name above it ("19_ReLU",
/// "level1_19_ReLU", "level1/19_ReLU"), or the file's own stem. If the path names none, or several,
/// `//@ problem NAME` in a .cu file or in an answer's kernel decides. A line that names another
/// problem than the path does makes the candidate rejected ("other_problem").
///
/// Model: `MODEL=PATH`, else `model_name:` in the generation_config.yaml of the folder above the
/// problem's (a run folder's own), else that folder's name. Sample: the number in a run folder's
/// file name, else counted in natural order of paths.
///
/// A model's answer (.md, .txt) in a folder is a candidate only if its path names a problem, its
/// name a sample ("0.md", "sample_3.txt", "level_1_problem_19_sample_0.txt"), and no code of that
/// name lies next to it: prompts, notes and licences are none. A .cu file in a folder below a
/// module's that the module names is part of that module. Links are followed within a source only.
///
/// Bytes that are no code make a candidate with reject fields, so that it stays in the
/// denominators. A candidate of a problem that is not among `problems` is left out and counted. A
/// candidate that belongs to no problem at all is left out, with a note. Throws UsageError if there
/// is no other one, if one is given twice, and for a source without candidates.
FoundCandidates find_candidates(const std::vector<CandidateSource>& sources,
                                const std::vector<Problem>& problems);

/// One candidate for one problem (`--candidate FILE --problem P`). Throws UsageError if there is no
/// such file or it is none of .cu, .py, .md and .txt. A file that cannot be read or is no code is
/// rejected.
Candidate load_candidate(const std::filesystem::path& path, const Problem& problem,
                         std::string model, int sample);

/// One file by itself; its problem, model and sample stay open. Throws as load_candidate.
Candidate read_candidate(const std::filesystem::path& path);

/// Also sets the one of `problems` that the path or the code names. If that is none, or several,
/// `unplaced` becomes a sentence that says so.
Candidate read_candidate(const std::filesystem::path& path, const std::vector<Problem>& problems,
                         std::string* unplaced);

/// The hash of the candidate's source and its accompanying files.
std::string candidate_hash(const Candidate& candidate);

/// Decides the kind from name and content, and fills the reject fields for bytes that are no code.
/// A .py file is a module. For .md or .txt, `source` becomes the code block that counts
/// (extract_code). Else a `//@` line other than `//@ problem` makes a kernel; without one it is an
/// extension.
void classify(Candidate& candidate, std::string_view file_name);

/// The same for a text without a file name: an answer if it has code blocks or thinking, else code
/// as it is, which is a module if it defines ModelNew.
void classify(Candidate& candidate);

}  // namespace kbench
