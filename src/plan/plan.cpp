// SPDX-License-Identifier: MIT
#include "kbench/plan.hpp"

#include <algorithm>

#include "plan/limits.hpp"
#include "plan/parser.hpp"

namespace kbench {
namespace {

/// True if a statement of this kind is among these, in their blocks too, and `is` holds for it.
template <typename Body, typename Is>
bool any_statement(const plan::Block& statements, const Is& is) {
  return std::ranges::any_of(statements, [&](const plan::Statement& statement) {
    if (const auto* body = std::get_if<Body>(&statement.body)) return is(*body);
    if (const auto* loop = std::get_if<plan::For>(&statement.body))
      return any_statement<Body>(loop->body, is);
    const auto* branch = std::get_if<plan::If>(&statement.body);
    return branch != nullptr &&
           (any_statement<Body>(branch->then, is) || any_statement<Body>(branch->otherwise, is));
  });
}

}  // namespace

Plan::Plan() : impl(std::make_unique<Impl>()) {}
Plan::~Plan() = default;
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;

const std::optional<std::string>& Plan::problem() const { return impl->problem; }
const std::vector<std::string>& Plan::flags() const { return impl->flags; }
std::optional<double> Plan::limit_s() const { return impl->limit_s; }

std::variant<Plan, PlanError> parse_plan(std::string_view source) {
  try {
    Plan result;
    *result.impl = plan::Parser(plan::lex_plan(source)).run();
    return result;
  } catch (plan::PlanFault& fault) {
    return std::move(fault.error);
  }
}

std::optional<PlanError> missing_part(const Plan& plan) {
  const auto error = [&](const char* message) {
    const plan::Position at = plan.impl->begin;
    return PlanError{.message = message, .line = at.line, .column = at.column, .cause = "no_plan"};
  };
  const auto& statements = plan.impl->statements;
  if (!any_statement<plan::Declaration>(statements, [](const auto& it) { return it.is_output; }))
    return error("the plan that begins here has no output: add a line such as //@ out y like x");
  if (!any_statement<plan::LaunchStatement>(statements, [](const auto& /*it*/) { return true; }))
    return error(
        "the plan that begins here launches nothing: add a line such as "
        "//@ kernel<<<grid, block>>>(x, y)");
  return std::nullopt;
}

std::variant<BoundPlan, PlanError> bind_plan(const Plan& plan, const Signature& signature,
                                             const DeviceLimits& limits) {
  try {
    return plan::bind(*plan.impl, signature, limits);
  } catch (plan::PlanFault& fault) {
    return std::move(fault.error);
  }
}

}  // namespace kbench
