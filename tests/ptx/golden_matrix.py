#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs tests/ptx/golden_matrix/instructions.txt and layouts.txt on a GPU and writes what they give.

For each instruction and each kind of inputs one line of golden_matrix/results.txt: the instruction,
the kind, the seed, and the words of d in hexadecimal. Inputs are not written: the test makes them
from the seed as this script does. Needs libcuda and a GPU of sm_90 or newer, nothing else.

  python3 tests/ptx/golden_matrix.py [--seeds 2] [--out tests/ptx/golden_matrix]
"""
import argparse
import ctypes
import pathlib
import re
import struct

MASK = (1 << 64) - 1
KINDS = ["near", "wide", "cancelling", "special", "zeros"]
# bits, mantissa, bias
FORMATS = {"f16": (16, 10, 15), "bf16": (16, 7, 127), "tf32": (32, 23, 127), "f32": (32, 23, 127),
           "e4m3": (8, 3, 7), "e5m2": (8, 2, 15), "f64": (64, 52, 1023)}


class SplitMix:
    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)


def bits_of(name):
    return FORMATS[name][0] if name in FORMATS else int(name[1:])


def special(fmt, choice):
    bits, mantissa, _ = fmt
    top = ((1 << (bits - 1 - mantissa)) - 1) << mantissa
    nan = top | 7 if fmt == FORMATS["e4m3"] else top | (1 << (mantissa - 1))
    values = [0, top, nan, 1, (1 << mantissa) - 1, 1 << mantissa]
    return values[choice % 6] | ((choice // 6 % 2) << (bits - 1))


def element(fmt, kind, random):
    bits, mantissa, bias = fmt
    fraction = random & ((1 << mantissa) - 1)
    sign = (random >> 63) << (bits - 1)
    choice = (random >> 52) & 0x7FF
    if kind == "zeros":
        return sign
    if kind == "special" and choice % 16 == 0:
        return special(fmt, choice // 16)
    exponent = bias - 2 + choice % 4
    if kind == "wide":
        all_of_them = (1 << (bits - 1 - mantissa)) - 2
        span = all_of_them // 4 if bias > 15 else all_of_them
        exponent = 1 + (all_of_them - span) // 2 + choice % span
    return sign | (exponent << mantissa) | fraction


def words(name, registers, kind, random):
    bits, fmt = bits_of(name), FORMATS.get(name)
    out = []
    for _ in range(registers * 32):
        word, at = 0, 0
        while at < 32 or at < bits:
            r = random.next()
            word |= (r >> 32 if fmt is None else element(fmt, kind, r)) << at
            at += 32 if fmt is None else bits
        out.append(word & 0xFFFFFFFF)
        if bits == 64:
            out.append(word >> 32)
    return out


def cancel(name, out, negate):
    if name not in FORMATS:
        return
    bits = bits_of(name)
    flipped = 0
    for at in range(0, 32, bits):
        flipped |= 1 << (at + (bits - 1 if negate else 13 if name == "tf32" else 0)) if bits < 64 else 0
    if bits == 64:
        for i in range(0, len(out) - 2, 4):
            out[i + 2] = out[i] if negate else out[i] ^ 1
            out[i + 3] = out[i + 1] ^ 0x80000000 if negate else out[i + 1]
    else:
        for i in range(0, len(out) - 1, 2):
            out[i + 1] = out[i] ^ flipped


def operands(types, counts, kind, seed):
    random = SplitMix(seed)
    a, b, c = (words(t, n, kind, random) for t, n in zip(types[1:], counts[1:]))
    if kind == "cancelling":
        cancel(types[1], a, True)
        cancel(types[2], b, False)
    return a, b, c


def registers(letter, count):
    return "{" + ", ".join(f"%{letter}{i}" for i in range(count)) + "}"


HEAD = (".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 k_param_0, "
        ".param .u64 k_param_1, .param .u64 k_param_2, .param .u64 k_param_3) {\n"
        ".reg .b%d %%a<9>, %%b<9>, %%c<9>, %%d<9>;\n.reg .b32 %%lane; .reg .b64 %%at;\n"
        "mov.u32 %%lane, %%tid.x;\n")


def mma_ptx(text, counts, size):
    body = HEAD % (8 * size)

    def each(letter, count, index, store):
        nonlocal body
        body += f"ld.param.u64 %at, [k_param_{index}]; mad.wide.u32 %at, %lane, {size}, %at;\n"
        for i in range(count):
            at, register = f"[%at+{i * 32 * size}]", f"%{letter}{i}"
            body += (f"st.global.b{8 * size} {at}, {register};\n" if store
                     else f"ld.global.b{8 * size} {register}, {at};\n")

    for letter, index in (("a", 1), ("b", 2), ("c", 3)):
        each(letter, counts[index], index, False)
    body += (f"{text} {registers('d', counts[0])}, {registers('a', counts[1])}, "
             f"{registers('b', counts[2])}, {registers('c', counts[3])};\n")
    each("d", counts[0], 0, True)
    return body + "ret; }\n"


def layout_ptx(text, count, size):
    """A wmma.load of a matrix whose every byte, or 16 bits, says where it is."""
    body = HEAD % (8 * size)
    body += f"ld.param.u64 %at, [k_param_1];\n{text} {registers('d', count)}, [%at];\n"
    body += f"ld.param.u64 %at, [k_param_0]; mad.wide.u32 %at, %lane, {size}, %at;\n"
    for i in range(count):
        body += f"st.global.b{8 * size} [%at+{i * 32 * size}], %d{i};\n"
    return body + "ret; }\n"


def wgmma_ptx(text, count, descriptors, trans):
    """k(d, images, c): 64 KiB of shared memory are filled, A begins at 0 and B in the middle."""
    types = text.split(".")[-3:]
    literals = "" if types[0] == "s32" else ", 1, 1"
    if types[1] in ("f16", "bf16"):
        literals += f", {trans[0]}, {trans[1]}"
    body = (".version 8.7\n.target sm_90a\n.address_size 64\n"
            ".extern .shared .align 1024 .b8 memory[];\n"
            ".visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1, .param .u64 k_param_2, "
            ".param .u64 k_param_3) {\n"
            f".reg .b32 %d<{count}>, %t, %i, %v, %w32; .reg .b64 %dp, %cp, %ip, %da, %db, %w;\n"
            ".reg .pred %p;\nmov.u32 %t, %tid.x;\n"
            "ld.param.u64 %dp, [k_param_0]; mad.wide.u32 %dp, %t, 4, %dp;\n"
            "ld.param.u64 %cp, [k_param_2]; mad.wide.u32 %cp, %t, 4, %cp;\n"
            "ld.param.u64 %ip, [k_param_1]; shl.b32 %i, %t, 2;\n"
            "COPY: cvt.u64.u32 %w, %i; add.u64 %w, %w, %ip; ld.global.b32 %v, [%w];\n"
            "mov.u32 %w32, memory; add.u32 %w32, %w32, %i; st.shared.b32 [%w32], %v;\n"
            "add.u32 %i, %i, 512; setp.lt.u32 %p, %i, 65536; @%p bra COPY;\n"
            "mov.u32 %w32, memory; shr.u32 %w32, %w32, 4; cvt.u64.u32 %w, %w32;\n"
            f"add.u64 %da, %w, {descriptors[0]}; add.u64 %db, %w, {descriptors[1]};\n")
    for i in range(count):
        body += f"ld.global.b32 %d{i}, [%cp+{512 * i}];\n"
    body += ("fence.proxy.async; bar.sync 0;\nsetp.eq.u32 %p, 0, 0;\nwgmma.fence.sync.aligned;\n"
             f"{text} {registers('d', count)}, %da, %db, %p{literals};\n"
             "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n")
    for i in range(count):
        body += f"st.global.b32 [%dp+{512 * i}], %d{i};\n"
    return body + "ret; }\n"


def wgmma_operands(types, count, kind, seed):
    random = SplitMix(seed)
    a, b = (words(t, 256, kind, random) for t in types[1:])
    return a + b, words(types[0], 4 * count, kind, random)


def wgmma_descriptors(leading, stride, mode):
    common = (leading >> 4) << 16 | (stride >> 4) << 32 | mode << 62
    return common, common + (32768 >> 4)


class Gpu:
    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        name = ctypes.create_string_buffer(128)
        self.call("cuDeviceGetName", name, 128, device)
        self.name = name.value.decode()
        self.memory = []
        for _ in range(4):
            pointer = ctypes.c_uint64()
            self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(65536))
            self.memory.append(pointer)

    def call(self, name, *arguments):
        error = getattr(self.cuda, name)(*arguments)
        if error != 0:
            raise RuntimeError(f"{name} failed with CUDA error {error}")

    def run(self, ptx, inputs, count, threads=32, shared=0):
        """One block; the first `count` words of the first buffer."""
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), ptx.encode() + b"\0")
        self.call("cuModuleGetFunction", ctypes.byref(function), module, b"k")
        if shared > 48 * 1024:
            self.call("cuFuncSetAttribute", function, 8, shared)
        results = []
        for operand_words in inputs:
            for pointer, data in zip(self.memory[1:], operand_words):
                raw = struct.pack(f"<{len(data)}I", *data)
                self.call("cuMemcpyHtoD_v2", pointer, raw, ctypes.c_size_t(len(raw)))
            self.call("cuMemsetD32_v2", self.memory[0], 0, ctypes.c_size_t(count))
            arguments = (ctypes.c_void_p * 4)(*(ctypes.addressof(p) for p in self.memory))
            self.call("cuLaunchKernel", function, 1, 1, 1, threads, 1, 1, shared,
                      None, arguments, None)
            self.call("cuCtxSynchronize")
            raw = ctypes.create_string_buffer(4 * count)
            self.call("cuMemcpyDtoH_v2", raw, self.memory[0], ctypes.c_size_t(4 * count))
            results.append(struct.unpack(f"<{count}I", raw.raw))
        self.call("cuModuleUnload", module)
        return results


def rows(path):
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            text, *counts = line.split()
            yield text, [int(n) for n in counts]


def main():
    here = pathlib.Path(__file__).resolve().parent / "golden_matrix"
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=1, help="inputs of each kind")
    parser.add_argument("--out", type=pathlib.Path, default=here)
    options = parser.parse_args()
    gpu = Gpu()
    lines = [f"# {gpu.name}: instruction, inputs, seed, words of d"]
    for text, counts in rows(here / "instructions.txt"):
        types = [p for p in text.split(".") if p in FORMATS or re.fullmatch(r"[sub]\d+", p)]
        size = 8 if "f64" in types else 4
        kinds = KINDS[1:] if types[1] in FORMATS else KINDS[:1]  # all alike for integers
        chosen = [(k, s) for k in kinds for s in range(1, 1 + options.seeds)]
        inputs = [operands(types, counts, k, s) for k, s in chosen]
        try:
            found = gpu.run(mma_ptx(text, counts, size), inputs, counts[0] * 8 * size)
        except RuntimeError as error:
            print(f"{text}: {error}")
            continue
        for (kind, seed), d in zip(chosen, found):
            lines.append(f"{text} {kind} {seed} " + "".join(f"{w:08x}" for w in d))
    for text, (count, leading, stride, mode, *trans) in rows(here / "wgmma.txt"):
        types = text.split(".")[-3:]
        ptx = wgmma_ptx(text, count, wgmma_descriptors(leading, stride, mode), trans)
        kinds = ("near", "special") if count < 8 else ("near",)
        inputs = [wgmma_operands(types, count, k, 1) for k in kinds]
        try:
            found = gpu.run(ptx, inputs, count * 128, 128, 65536)
        except RuntimeError as error:
            print(f"{text}: {error}")
            continue
        for kind, d in zip(kinds, found):
            at = f"{leading}.{stride}.{mode}.{trans[0]}.{trans[1]}"
            lines.append(f"{text} {kind} {at} " + "".join(f"{w:08x}" for w in d))
    (options.out / "results.txt").write_text("\n".join(lines) + "\n")
    lines = [f"# {gpu.name}: wmma.load, words of the fragment"]
    for text, (count,) in rows(here / "layouts.txt"):
        size = 8 if text.endswith("f64") else 4
        matrix = SplitMix(1)
        data = [matrix.next() >> 32 for _ in range(512)]
        try:
            (d,) = gpu.run(layout_ptx(text, count, size), [(data,)], count * 8 * size)
        except RuntimeError as error:
            print(f"{text}: {error}")
            continue
        lines.append(f"{text} " + "".join(f"{w:08x}" for w in d))
    (options.out / "layouts_results.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
