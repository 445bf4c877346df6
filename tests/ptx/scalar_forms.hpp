// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Every scalar form of PTX for sm_90 (golden_scalar/forms.txt, written by scalar_forms.py), the
/// operands that it is tried with, and what the executor makes of them.
namespace kbench::ptx::testing {

/// One form: "f32=f32,f32", how results compare, "add.f32 %d, %a, %b;".
struct Form {
  std::string signature, how, code;
  std::vector<std::string> results, sources;  ///< types, from the signature
  /// "add.rz.f32" as {"add", "rz", "f32"}: the first instruction that computes.
  std::vector<std::string> name;
  /// Compared within a bound that `how` tells.
  bool approximate() const { return how != "exact" && how != "refused" && how != "golden"; }
  bool has(const std::string& modifier) const;
};

/// How often each form runs.
constexpr std::size_t kTuples = 1024;

/// Operands a, b, c and the bits of the predicates p and q.
struct Tuple {
  std::uint64_t a = 0, b = 0, c = 0, p = 0;
};

/// Results d and e; zero where there is none.
struct Result {
  std::uint64_t d = 0, e = 0;
};

std::vector<Form> read_forms();

/// Bits of a type as signatures name it; 16, 32 or 64.
unsigned width(const std::string& type);

/// The operands that every form of this signature gets; golden_scalar.py makes the same.
std::vector<Tuple> operands(const Form& form);

/// A module with one entry "f<i>" for each form.
std::string module_text(const std::vector<Form>& forms, bool divergent);

/// Results of all forms by form; `refused` gets the names of forms that the executor lacks. Where
/// `divergent`, every fourth thread does nothing and leaves zeros.
std::vector<std::vector<Result>> run_forms(const std::vector<Form>& forms, bool divergent,
                                           std::vector<std::string>& refused);

/// Results of one form for operands of the caller's, a multiple of 128 of them.
std::vector<Result> run_form(const Form& form, const std::vector<Tuple>& tuples);

/// The bits of a result with every NaN made the canonical one.
std::uint64_t canonical(const std::string& type, std::uint64_t bits);

/// The value of a floating type's bits (one half of a packed type).
long double value_of(const std::string& type, std::uint64_t bits);

}  // namespace kbench::ptx::testing
