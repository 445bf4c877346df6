#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs every form of golden_scalar/forms.txt on a GPU of sm_90 and keeps what it gives.

Needs a driver (libcuda.so.1) and nothing else. `golden_scalar.py --out DIR` writes DIR/golden.txt,
which belongs into tests/ptx/golden_scalar/, and DIR/full.xz with every result, for a closer look:
`ptx_scalar_test` compares with it where KBENCH_GOLDEN_FULL names it (unpacked by `xz -d`).

golden.txt has a line with a digest of the operands, which the test makes by itself. Others: signature,
a hash of the results with every NaN canonical, and results in hex (of the first tuples; of
more where the form is an approximation, which no hash can compare).
"""

import argparse
import ctypes
import lzma
import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
TUPLES = 1024
SHOWN_EXACT, SHOWN_APPROXIMATE = 3, 256
MASK64 = (1 << 64) - 1
LAYOUTS = {"f16": (10, 5), "f16x2": (10, 5), "bf16": (7, 8), "bf16x2": (7, 8), "f32": (23, 8),
           "tf32": (23, 8), "f64": (52, 11)}


def mix(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK64
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK64
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK64
    return x ^ (x >> 31)


def width(kind):
    if kind in ("f16", "bf16", "e4m3x2", "e5m2x2"):
        return 16
    return 32 if kind.endswith("x2") or kind == "tf32" else int(kind[1:])


def read_edges():
    lines = (HERE / "golden_scalar" / "edges.txt").read_text(encoding="ascii").splitlines()
    return {line.split()[0]: [int(w, 16) for w in line.split()[1:]] for line in lines}


def pick(edges, kind, bits, random):
    """As pick_operand() of scalar_forms.cpp."""
    mask = (1 << bits) - 1
    more = mix(random)
    layout = LAYOUTS.get(kind)
    values = edges[kind if layout else str(bits)]
    if random & 3 < 2:
        return values[(random >> 8) % len(values)]
    if random & 3 == 2:
        return more & mask
    if not layout:
        return (more & mask) >> ((random >> 8) % bits)
    mantissa, exponent = layout
    bias = (1 << (exponent - 1)) - 1
    span = (14 if exponent == 5 else 62) if random >> 8 & 1 else 8
    power = bias - 4 + (random >> 16) % span
    keep = (MASK64 << ((random >> 32) % mantissa)) & MASK64
    sign = (random >> 40 & 1) << (mantissa + exponent)
    return ((more & keep & ((1 << mantissa) - 1)) | (power << mantissa) | sign) & mask


def operand(edges, kind, position, k):
    random = mix((position << 32) | k)
    if kind in ("f16x2", "bf16x2"):
        half = kind[:-2]
        return pick(edges, half, 16, random) | (pick(edges, half, 16, mix(random ^ 77)) << 16)
    return pick(edges, kind, width(kind), random)


class Operands:
    """The operand tuples of a form, as bytes; columns are made once."""

    def __init__(self):
        self.edges = read_edges()
        self.columns = {}

    def column(self, kind, position):
        key = kind, position
        if key not in self.columns:
            self.columns[key] = [operand(self.edges, kind, position, k) for k in range(TUPLES)]
        return self.columns[key]

    def pack(self, sources):
        columns = [self.column(kind, j) for j, kind in enumerate(sources)]
        if len(sources) > 1 and sources[0] == sources[1]:
            columns[1] = [columns[0][k] if k % 16 == 5 else columns[1][k] for k in range(TUPLES)]
        columns += [[0] * TUPLES] * (3 - len(columns))
        columns.append([mix((3 << 32) | k) >> 20 for k in range(TUPLES)])
        return b"".join(struct.pack("<4Q", *row) for row in zip(*columns))


def kernel(index, results, sources, code):
    lines = [f".visible .entry f{index}(.param .u64 in, .param .u64 out) {{",
             ".reg .pred %p, %q; .reg .b32 %i, %n; .reg .b64 %at, %to;",
             "mov.u32 %i, %ctaid.x; mov.u32 %n, %tid.x; mad.lo.u32 %i, %i, 128, %n;",
             "ld.param.u64 %at, [in]; mad.wide.u32 %at, %i, 32, %at;",
             "ld.param.u64 %to, [out]; mad.wide.u32 %to, %i, 16, %to;"]
    for name, kind in zip("de", results):
        lines.append(f".reg .b{width(kind)} %{name};")
    for j, (name, kind) in enumerate(zip("abc", sources)):
        bits = width(kind)
        lines.append(f".reg .b{bits} %{name}; ld.global.b{bits} %{name}, [%at+{8 * j}];")
    for bit, name in [(1, "p"), (2, "q")]:
        lines.append(f"ld.global.u32 %n, [%at+24]; and.b32 %n, %n, {bit}; "
                     f"setp.ne.u32 %{name}, %n, 0;")
    lines.append(code)
    for j, (name, kind) in enumerate(zip("de", results)):
        lines.append(f"st.global.b{width(kind)} [%to+{8 * j}], %{name};")
    return "\n".join(lines + ["ret; }", ""])


def canonical_one(layout, bits):
    mantissa, exponent = layout
    ones = (1 << (mantissa + exponent)) - 1
    return ones if bits & ones > ((1 << exponent) - 1) << mantissa else bits


def canonical(kind, bits):
    layout = LAYOUTS.get(kind)
    if not layout:
        return bits
    if kind.endswith("x2"):
        return canonical_one(layout, bits & 0xFFFF) | (canonical_one(layout, bits >> 16) << 16)
    return canonical_one(layout, bits)


class Failure(Exception):
    """A call of the driver failed."""

    def __init__(self, name, code, log=""):
        super().__init__(f"{name} gives {code} {log}".strip())
        self.code = code


class Device:
    """One GPU through the driver."""

    VERSIONS = ["9.0", "8.8", "8.7", "8.6", "8.5", "8.4", "8.3", "8.0"]

    def __init__(self):
        self.lib = ctypes.CDLL("libcuda.so.1")
        self.version = None
        self.call("cuInit", 0)
        self.device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(self.device), 0)
        major = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(major), 75, self.device)
        if major.value != 9:
            raise SystemExit(f"this is no GPU of sm_90 but of sm_{major.value}x")
        self.context = None
        self.renew()

    def renew(self):
        """A fresh context: a fault of a kernel ends the old one."""
        if self.context:
            self.lib.cuDevicePrimaryCtxReset_v2(self.device)
        self.context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), self.device)
        self.call("cuCtxSetCurrent", self.context)
        self.input, self.output = ctypes.c_uint64(), ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(self.input), ctypes.c_size_t(32 * TUPLES))
        self.call("cuMemAlloc_v2", ctypes.byref(self.output), ctypes.c_size_t(16 * TUPLES))

    def call(self, name, *arguments, log=None):
        code = getattr(self.lib, name)(*arguments)
        if code != 0:
            raise Failure(name, code, log.value.decode(errors="replace") if log else "")

    def load_once(self, body, version):
        text = f".version {version}\n.target sm_90a\n.address_size 64\n{body}".encode("ascii")
        log = ctypes.create_string_buffer(4096)
        options = (ctypes.c_int * 2)(5, 6)  # error log, its size
        values = (ctypes.c_void_p * 2)(ctypes.cast(log, ctypes.c_void_p), 4096)
        module = ctypes.c_void_p()
        self.call("cuModuleLoadDataEx", ctypes.byref(module), text, 2, options, values, log=log)
        return module

    def load(self, body):
        versions = [self.version] if self.version else self.VERSIONS
        for version in versions:
            try:
                module = self.load_once(body, version)
                self.version = version
                return module
            except Failure as failure:
                if failure.code != 222 or version == versions[-1]:  # a newer PTX than the driver's
                    raise
        raise AssertionError

    def run(self, module, name, data):
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        self.call("cuMemcpyHtoD_v2", self.input, data, ctypes.c_size_t(len(data)))
        self.call("cuMemsetD8_v2", self.output, 0, ctypes.c_size_t(16 * TUPLES))
        pointers = (ctypes.c_void_p * 2)(
            ctypes.cast(ctypes.byref(self.input), ctypes.c_void_p),
            ctypes.cast(ctypes.byref(self.output), ctypes.c_void_p))
        self.call("cuLaunchKernel", function, TUPLES // 128, 1, 1, 128, 1, 1, 0, None, pointers,
                  None)
        self.call("cuCtxSynchronize")
        result = ctypes.create_string_buffer(16 * TUPLES)
        self.call("cuMemcpyDtoH_v2", result, self.output, ctypes.c_size_t(16 * TUPLES))
        return result.raw


def run_forms(device, forms, operands, report):
    """Yields a form with its results; forms that fail are told to `report`."""
    body = "".join(kernel(i, results, sources, code)
                   for i, (_, _, results, sources, code) in enumerate(forms))
    try:
        module = device.load(body)
    except Failure as failure:
        if len(forms) == 1:
            report(forms[0], failure)
            return
        middle = len(forms) // 2
        yield from run_forms(device, forms[:middle], operands, report)
        yield from run_forms(device, forms[middle:], operands, report)
        return
    for i, form in enumerate(forms):
        try:
            yield form, device.run(module, f"f{i}", operands.pack(form[3]))
        except Failure as failure:
            report(form, failure)
            device.renew()
            yield from run_forms(device, forms[i + 1:], operands, report)
            return
    device.call("cuModuleUnload", module)


def digest(words):
    """As digest() of scalar_golden_test.cpp."""
    value = 0xCBF29CE484222325
    for word in words:
        value = ((value ^ word) * 0x100000001B3) & MASK64
        value ^= value >> 29
    return f"{value:016x}"


def operands_digest(forms, operands):
    """Over the operands of the first 64 tuples of every form."""
    data = b"".join(operands.pack(form[3])[:32 * 64] for form in forms)
    return digest(struct.unpack(f"<{len(data) // 8}Q", data))


def line_of(form, raw):
    signature, how, results, _, code = form
    pairs = struct.unpack(f"<{2 * TUPLES}Q", raw)
    words, values = [], []
    shown = SHOWN_EXACT if how in ("exact", "refused", "golden") else SHOWN_APPROXIMATE
    for k in range(TUPLES):
        for j, kind in enumerate(results):
            value = canonical(kind, pairs[2 * k + j])
            words.append(value)
            if k < shown:
                values.append(f"{value:0{width(kind) // 4}x}")
    return "\t".join([signature, code, digest(words), ",".join(values)]) + "\n"


def read_forms():
    for line in (HERE / "golden_scalar" / "forms.txt").read_text(encoding="ascii").splitlines():
        signature, how, code = line.split("\t")
        results, sources = (side.split(",") for side in signature.split("="))
        yield signature, how, results, sources, code


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    forms, operands, device = list(read_forms()), Operands(), Device()
    ran, failed = [], []

    def report(form, failure):
        failed.append(form)
        print(f"failed: {form[0]} {form[4]} {failure}", file=sys.stderr)

    with open(arguments.out / "golden.txt", "w", encoding="ascii") as golden, \
            lzma.open(arguments.out / "full.xz", "wb", preset=1) as full:
        for first in range(0, len(forms), 64):
            for form, raw in run_forms(device, forms[first:first + 64], operands, report):
                golden.write(line_of(form, raw))
                full.write(f"{form[0]}\t{form[4]}\n".encode("ascii") + raw)
                ran.append(form)
            print(f"{len(ran)} forms", flush=True)
        golden.write(f"operands\t{operands_digest(ran, operands)}\n")
    print(f"{len(ran)} forms run with PTX {device.version}, {len(failed)} failed")


if __name__ == "__main__":
    main()
