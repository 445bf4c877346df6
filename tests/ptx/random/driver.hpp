// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>

#include "ptx/random/outputs.hpp"

namespace kbench::ptx::random {

/// How the driver's compiler makes machine code.
enum class Assembly : std::uint8_t { kOptimized, kPlain };

/// The first GPU by the driver's library, opened at run time. After a failed launch it is of no use
/// any more.
class Gpu {
 public:
  /// Why there is none, or the GPU.
  static std::variant<std::unique_ptr<Gpu>, Failure> open();
  ~Gpu();
  /// Assembles and runs a kernel. A failure says what the driver says.
  std::variant<Outputs, Failure> run(const Kernel& kernel,
                                     Assembly assembly = Assembly::kOptimized);
  const std::string& name() const { return name_; }

 private:
  struct Library;
  explicit Gpu(std::unique_ptr<Library> library);
  std::string start();
  std::string launch(const Kernel& kernel, void* module, Outputs& outputs);
  std::string check(int code, const char* what) const;

  std::unique_ptr<Library> library_;
  std::string name_;
};

}  // namespace kbench::ptx::random
