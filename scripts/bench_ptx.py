# SPDX-License-Identifier: MIT
"""The figures of the PTX executor, for scripts/bench: measured by ptx_bench, which the build of the
tests makes, and beside what a person would run kernels with otherwise where there is no GPU."""

import json
import os
import pathlib
import subprocess

SCRIPTS = pathlib.Path(__file__).resolve().parent


class Failed(Exception):
    """A stage that could not be measured, with the reason."""


# (name, then kernel and size for each of the executor, numba and Triton). Sizes differ, so the time
# per element is compared, and for a matrix product the time per operation.
CASES = [
    ("vector add", ("vector_add", 4000000), ("vector_add", 4096), ("vector_add", 1 << 20)),
    ("softmax", ("softmax", 2000), ("softmax", 2), ("softmax", 400)),
    ("tiled matmul", ("matmul32", 512), ("matmul", 32), ("matmul", 256)),
]


def bench_binary(bench):
    path = pathlib.Path(bench.binary).parent / "ptx_bench"
    if not path.exists():
        raise Failed("ptx_bench is not in kbench's folder: build it, or name its folder by --bin")
    return path


def executor(bench, case, size, *options):
    """One line of ptx_bench, with its peak of resident bytes."""
    command = [str(bench_binary(bench)), case, str(size), *options]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        output, errors = process.stdout.read(), process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise Failed("%s: %s" % (" ".join(command[1:]), (errors.strip().splitlines() or ["?"])[-1]))
    return dict(json.loads(output), rss_bytes=usage.ru_maxrss * 1024)


CHECKED = ("--sanitize", "memory")
ONE_CORE = ("--threads", "1")


def arithmetic_rate(bench):
    return executor(bench, "arithmetic", 8000, *ONE_CORE)["thread_ginstr_per_s"]


def checked_rate(bench):
    return executor(bench, "matmul32", 512, *ONE_CORE, *CHECKED)["thread_ginstr_per_s"]


def matmul_1024(bench):
    return executor(bench, "matmul32", 1024, *CHECKED)["seconds"]


def scaling(bench):
    """How many times faster all cores are than one."""
    one = executor(bench, "matmul32", 512, *ONE_CORE, *CHECKED, "--seconds", "2")["seconds"]
    return one / executor(bench, "matmul32", 512, *CHECKED, "--seconds", "2")["seconds"]


def blocks_rate(bench):
    """Blocks of 256 threads that do next to nothing, in millions a second and core."""
    return 4e6 / 256 / executor(bench, "vector_add", 4000000, *ONE_CORE)["seconds"] / 1e6


def added_bytes(bench, sanitize, size):
    """What a sanitizer adds to the memory of a vector addition."""
    options = (*ONE_CORE, "--seconds", "0")
    plain = executor(bench, "vector_add", size, *options)["rss_bytes"]
    return executor(bench, "vector_add", size, *options, "--sanitize", sanitize)["rss_bytes"] - plain


def memory_shadow(bench):
    size = 20000000
    return added_bytes(bench, "memory", size) / (3.0 * 4 * size)


def race_shadow(bench):
    """Bytes per word of the written pages."""
    size = 4000000
    return added_bytes(bench, "all", size) / size


def other(bench, which, case, size):
    """(seconds, work) of a kernel in another simulator."""
    environment = dict(bench.environment)
    environment["NUMBA_ENABLE_CUDASIM" if which == "numba" else "TRITON_INTERPRET"] = "1"
    if which == "numba":
        environment["PYTHONPATH"] = str(install_numba(bench))
    done = subprocess.run([python(bench), str(SCRIPTS / "bench_other_kernels.py"), which, case, str(size)],
                          env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=600, check=False)
    if done.returncode != 0:
        raise Failed("%s in %s: %s" % (case, which, (done.stderr.strip().splitlines() or ["?"])[-1]))
    result = json.loads(done.stdout.strip().splitlines()[-1])
    return result["seconds"], result["work"]


def python(bench):
    """The interpreter that kbench was set up with: it has numpy, torch and so Triton."""
    path = pathlib.Path(bench.binary).parent / "kbench.json"
    try:
        return json.loads(path.read_text(encoding="utf-8"))["python"]
    except (OSError, ValueError, KeyError) as error:
        raise Failed("no Python: %s: %s" % (path, error)) from error


def install_numba(bench):
    """numba in a folder of the benchmark's own home; needs PyPI."""
    folder = bench.home / "numba"
    if not folder.exists():
        done = subprocess.run([python(bench), "-m", "pip", "install", "--quiet", "--target",
                               str(folder), "numba", "numba-cuda"], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=600, check=False)
        if done.returncode != 0:
            raise Failed("numba cannot be installed: %s"
                         % (done.stderr.strip().splitlines() or ["?"])[-1])
    return folder


def least_ratio(bench, which):
    """Time by work there over time by work here with the memory checks on, the least of CASES."""
    ratios = []
    for name, here, numba, triton in CASES:
        theirs = numba if which == "numba" else triton
        ours = executor(bench, *here, *CHECKED)
        seconds, work = other(bench, which, *theirs)
        ratios.append((seconds / work) / (ours["seconds"] / ours["work"]))
        print("  %-13s %9.3g ns here (size %d), %9.3g ns in %s (size %d): %.3g times"
              % (name, ours["seconds"] / ours["work"] * 1e9, here[1], seconds / work * 1e9, which,
                 theirs[1], ratios[-1]), flush=True)
    return min(ratios)


FIGURES = [
    ("ptx.arith_ginstr_per_core", "G/s", "executor: fma and add, a core", arithmetic_rate),
    ("ptx.checked_ginstr_per_core", "G/s", "executor: checked matmul, a core", checked_rate),
    ("ptx.matmul1024_s", "s", "executor: 1024³ matmul, all cores", matmul_1024),
    ("ptx.scaling", "", "executor: all cores over one", scaling),
    ("ptx.blocks_per_us_per_core", "1/us", "executor: blocks of vector add, a core", blocks_rate),
    ("ptx.shadow_bytes_per_byte", "", "memory checks: bytes by tensor byte", memory_shadow),
    ("ptx.race_shadow_bytes_per_word", "B", "race checks: bytes by written word", race_shadow),
    ("ptx.vs_numba_min_ratio", "", "numba's simulator over the executor",
     lambda bench: least_ratio(bench, "numba")),
    ("ptx.vs_triton_interpreter_min_ratio", "", "Triton's interpreter over the executor",
     lambda bench: least_ratio(bench, "triton")),
]
