// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <string>
#include <vector>

#include "ptx/random/kernel.hpp"
#include "ptx/random/rng.hpp"
#include "ptx/random/rows.hpp"

namespace kbench::ptx::random {

/// Where the text goes to decides what it may do: what all lanes of a warp, or those of a known
/// mask, must do together.
struct Place {
  std::string mask;        ///< register of the lanes that are here for sure; empty: unknown
  bool converged = false;  ///< and these are all lanes of the warp, and all warps of the block
  unsigned depth = 0;      ///< of control structures around
};

/// The body of one function as it is written: its registers and the values that are alive.
class Writer {
 public:
  /// `name` tells its labels and local arrays from those of other functions.
  Writer(Rng& rng, std::string name, bool whole_warps);

  Rng& rng;
  Place place;

  void line(std::string_view text);
  /// A register that holds nothing yet.
  std::string fresh(Kind kind);
  /// A label that is used nowhere else.
  std::string label();
  /// A value that is alive, values that nobody used first; or, where allowed, a literal.
  std::string source(Kind kind, bool literal = false);
  /// A register to write, mostly a new one; where `existing`, one that holds a value.
  std::string target(Kind kind, bool existing = false);
  /// Writes instructions of a row (see rows.hpp); with a guard only if `guarded` and it is one.
  void row(const Row& row, bool guarded);
  /// The address that an `@…` of a row stands for, with what computes it written before.
  std::string address(std::string_view spelled, bool generic);

  using Mark = std::array<std::size_t, kKinds>;
  /// The values that are alive here.
  Mark mark() const;
  /// Ends a scope: values from after the mark are gone; some go into older registers before.
  void leave(const Mark& mark);
  /// Registers of a kind, all or those that nobody has read.
  std::vector<std::string> values(Kind kind, bool all) const;

  const std::string& name() const { return name_; }
  const std::string& text() const { return text_; }
  bool uses(std::string_view what) const { return text_.find(what) != text_.npos; }
  /// `.reg` lines for all that was used.
  std::string declarations() const;

 private:
  struct Value {
    std::string name;
    unsigned uses = 0;
  };
  std::string literal(Kind kind);
  std::string index(std::size_t bytes, std::size_t section_bytes);
  std::string in_section(char letter, std::size_t bytes, bool generic);
  std::string fill_in(std::string_view text, bool generic);
  std::vector<std::string> targets(std::string_view letters, bool existing);
  std::string placeholder(std::string_view text, std::size_t& at, bool generic,
                          std::array<std::string, 4>& temporaries);

  std::string name_, text_;
  std::string own_address_;  ///< of this row: all its accesses to own memory go there
  bool whole_warps_;
  unsigned labels_ = 0;
  std::array<unsigned, 4> registers_{};  ///< of predicates, 16, 32 and 64 bits
  std::array<std::vector<Value>, kKinds> values_;
};

}  // namespace kbench::ptx::random
