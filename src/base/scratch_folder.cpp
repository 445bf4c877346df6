// SPDX-License-Identifier: MIT
#include "base/scratch_folder.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <string.h>

#include <cerrno>
#include <string>

#include "base/remove_tree.hpp"
#include "kbench/error.hpp"

namespace kbench {

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder() {
  std::string name = (fs::temp_directory_path() / "kbench-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw Error(fmt::format("cannot create the folder {}: {}", name, ::strerror(errno)));
  }
  path_ = name;
}

ScratchFolder::~ScratchFolder() { remove_tree(path_); }

}  // namespace kbench
