// SPDX-License-Identifier: MIT
#include "worker/operator_watch.hpp"

#include <ATen/core/function_schema.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace kbench::worker {
namespace {

/// Operators that compute nothing, beside views.
constexpr std::string_view kNoComputing[] = {
    "_local_scalar_dense",
    "_to_copy",
    "clone",
    "contiguous",
    "copy_",
    "empty",
    "empty_like",
    "empty_strided",
    "fill_",
    "full",
    "full_like",
    "is_nonzero",
    "is_pinned",
    "item",
    "lift",
    "lift_fresh",
    "new_empty",
    "new_empty_strided",
    "new_full",
    "new_ones",
    "new_zeros",
    "ones",
    "ones_like",
    "pin_memory",
    "record_stream",
    "resize_",
    "result_type",
    "scalar_tensor",
    "set_",
    "zero_",
    "zeros",
    "zeros_like",
};

std::atomic<bool> computed_now = false;

bool is_view(const at::RecordFunction& function) {
  const auto schema = function.operator_schema();
  return schema && std::ranges::any_of(schema->returns(), [](const c10::Argument& result) {
           return result.alias_info() != nullptr && !result.alias_info()->isWrite();
         });
}

bool computes(const at::RecordFunction& function) {
  constexpr std::string_view kTorch = "aten::";
  const std::string_view name = function.name();
  if (!name.starts_with(kTorch)) return false;
  if (std::ranges::find(kNoComputing, name.substr(kTorch.size())) != std::end(kNoComputing))
    return false;
  // Schemas are copied to be looked at, so each is looked at once.
  static std::mutex mutex;
  static std::map<std::string, bool, std::less<>> views;
  const auto operator_name = function.operator_name();
  const std::string key = operator_name ? c10::toString(*operator_name) : std::string(name);
  const std::lock_guard lock(mutex);
  const auto known = views.find(key);
  if (known != views.end()) return !known->second;
  return !views.emplace(key, is_view(function)).first->second;
}

}  // namespace

OperatorWatch::OperatorWatch() {
  computed_now = false;
  handle_ =
      at::addGlobalCallback(at::RecordFunctionCallback([](const at::RecordFunction& function)
                                                           -> std::unique_ptr<at::ObserverContext> {
                              if (!computed_now && computes(function)) computed_now = true;
                              return nullptr;
                            }).scopes({at::RecordScope::FUNCTION}));
}

OperatorWatch::~OperatorWatch() { at::removeCallback(handle_); }

bool OperatorWatch::computed() const { return computed_now; }

}  // namespace kbench::worker
