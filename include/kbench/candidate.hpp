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

/// Where in an answer the code stands that counts. Lines count from 1, fences excluded.
struct CodeBlock {
  std::size_t first_line = 1, last_line = 0;
  std::string language;  ///< as the fence says it, whether true or not; "" where it says nothing
  bool fenced = false;   ///< false: an answer without fences is code as a whole
  bool operator==(const CodeBlock&) const = default;
};

/// What extract_code found in an answer.
struct ExtractedCode {
  /// The code with an empty line in place of each line before it, so that line numbers of errors
  /// are those of the answer; "" where none counts.
  std::string source;
  CandidateKind kind = CandidateKind::kKernel;
  std::optional<CodeBlock> block;
  std::size_t blocks = 0;  ///< fenced blocks outside of thinking, nested ones included
  /// Fenced blocks or thinking, and not code as it is that has fences in its comments.
  bool is_answer = false;
  /// Where none counts, why: the cause slug "no_code_block", "no_candidate_block", "hidden_code" or
  /// "truncated", and one sentence.
  std::string cause, message;
};

/// Finds the code that a model's answer (Markdown, or plain text) gives. What a block is follows
/// from its content; the language that its fence names is not believed.
///  1. <think>…</think> and its like never count; where only the end is there, nor does what stands
///     before it. An end that never comes is "truncated".
///  2. Of blocks that define ModelNew the last one counts; where there is none, of those with a
///     plan and a kernel the last; else of those with a kernel and a torch::Tensor, or with a
///     PYBIND11_MODULE, the last. Blocks are never joined.
///  3. Fences are those of CommonMark (``` or ~~~, three or more), at any indentation, in lists,
///  and
///     after tags like <answer>. A fence with a language inside of a block opens a nested block,
///     whose lines are not the outer block's: an answer wrapped in ```markdown is read through, and
///     an example in a docstring is part of its code only.
///  4. A block that counts and has no closing fence is "truncated"; so is an answer in which no
///     block counts and one has none.
///  5. Without a block that counts, the text is code as a whole, where what stands outside of
///  blocks
///     would count (as an extension: where there are no blocks).
///  6. What a rendered page does not show (HTML comments, hidden elements) never counts;
///     an unfenced answer with such a part is "hidden_code".
/// Takes time and memory linear in the text, whatever it holds.
ExtractedCode extract_code(std::string_view answer);

/// Code that claims to compute a problem's reference, with where it comes from.
struct Candidate {
  std::string id;       ///< caller's id (`--candidates -`), else the path as shown to people
  std::string model;    ///< who wrote it
  std::string problem;  ///< Problem::key
  int sample = 0;       ///< n-th candidate of that model for that problem, from 0
  CandidateKind kind = CandidateKind::kKernel;
  std::filesystem::path path;  ///< empty when it came by standard input
  std::string source;
  /// Files beside a module that its source names, by the name that it gives them; none of them is
  /// another candidate.
  std::map<std::string, std::string> files;
  std::optional<CodeBlock> block;  ///< where `source` stands, when it was taken out of an answer
  std::size_t blocks = 0;          ///< of that answer
  /// Set where the file cannot be judged as code at all: outcome `rejected` (or `missing`), the
  /// cause slug ("not_utf8", "not_text", "empty", "oversized", "unreadable", "no_code",
  /// "other_encoding", "other_problem", "not_a_module", or one of extract_code) and one sentence.
  std::string reject_cause, reject_message;
};

/// Files above this are `rejected` as oversized, unread.
inline constexpr std::size_t kMaxCandidateBytes = 4u << 20;

/// Where candidates are looked for: a file or folder, and the model they are attributed to.
struct CandidateSource {
  std::optional<std::string> model;  ///< from "MODEL=PATH"
  std::filesystem::path path;
};

/// Parses "PATH" or "MODEL=PATH"; what exists as a path is one, whatever characters it has. Throws
/// UsageError where either half is empty.
CandidateSource parse_candidate_source(std::string_view argument);

/// What find_candidates found.
struct FoundCandidates {
  std::vector<Candidate> candidates;  ///< sorted by problem, model, sample
  std::size_t of_other_problems = 0;  ///< left out: their problem is not among those asked for
  std::vector<std::string> notes;     ///< what was passed over, a sentence each, for stderr
};

/// Finds candidates for `problems` under `sources` and gives each its problem, model and sample.
/// Its problem is what its path names: a file of a KernelBench run folder
/// (level_L_problem_P_sample_S_kernel.py), a folder with a problem's name above it ("19_ReLU",
/// "level1_19_ReLU", "level1/19_ReLU"), or its own file stem. If the path names none, or several,
/// `//@ problem NAME` in a .cu file or in an answer's kernel decides; a line that names another
/// problem than the path does makes it rejected ("other_problem"). Its model: `MODEL=PATH`, else
/// `model_name:` in the generation_config.yaml of the folder above the problem's (a run folder's
/// own), else that folder's name. Its sample: as a run folder's file says, else counted in natural
/// order of paths. A model's answer (.md, .txt) in a folder is a candidate only where its path
/// names a problem and its name a sample ("0.md", "sample_3.txt",
/// "level_1_problem_19_sample_0.txt"), and no code of that name lies beside it: prompts, notes and
/// licences are none. Nor is a .cu in a folder below a
/// module's that the module names, which is part of that. Links are followed within a source only.
/// Bytes that are no code make a candidate with reject fields, so that it stays in the
/// denominators. A candidate of a problem that is not among `problems` is left out and counted.
/// A candidate that belongs to no problem at all is left out, with a note; if there is no other
/// one, that is a UsageError, as is one given twice, and a source without candidates.
FoundCandidates find_candidates(const std::vector<CandidateSource>& sources,
                                const std::vector<Problem>& problems);

/// One candidate for one problem (`--candidate FILE --problem P`). Throws UsageError where there is
/// no such file or it is none of .cu, .py, .md and .txt; what cannot be read or is no code is
/// rejected.
Candidate load_candidate(const std::filesystem::path& path, const Problem& problem,
                         std::string model, int sample);

/// One file by itself; its problem, model and sample stay open. Throws as load_candidate.
Candidate read_candidate(const std::filesystem::path& path);

/// The same, with the one of `problems` that its path or its code names; where that is none, or
/// several, `unplaced` says so in a sentence.
Candidate read_candidate(const std::filesystem::path& path, const std::vector<Problem>& problems,
                         std::string* unplaced);

/// The hash of all that is the candidate's: its source, and files beside it.
std::string candidate_hash(const Candidate& candidate);

/// Decides kind from name and content, and fills the reject fields for bytes that are no code: .py
/// is a module; of a .md or .txt, `source` becomes the code block that counts (see response.hpp);
/// else a `//@` line other than `//@ problem` makes a kernel, none an extension.
void classify(Candidate& candidate, std::string_view file_name);

/// The same for a text of which nothing is known: an answer where it has code blocks or thinking,
/// else code as it is, a module where it defines ModelNew.
void classify(Candidate& candidate);

}  // namespace kbench
