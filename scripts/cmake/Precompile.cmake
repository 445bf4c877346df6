# Precompiled headers hold only headers of libraries that most sources include and that take longer
# to read than those sources. Each source still includes what it uses, because clang-tidy reads it
# without them (scripts/tidy.py). A target with other flags, or with macros that these headers test,
# has none or its own.

# kbench_headers(NAME LINKS … HEADERS …): a library of precompiled headers alone, for
# target_precompile_headers(… REUSE_FROM NAME).
function(kbench_headers name)
  cmake_parse_arguments(arg "" "" "LINKS;HEADERS" ${ARGN})
  set(nothing ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  file(CONFIGURE OUTPUT ${nothing} CONTENT "")
  add_library(${name} OBJECT ${nothing})
  target_link_libraries(${name} PRIVATE ${arg_LINKS} kbench_warnings)
  target_precompile_headers(${name} PRIVATE ${arg_HEADERS})
endfunction()
