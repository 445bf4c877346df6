# SPDX-License-Identifier: MIT
"""Module candidates from text, in a process where "cuda" means the CPU."""

import contextlib
import os
import shutil
import tempfile
import textwrap
import unittest

import worker_package  # noqa: F401  makes the package
from kbench_worker import (  # noqa: E402  needs the package
    module_extension, module_host, module_dry_import)

module_host.prepare(on_cpu=True)


def text_of_child(function):
    """The text that function() returns, or raises, in a process of its own."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        with os.fdopen(writer, "w") as out, open(os.devnull, "w") as nowhere:
            with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
                try:
                    text = function()
                except BaseException as error:  # whatever it is, the parent tells
                    text = f"{type(error).__name__}: {error}"
            out.write(text)
            out.flush()
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as lines:
        text = lines.read()
    _, status = os.waitpid(child, 0)
    return text if status == 0 else f"ended with status {status}"


class Builds:
    """A request_compile that keeps the requests and answers with what it is given."""

    def __init__(self, answer=None):
        self.requests = []
        self._answer = answer

    def __call__(self, request):
        self.requests.append(request)
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer(request) if callable(self._answer) else self._answer


class CandidateCase(unittest.TestCase):
    """Loads candidates from text into a folder of the test's own."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="kbench-module-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.builds = Builds()

    def load(self, source, builds=None):
        if isinstance(source, str):
            source = textwrap.dedent(source).lstrip().encode()
        self.builds = builds or self.builds
        return module_host.load_candidate("/somewhere/mine.py", source, self.folder, self.builds)

    def model(self, body, *init_arguments, builds=None):
        """A ModelNew(torch.nn.Module) with the given body, built."""
        source = ("import torch\nfrom torch import nn\n"
                  "from torch.utils.cpp_extension import load_inline\n"
                  "class ModelNew(nn.Module):\n"
                  + textwrap.indent(textwrap.dedent(body).strip(), "    ") + "\n")
        module = self.load(source.encode(), builds)
        return module_host.build_model(module, list(init_arguments), "cpu", "native", 7)

    def failure(self, function, *arguments):
        """The CandidateFailure that a call raises."""
        with self.assertRaises(module_host.CandidateFailure) as caught:
            function(*arguments)
        return caught.exception

    def assert_stops(self, function, *arguments):
        with self.assertRaises(module_extension.DryImportStop):
            function(*arguments)
