# SPDX-License-Identifier: MIT
"""Run files whose reports are hard to show: hostile texts, nothing at all, numbers that are none."""

import json
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
START = 1769851800.0
# Each would set kbenchInjected, break an element, or a line, if it were anything but text.
HOSTILE = [
    "</script><script>window.kbenchInjected = 1</script>",
    "<img src=x onerror='window.kbenchInjected = 1'>",
    "\"><svg onload=window.kbenchInjected=1>",
    "';window.kbenchInjected=1;'",
    "two\nlines\r\nand\ttabs\u2028\u2029",
    "emoji \U0001F680\U0001F468\u200D\U0001F469\u200D\U0001F467 and \u202Eright to left",
    "<!-- comment --> &lt;entity&gt; ]]> @DATA@",
    "x" * 4096,
    "%25 ::error::no, a name",
    "\x1b[31mred\x07\x00",
]
FAILURES = [("mismatch", "values", "correctness"), ("compile_failure", "syntax_error", "compile"),
            ("crash", "out_of_bounds_read", "correctness"), ("timeout", "call", "correctness"),
            ("cheat", "old_output", "correctness"), ("illegal_write", "out_of_bounds_write", "correctness")]


# Runs whose pages have nothing to press or to see that others lack.
LESS_OF_THE_SAME = ("cpu", "failures")


def examples():
    text = (ROOT / "src" / "record" / "RUN_FILE.md").read_text(encoding="utf-8")
    objects = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", text, re.S)]
    return {line["type"]: line for line in objects}


class Run:
    """A run file that grows record by record."""

    def __init__(self, path, device="NVIDIA H200"):
        self.path, self.example = path, examples()
        self.device, self.manifest, self.records, self.details = device, [], [], []
        self.offset, self.now = 0, START

    def add(self, model, problem, sample, outcome="correct", details=None, level=1, **fields):
        record = dict(self.example["record"], model=model, problem=problem, level=level,
                      sample=sample, device=self.device)
        record["candidate"] = "%s/%s/%d.cu" % (model, problem, sample)
        record["candidate_hash"] = "%064x" % (len(self.records) + 1)
        self.now += 0.7
        record["ended"], record["seconds"] = round(self.now, 2), 1.1
        if outcome != "correct":
            kind = next((failure for failure in FAILURES if failure[0] == outcome),
                        (outcome, "", "correctness"))
            record.update(outcome=outcome, cause=kind[1], stage=kind[2], timing=None, speedup=[],
                          sol=None, message="line 3: it is not right")
        record.update(fields)
        text = json.dumps(details if details is not None else
                          {"raw_ms": {"candidate": [0.0102, 0.0104, 0.0101], "eager": [0.0194, 0.0199]},
                           "phases_s": {"compile": 0.03, "timing": 0.4}}).encode()
        record["details"] = {"offset": self.offset, "length": len(text)}
        self.details.append(text)
        self.offset += len(text) + 1
        self.records.append(record)
        self.plan(model, problem, sample, level)

    def plan(self, model, problem, sample, level=1):
        self.manifest.append({"problem": problem, "level": level, "model": model,
                            "samples": [sample], "tags": []})

    def write(self, ended=True):
        run = dict(self.example["run"])
        run["environment"] = dict(run["environment"], device=self.device)
        lines = [run, {"type": "manifest", "entries": self.manifest}] + self.records
        if ended:
            lines.append(self.example["end"])
        self.path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        self.path.with_suffix(".details.jsonl").write_bytes(b"".join(text + b"\n" for text in self.details))
        return self.path


def of_models(path, device="NVIDIA H200"):
    run = Run(path, device)
    for m, model in enumerate(["alpha", "beta", "gamma"]):
        for p in range(12):
            for sample in range(4):
                chance = (p * 7 + sample * 3 + m * 5) % 10
                speedup = 0.4 + (p + 1) * 0.17 * (m + 1)
                over = [{"baseline": "eager", "value": speedup, "lo": speedup * 0.97, "hi": speedup * 1.03,
                         "relation": "faster", "stored": False}]
                level = 1 + p // 6
                problem = "level%d/%d_Problem" % (level, p)
                if chance < 3:
                    run.add(model, problem, sample, FAILURES[(p + sample) % len(FAILURES)][0], level=level,
                            details={"compiler_log": "%d.cu(3): error: x\n" % sample})
                else:
                    run.add(model, problem, sample, level=level, speedup=[] if device == "cpu" else over)
    return run.write()


def many_models(path):
    """More models than there are colours, with one sample each: no curves over k."""
    run = Run(path)
    for m in range(14):
        for p in range(6):
            over = [{"baseline": "eager", "value": 0.3 + 0.2 * m + 0.1 * p, "lo": 0.3 + 0.19 * m, "hi": 1.4 + 0.2 * m,
                     "relation": "faster", "stored": False}]
            name = "level%d/%d_Problem" % (1 + p % 2, p)
            if (m + p) % 5 == 0:
                run.add("model-%d-with-a-name" % m, name, 0, "mismatch", level=1 + p % 2)
            else:
                run.add("model-%d-with-a-name" % m, name, 0, level=1 + p % 2, speedup=over)
    return run.write()


def hostile(path):
    run = Run(path)
    source = path.parent / "hostile.cu"
    text = "// %s\n__global__ void f() {}\n<<<\n\"%s" % (HOSTILE[0], HOSTILE[1])
    source.write_text(text, encoding="utf-8")
    import hashlib
    digest = hashlib.sha256(text.encode()).hexdigest()
    for i, name in enumerate(HOSTILE):
        run.add(name, "level1/" + name, i, FAILURES[i % len(FAILURES)][0], message=name, cause=name,
                flags=[name, "public_seed"], candidate=str(source), candidate_hash=digest,
                details={"compiler_log": "hostile.cu(2): error: %s\n%s" % (name, name), "log": name,
                         "raw_ms": {name: [1.0, None, 2.0]}, "phases_s": {name: 1.0, "x": None}})
        run.add(name, "level1/" + name, 100 + i, flags=[name])
    return run.write()


def nothing_is_a_number(path):
    run = Run(path)
    for sample in range(3):
        run.add("alpha", "level1/1_Null", sample, seconds=None, ended=None)
        record = run.records[-1]
        record["timing"] = json.loads(json.dumps(record["timing"]))
        for side in record["timing"]["sides"].values():
            for name in side:
                side[name] = 0 if name == "count" else None
        record["speedup"] = [{"baseline": "eager", "value": None, "lo": None, "hi": None}]
        for trial in record["correctness"]:
            trial["max_abs_error"] = trial["max_rel_error"] = None
    return run.write()


def write_runs(folder):
    """The files that it has written into the folder."""
    one = Run(folder / "one.jsonl")
    one.add("alpha", "level1/1_One", 0)
    failures = Run(folder / "failures.jsonl")
    for i, (outcome, _, _) in enumerate(FAILURES):
        failures.add("alpha", "level1/%d_P" % i, 0, outcome)
    empty = Run(folder / "empty.jsonl")
    empty.plan("alpha", "level1/1_One", 0)
    return [of_models(folder / "models.jsonl"), of_models(folder / "cpu.jsonl", "cpu"),
            many_models(folder / "many_models.jsonl"), hostile(folder / "hostile.jsonl"), nothing_is_a_number(folder / "null.jsonl"),
            one.write(), failures.write(), empty.write(ended=False)]
