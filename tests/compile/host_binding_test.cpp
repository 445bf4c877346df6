// SPDX-License-Identifier: MIT
// With GCC, host halves that can do without pybind11's headers: Python has to see no difference.
#include <gmock/gmock.h>

#include <algorithm>

#include "compile/host_fixture.hpp"

namespace kbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// By these words a text asks for pybind11 itself.
constexpr const char* kWithPybind = "\n// py::\n";

class HostBinding : public HostCompileTest {
 protected:
  void SetUp() override {
    HostCompileTest::SetUp();
    if (IsSkipped()) return;
    const auto found = find_host_compilers(named_compilers());
    const auto gcc = std::ranges::find(found, false, &FoundCompiler::is_clang);
    if (gcc == found.end()) GTEST_SKIP() << "only GCC has the light headers";
    compilers_ = {gcc->path};
  }

  static HostRequest binding(const std::string& text, const std::vector<std::string>& names) {
    HostRequest asked = request(text, "");
    asked.functions->clear();
    for (const std::string& name : names) asked.functions->push_back({name, "says " + name});
    return asked;
  }
  static HostRequest own_module(const std::string& text) {
    HostRequest asked = request(text, "");
    asked.functions.reset();
    return asked;
  }

  /// What the script prints with the light headers, which have to do; with pybind11's it has to
  /// print the same.
  std::string same_output(HostRequest asked, const std::string& calls) const {
    const std::string script = R"(
import warnings
def said(call):
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        try:
            print(repr(call()))
        except Exception as error:
            print(type(error).__name__, error)
    for note in noted: print(note.category.__name__, str(note.message).split(" (Triggered")[0])
)" + calls;
    const HostModule light = must_compile(asked);
    EXPECT_THAT(light.way, HasSubstr("light"));
    std::string output = run_python(light, script);
    asked.cpp_sources.front().text += kWithPybind;
    const HostModule usual = must_compile(asked);
    EXPECT_THAT(usual.way, Not(HasSubstr("light")));
    EXPECT_EQ(output, run_python(usual, script));
    return output;
  }
};

TEST_F(HostBinding, NumbersAndWordsComeAndGoAsWithPybind) {
  const std::string output = same_output(
      binding("#include <torch/extension.h>\n"
              "std::string numbers(bool b, int i, int64_t l, long long ll, float f, double d) {\n"
              "  std::ostringstream text;\n"
              "  text << b << ' ' << i << ' ' << l << ' ' << ll << ' ' << f << ' ' << d;\n"
              "  return text.str();\n}\n"
              "size_t sizes(unsigned u, size_t s, uint8_t c, int16_t h) { return u + s + c + h; }\n"
              "double length(const std::string& text, std::optional<double> more,\n"
              "              std::optional<int64_t> most) {\n"
              "  return text.size() + more.value_or(0.5) + most.value_or(100);\n}\n"
              "float halved(float x) { return x / 2; }\n"
              "bool no(const bool& x) { return !x; }\n"
              "void nothing() {}\n",
              {"numbers", "sizes", "length", "halved", "no", "nothing"}),
      R"(
said(lambda: m.numbers(True, -1, 2**40, -2**40, 1, 2))
said(lambda: m.numbers(1, 1, 1, 1, 1.5, 2.5))
said(lambda: m.numbers(None, 1, 1, 1, 1.5, 2.5))
said(lambda: m.numbers(True, 1.5, 1, 1, 1.5, 2.5))
said(lambda: m.numbers(True, 2**31, 1, 1, 1.5, 2.5))
said(lambda: m.numbers(True, 1, 2**63, 1, 1.5, 2.5))
said(lambda: m.numbers(True, torch.tensor(3), 1, 1, torch.tensor(1.5), 2))
said(lambda: m.sizes(1, 2, 3, -4))
said(lambda: m.sizes(-1, 2, 3, 4))
said(lambda: m.sizes(1, 2, 256, 4))
said(lambda: m.length("four", None, 7))
said(lambda: m.length("four", 1, None))
said(lambda: m.length(b"four", 1.5, None))
said(lambda: m.length(4, 1.5, None))
said(lambda: m.halved("1"))
said(lambda: m.halved(3))
said(lambda: m.halved())
said(lambda: m.halved(1.0, 2.0))
said(lambda: m.halved(arg0=1.0))
said(lambda: (m.no(False), m.no(True), m.nothing()))
for name in ("numbers", "sizes", "length", "halved", "no", "nothing"):
    print(getattr(m, name).__doc__, getattr(m, name).__name__)
print(type(m.halved), m.__name__, m.__doc__)
)");
  EXPECT_THAT(output, AllOf(HasSubstr("'1 -1 1099511627776 -1099511627776 1 2'"),
                            HasSubstr("TypeError numbers(): incompatible function arguments"),
                            HasSubstr("\n2\n"), HasSubstr("(True, False, None)"),
                            HasSubstr("says halved")));
}

TEST_F(HostBinding, TensorsComeAndGoAsWithPybind) {
  const std::string output = same_output(
      binding("using torch::Tensor;\n"
              "Tensor scale(Tensor a, const Tensor& b, at::Tensor& c, std::optional<Tensor> d) {\n"
              "  return d ? a + b + c + *d : a + b + c;\n}\n"
              "std::vector<Tensor> twice(std::vector<Tensor> all) {\n"
              "  const auto same = all;\n"
              "  all.insert(all.end(), same.begin(), same.end());\n  return all;\n}\n"
              "std::tuple<Tensor, Tensor> pair(const std::vector<Tensor>& all, Tensor&& last) {\n"
              "  return {all[0], last};\n}\n"
              "std::tuple<Tensor, Tensor, Tensor> three(Tensor x) { return {x, x, Tensor()}; }\n"
              "const Tensor& same(const Tensor& x) { return x; }\n"
              "std::optional<Tensor> maybe(Tensor x, bool some) {\n"
              "  if (some) return x;\n  return std::nullopt;\n}\n"
              "Tensor shaped(at::IntArrayRef sizes, std::vector<int64_t> ones,\n"
              "              at::ScalarType type, torch::Device device, double value) {\n"
              "  TORCH_CHECK(ones.size() == 2, ones.size(), \" numbers\");\n"
              "  return torch::full(sizes, value, torch::dtype(type).device(device));\n}\n"
              "void fill(Tensor x, float value) { x.fill_(value); }\n",
              {"scale", "twice", "pair", "three", "same", "maybe", "shaped", "fill"}),
      R"(
x, y = torch.tensor([1., 2.]), torch.tensor([3., 5.])
said(lambda: m.scale(x, y, x, None))
said(lambda: m.scale(x, y, x, y))
said(lambda: m.scale(x, y, None, y))
said(lambda: m.scale(x, y, [1.0, 2.0], y))
said(lambda: m.scale(x, y, 1.0, y))
said(lambda: m.twice([x, y]))
said(lambda: m.twice((x,)))
said(lambda: m.twice(x))
said(lambda: m.twice([x, 1]))
said(lambda: m.pair([x, y], y))
said(lambda: m.three(x))
said(lambda: (m.same(x) is x, m.maybe(x, True) is x, m.maybe(x, False)))
said(lambda: m.shaped([1, 2], (3, 4), torch.float64, torch.device("cpu"), 7))
said(lambda: m.shaped((1,), [3], torch.float64, torch.device("cpu"), 7))
said(lambda: m.shaped([1.5], [3, 4], torch.float64, "cpu", 7))
p = torch.nn.Parameter(torch.ones(2))
said(lambda: m.scale(p, y, x, None).requires_grad)
m.fill(x, 2)
print(x)
for name in dir(m):
    if not name.startswith("_"): print(getattr(m, name).__doc__)
)");
  EXPECT_THAT(output, AllOf(HasSubstr("tensor([ 8., 14.])"), HasSubstr("tensor([[7., 7.]]"),
                            HasSubstr("(True, True, None)"), HasSubstr("RuntimeError 1 numbers"),
                            HasSubstr("arg3: torch.Tensor")));
}

constexpr const char* kThrowing =
    "int64_t fails(int64_t how) {\n"
    "  TORCH_WARN_ONCE(\"once\");\n"
    "  TORCH_CHECK(how != 1, \"how is \", how);\n"
    "  TORCH_CHECK_INDEX(how != 2, \"index\");\n"
    "  TORCH_CHECK_NOT_IMPLEMENTED(how != 3, \"not yet\");\n"
    "  if (how == 4) throw std::invalid_argument(\"argument\");\n"
    "  if (how == 5) throw std::out_of_range(\"range\");\n"
    "  if (how == 6) throw std::bad_alloc();\n"
    "  if (how == 7) throw std::runtime_error(\"plain\");\n"
    "  struct Own : std::exception { const char* what() const noexcept { return \"own\"; } };\n"
    "  if (how == 8) throw Own();\n"
    "  if (how == 9) throw 9;\n"
    "  if (how == 10) torch::zeros({2}) + torch::zeros({3});\n"
    "  return how;\n}\n";
constexpr const char* kFailures = "for how in range(12): said(lambda: m.fails(how))\n";

TEST_F(HostBinding, ExceptionsReachPythonAsTorchTranslatesThem) {
  const std::string output = same_output(binding(kThrowing, {"fails"}), kFailures);
  EXPECT_THAT(output, AllOf(HasSubstr("UserWarning once"), HasSubstr("RuntimeError how is 1"),
                            HasSubstr("IndexError index"), HasSubstr("RuntimeError argument"),
                            HasSubstr("\n11\n")));
}

TEST_F(HostBinding, OrAsPybindDoesWhereTorchIsNotAsked) {
  HostRequest asked = binding(kThrowing, {"fails"});
  asked.error_handling = false;
  EXPECT_THAT(same_output(asked, kFailures), HasSubstr("ValueError argument"));
}

TEST_F(HostBinding, AModuleOfItsOwnWithFunctionsAloneNeedsNoPybind) {
  const std::string output =
      same_output(own_module("#include <torch/extension.h>\n"
                             "int twice(int x) { return 2 * x; }\n"
                             "float twice_float(float x) { return 2 * x; }\n"
                             "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {\n"
                             "  m.doc() = \"of its own\";\n"
                             "  const int three = 3;\n"
                             "  m.def(\"twice\", &twice, \"an int\");\n"
                             "  m.def(\"twice\", twice_float).def(\"more\", [three](int64_t x) { "
                             "return x + three; });\n"
                             "  m.def(\"count\", [n = 0]() mutable { return ++n; });\n}\n"),
                  R"(
said(lambda: (m.twice(2), m.twice(2.5), m.more(4), m.count(), m.count()))
said(lambda: m.twice("2"))
print(m.__doc__, m.twice.__doc__, m.more.__doc__)
)");
  EXPECT_THAT(output, AllOf(HasSubstr("(4, 5.0, 7, 1, 2)"), HasSubstr("of its own"),
                            HasSubstr("Overloaded function")));
}

TEST_F(HostBinding, TypesOfNoRowAreBoundByPybind) {
  const HostModule module = must_compile(
      binding("int64_t sum(std::map<std::string, int64_t> all) {\n"
              "  int64_t sum = 0;\n  for (auto& [name, x] : all) sum += x;\n  return sum;\n}\n",
              {"sum"}));
  EXPECT_THAT(module.way, Not(HasSubstr("light")));
  EXPECT_EQ(run_python(module, "print(m.sum({'a': 1, 'b': 2}))"), "3\n");
}

TEST_F(HostBinding, NamesOfPythonsInterfaceAreThere) {
  const HostModule module = must_compile(
      own_module("#include <torch/extension.h>\nint add(int a, int b) { return a + b; }\n"
                 "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {\n"
                 "  m.def(\"add\", &add, py::arg(\"a\"), py::arg(\"b\") = 5);\n"
                 "  m.attr(\"version\") = 3;\n}\n"));
  EXPECT_THAT(module.way, Not(HasSubstr("light")));
  EXPECT_EQ(run_python(module, "print(m.add(a=1), m.version)"), "6 3\n");
}

TEST_F(HostBinding, MistakesAreToldAtOnce) {
  const std::string text =
      "#if KBENCH_HOST_LIGHT\nint forward(int x) { return x }\n"
      "#else\nint forward(int x) { return x; }\n#endif\n";
  HostRequest asked = binding(text, {"forward"});
  EXPECT_THAT(must_fail(asked).message, HasSubstr("main.cpp, line 2: expected"));
  asked.cuda_sources = {{"cuda.cu", "int forward(int x);\n"}};
  EXPECT_THAT(must_fail(asked).message, HasSubstr("main.cpp, line 2: expected"));
  asked = binding("#if KBENCH_HOST_LIGHT\n#else\nint forward(int x) { return x; }\n#endif\n",
                  {"forward"});
  EXPECT_EQ(must_fail(asked).cause, "unknown_function");
}

TEST_F(HostBinding, ErrorsAreThoseOfPybindsHeaders) {
  CompileError error =
      must_fail(binding("\n\nint forward(int x) { return missing; }\n", {"forward"}));
  EXPECT_THAT(error.message, AllOf(HasSubstr("main.cpp, line 3: "), HasSubstr("missing")));

  error = must_fail(binding(
      "int forward(int x) { return x; }\nint forward(float x) { return 1; }\n", {"forward"}));
  EXPECT_EQ(error.cause, "unknown_function");
  EXPECT_THAT(error.message, HasSubstr("`functions` names forward, but: "));
  EXPECT_THAT(error.log, Not(HasSubstr("kbench_binding")));

  error = must_fail(binding("int forward(int x) noexcept { return x; }\n", {"forward"}));
  EXPECT_EQ(error.cause, "syntax_error") << "torch::wrap_pybind_function takes no such function";

  error = must_fail(binding("torch::Tensor forward(torch::Tensor x);\n", {"forward"}));
  EXPECT_EQ(error.cause, "undefined_function");
}

}  // namespace
}  // namespace kbench
