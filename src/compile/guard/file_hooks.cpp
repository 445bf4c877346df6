// SPDX-License-Identifier: MIT
//
// kbench-cc exports these symbols, so every library in its process opens files through them. They
// restrict what an #include may read, on any kernel.
#include <dlfcn.h>

#include <cerrno>
#include <cstdio>

#include "compile/guard/confinement.hpp"

namespace {

template <typename Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

bool refuse(const char* path) {
  if (kbench::may_open(path)) return false;
  errno = ENOENT;  // as for a missing file, so a source cannot test which files exist
  return true;
}

using Open = int(const char*, int, ...);
using OpenFile = std::FILE*(const char*, const char*);
using OpenLibrary = void*(const char*, int);

}  // namespace

// These have other C++ names, because libc's headers declare or even define the real ones.
extern "C" {
__attribute__((visibility("default"))) int kbench_open(const char* path, int flags,
                                                       unsigned mode) asm("open");
__attribute__((visibility("default"))) int kbench_open64(const char* path, int flags,
                                                         unsigned mode) asm("open64");
__attribute__((visibility("default"))) std::FILE* kbench_fopen(const char* path,
                                                               const char* mode) asm("fopen");
__attribute__((visibility("default"))) std::FILE* kbench_fopen64(const char* path,
                                                                 const char* mode) asm("fopen64");
__attribute__((visibility("default"))) void* kbench_dlopen(const char* path,
                                                           int flags) asm("dlopen");

// open() is variadic in C. On every ABI that CUDA supports, its third argument is passed like a
// named one.
int kbench_open(const char* path, int flags, unsigned mode) {
  static Open* const kNext = real<Open>("open");
  return refuse(path) ? -1 : kNext(path, flags, mode);
}

int kbench_open64(const char* path, int flags, unsigned mode) {
  static Open* const kNext = real<Open>("open64");
  return refuse(path) ? -1 : kNext(path, flags, mode);
}

std::FILE* kbench_fopen(const char* path, const char* mode) {
  static OpenFile* const kNext = real<OpenFile>("fopen");
  return refuse(path) ? nullptr : kNext(path, mode);
}

std::FILE* kbench_fopen64(const char* path, const char* mode) {
  static OpenFile* const kNext = real<OpenFile>("fopen64");
  return refuse(path) ? nullptr : kNext(path, mode);
}

// NVRTC tries to load the driver while it compiles, which costs time for nothing. A confined
// process gets only libraries that are already loaded.
void* kbench_dlopen(const char* path, int flags) {
  static OpenLibrary* const kNext = real<OpenLibrary>("dlopen");
  return kNext(path, kbench::is_confined() ? flags | RTLD_NOLOAD : flags);
}
}
