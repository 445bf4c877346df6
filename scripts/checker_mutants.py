# SPDX-License-Identifier: MIT
"""Operators that make a right candidate wrong. An operator is a row of OPERATORS: its name, what it
does, and a function from a checker_source.Source to edits, one for each place where it applies.
"""

import collections
import hashlib
import re

from checker_source import Edit, Source, closing, split_list

Mutant = collections.namedtuple("Mutant", "name problem operator original text")

ROUNDINGS = {  # expressions that round a float, and the header that each needs
    "half": ("__half2float(__float2half(%s))", "#include <cuda_fp16.h>\n"),
    "bfloat16": ("__bfloat162float(__float2bfloat16(%s))", "#include <cuda_bf16.h>\n"),
    "tf32": ("__uint_as_float((__float_as_uint(%s) + 0x1000u) & 0xffffe000u)", ""),
}


def swap(source, pattern, other):
    """One edit for each match of the pattern's group 1: what `other` makes of it."""
    for match in source.matches(pattern):
        new = other(match)
        if new is not None:
            yield [Edit(*match.span(1), new)]


def subscripts(source):
    """(start, end) of what stands in the brackets of an access, declarations left out."""
    for match in source.matches(r"[\w)\]]\["):
        before = re.search(r"(__shared__|extern|constexpr)[^;{]*$", source.code[:match.start()])
        declared = re.search(r"\b(float|float4|int|double|Moments|Online|Row|Eight|Vector<\w+>|"
                             r"unsigned long long)\s+[\w\[\]{}, =]*$",
                             source.code[:match.start() + 1])
        end = closing(source.code, match.end() - 1)
        if not before and not declared and end > 0:
            yield match.end(), end


def index_off(step):
    def edits(source):
        for start, end in subscripts(source):
            inner = source.code[start:end]
            if inner.strip().isdigit() and step < 0:
                continue
            yield [Edit(end, end, " %s 1" % ("+" if step > 0 else "-"))]
    return edits


def relaxed_bounds(source):
    return swap(source, r"\w\]?\)? (<|>=|>) (?=[\w(])",
                lambda m: {"<": "<=", ">=": ">", ">": ">="}[m.group(1)])


def tightened_bounds(source):
    for match in source.matches(r"\w\)? (?:<|>=) ((?:[a-z]\w*)(?: / \d+)?)(?=[;) ?])"):
        yield [Edit(*match.span(1), "(%s - 1)" % match.group(1))]


def loops(source):
    """(match of the head, end of its brackets): for (…; i < bound; …)."""
    for match in source.matches(r"\bfor \("):
        end = closing(source.code, match.end() - 1)
        parts = source.code[match.end():end].split(";")
        if end > 0 and len(parts) == 3:
            start = match.end() + len(parts[0]) + 1
            yield start, start + len(parts[1]), end


def bound_of_loop(form):
    def edits(source):
        for start, end, _ in loops(source):
            found = re.match(r"(.*?<\s*)([a-z]\w*)(.*)$", source.code[start:end], re.S)
            if found:
                at = start + len(found.group(1))
                bound = source.code[at:end]
                yield [Edit(at, end, form % bound)]
    return edits


def short_reductions(source):
    """Trees that begin one step late, or end one early."""
    for start, end, _ in loops(source):
        condition = source.code[start:end]
        head = source.code[:start]
        begin = re.search(r"= (\d+|blockDim\.x / 2);$", head)
        if not re.match(r"\s*\w+ > 0$", condition) or not begin:
            continue
        yield [Edit(begin.start(1), begin.end(1), "(%s) / 2" % begin.group(1))]
        yield [Edit(end - 1, end, "1")]


def wrong_axes(source):
    other = {"x": "y", "y": "x", "z": "y"}
    return swap(source, r"(?:threadIdx|blockIdx|blockDim|gridDim)\.([xyz])",
                lambda m: other[m.group(1)])


def operators_replaced(source):
    other = {"+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "+=": "-=", "*=": "="}
    return swap(source, r"[\w)\]] ([-+*/%]|\+=|\*=) (?=[\w(&])", lambda m: other[m.group(1)])


OPERAND = r"(?:\((?:[^()]|\([^()]*\))*\)|[\w.]+(?:\[[^\[\]]*\])*)"


def operands_swapped(source):
    for match in source.matches(r"(?<![\w.\]])(%s) [-/] (%s)(?=[;),\s])" % (OPERAND, OPERAND)):
        left, right = match.groups()
        if left != right and not right.isdigit():
            yield [Edit(*match.span(1), right), Edit(*match.span(2), left)]


def barriers_dropped(source):
    for match in source.matches(r"__sync(?:threads|warp)\(\);|\w+\.sync\(\);|__threadfence\(\);"):
        yield [Edit(*match.span(), ";")]


def epsilons(form):
    """`form` of an epsilon in the code: its name, or what is left of the sum."""
    def edits(source):
        for match in source.matches(r"( \+ )(eps)\b"):
            if form is None:
                yield [Edit(match.start(), match.end(), "")]
            else:
                yield [Edit(*match.span(2), form % "eps")]
    return edits


def parameters_of(source):
    """Names in kernels by which the plan hands them parameters of the reference: {name: kind}."""
    kinds = {}
    for _, _, start, end in source.launches():
        call = source.plan_part(start, end)
        values = [call[slice(*part)] for part in split_list(call, start, end)]
        head = re.findall(r"(\w+)(?:<[^\n]*?>)?\s*<<<", source.text[:start])
        for kernel in source.kernels():
            if not head or kernel.name != head[-1]:
                continue
            names = [source.code[slice(*part)].split()[-1].lstrip("*&")
                     for part in split_list(source.code, *kernel.parameters)]
            for name, value in zip(names, values):
                if re.search(r"(weight|bias)(_\w+)?`?$", value) and "?" not in value:
                    kinds[name] = "bias" if "bias" in value else "weight"
    return kinds


def accesses(source):
    """(kind, start, end) of what the code reads of parameters, conversions included."""
    for name, kind in parameters_of(source).items():
        for match in source.matches(r"(?<![\w.])%s\[" % name):
            end = closing(source.code, match.end() - 1)
            around = re.search(r"__(?:half|bfloat16)2float\($", source.code[:match.start()])
            if around and source.code[end + 1] == ")":
                yield kind, around.start(), end + 2
            else:
                yield kind, match.start(), end + 1


def parameters_dropped(source):
    for kind, start, end in accesses(source):
        if not re.match(r"\s*=[^=]", source.code[end:]):
            yield [Edit(start, end, "1.0f" if kind == "weight" else "0.0f")]


def parameters_baked(source):
    """The first element for all of them, as where all are equal."""
    for _, start, end in accesses(source):
        text = source.code[start:end]
        index = text.index("[")
        yield [Edit(start + index + 1, start + closing(text, index), "0")]


STATISTICS = {"mean": "0.0f", "center": "0.0f", "largest": "0.0f", "squares": "1.0f",
              "scale": "1.0f", "factor": "1.0f", "correction": "1.0f", "share": "1.0f",
              "unbiased": "1.0f", "inverse": "1.0f"}


def statistics_baked(source):
    for name, start, end in source.declarations(r"(?:const )?float"):
        if name in STATISTICS and not re.match(r"[-\w.]+$", source.code[start:end]):
            yield [Edit(start, end, STATISTICS[name])]
    for start, end in source.statements():
        one = re.match(r"(\w+)(?:\[\w+\])? = (.+)$", source.code[start:end], re.S)
        if one and one.group(1) in (*STATISTICS, "maxima") and "(" not in one.group(1):
            yield [Edit(start + one.start(2), end, STATISTICS.get(one.group(1), "0.0f"))]


def maxima_dropped(source):
    return swap(source, r"expf?\([^;]*?( - (?:largest|v|maxima\[[^\]]*\]|state\.largest))\)",
                lambda m: "")


def kernel_starts(form):
    def edits(source):
        for kernel in source.kernels():
            yield [Edit(kernel.body[0], kernel.body[0], form)]
    return edits


def statements_deleted(source):
    for start, end in source.statements():
        yield [Edit(start, end, "")]


def stale_stores(source):
    """A store that only happens where the value is positive."""
    for start, end in source.statements():
        one = re.match(r"((?:\(?&?[\w.]+\)?(?:->)?)\[.*\]) = (?!\{)(.+)$", source.code[start:end],
                       re.S)
        if one and "," not in one.group(2) and "float4" not in one.group(2):
            value = one.group(2)
            yield [Edit(start, end, "if ((float)(%s) > 0.0f) %s = %s" % (value, one.group(1),
                                                                        value))]


def accumulators_undefined(source):
    for name, start, end in source.declarations(r"float|double"):
        if re.match(r"-?0(\.0f?)?$", source.code[start:end]):
            equals = source.code.rindex("=", 0, start)
            if source.code[:equals].rstrip().endswith(name):
                yield [Edit(equals, end, "")]


def accumulators_kept(source):
    """Starts at something else than zero."""
    for _, start, end in source.declarations(r"float|double"):
        if re.match(r"0\.0f?$", source.code[start:end]):
            yield [Edit(start, end, "1.0f")]


def fills_dropped(source):
    for match in re.finditer(r"^//@ tmp [^\n#]*?( = 0)\b", source.text, re.M):
        yield [Edit(*match.span(1), "")]


def atomics_dropped(source):
    for match in source.matches(r"\batomic(Add|Max|Min)\("):
        end = closing(source.code, match.end() - 1)
        parts = [source.code[slice(*part)] for part in split_list(source.code, match.end(), end)]
        if end < 0 or len(parts) != 2:
            continue
        target = "*(%s)" % parts[0]
        value = {"Add": "%s + %s", "Max": "max(%s, %s)", "Min": "min(%s, %s)"}[match.group(1)]
        if source.code[end + 1] == ";":
            yield [Edit(match.start(), end + 1, "%s = %s" % (target, value % (target, parts[1])))]


def signs_dropped(source):
    return swap(source, r"[(,=?:] ?(-)(?=[a-z(])", lambda m: "")


def factors_changed(source):
    """Each constant of a formula, a little."""
    for match in source.matches(r"(?<![\w.])(\d+\.\d+f?)(?![\w.])"):
        if float(match.group(1).rstrip("f")) != 0:
            yield [Edit(*match.span(1), "(%s * 1.03f)" % match.group(1))]


def infinities_replaced(source):
    return swap(source, r"(-INFINITY|__int_as_float\(0xff800000\))", lambda m: "0.0f")


def maxima_one_sided(source):
    """fmaxf(a, b) gives only b."""
    for match in source.matches(r"\bf?max\w*\("):
        end = closing(source.code, match.end() - 1)
        parts = split_list(source.code, match.end(), end)
        if len(parts) == 2:
            yield [Edit(match.start(), end + 1, "(%s)" % source.code[slice(*parts[1])])]


def comparisons_flipped(source):
    return swap(source, r"if \([^;{]*?[\w\])] (<|>|==|>=|!=) ",
                lambda m: {"<": ">", ">": "<", "==": "!=", "!=": "==", ">=": "<"}[m.group(1)])


def rounded(kind):
    """What is summed up or stored loses bits, in problems of 32-bit floats."""
    form, prelude = ROUNDINGS[kind]

    def edits(source):
        if source.is_half:
            return
        for start, end in source.statements():
            one = re.match(r"(.*?[^-+*/<>=! ]) (=|\+=) (?!\{)(.+)$", source.code[start:end], re.S)
            if not one or "float4" in one.group(3) or not re.search(
                    r"[*+]|exp|tanh|sqrt|max|sum|\bv\b", one.group(3)):
                continue
            if re.search(r"threadIdx|blockIdx|\b(at|best|stage|index)\b|,", one.group(0)):
                continue
            yield [Edit(start + one.start(3), end, form % one.group(3), prelude)]
    return edits


def grids_partial(source):
    """cdiv rounds up; a plain division leaves the last, half block out."""
    for start, end, _, _ in source.launches():
        grid = source.plan_part(start, end)
        for match in re.compile(r"\bcdiv\(").finditer(grid, start, end):
            last = closing(grid, match.end() - 1)
            one, other = (source.text[slice(*part)]
                          for part in split_list(grid, match.end(), last))
            yield [Edit(match.start(), last + 1, "(%s) / (%s)" % (one, other))]


def grids_smaller(source):
    """One block less in the first dimension of the grid."""
    for start, end, _, _ in source.launches():
        grid = source.plan_part(start, end)
        first = split_list(grid, start, end)[0]
        if grid[first[0]] == "(" and closing(grid, first[0]) == first[1] - 1:
            first = split_list(grid, first[0] + 1, first[1] - 1)[0]
        text = source.text[slice(*first)]
        if text != "1":
            yield [Edit(*first, "(%s) - 1" % text)]


def arguments_swapped(source):
    """Two neighbours among the arguments of a launch change places."""
    for _, _, start, end in source.launches():
        call = source.plan_part(start, end)
        parts = split_list(call, start, end)
        for one, other in zip(parts, parts[1:]):
            texts = [source.text[slice(*part)] for part in (one, other)]
            if texts[0] != texts[1]:
                yield [Edit(*one, texts[1]), Edit(*other, texts[0])]


def sizes_baked(source):
    """A size in a launch becomes what it is in another place: of a device with other sizes."""
    for _, _, start, end in source.launches():
        call = source.plan_part(start, end)
        for one in split_list(call, start, end):
            if re.match(r"[A-Z]\w*$", source.text[slice(*one)]):
                yield [Edit(*one, "64")]


def loop_steps(source):
    """Steps of two where one is right, and the like."""
    for _, end, stop in loops(source):
        step = source.code[end + 1:stop]
        found = re.match(r"(\s*)\+\+(\w+)$", step)
        wide = re.match(r"\s*\w+ \+= (.+)$", step)
        if found:
            yield [Edit(end + 1, stop, "%s%s += 2" % found.groups())]
        elif wide and "," not in step:
            yield [Edit(end + 1 + wide.start(1), stop, "2 * (%s)" % wide.group(1))]


OPERATORS = [
    ("index_plus_one", "a subscript is one too large", index_off(1)),
    ("index_minus_one", "a subscript is one too small", index_off(-1)),
    ("bound_relaxed", "< becomes <=, >= becomes >", relaxed_bounds),
    ("bound_tightened", "a bound is one too small", tightened_bounds),
    ("tail_dropped", "a loop leaves out the remainder below 32",
     bound_of_loop("(%s) / 32 * 32")),
    ("loop_cut", "a loop ends half way", bound_of_loop("((%s) + 1) / 2")),
    ("loop_step", "a loop takes every other step", loop_steps),
    ("short_reduction", "a tree of a reduction lacks a step", short_reductions),
    ("wrong_axis", "x, y or z of a thread or block for another", wrong_axes),
    ("operator_replaced", "another arithmetic operator", operators_replaced),
    ("operands_swapped", "a - b becomes b - a, a / b becomes b / a", operands_swapped),
    ("arguments_swapped", "two arguments of a launch change places", arguments_swapped),
    ("barrier_dropped", "a barrier or fence is missing", barriers_dropped),
    ("epsilon_dropped", "no epsilon", epsilons(None)),
    ("epsilon_wrong", "a hundred times the epsilon", epsilons("100.0f * %s")),
    ("parameter_dropped", "a weight is 1, a bias is 0", parameters_dropped),
    ("parameter_baked", "a parameter's first element stands for all", parameters_baked),
    ("statistic_baked", "a mean, maximum or factor is a constant", statistics_baked),
    ("maximum_dropped", "an exponential without the maximum subtracted", maxima_dropped),
    ("maximum_one_sided", "max(a, b) becomes b", maxima_one_sided),
    ("block_exits", "the last block returns at once",
     kernel_starts("\n  if (blockIdx.x == gridDim.x - 1) return;")),
    ("thread_exits", "one thread of the last block returns at once",
     kernel_starts("\n  if (threadIdx.x == 3 && blockIdx.x == gridDim.x - 1) return;")),
    ("statement_deleted", "an assignment is missing", statements_deleted),
    ("store_skipped", "a store happens only for positive values", stale_stores),
    ("accumulator_undefined", "an accumulator has no initial value", accumulators_undefined),
    ("accumulator_offset", "an accumulator starts at one", accumulators_kept),
    ("fill_dropped", "scratch that has to be zero is not filled", fills_dropped),
    ("atomic_dropped", "an atomic becomes a load and a store", atomics_dropped),
    ("sign_dropped", "a minus is missing", signs_dropped),
    ("constant_changed", "a constant is off by 3 %", factors_changed),
    ("infinity_replaced", "a maximum starts at 0 and not at minus infinity", infinities_replaced),
    ("comparison_flipped", "the other way round", comparisons_flipped),
    ("rounded_to_half", "a value goes through half precision", rounded("half")),
    ("rounded_to_bfloat16", "a value goes through bfloat16", rounded("bfloat16")),
    ("rounded_to_tf32", "a value goes through TF32", rounded("tf32")),
    ("grid_partial", "a grid is rounded down", grids_partial),
    ("grid_smaller", "a grid lacks a block", grids_smaller),
    ("size_baked", "a size is a constant", sizes_baked),
]


def mutants_of(problem, original, text, launched=None, operators=OPERATORS):
    """All mutants of one candidate where `launched` kernels have a part (None: all), each under a
    name that only its place in the text decides."""
    whole, source = Source(text), Source(text, launched)
    made, seen = [], {text}
    for name, _, function in operators:
        numbers = {tuple(edits): number for number, edits in enumerate(function(whole))}
        for edits in function(source):
            mutated = source.apply(*edits)
            if mutated in seen or tuple(edits) not in numbers:
                continue
            seen.add(mutated)
            stem = "%s-%s-%d" % (original, name, numbers[tuple(edits)])
            made.append(Mutant("%s/%s.cu" % (problem, stem), problem, name, original, mutated))
    return made


def chosen(mutants, count):
    """`count` of them, evenly over operators and within one over candidates; always the same."""
    ranks, of_operator = collections.Counter(), collections.defaultdict(list)
    for mutant in sorted(mutants, key=lambda m: hashlib.sha256(m.name.encode()).digest()):
        key = mutant.problem, mutant.original, mutant.operator
        of_operator[mutant.operator].append((ranks[key], mutant))
        ranks[key] += 1
    order = []
    for operator, ranked in of_operator.items():
        ranked.sort(key=lambda pair: pair[0])
        order += [(place, operator, mutant) for place, (_, mutant) in enumerate(ranked)]
    return sorted(mutant for _, _, mutant in sorted(order)[:count])
