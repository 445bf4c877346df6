// SPDX-License-Identifier: MIT
#include "plan/scope.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/text.hpp"

namespace kbench::plan {
namespace {

constexpr std::size_t kMaxSuggestions = 3, kMaxCompared = 20'000, kMaxNameLength = 64;
constexpr std::string_view kInit = "init.";

struct Constant {
  std::string_view name;
  PlanValue value;
};

const std::array<Constant, 4>& constants() {
  static const std::array<Constant, 4> kConstants{{
      {"true", true},
      {"false", false},
      {"inf", std::numeric_limits<double>::infinity()},
      {"nan", std::numeric_limits<double>::quiet_NaN()},
  }};
  return kConstants;
}

std::optional<PlanValue> find_constant(std::string_view name) {
  for (const Constant& constant : constants()) {
    if (constant.name == name) return constant.value;
  }
  if (const auto dtype = dtype_from_name(name)) return *dtype;
  return std::nullopt;
}

PlanValue borrowed(const Value& value) {
  struct Borrow {
    PlanValue operator()(const std::string& text) const { return std::string_view(text); }
    PlanValue operator()(const std::vector<std::int64_t>& list) const { return &list; }
    PlanValue operator()(const std::vector<double>& list) const { return &list; }
    PlanValue operator()(bool flag) const { return flag; }
    PlanValue operator()(std::int64_t number) const { return number; }
    PlanValue operator()(double number) const { return number; }
  };
  return std::visit(Borrow{}, value);
}

}  // namespace

bool is_reserved(std::string_view name) { return name == "_" || find_constant(name).has_value(); }

std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& known) {
  if (name.size() > kMaxNameLength) return "";
  const std::string sought = lowercase(name);
  const std::size_t near = std::max<std::size_t>(2, name.size() / 3);
  std::vector<std::pair<std::size_t, std::string_view>> found;
  for (std::size_t i = 0; i < std::min(known.size(), kMaxCompared); ++i) {
    if (known[i].size() > kMaxNameLength) continue;
    const std::string other = lowercase(known[i]);
    const std::size_t distance = edit_distance(sought, other);
    const bool ends_with_it = other.ends_with("." + sought);
    if (ends_with_it || (distance <= near && distance < name.size())) {
      found.emplace_back(ends_with_it ? 1 : distance, known[i]);
    }
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  std::vector<std::string> words;
  for (const auto& [distance, word] : found) {
    if (words.size() == kMaxSuggestions) break;
    words.push_back(fmt::format("`{}`", word));
  }
  if (words.empty()) return "";
  return fmt::format(" (did you mean {}?)", fmt::join(words, " or "));
}

Scope::Scope(const Signature& signature, const DeviceLimits& limits)
    : signature_(signature), limits_(limits) {
  for (std::size_t i = 0; i < signature.inputs.size(); ++i) {
    inputs_.emplace(signature.inputs[i].name, i);
  }
  for (std::size_t i = 0; i < signature.state.size(); ++i) {
    state_.emplace(signature.state[i].tensor.name, i);
  }
}

void Scope::pop() {
  for (const auto& [name, local] : locals_.back()) closed_.emplace(name, local.at.line);
  locals_.pop_back();
}

void Scope::define(const std::string& name, PlanValue value, Position at) {
  if (const Local* before = find_local(name)) {
    fail(at, fmt::format("`{}` is defined on line {} already; choose another name", name,
                         before->at.line));
  }
  if (inputs_.contains(name) || state_.contains(name)) {
    fail(at, fmt::format("`{}` is {} of the problem already; choose another name", name,
                         inputs_.contains(name) ? "an input" : "a parameter or buffer"));
  }
  locals_.back().emplace(name, Local{value, at});
}

const Scope::Local* Scope::find_local(std::string_view name) const {
  for (auto scope = locals_.rbegin(); scope != locals_.rend(); ++scope) {
    if (const auto found = scope->find(name); found != scope->end()) return &found->second;
  }
  return nullptr;
}

std::optional<PlanValue> Scope::find_asserted(std::string_view name) const {
  if (const Local* local = find_local(name)) return local->value;
  const auto input = inputs_.find(name);
  if (input == inputs_.end()) return std::nullopt;
  const auto* value = std::get_if<Value>(&signature_.inputs[input->second].value);
  if (value == nullptr) return std::nullopt;
  return borrowed(*value);
}

std::optional<PlanValue> Scope::find(std::string_view name, bool quoted) const {
  if (!quoted) {
    if (const auto asserted = find_asserted(name)) return asserted;
  }
  if (const auto input = inputs_.find(name); input != inputs_.end()) {
    const auto& found = signature_.inputs[input->second].value;
    if (const auto* value = std::get_if<Value>(&found)) return borrowed(*value);
    return TensorRef{BoundTensor::Role::kInput, input->second};
  }
  if (const auto entry = state_.find(name); entry != state_.end()) {
    return TensorRef{BoundTensor::Role::kState, entry->second};
  }
  if (name.starts_with(kInit)) {
    const auto found = signature_.init.find(std::string(name.substr(kInit.size())));
    if (found != signature_.init.end()) return borrowed(found->second);
  }
  if (name == "device.sms") return limits_.sms;
  if (name == "device.smem") return limits_.smem_bytes;
  const auto attribute = signature_.attributes.find(std::string(name));
  if (attribute != signature_.attributes.end()) return borrowed(attribute->second);
  return quoted ? std::nullopt : find_constant(name);
}

PlanValue Scope::lookup(const Expr& name) const {
  if (const auto value = find(name.text, name.quoted)) return *value;
  unknown(name);
}

void Scope::unknown(const Expr& name) const {
  if (const auto closed = closed_.find(name.text); closed != closed_.end()) {
    fail(name.at,
         fmt::format("`{}` belongs to the block of line {} and ends with it; define it "
                     "before the block, for instance with `?:`",
                     name.text, closed->second),
         "unknown_name");
  }
  std::vector<std::string> init_names;
  for (const auto& [key, value] : signature_.init) init_names.push_back("init." + key);
  std::vector<std::string_view> known{"device.sms", "device.smem"};
  for (const auto& scope : locals_) {
    for (const auto& [key, local] : scope) known.push_back(key);
  }
  for (const InputInfo& input : signature_.inputs) known.push_back(input.name);
  for (const StateInfo& entry : signature_.state) known.push_back(entry.tensor.name);
  for (const auto& [key, value] : signature_.attributes) known.push_back(key);
  known.insert(known.end(), init_names.begin(), init_names.end());
  for (const DTypeRow& row : dtypes()) known.push_back(row.name);
  const std::string shown =
      name.text.size() > kMaxNameLength ? name.text.substr(0, kMaxNameLength) + "…" : name.text;
  throw PlanFault{
      {.message = fmt::format("there is no `{}`{}", shown, did_you_mean(name.text, known)),
       .line = name.at.line,
       .column = name.at.column,
       .cause = "unknown_name",
       .list_helps = true}};
}

TensorRef Scope::add_tensor(BoundTensor::Role role, TensorInfo info) {
  auto& tensors = role == BoundTensor::Role::kOutput ? outputs_ : scratch_;
  tensors.push_back(std::move(info));
  return {role, tensors.size() - 1};
}

const TensorInfo& Scope::info(TensorRef tensor) const {
  switch (tensor.role) {
    case BoundTensor::Role::kInput:
      return std::get<TensorInfo>(signature_.inputs[tensor.index].value);
    case BoundTensor::Role::kState:
      return signature_.state[tensor.index].tensor;
    case BoundTensor::Role::kOutput:
      return outputs_[tensor.index];
    default:
      return scratch_[tensor.index];
  }
}

}  // namespace kbench::plan
