# SPDX-License-Identifier: MIT
"""Constant parameters are redrawn while the constructor runs, alike in models that differ."""

import unittest

import torch
from torch import nn

import module_fixture  # noqa: F401  makes the package
from kbench_worker import model_setup
from kbench_worker.model_constants import redrawn


def built(construct, seed=8, precision="native", redraw=True):
    """A model with the parts that `construct` puts into it."""

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            construct(self)

    return model_setup.build(Model, "cuda", precision, seed, redraw)


def constants(model):
    """Names of parameters and buffers of several elements that are all equal."""
    return [name for name, tensor, _ in model_setup.state_of(model)
            if tensor.numel() > 1 and bool((tensor == tensor.reshape(-1)[0]).all())]


class Mode(unittest.TestCase):

    def test_models_are_in_eval_mode_where_that_is_asked_for(self):
        def construct(self):
            self.norm = nn.BatchNorm1d(3)

        self.assertTrue(built(construct).norm.training)
        model_setup.set_eval_mode(True)
        try:
            self.assertFalse(built(construct).norm.training)
        finally:
            model_setup.set_eval_mode(False)
        self.assertTrue(built(construct).norm.training)


class Registration(unittest.TestCase):

    def seen(self, construct, seed=8):
        """What the constructor itself saw, and the finished model."""
        seen = []
        model = built(lambda self: seen.append(construct(self).detach().clone()), seed)
        return seen[0], model

    def test_norms(self):
        for norm in (nn.BatchNorm1d(6), nn.GroupNorm(2, 6), nn.LayerNorm(6),
                     nn.InstanceNorm1d(6, affine=True), nn.SyncBatchNorm(6)):
            kind, arguments = type(norm), {
                nn.GroupNorm: (2, 6), nn.InstanceNorm1d: (6, 1e-5, 0.1, True)}.get(type(norm), (6,))
            with self.subTest(kind.__name__):
                def construct(self):
                    self.norm = kind(*arguments)
                    return torch.cat([self.norm.weight, self.norm.bias])

                packed, model = self.seen(construct)
                self.assertEqual(constants(model), [])
                self.assertTrue(torch.equal(packed, torch.cat([model.norm.weight,
                                                               model.norm.bias])))
                self.assertTrue(bool((model.norm.weight >= 0.5).all()))
                self.assertTrue(bool((model.norm.bias.abs() < 1).all()))

    def test_running_statistics(self):
        def construct(self):
            self.norm = nn.BatchNorm2d(6)
            return torch.cat([self.norm.running_mean, self.norm.running_var])

        packed, model = self.seen(construct)
        self.assertEqual(constants(model), [])
        self.assertTrue(torch.equal(packed, torch.cat([model.norm.running_mean,
                                                       model.norm.running_var])))
        self.assertTrue(bool((model.norm.running_var > 0).all()))
        self.assertEqual(model.norm.num_batches_tracked.item(), 0)

    def test_ways_to_be_constant(self):
        def ones(self):
            self.w = nn.Parameter(torch.ones(5))

        def full(self):
            self.w = nn.Parameter(torch.full((5,), 1.0))

        def empty_then_init(self):
            self.w = nn.Parameter(torch.empty(5))
            nn.init.ones_(self.w)

        def init_of_data(self):
            self.w = nn.Parameter(torch.empty(5))
            nn.init.constant_(self.w.data, 1)

        def fill_of_data(self):
            self.w = nn.Parameter(torch.randn(5))
            self.w.data.fill_(1.0)

        def fill_without_gradient(self):
            self.w = nn.Parameter(torch.randn(5))
            with torch.no_grad():
                self.w.fill_(1.0)

        def init_before_registration(self):
            w = nn.Parameter(torch.empty(5))
            nn.init.ones_(w)
            self.w = w

        def registered_by_name(self):
            self.register_parameter("w", nn.Parameter(torch.ones(5)))

        def twice(self):
            ones(self)
            nn.init.constant_(self.w, 1.0)

        values = []
        for construct in (ones, full, empty_then_init, init_of_data, fill_of_data, twice,
                          fill_without_gradient, init_before_registration, registered_by_name):
            with self.subTest(construct.__name__):
                seen, model = self.seen(lambda self: construct(self) or self.w)
                self.assertTrue(torch.equal(seen, model.w))
                values.append(model.w.tolist())
        self.assertEqual(values, values[:1] * len(values))
        self.assertNotIn(1.0, values[0])

    def test_what_is_written_in_other_ways_is_redrawn_at_the_end(self):
        def construct(self):
            self.w = nn.Parameter(torch.randn(5))
            self.w.data[:] = 1
            self.register_buffer("mask", torch.ones(5))
            return self.mask

        mask, model = self.seen(construct)
        self.assertEqual(mask.tolist(), [1] * 5)  # a constructor may be at work on it
        self.assertEqual(constants(model), [])

    def test_buffers_outside_of_the_state_are_left_alone(self):
        def construct(self):
            self.register_buffer("ones", torch.ones(5), persistent=False)
            self.register_buffer("room", torch.empty(5), persistent=False)
            return self.ones

        _, model = self.seen(construct)
        self.assertEqual((model.ones.tolist(), model.room.tolist()), ([1] * 5, [0] * 5))

    def test_tells_what_the_constructor_had_made(self):
        def construct(self):
            self.norm = nn.LayerNorm(5)
            self.linear = nn.Linear(5, 5)
            self.mix = nn.Parameter(torch.eye(5))
            self.gone = nn.Parameter(torch.ones(5))
            self.gone.data[:] = torch.randn(5)
            self.register_buffer("twos", torch.full((5,), 2.0))

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                construct(self)

        before = {}
        model_setup.build(Model, "cuda", "bf16", 7, before=before)
        self.assertEqual(before.pop("mix").tolist(), torch.eye(5).tolist())
        self.assertEqual(before, {"norm.weight": 1, "norm.bias": 0, "twos": 2})

    def test_a_part_that_is_filled_does_not_make_a_constant(self):
        _, model = self.seen(lambda self: setattr(self, "e", nn.Embedding(4, 3, padding_idx=0))
                             or self.e.weight)
        self.assertEqual(model.e.weight[0].tolist(), [0, 0, 0])

    def test_keeps_the_sense_of_a_constant(self):
        _, model = self.seen(lambda self: setattr(self, "s", nn.Parameter(torch.ones(1) * 30))
                             or self.s)
        self.assertTrue(15 <= model.s.item() <= 45, model.s.item())
        _, model = self.seen(lambda self: setattr(self, "a", nn.PReLU(8)) or self.a.weight)
        self.assertTrue(bool((model.a.weight >= 0.125).all() and (model.a.weight <= 0.375).all()))

    def test_parameters_have_signs_under_odd_seeds_alone(self):
        def construct(self):
            self.norm = nn.BatchNorm1d(40)
            self.s = nn.Parameter(torch.ones(()))
            self.t = nn.Parameter(torch.full((1,), -30.0))
            self.register_buffer("mask", torch.ones(40))

        single = []
        for seed in range(1, 41):
            model = built(construct, seed)
            negative = int((model.norm.weight < 0).sum())
            self.assertTrue(8 <= negative <= 32 if seed % 2 else negative == 0, seed)
            self.assertTrue(bool(((model.norm.weight.abs() - 1).abs() <= 0.5).all()))
            self.assertTrue(bool((model.norm.running_var > 0).all() and (model.mask > 0).all()))
            self.assertTrue(15 <= abs(model.t.item()) <= 45)
            if seed % 2:
                single.append((model.s.item() < 0, model.t.item() < 0))
            else:
                self.assertTrue(model.s.item() > 0 > model.t.item())
        self.assertEqual(len(set(single)), 4)

    def test_what_lay_in_memory_says_nothing(self):
        def construct(self, left=None):
            empty = torch.empty
            if left is not None:  # as if the allocator gave such memory
                torch.empty = lambda *a, **k: empty(*a, **k).copy_(torch.tensor(left))
            try:
                self.a = nn.GroupNorm(2, 6)
                self.b = nn.GroupNorm(2, 6)
            finally:
                torch.empty = empty
            return torch.cat([self.a.weight, self.a.bias, self.b.weight, self.b.bias])

        want, _ = self.seen(construct)
        for left in (0.0, 1.0, float("nan")):
            with self.subTest(left):
                got, model = self.seen(lambda self: construct(self, left))
                self.assertTrue(torch.equal(want, got))
                self.assertEqual(constants(model), [])

    def test_what_nothing_was_written_to_is_drawn(self):
        values = []
        for kind in (torch.empty, torch.zeros, torch.Tensor):
            _, model = self.seen(lambda self: setattr(self, "w", nn.Parameter(kind(5))) or self.w)
            values.append(model.w.tolist())
        self.assertEqual(values, values[:1] * 3)
        self.assertEqual(constants(model), [])
        self.assertFalse(torch.are_deterministic_algorithms_enabled())

    def test_tied_parameters_stay_tied(self):
        def construct(self):
            self.a = nn.Parameter(torch.zeros(1))
            self.b = self.a

        model = built(construct)
        alone = built(lambda self: setattr(self, "a", nn.Parameter(torch.zeros(1))))
        self.assertEqual((model.b is model.a, model.a.item()), (True, alone.a.item()))

    def test_what_cannot_be_looked_at_is_left_alone(self):
        def construct(self):
            self.none = nn.Parameter(torch.zeros(0))
            self.counts = nn.Parameter(torch.zeros(3, dtype=torch.int64), requires_grad=False)
            self.spread = nn.Parameter(torch.zeros(1).expand(4))

        with redrawn(1):
            nn.LazyBatchNorm1d()
        model = built(construct)
        self.assertEqual(model.counts.tolist(), [0] * 3)
        self.assertEqual(model.spread.tolist(), [0] * 4)

    def test_without_redrawing(self):
        model = built(lambda self: setattr(self, "norm", nn.LayerNorm(4)), redraw=False)
        self.assertEqual(model.norm.weight.tolist(), [1] * 4)

    def test_torch_is_itself_again(self):
        built(lambda self: None)
        with self.assertRaises(ZeroDivisionError), redrawn(1):
            raise ZeroDivisionError
        self.assertNotIn("fill_", vars(torch.Tensor))
        self.assertEqual(nn.LayerNorm(3).weight.tolist(), [1] * 3)


class Agreement(unittest.TestCase):
    """What two models have to have in common, to have the same values."""

    def test_seeds_differ(self):
        values = [built(lambda self: setattr(self, "w", nn.Parameter(torch.zeros(4))), seed)
                  .w.tolist() for seed in (1, 1, 2)]
        self.assertEqual(values[0], values[1])
        self.assertNotEqual(values[0], values[2])

    def test_names_and_other_draws_do_not_matter(self):
        def reference(self):
            self.conv = nn.Conv2d(3, 8, 3)
            self.norm1, self.norm2 = nn.BatchNorm2d(8), nn.BatchNorm2d(8)

        def other(self):
            self.beta1 = nn.Parameter(torch.zeros(8))
            self.gamma1 = nn.Parameter(torch.ones(8))
            self.noise = torch.randn(1000)
            self.gamma2 = nn.Parameter(torch.empty(8))
            self.beta2 = nn.Parameter(torch.empty(8))
            nn.init.ones_(self.gamma2)
            nn.init.zeros_(self.beta2)

        one, two = built(reference), built(other)
        for norm, gamma, beta in ((one.norm1, two.gamma1, two.beta1),
                                  (one.norm2, two.gamma2, two.beta2)):
            self.assertTrue(torch.equal(norm.weight, gamma))
            self.assertTrue(torch.equal(norm.bias, beta))
        self.assertFalse(torch.equal(one.norm1.weight, one.norm2.weight))

    def test_torchs_own_generator_does_not_notice(self):
        def construct(self):
            self.norm = nn.LayerNorm(5)
            self.w = nn.Parameter(torch.randn(3))

        self.assertTrue(torch.equal(built(construct).w, built(construct, redraw=False).w))

    def test_memory_that_happens_to_be_constant_does_not_count(self):
        def construct(self, memory):
            self.w = nn.Parameter(memory)
            nn.init.uniform_(self.w)
            self.b = nn.Parameter(torch.zeros(4))

        lucky = built(lambda self: construct(self, torch.zeros(4)))
        usual = built(lambda self: construct(self, torch.arange(4.0)))
        self.assertTrue(torch.equal(lucky.w, usual.w))
        self.assertTrue(torch.equal(lucky.b, usual.b))

    def test_parts_that_are_thrown_away_count(self):
        def packs(self):
            self.packed = [nn.LayerNorm(4).weight.detach().clone() for _ in range(3)]

        def keeps(self):
            self.norms = nn.ModuleList(nn.LayerNorm(4) for _ in range(3))

        for packed, norm in zip(built(packs).packed, built(keeps).norms):
            self.assertTrue(torch.equal(packed, norm.weight))

    def test_where_a_tensor_lies_does_not_matter(self):
        there = built(lambda self: setattr(self, "w", nn.Parameter(
            torch.zeros(6, device="cuda"))))
        here = built(lambda self: setattr(self, "w", nn.Parameter(torch.zeros(6, device="cpu"))))
        self.assertEqual(there.w.tolist(), here.w.tolist())

    def test_large_ones(self):
        shape = (1 << 10, (1 << 10) + 1)
        values = [built(lambda self: setattr(self, "w", nn.Parameter(torch.zeros(shape)))).w
                  for _ in range(2)]
        self.assertTrue(torch.equal(*values))
        self.assertAlmostEqual(values[0].std().item(), 0.1, places=2)

    def test_lower_precisions_round_the_same_values(self):
        def construct(self):
            self.norm = nn.LayerNorm(5)

        self.assertTrue(torch.equal(built(construct, precision="bf16").norm.weight,
                                    built(construct).norm.weight.bfloat16()))


class DefaultDevice(unittest.TestCase):

    def where(self, refusal):
        """The default device of each try of a maker that refuses one with that error."""
        tries = []

        def make():
            tries.append(torch.get_default_device().type)
            if tries[-1] == "meta" and refusal:
                raise refusal
            return torch.zeros(2).device.type

        return model_setup.with_default("meta", make), tries

    def test_is_where_tensors_are_made(self):
        self.assertEqual(self.where(None), ("meta", ["meta"]))

    def test_is_none_for_whom_it_does_not_suit(self):
        for refusal in (
                RuntimeError("Expected a 'cuda' device type for generator but found 'cpu'"),
                ValueError("a model cannot be loaded inside a `torch.device` context")):
            self.assertEqual(self.where(refusal), ("cpu", ["meta", "cpu"]))

    def test_is_no_excuse_for_other_errors(self):
        with self.assertRaisesRegex(RuntimeError, "mine"):
            self.where(RuntimeError("mine"))


if __name__ == "__main__":
    unittest.main()
