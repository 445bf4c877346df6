# SPDX-License-Identifier: MIT
"""What each distribution makes of inputs, and when an answer to them counts."""

import math
import unittest

import numpy
import torch

import worker_package  # noqa: F401  makes the package
from kbench_worker import input_distributions as distributions


def _drawn(*shape, dtype=torch.float32, signed=True):
    random = torch.Generator().manual_seed(3)
    draw = torch.randn if signed else torch.rand
    return draw(shape, generator=random).to(dtype)


class Distributions(unittest.TestCase):

    def test_each_changes_values_and_nothing_else(self):
        for name in distributions.names():
            for shape in ((), (1,), (7,), (3, 5), (2, 3, 4, 67), (0, 4)):
                few = math.prod(shape) <= 4  # the values mean something
                for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
                    with self.subTest(name=name, shape=shape, dtype=dtype):
                        x = _drawn(*shape, dtype=dtype, signed=False)
                        index = torch.arange(5)
                        before = x.clone()
                        changed = distributions.change(name, [x, index, 3], 11)
                        self.assertEqual((x.shape, x.dtype), (before.shape, before.dtype))
                        self.assertTrue(torch.equal(index, torch.arange(5)))
                        self.assertEqual(changed, not few and name != "shifted")

    def test_a_seed_decides(self):
        for name in distributions.names():
            one, same, other = (_drawn(64, 65, signed=False) for _ in range(3))
            distributions.change(name, [one], 5)
            distributions.change(name, [same], 5)
            distributions.change(name, [other], 6)
            self.assertTrue(torch.equal(one.nan_to_num(7.5), same.nan_to_num(7.5)), name)
            if name not in ("scaled_up", "scaled_down", "zeros", "denormals", "shifted"):
                self.assertFalse(torch.equal(one.nan_to_num(7.5), other.nan_to_num(7.5)), name)

    def test_two_inputs_get_different_numbers(self):
        x, y = _drawn(1000), _drawn(1000)
        distributions.change("small_integers", [x, y], 5)
        self.assertFalse(torch.equal(x, y))

    def test_few_are_changed_where_few_are(self):
        x = _drawn(100, 50)
        before = x.clone()
        self.assertTrue(distributions.change("few_changed", [x], 5))
        self.assertTrue(1 <= int((x != before).sum()) <= 16)
        self.assertTrue(before.min() <= x.min() and x.max() <= before.max())

    def test_integers_in_no_order_exchange_places(self):
        tokens = torch.randint(0, 1000, (8, 50), generator=torch.Generator().manual_seed(3))
        before, mask, offsets = tokens.clone(), tokens < 500, torch.arange(5)
        self.assertTrue(distributions.change("few_changed", [tokens, mask, offsets], 5))
        self.assertTrue(torch.equal(mask, before < 500))
        self.assertTrue(torch.equal(offsets, torch.arange(5)))
        self.assertTrue(torch.equal(tokens.flatten().sort()[0], before.flatten().sort()[0]))
        self.assertTrue(2 <= int((tokens != before).sum()) <= 16)

    def test_labels_stay(self):
        signs = torch.where(_drawn(1000) < 0, -1.0, 1.0)
        before = signs.clone()
        for name in distributions.names():
            self.assertFalse(distributions.change(name, [signs], 5))
        self.assertTrue(torch.equal(signs, before))

    def test_a_triangle_whose_diagonal_lies_at_the_distance_of_samples_stays_one(self):
        triangle = torch.rand(4096, 4096).triu_()
        distributions.change("few_changed", [triangle], 5)
        self.assertTrue(bool((triangle.tril_(-1) == 0).all()))

    def test_triangles_and_symmetric_matrices_stay_what_they_are(self):
        for name in distributions.names():
            triangle = _drawn(2, 70, 70).triu()
            square = _drawn(70, 70)
            square = square + square.mT
            distributions.change(name, [triangle, square], 5)
            self.assertTrue(bool((triangle.tril(-1) == 0).all()), name)
            self.assertTrue(torch.equal(square.nan_to_num(7.5), square.mT.nan_to_num(7.5)), name)

    def test_signs_are_given_to_those_that_lack_them(self):
        self.assertFalse(distributions.change("signed", [_drawn(100)], 5))
        x = _drawn(1000, signed=False)
        before = x.clone()
        self.assertTrue(distributions.change("signed", [x], 5))
        self.assertTrue(torch.equal(x.abs(), before))
        self.assertTrue(300 < int((x < 0).sum()) < 700)

    def test_nothing_becomes_negative_that_was_not(self):
        for name in ("outliers", "one_outlier", "another_outlier", "structured", "small_integers",
                     "heavy_tails"):
            x = _drawn(40, 33, signed=False)
            distributions.change(name, [x], 5)
            self.assertGreaterEqual(x.min().item(), 0, name)

    def test_outliers_stand_at_both_ends_of_rows_and_make_exp_overflow(self):
        x = _drawn(16, 80)
        distributions.change("outliers", [x], 5)
        rows, columns = (x.abs() >= 300).nonzero(as_tuple=True)
        self.assertEqual(rows.tolist(), [0, 2, 4, 6, 8, 10, 12, 14])
        self.assertGreaterEqual(columns[0::2].min().item(), 70)
        self.assertLess(columns[1::2].max().item(), 10)

    def test_outliers_leave_little_to_the_others(self):
        for signed, length, least in ((True, 60, 2e-4), (False, 1500, 2e-4), (True, 16384, 0.04)):
            x = _drawn(16, length, signed=signed)
            distributions.change("outliers", [x], 5)
            row = x[1::4] - x[1::4].amax(dim=-1, keepdim=True)
            answers = torch.softmax(row.double(), dim=-1)
            rest = 1 - answers.max(dim=-1).values
            self.assertGreater(rest.min().item(), least)
            self.assertLess(rest.max().item(), 2 * least)
            # Nor so little that it is lost where they are added up one by one.
            one_by_one = row.exp().cumsum(dim=-1)[:, -1]
            self.assertLess((one_by_one * answers.amax(dim=-1) - 1).abs().max().item(), 5e-5)

    def test_one_outlier_stands_anywhere_and_weighs_as_much_as_all_others(self):
        for name, begin in (("one_outlier", 0), ("another_outlier", 100000)):
            places, signs = [], []
            for seed in range(40):
                x = _drawn(400, 500)
                before = x.clone()
                self.assertTrue(distributions.change(name, [x], seed))
                place, = (x != before).flatten().nonzero().flatten().tolist()
                others = before.square().sum().item()
                self.assertTrue(0.9 < x.flatten()[place].item() ** 2 / others < 1.1)
                places.append(place - begin)
                signs.append(x.flatten()[place].item() > 0)
            self.assertTrue(0 <= min(places) < 20000 and 80000 < max(places) < 100000)
            self.assertEqual(set(signs), {True, False})
        for shape, dtype, height in (((), torch.float32, 300), ((7,), torch.float16, 300),
                                     ((70, 60), torch.bfloat16, 300)):
            x = _drawn(*shape, dtype=dtype, signed=False) if shape else torch.ones(()).mul_(0.5)
            usual = x.float().std().item() if shape else 1
            distributions._one_outlier(1)(x, torch.Generator().manual_seed(1))
            self.assertAlmostEqual(x.max().item() / usual, height, delta=2)

    def test_one_outlier_leaves_their_digits_to_a_sum_over_several_dimensions(self):
        x = torch.randn(2, 16, 512, 256, generator=torch.Generator().manual_seed(2))
        distributions._one_outlier(0)(x, torch.Generator().manual_seed(3))
        squares = x.square().reshape(-1, 512 * 256)
        # numpy adds one by one in fp32, torch in a wider type.
        one_by_one = torch.from_numpy(squares.numpy().cumsum(-1)[:, -1])
        error = one_by_one.double() / squares.double().sum(dim=-1) - 1
        self.assertLess(error.abs().max().item(), 1e-4)

    def test_shifted_are_far_below_zero(self):
        x = _drawn(16, 80)
        self.assertTrue(distributions.change("shifted", [x], 5))
        self.assertLess(x[0::4].max().item(), -100)
        self.assertGreater(x[1::4].min().item(), -100)

    def test_structured_rows(self):
        x = _drawn(8, 50)
        distributions.change("structured", [x], 5)
        ramp, constant, rising, single = x[0], x[1], x[2], x[3]
        self.assertAlmostEqual((ramp[1] - ramp[0]).item(), 4 / 49, 5)
        self.assertEqual(constant.unique().numel(), 1)
        self.assertTrue(bool((rising.diff() >= 0).all()))
        self.assertEqual((single.sum().item(), single.count_nonzero().item()), (1, 1))

    def test_short_rows_are_bare_and_others_have_noise(self):
        x = _drawn(4096, 64)
        distributions.change("structured", [x], 5)
        bare = 1024 // 64
        for kind in (0, 1):
            rows = x[kind::4]
            self.assertTrue(bool((rows[:bare] == rows[0]).all()))
            self.assertGreater(rows[bare:].unique().numel(), 0.95 * rows[bare:].numel())
        self.assertEqual(x[3::4][:bare].count_nonzero().item(), bare)
        for signed in (True, False):
            x = _drawn(8, 5000, signed=signed)
            distributions.change("structured", [x], 5)
            for row in x:
                self.assertGreater(row.unique().numel(), 0.98 * row.numel())
            self.assertTrue(bool((x[2::4].diff() >= 0).all()))
            usual = x[1::4] / 1.5
            self.assertAlmostEqual(usual.std().item(), 1 / 8, 2)
            self.assertTrue(bool((x[3::4].abs() < 0.8).sum(-1).eq(4999).all()))
            self.assertEqual(x.min().item() < 0, signed)

    def test_no_value_is_that_of_very_many_elements(self):
        few_valued = ("small_integers", "zeros", "denormals")
        for name in distributions.names():
            if name in ("infinity", "minus_infinity", "nan"):
                continue
            for shape in ((8192, 4), (8, 3000), (20000,), (150, 150)):
                for signed in (True, False):
                    x = _drawn(*shape, signed=signed)
                    distributions.change(name, [x], 5, name in few_valued)
                    most = x.unique(return_counts=True)[1].max().item()
                    self.assertLessEqual(most, 1024, (name, shape))
                    self.assertTrue(signed or name in ("signed", "shifted") or x.min() >= 0, name)

    def test_an_honest_long_sum_is_right_and_one_in_half_precision_is_not(self):
        softplus = torch.nn.functional.softplus
        terms = {"sum": lambda x: x, "square": lambda x: x * x, "softplus": softplus,
                 "exp": lambda x: (x - x.amax(-1, keepdim=True)).exp(), "bias": lambda x: x + 0.0371}
        # What is asked of them with noise; nothing is said of heavy tails, whose tolerance is wider.
        few_valued = ("small_integers", "zeros", "denormals")
        left_out = ("heavy_tails", "shifted", "infinity", "minus_infinity", "nan")

        def error(got, term):
            exact = term.double().sum(-1)
            got = torch.from_numpy(got.astype(numpy.float64))
            return ((got - exact).abs() / (exact.abs() + exact.square().mean().sqrt())).max().item()

        def one_by_one(term, dtype):
            with numpy.errstate(over="ignore"):
                return numpy.add.accumulate(term.numpy().astype(dtype), axis=-1, dtype=dtype)[:, -1]

        worst_half = dict.fromkeys(terms, 0)
        for name in distributions.names():
            if name in left_out:
                continue
            for shape, signed in (((2, 131072), True), ((2, 65536), False)):
                x = _drawn(*shape, signed=signed)
                distributions.change(name, [x], 5, name in few_valued)
                for what, make in terms.items():
                    term = make(x)
                    self.assertLess(error(one_by_one(term, numpy.float32), term), 6e-5,
                                    (name, what, shape))
                    if name in ("scaled_down", "structured") and signed:
                        half = error(one_by_one(term, numpy.float16), term)
                        worst_half[what] = max(worst_half[what], half)
        self.assertGreater(min(worst_half.values()), 5e-4, worst_half)

    def test_an_outlier_leaves_the_others_their_digits(self):
        for shape, square in (((1000, 5000), 2 ** 18), ((100, 50), 300 ** 2),
                              ((64, 64, 64, 16), 2 ** 18), ((2 ** 20,), 2 ** 20)):
            x = _drawn(*shape)
            distributions.change("one_outlier", [x], 5)
            self.assertAlmostEqual(x.abs().max().item() / math.sqrt(square), 1, 1)
        x = _drawn(4096, 64)
        distributions.change("outliers", [x], 5)
        self.assertEqual(int((x.abs() >= 300).sum()), 32)

    def test_noise_is_small_and_keeps_signs(self):
        for name in ("small_integers", "zeros", "denormals"):
            for signed in (True, False):
                bare, noisy = (_drawn(300, 40, signed=signed) for _ in range(2))
                self.assertTrue(distributions.change(name, [bare], 5))
                self.assertTrue(distributions.change(name, [noisy], 5, True))
                self.assertLess((noisy - bare).abs().max().item(), 0.8)
                self.assertGreater(noisy.unique().numel(), 0.9 * noisy.numel())
                self.assertEqual(noisy.min().item() < 0, signed)

    def test_small_integers_and_denormals(self):
        x = _drawn(500)
        distributions.change("small_integers", [x], 5)
        self.assertEqual(sorted(set(x.tolist())), [-3, -2, -1, 0, 1, 2, 3])
        for dtype in (torch.float32, torch.float16, torch.bfloat16):
            x = _drawn(500, dtype=dtype)
            distributions.change("denormals", [x], 5)
            self.assertLess(x.abs().max().item(), torch.finfo(dtype).tiny)
            self.assertGreater(x.count_nonzero().item(), 400)

    def test_what_is_not_finite_is_rare(self):
        for name, is_it in (("nan", torch.isnan), ("infinity", lambda x: x == math.inf),
                            ("minus_infinity", lambda x: x == -math.inf)):
            x = _drawn(100, 100)
            distributions.change(name, [x], 5)
            self.assertTrue(1 <= int(is_it(x).sum()) <= 10, name)


class Answers(unittest.TestCase):

    def test_nudged(self):
        x = _drawn(1000)
        exact, index, native = (*distributions.nudged([x, torch.arange(3)], True),
                                distributions.nudged([x], False)[0])
        self.assertEqual((exact.dtype, native.dtype), (torch.float64, torch.float32))
        self.assertTrue(torch.equal(index, torch.arange(3)))
        self.assertAlmostEqual(((exact - x) / x).abs().max().item(), 2.0 ** -24, 12)
        self.assertLess(((native - x) / x).abs().max().item(), 2.0 ** -22)
        self.assertFalse(torch.equal(native, x))


if __name__ == "__main__":
    unittest.main()
