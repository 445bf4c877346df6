# SPDX-License-Identifier: MIT
"""What load_inline, load and _compile_kernel ask for."""

import os
import re
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock

import torch

from module_fixture import Builds, CandidateCase, module_extension, module_host
from kbench_worker import module_includes

_TAIL = """
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return ext.f(x)
"""
_HEAD = "import torch\nfrom torch.utils.cpp_extension import load_inline, load\n"


def _doubling(request):
    module = types.ModuleType(request["name"])
    module.f = lambda x: x * 2
    return module


class Requests(CandidateCase):

    def request(self, call):
        self.load(f"{_HEAD}ext = {call}\n{_TAIL}", Builds(_doubling))
        self.assertEqual(len(self.builds.requests), 1)
        return self.builds.requests[0]

    def test_all_of_an_inline_request(self):
        request = self.request(
            "load_inline(name='e', cpp_sources='c', cuda_sources=['a', 'b'], functions=['f', 'g'],"
            " verbose=True, extra_cflags=['-O3'], extra_cuda_cflags=['-use_fast_math'],"
            " extra_ldflags=['-lm'], extra_include_paths=['/inc'], build_directory='/nowhere')")
        self.assertEqual(request, {
            "kind": "inline", "name": "e", "cpp_sources": ["c"], "cuda_sources": ["a", "b"],
            "cpp_files": [""], "cuda_files": ["", ""], "functions": {"f": "f", "g": "g"},
            "extra_cflags": ["-O3"], "extra_cuda_cflags": ["-use_fast_math"],
            "extra_ldflags": ["-lm"], "extra_include_paths": ["/inc"], "with_cuda": True,
            "with_pytorch_error_handling": True, "no_implicit_headers": False,
            "is_python_module": True})

    def test_functions_in_each_form(self):
        for form, functions in (("'f'", {"f": "f"}), ("['f']", {"f": "f"}),
                                ("{'f': 'doc'}", {"f": "doc"}), ("None", None)):
            self.assertEqual(self.request(f"load_inline('e', 'c', functions={form})")["functions"],
                             functions)

    def test_functions_of_another_form(self):
        failure = self.failure(self.load, f"{_HEAD}load_inline('e', 'c', functions=('f',))\n")
        self.assertEqual(failure.cause, "import_failed")
        self.assertIn("mine.py:3: ValueError: Expected 'functions'", str(failure))

    def test_by_position(self):
        request = self.request("load_inline('e', ['c'], 'a', None, 'f')")
        self.assertEqual((request["cpp_sources"], request["cuda_sources"], request["functions"]),
                         (["c"], ["a"], {"f": "f"}))

    def test_an_argument_that_torch_does_not_know(self):
        failure = self.failure(self.load, f"{_HEAD}load_inline('e', 'c', sources=['x'])\n")
        self.assertIn("TypeError", str(failure))

    def test_sources_of_another_type(self):
        for value in ("None", "3", "('c',)", "[None]"):
            failure = self.failure(self.load, f"{_HEAD}load_inline('e', {value})\n")
            self.assertIn("TypeError", str(failure))

    def test_under_every_name(self):
        for call in ("torch.utils.cpp_extension.load_inline", "cpp.load_inline", "later()"):
            self.load("import torch\nimport torch.utils.cpp_extension as cpp\n"
                      "def later():\n    from torch.utils.cpp_extension import load_inline\n"
                      f"    return load_inline\next = ({call})('e', 'c')\n{_TAIL}")
            self.assertEqual(self.builds.requests[-1]["name"], "e")

    def test_files(self):
        self.load(f"""
{_HEAD}
import os
here = os.path.dirname(__file__)
for name, text in (("a.cu", "device"), ("b.cpp", "host")):
    with open(os.path.join(here, name), "w") as file:
        file.write(text)
ext = load("e", [os.path.join(here, name) for name in ("a.cu", "b.cpp")])
{_TAIL}""")
        request = self.builds.requests[0]
        self.assertEqual((request["kind"], request["with_cuda"]), ("files", True))
        self.assertEqual((request["cpp_sources"], request["cuda_sources"]), (["host"], ["device"]))
        self.assertEqual(request["cuda_files"], ["a.cu"])

    def test_headers_of_its_own_are_put_in_place(self):
        for name, text in (("k.cuh", '#pragma once\n#include "in/a.h"\nkernel\n'),
                           ("in/a.h", '#ifndef A\n#define A\n#include "../k.cuh"\ndeep\n#endif'),
                           ("m.cu", 'first\n# include "k.cuh" // why\n#include <a.h>\n'
                                    '#include <cuda.h>\n#include "none.h"\nlast\n')):
            path = os.path.join(self.folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        request = self.request("load('e', ['m.cu'], extra_include_paths=['in', '/opt/x'])")
        self.assertEqual(request["extra_include_paths"], ["/opt/x"])
        text = request["cuda_sources"][0]
        compiled = subprocess.run(["cpp", "-P", "-DNOTHING"], check=True, capture_output=True,
                                  input=re.sub(r"#include.*", "", text), text=True).stdout
        self.assertEqual(compiled.split(), ["first", "deep", "kernel", "last"])
        self.assertIn('#include <cuda.h>\n#include "none.h"\nlast', text)
        self.assertIn('#line 3 "m.cu"\n', text)
        self.assertIn('#line 1 "in/a.h"\n', text)
        inline = self.request("load_inline('e', '', '\\n#include \"in/a.h\"\\nhere')")
        self.assertIn('#line 3 "cuda_sources[0]"\nhere', inline["cuda_sources"][0])

    def test_headers_without_end_and_outside(self):
        os.symlink("/etc/hostname", os.path.join(self.folder, "link.h"))
        with open(os.path.join(self.folder, "self.h"), "w", encoding="utf-8") as file:
            file.write('#include "self.h"\n#include "self.h"\n')
        for header in ("link.h", "/etc/hostname", "../" * 20 + "etc/hostname"):
            request = self.request(f"load_inline('e', '', '#include \"{header}\"')")
            self.assertEqual(request["cuda_sources"], [f'#include "{header}"'])
        request = self.request("load_inline('e', '', '#include \"self.h\"')")
        self.assertLess(len(request["cuda_sources"][0]), 16 << 20)

    def test_files_among_temporary_ones_are_its_own(self):
        with tempfile.TemporaryDirectory() as base, \
                unittest.mock.patch.object(module_includes, "_TEMPORARY", (os.path.realpath(base),)):
            base = os.path.realpath(base)
            for name, text in (("k.cu", '#include "k.h"\n#include <a.h>\n'), ("k.h", "beside\n"),
                               ("in/a.h", "in a path\n")):
                path = os.path.join(base, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            request = self.request(f"load('e', ['{base}/k.cu'], extra_include_paths=['{base}/in'])")
        text = request["cuda_sources"][0]
        self.assertIn("beside\n", text)
        self.assertIn("in a path\n", text)
        self.assertEqual(request["extra_include_paths"], [])
        # Python's packages may be there, too: their headers are the compiler's to find.
        with unittest.mock.patch.object(module_includes, "_TEMPORARY", (os.path.realpath(sys.prefix),)):
            include = os.path.join(os.path.realpath(sys.prefix), "include")
            request = self.request(f"load_inline('f', '', 'x', extra_include_paths=['{include}'])")
        self.assertEqual(request["extra_include_paths"], [include])

    def test_files_that_are_not_there(self):
        failure = self.failure(self.load, f"{_HEAD}load('e', ['/no/such.cu'])\n")
        self.assertEqual(failure.cause, "missing_file")

    def test_files_beside_the_candidate(self):
        os.mkdir(os.path.join(self.folder, "csrc"))
        for name in ("a.cu", "csrc/b.cpp"):
            with open(os.path.join(self.folder, name), "w") as file:
                file.write(name)
        self.load(f"{_HEAD}ext = load('e', ['a.cu', './csrc/b.cpp'])\n{_TAIL}")
        request = self.builds.requests[0]
        self.assertEqual((request["cpp_sources"], request["cuda_sources"]),
                         (["csrc/b.cpp"], ["a.cu"]))
        failure = self.failure(self.load, f"{_HEAD}load('e', ['c.cu'])\n")
        self.assertEqual(failure.cause, "missing_file")
        self.assertIn("c.cu does not exist in the candidate's folder", str(failure))

    def test_files_outside_of_its_folder(self):
        for path in ("'../a.cu'", "'csrc/../../a.cu'",
                     "os.path.join(os.path.dirname(__file__), '..', 'a.cu')"):
            failure = self.failure(self.load, f"import os\n{_HEAD}load('e', [{path}])\n")
            self.assertEqual(failure.cause, "outside_folder")
            self.assertIn("../a.cu is outside of the candidate's folder", str(failure))

    def test_names_that_are_no_identifiers(self):
        for name in ("my ext", "e'", 'e"', "e\nf", "../x", "", "é", "x" * 300, "1e"):
            failure = self.failure(self.load, f"{_HEAD}load_inline({name!r}, 'c')\n{_TAIL}")
            self.assertEqual(failure.cause, "bad_extension_name", name)
            self.assertNotIn("\n", str(failure))
        self.assertEqual(self.builds.requests, [])
        failure = self.failure(self.load, f"{_HEAD}load_inline(3, 'c')\n{_TAIL}")
        self.assertIn("must be a string", str(failure))

    def test_cuda_home_can_be_named(self):
        self.load("import os, torch\nfrom torch.utils.cpp_extension import CUDA_HOME\n"
                  f"path = os.path.join(CUDA_HOME, 'include')\nclass ModelNew: pass\n")


class Results(CandidateCase):

    def model(self, source, builds):
        module = self.load(source, builds)
        return module_host.build_model(module, [], "cpu", "native", 1)

    def test_the_module_is_called(self):
        model = self.model(f"{_HEAD}ext = load_inline('e', 'c')\n{_TAIL}", Builds(_doubling))
        _, outputs = module_host.call(model, [torch.ones(2, device="cuda")])
        self.assertEqual(outputs[0].tolist(), [2, 2])

    def test_equal_names(self):
        self.load(f"{_HEAD}a = load_inline('e', 'c')\nb = load_inline('e', 'c')\n"
                  f"ext = load_inline('e', 'd')\n{_TAIL}same = a is b\n", Builds(_doubling))
        self.assertEqual([r["name"] for r in self.builds.requests], ["e", "e_v1"])

    def test_does_not_compile(self):
        failure = self.failure(self.load, f"{_HEAD}ext = load_inline('e', 'c')\n{_TAIL}",
                               Builds(ValueError("line 3: error: no semicolon")))
        self.assertEqual(failure.cause, "build_failed")
        self.assertIn("mine.py:3: Error building extension 'e': line 3: error: no semicolon",
                      str(failure))

    def test_a_long_log_is_one_sentence_and_a_cause_is_kept(self):
        log = "In file included from a.h\ncuda.cu:3:1: error: no semicolon\nmore\n"
        failure = self.failure(self.load, f"{_HEAD}ext = load_inline('e', 'c')\n{_TAIL}",
                               Builds(module_extension.BuildFailure("no_compiler", log)))
        self.assertEqual((failure.cause, str(failure)), (
            "no_compiler",
            "mine.py:3: Error building extension 'e': cuda.cu:3:1: error: no semicolon"))
        self.assertIn("more", failure.log)

    def test_a_candidate_may_catch_it_and_go_on(self):
        module = self.load(f"""
{_HEAD}
try:
    ext = load_inline("e", "c")
except RuntimeError as error:
    text = str(error)
{_TAIL}""", Builds(ValueError("no semicolon")))
        self.assertEqual(module.text, "Error building extension 'e': no semicolon")

    def test_another_error_after_it_is_the_build_too(self):
        failure = self.failure(self.load, f"{_HEAD}try:\n    load_inline('e', 'c')\n"
                               "except Exception as e:\n    raise ValueError('bad')\n",
                               Builds(ValueError("no semicolon")))
        self.assertEqual(failure.cause, "build_failed")


class Kernels(CandidateCase):

    def run_kernel(self, call, builds, head=""):
        module = self.load(f"""
import torch
kernel = torch.cuda._compile_kernel("source", "k", nvcc_options=["-O3"])
{head}
class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        kernel({call})
        return y
""", builds)
        model = module_host.build_model(module, [], "cpu", "native", 1)
        return module_host.call(model, [torch.ones(2, device="cuda")])

    def test_launch(self):
        launches = []
        builds = Builds(lambda request: lambda *arguments: launches.append(arguments))
        _, (y,) = self.run_kernel("(1, 2, 3), (32, 1, 1), [x, y, 2**32 + 5, 1.5, True]", builds)
        request = builds.requests[0]
        self.assertEqual((request["kind"], request["name"], request["source"],
                          request["extra_cuda_cflags"][0]), ("kernel", "k", "source", "-O3"))
        self.assertIn("-D__CUDA_NO_HALF_OPERATORS__", request["extra_cuda_cflags"])
        grid, block, arguments, shared = launches[0]
        self.assertEqual((grid, block, shared), ([1, 2, 3], [32, 1, 1], 0))
        self.assertEqual(arguments[1], ("pointer", y.data_ptr()))
        self.assertEqual(arguments[2:], [("int32", 5), ("float64", 1.5), ("int32", 1)])

    def test_much_shared_memory_has_to_be_asked_for(self):
        builds = Builds(lambda request: lambda *arguments: None)
        call = "(1, 1, 1), (32, 1, 1), [y], 65536"
        self.assertEqual(self.failure(self.run_kernel, call, builds).cause, "forward_raised")
        self.run_kernel(call, builds, "kernel.set_shared_memory_config(65536)")

    def test_arguments_of_the_host(self):
        builds = Builds(lambda request: lambda *arguments: None)
        call = "(1, 1, 1), (32, 1, 1), ['text']"
        self.assertIn("TypeError", str(self.failure(self.run_kernel, call, builds)))

    def test_every_argument(self):
        builds = Builds(lambda request: lambda *arguments: None)
        self.run_kernel("grid=(1, 1, 1), block=(8, 1, 1), args=[], shared_mem=16, "
                        "stream=torch.cuda.current_stream()", builds,
                        "kernel = torch.cuda._compile_kernel('text', kernel_name='k<4>', "
                        "compute_capability='90', cuda_include_dirs=['/a/b'], nvcc_options=[])")
        request = builds.requests[1]
        self.assertEqual((request["name"], request["source"], request["extra_include_paths"]),
                         ("k<4>", "text", ["/a/b"]))

    def test_for_another_device(self):
        failure = self.failure(
            self.run_kernel, "", Builds(lambda request: None),
            "torch.cuda._compile_kernel('text', 'k', compute_capability='80')")
        self.assertEqual(failure.cause, "cuda_error")
        self.assertIn("the kernel is for 80, the device has 90", str(failure))

    def test_a_header_comes_first(self):
        request = module_extension._compile_kernel_request(
            {"kernel_name": "k", "kernel_source": "text", "header_code": "#define A"}, "/c")
        self.assertEqual(request["source"], "#define A\ntext")

    def test_own_headers_are_put_in_place_and_those_outside_are_not(self):
        with tempfile.TemporaryDirectory() as base, \
                unittest.mock.patch.object(module_includes, "_TEMPORARY", ()):
            folder = os.path.join(os.path.realpath(base), "own")
            for name in ("own/in/a.h", "out/b.h"):
                path = os.path.join(os.path.dirname(folder), name)
                os.makedirs(os.path.dirname(path))
                with open(path, "w", encoding="utf-8") as file:
                    file.write("int deep;\n")
            outside = os.path.join(os.path.dirname(folder), "out")
            request = module_extension._compile_kernel_request(
                {"kernel_name": "k", "kernel_source": "#include <a.h>\n#include <b.h>\nlast",
                 "cuda_include_dirs": ["in", "../out"]}, folder)
        self.assertEqual(request["source"], '#line 1 "in/a.h"\nint deep;\n\n'
                         '#line 2 "kernel_source"\n#include <b.h>\nlast')
        self.assertEqual(request["extra_include_paths"], [outside])

    def test_torchs_own_way_is_named(self):
        for name in ("_cuda_load_module", "_nvrtc_compile"):
            failure = self.failure(self.load, f"""
                from torch.cuda._utils import {name}
                {name}("text", "k")
                """)
            self.assertEqual(failure.cause, "unsupported")
            self.assertIn(f"torch.cuda._utils.{name}", str(failure))

    def test_does_not_compile(self):
        failure = self.failure(self.run_kernel, "", Builds(ValueError("k.cu(1): error")))
        self.assertEqual(failure.cause, "build_failed")

    def test_no_more_shared_memory_than_there_is(self):
        builds = Builds(lambda request: lambda *arguments: None)
        failure = self.failure(self.run_kernel, "", builds,
                               "kernel.set_shared_memory_config(300000)")
        self.assertIn("exceeds device limit (232448 bytes)", str(failure))

    def test_dry_import(self):
        self.assert_stops(self.run_kernel, "(1, 1, 1), (32, 1, 1), [x, y]", Builds())


if __name__ == "__main__":
    unittest.main()
