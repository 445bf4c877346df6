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

/// The place of the chosen code in a model's answer. Lines count from 1, fences excluded.
struct CodeBlock {
  std::size_t first_line = 1, last_line = 0;
  std::string language;  ///< the language that the fence names, even if wrong; "" if none
  bool fenced = false;   ///< false: the answer has no fences and is code as a whole
  bool operator==(const CodeBlock&) const = default;
};

/// What extract_code found in an answer.
struct ExtractedCode {
  /// The chosen code, after one empty line for each line before it, so that line numbers of errors
  /// are those of the answer. "" if there is no code.
  std::string source;
  CandidateKind kind = CandidateKind::kKernel;
  std::optional<CodeBlock> block;
  std::size_t blocks = 0;  ///< fenced blocks outside of thinking, nested ones included
  /// True for an answer with blocks or thinking. False for plain code, even if its comments have
  /// fences.
  bool is_answer = false;
  /// If there is no code: the cause slug "no_code_block", "no_candidate_block", "hidden_code" or
  /// "truncated", and one sentence.
  std::string cause, message;
};

/// Finds the code in a model's answer (Markdown, or plain text). The content decides what a block
/// is, not the language that its fence names.
///
///  1. Code inside <think>…</think> and similar tags is ignored. If only the end tag is there, all
///     text before it is thinking. If the end tag is missing, the answer is "truncated".
///  2. The last block that defines ModelNew is chosen. If there is none: the last with a plan and a
///     kernel; else the last with a kernel and a torch::Tensor, or with a PYBIND11_MODULE. Blocks
///     are never joined.
///  3. Fences are those of CommonMark (``` or ~~~, three or more), at any indentation, in lists,
///     and after tags like <answer>. Inside a block, a fence with a language opens a nested block,
///     and the outer block excludes its lines. So an answer wrapped in ```markdown is read through,
///     and an example in a docstring stays part of its code only.
///  4. If the chosen block has no closing fence, the answer is "truncated". The same holds if no
///     block can be chosen and one has no closing fence.
///  5. If no block can be chosen but the text outside of blocks is a candidate, the whole text is
///     the code. For an extension this holds only if there are no blocks.
///  6. Parts that a rendered page does not show (HTML comments, hidden elements) are ignored. An
///     unfenced answer with such a part is "hidden_code".
///
/// Takes time and memory linear in the length of the text.
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
  /// A module's accompanying files: files that its source names, by that name. Other candidates are
  /// not among them.
  std::map<std::string, std::string> files;
  std::optional<CodeBlock> block;  ///< the place of `source`, if it comes from an answer
  std::size_t blocks = 0;          ///< fenced blocks of that answer
  /// Set if the file is not code that can be judged: outcome `rejected` (or `missing`), the cause
  /// slug ("not_utf8", "not_text", "empty", "oversized", "unreadable", "no_code", "other_encoding",
  /// "other_problem", "not_a_module", or a cause of extract_code) and one sentence.
  std::string reject_cause, reject_message;
};

/// In bytes. Larger files are not read, but `rejected` as oversized.
inline constexpr std::size_t kMaxCandidateBytes = 4u << 20;

/// A place to search for candidates: a file or folder, and the model they are attributed to.
struct CandidateSource {
  std::optional<std::string> model;  ///< from "MODEL=PATH"
  std::filesystem::path path;
};

/// Parses "PATH" or "MODEL=PATH". A text that exists as a path is a path, even if it has a "=".
/// Throws UsageError if the model or the path is empty.
CandidateSource parse_candidate_source(std::string_view argument);

/// Candidates that a run leaves out, because they belong to none of its problems.
struct LeftOut {
  std::size_t count = 0;
  /// The paths of the first ones, each with the reason if the path does not show it.
  std::vector<std::string> first;
};
/// "7 candidates belong to no problem of the run: a.cu, b.cu, 5 more"; empty if there are none.
std::string left_out_text(const LeftOut& left_out);

/// What find_candidates found.
struct FoundCandidates {
  std::vector<Candidate> candidates;  ///< sorted by problem, model, sample
  LeftOut left_out;
  /// The first file that is named as in a KernelBench run folder, by numbers only; empty: none.
  std::string first_numbered = {};
  std::vector<std::string> notes;  ///< sentences about other files, for stderr
};

/// Finds candidates for `problems` under `sources` and gives each its problem, model and sample.
///
/// Problem: the path names it. The path is a file of a KernelBench run folder
/// (level_L_problem_P_sample_S_kernel.py), has a folder with a problem's name above the file
/// ("19_ReLU", "level1_19_ReLU", "level1/19_ReLU"), or the file's stem is the name. If the path
/// names no problem, or several, `//@ problem NAME` in a .cu file or in an answer's kernel decides.
/// If that line and the path name different problems, the candidate is rejected ("other_problem").
///
/// Model: `MODEL=PATH`, else `model_name:` in the generation_config.yaml of the folder above the
/// problem's (a run folder's own), else that folder's name. Sample: the number in a run folder's
/// file name, else counted in natural order of paths.
///
/// A model's answer (.md, .txt) in a folder is a candidate if its path names a problem, its name a
/// sample ("0.md", "sample_3.txt", "level_1_problem_19_sample_0.txt"), and no code file of that
/// name lies next to it. So prompts, notes and licences are not candidates. A .cu file in a folder
/// below a module's that the module names is part of that module. Links that leave a source are not
/// followed.
///
/// A file that is not code becomes a candidate with reject fields, so that metrics count it as a
/// failure. A candidate that belongs to none of `problems` is left out and counted. Throws
/// UsageError if all candidates name no problem at all, if a candidate is given twice, and for a
/// source without candidates.
FoundCandidates find_candidates(const std::vector<CandidateSource>& sources,
                                const std::vector<Problem>& problems);

/// One candidate for one problem (`--candidate FILE --problem P`). Throws UsageError if the file
/// does not exist or is not a .cu, .py, .md or .txt file. A file that cannot be read or is not code
/// is rejected.
Candidate load_candidate(const std::filesystem::path& path, const Problem& problem,
                         std::string model, int sample);

/// One file by itself, without problem, model and sample. Throws as load_candidate.
Candidate read_candidate(const std::filesystem::path& path);

/// The same, with the problem among `problems` that the path or the code names. If they name none,
/// or several, `unplaced` becomes a sentence that says so.
Candidate read_candidate(const std::filesystem::path& path, const std::vector<Problem>& problems,
                         std::string* unplaced);

/// The hash of the candidate's source and its accompanying files.
std::string candidate_hash(const Candidate& candidate);

/// Decides the kind from name and content, and fills the reject fields if the bytes are not code. A
/// .py file is a module. For .md or .txt, `source` becomes the chosen code (extract_code). Other
/// code is a kernel if it has a `//@` line besides `//@ problem`, else an extension.
void classify(Candidate& candidate, std::string_view file_name);

/// The same for a text without a file name. The text is an answer if it has code blocks or
/// thinking, else code. Code that defines ModelNew is a module.
void classify(Candidate& candidate);

}  // namespace kbench
