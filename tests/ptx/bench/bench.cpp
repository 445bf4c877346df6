// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "ptx/nvrtc_helper.hpp"

// Times the executor on one kernel and prints one line of JSON:
//   ptx_bench CASE SIZE [--threads N] [--sanitize none|memory|all] [--seconds S] [--ptx]
namespace kbench::ptx::testing {
namespace {

struct Arguments {
  std::string name;
  unsigned size = 0;
  double seconds = 0.5;  // of repetitions; at least one
  bool print_ptx = false;
  Options options;
};

/// What one case launches: float buffers, whose addresses come first, then integers.
struct Job {
  Launch launch;
  std::vector<std::size_t> buffers;  // elements of each; the last one is the output
  std::vector<int> numbers;
  double work = 0;  // elements, or floating-point operations of a matrix product
};

struct Case {
  std::string_view name;
  Job (*make)(unsigned size);
};

Job arithmetic(unsigned size) {
  Job job;
  job.launch.grid = {64, 1, 1};
  job.launch.block = {256, 1, 1};
  job.buffers = {std::size_t{64} * 256};
  job.numbers = {static_cast<int>(size)};
  job.work = 64.0 * 256 * 4 * size;
  return job;
}

Job vector_add(unsigned size) {
  Job job;
  job.launch.grid = {(size + 255) / 256, 1, 1};
  job.launch.block = {256, 1, 1};
  job.buffers = {size, size, size};
  job.numbers = {static_cast<int>(size)};
  job.work = size;
  return job;
}

/// Rows of 1000 columns.
Job softmax(unsigned size) {
  constexpr unsigned kColumns = 1000;
  Job job;
  job.launch.grid = {size, 1, 1};
  job.launch.block = {256, 1, 1};
  job.buffers = {std::size_t{size} * kColumns, std::size_t{size} * kColumns};
  job.numbers = {static_cast<int>(kColumns)};
  job.work = double{kColumns} * size;
  return job;
}

Job product(unsigned size, std::array<std::uint32_t, 3> block, unsigned tile) {
  const std::size_t elements = std::size_t{size} * size;
  Job job;
  job.launch.grid = {(size + tile - 1) / tile, (size + tile - 1) / tile, 1};
  job.launch.block = block;
  job.buffers = {elements, elements, elements};
  job.numbers = {static_cast<int>(size)};
  job.work = 2.0 * size * size * size;
  return job;
}

constexpr Case kCases[] = {
    {"arithmetic", arithmetic},
    {"vector_add", vector_add},
    {"softmax", softmax},
    {"matmul16",
     [](unsigned size) {
       return product(size, {16, 16, 1}, 16);
     }},
    {"matmul32",
     [](unsigned size) {
       return product(size, {32, 32, 1}, 32);
     }},
    {"matmul_registers",
     [](unsigned size) {
       return product(size, {256, 1, 1}, 128);
     }},
};

Arguments parse(const std::vector<std::string>& words) {
  Arguments arguments;
  if (words.size() < 2) throw std::runtime_error("a case and a size are missing");
  arguments.name = words[0];
  arguments.size = static_cast<unsigned>(std::stoul(words[1]));
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (words[i] == "--ptx") {
      arguments.print_ptx = true;
      continue;
    }
    if (i + 1 == words.size()) throw std::runtime_error(words[i] + " needs a value");
    const std::string& value = words[i + 1];
    if (words[i] == "--threads") {
      arguments.options.threads = static_cast<unsigned>(std::stoul(value));
    } else if (words[i] == "--seconds") {
      arguments.seconds = std::stod(value);
    } else if (words[i] == "--sanitize" && (value == "none" || value == "memory")) {
      arguments.options.sanitize = value == "none" ? Sanitize::kNone : Sanitize::kMemory;
    } else if (words[i] == "--sanitize" && value == "all") {
      arguments.options.sanitize = Sanitize::kAll;
    } else {
      throw std::runtime_error("unknown: " + words[i] + " " + value);
    }
    ++i;
  }
  return arguments;
}

std::string kernels() {
  std::ifstream file(KBENCH_SOURCE_DIR "/tests/ptx/bench/kernels.cu");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The output as kbench gives it to kernels: filled with 0xFF bytes, and its writes are noted.
struct Memory {
  std::vector<Buffer<float>> buffers;
  std::vector<Region> regions;
  std::unique_ptr<Written> written;
};

Memory make_memory(const Job& job, Sanitize sanitize) {
  Memory memory;
  std::mt19937 engine(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (std::size_t i = 0; i < job.buffers.size(); ++i) {
    memory.buffers.emplace_back(fmt::format("buffer {}", i), job.buffers[i]);
    Buffer<float>& buffer = memory.buffers.back();
    const bool output = i + 1 == job.buffers.size();
    for (std::size_t k = 0; k < buffer.size(); ++k) buffer[k] = uniform(engine);
    if (output) std::memset(buffer.data(), 0xff, buffer.size() * sizeof(float));
    memory.regions.push_back(buffer.region(output));
  }
  if (sanitize != Sanitize::kNone) {
    memory.written = std::make_unique<Written>(memory.regions.back().size_bytes);
    memory.regions.back().written = memory.written.get();
  }
  return memory;
}

nlohmann::json measure(const Arguments& arguments) {
  const auto* found = std::find_if(std::begin(kCases), std::end(kCases),
                                   [&](const Case& c) { return c.name == arguments.name; });
  if (found == std::end(kCases)) throw std::runtime_error("unknown case " + arguments.name);
  if (const auto why = nvrtc_missing(); !why.empty()) throw std::runtime_error(why);
  const std::string ptx = compile(kernels());
  if (arguments.print_ptx) std::cerr << ptx;
  auto loaded = load(ptx);
  if (const auto* refused = std::get_if<Unsupported>(&loaded)) {
    throw std::runtime_error(refused->instruction + ": " + refused->message);
  }
  Module& module = std::get<Module>(loaded);
  Job job = found->make(arguments.size);
  Memory memory = make_memory(job, arguments.options.sanitize);
  job.launch.kernel = arguments.name;
  for (auto& buffer : memory.buffers) job.launch.arguments.push_back(bytes_of(buffer.data()));
  for (const int number : job.numbers) job.launch.arguments.push_back(bytes_of(number));
  double best = 0, best_cpu = 0, spent = 0;
  std::uint64_t instructions = 0;
  while (spent == 0 || spent < arguments.seconds) {
    const std::clock_t cpu = std::clock();
    const auto begin = std::chrono::steady_clock::now();
    const Result result = launch(module, memory.regions, job.launch, arguments.options);
    const double s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (result.fault) throw std::runtime_error(result.fault->message);
    if (!result.findings.empty()) throw std::runtime_error(result.findings[0].message);
    const double cpu_s = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
    best = spent == 0 ? s : std::min(best, s);
    best_cpu = spent == 0 ? cpu_s : std::min(best_cpu, cpu_s);
    spent += s;
    instructions = result.statistics.warp_instructions;
  }
  return {{"case", arguments.name},
          {"size", arguments.size},
          {"seconds", best},
          {"cpu_seconds", best_cpu},  // of all threads: what others run here counts less
          {"work", job.work},
          {"warp_instructions", instructions},
          {"thread_ginstr_per_s", static_cast<double>(instructions) * 32e-9 / best}};
}

}  // namespace
}  // namespace kbench::ptx::testing

int main(int count, char** words) {
  try {
    const auto arguments = kbench::ptx::testing::parse({words + 1, words + count});
    std::cout << kbench::ptx::testing::measure(arguments).dump() << "\n";
  } catch (const std::exception& error) {
    std::cerr << "ptx_bench: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
