// SPDX-License-Identifier: MIT
// Modules that try to reach what is not theirs, through the real binary. Each computes the right
// result only where it was held back, so in a sandbox all are correct; without one they are not.
#include "os/sandbox/sandbox.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>

#include "cli/kbench_process.hpp"
#include "cli/module_samples.hpp"

namespace kbench::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// A TCP socket of this machine that anybody can connect to.
class Server {
 public:
  Server() : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(fd_.value(), reinterpret_cast<const sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(fd_.value(), 64), 0);
    EXPECT_EQ(::getsockname(fd_.value(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
  }
  int port() const { return port_; }

 private:
  Fd fd_;
  int port_ = 0;
};

/// One attempt: Python that reaches something, or raises OSError.
struct Attempt {
  const char* name;
  std::string reach;
};

std::string attempt_module(const std::string& reach) {
  return module_with(R"(
import ctypes
import os
import socket
from pathlib import Path


def reach():
    )" + reach + R"(


def is_held_back():
    try:
        reach()
    except OSError:
        return True
    return False


HELD_BACK = is_held_back()
)",
                     R"(        if not HELD_BACK:
            return torch.zeros_like(x)
        return torch.relu(x) * self.scale + self.bias
)");
}

std::string raised_by(const std::string& call) {
  return "libc = ctypes.CDLL(None, use_errno=True)\n    if " + call +
         " != 0:\n        raise OSError(ctypes.get_errno())";
}

/// Variables of this process's environment, for as long as it lives; an empty one is unset.
class Variables {
 public:
  Variables(std::initializer_list<std::pair<std::string, std::string>> values) {
    for (const auto& [name, value] : values) {
      if (const char* old = std::getenv(name.c_str()); old != nullptr) old_[name] = old;
      names_.push_back(name);
      set(name, value);
    }
  }
  ~Variables() {
    for (const auto& name : names_) set(name, old_[name]);
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;

 private:
  static void set(const std::string& name, const std::string& value) {
    value.empty() ? ::unsetenv(name.c_str()) : ::setenv(name.c_str(), value.c_str(), 1);
  }
  std::vector<std::string> names_;
  std::map<std::string, std::string> old_;
};

class SandboxedModules : public testing::Test {
 protected:
  /// Judges the modules of the folder; records by the names of their files.
  std::map<std::string, Record> judge(const std::vector<std::string>& options = {}) {
    const auto problem = folder_.write("set/level1/1_ReluScale.py", kModuleProblem);
    const auto out = folder_.path() / "run.jsonl";
    fs::remove(out);
    std::vector<std::string> arguments{"eval",         problem.string(),
                                       "--candidates", (folder_.path() / "mine").string(),
                                       "--device",     "cpu",
                                       "--trials",     "1",
                                       "--out",        out.string()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const auto result = run_kbench(arguments);
    EXPECT_EQ(result.status.code, 0) << result.error;
    header_ = read_run(out).headers.at(0);
    std::map<std::string, Record> records;
    for (const auto& [id, record] : records_by_candidate(out))
      records.emplace(fs::path(id).stem().string(), record);
    return records;
  }

  void write(const std::string& name, const std::string& source) const {
    folder_.write("mine/1_ReluScale/" + name + ".py", source);
  }

  /// What candidates try; each succeeds where nothing holds them back.
  std::vector<Attempt> attempts() const {
    const auto home = test_environment().at(0).second;
    const auto set = (folder_.path() / "set/level1/1_ReluScale.py").string();
    return {
        {"passwd", "Path('/etc/passwd').read_text()"},
        {"home", fmt::format("os.listdir('{}')", home)},
        {"problem", fmt::format("Path('{}').read_text()", set)},
        {"others", fmt::format("os.listdir('{}')", (folder_.path() / "mine").string())},
        {"result", fmt::format("open('{}')", (folder_.path() / "run.jsonl").string())},
        {"write", fmt::format("open('{}', 'w')", (folder_.path() / "written").string())},
        {"network", fmt::format("socket.create_connection(('127.0.0.1', {}))", server_.port())},
        {"signal", "os.kill(os.getppid(), 0)"},
        {"environ", "Path(f'/proc/{os.getppid()}/environ').read_bytes()"},
        {"memory", "open(f'/proc/{os.getppid()}/mem', 'rb')"},
        {"oom_score", "open('/proc/self/oom_score_adj', 'w').write('0')"},
        {"ptrace", raised_by("libc.ptrace(0x4206, os.getppid(), 0, 0)")},
        {"own_environ",
         "if b'KBENCH' not in Path('/proc/self/environ').read_bytes():\n        raise OSError"},
        {"variable", "if 'KBENCH_HOME' not in os.environ:\n        raise OSError"},
        {"arguments",
         "if b'host-headers' not in Path('/proc/self/cmdline').read_bytes():\n"
         "        raise OSError"},
        {"lease",
         "fcntl = __import__('fcntl')\n"
         "    fcntl.fcntl(os.open(__file__, os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_RDLCK)"},
        {"folder_report",
         "fcntl = __import__('fcntl')\n"
         "    fcntl.fcntl(os.open('/usr', os.O_RDONLY), fcntl.F_NOTIFY, fcntl.DN_CREATE)"},
        {"file_report",
         "libc = ctypes.CDLL(None, use_errno=True)\n"
         "    if libc.inotify_init1(0) < 0:\n"
         "        raise OSError(ctypes.get_errno())"},
        {"system_v_memory",
         "libc = ctypes.CDLL(None, use_errno=True)\n"
         "    memory = libc.shmget(0, 4096, 0o1600)\n"
         "    if memory < 0:\n"
         "        raise OSError(ctypes.get_errno())\n"
         "    libc.shmctl(memory, 0, None)"},
        {"message_queue",
         "libc = ctypes.CDLL(None, use_errno=True)\n"
         "    queue = libc.msgget(0, 0o1600)\n"
         "    if queue < 0:\n"
         "        raise OSError(ctypes.get_errno())\n"
         "    libc.msgctl(queue, 0, None)"},
        {"large_file",
         "os.truncate(os.open('large', os.O_CREAT | os.O_RDWR), 2 << 30)\n"
         "    os.unlink('large')"},
        {"users_home", fmt::format("os.listdir('{}')", users_home())},
    };
  }

  /// The home of whoever runs the tests, or the folder of all homes where that lies in /tmp: a
  /// sandbox has a /tmp of its own.
  static std::string users_home() {
    const char* home = std::getenv("HOME");
    const fs::path path = home == nullptr ? "" : home;
    return fs::is_directory(path) && !path.string().starts_with("/tmp") ? path.string() : "/home";
  }

  static bool has(SandboxPart part) {
    static const SandboxParts kParts = probe_sandbox();
    return kParts.has(part);
  }

  TempFolder folder_;
  Server server_;
  RunHeader header_;
};

TEST_F(SandboxedModules, ReachNothing) {
  if (!has(SandboxPart::kFiles)) GTEST_SKIP() << "this machine has no Landlock";
  for (const auto& [name, reach] : attempts()) write(name, attempt_module(reach));
  const auto sandboxed = judge();
  EXPECT_EQ(sandboxed.size(), attempts().size());
  for (const auto& [name, record] : sandboxed) {
    SCOPED_TRACE(name);
    if (name == "large_file")
      expect_outcome(record, Outcome::kCrash, "signal", "File size limit exceeded");
    else
      expect_outcome(record, Outcome::kCorrect, "", "");
  }
  EXPECT_FALSE(fs::exists(folder_.path() / "written"));
  // Each of them gets there without a sandbox, so that this test can fail.
  for (const auto& [name, record] : judge({"--no-sandbox"})) {
    SCOPED_TRACE(name);
    expect_outcome(record, Outcome::kMismatch, "wrong_values", "");
  }
  EXPECT_EQ(header_.environment.at("sandbox"), "none");
  EXPECT_EQ(header_.options.at("sandbox"), false);
}

TEST_F(SandboxedModules, AreToldWhatHoldsThemBack) {
  if (!has(SandboxPart::kFiles)) GTEST_SKIP() << "this machine has no Landlock";
  write("reads", module_with("open('/etc/passwd')", "        return torch.relu(x) * self.scale"));
  expect_outcome(judge().at("reads"), Outcome::kLoadFailure, "no_permission", "--no-sandbox");
}

TEST_F(SandboxedModules, DoWhatHonestOnesDo) {
  write("honest", module_with(R"(
import multiprocessing
import os
import pathlib
import subprocess
import tempfile
import threading

with tempfile.NamedTemporaryFile("w+", suffix=".c") as file:
    file.write("int two() { return 2; }")
    file.flush()
    folder = tempfile.mkdtemp()
    home = os.path.expanduser("~")
    assert os.path.dirname(folder) == os.environ["TMPDIR"] and folder.startswith(home + "/")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", f"{folder}/two.so", file.name], check=True)
import ctypes
assert ctypes.CDLL(f"{folder}/two.so").two() == 2
assert pathlib.Path(__file__).read_text()
pathlib.Path.home().joinpath("note").write_text("mine")
pathlib.Path("here").write_text("mine")
assert os.path.expanduser("~") != "~"
pathlib.Path(f"/proc/self/task/{threading.get_native_id()}/comm").write_text("mine")
for cache in ("TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR"):
    folder = pathlib.Path(os.environ[cache])
    folder.mkdir(parents=True)
    folder.joinpath("kernel").write_text("mine")
try:
    from triton import knobs
    cache = knobs.cache.dir
    os.makedirs(cache, exist_ok=True)
    assert os.path.realpath(cache).startswith(os.path.realpath(os.path.expanduser("~")))
except ImportError:
    pass
ran = []
# As Triton and inductor do it for their caches.
import fcntl
with open(pathlib.Path.home() / "lock", "w") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
multiprocessing.Lock().acquire()
thread = threading.Thread(target=ran.append, args=(1,))
thread.start()
thread.join()
assert ran
assert "VmRSS" in pathlib.Path("/proc/self/status").read_text()
assert os.cpu_count() and os.sched_getaffinity(0)
assert os.environ["OMP_WAIT_POLICY"] == "passive"  # torch's threads are not to spin
child = subprocess.Popen(["sleep", "100"])
child.kill()
assert child.wait() == -9
assert multiprocessing.current_process().pid == os.getpid()
)",
                              R"(        return torch.relu(x) * self.scale + self.bias
)"));
  const Variables variables{{"OMP_WAIT_POLICY", ""}};
  const auto records = judge();
  expect_outcome(records.at("honest"), Outcome::kCorrect, "", "");
  const auto& sandbox = header_.environment.at("sandbox");
  EXPECT_EQ(sandbox.at("has").size() + sandbox.at("lacks").size(), sandbox_parts().size());
  EXPECT_THAT(sandbox.at("has"), testing::Contains("session"));
  EXPECT_FALSE(header_.options.contains("sandbox"));
}

TEST_F(SandboxedModules, HaveOfTheEnvironmentWhatTellsLibrariesHowToWork) {
  write("asks", module_with(R"(
import os

assert os.environ["OMP_WAIT_POLICY"] == "active" and os.environ["OMP_NUM_THREADS"] == "1"
assert os.environ["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
assert "KBENCH_TEST_TOKEN" not in os.environ and "KBENCH_HOME" not in os.environ
assert b"secret" not in open("/proc/self/environ", "rb").read()
)",
                            "        return torch.relu(x) * self.scale + self.bias\n"));
  const Variables variables{{"OMP_WAIT_POLICY", "active"},
                            {"OMP_NUM_THREADS", "1"},
                            {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"},
                            {"KBENCH_TEST_TOKEN", "secret"}};
  expect_outcome(judge().at("asks"), Outcome::kCorrect, "", "");
}

TEST_F(SandboxedModules, HaveATmpOfTheirOwn) {
  if (!has(SandboxPart::kTemporary)) GTEST_SKIP() << "this machine gives no mount namespace";
  const std::string name = fmt::format("/tmp/kbench-own-{}", ::getpid());
  const std::string plain = "        return torch.relu(x) * self.scale + self.bias\n";
  const std::string writes = fmt::format(R"(
import os
import tempfile

assert not os.path.exists("{0}")
os.makedirs("{0}")
open("{0}/kernel.cu", "w").write("int two;")
assert open("{0}/kernel.cu").read() == "int two;"
for folder in (None, "/tmp", "/var/tmp", "/dev/shm"):
    made = tempfile.mkdtemp(dir=folder)
    open(os.path.join(made, "file"), "w").write("mine")
)",
                                         name);
  write("first", module_with(writes, plain));
  write("second", module_with(writes, plain));
  write("builds", module_with(fmt::format(R"(
import os

from torch.utils.cpp_extension import load

assert not os.path.exists("{0}")
os.makedirs("{0}")
open("{0}/add.h", "w").write("inline torch::Tensor add(torch::Tensor x) {{ return x + 1; }}")
open("{0}/add.cpp", "w").write("""
#include <torch/extension.h>
#include "add.h"
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{ m.def("add", &add); }}
""")
EXTENSION = load(name="adds", sources=["{0}/add.cpp"])
)",
                                          name),
                              "        return EXTENSION.add(torch.relu(x) * self.scale + "
                              "self.bias - 1)\n"));
  for (const auto& [file, record] : judge()) {
    SCOPED_TRACE(file);
    expect_outcome(record, Outcome::kCorrect, "", "");
  }
  EXPECT_FALSE(fs::exists(name));
}

TEST_F(SandboxedModules, FindCompilersThatLieElsewhere) {
  if (!has(SandboxPart::kFiles)) GTEST_SKIP() << "this machine has no Landlock";
  const auto compiler =
      folder_.write("tools/bin/cc", "#!/bin/sh\ncat \"$(dirname \"$0\")/../lib/header\"\n");
  folder_.write("tools/lib/header", "int two;");
  folder_.write("other/header", "int three;");
  folder_.write("cuda/include/header", "int four;");
  fs::permissions(compiler, fs::perms::owner_exec, fs::perm_options::add);
  write("builds", module_with(fmt::format(R"(
import os
import subprocess

assert subprocess.run(["cc"], stdout=subprocess.PIPE, text=True, check=True).stdout == "int two;"
assert not os.access("{}", os.R_OK) or subprocess.run(["cat", "{}"]).returncode != 0
assert open(os.environ["CUDA_HOME"] + "/include/header").read() == "int four;"
)",
                                          (folder_.path() / "other/header").string(),
                                          (folder_.path() / "other/header").string()),
                              R"(        return torch.relu(x) * self.scale + self.bias
)"));
  const Variables variables{
      {"PATH", fmt::format("{}:{}", compiler.parent_path().string(), std::getenv("PATH"))},
      {"CUDA_HOME", (folder_.path() / "cuda").string()}};
  const auto records = judge();
  expect_outcome(records.at("builds"), Outcome::kCorrect, "", "");
}

TEST_F(SandboxedModules, ImportFromPythonsPathButSeeNoneOfTheRunsFoldersThere) {
  if (!has(SandboxPart::kFiles)) GTEST_SKIP() << "this machine has no Landlock";
  folder_.write("packages/beside.py", "TWO = 2");
  write("imports",
        module_with("from beside import TWO",
                    "        return torch.relu(x) * self.scale + self.bias * (TWO - 1)\n"));
  for (const auto& [name, reach] : attempts())
    if (name == std::string("problem") || name == std::string("result"))
      write(name, attempt_module(reach));
  const auto mine = folder_.path() / "mine" / "1_ReluScale";
  write("others",
        attempt_module(fmt::format("Path('{}').read_text()", (mine / "imports.py").string())));
  const std::string path =
      fmt::format("{}:{}:{}:{}", (folder_.path() / "packages").string(), mine.string(),
                  (folder_.path() / "set/level1").string(), folder_.path().string());
  const char* const libraries = std::getenv("LD_LIBRARY_PATH");
  const Variables variables{
      {"PYTHONPATH", path},
      {"LD_LIBRARY_PATH", libraries == nullptr ? path : fmt::format("{}:{}", libraries, path)}};
  const auto records = judge();
  EXPECT_EQ(records.size(), 4U);
  for (const auto& [name, record] : records) {
    SCOPED_TRACE(name);
    expect_outcome(record, Outcome::kCorrect, "", "");
  }
}

TEST_F(SandboxedModules, WhoForksWithoutEndFailsAlone) {
  if (!has(SandboxPart::kProcessLimit)) GTEST_SKIP() << "this machine bounds no processes";
  write("0_bomb", module_with(R"(
import os

while True:
    os.posix_spawn("/bin/sleep", ["sleep", "100"], {})
)",
                              R"(        return torch.relu(x) * self.scale + self.bias
)"));
  write("1_after", module_with("", R"(        return torch.relu(x) * self.scale + self.bias
)"));
  const auto records = judge();
  expect_outcome(records.at("0_bomb"), Outcome::kLoadFailure, "import_failed",
                 "Resource temporarily unavailable");
  expect_outcome(records.at("1_after"), Outcome::kCorrect, "", "");
}

}  // namespace
}  // namespace kbench::test
