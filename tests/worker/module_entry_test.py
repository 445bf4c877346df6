# SPDX-License-Identifier: MIT
"""Which function of an extension is called, and with which arguments."""

import unittest

import module_fixture  # noqa: F401  (makes kbench_worker importable)
from kbench_worker import module_entry


def bound(*names, variable="m"):
    lines = "".join(f'  {variable}.def("{name}", &{name}_cuda, "text");\n' for name in names)
    return (f"// m.def(\"commented\", &f);\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, {variable}) {{\n"
            f"{lines}}}\n")


def defined(*names):
    return "".join(f"torch::Tensor {name}(torch::Tensor x) {{ return x; }}\n" for name in names)


class EntryTest(unittest.TestCase):

    def entry(self, source, asked=""):
        name, sentence = module_entry.entry_of(source, asked)
        self.assertEqual(bool(name), not sentence)
        return name or sentence

    def test_forward_goes_first(self):
        self.assertEqual(self.entry(bound("relu", "forward")), "forward")
        self.assertEqual(self.entry(defined("helper", "forward")), "forward")

    def test_the_only_one_that_is_bound(self):
        self.assertEqual(self.entry(bound("relu")), "relu")
        self.assertEqual(self.entry(bound("relu", variable="module")), "relu")

    def test_several_and_no_forward_need_a_word(self):
        sentence = self.entry(bound("relu", "scale"))
        self.assertIn("no function forward; it binds relu, scale: choose one with --entry NAME",
                      sentence)
        self.assertIn("it defines relu: choose one with --entry NAME", self.entry(defined("relu")))

    def test_the_one_asked_for(self):
        self.assertEqual(self.entry(bound("relu", "forward"), "relu"), "relu")
        self.assertEqual(self.entry(defined("relu", "forward"), "relu"), "relu")
        self.assertEqual(self.entry("std::vector<at::Tensor> both(int n) {}", "both"), "both")

    def test_a_wrong_name_says_which_there_are(self):
        self.assertEqual(self.entry(bound("relu", "forward"), "gelu"),
                         "binds no function gelu; it binds relu, forward")
        self.assertEqual(self.entry(defined("relu"), "gelu"),
                         "defines no function gelu; it defines relu")
        many = self.entry(bound(*(f"f{i}" for i in range(30))), "gelu")
        self.assertTrue(many.endswith("f9, …"), many)

    def test_what_cannot_be_read_is_left_to_the_compiler(self):
        hidden = "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { BIND_ALL(m) }"
        self.assertEqual(self.entry(hidden), "forward")
        self.assertEqual(self.entry(hidden, "relu"), "relu")
        self.assertEqual(self.entry("auto relu(at::Tensor x) { return x; }", "relu"), "relu")

    def test_other_forms_of_the_function_are_left_to_the_compiler(self):
        helper = defined("helper")
        for form in ("Tensor forward(Tensor x) { return x; }",
                     "auto forward(torch::Tensor x) -> torch::Tensor { return x; }",
                     "std::pair<torch::Tensor, torch::Tensor> forward(torch::Tensor x) {}",
                     "torch::Tensor& forward(torch::Tensor& x) { return x; }"):
            self.assertEqual(self.entry(helper + form), "forward", form)
        self.assertIn("no function forward", self.entry(helper + "// forward(x)"))
        macro = 'PYBIND11_MODULE(a, m) { m.def("helper", &h); m.def(NAME, &forward); }'
        self.assertEqual(self.entry(macro), "forward")

    def test_a_binding_in_a_comment_is_none(self):
        source = "// PYBIND11_MODULE is added\n" + defined("forward")
        self.assertIn('m.def("forward"', module_entry.request_of(source, "forward")["cuda_sources"][0])

    def test_arguments_are_those_of_the_bound_function(self):
        source = ("torch::Tensor relu_cuda(torch::Tensor x, const at::Tensor& bn_weight = {}) {}\n"
                  + bound("relu"))
        self.assertEqual(module_entry.argument_names(source, "relu"), ["x", "bn_weight"])


if __name__ == "__main__":
    unittest.main()
