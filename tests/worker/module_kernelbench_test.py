# SPDX-License-Identifier: MIT
"""Calls of a module by KernelBench's rules: what passes, what does not, and what is told of it."""

import types
import unittest

import torch
from module_fixture import CandidateCase, module_host

from kbench_worker import kernelbench_rules, module_kernelbench

_ON_CPU = "cpu"


def _problem(source):
    module = types.ModuleType("problem")
    exec("import torch\nfrom torch import nn\n" + source, module.__dict__)
    return module


class Calls(CandidateCase):
    def setUp(self):
        super().setUp()
        self.state = kernelbench_rules.random_state(_ON_CPU)
        self.x = torch.rand(3, 4, device="cuda")

    def outcomes(self, body):
        model = self.model(f"def forward(self, x):\n    return {body}\n")
        return module_kernelbench.call(model, [self.x], _ON_CPU, self.state)[1]

    def test_what_torch_can_compare_passes_and_is_told(self):
        self.assertEqual(self.outcomes("x * 2"), [])
        self.assertEqual(self.outcomes("x[:, :1].expand(3, 4)"), ["wrong_shape"])
        self.assertEqual(self.outcomes("x.sum().cpu()"), ["wrong_dtype"])

    def test_what_it_cannot_compare_does_not(self):
        for body, cause in (("(x,)", "not_a_tensor"), ("[x, x]", "not_a_tensor"),
                            ("x.tolist()[0][0]", "not_a_tensor"), ("x.cpu()", "wrong_device"),
                            ("x.to_sparse()", "not_plain"), ("1 / 0", "forward_raised")):
            self.assertEqual(self.failure(self.outcomes, body).cause, cause)

    def test_random_numbers_go_on_from_the_given_state(self):
        model = self.model("def forward(self, x):\n    return torch.rand(2, device=x.device)\n")
        first, second = (module_kernelbench.call(model, [self.x], _ON_CPU, self.state)[0]
                         for _ in range(2))
        self.assertTrue(torch.equal(first, second))

    def test_a_candidates_file_finds_the_problems_names(self):
        problem = _problem("size = 3\nhidden = 'no'\nclass Model(nn.Module):\n    pass\n")
        names = module_kernelbench.names_of(problem)
        source = b"class ModelNew(Model):\n    def forward(self, x):\n        return x * size\n"
        module = module_host.load_candidate("mine.py", source, self.folder, self.builds, names)
        self.assertFalse(module_kernelbench.replaces_constants(names, module))
        module = module_host.load_candidate("mine.py", source + b"size = 4\n", self.folder,
                                            self.builds, names)
        self.assertTrue(module_kernelbench.replaces_constants(names, module))
        self.assertEqual(problem.size, 3)
        failure = self.failure(self.load, source)
        self.assertEqual(failure.cause, "import_failed")

    def test_whatever_builds_a_model_is_a_modelnew(self):
        source = b"def ModelNew():\n    return torch.nn.Identity()\n"
        module = module_host.load_candidate("mine.py", source, self.folder, self.builds,
                                            {"torch": torch}, by_kernelbench=True)
        model = module_host.build_model(module, [], _ON_CPU, "kb_fp32", 0)
        self.assertIsInstance(model, torch.nn.Identity)
        failure = self.failure(module_host.load_candidate, "mine.py", source, self.folder,
                               self.builds, {"torch": torch})
        self.assertEqual(failure.cause, "no_modelnew")


if __name__ == "__main__":
    unittest.main()
