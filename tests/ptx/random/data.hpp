// SPDX-License-Identifier: MIT
#pragma once

#include "ptx/random/kernel.hpp"
#include "ptx/random/rng.hpp"

namespace kbench::ptx::random {

/// A value of a kind, as bits: edges often, else all magnitudes.
std::uint64_t sample(Rng& rng, Kind kind);

/// The five sections of a kernel's input.
std::vector<std::byte> input_data(Rng& rng);

/// What the threads' own memory holds at first.
std::vector<std::byte> own_data(Rng& rng, std::size_t threads);

}  // namespace kbench::ptx::random
