# Prefers packages of the system; otherwise fetches sources that are pinned by hash.
include(FetchContent)
set(FETCHCONTENT_QUIET ON)
# Some pinned projects ask for a CMake below 3.5, which CMake 4 refuses.
set(CMAKE_POLICY_VERSION_MINIMUM 3.5)
if(POLICY CMP0135)
  cmake_policy(SET CMP0135 NEW)
endif()

find_package(Threads REQUIRED)
FetchContent_Declare(fmt URL https://github.com/fmtlib/fmt/archive/refs/tags/9.1.0.tar.gz
  URL_HASH SHA256=5dea48d1fcddc3ec571ce2058e13910a0d4a6bab4cc09a809d8b1dd1c88ae6f2
  FIND_PACKAGE_ARGS)
FetchContent_Declare(nlohmann_json
  URL https://github.com/nlohmann/json/releases/download/v3.11.3/json.tar.xz
  URL_HASH SHA256=d6c65aca6b1ed68e7a182f4757257b107ae403032760ed6ef121c9d55e81757d
  FIND_PACKAGE_ARGS)
FetchContent_Declare(CLI11
  URL https://github.com/CLIUtils/CLI11/archive/refs/tags/v2.4.1.tar.gz
  URL_HASH SHA256=73b7ec52261ce8fe980a29df6b4ceb66243bb0b779451dbd3d014cfec9fdbb58
  FIND_PACKAGE_ARGS)
FetchContent_Declare(simdjson
  URL https://github.com/simdjson/simdjson/archive/refs/tags/v3.10.1.tar.gz
  URL_HASH SHA256=1e8f881cb2c0f626c56cd3665832f1e97b9d4ffc648ad9e1067c134862bba060
  FIND_PACKAGE_ARGS)
FetchContent_MakeAvailable(fmt nlohmann_json CLI11 simdjson)
if(KBENCH_TESTS)
  set(INSTALL_GTEST OFF)
  FetchContent_Declare(GTest
    URL https://github.com/google/googletest/archive/refs/tags/v1.14.0.tar.gz
    URL_HASH SHA256=8ad598c73ad796e0d8280b082cebd82a630d73e73cd3c70057938a6501bba5d7
    FIND_PACKAGE_ARGS)
  FetchContent_MakeAvailable(GTest)
  include(GoogleTest)
endif()

# Headers of fetched libraries are system headers, so kbench's warnings do not apply to them.
foreach(target fmt nlohmann_json CLI11 simdjson gtest gmock gtest_main)
  if(TARGET ${target})
    get_target_property(kb_alias ${target} ALIASED_TARGET)
    if(NOT kb_alias)
      get_target_property(kb_folders ${target} INTERFACE_INCLUDE_DIRECTORIES)
      set_target_properties(${target} PROPERTIES
                            INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${kb_folders}")
    endif()
  endif()
endforeach()
