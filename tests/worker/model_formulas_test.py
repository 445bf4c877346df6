# SPDX-License-Identifier: MIT
"""Parameters that a formula gives are known by their look, and get other values around their own."""

import math
import unittest

import torch
from torch import nn

import worker_package  # noqa: F401  makes the package
from kbench_worker import model_formulas, model_setup


def is_formula(tensor):
    return model_formulas.is_formula(model_formulas.sample(tensor), tensor.dtype)


def table(length, width):
    """Of sines and cosines, as transformers have for positions."""
    angles = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, width, 2) / width)
    return torch.stack([angles.sin(), angles.cos()], -1).reshape(length, width)


class Look(unittest.TestCase):

    def test_formulas(self):
        grid = torch.arange(-2, 3).square()
        formulas = {
            "identity": torch.eye(64), "small identity": torch.eye(3),
            "scaled identity": torch.eye(5000) / 3, "half": torch.eye(7).bfloat16(),
            "dirac": nn.init.dirac_(torch.empty(8, 8, 3, 3)),
            "ramp": torch.linspace(0.5, 1.5, 64), "short ramp": torch.linspace(0.5, 1.5, 7),
            "logarithms": torch.log(torch.arange(1, 17)).repeat(12, 1),
            "table": table(50, 32), "short table": table(12, 8)[None],
            "edges": torch.tensor([[1.0, 0, -1], [2, 0, -2], [1, 0, -1]])[None, None],
            "written down": torch.tensor([0.299, 0.587, 0.114]),
            "triangle": torch.ones(9, 9).tril() / 3.3, "window": torch.hann_window(64),
            "bell": torch.exp(-(grid[:, None] + grid) / 2) / 6.2,
            "cosines": torch.cos(math.pi / 16 * (torch.arange(16) + 0.5)
                                 * torch.arange(16)[:, None]),
            "one": nn.functional.one_hot(torch.tensor(3), 9).float()}
        for name, tensor in formulas.items():
            self.assertTrue(is_formula(tensor), name)

    def test_draws(self):
        torch.manual_seed(1)
        for shape in ((2,), (3,), (8,), (64,), (4, 8), (64, 64), (8, 4, 3, 3), (128, 3), (3, 100)):
            for dtype in (torch.float32, torch.bfloat16, torch.float16):
                # Half types have few values, and two elements little to tell.
                for _ in range(30 if math.prod(shape) > 2 or dtype == torch.float32 else 0):
                    for draw in (torch.randn, torch.rand):
                        self.assertFalse(is_formula((draw(shape) * 0.1).to(dtype)), (shape, dtype))

    def test_draws_in_a_form(self):
        torch.manual_seed(1)
        empty = torch.empty(64, 64)
        for tensor in (torch.randn(40, 40).triu(), nn.functional.pad(torch.randn(9, 9), (0, 99)),
                       torch.block_diag(*(torch.randn(8, 8) for _ in range(8))),
                       nn.init.sparse_(empty, 0.9), nn.init.orthogonal_(empty),
                       nn.init.trunc_normal_(empty), nn.Embedding(9, 5, padding_idx=0).weight,
                       torch.full((4, 4), math.nan), torch.full((4, 4), math.inf).triu()):
            self.assertFalse(is_formula(tensor))


def built(construct, seed=8):
    """A model with the parts that `construct` puts into it, and what the constructor itself saw."""
    seen = []

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            construct(self)
            seen.append(self.w.detach().clone())

    return model_setup.build(Model, "cpu", "native", seed), seen[0]


def ramp(self):
    self.w = nn.Parameter(torch.linspace(0.5, 1.5, 12))


class Values(unittest.TestCase):

    def test_ways_to_be_an_identity(self):
        def parameter(self):
            self.w = nn.Parameter(torch.eye(6))

        def init(self):
            self.w = nn.Parameter(torch.randn(6, 6))
            nn.init.eye_(self.w)

        def init_before_registration(self):
            w = nn.Parameter(torch.empty(6, 6))
            nn.init.eye_(tensor=w)
            self.w = w

        def init_of_data(self):
            self.w = nn.Linear(6, 6).weight
            nn.init.eye_(self.w.data)

        def copied(self):
            self.w = nn.Linear(6, 6).weight
            with torch.no_grad():
                self.w.copy_(torch.eye(6))

        def twice(self):
            parameter(self)
            nn.init.eye_(self.w)

        values = []
        for construct in (parameter, init, init_before_registration, init_of_data, copied, twice):
            model, seen = built(construct)
            self.assertTrue(torch.equal(model.w, seen), construct.__name__)
            values.append(seen.tolist())
        self.assertEqual(values, values[:1] * len(values))
        self.assertTrue(bool((seen != torch.eye(6)).all()))

    def test_ways_to_be_a_convolution_of_nothing(self):
        def init(self):
            self.w = nn.Conv2d(4, 4, 3).weight
            nn.init.dirac_(self.w)

        def parameter(self):
            self.w = nn.Parameter(nn.init.dirac_(torch.empty(4, 4, 3, 3)))

        (one, seen), (other, _) = built(init), built(parameter)
        self.assertTrue(torch.equal(one.w, seen) and torch.equal(one.w, other.w))
        self.assertTrue(bool((seen[0, 0, 1, 1] != 1) & (seen[0, 1] != 0).all()))

    def test_what_is_written_in_other_ways_is_changed_at_the_end(self):
        def construct(self):
            self.w = nn.Parameter(torch.randn(6, 6))
            self.w.data[:] = torch.eye(6)

        model, seen = built(construct)
        self.assertTrue(torch.equal(seen, torch.eye(6)))
        self.assertFalse(is_formula(model.w))

    def test_a_formula_within_a_formula(self):
        def construct(self):
            self.steps = torch.arange(1, 17).float()
            self.w = nn.Parameter(torch.log(self.steps).repeat(3, 1))
            self.a = -torch.exp(self.w.detach())

        model, seen = built(construct)
        self.assertEqual(model.steps.tolist(), list(range(1, 17)))
        self.assertTrue(torch.equal(model.a, -torch.exp(model.w)))
        # What is drawn around a curve may still look smooth.
        self.assertFalse(bool((model.w == torch.log(model.steps)).any()))
        self.assertFalse(bool((model.w[0] == model.w[1]).any()))

    def test_even_seeds_keep_them_within_what_they_were(self):
        for seed in range(2, 40, 2):
            before = torch.linspace(0.5, 1.5, 12)
            after = built(ramp, seed)[0].w
            self.assertTrue(bool((after > 0).all() and (after <= before).all()))
            after = built(lambda self: setattr(self, "w", nn.Parameter(torch.eye(6))), seed)[0].w
            self.assertTrue(bool((after > 0).all()))

    def test_odd_seeds_give_them_signs(self):
        negative = sum(int((built(ramp, seed)[0].w < 0).sum()) for seed in range(1, 41, 2))
        self.assertTrue(60 < negative < 180, negative)

    def test_copies_stay_what_they_are(self):
        def construct(self):
            self.inner = nn.Linear(6, 6)
            nn.init.eye_(self.inner.weight)
            self.scale = nn.Parameter(torch.ones(1))
            self.w = nn.Parameter(self.inner.weight.detach().t().contiguous())
            self.v = nn.Parameter(torch.zeros(1))
            self.v.data.copy_(self.scale)
            self.u = nn.Parameter(self.scale.detach().clone())

        for seed in (7, 8):
            model, _ = built(construct, seed)
            self.assertTrue(torch.equal(model.w, model.inner.weight.t()))
            self.assertEqual((model.u.item(), model.v.item()), (model.scale.item(),) * 2)

    def test_two_differ_and_two_models_agree(self):
        def construct(self):
            ramp(self)
            self.other = nn.Parameter(torch.linspace(0.5, 1.5, 12))
            self.third = nn.Parameter(torch.linspace(0.5, 1.6, 12))

        def named_otherwise(self):
            self.linear = nn.Linear(3, 3)
            self.a, self.b, self.w = (nn.Parameter(torch.linspace(0.5, end, 12))
                                      for end in (1.5, 1.5, 1.6))

        one, two = built(construct)[0], built(named_otherwise)[0]
        self.assertFalse(torch.equal(one.w, one.other))
        for mine, its in ((one.w, two.a), (one.other, two.b), (one.third, two.w)):
            self.assertTrue(torch.equal(mine, its))

    def test_what_nobody_trains_stays(self):
        def construct(self):
            self.register_buffer("mask", torch.ones(6, 6).tril())
            self.register_buffer("frequencies", torch.linspace(0, 1, 9))
            self.w = nn.Parameter(torch.arange(9.0), requires_grad=False)

        model, _ = built(construct)
        self.assertEqual(model.mask.tolist(), torch.ones(6, 6).tril().tolist())
        self.assertEqual(model.frequencies.tolist(), torch.linspace(0, 1, 9).tolist())
        self.assertEqual(model.w.tolist(), list(range(9)))


if __name__ == "__main__":
    unittest.main()
