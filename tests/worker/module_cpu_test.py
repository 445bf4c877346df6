# SPDX-License-Identifier: MIT
"""What "cuda" means to a candidate on a machine without a GPU."""

import copy
import importlib
import os
import shutil
import sys
import tempfile
import unittest

import torch

from module_fixture import CandidateCase, module_host
from kbench_worker import module_cpu_libdevice


class Devices(CandidateCase):

    def setUp(self):
        super().setUp()
        self.x = torch.ones(2, 3, device="cuda")

    def test_a_tensor_says_where_it_counts_as(self):
        x = self.x
        self.assertEqual((x.is_cuda, x.is_cpu, x.device, x.get_device()),
                         (True, False, torch.device("cuda", 0), 0))
        self.assertEqual(x.type(), "torch.cuda.FloatTensor")
        host = torch.ones(2)
        self.assertEqual((host.is_cuda, host.is_cpu, host.device.type, host.get_device()),
                         (False, True, "cpu", -1))

    def test_ways_to_the_device(self):
        host = torch.ones(2, 3)
        moved = (host.cuda(), host.cuda(0, non_blocking=True), host.to("cuda"), host.to("cuda:0"),
                 host.to(torch.device("cuda")), host.to(device="cuda"), host.to(0),
                 host.to(self.x), host.to("cuda", torch.float16), host.pin_memory().cuda(),
                 torch.as_tensor(host, device="cuda"), torch.tensor([1.0], device="cuda"),
                 torch.empty_like(self.x), self.x.new_zeros(2), self.x + 1, self.x[0], self.x.t(),
                 torch.empty_like(host, device="cuda"), torch.cuda.FloatTensor([1.0]),
                 torch.zeros(3, device=torch.cuda.current_device()),
                 torch.arange(3, device=self.x.device))
        for i, tensor in enumerate(moved):
            self.assertTrue(tensor.is_cuda, i)
        self.assertFalse(host.is_cuda)

    def test_ways_to_the_host(self):
        moved = (self.x.cpu(), self.x.to("cpu"), torch.as_tensor(self.x, device="cpu"),
                 torch.zeros_like(self.x, device="cpu"), self.x.cpu()[0] + 1, torch.zeros(2),
                 self.x.cpu().new_zeros(2))
        for i, tensor in enumerate(moved):
            self.assertFalse(tensor.is_cuda, i)
        self.assertTrue(self.x.is_cuda)
        self.assertEqual(self.x.cpu().numpy().shape, (2, 3))
        self.assertRaises(TypeError, self.x.numpy)

    def test_what_is_made_without_a_device_lies_on_the_host_until_it_is_moved(self):
        class Own(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.plain = torch.nn.Parameter(torch.ones(3))
                self.old = torch.nn.Parameter(torch.Tensor(2, 3))
                self.lazy = torch.nn.LazyLinear(3)
                self.linear = torch.nn.Linear(3, 2)
                self.register_buffer("mean", torch.zeros(3))
                self.sum = self.plain + torch.ones(3)

        for move in (lambda model: model.to("cuda"), lambda model: model.cuda(),
                     lambda model: model.to(device="cuda", dtype=torch.float16)):
            model = Own()
            self.assertEqual(str(model.lazy.weight.device), "cpu")
            model.lazy(torch.ones(2, 4))
            tensors = lambda: [*model.parameters(), *model.buffers(), model.sum]
            self.assertEqual({str(tensor.device) for tensor in tensors()}, {"cpu"})
            move(model)
            self.assertEqual([str(tensor.device) for tensor in tensors()[:-1]], ["cuda:0"] * 7)
            self.assertEqual(str(tensors()[-1].device), "cpu")
        for made in (torch.nn.Parameter(), torch.nn.Parameter(self.x.cpu()), torch.Tensor([1.0]),
                     copy.deepcopy(torch.nn.Parameter(torch.ones(2))),
                     torch.frombuffer(bytearray(8), dtype=torch.float32),
                     torch.nn.ParameterList([torch.ones(3)])[0]):
            self.assertEqual(str(made.device), "cpu")

    def test_what_is_made_on_the_device_lies_there(self):
        with torch.device("cuda"):
            made = [torch.nn.Parameter(), torch.nn.Parameter(torch.ones(2)),
                    torch.nn.LazyLinear(3).weight, torch.nn.Linear(3, 2).weight]
            # It does not ask for the default device.
            self.assertEqual(str(torch.Tensor(2, 3).device), "cpu")
        made += [torch.nn.Parameter(self.x), torch.nn.Parameter(self.x, False),
                 copy.deepcopy(torch.nn.Parameter(self.x)),
                 torch.nn.LazyLinear(3, device="cuda").weight]
        for i, tensor in enumerate(made):
            self.assertEqual(str(tensor.device), "cuda:0", i)
            self.assertNotEqual(type(tensor), torch.Tensor)

    def test_modules(self):
        for model in (torch.nn.Linear(3, 2).cuda(), torch.nn.Linear(3, 2).to("cuda"),
                      torch.nn.Linear(3, 2).to(device="cuda", dtype=torch.float32),
                      torch.nn.Linear(3, 2, device="cuda")):
            self.assertTrue(model.weight.is_cuda)
            self.assertTrue(model(self.x).is_cuda)

    def test_default_device(self):
        with torch.device("cuda"):
            self.assertTrue(torch.zeros(2).is_cuda)
            self.assertFalse(torch.zeros(2, device="cpu").is_cuda)
        self.assertFalse(torch.zeros(2).is_cuda)
        torch.set_default_device("cuda")
        try:
            self.assertTrue(torch.zeros(2).is_cuda)
        finally:
            torch.set_default_device(None)

    def test_two_devices_do_not_mix(self):
        with self.assertRaisesRegex(RuntimeError, "at least two devices"):
            self.x + torch.ones(3)
        self.assertTrue((self.x * torch.tensor(2.0)).is_cuda)  # without dimensions they may
        self.x.copy_(torch.ones(2, 3))
        self.assertTrue(self.x[torch.tensor([0])].is_cuda)

    def test_another_gpu_is_not_there(self):
        for bad in (lambda: torch.zeros(1, device="cuda:1"), lambda: self.x.to(1),
                    lambda: self.x.cuda(3)):
            self.assertRaisesRegex(RuntimeError, "invalid device ordinal", bad)

    def test_threads_see_the_same(self):
        import threading
        seen = []
        thread = threading.Thread(target=lambda: seen.append(torch.ones(1, device="cuda").is_cuda))
        thread.start()
        thread.join()
        self.assertEqual(seen, [True])


class Cuda(CandidateCase):

    def test_questions(self):
        cuda = torch.cuda
        self.assertEqual((cuda.is_available(), cuda.device_count(), cuda.current_device()),
                         (True, 1, 0))
        self.assertEqual(cuda.get_device_capability(), (9, 0))
        self.assertEqual(cuda.get_device_properties("cuda").multi_processor_count, 16)
        self.assertIn("NVIDIA", cuda.get_device_name(torch.device("cuda:0")))
        self.assertEqual(cuda.memory_allocated(), 0)
        self.assertGreater(cuda.mem_get_info()[0], 0)

    def test_streams_and_events(self):
        cuda = torch.cuda
        stream, start, end = cuda.Stream(), cuda.Event(enable_timing=True), cuda.Event(True)
        with cuda.stream(stream):
            self.assertIs(cuda.current_stream(), stream)
            start.record()
            stream.wait_stream(cuda.default_stream())
            end.record(stream)
        self.assertIsNot(cuda.current_stream(), stream)
        cuda.synchronize()
        self.assertGreaterEqual(start.elapsed_time(end), 0)
        with cuda.device(0), stream:
            torch.ones(1, device="cuda").record_stream(stream)

    def test_random_numbers(self):
        torch.cuda.manual_seed(3)
        first = torch.rand(2, device="cuda").tolist()
        torch.cuda.manual_seed_all(3)
        self.assertEqual(torch.rand(2, device="cuda").tolist(), first)
        generator = torch.Generator(device="cuda").manual_seed(3)
        self.assertEqual(torch.rand(2, device="cuda", generator=generator).tolist(), first)

    def test_autocast(self):
        x, linear = torch.ones(2, 3, device="cuda"), torch.nn.Linear(3, 2).cuda()
        with torch.autocast("cuda"):
            self.assertEqual(linear(x).dtype, torch.float16)
            self.assertTrue(torch.is_autocast_enabled())
        with torch.autocast(device_type="cuda", dtype=torch.bfloat16):
            self.assertEqual(linear(x).dtype, torch.bfloat16)

    def test_what_cannot_be_done_has_a_name(self):
        for body, feature in (("torch.cuda.CUDAGraph()", "torch.cuda.CUDAGraph"),
                              ("torch.cuda.graph(None)", "torch.cuda.graph"),
                              ("torch.cuda.cudart()", "torch.cuda.cudart")):
            model = self.model(f"def forward(self, x):\n    return {body}\n")
            failure = self.failure(module_host.call, model, [1])
            self.assertEqual(failure.cause, "unsupported")
            self.assertIn(f"mine.py:6: {feature} cannot be run without a GPU", str(failure))

    def test_operators_that_the_cpu_lacks(self):
        model = self.model("""
            def forward(self, x):
                return torch.ops.aten._cudnn_rnn_flatten_weight([x], 1, 1, 2, 3, 4, 1, False, False)
            """)
        failure = self.failure(module_host.call, model, [torch.ones(2, device="cuda")])
        self.assertEqual(failure.cause, "unsupported")
        self.assertIn("aten::_cudnn_rnn_flatten_weight", str(failure))

    def test_recurrent_layers(self):
        lstm = torch.nn.LSTM(3, 4, num_layers=2, batch_first=True).cuda()
        self.assertTrue(lstm(torch.ones(1, 5, 3, device="cuda"))[0].is_cuda)

    def test_a_named_attention_kernel(self):
        from torch.nn.attention import SDPBackend, sdpa_kernel
        q = torch.ones(1, 2, 4, 8, device="cuda")
        with sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION):
            out = torch.nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True)
        self.assertEqual(out.shape, q.shape)

    def test_compilers_give_back_what_they_get(self):
        model = self.model("""
            def __init__(self):
                super().__init__()
                self.inner = torch.compile(nn.Linear(3, 2), mode="max-autotune")
            @torch.compile
            def forward(self, x):
                return self.inner(x)
            """)
        _, (y,) = module_host.call(model, [torch.ones(2, 3, device="cuda")])
        self.assertEqual(y.shape, (2, 2))
        self.assertIn("torch.compile ran eagerly", module_host.flags())

    def test_operators_registered_for_cuda(self):
        @torch.library.custom_op("kbench_test::twice", mutates_args=(), device_types="cuda")
        def twice(x: torch.Tensor) -> torch.Tensor:
            return x * 2

        self.assertEqual(twice(torch.ones(1, device="cuda")).tolist(), [2])


class Libdevice(unittest.TestCase):

    def test_symbols_of_each_form(self):
        import numpy
        x, i = numpy.array([1.5, -2.5], dtype="f4"), numpy.array([8, -1], dtype="i4")
        for symbol, arguments, expected in (
                ("__nv_fadd_rn", (x, x), [3, -5]), ("__nv_fmaf_rn", (x, x, x), [3.75, 3.75]),
                ("__nv_frcp_rn", (x,), [1 / 1.5, -0.4]), ("__nv_fabsf", (x,), [1.5, 2.5]),
                ("__nv_roundf", (x,), [2, -3]), ("__nv_rintf", (x,), [2, -2]),
                ("__nv_int2float_rn", (i,), [8, -1]), ("__nv_popc", (i,), [1, 32]),
                ("__nv_clz", (i,), [28, 0]), ("__nv_ffs", (i,), [4, 1]),
                ("__nv_float2int_rz", (x, (-2**31, 2**31 - 1)), [1, -2]),
                ("__nv_normcdff", (numpy.zeros(1, dtype="f4"),), [0.5])):
            found = module_cpu_libdevice._function(symbol)(*arguments)
            numpy.testing.assert_allclose(found, expected, rtol=1e-6, err_msg=symbol)
        self.assertIsNone(module_cpu_libdevice._function("__nv_byte_perm"))


_TRITON = """
import torch, triton
import triton.language as tl
from triton.language.extra import libdevice

@triton.autotune(configs=[triton.Config({"B": 64}, num_warps=2), triton.Config({"B": 128})],
                 key=["n"])
@triton.jit
def kernel(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    total = 0
    for start in range(0, n, B):
        total += 1
    tl.store(y + i, BODY, mask=i < n)

class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        kernel[lambda meta: (triton.cdiv(x.numel(), meta["B"]),)](x, y, x.numel())
        return y
"""


class Triton(CandidateCase):

    def run_kernel(self, body, x):
        module = self.load(_TRITON.replace("BODY", body))
        model = module_host.build_model(module, [], "cpu", "native", 1)
        return module_host.call(model, [x])[1][0]

    def test_interpreted(self):
        x = torch.randn(7, 100, device="cuda")
        y = self.run_kernel("tl.sigmoid(v) + tl.max(v, axis=0) * 0", x)
        self.assertTrue(torch.allclose(y, x.sigmoid()))

    def test_loops_over_arguments_and_libdevice(self):
        body = ("tl.extra.cuda.libdevice.tanh(v) + libdevice.erf(v) + libdevice.round(v)"
                " + libdevice.float2int_rz(v) + total - tl.cdiv(n, B)")
        x = torch.randn(100, device="cuda")
        y = self.run_kernel(body, x)
        rounded = torch.sign(x) * torch.floor(x.abs() + 0.5)
        self.assertTrue(torch.allclose(y, x.tanh() + x.erf() + rounded + x.trunc()))

    def test_what_the_interpreter_lacks_has_a_name(self):
        body = 'tl.inline_asm_elementwise("", "=r,r", [v], tl.float32, True, 1)'
        failure = self.failure(self.run_kernel, body, torch.ones(3, device="cuda"))
        self.assertEqual(failure.cause, "unsupported")
        self.assertIn("inline_asm", str(failure))

    def test_what_a_kernel_raises_is_its_own(self):
        for error in ("NotImplementedError('no such thing')",
                      "AttributeError('InterpreterBuilder')"):
            body = f"(_ for _ in ()).throw({error})"
            failure = self.failure(self.run_kernel, body, torch.ones(3, device="cuda"))
            self.assertEqual(failure.cause, "forward_raised", str(failure))

    def test_tensors_of_the_host_are_refused(self):
        failure = self.failure(self.run_kernel, "v", torch.ones(3))
        self.assertIn("cannot be accessed from Triton", str(failure))

    def test_a_fault_has_the_kernels_line(self):
        failure = self.failure(self.run_kernel, "v + nothing", torch.ones(3, device="cuda"))
        self.assertTrue(str(failure).startswith("mine.py:14: "), str(failure))


class Packages(CandidateCase):
    """Ones that reach a GPU without torch; their files would fail if they were ever run."""

    def setUp(self):
        super().setUp()
        folder = tempfile.mkdtemp(prefix="kbench-packages-")
        self.addCleanup(shutil.rmtree, folder)
        for name in ("cupy", "cuda/core", "pycuda"):
            os.makedirs(os.path.join(folder, name))
            with open(os.path.join(folder, name, "__init__.py"), "w", encoding="utf-8") as file:
                file.write("raise OSError('no driver')\n")
        sys.path.insert(0, folder)
        self.addCleanup(sys.path.remove, folder)
        self.addCleanup(self.forget)
        self.forget()

    @staticmethod
    def forget():
        importlib.invalidate_caches()
        for name in list(sys.modules):
            if name.partition(".")[0] in ("cupy", "cuda", "pycuda"):
                del sys.modules[name]

    def test_can_be_imported_and_named(self):
        module = self.load("""
            import cupy as cp
            from cupy.cuda import Stream
            from cuda.core import Device
            from cuda.core.experimental import Program, ProgramOptions
            def add(x: cp.ndarray) -> cp.ndarray: ...
            is_array = isinstance(3, cp.ndarray)
            class ModelNew: pass
            """)
        self.assertFalse(module.is_array)

    def test_what_is_used_is_refused_by_name(self):
        for head, use, name in (
                ("import cupy", "cupy.RawKernel('code', 'k')", "cupy.RawKernel"),
                ("import cupy as cp", "cp.cuda.Stream()", "cupy.cuda.Stream"),
                ("from cupy import RawModule", "RawModule(code='')", "cupy.RawModule"),
                ("import cupy", "@cupy.fuse\ndef f(x): pass", "cupy.fuse"),
                ("import cupy", "with cupy.cuda.Device(0): pass", "cupy.cuda.Device"),
                ("import cupy", "class K(cupy.ElementwiseKernel): pass", "cupy.ElementwiseKernel"),
                ("from cuda.core import Device", "Device()", "cuda.core.Device"),
                ("from cuda.core.experimental import Program", "Program('', 'c++')",
                 "cuda.core.experimental.Program"),
                ("import pycuda.autoinit, pycuda.driver", "pycuda.driver.mem_alloc(4)",
                 "pycuda.driver.mem_alloc")):
            failure = self.failure(self.load, f"{head}\n{use}\n")
            self.assertEqual(failure.cause, "unsupported", use)
            self.assertEqual(str(failure), f"mine.py:2: {name} cannot be run without a GPU")

    def test_another_way_may_be_taken(self):
        module = self.load("""
            try:
                import cupy
                kernel = cupy.RawKernel("code", "k")
            except Exception:
                kernel = None
            class ModelNew: pass
            """)
        self.assertIsNone(module.kernel)

    def test_what_is_not_installed_is_said_to_be_so(self):
        failure = self.failure(self.load, "import cupyx.jit\n")
        self.assertEqual(str(failure), "mine.py:1: the package cupyx is not installed")
        failure = self.failure(self.load, "from cuda.tile import kernel\n")
        self.assertIn("package cuda", str(failure))


if __name__ == "__main__":
    unittest.main()
