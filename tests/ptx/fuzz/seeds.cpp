// SPDX-License-Identifier: MIT
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "ptx/nvrtc_helper.hpp"

// Seeds for the fuzzer: the PTX of CUDA sources. Sources that need more than NVRTC are left out.
int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: ptx_fuzz_seeds FOLDER SOURCE…\n";
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  int written = 0;
  for (int i = 2; i < argc; ++i) {
    std::ostringstream source;
    source << std::ifstream(argv[i]).rdbuf();
    try {
      const std::string ptx = kbench::ptx::testing::compile(source.str());
      std::ofstream(folder / std::to_string(i)) << ptx;
      ++written;
    } catch (const std::exception&) {
      continue;
    }
  }
  std::cout << written << " seeds in " << folder.string() << "\n";
  return written > 0 ? 0 : 1;
}
