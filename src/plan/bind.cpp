// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <limits>
#include <set>

#include "plan/eval.hpp"
#include "plan/limits.hpp"

namespace kbench::plan {
namespace {

/// Executes the statements once, in order, and builds the BoundPlan.
class Binder {
 public:
  Binder(const Plan::Impl& plan, const Signature& signature, const DeviceLimits& limits)
      : plan_(plan),
        limits_(limits),
        scope_(signature, limits),
        evaluator_(plan.expressions, scope_) {}

  BoundPlan run() {
    execute(plan_.statements);
    return std::move(bound_);
  }

 private:
  void execute(const Block& block) {
    for (const Statement& statement : block) {
      if (++statements_ > kMaxStatements) {
        fail(statement.at, fmt::format("the plan runs through more than {} statements; shorten "
                                       "its loops",
                                       kMaxStatements));
      }
      std::visit([&](const auto& body) { bind(body, statement.at); }, statement.body);
    }
  }

  void execute_in_scope(const Block& block) {
    scope_.push();
    execute(block);
    scope_.pop();
  }

  void bind(const Dims& dims, Position /*at*/) {
    const TensorInfo& info = scope_.info(evaluator_.tensor(dims.tensor));
    const Expr& tensor = evaluator_.expr(dims.tensor);
    if (info.shape.size() != dims.sizes.size()) {
      fail(tensor.at, fmt::format("`{}` is {}: {} sizes, and the plan names {}", tensor.text,
                                  describe(info), info.shape.size(), dims.sizes.size()));
    }
    for (std::size_t i = 0; i < dims.sizes.size(); ++i) {
      bind_size(dims.sizes[i], info.shape[i], i, tensor.text);
    }
  }

  void bind_size(ExprId id, std::int64_t size, std::size_t index, const std::string& tensor) {
    const Expr& expr = evaluator_.expr(id);
    const bool is_name =
        expr.kind == Expr::Kind::kName && !expr.quoted && expr.text.find('.') == std::string::npos;
    if (is_name && expr.text == "_") return;
    if (is_name && !scope_.find_asserted(expr.text)) {
      if (is_reserved(expr.text)) {
        fail(expr.at, fmt::format("`{}` means something already; choose another name", expr.text));
      }
      scope_.define(expr.text, size, expr.at);
      return;
    }
    const std::int64_t expected = evaluator_.integer(id);
    if (expected != size) {
      fail(evaluator_.at(id), fmt::format("{} is {} here, but size {} of `{}` is {}",
                                          is_name ? fmt::format("`{}`", expr.text) : "this",
                                          expected, index, tensor, size));
    }
  }

  void bind(const Let& let, Position at) {
    scope_.define(let.name, evaluator_.value(let.value), at);
  }

  void bind(const Declaration& declaration, Position at) {
    TensorInfo info = declaration.like ? scope_.info(evaluator_.tensor(*declaration.like))
                                       : declared_info(declaration);
    info.name = declaration.name;
    check_bytes(info, at);
    if (bound_.tensors.size() >= kMaxTensors) {
      fail(at, fmt::format("the plan has more than {} tensors; reuse scratch", kMaxTensors));
    }
    const auto role =
        declaration.is_output ? BoundTensor::Role::kOutput : BoundTensor::Role::kScratch;
    BoundTensor bound;
    bound.role = role;
    bound.writable = true;
    if (declaration.fill) {
      bound.filled = true;
      bound.fill_bits = fill_bits(*declaration.fill, info.dtype);
    }
    const TensorRef tensor = scope_.add_tensor(role, info);
    scope_.define(declaration.name, tensor, at);
    bound.index = tensor.index;
    bound.info = std::move(info);
    slots_.emplace(tensor, bound_.tensors.size());
    bound_.tensors.push_back(std::move(bound));
  }

  TensorInfo declared_info(const Declaration& declaration) {
    TensorInfo info;
    info.dtype = evaluator_.dtype(declaration.dtype);
    if (declaration.shape.size() > kMaxRank) {
      fail(evaluator_.at(declaration.dtype), fmt::format("a tensor has at most {} sizes, not {}",
                                                         kMaxRank, declaration.shape.size()));
    }
    for (const ExprId id : declaration.shape) {
      const std::int64_t size = evaluator_.integer(id);
      if (size < 0) {
        fail(evaluator_.at(id), fmt::format("a size is {}; sizes have to be 0 or more", size));
      }
      info.shape.push_back(size);
    }
    return info;
  }

  void check_bytes(const TensorInfo& info, Position at) {
    constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
    const bool too_many = numel(info.shape) == std::numeric_limits<std::int64_t>::max();
    if (too_many || info.bytes() > kMost - allocated_bytes_) {
      fail(at, fmt::format("`{}` is {}: more bytes than 63 bits can count; check its sizes",
                           info.name, describe(info)));
    }
    allocated_bytes_ += info.bytes();
  }

  std::uint64_t fill_bits(ExprId id, DType dtype) {
    const Number number = number_of(evaluator_.value(id), evaluator_.at(id));
    const Encoded encoded = encode(scalar_format(dtype), number);
    if (!encoded.bits) {
      fail(evaluator_.at(id),
           fmt::format("a tensor of {} cannot be filled with this: {}", dtype_row(dtype).name,
                       encoded.why_none),
           "type_mismatch");
    }
    return *encoded.bits;
  }

  void bind(const Inout& inout, Position /*at*/) {
    const TensorRef tensor = evaluator_.tensor(inout.tensor);
    if (tensor.role == BoundTensor::Role::kOutput || tensor.role == BoundTensor::Role::kScratch) {
      fail(evaluator_.at(inout.tensor),
           fmt::format("`{}` may be written anyway; remove the `inout`",
                       evaluator_.expr(inout.tensor).text));
    }
    bound_.tensors[slot(tensor)].writable = true;
  }

  void bind(const If& branch, Position /*at*/) {
    execute_in_scope(evaluator_.condition(branch.condition) ? branch.then : branch.otherwise);
  }

  void bind(const For& loop, Position at) {
    const std::int64_t last = evaluator_.integer(loop.last);
    for (std::int64_t i = evaluator_.integer(loop.first); i < last; ++i) {
      if (++statements_ > kMaxStatements) {
        fail(at, fmt::format("the loop goes from {} on to {}: the plan runs through more than {} "
                             "statements; shorten it",
                             i, last, kMaxStatements));
      }
      scope_.push();
      scope_.define(loop.name, i, at);
      execute(loop.body);
      scope_.pop();
    }
  }

  void bind(const LaunchStatement& launch, Position at) {
    if (bound_.launches.size() >= kMaxLaunches) {
      fail(at, fmt::format("the plan makes more than {} launches; move the loop into the kernel",
                           kMaxLaunches));
    }
    BoundLaunch bound;
    bound.line = at.line;
    bound.column = at.column;
    bound.cooperative = launch.cooperative;
    bound.kernel = kernel_text(launch, at);
    bound.grid = checked_grid(extents(launch.grid));
    bound.block = checked_block(extents(launch.block), limits_);
    if (!launch.cluster.sizes.empty()) {
      bound.cluster = checked_cluster(extents(launch.cluster), bound.grid);
    }
    if (launch.shared_bytes) {
      bound.shared_bytes = checked_shared(evaluator_.integer(*launch.shared_bytes),
                                          evaluator_.at(*launch.shared_bytes), limits_);
    }
    bind_arguments(launch, bound);
    if (kernels_.insert(bound.kernel).second) bound_.name_expressions.push_back(bound.kernel);
    bound_.launches.push_back(std::move(bound));
  }

  std::string kernel_text(const LaunchStatement& launch, Position at) {
    std::string text = launch.kernel;
    for (std::size_t i = 0; i < launch.template_arguments.size(); ++i) {
      text += (i == 0 ? "<" : ", ") + evaluator_.template_text(launch.template_arguments[i]);
      if (text.size() > kMaxKernelText) {
        fail(at, fmt::format("the kernel's name with its template arguments is longer than {} "
                             "characters; give it an alias in the C++ code",
                             kMaxKernelText));
      }
    }
    return text + (launch.template_arguments.empty() ? "" : ">");
  }

  ExtentList extents(const ExtentExprs& exprs) {
    ExtentList result;
    result.at = exprs.at;
    result.each.fill(exprs.at);
    for (std::size_t i = 0; i < exprs.sizes.size(); ++i) {
      result.sizes[i] = evaluator_.integer(exprs.sizes[i]);
      result.each[i] = evaluator_.at(exprs.sizes[i]);
    }
    return result;
  }

  void bind_arguments(const LaunchStatement& launch, BoundLaunch& bound) {
    for (const ExprId id : launch.arguments) {
      const Position at = evaluator_.at(id);
      if (++arguments_ > kMaxArguments || bound.arguments.size() >= kMaxArgumentsOfLaunch) {
        fail(at, fmt::format("a launch takes at most {} arguments, all launches together {}",
                             kMaxArgumentsOfLaunch, kMaxArguments));
      }
      const PlanValue value = evaluator_.value(id);
      BoundArgument argument;
      argument.line = at.line;
      argument.column = at.column;
      if (const auto* tensor = std::get_if<TensorRef>(&value)) {
        argument.value = slot(*tensor);
      } else {
        std::visit([&](auto number) { argument.value = number; }, number_of(value, at));
      }
      bound.arguments.push_back(argument);
    }
  }

  /// The tensor's index in BoundPlan::tensors. A tensor of the problem gets one when it is first
  /// named.
  std::size_t slot(TensorRef tensor) {
    const auto [found, is_new] = slots_.emplace(tensor, bound_.tensors.size());
    if (is_new) {
      BoundTensor bound;
      bound.role = tensor.role;
      bound.index = tensor.index;
      bound.info = scope_.info(tensor);
      bound_.tensors.push_back(std::move(bound));
    }
    return found->second;
  }

  const Plan::Impl& plan_;
  const DeviceLimits& limits_;
  Scope scope_;
  Evaluator evaluator_;
  BoundPlan bound_;
  std::map<TensorRef, std::size_t> slots_;
  std::set<std::string> kernels_;
  std::size_t allocated_bytes_ = 0;
  std::int64_t statements_ = 0, arguments_ = 0;
};

}  // namespace

BoundPlan bind(const Plan::Impl& plan, const Signature& signature, const DeviceLimits& limits) {
  return Binder(plan, signature, limits).run();
}

}  // namespace kbench::plan
