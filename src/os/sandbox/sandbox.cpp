// SPDX-License-Identifier: MIT
#include "os/sandbox/sandbox.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>

#include "os/sandbox/landlock.hpp"
#include "os/sandbox/seccomp.hpp"
#include "os/sandbox/steps.hpp"
#include "os/subprocess.hpp"

namespace kbench {
namespace {

namespace fs = std::filesystem;

/// Far above any file that a candidate needs.
constexpr rlim_t kFileBytes = rlim_t{1} << 30;
/// Open descriptors: enough for one frame from the judge, the process's own, and CUDA's for each
/// GPU. The limit must be far below the usual limit of a user's processes (1024). A process cannot
/// send descriptors if its user has more in flight than that process may have open.
constexpr rlim_t kOpenFiles = 320;
constexpr rlim_t kOpenFilesPerGpu = 32;
constexpr rlim_t kGpusCounted = 8;
/// Processes and threads: libraries start several for each core.
constexpr rlim_t kProcesses = 1024;
constexpr rlim_t kProcessesPerCore = 8;

constexpr const char* kUserNamespaces =
    "allow unprivileged user namespaces: kernel.apparmor_restrict_unprivileged_userns=0, or a "
    "container with --security-opt seccomp=unconfined --security-opt systempaths=unconfined";
constexpr const char* kLandlock = "boot with Landlock: Linux 5.13 or newer, lsm=landlock,…";

constexpr SandboxPartRow kParts[] = {
    {SandboxPart::kSession, "session", ""},
    {SandboxPart::kPidNamespace, "pid_namespace", kUserNamespaces},
    {SandboxPart::kNetNamespace, "net_namespace", kUserNamespaces},
    {SandboxPart::kPrivileges, "privileges", ""},
    {SandboxPart::kFiles, "files", kLandlock},
    {SandboxPart::kScopes, "scopes", "Linux 6.12 or newer; a pid namespace does the same"},
    {SandboxPart::kSystemCalls, "system_calls", "a kernel with CONFIG_SECCOMP_FILTER"},
    {SandboxPart::kLimits, "limits", ""},
    {SandboxPart::kProcessLimit, "process_limit",
     "user namespaces and a user other than root, or Linux 6.14 or newer"},
    {SandboxPart::kTemporary, "own_tmp", kUserNamespaces},
};

/// Programs, libraries and the configuration that they read; no files of users.
constexpr const char* kSystem[] = {"/usr",
                                   "/bin",
                                   "/sbin",
                                   "/lib",
                                   "/lib32",
                                   "/lib64",
                                   "/etc/ld.so.cache",
                                   "/etc/ld.so.conf",
                                   "/etc/ld.so.conf.d",
                                   "/etc/localtime",
                                   "/etc/timezone",
                                   "/etc/nsswitch.conf",
                                   "/etc/nvidia",
                                   "/run/opengl-driver"};
constexpr const char* kKernel[] = {"/proc", "/sys"};
/// CUDA names its threads through /proc/self/task. Other files of /proc/self stay read-only,
/// because oom_score_adj is one of them.
constexpr const char* kDevices[] = {"/dev/null",   "/dev/zero",      "/dev/full",
                                    "/dev/random", "/dev/urandom",   "/dev/nvidia-caps",
                                    "/dev/dxg",    "/proc/self/task"};

constexpr std::string_view kGpus[] = {"/dev/nvidia", "/dev/dxg"};

/// The number of GPUs of this machine, counted by device nodes: /dev/nvidia0 and so on.
rlim_t gpu_nodes() {
  rlim_t count = 0;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/dev", ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("nvidia") && name.size() > 6 && name[6] >= '0' && name[6] <= '9') ++count;
  }
  return count;
}

/// The files that this process may open in the sandbox.
std::vector<FilePermission>& permitted() {
  static std::vector<FilePermission> permissions;
  return permissions;
}

/// True if this process's system calls are filtered.
bool& is_filtered() {
  static bool filtered = false;
  return filtered;
}

/// Since Linux 6.14 each PID namespace has its own limit; older kernels have one for the machine.
bool has_own_pid_max() {
  utsname system{};
  int major = 0;
  int minor = 0;
  ::uname(&system);
  return std::sscanf(system.release, "%d.%d", &major, &minor) == 2 &&
         (major > 6 || (major == 6 && minor >= 14));
}

/// True if the kernel treats this user as the machine's root, whose processes it does not limit.
bool is_machine_root() {
  std::ifstream map("/proc/self/uid_map");
  unsigned inside = 1;
  unsigned outside = 1;
  return ::geteuid() == 0 && map >> inside >> outside && outside == 0;
}

void set_limit(auto resource, rlim_t value) {
  rlimit now{};
  ::getrlimit(resource, &now);
  value = std::min(value, now.rlim_max);
  const rlimit both{value, value};
  ::setrlimit(resource, &both);
}

std::vector<FilePermission> permissions_of(const SandboxSetup& setup, const SandboxParts& parts) {
  std::vector<FilePermission> permissions;
  for (const char* path : kSystem) permissions.push_back({path, FileAccess::kReadExecute});
  for (const auto& path : setup.readable)
    permissions.push_back({path.string(), FileAccess::kReadExecute});
  for (const char* path : kKernel) permissions.push_back({path, FileAccess::kRead});
  for (const char* path : kDevices) permissions.push_back({path, FileAccess::kDevice});
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/dev", ignored))
    if (entry.path().filename().string().starts_with("nvidia") && !entry.is_directory(ignored))
      permissions.push_back({entry.path().string(), FileAccess::kDevice});
  if (parts.has(SandboxPart::kPidNamespace))
    permissions.push_back({"/dev/shm", FileAccess::kWrite});
  if (parts.has(SandboxPart::kTemporary))
    for (const char* path : temporary_folders()) permissions.push_back({path, FileAccess::kWrite});
  if (!setup.folder.empty()) permissions.push_back({setup.folder.string(), FileAccess::kWrite});
  return permissions;
}

}  // namespace

std::span<const SandboxPartRow> sandbox_parts() { return kParts; }

bool write_file(const char* path, std::string_view text) {
  const Fd fd(::open(path, O_WRONLY | O_CLOEXEC));
  return fd && ::write(fd.value(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

bool limit_processes(bool own_pids, bool own_user) {
  const rlim_t most = kProcesses + kProcessesPerCore * std::thread::hardware_concurrency();
  bool bounded =
      own_pids && has_own_pid_max() && write_file("/proc/sys/kernel/pid_max", std::to_string(most));
  // In a shared user namespace, the limit would count all processes of this user on the machine.
  if (own_user) set_limit(RLIMIT_NPROC, most);
  bounded = bounded || (own_user && !is_machine_root());
  return bounded;
}

bool drop_privileges() {
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3]{};
  const bool dropped = ::syscall(SYS_capset, &header, none) == 0;
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && dropped;
}

bool unshare_network() {
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  return ::unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC) == 0 && map_itself(user, group);
}

void limit_files() {
  set_limit(RLIMIT_CORE, 0);
  set_limit(RLIMIT_NOFILE, kOpenFiles + kOpenFilesPerGpu * std::min(gpu_nodes(), kGpusCounted));
}

void put_sandbox_on(const SandboxSetup& setup, SandboxParts& parts) {
  const bool own_pids = parts.has(SandboxPart::kPidNamespace);
  const auto add = [&](SandboxPart part, bool had) {
    if (had) parts.add(part);
  };
  // Without a PID namespace, a network namespace may still be possible.
  add(SandboxPart::kNetNamespace, own_pids || unshare_network());
  add(SandboxPart::kProcessLimit, limit_processes(own_pids, parts.has(SandboxPart::kNetNamespace)));
  add(SandboxPart::kTemporary, own_pids && mount_temporary_folders(setup));
  limit_files();
  set_limit(RLIMIT_FSIZE, kFileBytes);
  write_file("/proc/self/oom_score_adj", "1000");
  parts.add(SandboxPart::kLimits);
  add(SandboxPart::kPrivileges, drop_privileges());
  auto permissions = permissions_of(setup, parts);
  add(SandboxPart::kFiles, landlock(permissions));
  if (parts.has(SandboxPart::kFiles)) permitted() = std::move(permissions);
  add(SandboxPart::kScopes, parts.has(SandboxPart::kFiles) && landlock_abi() >= kLandlockScopes);
  const bool held_back = own_pids || parts.has(SandboxPart::kScopes);
  add(SandboxPart::kSystemCalls, seccomp(held_back ? SignalRule::kAny : SignalRule::kItself));
  is_filtered() = parts.has(SandboxPart::kSystemCalls);
}

bool narrow_sandbox(std::span<const std::string_view> prefixes) {
  auto& permissions = permitted();
  if (permissions.empty()) return true;
  std::erase_if(permissions, [&](const FilePermission& permission) {
    return std::ranges::any_of(
        prefixes, [&](std::string_view prefix) { return permission.path.starts_with(prefix); });
  });
  return landlock(permissions);
}

bool close_gpus() {
  const bool narrowed = narrow_sandbox(kGpus);
  // Landlock's second layer applies only to this thread and its later children. CUDA's threads are
  // older, and a candidate's host code can make them run its functions.
  return (!is_filtered() || refuse_gpu_requests()) && narrowed;
}

SandboxParts probe_sandbox() {
  auto [ours, theirs] = socket_pair();
  // The child has only one thread, even if this process has several.
  const pid_t prober = ::fork();
  if (prober == 0) {
    SandboxForker forker;
    if (forker.fork() != 0) {
      char byte = 0;
      theirs.reset();
      [[maybe_unused]] const ssize_t ended = ::recv(ours.value(), &byte, 1, MSG_PEEK);
      ::_exit(0);
    }
    const std::uint32_t bits = forker.enter({}).bits();
    [[maybe_unused]] const ssize_t sent = ::write(theirs.value(), &bits, sizeof bits);
    ::_exit(0);
  }
  theirs.reset();
  std::uint32_t bits = 0;
  const bool answered = prober > 0 && ::read(ours.value(), &bits, sizeof bits) == sizeof bits;
  if (prober > 0) ::waitpid(prober, nullptr, 0);
  return SandboxParts::from_bits(answered ? bits : 0);
}

}  // namespace kbench
