# Packages of the system first; without them, pinned sources.
include(FetchContent)
set(FETCHCONTENT_QUIET ON)
find_package(Threads REQUIRED)
FetchContent_Declare(fmt URL https://github.com/fmtlib/fmt/archive/refs/tags/9.1.0.tar.gz
                     FIND_PACKAGE_ARGS)
FetchContent_Declare(nlohmann_json
                     URL https://github.com/nlohmann/json/releases/download/v3.11.3/json.tar.xz
                     FIND_PACKAGE_ARGS)
FetchContent_Declare(CLI11 URL https://github.com/CLIUtils/CLI11/archive/refs/tags/v2.4.1.tar.gz
                     FIND_PACKAGE_ARGS)
FetchContent_MakeAvailable(fmt nlohmann_json CLI11)
if(KBENCH_TESTS)
  FetchContent_Declare(GTest URL https://github.com/google/googletest/archive/refs/tags/v1.14.0.tar.gz
                       FIND_PACKAGE_ARGS)
  FetchContent_MakeAvailable(GTest)
  include(GoogleTest)
endif()
