# SPDX-License-Identifier: MIT
"""Prints, as one JSON object, what the build needs to know of this Python, its torch and CUDA.

Used by TorchPython.cmake and by scripts/kbench; needs nothing but the standard library, and does
not fail where something is absent: the field is empty then, and `problems` says what is missing.
The arguments are further folders to look for CUDA in (each with nvidia/… as pip lays it out).
"""

import glob
import importlib.util
import json
import os
import platform
import re
import runpy
import sys
import sysconfig

# Headers that a kernel may include, and the part of CUDA that brings each.
HEADERS = ("cuda_fp16.h", "crt/mma.h", "cuda/std/version", "curand_kernel.h")


def existing(paths, member=""):
    return [p for p in dict.fromkeys(paths) if p and os.path.exists(os.path.join(p, member))]


def find_libpython():
    names = [sysconfig.get_config_var("INSTSONAME"), sysconfig.get_config_var("LDLIBRARY"),
             "libpython%d.%d.so.1.0" % sys.version_info[:2]]
    folders = [sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("LIBPL"),
               os.path.join(sys.base_prefix, "lib")]
    if sysconfig.get_config_var("MULTIARCH"):
        folders.append(os.path.join("/usr/lib", sysconfig.get_config_var("MULTIARCH")))
    for folder in folders:
        for name in names:
            path = os.path.join(folder or "/nonexistent", name or "none")
            if ".so" in path and os.path.isfile(path):
                return path
    return ""


def query_python(result):
    includes = [sysconfig.get_path("include"), sysconfig.get_path("platinclude"),
                sysconfig.get_config_var("INCLUDEPY")]
    result["python"] = sys.executable
    result["python_version"] = platform.python_version()
    result["python_includes"] = existing(includes, "Python.h")
    result["libpython"] = find_libpython()
    version = "python%d.%d" % sys.version_info[:2]
    if not result["python_includes"]:
        result["problems"].append(
            "the headers of %s (Python.h); Debian and Ubuntu: %s-dev" % (sys.executable, version))
    if not result["libpython"]:
        result["problems"].append(
            "the shared library of %s (lib%s.so); Debian and Ubuntu: %s-dev"
            % (sys.executable, version, version))


def cxx11_abi(torch_lib):
    """Whether this torch was built with the new std::string: its symbols tell."""
    with open(os.path.join(torch_lib, "libc10.so"), "rb") as file:
        return b"__cxx1112basic_string" in file.read()


def query_torch(result):
    result.update(torch="", torch_version="", torch_cuda="", torch_includes=[], torch_lib="",
                  torch_abi=1)
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        result["problems"].append("torch (this Python does not import it)")
        return
    root = os.path.dirname(spec.origin)
    version = runpy.run_path(os.path.join(root, "version.py"))
    include = os.path.join(root, "include")
    lib = os.path.join(root, "lib")
    result["torch_version"] = str(version["__version__"])
    result["torch_cuda"] = version.get("cuda") or ""
    result["torch_includes"] = existing(
        [include, os.path.join(include, "torch", "csrc", "api", "include")])
    if tuple(int(n) for n in re.findall(r"\d+", result["torch_version"])[:2]) < (2, 6):
        result["problems"].append("torch 2.6 or newer (found %s)" % result["torch_version"])
    elif not os.path.isfile(os.path.join(lib, "libtorch_python.so")) or not result["torch_includes"]:
        result["problems"].append("torch with its libraries and headers in %s" % root)
    else:
        result["torch"] = root
        result["torch_lib"] = lib
        result["torch_abi"] = int(cxx11_abi(lib))


def nvidia_folders(extra_roots, torch_root):
    """site-packages/nvidia/* as pip lays CUDA out: one folder cu13, or one per part before."""
    roots = list(extra_roots) + ([os.path.dirname(torch_root)] if torch_root else [])
    roots += [p for p in sys.path if p.endswith("-packages")]
    folders = []
    for root in dict.fromkeys(roots):
        folders += sorted(glob.glob(os.path.join(root, "nvidia", "cu[0-9]*")), reverse=True)
        folders += [os.path.join(root, "nvidia", part) for part in
                    ("cuda_nvrtc", "cuda_runtime", "cuda_nvcc", "cuda_cccl", "cuda_cupti",
                     "curand")]
    return existing(folders)


def toolkits(cuda_version):
    """CUDA toolkits, the one of torch's own version first."""
    found = [os.environ.get("CUDA_HOME", ""), "/usr/local/cuda-%s" % cuda_version,
             "/usr/local/cuda"]
    found += sorted(glob.glob("/usr/local/cuda-*"), reverse=True)
    found += [sys.base_prefix, os.path.join(sys.base_prefix, "targets", "x86_64-linux"), "/usr"]
    found = existing(found)
    return sorted(found, key=lambda path: header_version(include_of(path)) != cuda_version)


def include_of(folder):
    return os.path.join(folder, "include")


def header_version(include):
    """ "13.0", as cuda.h in that folder says; empty without one."""
    try:
        with open(os.path.join(include, "cuda.h"), encoding="utf-8", errors="replace") as file:
            match = re.search(r"#define CUDA_VERSION (\d+)", file.read())
    except OSError:
        return ""
    number = int(match.group(1)) if match else 0
    return "%d.%d" % (number // 1000, number % 1000 // 10)


def find_nvrtc(folders, torch_lib, cuda_version):
    patterns = [os.path.join(f, lib, "libnvrtc.so.[0-9]*") for f in folders
                for lib in ("lib", "lib64", "lib/x86_64-linux-gnu")]
    patterns += [os.path.join(torch_lib, "libnvrtc[-.]*so*")] if torch_lib else []
    found = [p for pattern in patterns for p in sorted(glob.glob(pattern), key=len)
             if ".alt." not in p and "builtins" not in p]
    major = cuda_version.split(".")[0]
    same = [p for p in found if re.search(r"\.so\.%s(\.|$)" % major, p)] if major else []
    return (same or found or [""])[0]


def query_cuda(result, extra_roots):
    cuda_version = result["torch_cuda"]
    pip = nvidia_folders(extra_roots, result["torch"])
    kits = toolkits(cuda_version)
    result["nvrtc"] = find_nvrtc(pip + kits, result["torch_lib"], cuda_version)
    includes = existing([include_of(folder) for folder in pip])
    if os.path.exists(os.path.join(result["torch"] or "/nonexistent", "include", "cuda.h")):
        includes.append(os.path.join(result["torch"], "include"))
    includes += existing([os.path.join(i, "cccl") for i in includes])

    def missing():
        return [h for h in HEADERS if not existing(includes, h)]

    # A toolkit supplies what is missing: many torch wheels come without crt/ and cccl/.
    for kit in kits:
        if missing() and existing([include_of(kit)], "cuda_fp16.h"):
            includes.append(include_of(kit))
            includes += existing([os.path.join(include_of(kit), "cccl")])
    result["cuda_includes"] = includes
    result["cuda_h"] = (existing(includes, "cuda.h") + [""])[0]
    result["cuda_version"] = cuda_version or header_version(result["cuda_h"])
    if not result["nvrtc"]:
        result["problems"].append("NVRTC (libnvrtc.so); PyPI: nvidia-cuda-nvrtc")
    for header in missing():
        result["problems"].append("CUDA header %s" % header)


def main():
    result = {"problems": []}
    query_python(result)
    query_torch(result)
    query_cuda(result, sys.argv[1:])
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
