// SPDX-License-Identifier: MIT
#include "os/descriptor_limit.hpp"

#include <sys/resource.h>

namespace kbench {

void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace kbench
