# SPDX-License-Identifier: MIT
"""Module candidates as people and models write them: each gets as far as what it wants built."""

import glob
import json
import os
import tempfile
import unittest

from module_fixture import Builds, module_dry_import, text_of_child
from worker_package import ROOT
from kbench_worker import problem_host

_CORPUS = os.path.join(ROOT, "tests", "corpus")
_PROBLEMS = os.path.join(ROOT, "problems")


def _in_child(function, path):
    """The text that function(path, a folder) returns, or raises, in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="kbench-module-") as folder:
        return text_of_child(lambda: function(path, folder))


def _candidate(path, folder, builds):
    with open(path, "rb") as file:
        return path, file.read(), folder, builds


def _dry_import(path, folder):
    builds = Builds()
    stage, cause, message = module_dry_import.dry_import(*_candidate(path, folder, builds))
    return message if cause else f"{stage} {len(builds.requests)}"


def _dry_import_to_the_end(path, folder):
    """How much it orders with all that it is given."""
    builds = Builds()
    reference = _reference_of(path)
    module_dry_import.dry_import(*_candidate(path, folder, builds),
                       problem_host.init_arguments(reference, "cuda", "native", 0),
                       lambda: problem_host.draw_inputs(reference, "cuda", "native", 0))
    return f"ordered {len(builds.requests)}"


def _problem_of(path):
    """(path, sizes) of the shipped problem that a folder of the corpus is named after."""
    key = os.path.basename(os.path.dirname(path))
    found = glob.glob(os.path.join(_PROBLEMS, "level*", key + ".py"))[0]
    with open(os.path.join(_PROBLEMS, "sizes.json"), encoding="utf-8") as file:
        sizes = json.load(file)
    name = os.path.relpath(found, _PROBLEMS).removesuffix(".py")
    return found, {key: repr(value) for key, value in sizes.get(name, {}).get("cpu", {}).items()}


def _reference_of(path):
    problem, sizes = _problem_of(path)
    with open(problem, encoding="utf-8") as file:
        return problem_host.load(problem, file.read(), sizes)


class Corpus(unittest.TestCase):

    def test_dry_imports_get_through_every_import(self):
        paths = glob.glob(os.path.join(_CORPUS, "**", "*.py"), recursive=True)
        self.assertGreater(len(paths), 50)
        for path in sorted(paths):
            with self.subTest(path=path):
                self.assertRegex(_in_child(_dry_import, path), r"^(end|import) \d+$")

    def test_dry_imports_order_what_is_built(self):
        asked = 0
        for path in sorted(glob.glob(os.path.join(_CORPUS, "shipped", "*", "*.py"))):
            with open(path, encoding="utf-8") as file:
                if "cpp_extension import" not in file.read():
                    continue
            asked += 1
            with self.subTest(path=path):
                self.assertRegex(_in_child(_dry_import_to_the_end, path), r"^ordered [1-9]")
        self.assertGreater(asked, 20)


if __name__ == "__main__":
    unittest.main()
