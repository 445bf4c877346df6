// SPDX-License-Identifier: MIT
#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <numeric>
#include <thread>

#include "kbench/ptx.hpp"
#include "ptx/launch/block.hpp"
#include "ptx/launch/launch_limits.hpp"
#include "ptx/machine/heap.hpp"
#include "ptx/machine/joins.hpp"
#include "ptx/machine/names.hpp"
#include "ptx/machine/program.hpp"
#include "ptx/memory/module_memory.hpp"
#include "ptx/observe/counters.hpp"
#include "ptx/observe/races.hpp"

namespace kbench::ptx {

namespace {

const Function* find_kernel(const Program& program, std::string_view name) {
  for (const auto& function : program.functions) {
    if (function->entry && function->name == name) return function.get();
  }
  return nullptr;
}

}  // namespace

struct Module::Impl {
  std::unique_ptr<Program> program;
};

Module::Module() : impl(std::make_unique<Impl>()) {}
Module::~Module() = default;
Module::Module(Module&&) noexcept = default;
Module& Module::operator=(Module&&) noexcept = default;

std::vector<std::string> Module::kernels() const {
  std::vector<std::string> names;
  for (const auto& function : impl->program->functions) {
    if (function->entry) names.push_back(function->name);
  }
  return names;
}

std::optional<std::vector<std::size_t>> Module::parameter_bytes(std::string_view kernel) const {
  const Function* function = find_kernel(*impl->program, kernel);
  if (function == nullptr) return std::nullopt;
  std::vector<std::size_t> bytes;
  for (const auto& parameter : function->parameters) bytes.push_back(parameter.bytes);
  return bytes;
}

std::span<std::byte> Module::variable(std::string_view name) {
  for (Program::Global& global : impl->program->globals) {
    // The stored name is "constant w" or "variable w", for use in messages.
    const std::string_view known = global.name;
    if (known.substr(known.find(' ') + 1) == name) return {global.storage.data(), global.bytes};
  }
  return {};
}

std::vector<std::span<std::byte>> own_memory(Module& module) {
  const Program& program = *module.impl->program;
  std::vector<std::span<std::byte>> memory;
  for (const Program::Global& global : program.globals)
    if (!global.constant) memory.emplace_back(global.storage.data(), global.bytes);
  if (program.heap) memory.emplace_back(program.heap->data(), DeviceHeap::kBytes);
  return memory;
}

namespace {

std::variant<std::unique_ptr<Program>, Unsupported> built(std::string_view ptx, Refuse refuse) {
  ModuleText text;
  try {
    text = parse(ptx);
    if (text.rejected) throw Rejected(*text.rejected);
    return build(text, refuse);
  } catch (const Rejected& rejected) {
    Unsupported unsupported{rejected.instruction,
                            rejected.message,
                            rejected.position.ptx_line,
                            {},
                            rejected.position.line};
    const auto file = static_cast<std::size_t>(rejected.position.file);
    if (file < text.files.size()) unsupported.file = text.files[file];
    return unsupported;
  }
}

}  // namespace

std::variant<Module, Unsupported> load(std::string_view ptx) {
  auto made = built(ptx, Refuse::kSeen);
  if (auto* unsupported = std::get_if<Unsupported>(&made)) return std::move(*unsupported);
  Module module;
  module.impl->program = std::get<std::unique_ptr<Program>>(std::move(made));
  return module;
}

std::variant<Module, Unsupported> load_lazily(std::string_view ptx) {
  auto made = built(ptx, Refuse::kReached);
  if (auto* unsupported = std::get_if<Unsupported>(&made)) return std::move(*unsupported);
  auto module = load(".version 8.0\n.target sm_90\n.address_size 64\n");
  std::get<Module>(module).impl->program = std::get<std::unique_ptr<Program>>(std::move(made));
  return module;
}

namespace {

/// The finaliser of SplitMix64.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// The order of the blocks: by number, or a permutation chosen by the seed.
class BlockOrder {
 public:
  BlockOrder(std::uint64_t count, std::uint64_t seed) : count_(count) {
    if (seed == 0) return;
    const std::uint64_t mixed = mix(seed);
    offset_ = mixed % count;
    step_ = mix(mixed) % count;
    while (std::gcd(step_, count) != 1) step_ = (step_ + 1) % count;
  }
  std::uint64_t operator[](std::uint64_t i) const {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(i) * step_ + offset_) %
                                      count_);
  }

 private:
  std::uint64_t count_, offset_ = 0, step_ = 1;
};

/// Limit of blocks that wait after a load while others continue. A higher limit would take more
/// memory and find no more races.
constexpr std::size_t kParted = 32;

/// Assigns clusters of blocks to host threads: new ones up to the residency, then suspended ones.
class Schedule {
 public:
  Schedule(Grid& grid, std::uint64_t resident, std::uint64_t seed, LaunchCounters* counters)
      : grid_(grid),
        total_(product(grid.launch->grid) / product(grid.cluster)),
        resident_(std::max<std::uint64_t>(resident / product(grid.cluster), 1)),
        order_(total_, seed),
        counters_(counters) {}

  /// Runs blocks until none is left. An exception in a host thread is kept for finish().
  void work(std::uint64_t& executed) {
    try {
      run_blocks(executed);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!thrown_) thrown_ = std::current_exception();
      grid_.stop.store(true);
      changed_.notify_all();
    }
  }

  void finish() {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  void run_blocks(std::uint64_t& executed) {
    Context context;
    context.grid = &grid_;
    context.extents.assign(grid_.program->slots, &MemoryMap::nowhere());
    const auto observer = both(counters_ != nullptr ? counters_->observer() : nullptr,
                               grid_.races != nullptr ? grid_.races->observer() : nullptr);
    context.observer = observer.get();
    while (auto cluster = take()) {
      const BlockEnd end = run_cluster(context, *cluster);
      give(std::move(cluster), end);
    }
    executed = context.executed;
  }

  std::unique_ptr<Cluster> take() {
    std::unique_lock lock(mutex_);
    while (!grid_.stop.load()) {
      const bool fresh = next_ < total_ && active_ < resident_;
      if (parted_.size() >= kParted || (!fresh && !parted_.empty())) {
        auto cluster = std::move(parted_.front());
        parted_.pop_front();
        return cluster;
      }
      if (fresh) {
        const std::uint64_t linear = order_[next_++];
        ++active_;
        lock.unlock();
        return make_cluster(grid_, linear);
      }
      if (!suspended_.empty()) {
        auto cluster = std::move(suspended_.front());
        suspended_.pop_front();
        return cluster;
      }
      if (active_ == 0) break;
      changed_.wait_for(lock, std::chrono::milliseconds(5));
    }
    changed_.notify_all();
    return nullptr;
  }

  void give(std::unique_ptr<Cluster> cluster, BlockEnd end) {
    const std::lock_guard lock(mutex_);
    if (end == BlockEnd::kSuspended) {
      suspended_.push_back(std::move(cluster));
    } else if (end == BlockEnd::kParted) {
      parted_.push_back(std::move(cluster));
    } else {
      --active_;
    }
    changed_.notify_one();
  }

  Grid& grid_;
  std::uint64_t total_, resident_;
  BlockOrder order_;
  LaunchCounters* counters_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::exception_ptr thrown_;
  std::uint64_t next_ = 0, active_ = 0;
  std::deque<std::unique_ptr<Cluster>> suspended_, parted_;
};

void add_memory(Grid& grid, const Program& program, std::span<const Region> regions) {
  for (const Region& region : regions) {
    grid.memory.add({reinterpret_cast<std::uint64_t>(region.base), region.size_bytes,
                     region.red_zone_before, region.red_zone_after, region.writable, region.name,
                     grid.watched ? region.written : nullptr});
  }
  for (const Program::Global& global : program.globals) {
    grid.memory.add({reinterpret_cast<std::uint64_t>(global.storage.data()), global.bytes, 0, 0,
                     !global.constant, global.name, nullptr});
  }
  if (program.heap) {
    grid.memory.add({reinterpret_cast<std::uint64_t>(program.heap->data()), DeviceHeap::kBytes, 0,
                     0, true, "device heap", nullptr});
  }
  if (grid.launch->cooperative) {
    grid.memory.add({reinterpret_cast<std::uint64_t>(grid.workspace.data()), sizeof grid.workspace,
                     0, 0, true, "grid barrier", nullptr});
  }
  grid.memory.seal();
}

Bytes pack_parameters(const Function& kernel, const Launch& launch) {
  Bytes buffer(std::max(kernel.parameter_bytes, 1U));
  std::memset(buffer.data(), 0, buffer.size());
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    if (launch.arguments[i].empty()) continue;
    std::memcpy(buffer.data() + kernel.parameters[i].offset, launch.arguments[i].data(),
                launch.arguments[i].size());
  }
  return buffer;
}

Result failed(Fault fault) {
  Result result;
  Finding finding;
  static_cast<Site&>(finding) = fault;
  finding.message = fault.message;
  result.findings.push_back(std::move(finding));
  result.fault = std::move(fault);
  return result;
}

/// True if lanes could go around a barrier of the kernel.
bool can_avoid_barriers(Program& program, const Function& kernel) {
  std::call_once(program.joins_found, [&] { find_joins(program); });
  return kernel.has_sites || std::ranges::any_of(program.functions, [](const auto& function) {
           return !function->entry && function->has_sites;
         });
}

/// Moves the findings to the result.
void collect(Grid& grid, Result& result) {
  Finding finding;
  if (grid.fault) {
    finish_fault(*grid.fault, grid.fault_details);
    static_cast<Site&>(finding) = *grid.fault;
    finding.message = grid.fault->message;
    finding.count = std::max<std::uint64_t>(grid.fault_details.threads, 1);
  }
  result.findings = grid.findings.take(grid.fault ? &finding : nullptr, grid.options->max_findings);
  result.findings_left_out = grid.findings.left_out();
  result.fault = std::move(grid.fault);
}

}  // namespace

Result launch(Module& module, std::span<const Region> regions, const Launch& launch,
              const Options& options) {
  Program& program = *module.impl->program;
  const Function* kernel = find_kernel(program, launch.kernel);
  if (kernel == nullptr) return failed(bad_launch(launch, "the module has no kernel of this name"));
  if (auto fault = check_launch(*kernel, launch, options.device)) return failed(std::move(*fault));
  Grid grid;
  grid.program = &program;
  grid.cluster = cluster_extents(*kernel, launch);
  grid.explicit_cluster = launch.cluster[0] != 0 || kernel->required_cluster[0] != 0;
  grid.kernel = kernel;
  grid.launch = &launch;
  grid.options = &options;
  grid.watched = options.sanitize != Sanitize::kNone;
  if (grid.watched) grid.tracked = can_avoid_barriers(program, *kernel);
  // Hashed, because seeds of interleaved launches may follow a pattern; each launch then soon runs
  // in both orders.
  grid.backwards = options.schedule_seed != 0 && mix(options.schedule_seed) >> 63 != 0;
  grid.parts = grid.watched && options.schedule_seed != 0;
  grid.parameters = pack_parameters(*kernel, launch);
  grid.shared_bytes = kernel->shared_bytes + launch.dynamic_shared_bytes;
  grid.tids = number_threads(launch.block);
  add_memory(grid, program, regions);
  std::optional<Races> races;
  if (options.sanitize == Sanitize::kAll) grid.races = &races.emplace(grid);
  const std::uint64_t blocks = product(launch.grid);
  const unsigned cores =
      options.threads != 0 ? options.threads : std::max(std::thread::hardware_concurrency(), 1U);
  const auto workers = static_cast<std::size_t>(std::min<std::uint64_t>(cores, blocks));
  std::optional<LaunchCounters> counters;
  if (options.count) counters.emplace(program, regions);
  Schedule schedule(grid, resident_blocks(options.device, product(launch.block), grid.shared_bytes),
                    options.schedule_seed, counters ? &*counters : nullptr);
  std::vector<std::uint64_t> executed(workers, 0);
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < workers; ++i) {
    threads.emplace_back([&schedule, &executed, i] { schedule.work(executed[i]); });
  }
  schedule.work(executed[0]);
  for (std::thread& thread : threads) thread.join();
  schedule.finish();
  Result result;
  result.statistics.warp_instructions =
      std::accumulate(executed.begin(), executed.end(), std::uint64_t{0});
  if (counters) result.statistics.counters = counters->total();
  result.statistics.read_clock = grid.read_clock.load();
  collect(grid, result);
  return result;
}

}  // namespace kbench::ptx
