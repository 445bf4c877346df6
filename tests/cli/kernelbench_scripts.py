# SPDX-License-Identifier: MIT
"""Runs parts of a KernelBench checkout as they are, without the packages that they do not need.

  kernelbench_scripts.py FOLDER analysis key=value...   scripts/benchmark_eval_analysis.py
  kernelbench_scripts.py FOLDER pass_at_k FILE K...     calculate_pass_at_k of eval_from_generations
"""

import ast
import json
import os
import runpy
import sys
import types

import numpy

folder, what, *arguments = sys.argv[1:]

# The package itself would import clients of language models, and torch.
package = types.ModuleType("kernelbench")
package.__path__ = [os.path.join(folder, "src", "kernelbench")]
sys.modules["kernelbench"] = package

if what == "analysis":
    script = os.path.join(folder, "scripts", "benchmark_eval_analysis.py")
    sys.argv = [script, *arguments]
    runpy.run_path(script, run_name="__main__")
else:
    path = os.path.join(folder, "scripts", "eval_from_generations.py")
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    wanted = ("calc_pass_at_k", "calculate_pass_at_k")
    tree.body = [part for part in tree.body if getattr(part, "name", "") in wanted]
    names = {"os": os, "json": json, "np": numpy}
    exec(compile(tree, path, "exec"), names)  # pylint: disable=exec-used
    names["calculate_pass_at_k"](arguments[0], [int(k) for k in arguments[1:]])
