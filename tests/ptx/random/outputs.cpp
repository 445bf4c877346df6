// SPDX-License-Identifier: MIT
#include "ptx/random/outputs.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "kbench/error.hpp"
#include "ptx/random/rng.hpp"

namespace kbench::ptx::random {
namespace {

using u64 = std::uint64_t;

constexpr std::string_view kNames[] = {"pred", "b16",   "b32",    "b64", "f16",
                                       "bf16", "f16x2", "bf16x2", "f32", "f64"};

/// Bits of a format's infinity; above it, without the sign, are NaNs.
struct Special {
  u64 infinity, nan;
  unsigned bits;
};
Special special(Kind kind) {
  switch (kind) {
    case Kind::kF16:
    case Kind::kF16x2:
      return {0x7c00, 0x7fff, 16};
    case Kind::kBf16:
    case Kind::kBf16x2:
      return {0x7f80, 0x7fff, 16};
    case Kind::kF32:
      return {0x7f800000, 0x7fffffff, 32};
    case Kind::kF64:
      return {0x7ff0000000000000ULL, 0x7fffffffffffffffULL, 64};
    default:
      return {~u64{0}, 0, 0};
  }
}

u64 canonical(Kind kind, u64 value) {
  const Special s = special(kind);
  if (s.bits == 0) return value;
  u64 result = value;
  for (unsigned at = 0; at < 8 * bytes_of(kind); at += s.bits) {
    const u64 field = (value >> at) & s.nan;
    if (field > s.infinity) result |= s.nan << at;
    if (field > s.infinity) result &= ~((s.nan + 1) << at);
  }
  return result;
}

double to_double(Kind kind, u64 bits) {
  if (kind == Kind::kF64) return std::bit_cast<double>(bits);
  if (kind == Kind::kF32)
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  if (kind == Kind::kBf16) {
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits << 16)));
  }
  const int exponent = static_cast<int>((bits >> 10) & 31);
  const double fraction = static_cast<double>(bits & 1023);
  double value =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
  if (exponent == 31) value = fraction != 0 ? NAN : INFINITY;
  return (bits & 0x8000) != 0 ? -value : value;
}

bool agree(const Bound& bound, Kind kind, u64 expected, u64 found) {
  if (expected == found) return true;
  if (bound.relative == 0 && bound.absolute == 0) return false;
  const double a = to_double(kind, expected), b = to_double(kind, found);
  if (a != a || b != b) return a != a && b != b;
  // Next to the largest number one side may be infinite.
  const double beyond = kind == Kind::kF64   ? 0x1.fffffffffffffp1023
                        : kind == Kind::kF16 ? 0x1p16
                                             : 0x1p128;
  const auto finite = [&](double x) { return std::isinf(x) ? std::copysign(beyond, x) : x; };
  return std::fabs(finite(a) - finite(b)) <= bound.relative * std::fabs(finite(a)) + bound.absolute;
}

u64 read(const std::vector<std::byte>& bytes, std::size_t at, std::size_t size) {
  u64 value = 0;
  std::memcpy(&value, bytes.data() + at, size);
  return value;
}

/// Calls visit(bytes, offset, kind, where, thread) for each word that a kernel writes.
template <class Visit>
void each_word(const Kernel& kernel, Visit visit) {
  const std::size_t threads = kernel.threads();
  for (std::size_t r = 0; r < kernel.results.size(); ++r) {
    for (std::size_t t = 0; t < threads; ++t) {
      visit(&Outputs::results, (r * threads + t) * kSlotBytes, kernel.results[r], "result", r, t);
    }
  }
  for (std::size_t at = 0; at < kernel.own.size(); at += kOwnBytes) {
    for (const OwnField& field : kOwnFields) {
      visit(&Outputs::own, at + field.offset, field.kind, "own memory at", field.offset,
            at / kOwnBytes);
    }
  }
  for (std::size_t i = 0; i < kCounters; ++i) {
    visit(&Outputs::counters, 8 * i, Kind::kB64, "counter", i, std::size_t{0});
  }
}

std::vector<std::byte> bytes_of_value(u64 value, std::size_t size) {
  std::vector<std::byte> bytes(size);
  std::memcpy(bytes.data(), &value, size);
  return bytes;
}

template <class T>
Region region(const char* name, const std::vector<T>& data, bool writable) {
  Region region;
  region.name = name;
  region.base = reinterpret_cast<std::byte*>(const_cast<T*>(data.data()));
  region.size_bytes = data.size() * sizeof(T);
  region.writable = writable;
  return region;
}

}  // namespace

Outputs first_outputs(const Kernel& kernel) {
  return {std::vector<std::byte>(kernel.results.size() * kernel.threads() * kSlotBytes), kernel.own,
          kernel.counters};
}

std::variant<Outputs, Failure> execute(const Kernel& kernel, const Options& options) {
  try {
    auto loaded = load(kernel.ptx);
    if (const auto* unsupported = std::get_if<Unsupported>(&loaded)) {
      return Failure{fmt::format("{}: {} (line {})", unsupported->instruction, unsupported->message,
                                 unsupported->ptx_line)};
    }
    Outputs outputs = first_outputs(kernel);
    const auto address = [](const std::vector<std::byte>& data) {
      return bytes_of_value(reinterpret_cast<u64>(data.data()), 8);
    };
    Launch launch;
    launch.kernel = "k";
    launch.block = {kernel.block / kernel.rows, kernel.rows, 1};
    launch.grid = {kernel.grid, 1, 1};
    launch.dynamic_shared_bytes = kernel.dynamic_shared_bytes;
    launch.arguments = {address(kernel.input),
                        address(outputs.results),
                        address(outputs.own),
                        address(outputs.counters),
                        bytes_of_value(kernel.scalars[0], 4),
                        bytes_of_value(kernel.scalars[1], 4),
                        bytes_of_value(kernel.scalars[2], 8)};
    const Region regions[] = {
        region("input", kernel.input, false), region("results", outputs.results, true),
        region("own", outputs.own, true), region("counters", outputs.counters, true)};
    const auto ended = ptx::launch(std::get<Module>(loaded), regions, launch, options);
    if (ended.fault) return Failure{ended.fault->message};
    replace_nans(kernel, outputs);
    return outputs;
  } catch (const Error& error) {
    return Failure{error.what()};
  }
}

void replace_nans(const Kernel& kernel, Outputs& outputs) {
  each_word(kernel,
            [&](auto member, std::size_t at, Kind kind, const char*, std::size_t, std::size_t) {
              const u64 value = canonical(kind, read(outputs.*member, at, bytes_of(kind)));
              std::memcpy((outputs.*member).data() + at, &value, bytes_of(kind));
            });
}

std::uint64_t hash(const Outputs& outputs) {
  u64 hash = hash_bytes({});
  for (const auto* bytes : {&outputs.results, &outputs.own, &outputs.counters}) {
    hash = hash_bytes({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, hash);
  }
  return hash;
}

std::vector<Difference> differences(const Kernel& kernel, const Outputs& expected,
                                    const Outputs& found, std::uint64_t& words) {
  std::vector<Difference> list;
  each_word(kernel, [&](auto member, std::size_t at, Kind kind, const char* what, std::size_t index,
                        std::size_t thread) {
    ++words;
    const u64 a = read(expected.*member, at, bytes_of(kind));
    const u64 b = read(found.*member, at, bytes_of(kind));
    if (agree(kernel.bound, kind, a, b)) return;
    std::string where =
        fmt::format("{} {} ({}", what, index, kNames[static_cast<std::size_t>(kind)]);
    const bool named = member == &Outputs::results && index < kernel.names.size();
    where += named ? fmt::format(" {})", kernel.names[index]) : ")";
    list.push_back({std::move(where), thread, a, b});
  });
  return list;
}

}  // namespace kbench::ptx::random
