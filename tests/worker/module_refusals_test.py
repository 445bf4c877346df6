# SPDX-License-Identifier: MIT
"""What candidates raise does not mean that something cannot be run without a GPU; what kbench and
torch raise does."""

import unittest

import torch

from module_fixture import Builds, CandidateCase, module_extension, module_host

_WORDS = "Could not run '{}' with arguments from the 'CPU' backend."


class Refusals(CandidateCase):

    def cause(self, *lines, builds=None):
        """The cause of a forward of these lines."""
        body = "def forward(self, x):\n" + "".join(f"    {line}\n" for line in lines)
        model = self.model(body, builds=builds)
        return self.failure(module_host.call, model, [torch.ones(2, 3, device="cuda")]).cause

    def test_torchs_words_are_not_believed(self):
        for operator in ("aten::cumsum", "aten::_cudnn_rnn_flatten_weight", "no::such", "no words"):
            words = _WORDS.format(operator)
            self.assertEqual(self.cause(f'raise NotImplementedError("{words}")'), "forward_raised")

    def test_words_that_no_statement_raises(self):
        error = f'NotImplementedError("{_WORDS.format("aten::cumsum")}")'
        self.assertEqual(self.cause(f"(_ for _ in ()).throw({error})"), "forward_raised")
        self.assertEqual(
            self.cause("import asyncio", "future = asyncio.new_event_loop().create_future()",
                       f"future.set_exception({error})", "future.result()"), "forward_raised")

    def test_operators_that_there_are_not(self):
        self.assertEqual(self.cause("return torch._cudnn_init_dropout_state(0.1, True, 3, "
                                    "dtype=torch.float)"), "unsupported")
        self.assertEqual(self.cause("return torch.ops.aten.cudnn_convolution(x[None, None], "
                                    "x[None, None], [0, 0], [1, 1], [1, 1], 1, False, False, False)"),
                         "unsupported")
        self.assertEqual(self.cause("try:", "    torch._cudnn_init_dropout_state(0.1, True, 3, "
                                    "dtype=torch.float)", "except NotImplementedError:",
                                    "    raise"), "unsupported")

    def test_an_operator_of_its_own_that_is_unfinished(self):
        self.assertEqual(self.cause(
            "torch.library.define('kbench_test::open', '(Tensor x) -> Tensor')",
            "return torch.ops.kbench_test.open(x)"), "forward_raised")

    def test_kbenchs_types_are_not_believed(self):
        for module, expression in (
                ("module_cpu_cuda", "Unsupported('x')"), ("module_refusals", "Unsupported('x')"),
                ("module_refusals", "type('U', (Unsupported,), {})('x')"),
                ("module_extension", "BuildError('x', 'y', 'unsupported')"),
                ("module_host", "CandidateFailure('unsupported', 'x')"),
                ("module_host", "type('F', (CandidateFailure,), "
                                "{'cause': property(lambda self: 'unsupported', "
                                "lambda self, value: None)})('x', 'y')"),
                ("module_host", "CandidateFailure(type('S', (str,), "
                                "{'__ne__': lambda *_: True})('unsupported'), 'x')")):
            name = next(word for word in ("Unsupported", "BuildError", "CandidateFailure")
                        if word in expression)
            self.assertEqual(self.cause(f"from kbench_worker.{module} import {name}",
                                        f"raise {expression}"), "forward_raised", expression)

    def test_kbenchs_functions_believe_kbench_alone(self):
        for lines in (
                ("from kbench_worker.module_refusals import Unsupported, refusal",
                 "raise refusal(Unsupported('a feature of sm_100'))"),
                ("from kbench_worker.module_refusals import Unsupported, refusal, seal",
                 "import sys, types", "mine = types.ModuleType('kbench_worker.mine')",
                 "def say(): raise refusal(Unsupported('x'))",
                 "mine.say, sys.modules['kbench_worker.mine'] = say, mine", "seal()", "say()"),
                ("from kbench_worker.module_cpu_cuda import refusing", "refusing('a feature')()"),
                ("from kbench_worker.module_failure import failure_from",
                 "raise failure_from(RuntimeError('x'), 'unsupported')")):
            self.assertEqual(self.cause(*lines), "forward_raised", lines)

    def test_a_refusal_that_is_passed_on(self):
        for lines in (("try:", "    torch.cuda.CUDAGraph()", "except RuntimeError:", "    raise"),
                      ("try:", "    torch.cuda.CUDAGraph()", "except RuntimeError as error:",
                       "    raise ValueError('no graph') from error")):
            self.assertEqual(self.cause(*lines), "unsupported")
        self.assertEqual(self.cause("try:", "    torch.cuda.CUDAGraph()", "except RuntimeError:",
                                    "    pass", "raise ValueError('another')"), "forward_raised")

    def test_a_build_that_failed_stays_one(self):
        builds = Builds(RuntimeError("k.cu(1): error: no"))
        self.assertEqual(self.cause(
            "try:", "    load_inline('e', 'int f();', functions=['f'])",
            "except RuntimeError as error:", "    error.cause = 'unsupported'", "    raise",
            builds=builds), "forward_raised")

    def test_at_import_and_in_the_constructor(self):
        words = _WORDS.format("aten::cumsum")
        failure = self.failure(self.load, f'raise NotImplementedError("{words}")\n')
        self.assertEqual(failure.cause, "import_failed")
        failure = self.failure(self.model, "def __init__(self):\n    torch.cuda.CUDAGraph()\n")
        self.assertEqual(failure.cause, "unsupported")
        # Told a second time, as for a dry import, it is the same.
        self.assertEqual(module_host.failure_of(failure)[0], "unsupported")

    def test_what_torch_builds_otherwise(self):
        self.assertEqual(self.cause(
            "from torch.utils.cpp_extension import load",
            "load('e', ['a.cpp'], is_standalone=True, is_python_module=False)"), "unsupported")
        self.assertTrue(issubclass(module_extension.BuildError, RuntimeError))


if __name__ == "__main__":
    unittest.main()
