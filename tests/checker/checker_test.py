# SPDX-License-Identifier: MIT
"""The mutators of scripts/check_the_checker, and a small measurement.

checker_test.py BIN_FOLDER
"""

import collections
import functools
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import checker_honest  # noqa: E402
import checker_mutants  # noqa: E402
import checker_references  # noqa: E402
import checker_runs  # noqa: E402
from checker_source import Edit, Source  # noqa: E402

SCRIPT = ROOT / "scripts" / "check_the_checker"
CANDIDATE = textwrap.dedent('''\
    //@ dims x[R, C]
    //@ tmp sums: float32[R] = 0
    //@ out y like x
    //@ add<<<cdiv(R * C, 256), 256>>>(x, sums,
    //@                                linear.weight, y, R, C)
    //@ if (R > 3) {
    //@   wide<<<R, 32>>>(y, C)
    //@ } else {
    //@   add<<<1, 32>>>(x, sums, linear.weight, y, R, C)
    //@ }
    // for (int no = 0; no < code; ++no)
    struct Pair { float a, b; };
    __device__ float twice(float v) { return v * 2.0f; }
    __global__ void add(const float* x, float* sums, const float* scale, float* y, int r, int c) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i >= r * c) return;
      float sum = 0.0f;
      for (int k = 0; k < c; ++k) sum += x[i] * scale[k];
      atomicAdd(&sums[i / c], sum);
      __syncthreads();
      y[i] = twice(sum);
    }
    __global__ void wide(float* y, int c) { y[threadIdx.x] = -c; }
    ''')


def candidates():
    for file in sorted((ROOT / "problems" / "candidates" / "right").glob("*/*/*.cu")):
        yield file.parent.name, file.parent.parent.name, file.read_text(encoding="utf-8")


def mutants_anew(operators):
    return [mutant for problem, original, text in candidates()
            for mutant in checker_mutants.mutants_of(problem, original, text, None, operators)]


@functools.cache
def all_mutants():
    return mutants_anew(checker_mutants.OPERATORS)


def texts_of(operator, text=CANDIDATE, launched=None):
    rows = [row for row in checker_mutants.OPERATORS + checker_honest.HONEST if row[0] == operator]
    return [mutant.text for mutant in
            checker_mutants.mutants_of("1_P", "naive", text, launched, rows)]


class Sources(unittest.TestCase):
    def test_what_is_no_code_is_blank_and_the_rest_in_its_place(self):
        source = Source(CANDIDATE)
        self.assertEqual(len(source.code), len(CANDIDATE))
        self.assertNotIn("//", source.code)
        self.assertNotIn("no < code", source.code)
        self.assertEqual(source.code.index("__global__"), CANDIDATE.index("__global__"))

    def test_functions_are_found_and_those_that_run_are_live(self):
        self.assertEqual([f.name for f in Source(CANDIDATE).functions], ["twice", "add", "wide"])
        self.assertEqual([f.name for f in Source(CANDIDATE, {"add"}).live], ["twice", "add"])
        self.assertEqual([f.name for f in Source(CANDIDATE, {"wide"}).live], ["wide"])

    def test_launches_of_the_plan_in_an_else_are_left_out(self):
        parts = [CANDIDATE[end:][:6] for _, _, end, _ in Source(CANDIDATE).launches()]
        self.assertEqual(parts, ["x, sum", "y, C)\n"])

    def test_edits_do_not_shift_each_other(self):
        source = Source("abcdef")
        self.assertEqual(source.apply(Edit(1, 2, "XY"), Edit(4, 5, "", "p\n")), "p\naXYcdf")


class Operators(unittest.TestCase):
    def test_each_does_what_its_name_says(self):
        for operator, part in (
                ("index_plus_one", "x[i + 1]"), ("index_minus_one", "scale[k - 1]"),
                ("bound_relaxed", "i > r * c"), ("tail_dropped", "k < (c) / 32 * 32;"),
                ("loop_step", "k += 2"), ("wrong_axis", "blockIdx.y * blockDim.x"),
                ("parameter_dropped", "x[i] * 1.0f"), ("parameter_baked", "scale[0]"),
                ("accumulator_undefined", "float sum ;"), ("fill_dropped", "float32[R]\n"),
                ("atomic_dropped", "*(&sums[i / c]) = *(&sums[i / c]) + sum;"),
                ("barrier_dropped", "sum);\n  ;\n"), ("sign_dropped", "= c;"),
                ("grid_partial", "<<<(R * C) / (256), 256>>>"),
                ("rounded_to_tf32", "& 0xffffe000u"), ("statement_deleted", "\n  ;\n"),
                ("arguments_swapped", "(sums, x,"),
                ("sum_reversed", "for (int k = (c) - 1; k >= 0"),
                ("block_size", "cdiv(R * C, 96), 96"),
                ("separate", "sum = __fadd_rn(sum, __fmul_rn(x[i], scale[k]));")):
            with self.subTest(operator):
                self.assertTrue(any(part in text for text in texts_of(operator)),
                                texts_of(operator)[:1])

    def test_only_what_runs_is_mutated_under_the_same_names(self):
        rows = checker_mutants.OPERATORS
        every = {m.name: m.text for m in
                 checker_mutants.mutants_of("1_P", "naive", CANDIDATE, None, rows)}
        some = {m.name: m.text for m in
                checker_mutants.mutants_of("1_P", "naive", CANDIDATE, {"wide"}, rows)}
        self.assertLess(len(some), len(every))
        self.assertLessEqual(some.items(), every.items())
        self.assertFalse(any("y[threadIdx.x] = -c" not in text and "twice(sum)" not in text
                             for text in some.values()))

    def test_each_makes_something_of_the_shipped_candidates(self):
        for rows in (checker_mutants.OPERATORS, checker_honest.HONEST, checker_honest.NAMED):
            made = collections.Counter(mutant.operator for mutant in mutants_anew(rows))
            for name, what, _ in rows:
                self.assertGreater(made[name], 0, name)
                self.assertTrue(what)

    def test_names_are_unique_and_always_the_same(self):
        first = all_mutants()
        self.assertEqual(first, mutants_anew(checker_mutants.OPERATORS))
        self.assertEqual(len({mutant.name for mutant in first}), len(first))
        self.assertGreaterEqual(len(first), 400)
        texts = collections.Counter((m.problem, m.original, m.text) for m in first)
        self.assertEqual(max(texts.values()), 1)

    def test_the_chosen_ones_are_spread_over_operators(self):
        mutants = all_mutants()
        chosen = checker_mutants.chosen(mutants, 200)
        self.assertEqual(len(chosen), 200)
        self.assertEqual(chosen, checker_mutants.chosen(list(reversed(mutants)), 200))
        self.assertLessEqual(set(chosen), set(checker_mutants.chosen(mutants, 300)))
        counts = collections.Counter(mutant.operator for mutant in chosen)
        self.assertEqual(set(counts), {name for name, _, _ in checker_mutants.OPERATORS})
        self.assertLessEqual(max(counts.values()), 7)

    def test_equivalent_ones_are_mutants_of_today(self):
        known = {mutant.name: hashlib.sha256(mutant.text.encode()).hexdigest()[:12]
                 for mutant in all_mutants()}
        rows = [line.split("\t") for line in
                (ROOT / "tests" / "checker" / "equivalent.tsv").read_text().splitlines()[1:]]
        self.assertEqual(len(rows), len({row[0] for row in rows}))
        for name, digest, where, reason in rows:
            self.assertEqual(known.get(name), digest, name)
            self.assertIn(where, ("any", "cpu", "cuda", "cpu,cuda"))
            self.assertGreater(len(reason), 20, name)


def record(outcome, *allclose_at):
    return checker_runs.Record(outcome, "", "", [{"allclose_at": t} for t in allclose_at], {})


class Verdicts(unittest.TestCase):
    def killed_by(self, own, plain, tolerance=1e-4):
        found = checker_runs.verdicts(own, plain, tolerance)
        return [check for check, killed in found.items() if killed]

    def test_checks_differ_in_tolerance_and_trials(self):
        right = record("correct")
        self.assertEqual(self.killed_by(right, record("correct", *[1e-6] * 5)), [])
        self.assertEqual(self.killed_by(right, record("mismatch", *[5e-4] * 5)), ["kb_compat"])
        self.assertEqual(self.killed_by(right, record("mismatch", *[5e-4] * 5), 1e-2), [])
        self.assertEqual(self.killed_by(right, record("mismatch", 1e-6, 0.5)), ["kb_compat"])
        self.assertEqual(self.killed_by(record("mismatch"), record("mismatch", None)),
                         ["kbench", "kb_compat", "allclose_1e-2"])

    def test_one_that_gives_no_answer_is_killed_by_all(self):
        for own, plain in ((record("crash"), None), (record("correct"), record("timeout", 0))):
            self.assertIn("kb_compat", self.killed_by(own, plain))
            self.assertIn("allclose_1e-2", self.killed_by(own, plain))


REFERENCE = textwrap.dedent('''\
    import torch.nn as nn
    class Block(nn.Module):
        def __init__(self, width):
            super(Block, self).__init__()
            self.fc = nn.Linear(width, width)
            self.norm = nn.LayerNorm(width)
        def forward(self, x):
            return self.norm(self.fc(x)) + self.fc.bias
    class Model(nn.Module):
        def __init__(self, width):
            super(Model, self).__init__()
            self.width = width
            self.first = Block(width)
            self.last = nn.Linear(self.width, 1)
            self.tied = nn.Linear(self.last.in_features, 1)
            self.bias = nn.Parameter(self.last.bias.detach())
        def forward(self, x):
            return self.last(self.first(x)) + self.tied(x) + self.bias
    width = 4
    def get_inputs():
        return []
    def get_init_inputs():
        return [width]
    ''')


class References(unittest.TestCase):
    def test_the_class_alone_is_renamed(self):
        text = checker_references.same(REFERENCE)
        self.assertEqual(text.count("ModelNew"), 2)
        self.assertEqual(text.replace("ModelNew", "Model").count("Model"), REFERENCE.count("Model"))
        self.assertIn("super(ModelNew, self)", text)

    def test_layers_that_do_not_need_each_other_change_places(self):
        text = checker_references.reversed_order(REFERENCE)
        places = [text.index(part) for part in (
            "self.norm = ", "self.fc = ", "self.width = ", "self.last = ", "self.first = ",
            "self.bias = ", "self.tied = ")]
        self.assertEqual(places, sorted(places))
        with self.assertRaises(checker_references.Skipped):
            checker_references.reversed_order("class Model: pass")

    def test_names_that_only_the_class_knows_change(self):
        text = checker_references.renamed_weights(REFERENCE)
        for name in ("fc", "norm", "first", "last", "tied"):
            self.assertEqual(text.count("self.%s_" % name), REFERENCE.count("self.%s" % name))
        # Of a layer, and of this class.
        self.assertIn("self.fc_.bias", text)
        self.assertIn("+ self.bias", text)
        self.assertIn("self.width = width", text)
        with self.assertRaises(checker_references.Skipped):
            checker_references.renamed_weights(REFERENCE + "getattr(Model, 'last')")


class RealBinary(unittest.TestCase):
    def measure(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "figures.json"
            done = subprocess.run(
                [sys.executable, str(SCRIPT), *arguments, "--bin", BIN, "--json", str(out)],
                capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(out.read_text()), done.stdout

    def test_a_few_mutants_are_killed_or_told_to_be_none(self):
        figures, output = self.measure(
            "mutants", "--problems", "1_SoftCappedSwish", "9_CumulativeSum", "--count", "16",
            "--only", "sign_dropped", "statement_deleted", "rounded_to_half", "loop_step")
        self.assertGreaterEqual(figures["checker.mutants"]["value"], 12, output)
        self.assertEqual(figures["checker.kill_rate"]["value"], 1.0, output)
        self.assertLess(figures["checker.kill_rate_allclose_1e-2"]["value"], 1.0, output)
        self.assertIn("rounded_to_half", output)
        self.assertIn("9_CumulativeSum/tuned-loop_step-4.cu", figures["lists"]["equivalent"],
                      output)

    def test_references_are_right_answers(self):
        figures, output = self.measure("references", "--problems", "3_Softmax", "9_CumulativeSum",
                                       "--rows", "native", "bf16")
        self.assertEqual(figures["references.wrong"]["value"], 0, output)
        self.assertEqual(figures["references.correct"]["value"], 4, output)
        self.assertIn("3_Softmax renamed: no layer", output)

    def test_a_reference_that_is_not_taken_for_right_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "1_Raises.py").write_text(
                "import torch\nclass Model(torch.nn.Module):\n"
                "    def forward(self, x):\n        return x @ x[:3]\n"
                "def get_inputs():\n    return [torch.rand(4, 4)]\n", encoding="utf-8")
            done = subprocess.run([sys.executable, str(SCRIPT), "references", folder, "--bin", BIN,
                                   "--rows", "native"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, r"1_Raises/same.py, native: problem_failure")

    def test_usage(self):
        for arguments, words in ((["nothing"], "there is no part"),
                                 (["--problems", "9_Nothing"], "there is no problem")):
            done = subprocess.run([sys.executable, str(SCRIPT), *arguments, "--bin", BIN],
                                  capture_output=True, text=True, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    BIN = sys.argv.pop(1)
    unittest.main()
