// SPDX-License-Identifier: MIT
#include "run/build/cancelled_builds.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <array>

#include "kbench/error.hpp"
#include "run/build/extension_builder.hpp"

namespace kbench::run {

CancelledBuilds::CancelledBuilds(ExtensionBuilder& builder, int cancel_fd)
    : end_(::eventfd(0, EFD_CLOEXEC)) {
  if (!end_) throw Error("cannot create an eventfd");
  thread_ = std::thread([&builder, cancel_fd, end = end_.value()] {
    std::array<pollfd, 2> polls{pollfd{cancel_fd, POLLIN, 0}, pollfd{end, POLLIN, 0}};
    while (::poll(polls.data(), polls.size(), -1) <= 0) {
    }
    if (polls[0].revents != 0) builder.cancel();
  });
}

CancelledBuilds::~CancelledBuilds() {
  ::eventfd_write(end_.value(), 1);
  thread_.join();
}

}  // namespace kbench::run
