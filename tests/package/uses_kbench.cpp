// SPDX-License-Identifier: MIT
// Runs a PTX kernel and reads a run file, as a program that links the installed package would.
#include <cstring>
#include <iostream>
#include <kbench/error.hpp>
#include <kbench/ptx.hpp>
#include <kbench/run_file.hpp>

namespace {

constexpr const char* kDouble = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry twice(.param .u64 p)
{
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [p];
  ld.global.u32 %r1, [%rd1];
  shl.b32 %r1, %r1, 1;
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

int twice(int value) {
  auto module = std::get<kbench::ptx::Module>(kbench::ptx::load(kDouble));
  auto* const at = reinterpret_cast<std::byte*>(&value);
  const kbench::ptx::Region region{.name = "value", .base = at, .size_bytes = sizeof value};
  std::vector<std::byte> pointer(sizeof at);
  std::memcpy(pointer.data(), &at, sizeof at);
  const kbench::ptx::Launch launch{.kernel = "twice", .arguments = {pointer}};
  const auto result = kbench::ptx::launch(module, {&region, 1}, launch, {});
  if (result.fault) throw kbench::Error(result.fault->message);
  return value;
}

}  // namespace

int main(int, char** arguments) {
  std::cout << "doubled " << twice(21) << ", " << kbench::read_run(arguments[1]).records.size()
            << " records\n";
}
