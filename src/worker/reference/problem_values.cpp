// SPDX-License-Identifier: MIT
#include "worker/reference/problem_values.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "kbench/error.hpp"
#include "os/memory_file.hpp"
#include "worker/reference/embedded_python.hpp"

namespace py = pybind11;

namespace kbench::worker {
namespace {

void write_whole(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written <= 0) throw Error("the values of a problem cannot be written");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

// NOLINTNEXTLINE(performance-unnecessary-value-param): its own, to be closed
int problem_values_main(Fd result, Fd request) {
  try {
    const auto problem = nlohmann::json::parse(read_whole(request.value()));
    const ProblemHost host(problem.at("path"), problem.at("source"),
                           problem.at("sizes").get<Sizes>());
    const py::object packed =
        embedded_module("problem_values")
            .attr("pack")(host.module(), problem.at("precision").get<std::string>());
    write_whole(result.value(), packed.cast<std::string>());
    return 0;
  } catch (const ProblemFailure& failure) {
    // The judge meets the same failure and reports it in the record.
    fmt::print(stderr, "{}\n", failure.message);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
  }
  return 1;
}

PackedArguments pack_init_arguments(const ProblemHost& problem, const std::string& device,
                                    const std::string& precision, std::uint64_t seed) {
  try {
    const auto [bytes, is_whole] =
        embedded_module("problem_values")
            .attr("pack_init_arguments")(problem.module(), device, precision, seed)
            .cast<std::pair<std::string, bool>>();
    return {sealed_memory_file(bytes), is_whole};
  } catch (py::error_already_set& error) {
    throw ProblemFailure{"reference_raised",
                         fmt::format("the init arguments cannot be drawn again: {}", error.what()),
                         ""};
  }
}

}  // namespace kbench::worker
