# SPDX-License-Identifier: MIT
"""Figures of the split: answers with host code, built without nvcc, on the CPU.

The corpus is judged once, with an empty cache but for the compiler's precompiled header. Where
KBENCH_KERNELBENCH names a KernelBench checkout, its answers to KernelBench's problems are built, too.
"""

import json
import os
import pathlib
import statistics

from bench_ptx import Failed

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS = ROOT / "tests/corpus"


def _judge(bench, name, candidates):
    run = bench.home / f"{name}.jsonl"
    # One compiler at a time, because compilers that run together slow each other down.
    bench.run(["eval", str(ROOT / "problems"), "--candidates", f"corpus={candidates}",
               "--device", "cpu", "--jobs", "1", "--out", str(run)])
    with open(run, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return [line for line in lines if line["type"] == "record"]


def _records(bench):
    """Records of the answers to the shipped problems."""
    if "split" not in bench.runs:
        # This candidate's run builds the header, which a machine needs once.
        _judge(bench, "split_first", CORPUS / "shipped/2_RowNorm")
        bench.runs["split"] = _judge(bench, "split", CORPUS / "shipped")
    return bench.runs["split"]


def _checked(bench, checkout):
    """Verdicts on the answers to KernelBench's problems, built but not run, as records."""
    if "split_kernelbench" not in bench.runs:
        arguments = ["check", "--format", "json", *map(str, sorted((CORPUS / "kernelbench").glob("*.py")))]
        for level in (1, 2, 3):
            arguments += ["--problem", str(pathlib.Path(checkout) / f"KernelBench/level{level}")]
        _, _, said = bench.run(arguments, accepted=(0, 3))
        bench.runs["split_kernelbench"] = [
            {"candidate": file["file"], "compile": file.get("compile"),
             "outcome": "built" if file["would_be_scored"] else file.get("outcome", "refused")}
            for file in json.loads(said)["files"]]
    return bench.runs["split_kernelbench"]


def _built(bench):
    """Records of candidates with a build."""
    built = [r for r in _records(bench) if r.get("compile")]
    if not built:
        raise Failed("nothing was built")
    return built


def has_two_halves(path):
    """Whether a file has device code and host code, so that there is something to split."""
    source = pathlib.Path(path).read_text(encoding="utf-8")
    loads = "load_inline" in source or "cpp_extension" in source
    return "__global__" in source and (str(path).endswith(".cu") or loads)


def went_through(record):
    """True if NVRTC and a host compiler built its device and host code: not if it was refused, has
    no host code, or was built by nvcc."""
    way = (record.get("compile") or {}).get("way") or ""
    return way.startswith("nvrtc + ") and record["outcome"] not in ("compile_failure",
                                                                    "unsupported", "refused")


def share(bench):
    """Fraction of answers with device and host code, refused ones included, that were split."""
    records = list(_records(bench))
    checkout = os.environ.get("KBENCH_KERNELBENCH")
    if checkout:
        records += _checked(bench, checkout)
    split = [r for r in records if has_two_halves(r["candidate"])]
    if not split:
        raise Failed("no answer has both device code and host code")
    return sum(map(went_through, split)) / len(split)


def correct(bench):
    built = _built(bench)
    return sum(r["outcome"] == "correct" for r in built) / len(built)


def build_s(bench):
    """Seconds of NVRTC and of the host compiler for one candidate."""
    return statistics.median(r["compile"]["seconds"] for r in _built(bench)
                             if not r["compile"]["cached"])


def _host_seconds(bench):
    """The host compiler's seconds for each candidate that was compiled, not cached."""
    seconds = [r["compile"]["host_s"] for r in _built(bench)
               if not r["compile"]["cached"] and r["compile"]["host_s"] is not None]
    if not seconds:
        raise Failed("no host code was compiled")
    return seconds


def host_s(bench):
    """Goal: at most 1 s with clang, 6 s with g++, on a warm header."""
    return statistics.median(_host_seconds(bench))


def host_max_s(bench):
    """The slowest candidate: its code is long, or includes all of torch."""
    return max(_host_seconds(bench))


FIGURES = [
    ("split.share", "", "fraction of corpus that is split", share),
    ("split.correct", "", "fraction of those that is correct", correct),
    ("split.build_s", "s", "device and host code of one candidate", build_s),
    ("split.host_s", "s", "host code of one candidate, warm header", host_s),
    ("split.host_max_s", "s", "the slowest host code", host_max_s),
]
