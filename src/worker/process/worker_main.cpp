// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "os/descriptor_limit.hpp"
#include "os/memory_file.hpp"
#include "protocol/protocol.hpp"
#include "worker/process/candidate_sandbox.hpp"
#include "worker/process/fork_server.hpp"
#include "worker/reference/problem_host.hpp"

namespace {

/// They change how CUDA launches and loads kernels, and so all times. All processes of the worker
/// use CUDA's defaults, whatever the caller has set.
constexpr const char* kLaunchVariables[] = {"CUDA_LAUNCH_BLOCKING", "CUDA_DEVICE_MAX_CONNECTIONS",
                                            "CUDA_MODULE_LOADING"};

}  // namespace

/// kbench-worker CHANNEL_FD NONCE PYTHON BYTECODE_FOLDER [READABLE…]. Only kbench starts it.
/// READABLE: kbench's files that candidates may read. Descriptor 4 (kHiddenFoldersFd) contains the
/// names of folders that they must not see.
int main(int argc, char** argv, char** environment) {
  using namespace kbench;
  int code = 1;
  try {
    if (argc < 5) {
      fmt::print(stderr, "kbench-worker is started by kbench; see kbench --help\n");
      return 2;
    }
    std::vector<char*> first_words(argv + 1, argv + argc);
    for (char** word = environment; *word != nullptr; ++word) first_words.push_back(*word);
    for (const char* const name : kLaunchVariables) unsetenv(name);
    // Threads of the fork server do not exist in its children, so OpenBLAS must not start a pool.
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    Fd socket(std::atoi(argv[1]));
    protocol::Channel channel(std::move(socket), std::strtoull(argv[2], nullptr, 16),
                              protocol::kMaxBody);
    raise_descriptor_limit();
    worker::start_python(argv[3], argv[4]);
    const std::string hidden = read_whole(Fd(protocol::kHiddenFoldersFd).value());
    const worker::CandidateSandbox sandbox({argv + 4, argv + argc}, hidden, std::move(first_words));
    const nlohmann::json ready{{"torch", worker::torch_version()}};
    channel.send(protocol::MessageType::kReady, ready.dump());
    code = worker::fork_server_main(std::move(channel), sandbox);
  } catch (const std::exception& error) {
    fmt::print(stderr, "kbench-worker: {}\n", error.what());
  }
  // Finalising an interpreter that has imported torch hangs or crashes.
  std::fflush(nullptr);
  _exit(code);
}
