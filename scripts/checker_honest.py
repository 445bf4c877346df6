# SPDX-License-Identifier: MIT
"""Honest candidates: other ways to compute the same, which have to be judged `correct`.

HONEST are operators as in checker_mutants, each of which leaves the meaning alone: other blocks,
another order of a sum, other roundings of one that are as good. NAMED are those that compute in
less than 32 bits: right in a lower row, and to be named so.
"""

import re

from checker_source import Edit, closing
from checker_mutants import OPERAND, loops

# A summing loop; groups: index, bound, sum, addend. Only the sum is carried from one step to the
# next, so the steps may run in any order.
SUM = re.compile(r"for \(int (\w+) = 0; \1 < ([\w./ ]+); \+\+\1\) (\w+) \+= ([^;{}]+);")
PRODUCT = re.compile(r"\b(\w+) \+= (%s) \* (%s);" % (OPERAND, OPERAND))

# Follows a problem's text: computes in the next wider type, then rounds to the problem's type.
WIDE_MODULE = '''

class ModelNew(Model):
    _WIDER = {torch.float16: torch.float32, torch.bfloat16: torch.float32,
              torch.float32: torch.float64}

    def forward(self, *inputs):
        if getattr(self, "_inside", False):
            return super().forward(*inputs)

        def wide(value):
            known = isinstance(value, torch.Tensor) and value.dtype in self._WIDER
            return value.detach().to(self._WIDER[value.dtype]) if known else value

        state = {name: wide(t) for name, t in (*self.named_parameters(), *self.named_buffers())}
        floats = [t for t in (*inputs, *self.parameters())
                  if isinstance(t, torch.Tensor) and t.is_floating_point()]
        self._inside = True
        try:
            outputs = torch.func.functional_call(self, state, tuple(wide(t) for t in inputs))
        finally:
            self._inside = False
        with torch.no_grad():
            for name, buffer in self.named_buffers():
                if state[name] is not buffer:
                    buffer.copy_(state[name])

        def narrow(value):
            return value.to(floats[0].dtype) if value.is_floating_point() else value

        if isinstance(outputs, torch.Tensor):
            return narrow(outputs)
        return tuple(narrow(value) for value in outputs)
'''


def block_sizes(source):
    """Another block size for kernels that index only by blockDim."""
    for start, end, _, _ in source.launches():
        found = re.match(r"cdiv\((.+), (\d+)\), \2$", source.text[start:end])
        name = re.findall(r"(\w+)(?:<[^\n]*?>)?\s*<<<", source.text[:start])[-1]
        kernel = next(k for k in source.kernels() if k.name == name)
        body = source.code[slice(*kernel.body)]
        if not found or "blockDim.x" not in body or "__shared__" in body or "shfl" in body:
            continue
        for size in (96, 512):
            if str(size) != found.group(2):
                yield [Edit(start, end, "cdiv(%s, %d), %d" % (found.group(1), size, size))]


def reversed_sums(source):
    for match in source.matches(SUM.pattern):
        index, bound, total, what = match.groups()
        yield [Edit(*match.span(), "for (int %s = (%s) - 1; %s >= 0; --%s) %s += %s;"
                    % (index, bound, index, index, total, what))]


def even_then_odd(source):
    for match in source.matches(SUM.pattern):
        index, bound, total, what = match.groups()
        yield [Edit(*match.span(), "{ %s }" % " ".join(
            "for (int %s = %d; %s < (%s); %s += 2) %s += %s;"
            % (index, first, index, bound, index, total, what) for first in (0, 1)))]


def sums_declared(source):
    """(name, start, end of the declaration's `name = 0.0f`, function)."""
    for function in source.live:
        code = source.code
        for match in re.compile(r"\bfloat (\w+) = 0\.0f;").finditer(code, *function.body):
            name = match.group(1)
            rest = code[match.end():function.body[1]]
            # Only sums that are declared once and not passed to a function or by address.
            if len(re.findall(r"\bfloat %s\b" % name, code[slice(*function.body)])) == 1 and (
                    re.search(r"\b%s \+= " % name, rest)) and not re.search(
                        r"[&(]%s[,)]" % name, re.sub(r"sqrtf\(%s\)" % name, "", rest)):
                yield match, name, function


def kahan(source):
    """A compensated sum (Kahan)."""
    for match, name, function in sums_declared(source):
        edits = [Edit(*match.span(), "float %s = 0.0f, %s_lost = 0.0f;" % (name, name))]
        for add in re.compile(r"\b%s \+= ([^;{}]+);" % name).finditer(
                source.code, match.end(), function.body[1]):
            edits.append(Edit(
                *add.span(), "{ const float more_ = (%s) - %s_lost, now_ = %s + more_;"
                " %s_lost = (now_ - %s) - more_; %s = now_; }"
                % (add.group(1), name, name, name, name, name)))
        yield edits


def double_sums(source):
    for match, name, _ in sums_declared(source):
        yield [Edit(*match.span(), "double %s = 0.0;" % name)]


def fused(source):
    for match in source.matches(PRODUCT.pattern):
        yield [Edit(*match.span(), "%s = fmaf(%s, %s, %s);"
                    % (match.group(1), match.group(2), match.group(3), match.group(1)))]


def separate(source):
    for match in source.matches(PRODUCT.pattern):
        yield [Edit(*match.span(), "%s = __fadd_rn(%s, __fmul_rn(%s, %s));"
                    % (match.group(1), *match.groups()))]


def unrolled(source):
    for start, _, end in loops(source):
        head = source.code.rindex("for (", 0, start)
        before = source.text[:head].rstrip().rpartition("\n")[2]
        if "#pragma" not in before and "int" in source.code[head:start]:
            yield [Edit(head, head, "\n#pragma unroll 3\n  ")]


def exact_functions(source):
    edits = [Edit(*match.span(1), match.group(1)[2:]) for match in source.matches(r"\b(__expf)\(")]
    if edits:
        yield edits


def root_and_quotient(source):
    for match in source.matches(r"\b(rsqrtf)\("):
        end = closing(source.code, match.end() - 1)
        yield [Edit(match.start(), match.end(), "(1.0f / sqrtf("), Edit(end, end + 1, "))")]


def by_reciprocal(source):
    for match in source.matches(r"(?<=[\w)\]]) / (count|sum|d|features|dim|plane)(?=[;,) ])"):
        line = source.code[source.code.rindex("\n", 0, match.start()):match.start()]
        if "float" in line and "int " not in line:
            yield [Edit(*match.span(), " * (1.0f / (float)%s)" % match.group(1))]


def blocks_reversed(source):
    """Blocks take each other's places, from the last to the first."""
    edits = [Edit(*match.span(), "(gridDim.x - 1 - blockIdx.x)")
             for match in source.matches(r"\bblockIdx\.x\b")]
    if edits:
        yield edits


def operands_of_tf32(source):
    if source.is_half:
        return
    form = "__uint_as_float((__float_as_uint(%s) + 0x1000u) & 0xffffe000u)"
    for match in source.matches(PRODUCT.pattern):
        total, left, right = match.groups()
        if left != right:
            yield [Edit(*match.span(), "%s += %s * %s;" % (total, form % left, form % right))]


HONEST = [
    ("block_size", "another number of threads a block", block_sizes),
    ("sum_reversed", "a sum from its end", reversed_sums),
    ("even_then_odd", "a sum of the even places, then of the odd ones", even_then_odd),
    ("kahan", "a compensated sum", kahan),
    ("double_sum", "a sum in double precision", double_sums),
    ("fused", "multiply and add rounded once", fused),
    ("separate", "multiply and add rounded twice", separate),
    ("unrolled", "another unrolling of a loop", unrolled),
    ("exact_functions", "expf for __expf", exact_functions),
    ("root_and_quotient", "1 / sqrtf(x) for rsqrtf(x)", root_and_quotient),
    ("by_reciprocal", "times the reciprocal, for a quotient", by_reciprocal),
    ("blocks_reversed", "blocks in the reverse order", blocks_reversed),
]
NAMED = [("operands_of_tf32", "products of TF32 operands in a float32 problem", operands_of_tf32)]
