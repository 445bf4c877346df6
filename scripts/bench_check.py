# SPDX-License-Identifier: MIT
"""Figures of the verdict: what the whole check costs, which cheats and mutants it finds, and whom
it wrongs.

Cheats and mutants are judged on the CPU wherever this runs, with a cache of the benchmark's own.
"""

import json
import pathlib
import statistics
import subprocess
import sys

import checker_runs
from bench_ptx import Failed

SCRIPTS = pathlib.Path(__file__).resolve().parent
NO_DEVICE = 77  # exit code of compare_bench if there is no device
# Phases in which the judge waits: for compilers, other processes and the candidate's start.
WAITS = ("turn", "compile", "start", "start_next", "load", "quiet")
# Phases that the whole check adds to the trials (one compared call each) and to timing.
CHECKS = ("repeat", "distributions", "distribution_call", "correctness", "timed_outputs", "ablation")


def _phases(bench, name, *options):
    """{phase: mean seconds of a candidate} of the shipped ones, judged once."""
    out = bench.home / (name + ".jsonl")
    bench.run(["eval", "--out", str(out), *options])
    with open(out, encoding="utf-8") as file:
        records = [line for line in map(json.loads, file) if line["type"] == "record"]
    wrong = [r for r in records if r["outcome"] != "correct"]
    if not records or wrong:
        raise Failed("%d of %d records are not correct: %s"
                     % (len(wrong), len(records), wrong[0]["message"] if wrong else ""))
    sums = {}
    with open(out.with_suffix(".details.jsonl"), "rb") as file:
        for record in records:
            file.seek(record["details"]["offset"])
            phases = json.loads(file.read(record["details"]["length"]))["phases_s"]
            for phase, seconds in phases.items():
                sums[phase] = sums.get(phase, 0) + seconds / len(records)
    return sums


def check_cost(bench):
    """Goal: at most 2. The judge's seconds, timing included, by its own phases: those of a record
    also hold what a candidate waits for."""
    if "cold" not in bench.runs:
        _phases(bench, "check_first", "--no-distributions")  # fills the cache
    runs = bench.runs["check phases"] = {True: [], False: []}
    # Order A B B A: a drift of the machine's speed affects both alike.
    for number, distributions in enumerate((True, False, False, True)):
        options = () if distributions else ("--no-distributions",)
        runs[distributions].append(_phases(bench, "check_%d" % number, *options))

    def seconds(distributions, left_out):
        return statistics.median(sum(s for phase, s in phases.items() if phase not in left_out)
                                 for phases in runs[distributions])

    for what, left_out in (("judging", WAITS), ("without timing", (*WAITS, "timing"))):
        print("  %-20s %8.3g s a candidate, %8.3g s without distributions: %.3g times"
              % (what, seconds(True, left_out), seconds(False, left_out),
                 seconds(True, left_out) / seconds(False, left_out)), flush=True)
    return seconds(True, WAITS) / seconds(False, WAITS)


def cost_ratio(bench):
    """Goal: at most 2. A candidate's seconds on a device queue under the whole check, over the
    seconds of the same runs for what any harness does: drawing, the trials' own calls and
    comparisons, timing."""
    if "check phases" not in bench.runs:
        check_cost(bench)
    ratios = []
    for phases in bench.runs["check phases"][True]:
        whole = {phase: s for phase, s in phases.items() if phase not in WAITS}
        checks = sum(s for phase, s in whole.items() if phase in CHECKS)
        plain = sum(whole.values()) - checks
        print("  plain %.3g s a candidate, of which timing %.3g s; the checks %.3g s: %s"
              % (plain, whole.get("timing", 0), checks,
                 ", ".join("%s %.2g" % (phase, whole[phase])
                           for phase in CHECKS if phase in whole)), flush=True)
        ratios.append((plain + checks) / plain)
    return statistics.median(ratios)


def _compared(bench):
    """The output of compare_bench, on the GPU if there is one, else on the CPU."""
    if "compare_bench" not in bench.runs:
        binary = pathlib.Path(bench.binary).parent / "compare_bench"
        if not binary.exists():
            raise Failed("compare_bench is not in kbench's folder: build it, or name its folder by"
                         " --bin")
        for device in ("cuda", "cpu"):
            done = subprocess.run([str(binary), device], stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, check=False)
            if done.returncode != NO_DEVICE:
                break
        if done.returncode != 0:
            raise Failed((done.stderr.strip().splitlines() or ["compare_bench failed"])[-1])
        said = json.loads(done.stdout)
        print("  comparing on %s: %.4g GB/s of both tensors, a copy %.4g GB/s, %.3g MB of temporaries"
              % (device, said["compared_bytes_s"] / 1e9, said["copied_bytes_s"] / 1e9,
                 said["temporary_bytes"] / 1e6), flush=True)
        bench.runs["compare_bench"] = said
    return bench.runs["compare_bench"]


def compare_share(bench):
    """Goal: a third. Bandwidth of comparing two tensors, divided by that of a copy."""
    return _compared(bench)["share"]


def _expected(part):
    """{path: state in expected.tsv} of that part, without files that need a GPU."""
    return {path: state for path, state in checker_runs.expected_of(part).items() if state != "gpu"}


def _outcomes(bench, part):
    """[(what is expected, outcome)] of those; without a record a candidate is `missing`."""
    folder = bench.home / part
    folder.mkdir()
    kbench = checker_runs.Kbench(bench.binary, "cpu", folder,
                                 environment={"KBENCH_HOME": str(bench.home)})
    try:
        limits = checker_runs.COMPILE_LIMIT if part == "cheats" else []
        records = kbench.eval(checker_runs.HOSTILE / part, (), limits)
    except checker_runs.Failed as error:
        raise Failed(str(error)) from error
    expected = _expected(part)
    faults = [path for path in expected if path in records
              and records[path].outcome in checker_runs.NOT_JUDGED]
    if faults:
        raise Failed("%d of %s were not judged: %s: %s"
                     % (len(faults), part, faults[0], records[faults[0]].message))
    return [(state, records[path].outcome if path in records else "missing")
            for path, state in expected.items()]


def caught(bench):
    """Cheats that are found, or correct for a reason that cli_hostile_cpu tests."""
    return sum(checker_runs.is_dealt_with(state, outcome)
               for state, outcome in _outcomes(bench, "cheats"))


def cheats(_):
    return len(_expected("cheats"))


def counterparts_wronged(bench):
    """Counts false verdicts, also known ones, which the table lists with another outcome."""
    return sum(outcome != "correct" and not state == outcome == "unsupported"
               for state, outcome in _outcomes(bench, "honest"))


def _checker(bench, part, figure):
    """A figure of scripts/check_the_checker, which runs once for each of its parts."""
    name = "checker " + part
    if name not in bench.runs:
        out = bench.home / ("checker_%s.json" % part)
        done = subprocess.run([sys.executable, str(SCRIPTS / "check_the_checker"), part, "--bin",
                               str(pathlib.Path(bench.binary).parent), "--json", str(out)],
                              env=bench.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failed((done.stderr.strip().splitlines() or ["check_the_checker failed"])[-1])
        bench.runs[name] = json.loads(out.read_text(encoding="utf-8"))
    value = bench.runs[name][figure]["value"]
    if value is None:
        raise Failed("kbench judged no candidate")
    return value


def _of_checker(part, figure, what):
    return (figure, "", what, lambda bench: _checker(bench, part, figure))


FIGURES = [
    ("eval.check_cost", "", "all checks over --no-distributions, goal 2", check_cost),
    ("checker.cost_ratio", "", "the whole check over trials and timing, goal 2", cost_ratio),
    ("checker.compare_bandwidth_share", "", "comparing relative to copying, goal 0.33 on a GPU",
     compare_share),
    ("hostile.caught", "", "cheats that are caught or harmless on the CPU", caught),
    ("hostile.total", "", "cheats that apply to the CPU", cheats),
    ("hostile.false_verdicts", "", "honest counterparts with a wrong verdict", counterparts_wronged),
    _of_checker("mutants", "checker.kill_rate", "mutants that kbench kills"),
    _of_checker("mutants", "checker.kill_rate_kb_compat", "mutants that KernelBench's rule kills"),
    _of_checker("mutants", "checker.kill_rate_allclose_1e-2", "mutants that allclose(1e-2) kills"),
    _of_checker("honest", "checker.false_verdicts", "honest candidates with a wrong verdict"),
]
