# SPDX-License-Identifier: MIT
"""Figures of the split: answers with host code, built without nvcc, on the CPU.

The corpus is judged once, with an empty cache but for the compiler's precompiled header.
"""

import json
import pathlib
import statistics

from bench_ptx import Failed

ROOT = pathlib.Path(__file__).resolve().parent.parent


def _judge(bench, name, candidates):
    run = bench.home / f"{name}.jsonl"
    bench.run(["eval", str(ROOT / "problems"), "--candidates", f"corpus={candidates}",
               "--device", "cpu", "--out", str(run)])
    with open(run, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return [line for line in lines if line["type"] == "record"]


def _built(bench):
    """Records of the corpus that had something built."""
    if "split" not in bench.runs:
        # One candidate pays for the header, which is built once on a machine.
        _judge(bench, "split_first", ROOT / "tests/corpus/shipped/2_RowNorm")
        records = _judge(bench, "split", ROOT / "tests/corpus/shipped")
        bench.runs["split"] = [r for r in records if r.get("compile")]
    if not bench.runs["split"]:
        raise Failed("nothing was built")
    return bench.runs["split"]


def share(bench):
    """Of the candidates that had something built, those that both halves compiled for."""
    built = _built(bench)
    return sum(r["outcome"] != "compile_failure" for r in built) / len(built)


def correct(bench):
    built = _built(bench)
    return sum(r["outcome"] == "correct" for r in built) / len(built)


def build_s(bench):
    """Both halves of one candidate: NVRTC and the host compiler, as long as they ran."""
    return statistics.median(r["compile"]["seconds"] for r in _built(bench)
                             if not r["compile"]["cached"])


def _host_seconds(bench):
    """Of each candidate whose halves were compiled just now: the host compiler's seconds."""
    seconds = [r["compile"]["host_s"] for r in _built(bench)
               if not r["compile"]["cached"] and r["compile"]["host_s"] is not None]
    if not seconds:
        raise Failed("no host half was compiled")
    return seconds


def host_s(bench):
    """Goal: at most 1 s with clang, 3 s with g++, on a warm header."""
    return statistics.median(_host_seconds(bench))


def host_max_s(bench):
    """The slowest: code that is optimised for nothing, but long, or asks for all of torch."""
    return max(_host_seconds(bench))


FIGURES = [
    ("split.share", "", "corpus that goes through the split", share),
    ("split.correct", "", "corpus that is right, of those", correct),
    ("split.build_s", "s", "both halves of one candidate", build_s),
    ("split.host_s", "s", "host half of one candidate, warm header", host_s),
    ("split.host_max_s", "s", "the slowest host half", host_max_s),
]
