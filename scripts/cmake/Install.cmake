# `cmake --install` and the Debian package. The programs lie together in lib/kbench, because the
# driver looks for the others and for kbench.json in its own folder. bin/kbench is a link to the
# script that starts them; on a machine without the Python with torch it makes one first. All other
# paths are relative to that folder, so the tree may be moved.
set(kb_install ${PROJECT_BINARY_DIR}/install)
set(kb_lib lib/kbench)
file(MAKE_DIRECTORY ${kb_install})
file(READ ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/kbench.json kb_installed)
foreach(pair host_headers=host problems=problems candidates=problems/candidates/right)
  string(REPLACE "=" ";" pair ${pair})
  list(GET pair 0 field)
  list(GET pair 1 folder)
  string(JSON kb_installed SET "${kb_installed}" ${field} "\"../../share/kbench/${folder}\"")
endforeach()
file(WRITE ${kb_install}/kbench.json "${kb_installed}\n")
file(REMOVE ${kb_install}/kbench)
file(CREATE_LINK ../${kb_lib}/scripts/kbench ${kb_install}/kbench SYMBOLIC)

# Completions and manual pages come from the built kbench itself.
set(kb_completions ${kb_install}/kbench.bash ${kb_install}/_kbench ${kb_install}/kbench.fish)
add_custom_command(
  OUTPUT ${kb_completions}
  COMMAND kbench completion bash > ${kb_install}/kbench.bash
  COMMAND kbench completion zsh > ${kb_install}/_kbench
  COMMAND kbench completion fish > ${kb_install}/kbench.fish
  DEPENDS kbench VERBATIM)
add_custom_target(kbench_completions ALL DEPENDS ${kb_completions})
set(kb_manual ${kb_install}/man)
install(CODE "execute_process(COMMAND \"${PROJECT_SOURCE_DIR}/scripts/cmake/manual\"
  \"$<TARGET_FILE:kbench>\" \"${kb_manual}\" COMMAND_ERROR_IS_FATAL ANY)")

# Installed unchanged as PROGRAMS, because their run paths name the folder of libtorch.
set(kb_programs kbench kbench-cc)
if(KBENCH_WORKER)
  list(APPEND kb_programs kbench-worker)
endif()
foreach(program ${kb_programs})
  install(PROGRAMS $<TARGET_FILE:${program}> DESTINATION ${kb_lib})
endforeach()
install(FILES ${kb_install}/kbench.json DESTINATION ${kb_lib})
install(PROGRAMS scripts/kbench DESTINATION ${kb_lib}/scripts)
install(FILES scripts/installed.sh scripts/place_installed.py scripts/requirements.txt
              scripts/setup.sh scripts/stamp.sh DESTINATION ${kb_lib}/scripts)
install(FILES scripts/cmake/query_python.py DESTINATION ${kb_lib}/scripts/cmake)
install(FILES ${kb_install}/kbench DESTINATION bin)
install(DIRECTORY problems DESTINATION share/kbench PATTERN __pycache__ EXCLUDE)
install(DIRECTORY src/emulation/ DESTINATION share/kbench/host)
install(DIRECTORY ${kb_manual}/ DESTINATION share/man/man1 OPTIONAL)
install(FILES ${kb_install}/kbench.bash DESTINATION share/bash-completion/completions RENAME kbench)
install(FILES ${kb_install}/_kbench DESTINATION share/zsh/site-functions)
install(FILES ${kb_install}/kbench.fish DESTINATION share/fish/vendor_completions.d)
install(FILES README.md LICENSE DESTINATION share/doc/kbench)
# The documents and schemas that the README links to, in the same folders.
file(GLOB_RECURSE kb_pages RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
     problems/*.md scripts/*.md src/*.md src/*.schema.json tests/*.md)
foreach(page ${kb_pages})
  cmake_path(GET page PARENT_PATH folder)
  install(FILES ${page} DESTINATION share/doc/kbench/${folder})
endforeach()
install(DIRECTORY scripts/ci DESTINATION share/doc/kbench/scripts)

# The CMake package for other programs: find_package(kbench), kbench::kbench. It is left out if the
# build has fetched a library itself, because the other program would not find that library.
set(kb_all_imported TRUE)
foreach(library fmt::fmt nlohmann_json::nlohmann_json simdjson::simdjson)
  get_target_property(kb_imported ${library} IMPORTED)
  if(NOT kb_imported)
    set(kb_all_imported FALSE)
  endif()
endforeach()
if(kb_all_imported)
  set(kb_package lib/cmake/kbench)
  add_library(kbench_all INTERFACE)
  set_target_properties(kbench_all PROPERTIES EXPORT_NAME kbench)
  target_link_libraries(kbench_all INTERFACE kbench_kernelbench kbench_run kbench_ptx)
  install(TARGETS kbench_all kbench_public kbench_base kbench_os kbench_roofline kbench_problem
                  kbench_candidate kbench_plan kbench_record kbench_score kbench_protocol
                  kbench_compile kbench_ptx kbench_run kbench_report kbench_kernelbench
          EXPORT kbench COMPONENT development
          ARCHIVE DESTINATION lib COMPONENT development
          FILE_SET HEADERS COMPONENT development)
  install(EXPORT kbench NAMESPACE kbench:: FILE kbenchTargets.cmake DESTINATION ${kb_package}
          COMPONENT development)
  set(kb_needs "fmt;nlohmann_json;simdjson;Threads")
  list(TRANSFORM kb_needs REPLACE "(.+)" "find_dependency(\\1)")
  list(JOIN kb_needs "\n" kb_needs)
  file(CONFIGURE OUTPUT ${kb_install}/kbenchConfig.cmake CONTENT
       "include(CMakeFindDependencyMacro)\n@kb_needs@\ninclude(\${CMAKE_CURRENT_LIST_DIR}/kbenchTargets.cmake)\n"
       @ONLY)
  include(CMakePackageConfigHelpers)
  write_basic_package_version_file(${kb_install}/kbenchConfigVersion.cmake
                                   COMPATIBILITY SameMinorVersion)
  install(FILES ${kb_install}/kbenchConfig.cmake ${kb_install}/kbenchConfigVersion.cmake
          DESTINATION ${kb_package} COMPONENT development)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "the developers of kbench")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
# dpkg-shlibdeps fails for libtorch, which no package holds. So dpkg-query names the packages of the
# libraries whose package names hold a version.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6, libgcc-s1, libstdc++6")
set(kb_libraries)
foreach(library fmt::fmt simdjson::simdjson)
  get_target_property(kb_imported ${library} IMPORTED)
  if(kb_imported)
    get_target_property(kb_file ${library} LOCATION)
    list(APPEND kb_libraries ${kb_file})
  endif()
endforeach()
# For extensions a C++ compiler with its library, and Python's headers; set-up makes a venv.
if(KBENCH_WORKER)
  list(APPEND kb_libraries ${kb_libpython})
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" kb_minor "${kb_python_version}")
  string(APPEND CPACK_DEBIAN_PACKAGE_DEPENDS
         ", clang, g++, python${kb_minor}-dev, python${kb_minor}-venv")
endif()
find_program(kb_dpkg_query dpkg-query NO_CACHE)
foreach(kb_file ${kb_libraries})
  if(NOT kb_dpkg_query)
    break()
  endif()
  # A package lists the real file, below /lib or /usr/lib if /lib is a link to /usr/lib.
  get_filename_component(kb_file ${kb_file} REALPATH)
  string(REGEX REPLACE "^/usr/lib/" "/lib/" kb_other ${kb_file})
  foreach(path ${kb_file} ${kb_other})
    execute_process(COMMAND ${kb_dpkg_query} --search ${path} OUTPUT_VARIABLE kb_owner ERROR_QUIET)
    if(kb_owner MATCHES "^([^:]+):")
      string(APPEND CPACK_DEBIAN_PACKAGE_DEPENDS ", ${CMAKE_MATCH_1}")
      break()
    endif()
  endforeach()
endforeach()
include(CPack)
