# SPDX-License-Identifier: MIT
"""What dry imports see of what a candidate wants built."""

import json
import resource
import unittest

import torch

from module_fixture import CandidateCase, module_dry_import, text_of_child

_TAIL = """
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return ext.f(x)
"""
_HEAD = "import torch\nfrom torch.utils.cpp_extension import load_inline, load\n"


class DryImport(CandidateCase):

    def dry_import(self, source, *arguments):
        return module_dry_import.dry_import("mine.py", source.encode(), self.folder, self.builds, *arguments)

    def test_goes_on_until_a_function_is_called(self):
        source = f"{_HEAD}ext = load_inline('e', 'c')\nf = ext.f\n{_TAIL}"
        self.assertEqual(self.dry_import(source), ("end", "", ""))
        self.assertEqual(self.dry_import(source, []), ("end", "", ""))
        self.assertEqual(self.dry_import(source + "f(1)\n"), ("import", "", ""))

    def test_touches_no_large_weights(self):
        source = (f"{_HEAD}ext = load_inline('e', 'c')\nclass ModelNew(torch.nn.Module):\n"
                  "    def __init__(self):\n        super().__init__()\n"
                  "        self.linear = torch.nn.Linear(20000, 20000)\n"
                  "        torch.nn.init.normal_(self.linear.weight)\n")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self.assertEqual(self.dry_import(source, []), ("end", "", ""))
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        self.assertLess(grown, 200_000)  # kB, of 1.6 million that the weight would take

    def test_several_requests(self):
        source = f"{_HEAD}a = load_inline('a', 'c')\next = load_inline('b', 'c')\n{_TAIL}"
        self.assertEqual(self.dry_import(source)[0], "end")
        self.assertEqual([r["name"] for r in self.builds.requests], ["a", "b"])

    def test_inside_try_and_except(self):
        source = (f"{_HEAD}try:\n    ext = load_inline('e', 'c')\n    ext.f(1)\n"
                  f"except Exception:\n    ext = None\n{_TAIL}")
        self.assertEqual(self.dry_import(source), ("import", "", ""))

    def test_inside_init(self):
        source = f"""{_HEAD}
class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = load_inline("first", "c")
        self.f = self.first.f
    def forward(self, x):
        return self.f(x)
"""
        self.assertEqual(self.dry_import(source, []), ("end", "", ""))
        self.assertEqual([r["name"] for r in self.builds.requests], ["first"])

    def test_faults_are_told(self):
        stage, cause, message = self.dry_import("import torch\n1 / 0\n")
        self.assertEqual((stage, cause), ("import", "import_failed"))
        self.assertIn("mine.py:2", message)

    def test_looked_up_in_a_way_that_needs_it(self):
        for use in ("list(ext.f)", "ext.n + 1 if ext.n else 0", "int(ext.n)", "ext.C(3)"):
            self.assertEqual(self.dry_import(f"{_HEAD}ext = load_inline('e', 'c')\n{use}\n")[0],
                             "import", use)


class Forward(CandidateCase):
    """Candidates that build in their first call."""

    def names(self, body, *shape, head=""):
        """Names of what is ordered for ModelNew(nn.Module) with that body, called with ones."""
        source = (f"{_HEAD}{head}\nclass ModelNew(torch.nn.Module):\n"
                  + "".join(f"    {line}\n" for line in body.strip("\n").splitlines()))

        def ordered():
            stage, cause, message = module_dry_import.dry_import(
                "mine.py", source.encode(), self.folder, self.builds, [],
                lambda: [torch.ones(*(shape or (2, 3)), device="cuda")])
            return json.dumps([stage, cause, message, [r["name"] for r in self.builds.requests]])

        stage, cause, message, names = json.loads(text_of_child(ordered))
        self.assertEqual((cause, message), ("", ""))
        self.assertEqual(stage, "forward" if names else "end")
        return names

    def test_a_type_a_place_and_weights(self):
        self.assertEqual(self.names("""
def __init__(self):
    super().__init__()
    self.linear = torch.nn.Linear(3, 5)
    self.register_buffer("scale", torch.ones(5))
def forward(self, x):
    assert x.is_cuda and x.device.type == "cuda" and self.linear.weight.is_cuda
    y = torch.relu(self.linear(x)) * self.scale + torch.zeros(5, device=x.device)
    torch.cuda.synchronize()
    name = str(y.dtype).split(".")[1] + str(tuple(y.shape)).replace(", ", "x").strip("()")
    return load_inline("e_" + name, "c").f(y)
"""), ["e_float322x5"])

    def test_large_inputs_cost_nothing(self):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        self.assertEqual(self.names("""
def forward(self, x):
    return load_inline("e", "c").f((x @ x).softmax(1))
""", 60000, 60000), ["e"])
        grown = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss - before
        self.assertLess(grown, 1_000_000)  # kB, of 14.4 million

    def test_code_that_looks_at_values_is_not_blamed(self):
        self.assertEqual(self.names("""
def forward(self, x):
    return load_inline("e", "c").f(x) if x.sum().item() > 0 else x
"""), [])
        self.assertEqual(self.names("def forward(self, x):\n    raise SystemExit(3)"), [])

    def test_what_never_ends_is_left(self):
        module_dry_import._FORWARD_LIMIT_S = 0.2
        self.addCleanup(setattr, module_dry_import, "_FORWARD_LIMIT_S", 5)
        self.assertEqual(self.names("def forward(self, x):\n    while True: pass"), [])


if __name__ == "__main__":
    unittest.main()
