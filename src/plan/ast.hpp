// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kbench/plan.hpp"

/// The plan language's own types: tokens, tree, values.
namespace kbench::plan {

/// A place in the candidate's source; line and column count from 1.
struct Position {
  int line = 1;
  int column = 1;
};

/// Thrown by parser and binder, because a mistake can occur at any depth of a recursive descent.
/// parse_plan, bind_plan and resolve_plan catch it and return its error as a value.
struct PlanFault {
  PlanError error;
};

[[noreturn]] void fail(Position at, std::string message, std::string_view cause = "faulty_plan");

enum class Op : std::uint8_t {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kRemainder,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kEqual,
  kNotEqual,
  kAnd,
  kOr,
  kNegate,
  kNot,
};

/// Index into Plan::Impl::expressions: a flat tree needs no recursion to be destroyed.
using ExprId = std::size_t;

struct Expr {
  enum class Kind : std::uint8_t {
    kInteger,
    kFloat,
    kString,
    kName,   ///< text
    kIndex,  ///< children: list, index
    kUnary,
    kBinary,
    kTernary,  ///< children: condition, then, else
    kCall,     ///< text, children
  };
  Kind kind = Kind::kInteger;
  Op op = Op::kAdd;
  Position at;
  int depth = 1;  ///< height of the tree below, bounded by the parser
  std::int64_t integer = 0;
  double number = 0;
  std::string text;
  bool quoted = false;  ///< a name in backticks
  std::vector<ExprId> children;
};

/// One token of a C++ type among template arguments. Names of the plan are replaced by their
/// values.
struct TypePiece {
  std::string text;
  bool is_name = false;
  Position at;
};
using TemplateArgument = std::variant<ExprId, std::vector<TypePiece>>;

struct Statement;
using Block = std::vector<Statement>;

struct Dims {
  ExprId tensor = 0;
  std::vector<ExprId> sizes;
};

struct Let {
  std::string name;
  ExprId value = 0;
};

/// A `tmp` or `out` statement.
struct Declaration {
  bool is_output = false;
  std::string name;
  std::optional<ExprId> like;  ///< else dtype and shape
  ExprId dtype = 0;
  std::vector<ExprId> shape;
  std::optional<ExprId> fill;
};

struct Inout {
  ExprId tensor = 0;
};

/// One to three sizes of a grid, block or cluster, and the position where they begin.
struct ExtentExprs {
  Position at;
  std::vector<ExprId> sizes;
};

struct LaunchStatement {
  std::string kernel;
  std::vector<TemplateArgument> template_arguments;
  ExtentExprs grid, block, cluster;
  std::optional<ExprId> shared_bytes;
  bool cooperative = false;
  std::vector<ExprId> arguments;
};

struct If {
  ExprId condition = 0;
  Block then, otherwise;
};

struct For {
  std::string name;
  ExprId first = 0, last = 0;
  Block body;
};

struct Statement {
  Position at;
  std::variant<Dims, Let, Declaration, Inout, LaunchStatement, If, For> body;
};

}  // namespace kbench::plan

struct kbench::Plan::Impl {
  std::optional<std::string> problem;
  std::vector<std::string> flags;
  std::optional<double> limit_s;
  std::vector<plan::Expr> expressions;
  plan::Position begin;  ///< of the first statement
  plan::Block statements;
};
