// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/parse/types.hpp"

/// Syntax tree of a PTX module, before names are resolved.
namespace kbench::ptx {

/// One operand as written.
struct Operand {
  enum class Kind : std::uint8_t { kName, kInteger, kFloat32, kFloat64, kAddress, kVector, kSink };
  Kind kind = Kind::kName;
  std::string name;            ///< kName, kAddress: register, symbol or special register
  std::string second;          ///< kName: q of "p|q"
  bool negated = false;        ///< "!p"
  bool is_unsigned = false;    ///< kInteger: a constant of type .u64
  std::uint64_t bits = 0;      ///< value of a literal
  std::int64_t offset = 0;     ///< kAddress, and kName if it is a symbol: "x+4"
  std::vector<Operand> items;  ///< kVector; kAddress: items after a comma, "[map, {x, y}]"
};

/// Origin of a statement: line of the PTX and, by .loc, of the source.
struct Position {
  int ptx_line = 0;
  int file = 0;  ///< index of a .file directive; 0: unknown
  int line = 0;
  int inner_file = 0;  ///< file of inlined code, if it is not the kernel's file
  int inner_line = 0;
};

/// One instruction: "@!p add.s32 d, a, b;".
struct Statement {
  std::string guard;  ///< predicate register; empty if there is none
  bool guard_negated = false;
  std::string opcode;                  ///< "add"
  std::vector<std::string> modifiers;  ///< "s32"
  std::vector<Operand> operands;
  Position position;
  std::string text() const;  ///< opcode with its modifiers
};

enum class Space : std::uint8_t { kGeneric, kGlobal, kShared, kLocal, kConst, kParam };

/// One initial value of a variable: bits, or the address of a symbol plus an offset.
struct Initial {
  std::uint64_t at = 0;    ///< byte in the variable
  std::uint64_t bits = 0;  ///< value, or offset from the symbol
  std::string symbol;
  std::uint64_t mask = ~std::uint64_t{0};  ///< of "0xFF00(symbol)": keeps these bits, shifted down
};

/// A variable or parameter of any state space.
struct Variable {
  std::string name;
  Space space = Space::kGlobal;
  Type type = Type::kB32;  ///< of one component
  unsigned element_bytes = 4;
  unsigned scalar_bytes = 4;  ///< of one component, if an element is a vector
  std::uint64_t count = 1;    ///< elements; 0 for "[]"
  unsigned align = 0;
  bool external = false;
  bool in_register = false;  ///< a parameter or result that is a register
  std::vector<Initial> initial;
  int ptx_line = 0;
  std::uint64_t bytes() const { return element_bytes * count; }
};

struct RegisterDeclaration {
  std::string name;  ///< "%r1", or the prefix "%r" if count is not 0
  std::string type;  ///< "b32", "pred"
  unsigned count = 0;
};

struct Label {
  std::string name;
  std::size_t statement = 0;  ///< index of the statement after the label
};

/// Signature for calls by a pointer: "p: .callprototype (…) _ (…);".
struct CallPrototype {
  std::string name;
  std::vector<Variable> returns, parameters;
};

/// Possible targets of a call by a pointer: "t: .calltargets f, g;". All have one signature.
struct CallTargets {
  std::string name;
  std::vector<std::string> functions;
};

/// A table of branch labels for brx.idx: "ts: .branchtargets a, b;".
struct BranchTargets {
  std::string name;
  std::vector<std::string> labels;
};

struct FunctionText {
  std::string name;
  bool entry = false;
  bool defined = false;
  int ptx_line = 0;
  std::vector<Variable> returns, parameters, variables;
  std::vector<RegisterDeclaration> registers;
  std::vector<Statement> statements;
  std::vector<Label> labels;
  std::vector<BranchTargets> branch_targets;
  std::vector<CallPrototype> prototypes;
  std::vector<CallTargets> call_targets;
  std::array<std::uint32_t, 3> max_threads{};       ///< .maxntid; 0: none
  std::array<std::uint32_t, 3> required_threads{};  ///< .reqntid; 0: none
  std::array<std::uint32_t, 3> required_cluster{};  ///< .reqnctapercluster; 0: none
  std::uint32_t max_cluster = 0;                    ///< .maxclusterrank; 0: none
  bool needs_cluster = false;                       ///< .explicitcluster
};

/// Thrown within this module if a text is valid PTX that the executor cannot run.
struct Rejected {
  std::string instruction, message;
  Position position;
};

struct ModuleText {
  std::vector<std::string> files;                            ///< by .file index
  std::vector<std::pair<std::string, std::string>> aliases;  ///< ".alias a, b": a is b
  std::optional<Rejected> rejected;  ///< the first thing found in parsing that cannot be run
  std::vector<Variable> variables;
  std::vector<FunctionText> functions;
};

enum class TokenKind : std::uint8_t { kWord, kNumber, kString, kSymbol, kEnd };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;
  int line = 0;
};

/// Splits a text into tokens and drops comments. Throws kbench::Error at an invalid character.
std::vector<Token> tokenize(std::string_view text);

/// Value of a numeric token: integer, 1.5, 0f… or 0d…. Throws kbench::Error if it is invalid.
Operand parse_number(const Token& token);

/// Parses a module. Throws kbench::Error if the text is not PTX.
ModuleText parse(std::string_view text);

}  // namespace kbench::ptx
