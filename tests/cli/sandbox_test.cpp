// SPDX-License-Identifier: MIT
// Modules that try to access what the sandbox forbids. Each is right only if its attempt fails. So
// in a sandbox all are correct, and without one they are not.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>

#include "cli/sandboxed_run.hpp"

namespace kbench::test {
namespace {

namespace fs = std::filesystem;

/// A TCP socket of this machine that every process can connect to.
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

/// Python code that accesses something, or raises OSError.
struct Attempt {
  const char* name;
  std::string reach;
};

std::string raised_by(const std::string& call) {
  return "libc = ctypes.CDLL(None, use_errno=True)\n    if " + call +
         " != 0:\n        raise OSError(ctypes.get_errno())";
}

/// The home of the user who runs the tests. If that is in /tmp: the folder of all homes, because a
/// sandbox has its own /tmp.
std::string users_home() {
  const char* home = std::getenv("HOME");
  const fs::path path = home == nullptr ? "" : home;
  return fs::is_directory(path) && !path.string().starts_with("/tmp") ? path.string() : "/home";
}

/// The candidates' attempts. Without a sandbox, each one succeeds.
std::vector<Attempt> attempts(const TempFolder& folder) {
  static const Server kServer;
  // Not only the folder: below /tmp, it may exist in a sandbox as a parent of readable files.
  const fs::path kept = fs::path(test_environment().at(0).second) / "kept";
  fs::create_directories(kept.parent_path());
  std::ofstream(kept) << "not a candidate's";
  const auto set = (folder.path() / "set/level1/1_ReluScale.py").string();
  return {
      {"passwd", "Path('/etc/passwd').read_text()"},
      {"home", fmt::format("Path('{}').read_text()", kept.string())},
      {"problem", fmt::format("Path('{}').read_text()", set)},
      {"others", fmt::format("os.listdir('{}')", (folder.path() / "mine").string())},
      {"result", fmt::format("open('{}')", (folder.path() / "run.jsonl").string())},
      {"write", fmt::format("open('{}', 'w')", (folder.path() / "written").string())},
      {"network", fmt::format("socket.create_connection(('127.0.0.1', {}))", kServer.port())},
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

/// Actions of honest modules at import.
constexpr const char* kHonest = R"(
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
)";

/// A folder in /tmp that several modules make.
std::string own_folder() { return fmt::format("/tmp/kbench-own-{}", ::getpid()); }

void write_temporary(const SandboxedRun& run) {
  const std::string name = own_folder();
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
  run.write("first", module_with(writes, kPlainCall));
  run.write("second", module_with(writes, kPlainCall));
  run.write("builds", module_with(fmt::format(R"(
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
}

/// A run of all of them.
const SandboxedRun& sandboxed_run() {
  static SandboxedRun run;
  static const bool kJudged = [] {
    for (const auto& [name, reach] : attempts(run.folder)) run.write(name, attempt_module(reach));
    run.write("reads", module_with("open('/etc/passwd')", kPlainCall));
    run.write("honest", module_with(kHonest, kPlainCall));
    if (sandbox_has(SandboxPart::kTemporary)) write_temporary(run);
    if (sandbox_has(SandboxPart::kProcessLimit)) {
      run.write("0_bomb", module_with(R"(
import os

while True:
    os.posix_spawn("/bin/sleep", ["sleep", "100"], {})
)",
                                      kPlainCall));
      run.write("1_after", module_with("", kPlainCall));
    }
    const Variables variables{{"OMP_WAIT_POLICY", ""}};
    run.judge();
    return true;
  }();
  EXPECT_TRUE(kJudged);
  return run;
}

TEST(SandboxedModules, ReachNothing) {
  if (!sandbox_has(SandboxPart::kFiles)) GTEST_SKIP() << "this machine has no Landlock";
  for (const auto& [name, reach] : attempts(sandboxed_run().folder)) {
    SCOPED_TRACE(name);
    const Record& record = sandboxed_run().records.at(name);
    if (name == std::string("large_file"))
      expect_outcome(record, Outcome::kCrash, "signal", "File size limit exceeded");
    else
      expect_outcome(record, Outcome::kCorrect, "", "");
  }
  EXPECT_FALSE(fs::exists(sandboxed_run().folder.path() / "written"));
  // Each attempt succeeds without a sandbox, so this test can fail.
  SandboxedRun free;
  const auto tried = attempts(free.folder);
  for (const auto& [name, reach] : tried) free.write(name, attempt_module(reach));
  free.judge({"--no-sandbox"});
  EXPECT_EQ(free.records.size(), tried.size());
  for (const auto& [name, record] : free.records) {
    SCOPED_TRACE(name);
    expect_outcome(record, Outcome::kMismatch, "wrong_values", "");
  }
  EXPECT_EQ(free.header.environment.at("sandbox"), "none");
  EXPECT_EQ(free.header.options.at("sandbox"), false);
}

TEST(SandboxedModules, AreToldWhatHoldsThemBack) {
  if (!sandbox_has(SandboxPart::kFiles)) GTEST_SKIP() << "this machine has no Landlock";
  expect_outcome(sandboxed_run().records.at("reads"), Outcome::kLoadFailure, "no_permission",
                 "--no-sandbox");
}

TEST(SandboxedModules, DoWhatHonestOnesDo) {
  expect_outcome(sandboxed_run().records.at("honest"), Outcome::kCorrect, "", "");
  const auto& sandbox = sandboxed_run().header.environment.at("sandbox");
  EXPECT_EQ(sandbox.at("has").size() + sandbox.at("lacks").size(), sandbox_parts().size());
  EXPECT_THAT(sandbox.at("has"), testing::Contains("session"));
  EXPECT_FALSE(sandboxed_run().header.options.contains("sandbox"));
}

TEST(SandboxedModules, HaveATmpOfTheirOwn) {
  if (!sandbox_has(SandboxPart::kTemporary))
    GTEST_SKIP() << "this machine gives no mount namespace";
  for (const char* name : {"first", "second", "builds"}) {
    SCOPED_TRACE(name);
    expect_outcome(sandboxed_run().records.at(name), Outcome::kCorrect, "", "");
  }
  EXPECT_FALSE(fs::exists(own_folder()));
}

TEST(SandboxedModules, WhoForksWithoutEndFailsAlone) {
  if (!sandbox_has(SandboxPart::kProcessLimit)) GTEST_SKIP() << "this machine bounds no processes";
  expect_outcome(sandboxed_run().records.at("0_bomb"), Outcome::kLoadFailure, "import_failed",
                 "Resource temporarily unavailable");
  expect_outcome(sandboxed_run().records.at("1_after"), Outcome::kCorrect, "", "");
}

}  // namespace
}  // namespace kbench::test
