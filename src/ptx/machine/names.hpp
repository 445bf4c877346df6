// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "ptx/parse/syntax.hpp"

/// Names and source positions as messages show them.
namespace kbench::ptx {

/// "softmax<float, 4>" for "_Z7softmaxIfLi4EEvPT_": the function with its template arguments.
std::string readable_name(const std::string& symbol);

/// "kernel.cu:12", or "reduce.cuh:7, inlined at kernel.cu:12"; empty if the position is unknown.
std::string readable_place(const std::vector<std::string>& files, const Position& position);

}  // namespace kbench::ptx
