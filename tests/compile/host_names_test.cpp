// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "compile/elf.hpp"
#include "compile/names.hpp"
#include "kbench/error.hpp"

namespace kbench {
namespace {

struct Row {
  const char *demangled, *qualified, *expression, *parameters;
};

TEST(HostNames, FunctionsOfSymbolsAreTakenApart) {
  const Row rows[] = {
      {"k(float const*, float*, int)", "k", "k", "(float const*, float*, int)"},
      {"void k<float, 4>(float const*, float*, int)", "k", "k<float, 4>",
       "(float const*, float*, int)"},
      {"void ns::inner::k<c10::Half>(c10::Half*)", "ns::inner::k", "ns::inner::k<c10::Half>",
       "(c10::Half*)"},
      {"void (anonymous namespace)::k<(anonymous namespace)::Op>(float*)", "k", "k<Op>",
       "(float*)"},
      {"ns::(anonymous namespace)::k(int)", "ns::k", "ns::k", "(int)"},
      {"void k<(bool)1, (Mode)2, (char)97>(int)", "k", "k<(bool)1, (Mode)2, (char)97>", "(int)"},
      {"void k<std::integral_constant<bool, true>, 4u>(int)", "k",
       "k<std::integral_constant<bool, true>, 4u>", "(int)"},
      {"void k<((3)>(2))>(int)", "k", "k<((3)>(2))>", "(int)"},
      {"void k<&(relu(float))>(float*)", "k", "k<&relu>", "(float*)"},
      {"void k<&(float ns::op<2>(float))>(float*)", "k", "k<&ns::op<2>>", "(float*)"},
      {"void k<float (*)(float)>(float (*)(float))", "k", "k<float (*)(float)>",
       "(float (*)(float))"},
      {"void k<unsigned long, long long>(unsigned long)", "k", "k<unsigned long, long long>",
       "(unsigned long)"},
      {"k", "k", "k", ""},
  };
  for (const Row& row : rows) {
    const FunctionName name = function_name(row.demangled);
    EXPECT_EQ(name.qualified, row.qualified) << row.demangled;
    EXPECT_EQ(name.expression, row.expression) << row.demangled;
    EXPECT_EQ(name.parameters, row.parameters) << row.demangled;
    EXPECT_TRUE(name.can_be_named) << row.demangled;
  }
}

TEST(HostNames, LambdasAndLocalTypesHaveNoName) {
  EXPECT_FALSE(function_name("void k<f()::{lambda(float)#1}>(float*)").can_be_named);
  EXPECT_FALSE(function_name("void k<f(int)::Local>(float*)").can_be_named);
}

TEST(HostNames, SymbolsReadAsSources) {
  EXPECT_EQ(demangle("_Z1kILi4EEvPf"), "void k<4>(float*)");
  EXPECT_EQ(demangle("_ZL5table"), "table");
  EXPECT_EQ(demangle("plain_c"), "plain_c");
  EXPECT_EQ(demangle("_Z"), "_Z");
}

TEST(Elf, ReadsTheSymbolsOfThisProgram) {
  std::ifstream stream("/proc/self/exe", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  const ElfFile file(bytes);
  bool found = false;
  for (const ElfSymbol& symbol : file.symbols()) found |= symbol.name == "main";
  EXPECT_TRUE(found);
  EXPECT_FALSE(file.dynamic_symbols().empty());
}

TEST(Elf, AFileCutOffAnywhereIsReadAsFarAsItGoes) {
  std::ifstream stream("/proc/self/exe", std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_THROW(ElfFile(""), Error);
  EXPECT_THROW(ElfFile("\x7f"
                       "ELF"),
               Error);
  for (std::size_t size = 64; size < bytes.size(); size += bytes.size() / 50 + 1) {
    const std::string_view cut = std::string_view(bytes).substr(0, size);
    const ElfFile file(cut);
    file.symbols();
    file.dynamic_symbols();
  }
}

}  // namespace
}  // namespace kbench
