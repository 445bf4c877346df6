// SPDX-License-Identifier: MIT
#include "worker/reference/embedded_python.hpp"

#include <fmt/format.h>
#include <pybind11/embed.h>

#include <map>
#include <string>

#include "worker/reference/embedded_sources.hpp"

namespace py = pybind11;

namespace kbench::worker {
namespace {

using Modules = std::map<std::string, py::module_>;

Modules make_modules() {
  const auto builtins = py::module_::import("builtins");
  const auto module_type = py::module_::import("types").attr("ModuleType");
  auto known = py::module_::import("sys").attr("modules");
  const py::object package = module_type("kbench_worker");
  package.attr("__path__") = py::list();
  known["kbench_worker"] = package;
  Modules modules;
  for (const auto& [name, source] : kEmbeddedSources) {
    const auto full_name = fmt::format("kbench_worker.{}", name);
    const py::object made = module_type(full_name);
    known[full_name.c_str()] = made;
    // Tracebacks show this file name.
    const auto code = builtins.attr("compile")(source, fmt::format("<kbench>/{}.py", name), "exec");
    builtins.attr("exec")(code, made.attr("__dict__"));
    package.attr(name) = made;
    modules.emplace(name, py::reinterpret_borrow<py::module_>(made));
  }
  return modules;
}

}  // namespace

py::module_& embedded_module(const char* name) {
  static Modules* modules = new Modules(make_modules());
  return modules->at(name);
}

}  // namespace kbench::worker
