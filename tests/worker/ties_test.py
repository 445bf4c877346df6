# SPDX-License-Identifier: MIT
"""Which indices are as good as the reference's."""

import unittest

import torch

import worker_package  # noqa: F401  makes the package
from kbench_worker import ties


class Model(torch.nn.Module):
    """A model of one function."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


X = torch.tensor([[1.0, 3.0, 3.0, 2.0], [5.0, 5.0, 0.0, 5.0]])


class Ties(unittest.TestCase):

    def settled(self, function, got, x=X, number=0, slack=1e-4):
        model = Model(function)
        outputs = model(x)
        expected = outputs[number] if isinstance(outputs, tuple) else outputs
        got = torch.tensor(got, dtype=expected.dtype)
        settled = ties.settled(model, [x], number, expected, got, slack)
        return bool((settled == expected).all())

    def test_equal_elements_are_as_good(self):
        for function in (lambda x: x.argmax(1), lambda x: torch.argmax(x, dim=-1),
                         lambda x: x.max(dim=1)[1], lambda x: x.argmax(1).int(),
                         lambda x: (-x).argmin(1)):
            self.assertTrue(self.settled(function, [2, 3]))
            self.assertTrue(self.settled(function, [1, 0]))
            self.assertFalse(self.settled(function, [3, 0]))
            self.assertFalse(self.settled(function, [1, 2]))
            self.assertFalse(self.settled(function, [1, 4]))
            self.assertFalse(self.settled(function, [-2, 0]))

    def test_kept_dimensions_and_all_elements(self):
        self.assertTrue(self.settled(lambda x: x.argmax(1, keepdim=True), [[2], [3]]))
        self.assertTrue(self.settled(lambda x: x.argmax(), 5))
        self.assertFalse(self.settled(lambda x: x.argmax(), 6))
        self.assertTrue(self.settled(lambda x: (x.min(), x.argmax(0)), [1, 1, 0, 1], number=1))

    def test_of_an_order_each_element_is_named_once(self):
        x = torch.tensor([[3.0, 1.0, 3.0, 2.0]])
        topk = lambda x: x.topk(3)[1]  # noqa: E731
        self.assertTrue(self.settled(topk, [[2, 0, 3]], x))
        self.assertFalse(self.settled(topk, [[0, 0, 3]], x))
        self.assertFalse(self.settled(topk, [[0, 3, 2]], x))
        any_order = lambda x: x.topk(3, sorted=False)[1]  # noqa: E731
        self.assertTrue(self.settled(any_order, [[3, 2, 0]], x))
        self.assertFalse(self.settled(any_order, [[3, 2, 1]], x))
        # What is cut off afterwards is not what was chosen.
        cut = lambda x: x.sort(descending=True)[1][:, :3]  # noqa: E731
        self.assertFalse(self.settled(cut, [[2, 0, 3]], x))
        self.assertTrue(self.settled(lambda x: x.argsort(1), [[1, 3, 2, 0]], x))
        self.assertFalse(self.settled(lambda x: x.argsort(1), [[3, 1, 2, 0]], x))

    def test_a_stable_order_has_no_ties(self):
        self.assertFalse(self.settled(lambda x: x.sort(dim=1, stable=True)[1],
                                      [[0, 3, 2, 1], [2, 0, 1, 3]]))

    def test_elements_of_an_input_are_what_they_are(self):
        x = torch.tensor([[1.0, 1.00001]])
        self.assertFalse(self.settled(lambda x: x.argmax(1), [0], x))
        self.assertTrue(self.settled(lambda x: (x * 1.5).argmax(1), [0], x))
        self.assertFalse(self.settled(lambda x: (x * 1.5).argmax(1), [0], x, slack=1e-6))

    def as_good(self, function, x, shape):
        """Which indices are as good as each that a function chooses, by trying all."""
        model = Model(function)
        expected = model(x)[1]
        self.assertEqual(expected.shape, shape)
        good = [[] for _ in range(expected.numel())]
        for index in range(-1, x.numel() + 1):
            got = torch.full_like(expected, index)
            settled = ties.settled(model, [x], 1, expected, got, 1e-4)
            for place in (settled == expected).flatten().nonzero().flatten().tolist():
                good[place].append(index)
        return good

    def test_running_maxima_name_what_came_before(self):
        for function in (lambda x: x.cummax(1), lambda x: (-x).cummin(-1)):
            self.assertEqual(self.as_good(function, X, (2, 4)),
                             [[0], [1], [1, 2], [1, 2], [0], [0, 1], [0, 1], [0, 1, 3]])
        self.assertEqual(self.as_good(lambda x: x.cummax(0), torch.zeros(3, 2), (3, 2)),
                         [[0], [0], [0, 1], [0, 1], [0, 1, 2], [0, 1, 2]])

    def test_pooled_maxima_name_what_is_in_their_window(self):
        pool = torch.nn.functional
        x = torch.tensor([[[1.0, 1, 0, 3, 3, 3]]])
        self.assertEqual(self.as_good(lambda x: pool.max_pool1d(x, 3, 2, 1, return_indices=True),
                                      x, (1, 1, 3)), [[0, 1], [3], [3, 4, 5]])
        self.assertEqual(self.as_good(lambda x: pool.max_pool1d(x, 2, 1, dilation=2,
                                                                return_indices=True),
                                      x, (1, 1, 4)), [[0], [3], [4], [3, 5]])
        x = torch.zeros(1, 1, 4, 5)
        inner = [6, 7, 8, 11, 12, 13]
        self.assertEqual(self.as_good(lambda x: pool.max_pool2d(x, (2, 3), (1, 2), (1, 1),
                                                                return_indices=True),
                                      x, (1, 1, 5, 3))[4:8],
                         [[1, 2, 3, 6, 7, 8], [3, 4, 8, 9], [5, 6, 10, 11], inner])
        self.assertEqual(self.as_good(lambda x: pool.adaptive_max_pool2d(x, (2, 2),
                                                                         return_indices=True),
                                      x, (1, 1, 2, 2))[1:3],
                         [[2, 3, 4, 7, 8, 9], [10, 11, 12, 15, 16, 17]])
        x = torch.zeros(1, 2, 2, 4)
        self.assertEqual(self.as_good(lambda x: pool.max_pool3d(x, 2, return_indices=True),
                                      x, (1, 1, 1, 2)),
                         [[0, 1, 4, 5, 8, 9, 12, 13], [2, 3, 6, 7, 10, 11, 14, 15]])
        self.assertEqual(self.as_good(lambda x: pool.adaptive_max_pool3d(x, 1,
                                                                         return_indices=True),
                                      x, (1, 1, 1, 1)), [list(range(16))])

    def test_pools_of_any_memory_format(self):
        x = torch.tensor([[1.0, 2], [2, 2]])[None, None].repeat(1, 2, 1, 2).to(
            memory_format=torch.channels_last)
        x[0, 1, 1, 1] = 5
        self.assertEqual(self.as_good(lambda x: torch.nn.functional.max_pool2d(
            x, 2, return_indices=True), x, (1, 2, 1, 2)),
            [[1, 4, 5], [3, 6, 7], [5], [3, 6, 7]])

    def test_what_is_no_choice_is_left_alone(self):
        self.assertFalse(self.settled(lambda x: x.long(), X.long().roll(1).tolist()))
        self.assertFalse(self.settled(lambda x: x.argmax(1) + 1, [3, 2]))
        def writing(x):
            y = x * 1.5
            chosen = y.argmax(1)
            y.zero_()
            return chosen

        self.assertFalse(self.settled(writing, [3, 2]))
        nan = torch.tensor([[float("nan"), 1.0, float("nan")]])
        self.assertTrue(self.settled(lambda x: x.argmax(1), [2], nan))


class TiesInParts(Ties):
    """All of these again, of tensors that are looked at one element or row at a time."""

    def setUp(self):
        whole = ties._CHUNK
        ties._CHUNK = 1
        self.addCleanup(setattr, ties, "_CHUNK", whole)

    def test_parts_are_small(self):
        ties._CHUNK = 100
        x = torch.zeros(1000, 7)
        choice = ties._Choice(x, 1, x.argmax(1, keepdim=True))
        parts = [cut(choice.indices) for cut in ties._cuts(choice)]
        self.assertEqual([part.numel() for part in parts], [100] * 10)


if __name__ == "__main__":
    unittest.main()
