#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every scalar PTX form of sm_90, with its operand types: the table that the tests walk.

`scalar_forms.py --ptxas PATH --out FILE` writes those that ptxas accepts, one a line:
result types '=' operand types, a tab, how results compare, a tab, the code. Operands are %a %b %c,
predicates %p %q, results %d %e. Comparison: "exact", or a bound: r22 is a relative 2^-22, a20 an
absolute 2^-20, m22 both, s19 absolute in [-pi, pi]; "refused": the executor does not run it;
"golden": only a GPU knows. "{p}" and "{q}" are written as registers.
"""

import argparse
import pathlib
import re
import subprocess
import tempfile

INTEGERS = ["u16", "u32", "u64", "s16", "s32", "s64"]
HALVES = ["f16", "f16x2", "bf16", "bf16x2"]
DIRECTED = ["rn", "rz", "rm", "rp"]
BITS = {"8": 8, "16": 16, "32": 32, "64": 64}
ORDERED = ["eq", "ne", "lt", "le", "gt", "ge"]
UNORDERED = ["equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"]


def wide(t):
    return {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}.get(t)


def bits(t):
    return 8 * {"f16": 2, "bf16": 2, "f16x2": 4, "bf16x2": 4, "u16x2": 4, "s16x2": 4,
                "e4m3x2": 2, "e5m2x2": 2, "tf32": 4}.get(t, BITS.get(t[1:], 0) // 8)


def dots(*parts):
    return ".".join(p for p in parts if p)


def options(*flags):
    """All subsets of the flags, in their order, as texts like 'ftz.sat'."""
    subsets = [""]
    for flag in flags:
        subsets = subsets + [dots(s, flag) for s in subsets]
    return subsets


def plain(name, result, *sources, how="exact"):
    """One instruction: result from sources."""
    names = ["%a", "%b", "%c"][: len(sources)]
    return (f"{result}={','.join(sources)}", how, f"{name} %d, {', '.join(names)};")


def integer_forms():
    for t in INTEGERS + ["u16x2", "s16x2"]:
        for op in ["add", "sub", "min", "max", "div", "rem"]:
            yield plain(f"{op}.{t}", t, t, t)
        for op in ["min", "max"]:
            yield plain(f"{op}.relu.{t}", t, t, t)
        for op in ["add", "sub"]:
            yield plain(f"{op}.sat.{t}", t, t, t)
        for op in ["abs", "neg"]:
            yield plain(f"{op}.{t}", t, t)
        yield plain(f"sad.{t}", t, t, t, t)
        for part in ["hi", "lo"]:
            yield plain(f"mul.{part}.{t}", t, t, t)
            yield plain(f"mul24.{part}.{t}", t, t, t)
            for sat in ["", "sat"]:
                yield plain(dots("mad", part, sat, t), t, t, t, t)
                yield plain(dots("mad24", part, sat, t), t, t, t, t)
        if wide(t):
            yield plain(f"mul.wide.{t}", wide(t), t, t)
            yield plain(f"mad.wide.{t}", wide(t), t, t, wide(t))
    yield from carry_forms()
    for s in ["u32", "s32"]:
        for t in ["u32", "s32"]:
            yield plain(f"dp4a.{s}.{t}", "b32", "b32", "b32", "b32")
            for half in ["lo", "hi"]:
                yield plain(f"dp2a.{half}.{s}.{t}", "b32", "b32", "b32", "b32")


def carry_forms():
    for t in ["u32", "s32", "u64", "s64"]:
        for op in ["add", "sub"]:
            yield (f"{t},{t}={t},{t},{t}", "exact",
                   f"{op}.cc.{t} %d, %a, %b; {op}c.{t} %e, %c, 0;")
            yield (f"{t},{t}={t},{t},{t}", "exact",
                   f"{op}.cc.{t} %d, %a, %b; {op}c.cc.{t} %d, %c, %a; {op}c.{t} %e, %b, %c;")
            yield (f"{t},{t}={t},{t},{t}", "exact",
                   f"{'sub' if op == 'add' else 'add'}.cc.{t} %d, %a, %b; {op}c.{t} %e, %c, %a;")
        for part in ["lo", "hi"]:
            yield (f"{t},{t}={t},{t},{t}", "exact",
                   f"mad.{part}.cc.{t} %d, %a, %b, %c; madc.hi.{t} %e, %a, %b, %c;")
            yield (f"{t},{t}={t},{t},{t}", "exact",
                   f"add.cc.{t} %d, %a, %b; madc.{part}.cc.{t} %d, %a, %b, %c; "
                   f"addc.{t} %e, %c, 0;")


def bit_forms():
    for t in ["b16", "b32", "b64"]:
        for op in ["and", "or", "xor"]:
            yield plain(f"{op}.{t}", t, t, t)
        for op in ["not", "cnot", "brev"]:
            yield plain(f"{op}.{t}", t, t)
        for op in ["popc", "clz"]:
            yield plain(f"{op}.{t}", "u32", t)
        for op in ["shl.b", "shr.b", "shr.u", "shr.s"]:
            yield plain(op + t[1:], op[4] + t[1:], op[4] + t[1:], "u32")
        yield (f"{t}={t},{t},u32", "exact", f"bfi.{t} %d, %a, %b, %c, 11;")
        yield (f"{t}={t},{t},u32", "exact", f"bfi.{t} %d, %a, %b, 5, %c;")
    for op in ["and", "or", "xor"]:
        yield ("u32=u32", "exact", f"{op}.pred %p, %p, %q; selp.u32 %d, 1, 0, %p;")
    yield ("u32=u32", "exact", "not.pred %p, %p; selp.u32 %d, 1, 0, %p;")
    for t in ["u32", "u64", "s32", "s64"]:
        for op in ["bfind", "bfind.shiftamt"]:
            yield plain(f"{op}.{t}", "u32", t)
        yield plain(f"bfe.{t}", t, t, "u32", "u32")
        for mode in ["clamp", "wrap"]:
            yield plain(f"szext.{mode}.{t}", t, t, "u32")
    for mode in ["clamp", "wrap"]:
        yield plain(f"bmsk.{mode}.b32", "b32", "b32", "b32")
        for side in ["l", "r"]:
            yield plain(f"shf.{side}.{mode}.b32", "b32", "b32", "b32", "b32")
    for offset in ["%c", "1", "-1", "0", "3", "-5"]:
        yield ("b32=b32,u32,s32", "exact", f"and.b32 %b, %b, 31; fns.b32 %d, %a, %b, {offset};")
    for mode in ["", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"]:
        yield plain(dots("prmt.b32", mode), "b32", "b32", "b32", "b32")
    for table in list(range(0, 256, 15)) + [0x96, 0xE8, 0xCA, 0x1]:
        yield ("b32=b32,b32,b32", "exact", f"lop3.b32 %d, %a, %b, %c, {table:#x};")
        for op in ["or", "and"]:
            yield ("b32,u32=b32,b32,b32", "exact",
                   f"lop3.{op}.b32 %d|%q, %a, %b, %c, {table:#x}, %p; selp.u32 %e, 1, 0, %q;")


def float_forms():
    for rounding in [""] + DIRECTED:
        for flags in options("ftz", "sat"):
            for op in ["add", "sub", "mul"]:
                for t in ["f32", "f64"] + HALVES:
                    yield plain(dots(op, rounding, flags, t), t, t, t)
            for op in ["fma", "mad"]:
                # ptxas takes fma.rz.bf16 as well, which is not documented.
                for t in ["f32", "f64"] + (HALVES if rounding == "rn" else []):
                    yield plain(dots(op, rounding, flags, t), t, t, t, t)
    for flags, how in [("relu", "exact"), ("ftz.relu", "exact"), ("oob", "refused"),
                       ("oob.relu", "refused")]:
        for t in HALVES:
            yield plain(dots("fma.rn", flags, t), t, t, t, t, how=how)
    for t in ["f32", "f64"] + HALVES:
        for ftz in ["", "ftz"]:
            for op in ["abs", "neg"]:
                yield plain(dots(op, ftz, t), t, t)
            for rounding in DIRECTED:
                yield plain(dots("div", rounding, ftz, t), t, t, t)
                if t != "f64" or not ftz:  # which ptxas takes, undocumented
                    yield plain(dots("rcp", rounding, ftz, t), t, t)
                yield plain(dots("sqrt", rounding, ftz, t), t, t)
            for flags in options("NaN", "xorsign.abs"):
                for op in ["min", "max"]:
                    yield plain(dots(op, ftz, flags, t), t, t, t)
    for t in ["f32", "f64"]:
        yield plain(f"copysign.{t}", t, t, t)
        for kind in ["finite", "infinite", "number", "notanumber", "normal", "subnormal"]:
            yield (f"u32={t}", "exact", f"testp.{kind}.{t} %p, %a; selp.u32 %d, 1, 0, %p;")


def approximate_forms():
    for ftz in ["", "ftz"]:
        yield plain(dots("div.approx", ftz, "f32"), "f32", "f32", "f32", how="r22")
        yield plain(dots("div.full", ftz, "f32"), "f32", "f32", "f32", how="r22")
        for op, how in [("rcp", "r23"), ("sqrt", "r23"), ("rsqrt", "r22"), ("sin", "s20"),
                        ("cos", "s20"), ("lg2", "m22"), ("ex2", "r22"), ("tanh", "r11")]:
            yield plain(dots(op, "approx", ftz, "f32"), "f32", "f32", how=how)
        for op in ["rcp", "rsqrt"]:
            yield plain(dots(op, "approx", ftz, "f64"), "f64", "f64", how="r19")
        for t in HALVES:
            yield plain(dots("ex2.approx", ftz, t), t, t, how="r9" if t[0] == "f" else "r7")
            yield plain(dots("tanh.approx", ftz, t), t, t, how="a10" if t[0] == "f" else "a8")


def setp_code(name):
    return f"{name} %p|%q, %a, %b; selp.u32 %d, 1, 0, %p; selp.u32 %e, 1, 0, %q;"


def compare_forms():
    types = ["b16", "b32", "b64"] + INTEGERS + ["f32", "f64"] + HALVES
    for t in types:
        relations = ORDERED + (["lo", "ls", "hi", "hs"] if t[0] == "u" else [])
        for relation in relations + (UNORDERED if "f" in t else []):
            for ftz in ["", "ftz"] if "f" in t else [""]:
                yield (f"u32,u32={t},{t}", "exact", setp_code(dots("setp", relation, ftz, t)))
                if relation in ["lt", "ne", "nan"]:
                    for combine in ["and", "or", "xor"]:
                        yield (f"u32,u32={t},{t}", "exact", setp_code(
                            dots("setp", relation, combine, ftz, t)).replace("%b;", "%b, !%q;", 1))
                for result in ["u32", "s32", "f32", "u16", "s16"] + HALVES:
                    if relation not in ["eq", "gtu", "num"] and ftz and bits(t) != 32:
                        continue
                    if relation not in ["lt", "neu"] and result != "u32" and t not in HALVES:
                        continue
                    yield plain(dots("set", relation, ftz, result, t), result, t, t)
                if relation in ["ge", "neu"]:
                    for combine in ["and", "or", "xor"]:
                        name = dots("set", relation, combine, ftz, "u32", t)
                        yield (f"u32={t},{t}", "exact", f"{name} %d, %a, %b, !%p;")
                        if t in HALVES:
                            name = dots("set", relation, combine, ftz, t, t)
                            yield (f"{t}={t},{t}", "exact", f"{name} %d, %a, %b, %p;")
    for t in types:
        yield (f"{t}={t},{t}", "exact", f"selp.{t} %d, %a, %b, %p;")
        for by in ["s32", "f32", "ftz.f32"]:
            name = f"slct.ftz.{t}.f32" if by == "ftz.f32" else f"slct.{t}.{by}"
            yield plain(name, t, t, t, by[-3:])


def cvt_forms():
    scalars = ["u8", "s8"] + INTEGERS + ["f16", "bf16", "f32", "f64"]
    for to in scalars:
        for source in scalars:
            for rounding in ["", "rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi"]:
                for flags in options("ftz", "sat") + ["relu", "satfinite", "relu.satfinite"]:
                    for register in ["16", "32", "64"]:
                        if register != str(max(bits(to), 16)) and (
                                bits(to) >= int(register) or "f" in to or flags):
                            continue
                        result = to if bits(to) == int(register) else "b" + register
                        operand = source if bits(source) >= 16 else "b16"
                        yield plain(dots("cvt", rounding, flags, to, source), result, operand)
                        if bits(source) < 32 and "f" not in source and rounding in ["", "rn"]:
                            yield plain(dots("cvt", rounding, flags, to, source), result, "b32")
    for rounding in ["rn", "rz", "rna"]:
        for flags in options("relu", "satfinite") + ["satfinite.relu"]:
            yield plain(dots("cvt", rounding, flags, "tf32.f32"), "tf32", "f32")
            for to in ["f16x2", "bf16x2", "e4m3x2", "e5m2x2"]:
                yield plain(dots("cvt", rounding, flags, to, "f32"), to, "f32", "f32")
                for source in ["f16x2", "bf16x2", "e4m3x2", "e5m2x2"]:
                    yield plain(dots("cvt", rounding, flags, to, source), to, source)
    for t in ["u16", "s16"]:
        yield plain(f"cvt.pack.sat.{t}.s32", "b32", "s32", "s32")
    for t in ["u8", "s8", "u4", "s4", "u2", "s2"]:
        yield plain(f"cvt.pack.sat.{t}.s32.b32", "b32", "s32", "s32", "b32")


def tininess_forms():
    """Products and sums just below the least normal, which only an unbounded exponent tells."""
    for rounding in DIRECTED:
        yield ("f32=u32", "golden", "and.b32 %a, %a, 3; add.u32 %a, %a, 0x200003fe; "
               f"mul.{rounding}.ftz.f32 %d, %a, 0f1FFFF800;")
        yield ("f32=u32,u32", "golden", "and.b32 %a, %a, 3; add.u32 %a, %a, 0x200003fe; "
               "and.b32 %b, %b, 0x80000000; "
               f"fma.{rounding}.ftz.f32 %d, %a, 0f1FFFF800, %b;")
        yield ("f32=u64", "golden", "and.b64 %a, %a, 0x3fffffff; "
               f"add.u64 %a, %a, 0x380fffffe0000000; cvt.{rounding}.ftz.f32.f64 %d, %a;")
    yield ("f16=u16,u16", "golden", "and.b16 %a, %a, 3; add.u16 %a, %a, 0x200f; "
           "and.b16 %b, %b, 1; add.u16 %b, %b, 0x1fe0; mul.ftz.f16 %d, %a, %b;")


def move_forms():
    for t in ["b16", "b32", "b64"] + INTEGERS + ["f32", "f64"]:
        yield plain(f"mov.{t}", t, t)
    yield ("b32=u32", "exact", "mov.pred %q, %p; selp.u32 %d, 1, 0, %q;")
    yield ("b32=b16,b16", "exact", "mov.b32 %d, {%a, %b};")
    yield ("b16,b16=b32", "exact", "mov.b32 {%d, %e}, %a;")
    yield ("b64=b32,b32", "exact", "mov.b64 %d, {%a, %b};")
    yield ("b32,b32=b64", "exact", "mov.b64 {%d, %e}, %a;")
    yield ("b16=b64", "exact", "mov.b64 {_, _, %d, _}, %a;")
    yield ("b64=b16,b16,b16", "exact", "mov.b64 %d, {%a, %b, %c, %a};")
    yield ("b32=b16,b16", "exact", "{ .reg .b8 %u, %v; cvt.u8.u16 %u, %a; cvt.u8.u16 %v, %b; "
           "mov.b32 %d, {%u, %v, %v, %u}; }")
    yield ("b16=b16,b16", "exact", "{ .reg .b8 %u, %v; cvt.u8.u16 %u, %a; cvt.u8.u16 %v, %b; "
           "mov.b16 %d, {%u, %v}; }")
    yield ("b16,b16=b32", "exact", "{ .reg .b8 %u, %v; mov.b32 {_, %u, _, %v}, %a; "
           "cvt.u16.u8 %d, %u; cvt.s16.s8 %e, %v; }")
    yield ("b64,b64=b64,b64", "exact", "{ .reg .b128 %u, %v; mov.b128 %u, {%a, %b}; "
           "mov.b128 %v, %u; mov.b128 {%e, %d}, %v; }")


def video(name, target="%d", a="%a", b="%b"):
    before = "mov.b32 %d, 0; " if target != "%d" else ""
    return ("b32=b32,b32,b32", "exact", f"{before}{name} {target}, {a}, {b}, %c;")


VIDEO_SIGNS = ["u32.u32.u32", "s32.s32.s32", "s32.u32.s32", "u32.s32.u32"]


def video_forms():
    for op in ["vadd", "vsub", "vabsdiff", "vmin", "vmax"]:
        yield ("b32=b32,b32", "refused", f"{op}.u32.u32.u32 %d, %a, %b;")
    for op in ["vshl", "vshr"]:
        yield ("b32=b32,b32", "refused", f"{op}.u32.u32.u32.clamp %d, %a, %b;")
    yield ("b32=b32,b32,b32", "refused", "vmad.u32.u32.u32 %d, %a, %b, %c;")
    for relation in ORDERED:
        for signs in ["u32.u32", "s32.s32", "u32.s32"]:
            for parts, selector in [("2", "h21"), ("4", "b7125")]:
                yield video(f"vset{parts}.{signs}.{relation}")
                yield video(f"vset{parts}.{signs}.{relation}.add", b=f"%b.{selector}")
    for op in ["vadd", "vsub", "vabsdiff", "vmin", "vmax", "vavrg"]:
        for parts, target, a in [("2", "h1", "h12"), ("4", "b31", "b0714")]:
            for signs in VIDEO_SIGNS:
                for flags in options("sat", "add"):
                    name = dots(op + parts, signs, flags)
                    yield video(name)
                    yield video(name, f"%d.{target}", f"%a.{a}")


def all_forms():
    seen = set()
    for family in [integer_forms, bit_forms, float_forms, approximate_forms, compare_forms,
                   cvt_forms, move_forms, video_forms, tininess_forms]:
        for form in family():
            if form not in seen and all(size(t) for t in re.split("[=,]", form[0])):
                seen.add(form)
                yield form


def size(t):
    return bits(t) if bits(t) in (16, 32, 64) else 0


def registers(signature):
    """Declarations of the operands of a form."""
    results, sources = (part.split(",") for part in signature.split("="))
    named = list(zip(["%d", "%e"], results)) + list(zip(["%a", "%b", "%c"], sources))
    return " ".join(f".reg .b{bits(t)} {name};" for name, t in named)


HEADER = ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k() {\n.reg .pred %p, %q;\n"


def accepted(forms, ptxas):
    """The forms that ptxas takes: it names the lines of the others."""
    forms = list(forms)
    rejected = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "forms.ptx"
        while True:
            lines = [f"{{ {registers(signature)} {code} }}\n" for signature, _, code in forms]
            path.write_text(HEADER + "".join(lines) + "ret; }\n", encoding="ascii")
            run = subprocess.run([ptxas, "-arch=sm_90a", "-O0", "-o", "/dev/null", str(path)],
                                 capture_output=True, text=True, check=False)
            bad = {int(n) - 1 - HEADER.count("\n")
                   for n in re.findall(r"line (\d+); (?:error|fatal)", run.stderr)}
            if not bad:
                if run.returncode != 0:
                    raise SystemExit(run.stderr[-2000:])
                return forms, rejected
            rejected += [forms[i] for i in sorted(bad)]
            forms = [f for i, f in enumerate(forms) if i not in bad]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ptxas", required=True)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--rejected", type=pathlib.Path)
    arguments = parser.parse_args()
    forms, rejected = accepted(all_forms(), arguments.ptxas)
    arguments.out.write_text("".join("\t".join(f) + "\n" for f in forms), encoding="ascii")
    if arguments.rejected:
        text = "".join("\t".join(f) + "\n" for f in rejected)
        arguments.rejected.write_text(text, encoding="ascii")
    print(f"{len(forms)} forms, {len(rejected)} not of sm_90")


if __name__ == "__main__":
    main()
