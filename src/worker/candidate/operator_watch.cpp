// SPDX-License-Identifier: MIT
#include "worker/candidate/operator_watch.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/core/function_schema.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "worker/device/hidden_memory.hpp"

namespace kbench::worker {
namespace {

/// Operators that compute nothing, besides views.
constexpr std::string_view kNoComputing[] = {
    "_local_scalar_dense",
    "_reshape_copy",
    "_to_copy",
    "_unsafe_view",
    "cat",
    "clone",
    "column_stack",
    "concat",
    "concatenate",
    "contiguous",
    "copy_",
    "dstack",
    "empty",
    "empty_like",
    "empty_strided",
    "fill_",
    "full",
    "full_like",
    "hstack",
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
    "row_stack",
    "scalar_tensor",
    "set_",
    "stack",
    "vstack",
    "zero_",
    "zeros",
    "zeros_like",
};

std::atomic<bool> computed_now = false;

/// What an operator does to memory.
enum class Effect : std::uint8_t {
  kNone,     ///< returns a view, or is not an operator of torch's own
  kCopies,   ///< copies, casts, concatenates, fills or allocates
  kComputes  ///< anything else
};

bool is_view(const at::RecordFunction& function) {
  const auto schema = function.operator_schema();
  return schema && std::ranges::any_of(schema->returns(), [](const c10::Argument& result) {
           return result.alias_info() != nullptr && !result.alias_info()->isWrite();
         });
}

Effect effect_of(const at::RecordFunction& function) {
  constexpr std::string_view kTorch = "aten::";
  const std::string_view name = function.name();
  if (!name.starts_with(kTorch)) return Effect::kNone;
  if (std::ranges::find(kNoComputing, name.substr(kTorch.size())) != std::end(kNoComputing))
    return Effect::kCopies;
  // Reading a schema copies it, so each operator's schema is read only once.
  static std::mutex mutex;
  static std::map<std::string, bool, std::less<>> views;
  const auto operator_name = function.operator_name();
  const std::string key = operator_name ? c10::toString(*operator_name) : std::string(name);
  const std::lock_guard lock(mutex);
  const auto known = views.find(key);
  const bool view =
      known != views.end() ? known->second : views.emplace(key, is_view(function)).first->second;
  return view ? Effect::kNone : Effect::kComputes;
}

/// Calls `use` with each tensor among an operator's inputs or outputs that has memory.
template <typename Values, typename Use>
void for_tensors(const Values& values, const Use& use) {
  const auto take = [&](const at::Tensor& tensor) {
    if (tensor.defined() && tensor.has_storage() && tensor.storage().data() != nullptr) use(tensor);
  };
  for (const c10::IValue& value : values) {
    if (value.isTensor()) take(value.toTensor());
    if (value.isTensorList())
      for (const at::Tensor& tensor : value.toTensorVector()) take(tensor);
  }
}

/// Exists while a copying operator runs. The operator may read memory that is hidden from host code
/// (HiddenMemory). If it does, its outputs are hidden as well.
class CopyInProgress final : public at::ObserverContext {
 public:
  explicit CopyInProgress(const at::RecordFunction& function) {
    HiddenMemory& memory = HiddenMemory::instance();
    const bool gives_number = std::string_view(function.name()) == "aten::_local_scalar_dense";
    for_tensors(function.inputs(), [&](const at::Tensor& tensor) {
      const HiddenMemory::Content content = memory.content(tensor.storage().data());
      if (!content.is_derived) return;
      reads_hidden_ = true;
      reads_written_ = reads_written_ || content.is_written;
      if (gives_number) memory.count(tensor.element_size());
    });
    memory.open(HiddenMemory::Reader::kCopy);
  }
  ~CopyInProgress() override { HiddenMemory::instance().close(HiddenMemory::Reader::kCopy); }
  CopyInProgress(const CopyInProgress&) = delete;
  CopyInProgress& operator=(const CopyInProgress&) = delete;

  void end(const at::RecordFunction& function) const {
    HiddenMemory& memory = HiddenMemory::instance();
    if (!reads_hidden_ || !memory.is_active()) return;
    for_tensors(function.outputs(), [&](const at::Tensor& tensor) {
      if (!memory.derive(tensor.storage().data(), reads_written_)) memory.count(tensor.nbytes());
    });
  }

 private:
  bool reads_hidden_ = false, reads_written_ = false;
};

std::unique_ptr<at::ObserverContext> begin_operator(const at::RecordFunction& function) {
  const bool hides = HiddenMemory::instance().is_active();
  if (computed_now && !hides) return nullptr;
  const Effect effect = effect_of(function);
  if (effect == Effect::kComputes) {
    computed_now = true;
    HiddenMemory::instance().give_up();
  }
  return hides && effect == Effect::kCopies ? std::make_unique<CopyInProgress>(function) : nullptr;
}

void end_operator(const at::RecordFunction& function, at::ObserverContext* context) {
  if (context != nullptr) static_cast<CopyInProgress*>(context)->end(function);
}

}  // namespace

OperatorWatch::OperatorWatch() {
  computed_now = false;
  handle_ = at::addGlobalCallback(at::RecordFunctionCallback(begin_operator, end_operator)
                                      .needsInputs(true)
                                      .needsOutputs(true)
                                      .scopes({at::RecordScope::FUNCTION}));
}

OperatorWatch::~OperatorWatch() { at::removeCallback(handle_); }

bool OperatorWatch::computed() const { return computed_now; }

}  // namespace kbench::worker
