// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "kbench/problem.hpp"
#include "plan/ast.hpp"

namespace kbench::plan {

/// A tensor of the problem or of the plan, as its role and its index in that role.
struct TensorRef {
  BoundTensor::Role role = BoundTensor::Role::kInput;
  std::size_t index = 0;
  auto operator<=>(const TensorRef&) const = default;
};

/// An expression's value. Lists and texts are borrowed from the signature or the plan.
using PlanValue = std::variant<bool, std::int64_t, double, DType, TensorRef, std::string_view,
                               const std::vector<std::int64_t>*, const std::vector<double>*>;

/// True for the words that no plan may redefine: true, inf, float32, …
bool is_reserved(std::string_view name);

/// " (did you mean `a` or `b`?)" with the nearest of `known`, or nothing if none is near.
std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& known);

/// The names that are visible at one point of a plan: its own, scope by scope, and the problem's.
class Scope {
 public:
  Scope(const Signature& signature, const DeviceLimits& limits);

  void push() { locals_.emplace_back(); }
  void pop();
  /// Defines a name of the plan; throws PlanFault if the name is taken.
  void define(const std::string& name, PlanValue value, Position at);

  std::optional<PlanValue> find(std::string_view name, bool quoted) const;
  /// Finds only names that the plan has defined, and inputs that are not tensors.
  std::optional<PlanValue> find_asserted(std::string_view name) const;
  /// The value of a name. Throws PlanFault (cause "unknown_name") that suggests the nearest names.
  PlanValue lookup(const Expr& name) const;

  /// Registers an output or scratch tensor; returns its role and its number in that role.
  TensorRef add_tensor(BoundTensor::Role role, TensorInfo info);
  const TensorInfo& info(TensorRef tensor) const;
  const Signature& signature() const { return signature_; }
  const DeviceLimits& limits() const { return limits_; }

 private:
  struct Local {
    PlanValue value;
    Position at;
  };
  const Local* find_local(std::string_view name) const;
  [[noreturn]] void unknown(const Expr& name) const;

  const Signature& signature_;
  const DeviceLimits& limits_;
  std::unordered_map<std::string_view, std::size_t> inputs_, state_;
  std::vector<std::map<std::string, Local, std::less<>>> locals_{1};
  std::map<std::string, int, std::less<>> closed_;  ///< names of ended blocks and their lines
  std::vector<TensorInfo> outputs_, scratch_;
};

}  // namespace kbench::plan
