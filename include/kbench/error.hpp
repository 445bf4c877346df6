// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>

namespace kbench {

/// A fault of kbench or of the machine it runs on: what failed, on which file, what to do about it.
/// Caught at three places: main, the job boundary, the worker's main. Exit code 1.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Bad input by the user (an option, a file, a name): one clear sentence for stderr. Exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace kbench
