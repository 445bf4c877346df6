// SPDX-License-Identifier: MIT
#include "compile/host/precompiled_header.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "base/fd.hpp"
#include "base/file_tree.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "compile/host/precompiled_header_build.hpp"
#include "kbench/error.hpp"
#include "os/subprocess.hpp"

namespace kbench {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr std::string_view kPrecompiledHeaderFormat = "host-precompiled_header-2";
constexpr std::chrono::hours kKeptUnused{24 * 30};
constexpr const char* kComplete = "complete";
constexpr const char* kLocks = "host-header-locks";

/// Written under another name and renamed, so that no process reads half of it.
void write_file(const fs::path& path, std::string_view text) {
  const fs::path temporary = path.string() + ".tmp";
  std::ofstream stream(temporary, std::ios::binary);
  stream << text;
  stream.close();
  if (!stream) throw Error(fmt::format("{} cannot be written", temporary.string()));
  fs::rename(temporary, path);
}

/// Makes the stub headers. Their includes must resolve, but the precompiled header already has
/// their declarations.
void write_empty_headers(const fs::path& folder) {
  const std::string names = file_text(folder / "empty_headers.txt");
  Lines lines(names);
  for (std::string_view name; lines.next(name);) {
    if (name.starts_with('#')) continue;
    fs::create_directories((folder / name).parent_path());
    write_file(folder / name, "");
  }
}

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(folder, ignored)) {
    if (entry.is_regular_file(ignored)) files.push_back(entry.path().lexically_relative(folder));
  }
  std::ranges::sort(files);
  return files;
}

/// The text to precompile: macros that select headers, then the headers.
std::string top_header(const HostSetup& setup, const PrecompiledHeaderKind& kind) {
  return fmt::format(
      "#define _GLIBCXX_USE_CXX11_ABI {}\n#define KBENCH_HOST_CPU {}\n"
      "#define KBENCH_HOST_HEAVY {}\n#include \"kbench_host.hpp\"\n",
      setup.torch_cxx11_abi ? 1 : 0, kind.device == HostDevice::kCpu ? 1 : 0,
      kind.headers == HeaderSet::kHeavy ? 1 : 0);
}

/// The key includes the folder, because a precompiled header contains the paths of its parts.
std::string precompiled_header_key(const HostSetup& setup, const FoundCompiler& compiler,
                                   const PrecompiledHeaderKind& kind, const fs::path& parent) {
  Sha256 hash;
  hash.field(parent.string());
  hash.field(kPrecompiledHeaderFormat)
      .field(compiler.name())
      .field(file_version(fs::canonical(compiler.path)));
  hash.field(setup.torch_version).field(top_header(setup, kind)).field(kind.standard);
  hash.field(compiler.has_lld ? "lld" : "ld").field(file_version(setup.torch_lib));
  for (const auto& include : setup.includes) hash.field(file_version(include));
  for (const auto& file : files_below(setup.headers)) {
    hash.field(file.string()).field(file_text(setup.headers / file));
  }
  return hash.hex().substr(0, 16);
}

/// Locks one folder of headers. The kernel releases the lock even if its holder is killed. The lock
/// file is in another folder, because candidates and compilers can open the headers' files and
/// could lock any of them.
Fd lock_folder(const fs::path& folder, int cancel_fd) {
  const fs::path locks = folder.parent_path().parent_path() / kLocks;
  fs::create_directories(locks);
  const fs::path file = locks / (folder.filename().string() + ".lock");
  Fd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!fd) throw Error(fmt::format("{} cannot be written", file.string()));
  while (::flock(fd.value(), LOCK_EX | LOCK_NB) != 0) {
    if (is_readable(cancel_fd)) throw Error("compiling was cancelled");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return fd;
}

/// Removes precompiled headers (130 MB and more each) that were not used for a month.
void remove_unused(const fs::path& parent) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    std::error_code absent;
    const auto used = fs::last_write_time(entry.path() / kComplete, absent);
    if (!absent && used < fs::file_time_type::clock::now() - kKeptUnused) {
      fs::remove_all(entry.path(), ignored);
    }
  }
}

/// Options of every compile, of headers and of candidates. Optimising would double the time, for
/// code that only calls torch and launches kernels.
Words common_options(const HostSetup& setup, const PrecompiledHeader& precompiled_header) {
  const fs::path host = precompiled_header.folder / kEmulationFolder;
  Words options{"-std=" + precompiled_header.kind.standard, "-O0", "-g0", "-fPIC", "-w"};
  // Turns off clang's errors about code that GCC, and so nvcc, accepts.
  if (precompiled_header.compiler.is_clang) options.emplace_back("-Wno-everything");
  // -ftoplevel-reorder lets GCC leave out static functions of headers (kbench_host.hpp).
  if (!precompiled_header.compiler.is_clang)
    options.insert(options.end(), {"-fno-gnu-unique", "-fomit-frame-pointer", "-ftoplevel-reorder",
                                   "-fpermissive", "-pipe"});
  options.push_back("-I" + host.string());
  if (precompiled_header.kind.device == HostDevice::kCpu)
    options.push_back("-I" + (host / "cpu").string());
  for (const auto& include : setup.includes) {
    options.insert(options.end(), {"-isystem", include.string()});
  }
  return options;
}

Words candidate_options(const PrecompiledHeader& precompiled_header, const Words& common) {
  // The stub headers come first: the precompiled header has the content of the headers they
  // replace.
  Words options{"-I" + (precompiled_header.folder / kEmulationFolder / "shadow").string()};
  options.insert(options.end(), common.begin(), common.end());
  if (precompiled_header.compiler.is_clang) {
    options.insert(options.end(),
                   {"-include-pch", (precompiled_header.folder / kPrecompiledHeaderClang).string(),
                    "-ferror-limit=20", "-fno-color-diagnostics"});
  } else {
    options.insert(options.end(), {"-include", (precompiled_header.folder / kTopHeader).string(),
                                   "-fmax-errors=20", "-fdiagnostics-color=never"});
  }
  return options;
}

Words candidate_link_options(const PrecompiledHeader& precompiled_header) {
  Words options{"-shared", "-Wl,-Bsymbolic-functions", "-Wl,--no-as-needed", "-Wl,-z,lazy",
                "-Wl,--build-id=none"};
  if (precompiled_header.compiler.has_lld) options.emplace_back("-fuse-ld=lld");
  for (const auto& object : runtime_objects(precompiled_header.kind.device)) {
    options.push_back((precompiled_header.folder / object).string());
  }
  options.push_back(
      (precompiled_header.folder / precompiled_header_library(precompiled_header.folder)).string());
  options.push_back("-Wl,-rpath," + precompiled_header.folder.string());
  return options;
}

}  // namespace

PrecompiledHeaders::PrecompiledHeaders(HostSetup setup, int cancel_fd)
    : setup_(std::move(setup)), cancel_fd_(cancel_fd) {}

const FoundCompiler& PrecompiledHeaders::compiler() {
  const std::scoped_lock lock(mutex_);
  if (!compiler_) {
    auto found = find_host_compilers(setup_.compilers);
    if (found.empty()) {
      throw Error(
          "no C++ compiler for the host code of extensions: install clang (14 or newer) or g++ "
          "(10 or newer)");
    }
    compiler_ = std::move(found.front());
  }
  return *compiler_;
}

const PrecompiledHeader& PrecompiledHeaders::known(const PrecompiledHeaderKind& kind) {
  const FoundCompiler& with = compiler();
  const std::scoped_lock lock(mutex_);
  if (const auto found = known_.find(kind); found != known_.end()) return found->second;
  PrecompiledHeader precompiled_header{{}, with, kind, {}, {}};
  // A canonical path, because the precompiled header contains the paths of its parts.
  const fs::path parent = fs::weakly_canonical(setup_.cache / "host-headers");
  precompiled_header.folder = parent / precompiled_header_key(setup_, with, kind, parent);
  precompiled_header.compile_options =
      candidate_options(precompiled_header, common_options(setup_, precompiled_header));
  precompiled_header.link_options = candidate_link_options(precompiled_header);
  return known_.emplace(kind, std::move(precompiled_header)).first->second;
}

fs::path PrecompiledHeaders::folder(const PrecompiledHeaderKind& kind) {
  return known(kind).folder;
}

HostHeaders PrecompiledHeaders::state(const PrecompiledHeaderKind& kind) {
  const fs::path folder = known(kind).folder;
  HostHeaders state;
  std::error_code absent, ignored;
  // Each use touches `complete` but not the header, so the header's time is that of the build.
  const auto built = fs::last_write_time(folder / kTopHeader, absent);
  if (absent || !fs::exists(folder / kComplete)) return state;
  state.built = true;
  state.age =
      std::chrono::duration_cast<std::chrono::seconds>(fs::file_time_type::clock::now() - built);
  for (const auto& file : files_below(folder)) state.bytes += fs::file_size(folder / file, ignored);
  return state;
}

void PrecompiledHeaders::build(const PrecompiledHeader& precompiled_header) {
  fs::create_directories(precompiled_header.folder);
  const Fd lock = lock_folder(precompiled_header.folder, cancel_fd_);
  if (fs::exists(precompiled_header.folder / kComplete)) return;  // another process was faster
  fs::remove_all(precompiled_header.folder);                      // remains of a killed process
  fs::create_directories(precompiled_header.folder);
  remove_unused(precompiled_header.folder.parent_path());
  const fs::path copy = precompiled_header.folder / kEmulationFolder;
  fs::create_directories(copy);
  fs::copy(setup_.headers, copy,
           fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  write_empty_headers(copy);
  write_file(precompiled_header.folder / kTopHeader, top_header(setup_, precompiled_header.kind));
  build_precompiled_header(precompiled_header, setup_, common_options(setup_, precompiled_header),
                           cancel_fd_);
  write_file(precompiled_header.folder / kComplete, precompiled_header.compiler.name() + "\n");
}

void PrecompiledHeaders::drop(const PrecompiledHeader& precompiled_header) {
  const std::scoped_lock lock(build_mutex_);
  const Fd file_lock = lock_folder(precompiled_header.folder, cancel_fd_);
  std::error_code ignored;
  fs::remove(precompiled_header.folder / kComplete, ignored);
}

PrecompiledHeader PrecompiledHeaders::ready(const PrecompiledHeaderKind& kind) {
  const PrecompiledHeader& precompiled_header = known(kind);
  const std::scoped_lock lock(build_mutex_);
  const fs::path complete = precompiled_header.folder / kComplete;
  if (!fs::exists(complete)) build(precompiled_header);
  std::error_code ignored;
  fs::last_write_time(complete, fs::file_time_type::clock::now(), ignored);
  return precompiled_header;
}

}  // namespace kbench
