# SPDX-License-Identifier: MIT
"""How a module's model comes by the reference's weights: as built, or given, each in its place."""

import textwrap
import time
import unittest

import torch

from module_fixture import CandidateCase
from kbench_worker import module_weights

_LINEAR = """
def __init__(self):
    super().__init__()
    self.{0} = nn.Parameter(torch.randn(2, 3))
    self.{1} = nn.Parameter(torch.zeros(2))
    self.{2} = nn.Parameter(torch.ones(2))
"""


class Weights(CandidateCase):

    def place(self, model, *pairs, as_built=False):
        names, tensors = zip(*pairs)
        return module_weights.place(model, list(names), list(tensors), as_built)

    def give(self, model, *pairs):
        return ["weights_by_seed"] if self.place(model, *pairs).by_seed else []

    def setUp(self):
        super().setUp()
        self.given = [("w", torch.full((2, 3), 3.0)), ("b", torch.full((2,), 4.0)),
                      ("g", torch.full((2,), 5.0))]

    def test_by_name_in_any_order(self):
        model = self.model(_LINEAR.format("w", "g", "b"))
        self.assertEqual(self.give(model, *self.given), [])
        self.assertEqual((model.w[0, 0].item(), model.g[0].item(), model.b[0].item()), (3, 5, 4))

    def test_by_order_and_shape(self):
        model = self.model(_LINEAR.format("weight", "bias", "scale"))
        self.assertEqual(self.give(model, *self.given), [])
        self.assertEqual((model.weight[0, 0].item(), model.bias[0].item(), model.scale[0].item()),
                         (3, 4, 5))

    def test_equal_values_before_order(self):
        model = self.model(_LINEAR.format("weight", "bias", "scale"))
        scale = model.scale.detach().clone()
        self.give(model, self.given[0], ("g", scale), ("b", torch.full((2,), 4.0)))
        self.assertEqual(model.bias.tolist(), [4, 4])
        self.assertEqual(model.scale.tolist(), scale.tolist())

    def test_a_constant_more_than_the_references_shifts_none(self):
        reference = self.model("""
            def __init__(self):
                super().__init__()
                self.w = nn.Parameter(torch.randn(2, 3))
                self.b = nn.Parameter(torch.randn(2))
                self.norm = nn.BatchNorm1d(2)
                self.last = nn.GroupNorm(1, 2)
            """)
        state = [(name, tensor.clone()) for name, tensor in reference.state_dict().items()]
        model = self.model("""
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.randn(2, 3))
                self.bias = nn.Parameter(torch.zeros(2))
                self.one_scale = nn.Parameter(torch.ones(2))
                self.one_bias = nn.Parameter(torch.zeros(2))
                self.register_buffer("mean", torch.zeros(2))
                self.register_buffer("var", torch.ones(2))
                self.two_scale = nn.Parameter(torch.ones(2))
                self.two_bias = nn.Parameter(torch.zeros(2))
            """)
        self.assertEqual(self.give(model, *state), [])
        places = {"weight": "w", "bias": "b", "one_scale": "norm.weight", "one_bias": "norm.bias",
                  "mean": "norm.running_mean", "var": "norm.running_var",
                  "two_scale": "last.weight", "two_bias": "last.bias"}
        own = model.state_dict()
        self.assertEqual({name: own[name].tolist() for name in places},
                         {name: dict(state)[place].tolist() for name, place in places.items()})

    def test_what_fits_nothing_keeps_its_values(self):
        model = self.model("""
            def __init__(self):
                super().__init__()
                self.register_buffer("packed", torch.randn(3, 2))
                self.b = nn.Parameter(torch.zeros(2))
            """)
        packed = model.packed.clone()
        self.assertEqual(self.give(model, *self.given), ["weights_by_seed"])
        self.assertTrue(torch.equal(model.packed, packed))
        self.assertEqual(model.b.tolist(), [4, 4])

    def test_what_the_reference_lacks_stays_what_it_was(self):
        model = self.model("""
            def __init__(self):
                super().__init__()
                self.w = nn.Parameter(torch.randn(2, 3))
                self.b = nn.Parameter(torch.zeros(2))
                self.g = nn.Parameter(torch.ones(2))
                self.norm = nn.LayerNorm(2)
                self.mix = nn.Parameter(torch.eye(3))
                self.register_buffer("ones", torch.ones(2, 1))
                self.register_buffer("zeros", torch.zeros(5))
                self.register_buffer("more", torch.ones(7), persistent=False)
                self.register_buffer("workspace", torch.empty(7), persistent=False)
            """)
        self.assertEqual(self.give(model, *self.given), [])
        self.assertEqual((model.norm.weight.tolist(), model.norm.bias.tolist()), ([1, 1], [0, 0]))
        self.assertEqual(model.mix.tolist(), torch.eye(3).tolist())
        self.assertEqual((model.ones.tolist(), model.zeros.tolist()), ([[1], [1]], [0] * 5))
        self.assertEqual((model.more.tolist(), model.workspace.tolist()), ([1] * 7, [0] * 7))
        self.assertEqual(model.b.tolist(), [4, 4])

    def test_statistics_that_the_reference_lacks(self):
        model = self.model("""
            def __init__(self):
                super().__init__()
                self.norm = nn.BatchNorm1d(3)
            """)
        self.give(model, ("other", torch.ones(2)))
        self.assertEqual((model.norm.running_var.tolist(), model.norm.running_mean.tolist(),
                          model.norm.weight.tolist()), ([1] * 3, [0] * 3, [1] * 3))

    def test_what_may_stand_for_the_references_keeps_what_was_drawn(self):
        model = self.model("""
            def __init__(self):
                super().__init__()
                self.w = nn.Parameter(torch.randn(2, 3))
                self.bias = nn.Parameter(torch.zeros(2))
                self.scale = nn.Parameter(torch.ones(2, dtype=torch.half))
            """)
        scale = model.scale.clone()
        self.assertNotEqual(scale.tolist(), [1, 1])
        self.assertEqual(self.give(model, *self.given), ["weights_by_seed"])
        self.assertTrue(torch.equal(model.scale, scale))

    def test_tied_ones_are_given_once(self):
        model = self.model("""
            def __init__(self):
                super().__init__()
                self.w = nn.Parameter(torch.randn(2, 3))
                self.b = self.bias = nn.Parameter(torch.zeros(2))
                self.g = nn.Parameter(torch.ones(2))
            """)
        self.assertEqual(self.give(model, *self.given), [])
        self.assertEqual(model.bias.tolist(), [4, 4])

    def test_by_name_also_what_is_outside_of_the_state(self):
        model = self.model("""
            def __init__(self):
                super().__init__()
                self.w = nn.Parameter(torch.randn(2, 3))
                self.b = nn.Parameter(torch.zeros(2))
                self.register_buffer("g", torch.ones(2), persistent=False)
            """)
        self.assertEqual(self.give(model, *self.given), [])
        self.assertEqual(model.g.tolist(), [5, 5])

    def test_weights_outside_the_state(self):
        model = self.model("def __init__(self):\n    super().__init__()\n    self.w = [1]\n")
        self.assertEqual(self.give(model, *self.given), ["weights_by_seed"])

    def test_the_rule_is_the_weakest_that_was_needed(self):
        for names, rule in ((("w", "b", "g"), module_weights.BY_NAME),
                            (("w", "b", "scale"), module_weights.BY_ORDER)):
            placement = self.place(self.model(_LINEAR.format(*names)), *self.given)
            self.assertEqual((placement.rule, placement.unplaced, placement.by_seed),
                             (rule, [], False))
        model = self.model(_LINEAR.format("weight", "b", "g"))
        weight = model.weight.detach().clone()
        placement = self.place(model, ("w", weight), *self.given[1:])
        self.assertEqual(placement.rule, module_weights.BY_VALUE)

    def test_what_has_no_place_is_named_but_for_counters(self):
        model = self.model("""
            def __init__(self):
                super().__init__()
                self.b = nn.Parameter(torch.zeros(2))
            """)
        placement = self.place(model, ("n", torch.tensor(0)), *self.given)
        self.assertEqual((placement.unplaced, placement.by_seed), ([1, 3], True))

    def test_what_is_tied_in_the_reference_needs_one_place(self):
        model = self.model("""
            def __init__(self):
                super().__init__()
                self.table = nn.Parameter(torch.randn(4, 3))
            """)
        tied = torch.randn(4, 3)
        placement = self.place(model, ("in.weight", tied), ("out.weight", tied))
        self.assertEqual((placement.unplaced, placement.by_seed), ([], False))
        self.assertTrue(torch.equal(model.table, tied))

    def test_a_workspace_comes_after_what_was_drawn(self):
        model = self.model("""
            def __init__(self):
                super().__init__()
                self.register_buffer("packed", torch.zeros(3, 3))
                self.inner = nn.Linear(3, 3, bias=False)
            """)
        self.place(model, ("linear.weight", torch.full((3, 3), 2.0)))
        self.assertEqual(model.inner.weight.tolist(), [[2.0] * 3] * 3)
        self.assertEqual(model.packed.tolist(), [[0.0] * 3] * 3)

    def test_dimensions_of_one_and_rows_for_columns(self):
        model = self.model("""
            def __init__(self):
                super().__init__()
                self.bias = nn.Parameter(torch.zeros(4))
                self.weight = nn.Parameter(torch.randn(2, 3))
                self.other = nn.Parameter(torch.randn(5, 1))
            """)
        bias, weight, other = torch.randn(4, 1, 1), torch.randn(3, 2), torch.randn(5)
        placement = self.place(model, ("bias", bias), ("weight", weight), ("fc.weight", other))
        self.assertEqual((placement.unplaced, placement.by_seed), ([], False))
        self.assertTrue(torch.equal(model.bias, bias.flatten()))
        self.assertTrue(torch.equal(model.weight, weight.t()))
        self.assertTrue(torch.equal(model.other, other[:, None]))


_PACKED = """
def __init__(self):
    super().__init__()
    first, second = nn.Linear(3, 3), nn.Linear(3, 3)
    self.b = nn.Parameter(first.bias.detach().clone())
    self.wt = nn.Parameter(second.weight.detach().t().contiguous())
    self.weight = nn.Parameter(first.weight.detach().t().contiguous())
"""


class Values(CandidateCase):
    """Parameters that a constructor made of others, under the reference's seed."""

    def setUp(self):
        super().setUp()
        torch.manual_seed(7)  # as the fixture's models
        first, second = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
        self.names = ["first.weight", "first.bias", "second.weight"]
        self.tensors = [t.detach() for t in (first.weight, first.bias, second.weight)]

    def place(self, body, as_built, names=None):
        model = self.model(body)
        return model, module_weights.place(model, names or self.names, self.tensors, as_built)

    def check_transposed(self, model):
        self.assertTrue(torch.equal(model.weight, self.tensors[0].t()))
        self.assertTrue(torch.equal(model.wt, self.tensors[2].t()))

    def test_transposed_ones_go_where_their_values_are(self):
        model, placement = self.place(_PACKED, False)
        self.check_transposed(model)
        self.assertEqual((placement.rule, placement.unplaced, placement.by_seed),
                         (module_weights.BY_TRANSPOSED, [], False))

    def test_of_the_same_name_too(self):
        model, placement = self.place(_PACKED, False, ["weight", "b", "wt"])
        self.check_transposed(model)
        self.assertEqual((placement.rule, placement.unplaced), (module_weights.BY_NAME, []))

    def test_other_orders_of_dimensions(self):
        kernel = torch.randn(4, 3, 2, 2)
        model = self.model("""
            def __init__(self):
                super().__init__()
                torch.manual_seed(3)
                conv = nn.Conv2d(3, 4, 2, bias=False)
                self.packed = nn.Parameter(conv.weight.detach().permute(2, 3, 1, 0).contiguous())
            """)
        torch.manual_seed(3)
        kernel = torch.nn.Conv2d(3, 4, 2, bias=False).weight.detach()
        placement = module_weights.place(model, ["conv.weight"], [kernel])
        self.assertEqual((placement.rule, placement.by_seed),
                         (module_weights.BY_TRANSPOSED, False))
        self.assertTrue(torch.equal(model.packed, kernel.permute(2, 3, 1, 0)))

    def test_as_built_nothing_is_written(self):
        model, placement = self.place(_PACKED + "    self.b.data.mul_(2)\n"
                                      "    self.wt.data.mul_(0.5)\n", True)
        self.assertTrue(torch.equal(model.wt, self.tensors[2].t() * 0.5))
        self.assertTrue(torch.equal(model.b, self.tensors[1] * 2))
        self.assertEqual((placement.rule, placement.unplaced, placement.by_seed,
                          placement.is_given), (module_weights.AS_BUILT, [1, 2], True, False))

    def test_as_built_what_is_all_there_is_as_good_as_given(self):
        body = """
            def __init__(self):
                super().__init__()
                self.first, second = nn.Linear(3, 3), nn.Linear(3, 3, bias=False)
                self.second = second
                self.register_buffer("room", torch.zeros(3, 3))
            """
        model, placement = self.place(body, True)
        self.assertEqual((placement.unplaced, placement.by_seed, placement.is_given),
                         ([], False, True))
        self.assertEqual(model.room.tolist(), [[0.0] * 3] * 3)

    def test_as_built_a_tensor_of_its_own_takes_no_part(self):
        model, placement = self.place("""
            def __init__(self):
                super().__init__()
                self.register_buffer("wt", torch.zeros(3, 3))
                self.scale = nn.Parameter(torch.ones(3))
                self.first = nn.Linear(3, 3)
                self.first.weight.data.mul_(2)
            """, True)
        self.assertEqual((model.wt.tolist(), model.scale.tolist()), ([[0.0] * 3] * 3, [1.0] * 3))
        self.assertEqual([taker is None for taker in placement.takers], [False, False, True])

    def test_a_transposed_one_takes_no_state_even_where_it_is_square(self):
        for as_built in (False, True):
            model, placement = self.place(_PACKED, as_built)
            self.assertIs(placement.takers[1], model.b)
            self.assertEqual((placement.takers[0], placement.takers[2]), (None, None))

    def test_nan_equals_nan(self):
        body = """
            def __init__(self):
                super().__init__()
                self.{0} = nn.Linear(3, 3, bias=False)
                self.register_buffer("{1}", torch.tensor([[1, float("nan")], [-torch.inf, 2]]){2})
            """
        reference = self.model(body.format("linear", "gaps", ""))
        names, tensors = zip(*((name, t.clone()) for name, t in reference.state_dict().items()))
        for other in (("linear", "gaps", ""), ("fc", "holes", ""), ("fc", "holes", ".t()")):
            placement = module_weights.place(self.model(body.format(*other)), names, tensors, True)
            self.assertEqual((placement.unplaced, placement.is_given), ([], True), other)
        half = self.model(textwrap.dedent(body).format("linear", "gaps", "").rstrip()
                          + "\n    self.gaps[0, 0] = 3\n")
        self.assertEqual(module_weights.place(half, names, tensors, True).unplaced, [0])

    def test_many_tensors_of_one_shape_take_no_long(self):
        body = """
            def __init__(self, order):
                super().__init__()
                layers = [nn.Conv2d(16, 16, 3, bias=False) for _ in range(300)]
                self.a{0} = nn.ModuleList(layers[::order])
            """
        reference, model = self.model(body.format("", ""), 1), self.model(body.format("b"), -1)
        names, tensors = zip(*((name, t.clone()) for name, t in reference.state_dict().items()))
        with torch.no_grad():
            for layer in model.ab:
                layer.weight.mul_(2)
        before = time.process_time()
        placement = module_weights.place(model, names, tensors)
        self.assertLess(time.process_time() - before, 2)
        self.assertEqual((placement.rule, placement.unplaced), (module_weights.BY_ORDER, []))


if __name__ == "__main__":
    unittest.main()
