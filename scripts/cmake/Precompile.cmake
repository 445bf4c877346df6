# Precompiled headers, of libraries alone: those that most sources include and that take longer to
# read than what includes them. Each source still includes what it uses; clang-tidy reads it without
# (scripts/tidy.py). A target that is compiled by other flags, or defines what they ask for, has none,
# or its own.

# kbench_headers(NAME LINKS … HEADERS …): a library of nothing but its precompiled headers, for
# target_precompile_headers(… REUSE_FROM NAME).
function(kbench_headers name)
  cmake_parse_arguments(arg "" "" "LINKS;HEADERS" ${ARGN})
  set(nothing ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  file(CONFIGURE OUTPUT ${nothing} CONTENT "")
  add_library(${name} OBJECT ${nothing})
  target_link_libraries(${name} PRIVATE ${arg_LINKS} kbench_warnings)
  target_precompile_headers(${name} PRIVATE ${arg_HEADERS})
endfunction()
