# Targets for the Python with torch that KBENCH_PYTHON names. They do not use find_package(Torch),
# because it requires a whole CUDA toolkit.
#   kbench_python  the headers and shared library of that Python
#   kbench_torch   libtorch with its Python binding, the CUDA headers, and kbench_python
#   kbench_cuda_headers  CUDA's headers; no library, because the driver is opened at run time
# KBENCH_TORCH_FOUND and KBENCH_CUDA_HEADERS_FOUND say if they can be used. Writes kbench.json into
# the folder of the binaries; kbench reads these paths from it.

set(KBENCH_CUDA_ROOT "" CACHE PATH "Folder with nvidia/…, where pip put CUDA parts for kbench")

function(kbench_choose_python out)
  set(python "${KBENCH_PYTHON}")
  if(NOT python)
    set(python "$ENV{KBENCH_PYTHON}")
  endif()
  if(NOT python)
    find_program(KBENCH_FOUND_PYTHON NAMES python3 python)
    set(python "${KBENCH_FOUND_PYTHON}")
  endif()
  set(${out} "${python}" PARENT_SCOPE)
endfunction()

# Sets kb_<field> in the caller for each field: a string, or a list for an array.
macro(kbench_read_fields json)
  foreach(field python python_version libpython torch torch_version torch_lib torch_abi nvrtc cuda_h
                cuda_version)
    string(JSON kb_${field} GET "${json}" ${field})
  endforeach()
  foreach(field python_includes torch_includes cuda_includes problems)
    set(kb_${field} "")
    string(JSON kb_length LENGTH "${json}" ${field})
    if(kb_length GREATER 0)
      math(EXPR kb_last "${kb_length} - 1")
      foreach(i RANGE ${kb_last})
        string(JSON kb_item GET "${json}" ${field} ${i})
        list(APPEND kb_${field} "${kb_item}")
      endforeach()
    endif()
    list(REMOVE_ITEM kb_${field} /usr/include)
  endforeach()
endmacro()

kbench_choose_python(kb_chosen)
set(kb_status 1)
# The answer that a driver-only build uses if there is no Python.
set(kb_nothing [[{"python": "", "python_version": "", "libpython": "", "torch": "",
  "torch_version": "", "torch_lib": "", "torch_abi": 1, "nvrtc": "", "cuda_h": "",
  "cuda_version": "", "python_includes": [], "torch_includes": [], "cuda_includes": [],
  "problems": ["Python"]}]])
if(kb_chosen)
  execute_process(COMMAND ${kb_chosen} ${CMAKE_CURRENT_LIST_DIR}/query_python.py ${KBENCH_CUDA_ROOT}
                  OUTPUT_VARIABLE kb_json ERROR_VARIABLE kb_error RESULT_VARIABLE kb_status)
endif()
if(NOT kb_status EQUAL 0 AND NOT KBENCH_WORKER)
  set(kb_json "${kb_nothing}")
elseif(NOT kb_status EQUAL 0)
  message(FATAL_ERROR "Python '${kb_chosen}' does not run (${kb_status}): ${kb_error}\n"
                      "Name a Python that imports torch: -DKBENCH_PYTHON=/path/to/python")
endif()
kbench_read_fields("${kb_json}")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             ${CMAKE_CURRENT_LIST_DIR}/query_python.py)
message(STATUS "Python ${kb_python_version} (${kb_python}), torch ${kb_torch_version}, "
               "CUDA ${kb_cuda_version}, NVRTC ${kb_nvrtc}")

set(KBENCH_TORCH_FOUND OFF)
if(kb_torch AND kb_libpython AND kb_python_includes)
  set(KBENCH_TORCH_FOUND ON)
endif()
set(KBENCH_CUDA_HEADERS_FOUND OFF)
if(kb_cuda_h)
  set(KBENCH_CUDA_HEADERS_FOUND ON)
endif()
if(kb_problems)
  list(JOIN kb_problems "; " kb_text)
  if(KBENCH_WORKER AND NOT KBENCH_TORCH_FOUND)
    message(FATAL_ERROR "kbench-worker cannot be built; missing: ${kb_text}\n"
                        "Let `scripts/kbench setup` prepare a Python, or name one that imports "
                        "torch with -DKBENCH_PYTHON, or build without it: -DKBENCH_WORKER=OFF")
  endif()
  message(STATUS "Missing: ${kb_text}")
endif()

add_library(kbench_cuda_headers INTERFACE)
target_include_directories(kbench_cuda_headers SYSTEM INTERFACE ${kb_cuda_includes})

# Adds the rpath of a library's folder, unless the loader searches that folder anyway.
function(kbench_link_folder target folder)
  if(NOT folder MATCHES "^/(usr/)?lib(64)?(/[a-z0-9_]+-linux-gnu)?$")
    target_link_options(${target} INTERFACE "LINKER:-rpath,${folder}")
  endif()
endfunction()

if(KBENCH_TORCH_FOUND)
  get_filename_component(kb_libpython_folder ${kb_libpython} DIRECTORY)
  add_library(kbench_python INTERFACE)
  target_include_directories(kbench_python SYSTEM INTERFACE ${kb_python_includes})
  target_link_libraries(kbench_python INTERFACE ${kb_libpython})

  add_library(kbench_torch INTERFACE)
  target_include_directories(kbench_torch SYSTEM INTERFACE ${kb_torch_includes})
  target_compile_definitions(kbench_torch INTERFACE _GLIBCXX_USE_CXX11_ABI=${kb_torch_abi})
  foreach(library torch torch_cpu c10 torch_python)
    target_link_libraries(kbench_torch INTERFACE ${kb_torch_lib}/lib${library}.so)
  endforeach()
  kbench_link_folder(kbench_torch ${kb_torch_lib})
  kbench_link_folder(kbench_torch ${kb_libpython_folder})
  target_link_libraries(kbench_torch INTERFACE kbench_python kbench_cuda_headers)
endif()

# Sets `out` to the items as the inside of a JSON array. Refuses paths with quotes or backslashes,
# which would need escapes.
function(kbench_json_strings out)
  foreach(item ${ARGN})
    if(item MATCHES "[\"\\\\]")
      message(FATAL_ERROR "A path with a quote or backslash cannot be used: ${item}")
    endif()
  endforeach()
  list(TRANSFORM ARGN PREPEND "\"")
  list(TRANSFORM ARGN APPEND "\"")
  list(JOIN ARGN ", " text)
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

kbench_json_strings(kb_includes_json ${kb_cuda_includes})
kbench_json_strings(kb_torch_includes_json ${kb_torch_includes})
kbench_json_strings(kb_python_includes_json ${kb_python_includes})
set(kb_abi_json true)
if(NOT kb_torch_abi)
  set(kb_abi_json false)
endif()
kbench_json_strings(kb_check ${kb_python} ${kb_nvrtc} ${PROJECT_SOURCE_DIR})
file(MAKE_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
file(CONFIGURE OUTPUT ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/kbench.json @ONLY CONTENT [[{
  "python": "@kb_python@",
  "python_version": "@kb_python_version@",
  "torch_version": "@kb_torch_version@",
  "cuda_version": "@kb_cuda_version@",
  "nvrtc": "@kb_nvrtc@",
  "cuda_includes": [@kb_includes_json@],
  "torch_includes": [@kb_torch_includes_json@],
  "python_includes": [@kb_python_includes_json@],
  "torch_lib": "@kb_torch_lib@",
  "torch_cxx11_abi": @kb_abi_json@,
  "host_headers": "@PROJECT_SOURCE_DIR@/src/emulation",
  "problems": "@PROJECT_SOURCE_DIR@/problems",
  "candidates": "@PROJECT_SOURCE_DIR@/problems/candidates/right"
}
]])
