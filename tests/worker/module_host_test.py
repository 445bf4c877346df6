# SPDX-License-Identifier: MIT
"""What becomes of module candidates that are faulty, each in its own way, and of right ones."""

import unittest
from unittest import mock

import torch

from module_fixture import CandidateCase, module_host
from kbench_worker import model_setup, model_state

_MODEL = """
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return x + 1
"""


class Import(CandidateCase):

    def test_gives_the_module_under_its_own_name_and_file(self):
        module = self.load("import torch, inspect\n" + _MODEL +
                           "text = inspect.getsource(ModelNew)\nname = __name__\n")
        self.assertEqual(module.name, "kbench_candidate")
        self.assertIn("return x + 1", module.text)
        self.assertEqual(module.__file__, self.folder + "/mine.py")

    def test_main_is_not_run(self):
        self.load("import torch\n" + _MODEL + "if __name__ == '__main__':\n    1 / 0\n")

    def test_without_shared_memory(self):
        failure = self.failure(self.load, "raise RuntimeError('unable to open shared memory object "
                               "</torch_6_2_0> in read-write mode: Permission denied (13)')\n")
        self.assertEqual(failure.cause, "no_permission")
        self.assertIn("a private /dev/shm", str(failure))

    def test_raises(self):
        failure = self.failure(self.load, "x = 1\ndef f():\n    return x / 0\nf()\n")
        self.assertEqual(failure.cause, "import_failed")
        self.assertEqual(str(failure), "mine.py:3: ZeroDivisionError: division by zero")
        self.assertIn('File "mine.py", line 4', failure.log)

    def test_is_no_python(self):
        failure = self.failure(self.load, "import torch\ndef f(:\n")
        self.assertEqual((failure.cause, str(failure)[:10]), ("import_failed", "mine.py:2:"))

    def test_holds_a_null_byte(self):
        self.assertEqual(self.failure(self.load, b"x = 1\0\n").cause, "import_failed")

    def test_wrong_encoding(self):
        failure = self.failure(self.load, b"x = '\xff\xfe'\n")
        self.assertEqual(failure.cause, "import_failed")
        self.assertIn("utf-8", str(failure))
        failure = self.failure(self.load, b"# coding: latin-1\nx = '\xe9'\nclass ModelNew: pass\n")
        self.assertEqual(failure.cause, "import_failed")

    def test_a_declared_encoding_does_not_count(self):
        module = self.load(b"# coding: utf-7\nx = '+AGE-'\nclass ModelNew: pass\n")
        self.assertEqual(module.x, "+AGE-")

    def test_exits(self):
        for statement in ("import sys; sys.exit(0)", "raise SystemExit('done')", "exit(3)"):
            if statement.startswith("exit") and "exit" not in dir(__builtins__):
                continue
            failure = self.failure(self.load, statement)
            self.assertEqual(failure.cause, "exits", statement)

    def test_needs_a_package_that_is_not_there(self):
        failure = self.failure(self.load, "import torch\nimport no_such_package.inner\n")
        self.assertEqual(failure.cause, "missing_package")
        self.assertEqual(str(failure), "mine.py:2: the package no_such_package is not installed")

    def test_needs_a_part_of_a_package_that_is_not_there(self):
        failure = self.failure(self.load, "import torch.no_such_part\n")
        self.assertEqual(str(failure), "mine.py:1: the package torch.no_such_part is not installed")

    def test_reads_a_file_that_is_not_there(self):
        failure = self.failure(self.load, "open('/no/such/kernel.cu')\n")
        self.assertEqual(failure.cause, "missing_file")
        self.assertIn("mine.py:1: the file /no/such/kernel.cu", str(failure))

    def test_reads_a_file_that_it_may_not_read(self):
        failure = self.failure(
            self.load, "raise PermissionError(13, 'Permission denied', '/etc/secret')\n")
        self.assertEqual(failure.cause, "no_permission")
        self.assertIn("mine.py:1: /etc/secret cannot be accessed", str(failure))

    def test_has_no_modelnew(self):
        for source in ("import torch\nclass Model: pass\n", "ModelNew = 3\n"):
            self.assertEqual(self.failure(self.load, source).cause, "no_modelnew")

    def test_interrupts_itself(self):
        for error in ("KeyboardInterrupt", "GeneratorExit", "BaseException"):
            self.assertEqual(self.failure(self.load, f"raise {error}\n").cause, "import_failed")

    def test_recursion_without_end(self):
        failure = self.failure(self.load, "def f(): return f()\nf()\n")
        self.assertEqual(failure.cause, "import_failed")


class Build(CandidateCase):

    def test_another_signature(self):
        failure = self.failure(self.model, "def __init__(self, a, b):\n    super().__init__()", 1)
        self.assertEqual(failure.cause, "wrong_init_signature")
        self.assertIn("1 init arguments", str(failure))

    def test_raises(self):
        failure = self.failure(self.model, "def __init__(self):\n    self.x = [][1]\n")
        self.assertEqual(failure.cause, "init_raised")
        self.assertIn("mine.py:6: IndexError", str(failure))

    def test_a_type_error_inside_is_not_the_signature(self):
        failure = self.failure(self.model, "def __init__(self):\n    len(3)\n")
        self.assertEqual(failure.cause, "init_raised")

    def test_is_no_module(self):
        module = self.load("class ModelNew:\n    def __init__(self): pass\n")
        failure = self.failure(module_host.build_model, module, [], "cpu", "native", 1)
        self.assertEqual(failure.cause, "no_modelnew")

    def test_takes_the_rows_type_and_no_gradients(self):
        module = self.load("import torch\nclass ModelNew(torch.nn.Linear): pass\n")
        model = module_host.build_model(module, [3, 2], "cpu", "bf16", 1)
        self.assertEqual(model.weight.dtype, torch.bfloat16)
        self.assertFalse(model.weight.requires_grad)

    def test_one_seed_makes_one_model(self):
        module = self.load("import torch\nclass ModelNew(torch.nn.Linear): pass\n")
        states = [module_host.build_model(module, [3, 2], "cpu", "native", seed).weight.tolist()
                  for seed in (5, 5, 6)]
        self.assertEqual(states[0], states[1])
        self.assertNotEqual(states[0], states[2])

    def test_is_made_on_the_host_and_moved(self):
        module = self.load("""
            import torch
            class ModelNew(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.w = torch.nn.Parameter(torch.Tensor(2, 3).normal_())
                    self.register_buffer("b", torch.zeros(3), persistent=False)
                    self.plain = torch.ones(3)
                    self.here = self.plain.cuda()
                    self.seen = [t.is_cuda for t in (self.w, self.b, self.plain, self.here)]
            """)
        model = module_host.build_model(module, [], "cpu", "native", 1)
        self.assertEqual(model.seen, [False, False, False, True])
        self.assertEqual([t.is_cuda for t in (model.w, model.b, model.plain, model.here)],
                         [True, True, False, True])

    def test_a_constructor_that_wants_no_device_from_outside(self):
        model = self.model("""
            def __init__(self):
                super().__init__()
                modes = torch.overrides._get_current_function_mode_stack()
                if any(type(mode).__name__ == "DeviceContext" for mode in modes):
                    raise ValueError("Using a `torch.device` context manager requires accelerate")
                self.linear = nn.Linear(2, 2)
            """)
        self.assertEqual(model.linear.weight.shape, (2, 2))


class Call(CandidateCase):

    def call(self, body, *arguments):
        model = self.model(body)
        return module_host.call(model, list(arguments) or [torch.ones(2, 3, device="cuda")])

    def cause(self, result):
        return self.failure(self.call, f"def forward(self, x):\n    return {result}\n").cause

    def test_structures(self):
        for result, structure, count in (("x + 1", "tensor", 1), ("[x, x * 2]", "list", 2),
                                         ("(x,)", "tuple", 1), ("torch.max(x, 1)", "tuple", 2)):
            found = self.call(f"def forward(self, x):\n    return {result}\n")
            self.assertEqual((found[0], len(found[1])), (structure, count))

    def test_no_tensor(self):
        for result in ("None", "[x, None]", "{'y': x}", "3.0", "x.tolist()", "[[x]]"):
            self.assertEqual(self.cause(result), "not_a_tensor", result)

    def test_not_plain(self):
        self.assertEqual(self.cause("x.to_sparse()"), "not_plain")
        self.assertEqual(self.cause("torch._neg_view(x)"), "not_plain")
        self.assertEqual(self.cause("torch.complex(x, x).conj()"), "not_plain")
        self.assertEqual(self.cause("torch.nested.nested_tensor([x[0], x[1]])"), "not_plain")
        failure = self.failure(self.call, """
            class Lazy(torch.Tensor): pass
            def forward(self, x):
                return x.as_subclass(self.Lazy)
            """)
        self.assertEqual(failure.cause, "not_plain")
        self.assertIn("Lazy", str(failure))

    def test_elements_that_share_memory(self):
        self.assertEqual(self.cause("x[0].expand(2, 3)"), "overlapping")
        self.assertEqual(self.cause("torch.as_strided(x, (2, 3), (1, 1))"), "overlapping")
        for result in ("x[:, :2]", "x.t()", "x[:1, :, None].expand(1, 3, 1)", "x[:, :0]",
                       "x.sum()"):
            self.call(f"def forward(self, x):\n    return {result}\n")

    def test_on_the_host(self):
        self.assertEqual(self.cause("x.cpu()"), "wrong_device")
        self.assertEqual(self.cause("torch.zeros(2, 3)"), "wrong_device")

    def test_raises(self):
        failure = self.failure(self.call, "def forward(self, x):\n    return x @ x\n")
        self.assertEqual(failure.cause, "forward_raised")
        self.assertTrue(str(failure).startswith("mine.py:6: RuntimeError: "), str(failure))

    def test_raises_what_is_no_text(self):
        model = self.model("def forward(self, x):\n    raise ValueError('half \\udc80 a pair')\n")
        failure = self.failure(module_host.call, model, [1])
        cause, message, log = module_host.failure_of(failure)
        self.assertEqual((cause, message), ("forward_raised",
                                            "mine.py:6: ValueError: half \\udc80 a pair"))
        self.assertIn("half \\udc80 a pair", log)
        log.encode()

    def test_exits(self):
        self.assertEqual(self.cause("exit_now()"), "forward_raised")
        self.assertEqual(self.cause("__import__('sys').exit()"), "exits")

    def test_tensors_that_the_constructor_left_on_the_host(self):
        model = self.model("""
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(3, 3)
                self.packed = [self.linear.weight.detach().t().contiguous()]
                self.table = {"one": torch.ones(3)}
                self.factor = torch.tensor(2.0)
            def forward(self, x):
                return x @ self.packed[0] * self.table["one"] * self.factor
            """)
        before = model.packed[0]
        for _ in range(2):
            module_host.call(model, [torch.ones(2, 3, device="cuda")])
        self.assertEqual([t.is_cuda for t in (model.packed[0], model.table["one"], model.factor)],
                         [True, True, False])
        self.assertTrue(torch.equal(model.packed[0].cpu(), before))
        self.assertTrue(module_host.moved_host_tensors())

    def test_a_call_that_starts_again_finds_the_buffers_as_they_were(self):
        model = self.model("""
            def __init__(self):
                super().__init__()
                self.norm = nn.BatchNorm1d(3)
                self.register_buffer("seen", torch.zeros(1))
                self.register_buffer("last", torch.zeros(1))
                self.packed, self.steps = torch.ones(3), torch.zeros(1)
            def forward(self, x):
                self.seen += 1
                self.last = self.last + 1
                self.steps += 1
                return self.norm(x) * self.packed
            """)
        for buffer in model.buffers():
            buffer.zero_()
        kept = model_state.keep(model)
        for mean in (0.1, 0.19):
            module_host.call(model, [torch.ones(2, 3, device="cuda")])
            self.assertEqual(model.packed.is_cuda, True)
            calls = 1 + (mean > 0.1)
            self.assertEqual([t.item() for t in (model.seen, model.last, model.steps,
                                                 model.norm.num_batches_tracked)], [calls] * 4)
            self.assertAlmostEqual(model.norm.running_mean[0].item(), mean, 6)
        model_state.restore(kept)
        self.assertEqual([t.is_cuda for t in (model.packed, model.steps)], [True, True])
        module_host.call(model, [torch.ones(2, 3, device="cuda")])
        self.assertEqual((model.seen.item(), model.steps.item()), (1, 1))

    def test_what_fails_for_another_reason_is_called_once(self):
        for error in ("ValueError('not yet')", "AssertionError('3 columns')", "AssertionError()"):
            model = self.model(f"""
                def __init__(self):
                    super().__init__()
                    self.packed, self.calls = torch.ones(3), 0
                def forward(self, x):
                    self.calls += 1
                    if self.calls == 1:
                        raise {error}
                    return x + 1
                """)
            failure = self.failure(module_host.call, model, [torch.ones(2, 3, device="cuda")])
            self.assertEqual((failure.cause, model.calls), ("forward_raised", 1))
            self.assertFalse(model.packed.is_cuda)

    def test_an_assertion_without_a_text(self):
        for condition in ("self.packed.is_cuda", "self.packed.device == x.device"):
            model = self.model(f"""
                def __init__(self):
                    super().__init__()
                    self.packed = torch.ones(3)
                def forward(self, x):
                    assert {condition}
                    return x + self.packed
                """)
            module_host.call(model, [torch.ones(2, 3, device="cuda")])
            self.assertTrue(model.packed.is_cuda)

    def test_what_is_said_of_a_tensor_on_the_host(self):
        def speaks(text, cause="forward_raised"):
            failure = module_host.CandidateFailure(cause, text)
            failure.__cause__ = RuntimeError(text)
            return module_host.speaks_of_host(failure)

        for text in (
                "Expected all tensors to be on the same device, but got mat2 is on cpu, different "
                "from other tensors on cuda:0 (when checking argument in method wrapper_CUDA_mm)",
                "Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be "
                "the same", "Input type (CUDABFloat16Type) and weight type (CPUBFloat16Type) "
                "should be the same",
                "Pointer argument (at 0) cannot be accessed from Triton (cpu tensor?)",
                "Input and parameter tensors are not at the same device, found input tensor at "
                "cuda:0 and parameter tensor at cpu",
                "Unhandled FakeTensor Device Propagation for aten.mm.default, found two different "
                "devices cuda:0, cpu",
                "Could not run 'mine::scale' with arguments from the 'CPU' backend.",
                "Expected w.is_cuda() to be true, but got false.", "w must be a CUDA tensor",
                "weight must be a contiguous CUDA tensor", "w must be on the GPU",
                "bias should be on CUDA", "w is not on GPU", "only CUDA tensors are supported"):
            self.assertTrue(speaks(text), text)
            self.assertFalse(speaks(text, "out_of_memory"), text)
        for text in ("mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)", "not yet", "",
                     "expected scalar type Half but found Float", "x must be contiguous",
                     "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy "
                     "the tensor to host memory first."):
            self.assertFalse(speaks(text), text)

    def test_a_table_on_the_host_stays_there(self):
        model = self.model("""
            def __init__(self):
                super().__init__()
                self.sizes = torch.tensor([2, 3])
            def forward(self, x):
                return x.reshape(*self.sizes.numpy())
            """)
        module_host.call(model, [torch.ones(3, 2, device="cuda")])
        self.assertFalse(model.sizes.is_cuda)

    def test_another_signature(self):
        failure = self.failure(self.call, "def forward(self, x, y):\n    return x\n")
        self.assertEqual(failure.cause, "wrong_signature")

    def test_out_of_memory(self):
        self.assertEqual(self.cause("(_ for _ in ()).throw(MemoryError())"), "out_of_memory")


class Stateful(torch.nn.Module):
    """Attributes that share memory in each way."""

    def __init__(self):
        super().__init__()
        self.h = self.alias = torch.arange(6.0).reshape(2, 3)
        self.column, self.first, self.bits = self.h[:, 1], self.h[0, 0], self.h.view(torch.int32)
        self.kept = [self.h, (torch.ones(2), 7)]
        self.inner = torch.nn.Module()
        self.inner.table = {"kept": self.kept, "row": self.h[1]}
        self.kept.append(self.kept)
        self.alone, self.scalar, self.view = torch.ones(2), torch.tensor(2.0), torch.ones(3, 4)[:, 0]
        self.sizes = [3, 4]


class MoveHostTensors(unittest.TestCase):

    def test_what_is_one_on_the_host_is_one_on_the_device(self):
        for device in ("cuda", "meta"):
            model = Stateful()
            sizes = model.sizes
            self.assertTrue(model_setup.move_host_tensors(model, device))
            table = model.inner.table
            self.assertIs(model.h, model.alias)
            self.assertIs(model.h, model.kept[0])
            self.assertIs(table["kept"], model.kept)
            self.assertIs(model.kept[2], model.kept)
            self.assertIs(model.sizes, sizes)
            moved = (model.h, model.column, model.first, model.bits, table["row"], model.alone,
                     model.kept[1][0], model.view)
            self.assertEqual({tensor.device.type for tensor in moved}, {device})
            self.assertEqual(model.scalar.device.type, "cpu")
            self.assertEqual(len({tensor.untyped_storage()._cdata for tensor in moved[:5]}), 1)
            self.assertEqual(model.column.stride(), (3,))
            self.assertFalse(model_setup.move_host_tensors(model, device))

    def test_a_call_sees_in_one_what_it_wrote_to_the_other(self):
        model = Stateful()
        model_setup.move_host_tensors(model, "cuda")
        model.h.mul_(2)
        self.assertEqual((model.alias.tolist(), model.column.tolist(), model.first.item()),
                         ([[0, 2, 4], [6, 8, 10]], [2, 8], 0))
        self.assertEqual(model.inner.table["row"].tolist(), [6, 8, 10])
        self.assertEqual(model.bits.view(torch.float32).tolist(), model.h.tolist())

    def test_a_model_without_any_stays_as_it_is(self):
        model = torch.nn.BatchNorm1d(3)
        model.scalar = torch.tensor(2.0)
        self.assertFalse(model_setup.move_host_tensors(model, "cuda"))


class FreeMemory(unittest.TestCase):

    def found(self, snapshot):
        with mock.patch.object(module_host, "_memory_snapshot", snapshot):
            return module_host.free_memory()

    def test_is_what_lies_between_and_behind_what_is_in_use(self):
        blocks = [("active_allocated", 512), ("inactive", 1024), ("active_pending_free", 256),
                  ("inactive", 2048)]
        segments = [{"address": 4096, "blocks": [{"state": state, "size": size}
                                                 for state, size in blocks]},
                    {"address": 65536, "blocks": [{"state": "inactive", "size": 128}]}]
        free = [(4096 + 512, 1024), (4096 + 1792, 2048), (65536, 128)]
        self.assertEqual(self.found(lambda asked: {"segments": segments}), free)

        def older(asked):
            if asked is not None:
                raise TypeError("a pool is two numbers")
            return {"segments": segments}

        self.assertEqual(self.found(older), free)

    def test_is_not_known_of_another_allocator(self):
        snapshot = mock.Mock(side_effect=RuntimeError("does not support snapshots"))
        self.assertEqual(self.found(snapshot), [])

    def test_is_asked_of_torch_as_it_takes_the_question(self):
        self.assertEqual(module_host.free_memory(), [], "nothing was allocated on a GPU here")

    def test_nobody_hears_of_it(self):
        with mock.patch.object(torch.cuda, "memory_snapshot") as public:
            with mock.patch.object(torch._C, "_cuda_memorySnapshot", create=True) as private:
                module_host.free_memory()
        public.assert_not_called()
        private.assert_not_called()


if __name__ == "__main__":
    unittest.main()
