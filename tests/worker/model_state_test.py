# SPDX-License-Identifier: MIT
"""What a model holds besides its parameters: noticed when it changes, and put back."""

import types
import unittest

import torch

import worker_package  # noqa: F401  makes the package
from kbench_worker import model_state, oracle  # noqa: E402  needs the package

FILE = types.ModuleType("kbench_problem")


class Model(torch.nn.Module):
    """One layer, and a forward that is given."""

    calls = 0

    def __init__(self, function, **attributes):
        super().__init__()
        self.l = torch.nn.Linear(4, 4)
        self.register_buffer("b", torch.zeros(4))
        self.register_buffer("c", torch.zeros(4), persistent=False)
        self.requires_grad_(False)
        self.function = function
        for name, value in attributes.items():
            setattr(self, name, value)

    def forward(self, x):
        return self.function(self, x)


Model.__module__ = "kbench_problem"


def changed_by(function, **attributes):
    model = Model(function, **attributes)
    before = model_state.trace(model, FILE)
    model(torch.ones(4))
    return model_state.changed(before, model, FILE)


class Changes(unittest.TestCase):

    def test_a_call_that_keeps_nothing_changes_nothing(self):
        self.assertEqual(changed_by(lambda self, x: self.l(x), h=torch.zeros(4), k=[1, {"a": 2}]), [])

    def test_what_is_registered_is_another_tensor_or_the_same(self):
        self.assertEqual(changed_by(lambda self, x: self.b.add_(x)), [])
        self.assertEqual(changed_by(lambda self, x: setattr(self, "b", self.b + x)), ["self.b"])

    def test_values_of_all_kinds(self):
        changes = {
            "tensor": (torch.zeros(4), lambda self, x: setattr(self, "v", self.v + x)),
            "in place": (torch.zeros(4), lambda self, x: self.v.add_(x)),
            "number": (0, lambda self, x: setattr(self, "v", self.v + 1)),
            "list": ([], lambda self, x: self.v.append(x)),
            "in a list": ([torch.zeros(4)], lambda self, x: self.v[0].add_(x)),
            "dict": ({"a": [0]}, lambda self, x: self.v["a"].append(x)),
            "object": (types.SimpleNamespace(n=[0]), lambda self, x: self.v.n.append(1)),
            "new": (None, lambda self, x: setattr(self, "v", x)),
        }
        for name, (value, function) in changes.items():
            with self.subTest(name):
                self.assertEqual(changed_by(function, v=value), ["self.v"])

    def test_what_other_models_see(self):
        FILE.count = 0
        self.assertEqual(changed_by(lambda self, x: setattr(FILE, "count", 1)), ["count"])
        self.assertEqual(changed_by(lambda self, x: setattr(Model, "calls", 1)), ["Model.calls"])

    def test_a_list_that_holds_itself(self):
        ring = [0]
        ring.append(ring)
        self.assertEqual(changed_by(lambda self, x: x, v=ring), [])


class Restoring(unittest.TestCase):

    def check(self, function, **attributes):
        """A model whose calls differ answers alike from where it was built."""
        model, x = Model(function, **attributes), torch.randn(4)
        kept = model_state.keep(model)
        first, second = model(x).clone(), model(x).clone()
        self.assertFalse(torch.equal(first, second))
        for _ in range(2):
            model_state.restore(kept)
            self.assertTrue(torch.equal(model(x), first))
            self.assertTrue(torch.equal(model(x), second))
        return model

    def test_attributes_of_all_kinds(self):
        def all_of_them(self, x):
            self.n += 1
            self.h = torch.tanh(self.l(x + self.h))
            self.past.append(x * self.n)
            self.of_name["a"] += 1
            self.nested[0][1].add_(1)
            self.b = self.b + 1
            self.c.add_(1)
            if self.none is None:
                self.none = x
            else:
                self.none = self.none * 2
            self.late = getattr(self, "late", 0) + 1
            return (self.h + sum(self.past) + self.of_name["a"] + self.nested[0][1] + self.b
                    + self.c + self.none + self.late)

        model = self.check(all_of_them, n=0, h=torch.zeros(4), past=[], of_name={"a": 0}, none=None,
                           nested=[(1, torch.zeros(4))])
        self.assertEqual(model.n, 2)

    def test_what_was_one_stays_one(self):
        shared = torch.zeros(4)

        def both(self, x):
            self.one.add_(x)
            self.rows.append(len(self.same))
            return self.two + self.in_list[0] + self.linear.weight[0] + len(self.rows)

        model = Model(both)
        model = self.check(both, one=shared, two=shared, in_list=[shared], rows=[1], same=[],
                           linear=model.l)
        kept = model_state.keep(model)
        model_state.restore(kept)
        self.assertIs(model.one, model.two)
        self.assertIs(model.in_list[0], model.one)

    def test_a_tensor_keeps_its_place(self):
        model = Model(lambda self, x: self.h.add_(x), h=torch.zeros(4))
        kept, address = model_state.keep(model), model.h.data_ptr()
        model(torch.ones(4))
        model_state.restore(kept)
        self.assertEqual((model.h.data_ptr(), model.h.sum().item()), (address, 0))

    def test_what_cannot_be_copied_is_left(self):
        def counted(self, x):
            self.n += 1
            return x + self.n + 0 * next(self.rows)

        model = self.check(counted, n=0, rows=(row for row in range(99)))
        self.assertGreater(next(model.rows), 3)


class DoublePrecision(unittest.TestCase):

    def test_attributes_and_the_calls_before(self):
        def forward(self, x):
            self.h = torch.tanh(self.l(x + self.h))
            return self.h

        model = Model(forward, h=torch.zeros(4))
        x, y = torch.randn(4), torch.randn(4)
        found, = oracle.outputs(model, [y], [[x]])
        self.assertEqual(model.h.sum().item(), 0)
        self.assertEqual(found.dtype, torch.float64)
        weight, bias = model.l.weight.double(), model.l.bias.double()
        h = torch.tanh(weight @ x.double() + bias)
        torch.testing.assert_close(found, torch.tanh(weight @ (y.double() + h) + bias),
                                   rtol=1e-14, atol=1e-14)

    def test_a_product_with_an_attribute(self):
        model = Model(lambda self, x: self.m @ self.l(x), m=torch.eye(4))
        self.assertIsNotNone(oracle.outputs(model, [torch.ones(4)]))


if __name__ == "__main__":
    unittest.main()
