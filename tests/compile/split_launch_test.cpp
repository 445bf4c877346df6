// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include "compile/split_fixture.hpp"

namespace kbench {
namespace {

/// The host text of `statement` in a function.
std::string host_of(const std::string& statement) {
  const std::string text = flat(must_split("void f() { " + statement + " }").host);
  const std::string head = "void f() { ";
  return text.substr(head.size(), text.size() - head.size() - 2);
}

std::string launched(const std::string& configuration, const std::string& call) {
  return "(::kbench_split::configure(" + configuration + "), " + call + ")";
}

TEST(SplitLaunch, KernelsOfEveryForm) {
  const struct {
    const char *statement, *configuration, *call;
  } rows[] = {
      {"k<<<g, b>>>(x);", "g, b", "k(x)"},
      {"k<<<g, b, s, st>>>();", "g, b, s, st", "k()"},
      {"k <<< g , b >>> (x);", " g , b", "k (x)"},
      {"k << <g, b >> >(x);", "g, b", "k(x)"},
      {"::k<<<g, b>>>(x);", "g, b", "::k(x)"},
      {"a::b::k<T><<<g, b>>>(x);", "g, b", "a::b::k<T>(x)"},
      {"k<A<B<int>>><<<g, b>>>(x);", "g, b", "k<A<B<int>>>(x)"},
      {"k<(N > 3), f(1, 2)><<<g, b>>>(x);", "g, b", "k<(N > 3), f(1, 2)>(x)"},
      {"k<1 << 3><<<g, b>>>(x);", "g, b", "k<1 << 3>(x)"},
      {"S<T>::k<N><<<g, b>>>(x);", "g, b", "S<T>::k<N>(x)"},
      {"table[i]<<<g, b>>>(x);", "g, b", "table[i](x)"},
      {"(c ? k1 : k2<3>)<<<g, b>>>(x);", "g, b", "(c ? k1 : k2<3>)(x)"},
      {"p->k.q<<<g, b>>>(x);", "g, b", "p->k.q(x)"},
      {"chosen(1)<<<g, b>>>(x);", "g, b", "chosen(1)(x)"},
      {"k<<<dim3{1, 2}, {32, 1}>>>(x, {1, 2});", "dim3{1, 2}, {32, 1}", "k(x, {1, 2})"},
      {"k<<<(n + f<A<int>>(2)) >> 1, b>>>(x);", "(n + f<A<int>>(2)) >> 1, b", "k(x)"},
      {"k<<<g, b>>>(h(x)->y, [&] { return 1; }());", "g, b", "k(h(x)->y, [&] { return 1; }())"},
  };
  for (const auto& row : rows) {
    const std::string made = host_of(row.statement);
    std::string expected = launched(row.configuration, row.call) + ";";
    EXPECT_EQ(made, expected) << row.statement;
  }
}

TEST(SplitLaunch, StatementsAroundThem) {
  const std::string one = launched("1, 2", "k(x)");
  EXPECT_EQ(host_of("if (c) k<<<1, 2>>>(x); else k<<<1, 2>>>(x);"),
            "if (c) " + one + "; else " + one + ";");
  EXPECT_EQ(host_of("for (;;) k<<<1, 2>>>(x);"), "for (;;) " + one + ";");
  EXPECT_EQ(host_of("return k<<<1, 2>>>(x);"), "return " + one + ";");
  EXPECT_EQ(host_of("A(x, \"n\", ([&] { k<<<1, 2>>>(x); }));"),
            "A(x, \"n\", ([&] { " + one + "; }));");
  EXPECT_EQ(host_of("out << \"k<<<1\" << n << (m << 2);"), "out << \"k<<<1\" << n << (m << 2);");
  EXPECT_EQ(host_of("auto s = R\"x(k<<<1, 2>>>(x))x\";"), "auto s = R\"x(k<<<1, 2>>>(x))x\";");
}

TEST(SplitLaunch, LaunchesInMacros) {
  const SplitSource made = must_split(
      "#define RUN(k, ...) \\\n  k<<<g, b>>>(__VA_ARGS__)  // here\n"
      "#define PART <<<1, 2>>>\n#define HEAD(k) k##_1<<<1, 2>>>\n"
      "void f() { RUN(a<1>, x); a PART(x); HEAD(k)(x); }\n");
  EXPECT_THAT(made.host,
              testing::HasSubstr("#define RUN(k, ...) \\\n  (::kbench_split::configure(g, b), "
                                 "k(__VA_ARGS__))\n"));
  EXPECT_THAT(made.host, testing::HasSubstr("void f() { RUN(a<1>, x); " + launched("1, 2", "a(x)") +
                                            "; " + launched("1, 2", "k_1(x)") + "; }"));
}

TEST(SplitLaunch, LinesStay) {
  const SplitSource made = must_split(
      "void f() {\n  k<float>\n      <<<1,\n         2>>>(\n      x,\n      y);\n  g();\n}\n");
  EXPECT_THAT(line_of(made.host, 7), testing::HasSubstr("g();"));
}

}  // namespace
}  // namespace kbench
