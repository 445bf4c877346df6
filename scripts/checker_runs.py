# SPDX-License-Identifier: MIT
"""kbench as the checker's check calls it: candidates in, records out; and what other checks would
have said of the same outputs.
"""

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess

HOSTILE = pathlib.Path(__file__).resolve().parent.parent / "tests" / "hostile"
# Ends candidates that compile without end. On a busy machine CUB's headers alone may take as long.
COMPILE_LIMIT = ["--compile-timeout", "10"]
Record = collections.namedtuple("Record", "outcome cause message trials raw")

# Outcomes that any check would give: the candidate gives no answer, or one of another form.
STRUCTURAL = ("compile_failure", "load_failure", "unsupported", "rejected", "crash", "timeout",
              "out_of_memory", "illegal_write", "wrong_shape", "wrong_dtype", "missing")
NOT_JUDGED = ("harness_fault", "problem_failure")

# Appended to a problem's text, so that kbench keeps the constants that the constructor sets (scales
# of 1, biases of 0). kbench redraws constant tensors, so one element is changed by the last bit.
AS_CONSTRUCTED = '''

import contextlib as _contextlib
import functools as _functools
from torch.nn.modules import module as _module

@_contextlib.contextmanager
def _as_constructed():
    hooks = (_module._global_parameter_registration_hooks,
             _module._global_buffer_registration_hooks)
    kept = [dict(table) for table in hooks]
    fills = {name: vars(torch.Tensor)[name] for name in ("fill_", "zero_")
             if name in vars(torch.Tensor)}
    for table in hooks:
        table.clear()
    for name in fills:
        delattr(torch.Tensor, name)
    try:
        yield
    finally:
        for table, entries in zip(hooks, kept):
            table.update(entries)
        for name, function in fills.items():
            setattr(torch.Tensor, name, function)


def _keep_constants(initialise):
    @_functools.wraps(initialise)
    def as_constructed(self, *arguments, **named):
        with _as_constructed():
            initialise(self, *arguments, **named)
        with torch.no_grad():
            for tensor in (*self.parameters(), *self.buffers()):
                if tensor.is_floating_point() and tensor.numel() > 1:
                    tensor.view(-1)[:1] += torch.finfo(tensor.dtype).eps

    return as_constructed


if "__init__" in vars(Model):
    Model.__init__ = _keep_constants(Model.__init__)
'''

# States of tests/hostile/expected.tsv whose cheats may be `correct` (tests/hostile/README.md).
DEALT_WITH = ("harmless", "either", "flagged", "library", "bounded", "sized", "unclean")


class Failed(Exception):
    """kbench did not finish a run."""


class Kbench:
    """One binary and one device; `folder` is for candidates and run files."""

    def __init__(self, binary, device, folder, jobs=None, environment=None):
        self.binary = str(binary)
        self.device = device
        self.folder = pathlib.Path(folder)
        self.jobs = ["--jobs", str(jobs)] if jobs else []
        self.environment = dict(os.environ, NO_COLOR="1", **(environment or {}))
        self.runs = 0

    def write(self, name, texts):
        """Puts candidates {path: text} into a folder of its own and returns that."""
        folder = self.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        for path, text in texts.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        return folder

    def eval(self, candidates, problems=(), options=()):
        """{path below the candidates' folder: Record} of one run over that folder."""
        self.runs += 1
        out = self.folder / ("run-%d.jsonl" % self.runs)
        command = [self.binary, "eval", *map(str, problems), "--candidates",
                   "checked=%s" % candidates, "--device", self.device, "--quiet", "--out", str(out),
                   *self.jobs, *options]
        done = subprocess.run(command, env=self.environment, cwd=self.folder, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, check=False)
        if done.returncode not in (0, 1):
            raise Failed("kbench eval: exit code %d: %s"
                         % (done.returncode, (done.stderr.strip().splitlines() or ["nothing"])[-1]))
        with open(out, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        root = os.path.realpath(candidates)
        return {os.path.relpath(os.path.realpath(raw["candidate"]), root): record_of(raw)
                for raw in lines if raw["type"] == "record" and raw["outcome"] != "missing"}

    def ptx(self, texts):
        """{name: PTX without its lines' numbers} of kernel candidates {name: (problem, text)}, of
        texts that this was never asked for before."""
        if not texts:
            return {}
        self.runs += 1
        home = self.folder / "ptx-home"
        compiled = home / "cache" / "compiled"
        found, known = {}, {path for path in compiled.rglob("*") if path.is_file()}
        environment = dict(self.environment, KBENCH_HOME=str(home))
        process = subprocess.Popen(
            [self.binary, "eval", "--candidates", "-", "--device", "cpu", "--trials", "1",
             "--no-distributions", "--timing", "none", "--out",
             str(self.folder / ("ptx-%d.jsonl" % self.runs))], env=environment, cwd=self.folder, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            for number, (name, (problem, text)) in enumerate(texts.items()):
                line = {"id": str(number), "problem": problem, "model": "ptx", "kind": "kernel",
                        "source": text}
                process.stdin.write(json.dumps(line) + "\n")
                process.stdin.flush()
                while json.loads(process.stdout.readline() or '{"type": "record"}').get(
                        "type", "record") != "record":
                    pass
                # One candidate at a time, so that the new files are its own.
                new = {path for path in compiled.rglob("*") if path.is_file()} - known
                known |= new
                found[name] = "\n".join(sorted(plain_ptx(path) for path in new))
        finally:
            process.stdin.close()
            process.wait()
        return found


def plain_ptx(path):
    """What the compiler made, without line numbers, registers numbered as they first occur."""
    text = path.read_bytes().decode("utf-8", "replace")
    text = text[text.find(".version"):].partition(".section")[0]
    text = re.sub(r"^\s*(\.loc|\.file|\.reg|//)[^\n]*\n", "", text, flags=re.M)
    numbers = {}

    def renumbered(match):
        kind, number = match.groups()
        of_kind = numbers.setdefault(kind, {})
        return "%%%s%d" % (kind, of_kind.setdefault(number, len(of_kind)))

    return re.sub(r"%([a-z]+)(\d+)\b", renumbered, text)


def expected_of(part, device="cpu"):
    """{path below that part of the hostile candidates: the state that the tables give it}."""
    tables = ["expected.tsv", *(["expected_cuda.tsv"] if device.startswith("cuda") else [])]
    rows = [line.split("\t") for table in tables
            for line in (HOSTILE / table).read_text(encoding="utf-8").splitlines()]
    return {path.removeprefix(part + "/"): state for path, state, *_ in rows
            if path.startswith(part + "/")}


def is_dealt_with(state, outcome):
    """Whether a cheat in that state ought to have, or may have, that outcome."""
    return outcome not in ("missing", *(() if state in DEALT_WITH else ("correct",)))


def record_of(raw):
    return Record(raw["outcome"], raw["cause"], raw["message"], raw["correctness"], raw)


def holds(record, tolerance, trials):
    """Whether an allclose at that tolerance would have found these trials right."""
    seen = record.trials[:trials]
    return bool(seen) and all(t["allclose_at"] is not None and t["allclose_at"] <= tolerance
                              for t in seen)


def kernelbench_tolerance(problem_text):
    """What KernelBench takes for a problem of that precision."""
    return 1e-2 if re.search(r"torch\.b?float16", problem_text) else 1e-4


def verdicts(own, plain, tolerance):
    """{check: whether it kills}: kbench's record, and the one on the problem as it is drawn, whose
    outputs KernelBench's rule (five trials) and an allclose at 1e-2 (one) look at."""
    ends = any(r is not None and r.outcome in STRUCTURAL for r in (own, plain))
    return {"kbench": own.outcome != "correct",
            "kb_compat": ends or not holds(plain, tolerance, 5),
            "allclose_1e-2": ends or not holds(plain, 1e-2, 1)}


def problems_as_constructed(problems, folder):
    """A copy of a problem set whose models keep the constants that their constructors set."""
    for file in problems.glob("level*/*.py"):
        target = folder / file.parent.name / file.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(file.read_text(encoding="utf-8") + AS_CONSTRUCTED, encoding="utf-8")
    shutil.copy(problems / "sizes.json", folder / "sizes.json")
    return folder
