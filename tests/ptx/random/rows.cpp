// SPDX-License-Identifier: MIT
#include "ptx/random/rows.hpp"

#include "ptx/random/rows_exact.hpp"

// Floating values, conversions, memory, and what warps do together.
namespace kbench::ptx::random {
namespace {

constexpr Row kSingle[] = {
    {"<add|sub|mul><.rn|.rn|.rz|.rm|.rp><|.ftz><||.sat>.f32", "f ff"},
    {"<add|sub|mul><.rn|.rn|.rz|.rm|.rp><|.ftz><||.sat>.f32", "f ff"},
    {"fma<.rn|.rn|.rz|.rm|.rp><|.ftz><||.sat>.f32", "f fff"},
    {"fma<.rn|.rn|.rz|.rm|.rp><|.ftz>.f32", "f fff"},
    {"div<.rn|.rn|.rz|.rm|.rp><|.ftz>.f32", "f ff"},
    {"<rcp|sqrt><.rn|.rn|.rz|.rm|.rp><|.ftz>.f32", "f f"},
    {"<min|max><|.ftz><|.NaN>.f32", "f ff"},
    // The sign of a NaN is as little promised as its payload: operands that are the same
    // everywhere.
    {"<min|max><|.ftz><|.NaN>.xorsign.abs.f32", "f rr!"},
    {"<min|max><|.ftz>.f32", "f ff"},
    {"<abs|neg><|.ftz>.f32", "f f"},
    {"copysign.f32", "f rf"},
};

constexpr Row kDouble[] = {
    {"<add|sub|mul><.rn|.rn|.rz|.rm|.rp>.f64", "F FF"},
    {"fma<.rn|.rn|.rz|.rm|.rp>.f64", "F FFF"},
    {"div<.rn|.rn|.rz|.rm|.rp>.f64", "F FF"},
    {"<rcp|sqrt><.rn|.rn|.rz|.rm|.rp>.f64", "F F"},
    {"<min|max>.f64", "F FF"},
    {"<abs|neg>.f64", "F F"},
    {"copysign.f64", "F dF"},
};

constexpr Row kHalf[] = {
    {"<add|sub|mul>.rn<||.ftz><||.sat>.f16", "e ee"},
    {"<add|sub|mul>.rn<||.ftz><||.sat>.f16x2", "E EE"},
    {"fma.rn<||.ftz><||.sat>.f16", "e eee"},
    {"fma.rn<||.ftz><||.sat>.f16x2", "E EEE"},
    {"fma.rn<||.ftz>.relu.f16", "e eee"},
    {"fma.rn.relu.f16x2", "E EEE"},
    {"<add|sub|mul>.rn.bf16", "g gg"},
    {"<add|sub|mul>.rn.bf16x2", "G GG"},
    {"fma.rn<||.relu>.bf16", "g ggg"},
    {"fma.rn<||.relu>.bf16x2", "G GGG"},
    {"<min|max><||.ftz><|.NaN>.f16", "e ee"},
    {"<min|max><||.ftz><|.NaN>.f16x2", "E EE"},
    {"<min|max><|.NaN>.bf16", "g gg"},
    {"<min|max><|.NaN>.bf16x2", "G GG"},
    {"<min|max><||.ftz><|.NaN>.xorsign.abs.f16", "e hh!"},
    {"<min|max><||.ftz><|.NaN>.xorsign.abs.f16x2", "E rr!"},
    {"<min|max><|.NaN>.xorsign.abs.bf16", "g hh!"},
    {"<min|max><|.NaN>.xorsign.abs.bf16x2", "G rr!"},
    {"<abs|neg><||.ftz>.f16", "e e"},
    {"<abs|neg><||.ftz>.f16x2", "E E"},
    {"<abs|neg>.bf16", "g g"},
    {"<abs|neg>.bf16x2", "G G"},
};

constexpr Row kConvert[] = {
    {"cvt<|.sat>.<u16|s16>.<u32|s32>", "h r"},
    {"cvt<|.sat>.<u16|s16>.<u64|s64>", "h d"},
    {"cvt.<u32|s32>.<u16|s16>", "r h"},
    {"cvt.<u32|s32>.<u32|s32>", "r r"},
    {"xor.b32 ?r, $1, %linear; cvt.sat.<u32.s32|s32.u32> $0, ?r", "r r"},
    {"cvt.sat.<u64.s64|s64.u64>", "d d"},
    {"xor.b32 ?r, $1, %linear; cvt.sat.u64.s32 $0, ?r", "d r"},
    {"cvt<|.sat>.<u32|s32>.<u64|s64>", "r d"},
    {"cvt.<u64|s64>.<u16|s16>", "d h"},
    {"cvt.<u64|s64>.<u32|s32>", "d r"},
    {"cvt<|.sat>.<u8|s8>.<u16|s16>", "h h"},
    {"cvt<|.sat>.<u8|s8>.<u32|s32>", "r r"},
    {"cvt<|.sat>.<u8|s8>.<u64|s64>", "r d"},
    {"cvt.<u32|s32>.<u8|s8>", "r r"},
    {"cvt.<u16|s16>.<u8|s8>", "h h"},
    {"cvt.<u64|s64>.<u8|s8>", "d r"},
    {"cvt<.rn|.rz|.rm|.rp><||.sat>.f32.<u32|s32>", "f r"},
    {"cvt<.rn|.rz|.rm|.rp>.f32.<u64|s64>", "f d"},
    {"cvt<.rn|.rz|.rm|.rp>.f32.<u16|s16>", "f h"},
    {"cvt<.rn|.rz|.rm|.rp>.f32.<u8|s8>", "f r"},
    {"cvt<.rn|.rz|.rm|.rp>.f64.<u32|s32>", "F r"},
    {"cvt<.rn|.rz|.rm|.rp>.f64.<u64|s64>", "F d"},
    {"cvt<.rn|.rz|.rm|.rp><||.sat>.f16.<u32|s32>", "e r"},
    {"cvt<.rn|.rz|.rm|.rp>.f16.<u64|s64>", "e d"},
    {"cvt<.rn|.rz|.rm|.rp>.f16.<u16|s16>", "e h"},
    {"cvt<.rn|.rz|.rm|.rp>.bf16.<u32|s32>", "g r"},
    {"cvt<.rn|.rz|.rm|.rp>.bf16.<u64|s64>", "g d"},
    {"cvt<.rn|.rz|.rm|.rp>.bf16.<u16|s16>", "g h"},
    {"cvt<.rni|.rzi|.rmi|.rpi><|.ftz><|.sat>.<u32|s32>.f32", "r f"},
    {"cvt<.rni|.rzi|.rmi|.rpi><|.ftz>.<u64|s64>.f32", "d f"},
    {"cvt<.rni|.rzi|.rmi|.rpi><|.ftz>.<u16|s16>.f32", "h f"},
    {"cvt<.rni|.rzi|.rmi|.rpi>.<u8|s8>.f32", "r f"},
    {"cvt<.rni|.rzi|.rmi|.rpi>.<u32|s32>.f64", "r F"},
    {"cvt<.rni|.rzi|.rmi|.rpi>.<u64|s64>.f64", "d F"},
    {"cvt<.rni|.rzi|.rmi|.rpi>.<u16|s16>.f64", "h F"},
    {"cvt<.rni|.rzi|.rmi|.rpi>.<u32|s32>.f16", "r e"},
    {"cvt<.rni|.rzi|.rmi|.rpi>.<u64|s64>.f16", "d e"},
    {"cvt<.rni|.rzi|.rmi|.rpi>.<u16|s16>.f16", "h e"},
    {"cvt<.rni|.rzi|.rmi|.rpi>.<u32|s32>.bf16", "r g"},
    {"cvt<.rni|.rzi|.rmi|.rpi>.<u64|s64>.bf16", "d g"},
    {"cvt<.rni|.rzi|.rmi|.rpi><|.ftz><||.sat>.f32.f32", "f f"},
    {"cvt<.rni|.rzi|.rmi|.rpi>.f64.f64", "F F"},
    {"cvt<.rni|.rzi|.rmi|.rpi>.f16.f16", "e e"},
    {"cvt<.rn|.rz|.rm|.rp><|.ftz><||.sat>.f32.f64", "f F"},
    {"cvt<|.ftz>.f64.f32", "F f"},
    {"cvt<.rn|.rz|.rm|.rp><|.ftz><||.sat>.f16.f32", "e f"},
    {"cvt<.rn|.rz|.rm|.rp>.f16.f64", "e F"},
    {"cvt<|.ftz><||.sat>.f32.f16", "f e"},
    {"cvt.f64.f16", "F e"},
    {"cvt.f32.bf16", "f g"},
    {"cvt.f64.bf16", "F g"},
    {"cvt<.rn|.rz>.bf16.f32", "g f"},
    {"cvt<.rn|.rz>.relu.f16.f32", "e f"},
    {"cvt<.rn|.rz>.relu.bf16.f32", "g f"},
    {"cvt<.rn|.rz><|.relu>.f16x2.f32", "E ff"},
    {"cvt<.rn|.rz><|.relu>.bf16x2.f32", "G ff"},
    {"cvt.pack.sat.<u16|s16>.s32", "r rr!"},
    {"cvt.pack.sat.<u8|s8|u4|s4|u2|s2>.s32.b32", "r rrr!"},
    {"cvt.rna.tf32.f32", "f f"},
    {"cvt<.rn|.rz><|.relu>.tf32.f32", "f f"},
    {"cvt.rn.satfinite<|.relu>.<e4m3x2|e5m2x2>.f32", "h ff"},
    {"cvt.rn.satfinite<|.relu>.<e4m3x2|e5m2x2>.f16x2", "h E"},
    {"cvt.rn<|.relu>.f16x2.<e4m3x2|e5m2x2>", "E h"},
};

constexpr Row kLoad[] = {
    {"ld<.global|.global.nc|.global.ca|.global.cg|.global.cs|.global.cv|>.<b32|u32|s32> $0, [@i4]",
     "r "},
    {"ld<.global|.global.nc|.volatile.global|>.<b64|u64|s64> $0, [@i8]", "d "},
    {"ld<.global|.global.nc|>.<u8|s8|b8> $0, [@i1]", "r "},
    {"ld<.global|.global.nc|>.<u16|s16> $0, [@i2]", "r "},
    {"ld<.global|.global.nc|>.<u8|s8> $0, [@i1]", "h "},
    {"ld<.global|.global.nc|>.<u8|s8|u32|s32> $0, [@i4]", "d "},
    {"ld<.global|.global.nc|>.v2.<u32|b32> {$0, $1}, [@i8]", "rr "},
    {"ld<.global|.global.nc|>.v4.<u32|b32> {$0, $1, $2, $3}, [@i16]", "rrrr "},
    {"ld<.global|.global.nc|>.v2.u64 {$0, $1}, [@i16]", "dd "},
    {"ld.global<|.nc>.v4.<u8|s8> {$0, $1, $2, $3}, [@i4]", "rrrr "},
    {"ld.global<|.nc>.v2.<u16|s16> {$0, $1}, [@i4]", "hh "},
    {"ld<.global|.global.nc|.global.L1::no_allocate|>.f32 $0, [@f4]", "f "},
    {"ld<.global|.global.nc|>.v2.f32 {$0, $1}, [@f8]", "ff "},
    {"ld<.global|.global.nc|.global.L2::128B|>.v4.f32 {$0, $1, $2, $3}, [@f16]", "ffff "},
    {"ld<.global|.global.nc|>.f64 $0, [@F8]", "F "},
    {"ld<.global|.global.nc|>.v2.f64 {$0, $1}, [@F16]", "FF "},
    {"ld<.global|.global.nc|>.b16 $0, [@e2]", "e "},
    {"ld<.global|.global.nc|>.b16 $0, [@g2]", "g "},
    {"ld<.global|.global.nc|>.v2.b16 {$0, $1}, [@e4]", "ee "},
    {"ld<.global|.global.nc|>.b32 $0, [@e4]", "E "},
    {"ld<.global|.global.nc|>.b32 $0, [@g4]", "G "},
    {"ld<.global|.global.nc|>.v4.b32 {$0, $1, $2, $3}, [@e16]", "EEEE "},
    {"ldu.global.<u32|s32> $0, [@i4]", "r "},
    {"prefetch.global.<L1|L2> [@i4]; ld.global.b32 $0, [@i4]", "r "},
    {"ld<.const|>.<b32|u32> $0, [@c4]", "r "},
    {"ld<.const|>.b64 $0, [@c8]", "d "},
    {"ld.const.<u8|s8> $0, [@c1]", "r "},
    {"ld.const.v4.u32 {$0, $1, $2, $3}, [@c16]", "rrrr "},
    {"ld<.const|>.f32 $0, [@q4]", "f "},
    {"ld.const.v2.f32 {$0, $1}, [@q8]", "ff "},
    {"ld<.global|.global.nc|>.<b32|u32> $0, [@v4]", "r "},
    {"ld<.global|>.v2.b64 {$0, $1}, [@v16]", "dd "},
    {"ld<.local|>.<b32|u32> $0, [@l4]", "r "},
    {"ld.local.<u8|s8|u16> $0, [@l2]", "r "},
    {"ld<.local|>.v2.b32 {$0, $1}, [@l8]", "rr "},
    {"ld<.local|>.b64 $0, [@l8]", "d "},
    {"ld<.local|>.f32 $0, [@m4]", "f "},
    {"ld<.global|>.b32 $0, [@o4]", "r "},
    {"ld<.global|>.b64 $0, [@o8]", "d "},
    {"ld.global.<relaxed|acquire>.gpu.b32 $0, [@o4]", "r "},
};

constexpr Row kStore[] = {
    {"st<.global|.global.cg|.volatile.global|>.b32 [@o4], $0", " r"},
    {"st<.global|>.u8 [@o1], $0", " r"},
    {"st<.global|>.b16 [@o2], $0", " h"},
    {"st<.global|>.b64 [@o8], $0", " d"},
    {"st<.global|>.v2.b32 [@o8], {$0, $1}", " rr!"},
    {"st.global.v4.b32 [@o16], {$0, $1, $2, $3}", " rrrr!"},
    {"st.global.v4.u8 [@o4], {$0, $1, $2, $3}", " rrrr!"},
    {"st<.release|.relaxed>.gpu.global.b32 [@o4], $0", " r"},
    {"st<.global|>.f32 [@of], $0", " f"},
    {"st<.global|>.f64 [@oF], $0", " F"},
    {"st.global.b32 [@oE], $0", " E"},
    {"st.global.b16 [@oe], $0", " e"},
    {"st<.local|>.b32 [@l4], $0", " r"},
    {"st<.local|>.b64 [@l8], $0", " d"},
    {"st.local.u8 [@l1], $0", " r"},
    {"st<.local|>.v2.b32 [@l8], {$0, $1}", " rr!"},
    {"st<.local|>.f32 [@m4], $0", " f"},
    {"st<.local|>.v2.f32 [@m8], {$0, $1}", " ff!"},
    {"atom<.global|><|.relaxed.gpu|.acq_rel.gpu><.add|.min|.max|.inc|.dec>.u32 $0, [@o4], $1",
     "r r"},
    {"atom<.global|><.add|.min|.max>.u64 $0, [@o8], $1", "d d"},
    {"atom<.global|><.min|.max>.s32 $0, [@o4], $1", "r r"},
    {"atom<.global|><.min|.max>.s64 $0, [@o8], $1", "d d"},
    {"atom<.global|><.and|.or|.xor|.exch>.b32 $0, [@o4], $1", "r r"},
    {"atom<.global|><.and|.or|.xor|.exch>.b64 $0, [@o8], $1", "d d"},
    {"ld.global.b32 ?r, [@o4]; atom<.global|>.cas.b32 $0, [@o4], ?r, $1", "r r"},
    {"ld.global.b64 ?d, [@o8]; atom<.global|>.cas.b64 $0, [@o8], ?d, $1", "d d"},
    {"atom.global.cas.b16 $0, [@o2], $1, $2", "h hh"},
    {"atom.global.add.f32 $0, [@of], $1", "f f"},
    {"atom.global.add.f64 $0, [@oF], $1", "F F"},
    {"atom.global.add.noftz.f16 $0, [@oe], $1", "e e"},
    {"atom.global.add.noftz.f16x2 $0, [@oE], $1", "E E"},
    {"atom.global.add.noftz.bf16 $0, [@og], $1", "g g"},
    {"atom.global.add.noftz.bf16x2 $0, [@oG], $1", "G G"},
    {"red.global.add.f32 [@of], $0", " f"},
    {"red.global.add.f64 [@oF], $0", " F"},
    {"red.global.add.noftz.f16x2 [@oE], $0", " E"},
    {"red<.global|><|.relaxed.gpu>.add.u32 [@a0], $0", " r"},
    {"red<.global|>.min.s32 [@a1], $0", " r"},
    {"red<.global|>.max.u32 [@a2], $0", " r"},
    {"red<.global|>.and.b32 [@a3], $0", " r"},
    {"red<.global|>.or.b32 [@a4], $0", " r"},
    {"red<.global|>.xor.b32 [@a5], $0", " r"},
    {"red<.global|>.inc.u32 [@a6], 77", " "},
    {"red<.global|>.dec.u32 [@a7], 1001", " "},
    {"red<.global|>.add.u64 [@a8], $0", " d"},
    {"red<.global|>.min.u64 [@a9], $0", " d"},
    {"red<.global|>.max.s64 [@a10], $0", " d"},
    {"red<.global|>.xor.b64 [@a11], $0", " d"},
    {"atom<.global|>.add.u32 ?r, [@a12], $0", " r"},
    {"fence.<acq_rel|sc>.<cta|gpu>", " "},
    {"membar.<cta|gl>", " "},
    {"nanosleep.u32 #n", " "},
};

constexpr Row kMasked[] = {
    {"vote.sync.<all|any|uni>.pred $0, <|!>$1, @M", "p p!"},
    {"vote.sync.ballot.b32 $0, <|!>$1, @M", "r p!"},
    {"redux.sync.<add|min|max>.<u32|s32> $0, $1, @M", "r r"},
    {"redux.sync.<and|or|xor>.b32 $0, $1, @M", "r r"},
    {"match.any.sync.b32 $0, $1, @M", "r r"},
    {"match.any.sync.b64 $0, $1, @M", "r d"},
    {"and.b32 ?r, $1, 3; match.any.sync.b32 $0, ?r, @M", "r r"},
    {"match.all.sync.b32 $0|$1, $2, @M", "rp r"},
    {"match.all.sync.b64 $0|$1, $2, @M", "rp d"},
    {"bfind.u32 ?r, @M; shfl.sync.idx.b32 $0, $1, ?r, 31, @M", "r r"},
    {"bfind.u32 ?r, @M; shfl.sync.idx.b32 $0, $1, ?r, 31, @M", "f f"},
    {"bar.warp.sync @M", " "},
    {"elect.sync $0|$1, @M", "rp "},
};

constexpr Row kConverged[] = {
    {"shfl.sync.up.b32 $0|$1, $2, $3, @U, @M", "rp rr"},
    {"shfl.sync.up.b32 $0|$1, $2, #n, @U, @M", "rp r"},
    {"shfl.sync.<down|bfly|idx>.b32 $0|$1, $2, $3, @C, @M", "rp rr"},
    {"shfl.sync.<down|bfly|idx>.b32 $0|$1, $2, #n, @C, @M", "rp r"},
    {"shfl.sync.<down|bfly|idx>.b32 $0|$1, $2, #n, @C, @M", "fp f"},
    {"shfl.sync.<down|bfly|idx>.b32 $0, $1, $2, @C, @M", "f fr"},
    {"shfl.sync.<down|bfly|idx>.b32 $0, $1, $2, @C, @M", "E Er"},
};

}  // namespace

std::span<const Row> rows(Group group) {
  switch (group) {
    case Group::kInteger:
      return integer_rows();
    case Group::kBits:
      return bit_rows();
    case Group::kCompare:
      return compare_rows();
    case Group::kSingle:
      return kSingle;
    case Group::kDouble:
      return kDouble;
    case Group::kHalf:
      return kHalf;
    case Group::kConvert:
      return kConvert;
    case Group::kMove:
      return move_rows();
    case Group::kLoad:
      return kLoad;
    case Group::kStore:
      return kStore;
    case Group::kMasked:
      return kMasked;
    case Group::kConverged:
      return kConverged;
  }
  return {};
}

}  // namespace kbench::ptx::random
