// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <bit>

#include "ptx/nvrtc_helper.hpp"

// wgmma on matrices in shared memory, in every layout that a descriptor can say.
namespace kbench::ptx::testing {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

struct Case {
  std::string types;  ///< of d, a and b
  std::string type;   ///< of an element
  unsigned n = 64;
  unsigned mode = 0;  ///< 0: no swizzling, 1: 128 bytes, 2: 64, 3: 32
  bool trans_a = false, trans_b = false, registers = false, scale = true, minus = false;

  unsigned bits() const {
    if (type == "tf32") return 32;
    return type == "f16" || type == "bf16" ? 16 : type == "b1" ? 1 : 8;
  }
  unsigned k() const { return 256 / bits(); }
  bool whole() const { return type == "s8"; }
};

u32 encode(const std::string& type, int value) {
  const u32 sign = value < 0 ? 1 : 0;
  const int magnitude = std::abs(value);
  if (type == "s8") return static_cast<u32>(value) & 0xffU;
  if (type == "tf32") return std::bit_cast<u32>(static_cast<float>(value));
  if (type == "bf16") return std::bit_cast<u32>(static_cast<float>(value)) >> 16;
  if (type == "f16") return sign << 15 | (magnitude == 0 ? 0 : magnitude == 1 ? 0x3c00U : 0x4000U);
  return sign << 7 | (magnitude == 0 ? 0 : magnitude == 1 ? 0x38U : 0x40U);  // e4m3
}

int value_at(unsigned matrix, unsigned x, unsigned k) {
  return static_cast<int>((x * 31 + k * 17 + matrix * 7 + x * k) % 5) - 2;
}

/// A matrix as shared memory holds it: where its pieces are apart is up to the kernel, so the
/// strides here are larger than they need to be.
struct Image {
  std::vector<std::byte> bytes = std::vector<std::byte>(65536);
  u64 descriptor = 0;
  Image(const Case& c, unsigned matrix, unsigned rows, bool trans, u64 start) {
    const unsigned width = c.mode == 0 ? 16 : 256 >> c.mode;
    // Units of 8 rows by `width` bytes, or of `width` bytes of rows by 8 positions of k.
    const unsigned unit = 8 * width;
    const unsigned across = trans ? (rows * 2 + width - 1) / width : rows / 8;
    const unsigned near = unit, far = unit * across;
    unsigned leading = far, stride = near;
    if (trans && c.mode != 0) std::swap(leading, stride);
    for (unsigned x = 0; x < rows; ++x) {
      for (unsigned k = 0; k < c.k(); ++k) {
        const unsigned size = c.bits() / 8;
        u64 at = 0;
        if (trans) {
          at = x * 2 % width + x * 2 / width * near + k % 8 * width + k / 8 * far;
        } else {
          const unsigned along = k * size;
          at = x % 8 * width + x / 8 * near + (c.mode == 0 ? along % 16 + along / 16 * far : along);
        }
        if (c.mode != 0) {
          const u64 row = at / 128 % 8, chunks = width / 16;
          at ^= row % chunks * 16;
        }
        const u32 bits = encode(c.type, value_at(matrix, x, k));
        std::memcpy(bytes.data() + at, &bits, size);
      }
    }
    descriptor = start >> 4 | u64{leading >> 4} << 16 | u64{stride >> 4} << 32 | u64{c.mode} << 62;
  }
};

constexpr u64 kStartB = 65536;

std::string list(const char* name, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i) text += fmt::format("{}%{}{}", i == 0 ? "" : ", ", name, i);
  return text + "}";
}

std::string source(const Case& c, unsigned registers) {
  std::string loads, stores;
  for (unsigned i = 0; i < registers; ++i) {
    loads += fmt::format("ld.global.b32 %d{}, [%dp+{}];\n", i, 512 * i);
    stores += fmt::format("st.global.b32 [%dp+{}], %d{};\n", 512 * i, i);
  }
  for (unsigned i = 0; i < 4; ++i)
    loads += fmt::format("ld.global.b32 %a{}, [%fp+{}];\n", i, 512 * i);
  std::string tail = c.scale ? ", %yes" : ", %no";
  if (!c.whole()) tail += c.minus ? ", -1, 1" : ", 1, 1";
  if (c.bits() == 16 && !c.registers) tail += fmt::format(", {}", c.trans_a ? 1 : 0);
  if (c.bits() == 16) tail += fmt::format(", {}", c.trans_b ? 1 : 0);
  return fmt::format(
      ".version 8.7\n.target sm_90a\n.address_size 64\n"
      ".extern .shared .align 1024 .b8 memory[];\n"
      ".visible .entry k(.param .u64 images, .param .u64 d, .param .u64 fragments, "
      ".param .u64 desc_a, .param .u64 desc_b) {{\n"
      ".reg .b32 %d<{0}>, %a<4>, %t, %i, %v; .reg .b64 %dp, %fp, %ip, %da, %db, %w;\n"
      ".reg .pred %yes, %no, %p;\n"
      "setp.eq.u32 %yes, 0, 0; setp.ne.u32 %no, 0, 0;\n"
      "mov.u32 %t, %tid.x; ld.param.u64 %dp, [d]; mad.wide.u32 %dp, %t, 4, %dp;\n"
      "ld.param.u64 %fp, [fragments]; mad.wide.u32 %fp, %t, 4, %fp; ld.param.u64 %ip, [images];\n"
      "ld.param.u64 %da, [desc_a]; ld.param.u64 %db, [desc_b];\n"
      "shl.b32 %i, %t, 2;\n"
      "COPY: cvt.u64.u32 %w, %i; add.u64 %w, %w, %ip; ld.global.b32 %v, [%w];\n"
      "st.shared.b32 [%i], %v; add.u32 %i, %i, 512; setp.lt.u32 %p, %i, 131072; @%p bra COPY;\n"
      "{1}"
      "bar.sync 0;\n"
      "wgmma.fence.sync.aligned;\n"
      "wgmma.mma_async.sync.aligned.m64n{2}k{3}.{4} {5}, {6}, %db{7};\n"
      "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
      "{8}ret; }}\n",
      registers, loads, c.n, c.k(), c.types, list("d", registers),
      c.registers ? list("a", 4) : "%da", tail, stores);
}

std::string name(const Case& c) {
  return fmt::format("{} n{} mode {} trans {} {} registers {} scale {} minus {}", c.types, c.n,
                     c.mode, c.trans_a, c.trans_b, c.registers, c.scale, c.minus);
}

/// Fragments of A as mma's: register r of a thread.
u32 fragment(const Case& c, unsigned thread, unsigned r) {
  const unsigned lane = thread % 32, row = thread / 32 * 16 + lane / 4 + 8 * (r % 2);
  const unsigned per_word = 32 / c.bits(), first = per_word * (lane % 4 + r / 2 * 4);
  u32 word = 0;
  for (unsigned i = 0; i < per_word; ++i) {
    word |= encode(c.type, value_at(1, row, first + i)) << (c.bits() * i);
  }
  return word;
}

Launch launch_on(Buffer<std::byte>& images, Buffer<u32>& d, Buffer<u32>& fragments, u64 a, u64 b) {
  Launch launch =
      launch_of("k", 1, 128, arguments(images.data(), d.data(), fragments.data(), a, b));
  launch.dynamic_shared_bytes = static_cast<u32>(images.size());
  return launch;
}

void check(const Case& c) {
  SCOPED_TRACE(name(c));
  const bool half_sum = c.types.starts_with("f16");
  const unsigned registers = c.n / (half_sum ? 4 : 2);
  auto loaded = load(source(c, registers));
  if (const auto* unsupported = std::get_if<Unsupported>(&loaded)) {
    FAIL() << unsupported->instruction << " " << unsupported->message;
  }
  const Image a(c, 1, 64, c.trans_a, 0), b(c, 2, c.n, c.trans_b, kStartB);
  Buffer<std::byte> images("images", 131072);
  std::copy(a.bytes.begin(), a.bytes.end(), images.data());
  std::copy(b.bytes.begin(), b.bytes.end(), images.data() + kStartB);
  Buffer<u32> d("d", std::size_t{128} * registers), fragments("fragments", 512);
  const auto one = [&](int v) -> u32 {
    if (c.whole()) return static_cast<u32>(v);
    if (half_sum) return encode("f16", v) | encode("f16", v) << 16;
    return std::bit_cast<u32>(static_cast<float>(v));
  };
  for (std::size_t i = 0; i < d.size(); ++i) d[i] = one(static_cast<int>(i % 3));
  for (unsigned i = 0; i < 512; ++i) fragments[i] = fragment(c, i % 128, i / 128);
  const Launch launch = launch_on(images, d, fragments, a.descriptor, b.descriptor);
  run(std::get<Module>(loaded), launch, {images.region(), d.region(), fragments.region()});
  for (unsigned thread = 0; thread < 128; ++thread) {
    for (unsigned i = 0; i < c.n / 2; ++i) {
      const unsigned lane = thread % 32, row = thread / 32 * 16 + lane / 4 + 8 * (i / 2 % 2);
      const unsigned column = 8 * (i / 4) + 2 * (lane % 4) + i % 2;
      const unsigned r = half_sum ? i / 2 : i;
      int want = c.scale ? static_cast<int>((r * 128 + thread) % 3) : 0;
      for (unsigned k = 0; k < c.k(); ++k) {
        want += value_at(1, row, k) * value_at(2, column, k) * (c.minus ? -1 : 1);
      }
      const u32 word = d[std::size_t{r} * 128 + thread];
      if (half_sum) {
        const u32 half = word >> (16 * (i % 2)) & 0xffffU;
        const float wide = std::bit_cast<float>((half & 0x7fffU) << 13) * 0x1p112F;
        ASSERT_EQ(half >> 15 != 0 ? -wide : wide, static_cast<float>(want)) << row << " " << column;
      } else if (c.whole()) {
        ASSERT_EQ(static_cast<int>(word), want) << row << " " << column;
      } else {
        ASSERT_EQ(std::bit_cast<float>(word), static_cast<float>(want)) << row << " " << column;
      }
    }
  }
}

TEST(Wgmma, EveryTypeAndSwizzling) {
  for (const auto& [types, type] :
       std::initializer_list<std::pair<const char*, const char*>>{{"f32.f16.f16", "f16"},
                                                                  {"f16.f16.f16", "f16"},
                                                                  {"f32.bf16.bf16", "bf16"},
                                                                  {"f32.tf32.tf32", "tf32"},
                                                                  {"f32.e4m3.e4m3", "e4m3"},
                                                                  {"f16.e4m3.e4m3", "e4m3"},
                                                                  {"s32.s8.s8", "s8"}}) {
    for (unsigned mode = 0; mode < 4; ++mode) {
      Case c;
      c.types = types;
      c.type = type;
      c.mode = mode;
      c.n = 8U << (mode + 2);
      ASSERT_NO_FATAL_FAILURE(check(c));
      c.registers = true;
      c.scale = false;
      c.minus = !c.whole();
      ASSERT_NO_FATAL_FAILURE(check(c));
    }
  }
}

TEST(Wgmma, TransposedMatricesOf16Bits) {
  for (const char* type : {"f16", "bf16"}) {
    for (unsigned form = 0; form < 16; ++form) {
      Case c;
      c.types = fmt::format("f32.{0}.{0}", type);
      c.type = type;
      c.mode = form / 4;
      c.trans_a = (form & 1U) != 0;
      c.trans_b = (form & 2U) != 0;
      c.n = 128;
      ASSERT_NO_FATAL_FAILURE(check(c));
    }
  }
}

/// Hopper's: what is 13 bits below the largest product is lost.
TEST(Wgmma, BytesOfFloatsKeepThirteenBits) {
  Case c;
  c.types = "f32.e4m3.e4m3";
  c.type = "e4m3";
  auto loaded = load(source(c, 32));
  ASSERT_TRUE(std::holds_alternative<Module>(loaded));
  Image a(c, 1, 64, false, 0), b(c, 2, 64, false, kStartB);
  // Each 16 bytes of A are 256, 2^-6, 2^-5 and zeros; B is ones.
  Buffer<std::byte> images("images", 131072, std::byte{0x38});
  for (std::size_t i = 0; i < kStartB; ++i) {
    constexpr std::uint8_t kBytes[] = {0x78, 0x08, 0x10};
    images[i] = std::byte{i % 16 < 3 ? kBytes[i % 16] : std::uint8_t{0}};
  }
  Buffer<u32> d("d", std::size_t{128} * 32, std::bit_cast<u32>(0.0F)), fragments("fragments", 512);
  const Launch launch = launch_on(images, d, fragments, a.descriptor, b.descriptor);
  run(std::get<Module>(loaded), launch, {images.region(), d.region(), fragments.region()});
  for (std::size_t i = 0; i < d.size(); ++i) {
    ASSERT_EQ(std::bit_cast<float>(d[i]), 2 * (256.0F + 0x1p-5F));
  }
}

TEST(Wgmma, SharedMemoryIsChecked) {
  Case c;
  c.types = "f32.f16.f16";
  c.type = "f16";
  auto loaded = load(source(c, 32));
  ASSERT_TRUE(std::holds_alternative<Module>(loaded));
  Buffer<std::byte> images("images", 131072);
  Buffer<u32> d("d", std::size_t{128} * 32), fragments("fragments", 512);
  const Image a(c, 1, 64, false, 0);
  const u64 outside = a.descriptor | 131072 >> 4;
  const Launch launch = launch_on(images, d, fragments, a.descriptor, outside);
  const Fault fault = run_to_fault(std::get<Module>(loaded), launch,
                                   {images.region(), d.region(), fragments.region()});
  EXPECT_EQ(fault.kind, FaultKind::kIllegalAddress);
  EXPECT_EQ(fault.region, "shared memory");
}

}  // namespace
}  // namespace kbench::ptx::testing
