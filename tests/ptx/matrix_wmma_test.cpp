// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cmath>

#include "ptx/nvrtc_helper.hpp"

// The matrix API of mma.h as NVRTC compiles it, ldmatrix, stmatrix and movmatrix.
namespace kbench::ptx::testing {
namespace {

using u32 = std::uint32_t;

/// A type of wmma: how C++ names it, the type of the sum, and its shapes.
struct WmmaType {
  const char* element;  ///< of fragments
  const char* memory;
  const char* sum;
  std::vector<std::array<unsigned, 3>> shapes;
  const char* convert = "";  ///< of an element of a fragment
};

const std::array<std::array<unsigned, 3>, 3> kThree{{{16, 16, 16}, {8, 32, 16}, {32, 8, 16}}};

std::vector<WmmaType> wmma_types() {
  const std::vector<std::array<unsigned, 3>> three(kThree.begin(), kThree.end());
  return {{"half", "half", "float", three},
          {"half", "half", "half", three},
          {"__nv_bfloat16", "__nv_bfloat16", "float", three},
          {"signed char", "signed char", "int", three},
          {"unsigned char", "unsigned char", "int", three},
          {"wmma::precision::tf32", "float", "float", {{16, 16, 8}}, "wmma::__float_to_tf32"},
          {"double", "double", "double", {{8, 8, 4}}}};
}

/// d = 2·(a·b) + c + 1, where the elements of memory are small integers: every type is exact.
std::string wmma_source(const WmmaType& type, const std::array<unsigned, 3>& shape, bool row_a,
                        bool row_b, bool row_c, bool shared) {
  const auto layout = [](bool row) { return row ? "wmma::row_major" : "wmma::col_major"; };
  const auto memory_layout = [](bool row) {
    return row ? "wmma::mem_row_major" : "wmma::mem_col_major";
  };
  std::string source = "#include <mma.h>\nusing namespace nvcuda;\n";
  source += fmt::format("typedef {} In; typedef {} Sum;\n", type.memory, type.sum);
  source += fmt::format("typedef wmma::fragment<wmma::matrix_a, {0}, {1}, {2}, {3}, {4}> A;\n",
                        shape[0], shape[1], shape[2], type.element, layout(row_a));
  source += fmt::format("typedef wmma::fragment<wmma::matrix_b, {0}, {1}, {2}, {3}, {4}> B;\n",
                        shape[0], shape[1], shape[2], type.element, layout(row_b));
  source += fmt::format("typedef wmma::fragment<wmma::accumulator, {0}, {1}, {2}, Sum> C;\n",
                        shape[0], shape[1], shape[2]);
  source += fmt::format(R"(
extern "C" __global__ void k(const In* a, const In* b, const Sum* c, Sum* d, unsigned lda,
                             unsigned ldb, unsigned ldc) {{
  A fa; B fb; C fc, fd;
  __shared__ __align__(128) In shared[1024];
  if ({2}) {{
    for (unsigned i = threadIdx.x; i < 1024; i += 32) shared[i] = a[i];
    __syncwarp();
    a = shared;
  }}
  wmma::load_matrix_sync(fa, a, lda);
  wmma::load_matrix_sync(fb, b, ldb);
  wmma::load_matrix_sync(fc, c, ldc, {0});
  wmma::fill_fragment(fd, Sum(1));
  for (int i = 0; i < fa.num_elements; ++i) fa.x[i] = {1}(fa.x[i] + fa.x[i]);
  for (int i = 0; i < fc.num_elements; ++i) fd.x[i] = fc.x[i] + fd.x[i];
  wmma::mma_sync(fd, fa, fb, fd);
  wmma::store_matrix_sync(d, fd, ldc, {0});
}}
)",
                        memory_layout(row_c), type.convert, shared ? "true" : "false");
  return source;
}

/// Small integers as any of the types.
struct Numbers {
  std::vector<std::byte> bytes;
  std::string type;
  std::size_t size() const { return type == "double" ? 8 : width(); }
  std::size_t width() const {
    if (type == "float" || type == "int") return 4;
    return type == "half" || type == "__nv_bfloat16" ? 2 : 1;
  }
  Numbers(std::string t, std::size_t count) : type(std::move(t)) { bytes.resize(count * size()); }
  template <class T>
  void put_bits(std::size_t i, T bits) {
    std::memcpy(bytes.data() + i * size(), &bits, sizeof(T));
  }
  template <class T>
  T bits(std::size_t i) const {
    T value;
    std::memcpy(&value, bytes.data() + i * size(), sizeof(T));
    return value;
  }
  void put(std::size_t i, int value) {
    if (type == "double") return put_bits(i, static_cast<double>(value));
    if (type == "float") return put_bits(i, static_cast<float>(value));
    if (type == "int") return put_bits(i, value);
    const auto f = static_cast<float>(value);
    const auto upper = static_cast<std::uint16_t>(std::bit_cast<u32>(f) >> 16);
    if (type == "__nv_bfloat16") return put_bits(i, upper);
    if (type == "half") return put_bits(i, half_of(value));
    put_bits(i, static_cast<std::int8_t>(value));
  }
  double get(std::size_t i) const {
    if (type == "double") return bits<double>(i);
    if (type == "float") return static_cast<double>(bits<float>(i));
    if (type == "int") return bits<int>(i);
    const auto half = bits<std::uint16_t>(i);
    const int exponent = half >> 10 & 31, sign = half >> 15 != 0 ? -1 : 1;
    return exponent == 0 ? 0 : sign * std::ldexp(1024 + (half & 1023), exponent - 25);
  }
  static std::uint16_t half_of(int value) {
    if (value == 0) return 0;
    const unsigned magnitude = static_cast<unsigned>(std::abs(value));
    const auto top = static_cast<unsigned>(std::bit_width(magnitude)) - 1;
    const unsigned bits = ((top + 15) << 10) | ((magnitude << (10 - top)) & 1023U);
    return static_cast<std::uint16_t>(bits | (value < 0 ? 0x8000U : 0U));
  }
  Region region(const char* name) { return Region{name, bytes.data(), bytes.size(), 0, 0, true}; }
};

struct Case {
  WmmaType type;
  std::array<unsigned, 3> shape{};
  bool row_a = true, row_b = true, row_c = true, shared = false;
};

void check_wmma(const Case& c, unsigned padding) {
  const auto [m, n, k] = c.shape;
  const bool is_unsigned = std::string(c.type.element) == "unsigned char";
  const auto value = [&](std::size_t i) {
    return static_cast<int>(i * 2654435761U >> 7 & 7U) - (is_unsigned ? 0 : 3);
  };
  Numbers a(c.type.memory, 2048), b(c.type.memory, 2048), sums(c.type.sum, 2048),
      d(c.type.sum, 2048);
  for (std::size_t i = 0; i < 2048; ++i) {
    a.put(i, value(i));
    b.put(i, value(i + 5000));
    sums.put(i, value(i + 9000));
  }
  const u32 lda = (c.row_a ? k : m) + padding, ldb = (c.row_b ? n : k) + padding,
            ldc = (c.row_c ? n : m) + padding;
  auto module = load_source(wmma_source(c.type, c.shape, c.row_a, c.row_b, c.row_c, c.shared));
  const Launch launch = launch_of(
      "k", 1, 32,
      arguments(a.bytes.data(), b.bytes.data(), sums.bytes.data(), d.bytes.data(), lda, ldb, ldc));
  run(module, launch, {a.region("a"), b.region("b"), sums.region("c"), d.region("d")});
  for (unsigned row = 0; row < m; ++row) {
    for (unsigned column = 0; column < n; ++column) {
      const auto at = [](bool rows, unsigned x, unsigned y, unsigned stride) {
        return rows ? x * stride + y : y * stride + x;
      };
      int want = value(at(c.row_c, row, column, ldc) + 9000) + 1;
      for (unsigned i = 0; i < k; ++i) {
        want += 2 * value(at(c.row_a, row, i, lda)) * value(at(c.row_b, i, column, ldb) + 5000);
      }
      ASSERT_EQ(d.get(at(c.row_c, row, column, ldc)), want)
          << c.type.element << " " << c.type.sum << fmt::format(" m{}n{}k{}", m, n, k) << " a "
          << c.row_a << " b " << c.row_b << " c " << c.row_c << " at " << row << ", " << column;
    }
  }
}

TEST(Wmma, EveryTypeShapeAndLayout) {
  KBENCH_NEEDS_NVRTC();
  for (const WmmaType& type : wmma_types()) {
    for (const auto& shape : type.shapes) {
      for (unsigned layouts = 0; layouts < 8; ++layouts) {
        const bool row_c = (layouts & 4U) != 0;
        if (row_c != ((layouts & 1U) != 0) && shape != type.shapes[0]) continue;
        Case c{type, shape, (layouts & 1U) != 0, (layouts & 2U) != 0, row_c, layouts % 3 == 0};
        ASSERT_NO_FATAL_FAILURE(check_wmma(c, layouts % 2 == 0 ? 0 : 16));
      }
    }
  }
}

TEST(Wmma, PartsOfBytes) {
  KBENCH_NEEDS_NVRTC();
  auto module = load_source(R"(
#include <mma.h>
using namespace nvcuda;
namespace wx = wmma::experimental;
template <class T, int k> __device__ void multiply(const void* a, const void* b, int* d) {
  wmma::fragment<wmma::matrix_a, 8, 8, k, T, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 8, 8, k, T, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 8, 8, k, int> fc;
  wmma::fill_fragment(fc, 5);
  wmma::load_matrix_sync(fa, a, 2 * k);
  wmma::load_matrix_sync(fb, b, 2 * k);
  if constexpr (k == 128) wmma::bmma_sync(fc, fa, fb, fc, wx::bmmaBitOpXOR);
  else wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(d, fc, 8, wmma::mem_row_major);
}
extern "C" __global__ void k(const unsigned* a, const unsigned* b, int* d) {
  multiply<wx::precision::s4, 32>(a, b, d);
  multiply<wx::precision::u4, 32>(a, b, d + 64);
  multiply<wx::precision::b1, 128>(a, b, d + 128);
}
)");
  Buffer<u32> a("a", 64), b("b", 64);
  Buffer<int> d("d", 192);
  std::mt19937 engine(3);
  for (unsigned i = 0; i < 64; ++i) {
    a[i] = static_cast<u32>(engine());
    b[i] = static_cast<u32>(engine());
  }
  const Launch launch = launch_of("k", 1, 32, arguments(a.data(), b.data(), d.data()));
  run(module, launch, {a.region(), b.region(), d.region()});
  for (unsigned row = 0; row < 8; ++row) {
    for (unsigned column = 0; column < 8; ++column) {
      int with_sign = 5, without = 5, bits = 5;
      for (unsigned i = 0; i < 32; ++i) {
        const u32 x = a[row * 8 + i / 8] >> (4 * (i % 8)) & 15U;
        const u32 y = b[column * 8 + i / 8] >> (4 * (i % 8)) & 15U;
        without += static_cast<int>(x * y);
        with_sign += (static_cast<int>(x ^ 8U) - 8) * (static_cast<int>(y ^ 8U) - 8);
      }
      for (unsigned i = 0; i < 4; ++i) bits += std::popcount(a[row * 8 + i] ^ b[column * 8 + i]);
      EXPECT_EQ(d[row * 8 + column], with_sign);
      EXPECT_EQ(d[64 + row * 8 + column], without);
      EXPECT_EQ(d[128 + row * 8 + column], bits);
    }
  }
}

const char* const kOutside = R"(
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void k(const half* a, float* d) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, a, 16);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(d, fc, 16, wmma::mem_row_major);
}
)";

TEST(Wmma, AccessesAreChecked) {
  KBENCH_NEEDS_NVRTC();
  auto module = load_source(kOutside);
  Buffer<std::uint16_t> a("a", 256), few("few", 240);
  Buffer<float> d("d", 256), small("small", 240);
  Launch launch = launch_of("k", 1, 32, arguments(few.data(), d.data()));
  const Fault read = run_to_fault(module, launch, {few.region(), d.region()});
  EXPECT_EQ(read.kind, FaultKind::kIllegalRead);
  EXPECT_EQ(read.region, "few");
  EXPECT_EQ(read.line, 9);
  launch.arguments = arguments(a.data(), small.data());
  const Fault write = run_to_fault(module, launch, {a.region(), small.region()});
  EXPECT_EQ(write.kind, FaultKind::kIllegalWrite);
  EXPECT_EQ(write.line, 12);
}

TEST(Wmma, NeedsAWholeWarp) {
  KBENCH_NEEDS_NVRTC();
  auto module = load_source(kOutside);
  Buffer<std::uint16_t> a("a", 256);
  Buffer<float> d("d", 256);
  const Launch launch = launch_of("k", 1, 16, arguments(a.data(), d.data()));
  const Fault fault = run_to_fault(module, launch, {a.region(), d.region()});
  EXPECT_EQ(fault.kind, FaultKind::kTrap);
  EXPECT_NE(fault.message.find("16 lanes"), std::string::npos) << fault.message;
}

TEST(MatrixMoves, LanesThatDivergedMeetAgain) {
  KBENCH_NEEDS_NVRTC();
  auto module = load_source(R"(
extern "C" __global__ void k(unsigned* d) {
  unsigned x = threadIdx.x;
  if (x % 2 == 0) {
    for (unsigned i = 0; i < x; ++i) asm volatile("nanosleep.u32 1;");
  }
  unsigned y;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(y) : "r"(x));
  d[threadIdx.x] = y;
}
)");
  Buffer<u32> d("d", 32);
  const Launch launch = launch_of("k", 1, 32, arguments(d.data()));
  run(module, launch, {d.region()});
  for (u32 lane = 0; lane < 32; ++lane) {
    const u32 row = lane / 4, column = lane % 4 * 2;
    const auto element = [](u32 r, u32 c) { return c % 2 == 0 ? r * 4 + c / 2 : 0U; };
    EXPECT_EQ(d[lane], element(column, row) | element(column + 1, row) << 16) << lane;
  }
}

/// ldmatrix of `count` matrices and stmatrix of what it gave, all with the same addresses.
std::string move_source(unsigned count, const char* load_trans, const char* store_trans) {
  std::string outputs, inputs, list;
  for (unsigned i = 0; i < count; ++i) {
    const char* comma = i == 0 ? "" : ", ";
    outputs += fmt::format("{}\"=r\"(r[{}])", comma, i);
    inputs += fmt::format(", \"r\"(r[{}])", i);
    list += fmt::format("{}%{}", comma, i);
  }
  std::string shifted;
  for (unsigned i = 0; i < count; ++i) shifted += fmt::format("{}%{}", i == 0 ? "" : ", ", i + 1);
  return fmt::format(R"(
extern "C" __global__ void k(const unsigned* in, unsigned* fragments, unsigned* out) {{
  __shared__ __align__(16) unsigned from[32 * 8], to[32 * 8];
  for (unsigned i = threadIdx.x; i < 256; i += 32) {{ from[i] = in[i]; to[i] = 0; }}
  __syncthreads();
  // Rows are 32 bytes apart and backwards.
  unsigned offset = (31 - threadIdx.x) * 32, r[4] = {{}};
  if (threadIdx.x >= 8 * {0}) offset = 7;  // addresses that nobody asks for
  unsigned a = (unsigned)__cvta_generic_to_shared(from) + offset;
  unsigned b = (unsigned)__cvta_generic_to_shared(to) + offset;
  asm volatile("ldmatrix.sync.aligned.m8n8.x{0}{1}.shared.b16 {{{3}}}, [%{0}];" : {4} : "r"(a));
  asm volatile("stmatrix.sync.aligned.m8n8.x{0}{2}.shared.b16 [%0], {{{5}}};" :: "r"(b){6}
               : "memory");
  for (unsigned i = 0; i < {0}; ++i) fragments[i * 32 + threadIdx.x] = r[i];
  __syncthreads();
  for (unsigned i = threadIdx.x; i < 256; i += 32) out[i] = to[i];
}}
)",
                     count, load_trans, store_trans, list, outputs, shifted, inputs);
}

TEST(MatrixMoves, LoadAndStore) {
  KBENCH_NEEDS_NVRTC();
  for (const unsigned count : {1U, 2U, 4U}) {
    for (unsigned form = 0; form < 4; ++form) {
      const bool load_trans = (form & 1U) != 0, store_trans = (form & 2U) != 0;
      auto module =
          load_source(move_source(count, load_trans ? ".trans" : "", store_trans ? ".trans" : ""));
      Buffer<u32> in("in", 256), fragments("fragments", 128), out("out", 256);
      for (u32 i = 0; i < 256; ++i) in[i] = 2 * i | (2 * i + 1) << 16;
      const Launch launch =
          launch_of("k", 1, 32, arguments(in.data(), fragments.data(), out.data()));
      run(module, launch, {in.region(), fragments.region(), out.region()});
      const auto element = [](u32 matrix, u32 row, u32 column) {
        return (31 - (8 * matrix + row)) * 16 + column;
      };
      for (u32 m = 0; m < count; ++m) {
        for (u32 lane = 0; lane < 32; ++lane) {
          const u32 g = lane / 4, t = 2 * (lane % 4);
          const u32 low = load_trans ? element(m, t, g) : element(m, g, t);
          const u32 high = load_trans ? element(m, t + 1, g) : element(m, g, t + 1);
          ASSERT_EQ(fragments[m * 32 + lane], low | high << 16) << count << " " << form;
        }
        for (u32 row = 0; row < 8; ++row) {
          for (u32 column = 0; column < 8; ++column) {
            const u32 at = element(m, row, column);
            const u32 stored = out[at / 2] >> (16 * (at % 2)) & 0xffffU;
            const bool same = load_trans == store_trans;
            ASSERT_EQ(stored, same ? at : element(m, column, row)) << count << " " << form;
          }
        }
      }
    }
  }
}

TEST(MatrixMoves, RowsAreAligned) {
  KBENCH_NEEDS_NVRTC();
  auto module = load_source(R"(
extern "C" __global__ void k(unsigned* d) {
  __shared__ __align__(16) unsigned s[64];
  s[threadIdx.x] = s[threadIdx.x + 32] = 0;
  __syncthreads();
  unsigned a = (unsigned)__cvta_generic_to_shared(s) + (threadIdx.x == 3 ? 8 : 0), r;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r) : "r"(a));
  d[threadIdx.x] = r;
}
)");
  Buffer<u32> d("d", 32);
  const Launch launch = launch_of("k", 1, 32, arguments(d.data()));
  const Fault fault = run_to_fault(module, launch, {d.region()});
  EXPECT_EQ(fault.kind, FaultKind::kMisaligned);
  EXPECT_EQ(fault.thread[0], 3U);
  EXPECT_EQ(fault.line, 7);
}

}  // namespace
}  // namespace kbench::ptx::testing
