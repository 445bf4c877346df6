// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

#include "plan/ast.hpp"
#include "plan/lexer.hpp"

namespace kbench::plan {

/// Recursive descent over the tokens of a plan.
///
/// The plan is the text after `//@` on lines that begin with it; `#` begins a comment. A
/// statement ends with its line. While a bracket of (…), […], <…> or <<<…>>> is open, it goes on
/// on the next `//@` line. In EBNF:
///
///   plan        = { statement NEWLINE } ;
///   statement   = problem | flags | limit                      (* outside of blocks only *)
///               | dims | let | tmp | out | inout | launch | if | for ;
///   problem     = "problem" WORD ;
///   flags       = "flags" WORD { WORD } ;                      (* rows of flags.cpp *)
///   limit       = "limit" NUMBER ( "s" | "ms" ) ;
///   dims        = "dims" name "[" [ size { "," size } ] "]" ;
///   size        = "_" | IDENT | expression ;   (* defines a new name, asserts all else *)
///   let         = "let" IDENT "=" expression ;
///   tmp         = "tmp" IDENT tensor ;
///   out         = "out" IDENT tensor ;
///   tensor      = ( ":" dtype "[" [ expression { "," expression } ] "]" | "like" expression )
///                 [ "=" expression ] ;
///   dtype       = IDENT | "dtype" "(" expression ")" | "(" expression ")" ;
///   inout       = "inout" name ;
///   launch      = { "cooperative" | "cluster" extents } kernel
///                 "<<<" extent "," extent [ "," expression ] ">>>"
///                 "(" [ expression { "," expression } ] ")" ;
///   kernel      = IDENT { "::" IDENT } [ "<" template { "," template } ">" ] ;
///   template    = expression       (* without < > <= >= outside of parentheses *)
///               | TYPE ;           (* C++: unsigned int, Vec<float, 4>, T*; its plan names stand
///                                     for their values *)
///   extent      = expression | extents ;
///   extents     = [ "dim3" ] "(" expression { "," expression } ")" ;      (* at most three *)
///   if          = "if" "(" expression ")" block [ "else" ( if | block ) ] ;
///   for         = "for" IDENT "in" expression ".." expression block ;     (* the last excluded *)
///   block       = "{" { statement NEWLINE } "}" ;     (* the last NEWLINE may be left out *)
///
///   expression  = or [ "?" expression ":" expression ] ;
///   or          = and { "||" and } ;
///   and         = equality { "&&" equality } ;
///   equality    = relation { ( "==" | "!=" ) relation } ;
///   relation    = sum { ( "<" | "<=" | ">" | ">=" ) sum } ;
///   sum         = product { ( "+" | "-" ) product } ;
///   product     = unary { ( "*" | "/" | "%" ) unary } ;
///   unary       = { "-" | "+" | "!" } postfix ;
///   postfix     = primary { "[" expression "]" } ;
///   primary     = INTEGER | FLOAT | STRING | name | call | "(" expression ")" ;
///   call        = FUNCTION "(" [ expression { "," expression } ] ")" ;  (* functions.cpp *)
///   name        = IDENT { "." ( IDENT | INTEGER ) } | "`" any character but "`" "`" ;
///
///   INTEGER = digits ; FLOAT = digits "." digits [ exponent ] | digits exponent ;
///   IDENT = letter or "_", then letters, digits, "_" ; STRING = '"' … '"' (only to compare) ;
///   WORD = what stands between blanks.
class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}
  /// Parses everything; throws PlanFault.
  Plan::Impl run();

 private:
  const Token& peek();
  const Token& peek_second();
  const Token& next();
  bool at(std::string_view punct);
  bool at_name(std::string_view word);
  bool at_triple(std::string_view angle);
  bool accept(std::string_view punct);
  Position expect(std::string_view punct, std::string_view after);
  Position open(std::string_view bracket, std::string_view after);
  void close(std::string_view bracket, Position opened);
  void open_triple();
  void close_triple(Position opened);
  std::string identifier(std::string_view of_what);

  // parser.cpp
  Block statements(bool in_block);
  void skip_newlines();
  void end_of_statement();
  void statement(Block& block, bool in_block);
  void words_statement(std::string_view word);
  [[noreturn]] void unknown_statement(const Token& token);
  Dims dims();
  Let let();
  Declaration declaration(bool is_output);
  Inout inout();
  If if_statement();
  For for_statement();
  Block block();

  // parse_launch.cpp
  LaunchStatement launch();
  std::string kernel_name();
  TemplateArgument template_argument();
  std::size_t end_of_template_argument() const;
  bool is_type(std::size_t begin, std::size_t end) const;
  ExtentExprs extent();
  ExtentExprs extents();
  bool at_tuple() const;

  // parse_expression.cpp
  ExprId expression();
  ExprId binary(int level);
  ExprId unary();
  ExprId postfix();
  ExprId primary();
  ExprId call(const Token& function);
  ExprId name();
  ExprId dtype();
  std::vector<ExprId> list_until(std::string_view bracket, Position opened);
  ExprId add(Expr expr);

  std::vector<Token> tokens_;
  std::size_t index_ = 0;
  int open_ = 0;                ///< open brackets, in which line ends are blanks
  int nesting_ = 0;             ///< depth of expressions, bounded
  int blocks_ = 0;              ///< depth of blocks, bounded
  bool angles_compare_ = true;  ///< false directly among template arguments
  Plan::Impl result_;
};

/// The canonical spelling of an allowed compiler flag; throws PlanFault (cause "bad_flag").
std::string checked_flag(std::string_view flag, Position at);

}  // namespace kbench::plan
