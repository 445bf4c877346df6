# SPDX-License-Identifier: MIT
"""What bench_kernelbench found, as figures and as verdicts that differ."""

import json
import math
import statistics


def report(state, count):
    rows = []
    kbench = state.get("kbench")
    default = state.get("default")
    best = state.get("best")
    if kbench:
        rows += [("kbench.header_s", state.get("header_s", math.nan),
                  "first candidate, header compiled if missing"),
                 ("kbench.cold_s", kbench["cold_s"], "%d candidates, empty cache" % count),
                 ("kbench.warm_s", kbench["warm_s"], "the same again"),
                 ("kbench.device_queue_s", kbench["device_queue_s"], "a candidate on a device queue: median"),
                 ("kbench.device_queue_mean_s", kbench["device_queue_mean_s"], "the same: mean"),
                 ("kbench.per_hour_cold", 3600 * count / kbench["cold_s"], "candidates"),
                 ("kbench.per_hour_warm", 3600 * count / kbench["warm_s"], "candidates")]
    if default and len(default["s"]) == count:
        total = sum(default["s"].values())
        rows.append(("kernelbench.default_s", total, "a process per candidate, build included"))
        rows.append(("kernelbench.per_hour_default", 3600 * count / total, "candidates"))
        if kbench:
            rows.append(("kernelbench.ratio_cold", total / kbench["cold_s"], "goal 60"))
    if best and len(best["s"]) == count:
        evaluate_s = sum(best["s"].values())
        total = best["compile_s"] + evaluate_s
        rows.append(("kernelbench.best_s", total, "parallel precompilation, then evaluation"))
        rows.append(("kernelbench.per_hour_best", 3600 * count / total, "candidates"))
        if kbench:
            rows.append(("kernelbench.ratio_best", total / kbench["cold_s"], "goal 10"))
            rows.append(("kernelbench.ratio_warm", evaluate_s / kbench["warm_s"],
                         "both with all builds cached"))
    many = state.get("many")
    if many:
        rows += [("kbench.many_s", many["s"],
                  "%d of %d candidates in one run, goal 600" % (many["count"], many["asked"])),
                 ("kbench.many_each_s", many["s"] / many["count"], "a candidate"),
                 ("kbench.many_queue_s", many["device_queue_s"], "a candidate on a device queue")]
        if default:
            each = statistics.mean(default["s"].values())
            rows.append(("kernelbench.ratio_many", each * many["count"] / many["s"],
                         "KernelBench's default mean, over kbench's time a candidate"))
    for name, value, note in rows:
        print("%-30s %10.3g  %s" % (name, value, note))
    if many:
        print("outcomes of the long run: %s" % many["outcomes"])
    agreement(state)


def agreement(state):
    """How often the two agree on what is correct, and where they do not."""
    theirs = {}
    for stage in ("default", "best"):
        theirs.update(state.get(stage, {}).get("said", {}))
    for name in ("kbench", "compat"):
        ours = state.get(name, {}).get("said", {})
        both = sorted(set(ours) & set(theirs))
        if not both:
            continue
        different = [k for k in both
                     if (ours[k]["outcome"] == "correct") != (theirs[k]["correct"] is True)]
        print("%s agrees with KernelBench on %d of %d verdicts" % (
            "kbench" if name == "kbench" else "kbench --kb-compat", len(both) - len(different),
            len(both)))
        for key in different:
            print("  %s: %s (%s), KernelBench: compiled %s, correct %s, %s" % (
                key, ours[key]["outcome"], ours[key]["message"], theirs[key]["compiled"],
                theirs[key]["correct"], json.dumps(theirs[key]["metadata"])[:300]))
