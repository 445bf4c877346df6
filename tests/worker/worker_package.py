# SPDX-License-Identifier: MIT
"""The package kbench_worker made of the files of src/worker/python, as the binary makes it of its copies."""

import os
import sys
import types

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_package = types.ModuleType("kbench_worker")
_package.__path__ = [os.path.join(ROOT, "src", "worker", "python")]
sys.modules["kbench_worker"] = _package
sys.dont_write_bytecode = True
