// SPDX-License-Identifier: MIT
#include "kbench/plan.hpp"

#include "plan/limits.hpp"
#include "plan/parser.hpp"

namespace kbench {

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

std::variant<BoundPlan, PlanError> bind_plan(const Plan& plan, const Signature& signature,
                                             const DeviceLimits& limits) {
  try {
    return plan::bind(*plan.impl, signature, limits);
  } catch (plan::PlanFault& fault) {
    return std::move(fault.error);
  }
}

}  // namespace kbench
