// SPDX-License-Identifier: MIT
#pragma once

#include <iosfwd>

#include "report/compare/comparison.hpp"

namespace kbench::report {

/// For people at a terminal: fits its width, colour where the options ask for it.
void write_comparison_console(const Comparison& comparison, std::ostream& out);
/// The whole model, for programs; one sample a line.
void write_comparison_json(const Comparison& comparison, std::ostream& out);
/// One row per sample and run (RFC 4180), with those that one run alone has.
void write_comparison_csv(const Comparison& comparison, std::ostream& out);
/// For a page or a pull request.
void write_comparison_markdown(const Comparison& comparison, std::ostream& out);

}  // namespace kbench::report
