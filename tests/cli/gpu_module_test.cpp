// SPDX-License-Identifier: MIT
// Modules on a real GPU: whose kernels run, and how they may access the GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/gpu_fixture.hpp"
#include "cli/kbench_process.hpp"
#include "cli/module_samples.hpp"

namespace kbench::test {
namespace {

using testing::Contains;
using testing::Not;

/// A program with a CUDA context of its own, in which a kernel spins for 20 seconds. Its exit code
/// is 1 if it gets no context.
const std::string kSpinning = R"(
import ctypes
import sys
import time

PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry spin() {
  .reg .pred %p;
  .reg .b64 %rd<3>;
  mov.u64 %rd0, %globaltimer;
again:
  mov.u64 %rd1, %globaltimer;
  sub.u64 %rd2, %rd1, %rd0;
  setp.lt.u64 %p, %rd2, 20000000000;
  @%p bra again;
  ret;
}
"""
cuda = ctypes.CDLL("libcuda.so.1")
context, module, kernel = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
if (cuda.cuInit(0) or cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) or
        cuda.cuCtxSetCurrent(context) or cuda.cuModuleLoadData(ctypes.byref(module), PTX) or
        cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"spin") or
        cuda.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, None, None, None)):
    sys.exit(1)
print("spinning", flush=True)
time.sleep(20)
)";

/// Python code that defines PROGRAM.
std::string program(const std::string& text) { return "\nPROGRAM = r'''" + text + "'''\n"; }

class GpuModule : public Gpu {
 protected:
  /// The record of a module with this text.
  Record judged(const std::string& source, const std::vector<std::string>& more = {},
                const std::string& problem_text = kModuleProblem) {
    const auto problem = folder_.write("set/level1/2_ReluScale.py", problem_text);
    const auto file = folder_.write("module.py", source);
    const auto log = folder_.path() / ("module" + std::to_string(++modules_) + ".jsonl");
    std::vector<std::string> all{"eval",      "--candidate",    file.string(),
                                 "--problem", problem.string(), "--device",
                                 "cuda:0",    "--out",          log.string()};
    all.insert(all.end(), more.begin(), more.end());
    const auto result = run_kbench(all);
    EXPECT_EQ(result.status.code, 0) << result.error;
    const auto run = read_run(log);
    EXPECT_EQ(run.records.size(), 1u);
    return run.records.empty() ? Record{} : run.records[0];
  }

 private:
  int modules_ = 0;
};

TEST_F(GpuModule, AWriteToAnInputHasItsNameByWhicheverWayTheErrorComes) {
  const std::string right = "        return torch.relu(x) * self.scale + self.bias\n";
  for (const std::string& body : {
           // The error shows at the end of the call, at a later launch of torch, or where torch
           // waits.
           "        x.sub_(1.0)\n" + right,
           "        x.sub_(1.0)\n        for _ in range(200):\n            x = x * 1.0\n" + right,
           "        x.sub_(1.0)\n        torch.cuda.synchronize()\n" + right,
           // The module catches the error and raises another one.
           "        x.sub_(1.0)\n        try:\n            torch.cuda.synchronize()\n"
           "        except RuntimeError as error:\n"
           "            raise ValueError(f'a kernel failed: {error}')\n" +
               right,
       }) {
    const Record record = judged(module_with("", body));
    expect_outcome(record, Outcome::kIllegalWrite, "input_written", "input x");
  }
}

TEST_F(GpuModule, AnErrorThatIsNoWriteToAnInputStaysACrash) {
  // No GPU has memory at address 16. A wild index into a tensor could access mapped memory, and the
  // answer would be right.
  const std::string right = "y[i] = v * scale[i % columns] + bias[i % columns];";
  for (const std::string& wild : {
           std::string("y[i] = reinterpret_cast<const scalar_t*>(16)[i % 2];"),
           right + " reinterpret_cast<scalar_t*>(16)[i % 2] = v;",
       }) {
    const Record record = judged(module_with(replaced(kKernel, right, wild) + kLoad, kCall));
    EXPECT_EQ(to_string(record.outcome), "crash")
        << wild << ": " << record.cause.str() << ": " << record.message;
  }
}

TEST_F(GpuModule, AGraphOfTheFirstCallsInputIsSaidHowToMendIt) {
  const auto module_of = [](const std::string& before_replay) {
    return R"(import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, *args):
        super().__init__()
        self.graph = None

    def forward(self, x):
        if self.graph is None:
            self.x = x.clone()
            torch.cuda.synchronize()
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.y = torch.tanh(self.x) + 0.5
)" + before_replay +
           "        self.graph.replay()\n        return self.y\n";
  };
  const std::string problem = problem_of("torch.tanh(x) + 0.5", "torch.randn(64, 16)");
  const Record old = judged(module_of(""), {}, problem);
  EXPECT_EQ(to_string(old.outcome), "cheat") << old.message;
  EXPECT_EQ(old.cause, "old_output");
  EXPECT_THAT(old.message, testing::HasSubstr("copy each call's inputs into the captured "
                                              "tensors before the replay"));
  const Record mended = judged(module_of("        self.x.copy_(x)\n"), {}, problem);
  EXPECT_EQ(to_string(mended.outcome), "correct") << mended.message;
}

TEST_F(GpuModule, OwnKernelsCanBeRequired) {
  const std::vector<std::string> required{"--require", "own-kernels"};
  const Record own = judged(module_with(kKernel + kLoad, kCall), required);
  EXPECT_EQ(to_string(own.outcome), "correct") << own.message;
  EXPECT_EQ(own.kernel_class, "own");
  const Record torch = judged(module_with("", kPlainCall), required);
  EXPECT_EQ(to_string(torch.outcome), "rejected") << torch.message;
  EXPECT_EQ(torch.kernel_class, "library");
  EXPECT_EQ(torch.cause.str(), "not_own_kernels");
}

TEST_F(GpuModule, OwnKernelsOfAConstantAnswerAreItsOwn) {
  // The ablation run is right here, because memory still has the earlier answer, which is constant.
  const auto with = [](std::string text, const std::string& old, const std::string& other) {
    const auto at = text.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    return text.replace(at, old.size(), other);
  };
  const std::string problem = with(kModuleProblem, "torch.relu(x) * self.scale + self.bias",
                                   "torch.relu(x - 100) * self.scale");
  const std::string kernel =
      with(with(kKernel, "x[i] > scalar_t(0) ? x[i] :", "x[i] > scalar_t(100) ? x[i] - 100 :"),
           " + bias[i % columns]", "");
  const Record record = judged(module_with(kernel + kLoad, kCall), {}, problem);
  EXPECT_EQ(to_string(record.outcome), "correct") << record.message;
  EXPECT_EQ(record.kernel_class, "own");
}

TEST_F(GpuModule, LaunchesWithoutRecordsAreMissed) {
  const Record record = judged(module_with(R"(
import ctypes


def turn_records_off():
    for version in (12, 13):
        try:
            ctypes.CDLL("libcupti.so.%d" % version).cuptiActivityDisable(10)
        except OSError:
            pass
)",
                                           "        turn_records_off()\n" + kPlainCall));
  EXPECT_EQ(to_string(record.outcome), "correct") << record.message;
  EXPECT_EQ(record.kernel_class, "unknown");
  EXPECT_THAT(record.flags, Contains("trace_incomplete"));
}

TEST_F(GpuModule, NothingButItsFirstContextReachesTheDevice) {
  const Record record = judged(module_with(R"(
import ctypes
import os
import subprocess
import sys

program = """
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
context = ctypes.c_void_p()
failed = cuda.cuInit(0) or cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
print("no context" if failed else "a context")
"""
child = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True).stdout
cuda = ctypes.CDLL("libcuda.so.1")
second = cuda.cuCtxCreate_v2(ctypes.byref(ctypes.c_void_p()), 0, 0)
threads = [open("/proc/self/task/%s/comm" % task).read().strip()
           for task in os.listdir("/proc/self/task")]
if child.strip() != "no context" or second == 0:
    raise RuntimeError("the child has %s, the second is %d" % (child.strip(), second))
if torch.cuda.is_available():
    torch.cuda.synchronize()
    # Plain memory of the host, and write-combined.
    host = [cuda.cuMemHostAlloc(ctypes.byref(ctypes.c_void_p()), ctypes.c_size_t(4096), flag)
            for flag in (0, 4)]
    if host[0] != 0 or host[1] == 0:
        raise RuntimeError("memory of the host: %s" % host)
# A thread that was there before the sandbox would have privileges.
rights = {line for task in os.listdir("/proc/self/task")
          for line in open("/proc/self/task/%s/status" % task) if line.startswith("CapEff")}
if rights != {"CapEff:\t0000000000000000\n"}:
    raise RuntimeError("rights: %s" % rights)
# Who was there before the device was closed could open it: CUDA's and CUPTI's alone.
if len([name for name in threads if not name.startswith("cuda")]) > 3:
    raise RuntimeError("threads: %s" % threads)
)",
                                           kPlainCall));
  EXPECT_EQ(to_string(record.outcome), "correct") << record.message;
}

TEST_F(GpuModule, NorDoesAProgramOfAThreadThatIsOlder) {
  // Landlock's second layer does not apply to programs that CUDA's own threads start. They can open
  // the device, but the driver refuses them a context.
  const Record record = judged(module_with(program(kSpinning) + R"(
import sys

HOST = r'''
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstdlib>
#include <string>

static std::string python, text;
static volatile long child = 0;

static void start(int) {
  const int device = open("/dev/nvidiactl", O_RDWR | O_CLOEXEC);
  if (device < 0 || child != 0) return;
  close(device);
  child = syscall(SYS_clone, SIGCHLD, 0L, 0L, 0L, 0L);
  if (child != 0) return;
  const char* arguments[] = {python.c_str(), "-c", text.c_str(), nullptr};
  execv(python.c_str(), const_cast<char**>(arguments));
  _exit(2);
}

int64_t ended(const std::string& interpreter, const std::string& program) {
  python = interpreter;
  text = program;
  struct sigaction action {};
  action.sa_handler = start;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  DIR* tasks = opendir("/proc/self/task");
  while (dirent* task = readdir(tasks)) {
    const long thread = atol(task->d_name);
    if (thread == 0 || thread == syscall(SYS_gettid)) continue;
    syscall(SYS_tgkill, getpid(), thread, SIGUSR1);
    usleep(100000);
  }
  closedir(tasks);
  int status = 0;
  if (child <= 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}
'''

host = load_inline(name="older_threads", cpp_sources=HOST, functions=["ended"])
if torch.cuda.is_available():
    code = host.ended(sys.executable, PROGRAM)
    if code != 1:
        raise RuntimeError("the program ended with %d" % code)
)",
                                           kPlainCall));
  EXPECT_EQ(to_string(record.outcome), "correct") << record.message;
  EXPECT_THAT(record.flags, Not(Contains("gpu_shared")));
}

TEST_F(GpuModule, WhereAnotherContextComputesThereAreNoTimes) {
  const Record record = judged(module_with(program(kSpinning) + R"(
import subprocess
import sys

if torch.cuda.is_available():
    child = subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE)
    if child.stdout.readline() != b"spinning\n":
        raise RuntimeError("no context")
)",
                                           kPlainCall),
                               {"--no-sandbox"});
  EXPECT_EQ(to_string(record.outcome), "correct") << record.message;
  EXPECT_THAT(record.flags, Contains("gpu_shared"));
  EXPECT_FALSE(record.timing);
  EXPECT_TRUE(record.speedup.empty());
}

TEST_F(GpuModule, TorchCompilesBesideAClosedDevice) {
  const Record record = judged(module_with(R"(
import torch._inductor.config as config

compiled = torch.compile(
    lambda x, scale, bias: (torch.eye(16, device=x.device) @ torch.relu(x)) * scale + bias,
    mode="max-autotune-no-cudagraphs")
if config.worker_start_method != "fork":
    raise RuntimeError("compilers are started by " + config.worker_start_method)
)",
                                           R"(
        return compiled(x, self.scale, self.bias)
)"),
                               {"--timeout", "120"});
  EXPECT_EQ(to_string(record.outcome), "correct") << record.message;
}

/// Constructors of reference and candidate run on the CPU. torch.Tensor(2, 3) ignores the default
/// device, uses the CPU's generator, and meets tensors of the same device.
TEST_F(GpuModule, ModelsAreMadeOnTheHost) {
  const std::string made =
      "        self.scale = nn.Parameter(torch.Tensor(columns).uniform_(0.5, 1.5))\n"
      "        self.bias = nn.Parameter(torch.Tensor(columns).normal_() + torch.rand(columns))\n";
  const std::string drawn =
      "        self.scale = nn.Parameter(torch.rand(columns) + slope)\n"
      "        self.bias = nn.Parameter(torch.zeros(columns))\n";
  const std::string problem = replaced(kModuleProblem, drawn, made);
  const auto module_of = [&](const std::string& init, const std::string& forward) {
    return kModuleHead + "\ncolumns = 40\n\n\nclass ModelNew(nn.Module):\n" +
           "    def __init__(self, slope):\n        super().__init__()\n" + init +
           "\n    def forward(self, x):\n" + forward;
  };
  const Record same = judged(module_of(made, kPlainCall), {}, problem);
  EXPECT_EQ(to_string(same.outcome), "correct") << same.message;
  EXPECT_EQ(same.weights, "as_built");
  EXPECT_TRUE(same.unplaced.empty());
  // The candidate itself moves them to the device.
  const std::string moved =
      made +
      "        self.cuda()\n        self.packed = torch.stack([self.scale, self.bias]).detach()\n"
      "        assert self.packed.is_cuda and not torch.ones(3).is_cuda\n";
  const std::string packed = "        return torch.relu(x) * self.packed[0] + self.packed[1]\n";
  const Record own = judged(module_of(moved, packed), {}, problem);
  EXPECT_EQ(to_string(own.outcome), "correct") << own.message;
  EXPECT_EQ(own.weights, "as_built");
  EXPECT_THAT(own.flags, Not(Contains("host_tensors_moved")));
  // A forward cannot use tensors that the constructor left on the host, so kbench moves them.
  const Record plain = judged(
      module_of(made + "        self.packed = torch.stack([self.scale, self.bias]).detach()\n",
                packed),
      {}, problem);
  EXPECT_EQ(to_string(plain.outcome), "correct") << plain.message;
  EXPECT_THAT(plain.flags, Contains("host_tensors_moved"));
}

TEST_F(GpuModule, FoldedWeightsStayAsBuilt) {
  const std::string folded =
      replaced(module_with("", "        return torch.relu(x) + self.bias\n"),
               "        self.bias = nn.Parameter(torch.zeros(40))\n",
               "        self.bias = nn.Parameter(torch.zeros(40))\n"
               "        with torch.no_grad():\n            self.bias.div_(self.scale)\n");
  const std::string problem =
      replaced(kModuleProblem, "* self.scale + self.bias", "+ self.bias / self.scale");
  const Record record = judged(folded, {}, problem);
  EXPECT_EQ(to_string(record.outcome), "correct") << record.message;
  EXPECT_EQ(record.weights, "as_built");
  EXPECT_THAT(record.unplaced, testing::ElementsAre("bias"));
}

TEST_F(GpuModule, WhatOnlyNvccCompilesRuns) {
  const auto doctor = run_kbench({"doctor"});
  if (doctor.output.find("compiles sources that") == std::string::npos)
    GTEST_SKIP() << "no nvcc of torch's CUDA on this machine (kbench doctor)";
  const std::string managed =
      replaced(kKernel, "template <typename", "__managed__ int calls;\ntemplate <typename");
  const Record record = judged(module_with(managed + kLoad, kCall), {"--nvcc-timeout", "280"});
  ASSERT_EQ(record.outcome, Outcome::kCorrect) << record.message;
  ASSERT_TRUE(record.compile);
  EXPECT_THAT(record.compile->way.str(), testing::StartsWith("nvcc "));
  EXPECT_THAT(record.compile->fallback, testing::StartsWith("managed_variable: "));
}

}  // namespace
}  // namespace kbench::test
