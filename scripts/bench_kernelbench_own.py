# SPDX-License-Identifier: MIT
"""Runs KernelBench's own batch evaluation; prints a JSON line with what it took.

    bench_kernelbench_own.py JSON

Started by bench_kernelbench, with KernelBench's `src` and `scripts` on PYTHONPATH. JSON says:
`level`, `runs_dir`, `run_name`, `build_dir`, `work` (pairs of problem and sample), `workers` (of its
parallel precompilation; 0 leaves it off, as it does), `arch`, and `evaluate` (else it only compiles).
Its processes are spawned, so everything but the definitions stands under the last `if`.
"""

import copy
import importlib.util
import json
import os
import sys
import time
import types


class Anything:
    """Stands for whatever a package would have been asked: the cloud and the language models have
    no part in a local evaluation, but the script imports them."""

    def __call__(self, *args, **options):
        return self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self


class Record:
    """pydantic's BaseModel, as far as the script needs it: fields with their defaults."""

    def __init__(self, **fields):
        for name in type(self).__annotations__:
            default = getattr(type(self), name, None)
            setattr(self, name, fields.get(name, copy.deepcopy(default)))

    def __str__(self):
        return " ".join("%s=%r" % pair for pair in vars(self).items())


class Config:
    """pydra's, as far as the script needs it."""

    def to_dict(self):
        return dict(vars(self))


def stand_in(name, **names):
    if importlib.util.find_spec(name) is not None:
        return
    module = types.ModuleType(name)
    module.__getattr__ = Anything().__getattr__  # except dunder names, which it refuses
    for key, value in names.items():
        setattr(module, key, value)
    sys.modules[name] = module


def prepare():
    for name in ("modal", "openai", "litellm", "dotenv", "datasets"):
        stand_in(name)
    stand_in("pydantic", BaseModel=Record)
    stand_in("pydra", Config=Config, REQUIRED=None, main=lambda base: lambda function: function)


prepare()  # in every spawned process, before it looks up the function that it calls


def configure(script, asked):
    config = script.EvalConfig()
    config.level = asked["level"]
    config.dataset_src = "local"
    config.runs_dir = asked["runs_dir"]
    config.run_name = asked["run_name"]
    config.kernel_eval_build_dir = asked["build_dir"]
    config.gpu_arch = [asked["arch"]]
    config.build_cache = asked["workers"] > 0
    if asked["workers"]:
        config.num_cpu_workers = asked["workers"]
    return config


def main():
    import eval_from_generations as script  # imports torch, so before any time is measured

    asked = json.loads(sys.argv[1])
    config = configure(script, asked)
    script.mp.set_start_method("spawn")
    script.set_gpu_arch(config.gpu_arch)
    dataset = script.construct_kernelbench_dataset(level=config.level, source="local")
    folder = os.path.join(config.runs_dir, config.run_name)
    results = os.path.join(folder, "eval_results.json")
    work = [tuple(pair) for pair in asked["work"]]
    said = {"compile_s": 0.0, "evaluate_s": 0.0}
    started = time.monotonic()
    if config.build_cache:
        script.compile.batch_compile(work, config.to_dict())
        said["compile_s"] = time.monotonic() - started
    started = time.monotonic()
    if asked["evaluate"]:
        script.batch_eval(work, config, dataset, folder, results)
        said["evaluate_s"] = time.monotonic() - started
    print("\n" + json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
