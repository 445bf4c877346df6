// SPDX-License-Identifier: MIT
#pragma once

#include <iosfwd>

#include "report/compare/comparison.hpp"

namespace kbench::report {

/// For a terminal: in the options' width, coloured if the options say so.
void write_comparison_console(const Comparison& comparison, std::ostream& out);
/// The whole comparison, for programs; one sample a line.
void write_comparison_json(const Comparison& comparison, std::ostream& out);
/// One row per sample and run (RFC 4180), also for samples that only one run has.
void write_comparison_csv(const Comparison& comparison, std::ostream& out);
/// For a web page or a pull request.
void write_comparison_markdown(const Comparison& comparison, std::ostream& out);

}  // namespace kbench::report
