// SPDX-License-Identifier: MIT
#include "os/device_probe.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>

#include "kbench/error.hpp"
#include "os/subprocess.hpp"

namespace kbench {
namespace {

using nlohmann::json;

constexpr int kLimit_ms = 20'000;

// Attributes of CUdevice_attribute, by their stable numbers.
constexpr int kClockRate = 13;
constexpr int kMultiprocessorCount = 16;
constexpr int kMemoryClockRate = 36;
constexpr int kMemoryBusWidth = 37;
constexpr int kL2CacheSize = 38;
constexpr int kComputeMajor = 75;
constexpr int kComputeMinor = 76;
constexpr int kSharedPerBlockOptin = 97;

using Uuid = std::array<unsigned char, 16>;

template <typename Function>
Function symbol(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

/// The name in CUDA_VISIBLE_DEVICES of a GPU ("GPU-") or of a part of one ("MIG-").
std::string uuid_text(const char* prefix, const Uuid& uuid) {
  std::string text = prefix;
  for (std::size_t i = 0; i < uuid.size(); ++i)
    text += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
  return text;
}

/// Runs in the child. Returns the driver's answers as JSON.
json ask_driver() {
  json gpus = json::array();
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) return gpus;
  const auto init = symbol<int (*)(unsigned)>(library, "cuInit");
  const auto version = symbol<int (*)(int*)>(library, "cuDriverGetVersion");
  const auto count_devices = symbol<int (*)(int*)>(library, "cuDeviceGetCount");
  const auto open = symbol<int (*)(int*, int)>(library, "cuDeviceGet");
  const auto name_of = symbol<int (*)(char*, int, int)>(library, "cuDeviceGetName");
  const auto uuid_of = symbol<int (*)(unsigned char*, int)>(library, "cuDeviceGetUuid_v2");
  // For a part of a GPU (MIG), the first version of the call returns the whole GPU's UUID. The
  // second version returns the part's.
  const auto whole_uuid_of = symbol<int (*)(unsigned char*, int)>(library, "cuDeviceGetUuid");
  const auto attribute = symbol<int (*)(int*, int, int)>(library, "cuDeviceGetAttribute");
  const auto memory_of = symbol<int (*)(std::size_t*, int)>(library, "cuDeviceTotalMem_v2");
  if (!init || !version || !count_devices || !open || !name_of || !uuid_of || !attribute ||
      !memory_of || init(0) != 0)
    return gpus;
  int count = 0;
  int driver = 0;
  version(&driver);
  count_devices(&count);
  for (int index = 0; index < count; ++index) {
    int device = 0;
    std::array<char, 256> name{};
    Uuid uuid{};
    std::size_t memory = 0;
    if (open(&device, index) != 0) continue;
    name_of(name.data(), static_cast<int>(name.size()), device);
    uuid_of(uuid.data(), device);
    memory_of(&memory, device);
    const auto ask = [&](int which) {
      int value = 0;
      attribute(&value, which, device);
      return value;
    };
    Uuid whole = uuid;
    if (whole_uuid_of != nullptr) whole_uuid_of(whole.data(), device);
    gpus.push_back({{"index", index},
                    {"name", name.data()},
                    {"uuid", uuid_text(whole == uuid ? "GPU-" : "MIG-", uuid)},
                    {"major", ask(kComputeMajor)},
                    {"minor", ask(kComputeMinor)},
                    {"driver", driver},
                    {"sms", ask(kMultiprocessorCount)},
                    {"shared", ask(kSharedPerBlockOptin)},
                    {"memory", memory},
                    {"clock", ask(kClockRate)},
                    {"memory_clock", ask(kMemoryClockRate)},
                    {"memory_bus", ask(kMemoryBusWidth)},
                    {"l2", ask(kL2CacheSize)}});
  }
  return gpus;
}

/// The child's output before the limit.
std::string read_answer(int fd) {
  std::string answer;
  std::array<char, 4096> buffer;
  pollfd readable{fd, POLLIN, 0};
  while (poll(&readable, 1, kLimit_ms) > 0) {
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got <= 0) break;
    answer.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return answer;
}

}  // namespace

std::vector<GpuInfo> probe_gpus() {
  auto [ours, theirs] = socket_pair();
  const pid_t pid = fork();
  if (pid < 0) throw Error("cannot start a process to look for GPUs");
  if (pid == 0) {
    const std::string answer = ask_driver().dump();
    [[maybe_unused]] const auto written = write(theirs.value(), answer.data(), answer.size());
    _exit(0);
  }
  theirs.reset();
  const json answer = json::parse(read_answer(ours.value()), nullptr, false);
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  std::vector<GpuInfo> gpus;
  if (!answer.is_array()) return gpus;
  for (const auto& gpu : answer)
    gpus.push_back({gpu.at("index"), gpu.at("name"), gpu.at("uuid"), gpu.at("major"),
                    gpu.at("minor"), gpu.at("driver"), gpu.at("sms"), gpu.at("shared"),
                    gpu.at("memory"), gpu.at("clock"), gpu.at("memory_clock"), gpu.at("memory_bus"),
                    gpu.at("l2")});
  return gpus;
}

}  // namespace kbench
