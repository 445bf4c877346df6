// SPDX-License-Identifier: MIT
#include <cstdint>
#include <string_view>
#include <vector>

#include "kbench/error.hpp"
#include "kbench/ptx.hpp"
#include "ptx/parse/syntax.hpp"

// Any text gives a module, Unsupported or one Error; what loads may be launched with any arguments
// and gives a result within its budget.
namespace {

using namespace kbench::ptx;

constexpr std::uint64_t kInstructions = 2000;

/// Arguments of the right sizes: buffers where a pointer fits, small numbers elsewhere.
std::vector<std::vector<std::byte>> arguments(const FunctionText& kernel, std::byte* buffer) {
  std::vector<std::vector<std::byte>> values;
  for (const Variable& parameter : kernel.parameters) {
    std::vector<std::byte> bytes(parameter.bytes(), std::byte{0});
    const std::uint64_t value = bytes.size() == 8 ? reinterpret_cast<std::uint64_t>(buffer) : 5;
    for (std::size_t i = 0; i < bytes.size() && i < 8; ++i) {
      bytes[i] = static_cast<std::byte>(value >> (8 * i));
    }
    values.push_back(std::move(bytes));
  }
  return values;
}

void run(Module& module, const FunctionText& kernel) {
  static std::vector<std::byte> buffer(4096);
  const Region region{"buffer", buffer.data(), 2048, 0, 1024, true, nullptr};
  Launch launch;
  launch.kernel = kernel.name;
  launch.grid = {2, 1, 1};
  launch.block = {40, 1, 1};
  launch.dynamic_shared_bytes = 256;
  launch.arguments = arguments(kernel, buffer.data());
  Options options;
  options.threads = 1;
  options.max_instructions = kInstructions;
  for (const Sanitize sanitize : {Sanitize::kNone, Sanitize::kMemory}) {
    options.sanitize = sanitize;
    static_cast<void>(kbench::ptx::launch(module, {&region, 1}, launch, options));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    auto loaded = load(text);
    auto* module = std::get_if<Module>(&loaded);
    if (module == nullptr) return 0;
    for (const FunctionText& function : parse(text).functions) {
      if (function.entry && function.defined) run(*module, function);
    }
  } catch (const kbench::Error&) {
    return 0;
  }
  return 0;
}
