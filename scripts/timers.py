# SPDX-License-Identifier: MIT
"""Times spinning kernels as others do, and by CUPTI: what scripts/bench_timing holds kbench against.

Run by scripts/bench_timing in a process of its own, since it needs torch on a GPU. Reads a JSON
object {"source": CUDA text with NANOSECONDS, "nanoseconds": [...], "methods": [...], "kernelbench":
folder or null} and prints {method: {nanoseconds: [milliseconds of each repeat]}}.
"""

import contextlib
import importlib.util
import json
import os
import statistics
import sys

import torch

REPEATS = 3
LONG_NS = 10_000_000  # from here on one repeat is enough
THREADS = 256
ELEMENTS = 4096
FLUSHED_BYTES = 256 << 20
# nvbench's cold measurement: cycles that the stream is blocked, warm-ups, samples, and noise limit.
HOLD_CYCLES = 200_000
COLD_WARM_UPS, COLD_MIN, COLD_MAX = 3, 10, 200
COLD_NOISE = 0.005


def spinning(source, nanoseconds):
    """The kernel as a function without arguments."""
    kernel = torch.cuda._compile_kernel(source.replace("NANOSECONDS", str(nanoseconds)), "spin")
    x = torch.rand(ELEMENTS, device="cuda")
    y = torch.empty_like(x)
    grid = ((ELEMENTS + THREADS - 1) // THREADS, 1, 1)
    return lambda: kernel(grid=grid, block=(THREADS, 1, 1), args=[x, y, ELEMENTS])


def by_cupti(call, nanoseconds, _):
    """Median of the durations that CUPTI's activity records give: from start to end on the GPU."""
    flushed = torch.empty(FLUSHED_BYTES, dtype=torch.uint8, device="cuda")
    activities = [torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profile:
        for _ in range(30 if nanoseconds < LONG_NS else 5):
            flushed.zero_()
            call()
            torch.cuda.synchronize()
    times = [event.time_range.elapsed_us() for event in profile.events()
             if event.device_type == torch.autograd.DeviceType.CUDA and event.name == "spin"]
    return statistics.median(times) / 1000


def by_kernelbench(call, _, folder):
    """KernelBench's: the mean of 100 calls between events."""
    # Loads the file alone, because its package imports modules that the timer does not need.
    path = os.path.join(folder, "src", "kernelbench", "timing.py")
    spec = importlib.util.spec_from_file_location("kernelbench_timing", path)
    timing = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(timing)
    with contextlib.redirect_stdout(sys.stderr):
        times = timing.time_execution_with_cuda_event(
            call, [], num_warmup=5, num_trials=100, discard_first=1, verbose=False,
            device=torch.device("cuda:0"))
    return statistics.mean(times)


def by_do_bench(call, _, __):
    """Triton's: the mean, as it returns by default."""
    from triton import testing
    return testing.do_bench(call)


def by_cold_events(call, _, __):
    """As nvbench measures cold calls: L2 written over, the stream blocked while a call is queued,
    events around it, until the mean's noise is small."""
    flushed = torch.empty(FLUSHED_BYTES, dtype=torch.uint8, device="cuda")
    times = []
    for i in range(COLD_WARM_UPS + COLD_MAX):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        flushed.zero_()
        torch.cuda._sleep(HOLD_CYCLES)
        start.record()
        call()
        stop.record()
        torch.cuda.synchronize()
        if i >= COLD_WARM_UPS:
            times.append(start.elapsed_time(stop))
        if len(times) >= COLD_MIN:
            noise = statistics.stdev(times) / statistics.mean(times) / len(times) ** 0.5
            if noise < COLD_NOISE:
                break
    return statistics.mean(times)


METHODS = {"cupti": by_cupti, "kernelbench": by_kernelbench, "do_bench": by_do_bench,
           "cold_events": by_cold_events}


def main():
    job = json.load(sys.stdin)
    found = {}
    for name in job["methods"]:
        method = METHODS[name]
        found[name] = {}
        for nanoseconds in job["nanoseconds"]:
            call = spinning(job["source"], nanoseconds)
            call()
            repeats = REPEATS if nanoseconds < LONG_NS else 1
            found[name][nanoseconds] = [method(call, nanoseconds, job["kernelbench"])
                                        for _ in range(repeats)]
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
