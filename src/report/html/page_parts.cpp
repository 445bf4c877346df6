// SPDX-License-Identifier: MIT
#include "report/html/page_parts.hpp"

#include <cstddef>

// The files are embedded unchanged. String literals would have to be split, and the program would
// have to find separate files at run time.
#define KBENCH_PART(name, file)               \
  asm(".section .rodata\n"                    \
      ".global kbench_page_" #name            \
      "\n"                                    \
      ".global kbench_page_" #name            \
      "_end\n"                                \
      "kbench_page_" #name                    \
      ":\n"                                   \
      ".incbin \"" file                       \
      "\"\n"                                  \
      "kbench_page_" #name                    \
      "_end:\n"                               \
      ".byte 0\n"                             \
      ".previous\n");                         \
  extern "C" const char kbench_page_##name[]; \
  extern "C" const char kbench_page_##name##_end[];

KBENCH_PART(html, KBENCH_PAGE_HTML)
KBENCH_PART(style, KBENCH_PAGE_STYLE)
KBENCH_PART(script, KBENCH_PAGE_SCRIPT)
KBENCH_PART(terms, KBENCH_PAGE_TERMS)
KBENCH_PART(d3, KBENCH_PAGE_D3)

namespace kbench::report {
namespace {

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

std::string_view page_html() { return between(kbench_page_html, kbench_page_html_end); }
std::string_view page_style() { return between(kbench_page_style, kbench_page_style_end); }
std::string_view page_script() { return between(kbench_page_script, kbench_page_script_end); }
std::string_view page_terms() { return between(kbench_page_terms, kbench_page_terms_end); }
std::string_view page_d3() { return between(kbench_page_d3, kbench_page_d3_end); }

}  // namespace kbench::report
