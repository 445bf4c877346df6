// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <string>
#include <vector>

#include "ptx/random/writer.hpp"

namespace kbench::ptx::random {

/// A function that the kernel may call. Its first parameters are the three addresses; a recursive
/// one takes the depth last.
struct Callee {
  std::string name;
  std::vector<Kind> parameters;
  Kind result = Kind::kB32;
  bool structure = false;  ///< the result is 16 bytes: b32, f32, b64
  bool recursive = false;
  /// The parameters' declarations, with a name for each of them or `_`.
  std::string parameter_list(bool named) const;
  /// The result's declaration.
  std::string result_declaration(std::string_view name_of) const;
};

/// What one kernel is made of.
struct Plan {
  std::array<std::uint32_t, kGroups> weights{};
  std::uint32_t block_threads = 1;
  std::string exchange;  ///< the shared array with 16 bytes per thread
  std::vector<Callee> callees;
};

/// A thread's slot of 16 bytes in shared memory, and that of another.
struct Slots {
  std::string thread;      ///< number of the thread in its block
  std::string own, other;  ///< addresses
  std::string space;       ///< ".shared", or nothing where the addresses are generic
};

/// Writes statements, from single instructions to nested control structures.
class Statements {
 public:
  Statements(Writer& writer, const Plan& plan) : w_(writer), rng_(writer.rng), plan_(plan) {}

  /// Values of every kind, so that all that follows finds operands.
  void first_values(unsigned each);
  /// One statement of any sort that this place allows.
  void any();
  void call(const Callee& callee, const std::string& depth);

 private:
  void instruction();
  bool control(std::uint32_t roll);
  bool together(std::uint32_t roll);
  void body(unsigned statements);
  std::string condition(bool uniform);
  void branch();
  void masked_branch();
  void loop();
  void cases();
  void exchange();
  Slots slots();
  void exchange_values(const Slots& slots, bool update);
  void exchange_vectors(const Slots& slots);
  void exchange_copies(const Slots& slots);
  void exchange_behind_gate(const Slots& slots);
  void exchange_with_first_warp(const Slots& slots);
  void tally();
  void barrier_reduction();
  std::string barrier();
  Place inner(bool uniform) const;

  Writer& w_;
  Rng& rng_;
  const Plan& plan_;
};

}  // namespace kbench::ptx::random
