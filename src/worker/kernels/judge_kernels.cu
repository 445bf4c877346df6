// SPDX-License-Identifier: MIT
// The judge's own device code compares, hashes and scales outputs at memory speed. Each kernel
// writes one partial result per block. The judge adds them in order, so that equal tensors give
// equal numbers. Called by src/worker/device/judge_kernels.cpp.

using u64 = unsigned long long;
constexpr int kThreads = 256;

struct Errors { u64 wrong, first; double max_abs, max_rel, allclose_at; u64 deviations; };
struct Squares { double sum; u64 count; };

struct half_bits { unsigned short bits; };
struct bfloat16_bits { unsigned short bits; };
template <typename T> struct is_floating { static constexpr bool value = false; };
template <> struct is_floating<float> { static constexpr bool value = true; };
template <> struct is_floating<double> { static constexpr bool value = true; };
template <> struct is_floating<half_bits> { static constexpr bool value = true; };
template <> struct is_floating<bfloat16_bits> { static constexpr bool value = true; };

template <typename T> __device__ double number(T x) { return static_cast<double>(x); }
__device__ double number(half_bits x) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(x.bits));
  return f;
}
__device__ double number(bfloat16_bits x) {
  return __uint_as_float(static_cast<unsigned>(x.bits) << 16);
}

/// True for equal values, also for zeros of different signs. False for two NaN.
template <typename T> __device__ bool same(T x, T y) { return x == y; }
template <typename E, typename G> __device__ bool same(E x, G y) { return number(x) == number(y); }
__device__ bool same(half_bits x, half_bits y) { return number(x) == number(y); }
__device__ bool same(bfloat16_bits x, bfloat16_bits y) { return number(x) == number(y); }

__device__ double infinity() { return __longlong_as_double(0x7ff0000000000000ll); }
__device__ bool finite(double x) { return fabs(x) < infinity(); }

/// The bit of the Deviation (expected_output.hpp) by which an answer differs from a non-finite
/// expected output, or 0.
__device__ u64 deviation(double e, double g, double least_bound) {
  if (finite(e)) return finite(g) ? 0 : 2;
  if (e != e) return g == g ? 1 : 0;
  if (g != g) return 2;
  return finite(g) && fabs(g) >= least_bound && (g < 0) == (e < 0) ? 4 : 0;
}

/// Adds two different numbers to `errors`. With a `least_bound` of 0, nothing is a deviation. Not
/// inlined: few elements need it, and compiling a hundred copies takes 20 s.
template <bool kFloating>
__device__ __noinline__ Errors with_error(Errors errors, double e, double g, u64 index,
                                          double scale, double tolerance, double least_bound) {
  double relative = infinity();
  double distance = fabs(e - g);
  if constexpr (kFloating) {
    const u64 deviates = least_bound > 0 ? deviation(e, g, least_bound) : 0;
    errors.deviations |= deviates;
    if (deviates != 0) return errors;
    const bool odd = !(finite(e) && finite(g));
    if (odd) distance = infinity();
    errors.allclose_at = odd ? distance : fmax(errors.allclose_at, distance / (1 + fabs(e)));
    if (e != e && g != g) return errors;
    // Both terms are halved, so that the sum stays finite.
    if (!odd) relative = distance * 0.5 / (fabs(e) * 0.5 + scale * 0.5);
  } else {
    errors.allclose_at = fmax(errors.allclose_at, distance / (1 + fabs(e)));
  }
  errors.max_abs = fmax(errors.max_abs, distance);
  errors.max_rel = fmax(errors.max_rel, relative);
  if (relative > tolerance) {
    ++errors.wrong;
    if (index < errors.first) errors.first = index;
  }
  return errors;
}

template <typename E, typename G>
__device__ void add_error(Errors& errors, E expected, G got, u64 index, double scale,
                          double tolerance, double least_bound) {
  // Most elements are equal, and double precision is slow on many GPUs.
  if (same(expected, got)) return;
  const double e = number(expected);
  const double g = number(got);
  if constexpr (is_floating<E>::value) {
    // Skips the division if the error is no larger than earlier ones and within the tolerance.
    // Non-finite numbers fail the second condition.
    const double distance = fabs(g - e);
    const double bound = fabs(e) * 0.5 + scale * 0.5;
    if (distance <= errors.allclose_at * (1 + fabs(e)) &&
        distance * 0.5 < 0.999 * bound * fmin(errors.max_rel, tolerance)) {
      errors.max_abs = fmax(errors.max_abs, distance);
      return;
    }
  }
  errors = with_error<is_floating<E>::value>(errors, e, g, index, scale, tolerance, least_bound);
}

/// Calls `visit(i)` for this thread's part of all i < n.
template <typename Visit> __device__ void for_each(u64 n, Visit visit) {
  const u64 stride = static_cast<u64>(gridDim.x) * kThreads;
  for (u64 i = static_cast<u64>(blockIdx.x) * kThreads + threadIdx.x; i < n; i += stride) visit(i);
}

/// Calls `use(i, load(i))` likewise. Four loads are in flight at once; a warp that waits for each
/// load reaches only half of the memory's speed. Loads past the end repeat the last element. That
/// is cheaper than a separate loop, which would duplicate a large `use`.
template <typename Load, typename Use> __device__ void for_each_of(u64 n, Load load, Use use) {
  const u64 stride = static_cast<u64>(gridDim.x) * kThreads;
  for (u64 i = static_cast<u64>(blockIdx.x) * kThreads + threadIdx.x; i < n; i += 4 * stride) {
    const u64 j = i + stride, k = j + stride, l = k + stride;
    const auto a = load(i), b = load(j < n ? j : n - 1), c = load(k < n ? k : n - 1),
               d = load(l < n ? l : n - 1);
    use(i, a);
    if (j < n) use(j, b);
    if (k < n) use(k, c);
    if (l < n) use(l, d);
  }
}

/// Merges the threads' values in a fixed order. Thread 0 gets the total.
template <typename T, typename Merge> __device__ T merged(T value, Merge merge) {
  __shared__ alignas(16) unsigned char storage[kThreads * sizeof(T)];
  T* values = reinterpret_cast<T*>(storage);
  values[threadIdx.x] = value;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) merge(values[threadIdx.x], values[threadIdx.x + half]);
  }
  return values[threadIdx.x];
}

template <typename T> union Pack {
  uint4 bits;
  T values[16 / sizeof(T)];
};

__device__ bool aligned(const void* p) { return reinterpret_cast<u64>(p) % 16 == 0; }

/// G may be narrower than E.
template <typename E, typename G>
__device__ void compare(const E* expected, const G* got, u64 n, double scale, double tolerance,
                        double least_bound, Errors* out) {
  constexpr u64 kPer = 16 / sizeof(G), kParts = sizeof(E) / sizeof(G), kPartly = kPer / kParts;
  Errors errors{0, ~0ull, 0, 0, 0, 0};
  const u64 packs = aligned(expected) && aligned(got) ? n / kPer : 0;
  struct Loaded {
    Pack<G> got;
    Pack<E> expected[kParts];
  };
  const auto load = [&](u64 i) {
    Loaded loaded;
    loaded.got.bits = __ldcs(reinterpret_cast<const uint4*>(got) + i);
#pragma unroll
    for (u64 part = 0; part < kParts; ++part)
      loaded.expected[part].bits =
          __ldcs(reinterpret_cast<const uint4*>(expected) + i * kParts + part);
    return loaded;
  };
  for_each_of(packs, load, [&](u64 i, const Loaded& loaded) {
#pragma unroll
    for (u64 part = 0; part < kParts; ++part) {
#pragma unroll
      for (u64 k = 0; k < kPartly; ++k)
        add_error(errors, loaded.expected[part].values[k], loaded.got.values[part * kPartly + k],
                  i * kPer + part * kPartly + k, scale, tolerance, least_bound);
    }
  });
  for_each(n - packs * kPer, [&](u64 i) {
    const u64 at = packs * kPer + i;
    add_error(errors, expected[at], got[at], at, scale, tolerance, least_bound);
  });
  errors = merged(errors, [](Errors& a, const Errors& b) {
    a.wrong += b.wrong;
    a.first = b.first < a.first ? b.first : a.first;
    a.max_abs = fmax(a.max_abs, b.max_abs);
    a.max_rel = fmax(a.max_rel, b.max_rel);
    a.allclose_at = fmax(a.allclose_at, b.allclose_at);
    a.deviations |= b.deviations;
  });
  if (threadIdx.x == 0) out[blockIdx.x] = errors;
}

template <typename T>
__device__ void squares(const T* x, u64 n, double inverse_unit, Squares* out) {
  constexpr u64 kPer = 16 / sizeof(T);
  Squares total{0, 0};
  const auto add = [&](T value) {
    const double v = number(value) * inverse_unit;
    if (!finite(v)) return;
    total.sum += v * v;
    ++total.count;
  };
  const u64 packs = aligned(x) ? n / kPer : 0;
  const auto load = [&](u64 i) {
    Pack<T> pack;
    pack.bits = __ldcs(reinterpret_cast<const uint4*>(x) + i);
    return pack;
  };
  for_each_of(packs, load, [&](u64, const Pack<T>& pack) {
#pragma unroll
    for (u64 k = 0; k < kPer; ++k) add(pack.values[k]);
  });
  for_each(n - packs * kPer, [&](u64 i) { add(x[packs * kPer + i]); });
  total = merged(total, [](Squares& a, const Squares& b) {
    a.sum += b.sum;
    a.count += b.count;
  });
  if (threadIdx.x == 0) out[blockIdx.x] = total;
}

/// Counts elements of x that are not finite although those of y are.
template <typename T> __device__ void odd_alone(const T* x, const T* y, u64 n, u64* out) {
  struct Loaded { T x, y; };
  u64 count = 0;
  for_each_of(n, [&](u64 i) { return Loaded{x[i], y[i]}; }, [&](u64, const Loaded& loaded) {
    count += !finite(number(loaded.x)) && finite(number(loaded.y));
  });
  count = merged(count, [](u64& a, u64 b) { a += b; });
  if (threadIdx.x == 0) out[blockIdx.x] = count;
}

/// Counts elements that are integers of at most that size.
template <typename T> __device__ void whole(const T* x, u64 n, double most, u64* out) {
  u64 count = 0;
  for_each_of(n, [&](u64 i) { return x[i]; }, [&](u64, T value) {
    const double v = number(value);
    count += v == rint(v) && fabs(v) <= most;
  });
  count = merged(count, [](u64& a, u64 b) { a += b; });
  if (threadIdx.x == 0) out[blockIdx.x] = count;
}

#define KBENCH_PAIRS(E, G, name)                                                              \
  extern "C" __global__ void compare_##name(const E* expected, const G* got, u64 n,           \
                                            double scale, double tolerance,                   \
                                            double least_bound, Errors* out) {                \
    compare<E, G>(expected, got, n, scale, tolerance, least_bound, out);                      \
  }
#define KBENCH_NUMBERS(T, name) KBENCH_PAIRS(T, T, name)
#define KBENCH_FLOATS(T, name)                                                                \
  KBENCH_NUMBERS(T, name)                                                                     \
  extern "C" __global__ void squares_##name(const T* x, u64 n, double inverse_unit,           \
                                            Squares* out) {                                   \
    squares<T>(x, n, inverse_unit, out);                                                      \
  }                                                                                           \
  extern "C" __global__ void odd_alone_##name(const T* x, const T* y, u64 n, u64* out) {      \
    odd_alone<T>(x, y, n, out);                                                               \
  }                                                                                           \
  extern "C" __global__ void whole_##name(const T* x, u64 n, double most, u64* out) {         \
    whole<T>(x, n, most, out);                                                                \
  }
KBENCH_FLOATS(float, f32)
KBENCH_FLOATS(double, f64)
KBENCH_FLOATS(half_bits, f16)
KBENCH_FLOATS(bfloat16_bits, bf16)
KBENCH_PAIRS(float, half_bits, f32_f16)
KBENCH_PAIRS(float, bfloat16_bits, f32_bf16)
KBENCH_NUMBERS(long long, i64)
KBENCH_NUMBERS(int, i32)
KBENCH_NUMBERS(short, i16)
KBENCH_NUMBERS(signed char, i8)
KBENCH_NUMBERS(unsigned char, u8)

/// Word i of x, read by bytes. Bytes past the end are 0.
__device__ __noinline__ u64 bytes_of(const unsigned char* x, u64 bytes, u64 i) {
  u64 word = 0;
#pragma unroll 1
  for (u64 k = 8 * i; k < 8 * i + 8 && k < bytes; ++k)
    word |= static_cast<u64>(x[k]) << (8 * (k - 8 * i));
  return word;
}

/// Word i of x. The last word is padded with zeros.
__device__ u64 word_of(const unsigned char* x, u64 bytes, u64 i) {
  if (8 * i + 8 <= bytes && reinterpret_cast<u64>(x) % 8 == 0)
    return reinterpret_cast<const u64*>(x)[i];
  return bytes_of(x, bytes, i);
}

/// The summand of word i in a digest. Only the judge's process knows flip and step.
__device__ u64 digest_part(u64 word, u64 i, u64 flip, u64 step) {
  u64 mixed = word ^ (flip + i * step);
  mixed = (mixed ^ mixed >> 32) * 0xd6e8feb86659fd93ull;
  mixed = (mixed ^ mixed >> 29) * 0x9e3779b97f4a7c15ull;
  return mixed ^ mixed >> 32;
}

extern "C" __global__ void digest(const unsigned char* x, u64 bytes, u64 flip, u64 step, u64* out) {
  u64 sum = 0;
  const auto load = [&](u64 i) { return word_of(x, bytes, i); };
  for_each_of((bytes + 7) / 8, load,
              [&](u64 i, u64 word) { sum += digest_part(word, i, flip, step); });
  sum = merged(sum, [](u64& a, u64 b) { a += b; });
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

/// Copies, and computes the digest of the copied words. Both addresses must be aligned to words.
extern "C" __global__ void copy(const u64* x, u64* y, u64 words, u64 flip, u64 step, u64* out) {
  u64 sum = 0;
  for_each_of(words, [&](u64 i) { return x[i]; }, [&](u64 i, u64 word) {
    y[i] = word;
    sum += digest_part(word, i, flip, step);
  });
  sum = merged(sum, [](u64& a, u64 b) { a += b; });
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

extern "C" __global__ void different_words(const unsigned char* x, const unsigned char* y,
                                           u64 bytes, u64* out) {
  u64 count = 0;
  const auto load = [&](u64 i) {
    return word_of(x, bytes, i) != word_of(y, bytes, i);
  };
  for_each_of((bytes + 7) / 8, load, [&](u64, bool differ) { count += differ; });
  count = merged(count, [](u64& a, u64 b) { a += b; });
  if (threadIdx.x == 0) out[blockIdx.x] = count;
}
