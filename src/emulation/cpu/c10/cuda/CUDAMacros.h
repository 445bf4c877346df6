// SPDX-License-Identifier: MIT
// Means nothing here: kbench_cpu.hpp has its counterparts.
#pragma once
