// SPDX-License-Identifier: MIT
#include "ptx/random/campaign.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "ptx/random/driver.hpp"
#include "ptx/random/golden.hpp"

namespace kbench::ptx::random {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPatience = std::chrono::seconds(60);  // for one kernel, its assembly included
constexpr int kContextLost = 3;
constexpr std::string_view kOnGpu = "running on the GPU";

/// What a worker tells its parent: lines of a word, the number of the case, and the rest.
class Reporter {
 public:
  explicit Reporter(int descriptor) : descriptor_(descriptor) {}
  void tell(std::string_view what, std::size_t number, std::string rest = {}) const {
    for (char& c : rest) c = c == '\n' ? '\t' : c;
    const std::string line = fmt::format("{} {} {}\n", what, number, rest);
    for (std::size_t sent = 0; sent < line.size();) {
      const auto count = ::write(descriptor_, line.data() + sent, line.size() - sent);
      if (count <= 0) _exit(1);
      sent += static_cast<std::size_t>(count);
    }
  }

 private:
  int descriptor_;
};

Options executor_options() {
  Options options;
  options.threads = 1;
  return options;
}

/// The last instruction of a statement, without its operands.
std::string opcode(const std::string& statement) {
  std::string last;
  for (std::size_t at = 0; at < statement.size();) {
    const auto end = std::min(statement.find('\n', at), statement.size());
    std::string line = statement.substr(at, end - at);
    at = end + 1;
    line.erase(0, line.find_first_not_of(" {"));
    if (line.starts_with('@')) line.erase(0, line.find(' ') + 1);
    if (!line.empty() && line[0] != '$' && line[0] != '}') last = line.substr(0, line.find(' '));
  }
  return last;
}

/// What differs in a kernel that is known to run; nothing where it does not.
std::vector<Difference> difference(Gpu& gpu, const Kernel& kernel) {
  const auto here = execute(kernel, executor_options());
  const auto there = gpu.run(kernel);
  std::uint64_t words = 0;
  if (!std::holds_alternative<Outputs>(here) || !std::holds_alternative<Outputs>(there)) return {};
  return differences(kernel, std::get<Outputs>(there), std::get<Outputs>(here), words);
}

std::string to_text(const std::vector<Difference>& list) {
  std::string text;
  for (std::size_t i = 0; i < list.size() && i < 6; ++i) {
    text += fmt::format("\n  {} of thread {}: {:x} on the GPU, {:x} here", list[i].where,
                        list[i].thread, list[i].expected, list[i].found);
  }
  return text;
}

/// The number of statements after which values differ first; the whole kernel's where they differ
/// only there.
std::size_t statements_to_fault(Gpu& gpu, const Kernel& kernel) {
  std::size_t good = 0, bad = kernel.statements.size();
  while (good + 1 < bad) {
    const std::size_t middle = (good + bad) / 2;
    (difference(gpu, exact_kernel(kernel.seed, middle)).empty() ? good : bad) = middle;
  }
  return bad;
}

void explain(Gpu& gpu, const Case& c, const Kernel& kernel, const std::vector<Difference>& list,
             const Reporter& reporter, std::size_t number) {
  std::string about = instruction(c), rest;
  if (c.family == Family::kExact) {
    const std::size_t count = statements_to_fault(gpu, kernel);
    const std::string& statement = kernel.statements.at(count - 1);
    about = opcode(statement);
    rest = fmt::format("\nafter {} statements:{}\nthe last of them:\n{}", count,
                       to_text(difference(gpu, exact_kernel(kernel.seed, count))), statement);
  }
  reporter.tell("differs", number,
                fmt::format("{}|{} words differ{}{}", about, list.size(), to_text(list), rest));
}

/// Compares one case; false where the GPU can run nothing any more.
bool compare_one(Gpu& gpu, const Case& c, std::size_t number, bool want_golden,
                 const Reporter& reporter) {
  const Kernel kernel = make(c);
  reporter.tell("is_at", number, std::string(kOnGpu));
  const auto there = gpu.run(kernel);
  if (const auto* failure = std::get_if<Failure>(&there)) {
    reporter.tell("fails", number, "on the GPU|" + failure->message);
    return failure->message.starts_with("cuModuleLoadDataEx");
  }
  const auto& expected = std::get<Outputs>(there);
  reporter.tell("is_at", number, "running in the executor");
  const auto here = execute(kernel, executor_options());
  if (const auto* failure = std::get_if<Failure>(&here)) {
    reporter.tell("fails", number, "in the executor|" + failure->message);
    return true;
  }
  std::uint64_t words = 0;
  const auto list = differences(kernel, expected, std::get<Outputs>(here), words);
  reporter.tell("compared", number, std::to_string(words));
  // Data that is known to differ is for the one who looks into it, not for the tests.
  if (want_golden) {
    reporter.tell("golden", number,
                  list.empty() ? to_line(golden(c, kernel, expected)) : "# left out: " + name(c));
  }
  if (!list.empty()) {
    reporter.tell("is_at", number, std::string(kOnGpu));
    const auto plain = gpu.run(kernel, Assembly::kPlain);
    const auto* outputs = std::get_if<Outputs>(&plain);
    if (outputs == nullptr) {
      reporter.tell("fails", number, "without optimisation|" + std::get<Failure>(plain).message);
      return std::get<Failure>(plain).message.starts_with("cuModuleLoadDataEx");
    }
    std::uint64_t again = 0;
    if (differences(kernel, *outputs, std::get<Outputs>(here), again).empty()) {
      reporter.tell("optimized_away", number);
      return true;
    }
  }
  if (!list.empty()) reporter.tell("is_at", number, "looking for the statement at fault");
  if (!list.empty()) explain(gpu, c, kernel, list, reporter, number);
  return true;
}

[[noreturn]] void work(const std::vector<Case>& cases, std::size_t first, std::size_t step,
                       bool want_golden, int descriptor) {
  const Reporter reporter(descriptor);
  auto opened = Gpu::open();
  if (const auto* failure = std::get_if<Failure>(&opened)) {
    reporter.tell("nothing", 0, failure->message);
    _exit(0);
  }
  Gpu& gpu = *std::get<std::unique_ptr<Gpu>>(opened);
  reporter.tell("device", 0, gpu.name());
  for (std::size_t i = first; i < cases.size(); i += step) {
    reporter.tell("begins", i);
    if (!compare_one(gpu, cases[i], i, want_golden, reporter)) _exit(kContextLost);
  }
  _exit(0);
}

/// A worker as its parent sees it.
struct Worker {
  pid_t process = -1;
  int descriptor = -1;
  std::size_t next = 0;    ///< case to go on with
  bool in_a_case = false;  ///< began `next - step` and has not ended it
  std::string at;          ///< what it does in that case
  bool killed = false;     ///< because it took too long
  std::string unread;
  Clock::time_point heard;
};

class Campaign {
 public:
  Campaign(const std::vector<Case>& cases, unsigned jobs, bool want_golden,
           const std::string& folder)
      : cases_(cases), jobs_(jobs), want_golden_(want_golden), folder_(folder) {}

  Summary run() {
    golden_.resize(cases_.size());
    std::vector<Worker> workers(jobs_);
    for (std::size_t i = 0; i < jobs_; ++i) {
      workers[i].next = i;
      start(workers[i]);
    }
    while (listen(workers)) {
    }
    for (std::string& line : golden_) {
      if (!line.empty()) summary_.golden.push_back(std::move(line));
    }
    return std::move(summary_);
  }

 private:
  void start(Worker& worker) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    worker.process = fork();
    if (worker.process == 0) {
      close(ends[0]);
      work(cases_, worker.next, jobs_, want_golden_, ends[1]);
    }
    close(ends[1]);
    worker.descriptor = ends[0];
    worker.heard = Clock::now();
    worker.in_a_case = worker.killed = false;
    worker.unread.clear();
  }

  /// Waits for messages of the workers; false when all have ended.
  bool listen(std::vector<Worker>& workers) {
    std::vector<pollfd> polled;
    for (const Worker& worker : workers) polled.push_back({worker.descriptor, POLLIN, 0});
    if (std::all_of(workers.begin(), workers.end(), [](auto& w) { return w.descriptor < 0; })) {
      return false;
    }
    poll(polled.data(), polled.size(), 1000);
    for (std::size_t i = 0; i < workers.size(); ++i) {
      Worker& worker = workers[i];
      if (worker.descriptor < 0) continue;
      if (polled[i].revents != 0) {
        read_from(worker);
      } else if (Clock::now() - worker.heard > kPatience) {
        kill(worker.process, SIGKILL);
        worker.killed = true;
        worker.heard = Clock::now();
      }
    }
    return true;
  }

  void read_from(Worker& worker) {
    char buffer[65536];
    const auto count = read(worker.descriptor, buffer, sizeof buffer);
    if (count <= 0) return ended(worker);
    worker.heard = Clock::now();
    worker.unread.append(buffer, static_cast<std::size_t>(count));
    for (std::size_t end = 0; (end = worker.unread.find('\n')) != std::string::npos;) {
      understand(worker, worker.unread.substr(0, end));
      worker.unread.erase(0, end + 1);
    }
  }

  void ended(Worker& worker) {
    close(worker.descriptor);
    worker.descriptor = -1;
    int status = 0;
    waitpid(worker.process, &status, 0);
    const bool lost = WIFEXITED(status) && WEXITSTATUS(status) == kContextLost;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    if (!lost && worker.in_a_case) unfinished(worker, status);
    if (!lost && !worker.in_a_case) return;  // no context to be had
    if (worker.next < cases_.size()) start(worker);
  }

  void unfinished(const Worker& worker, int status) {
    const std::size_t number = worker.next - jobs_;
    if (WIFSIGNALED(status) && !worker.killed && worker.at == kOnGpu) {
      summary_.driver_died.push_back(name(cases_[number]));  // its compiler
      return;
    }
    const std::string end = worker.killed ? fmt::format("takes over {} s", kPatience.count())
                                          : fmt::format("ends with status {:#x}", status);
    problem(number, fmt::format("the worker|{}, {}", end, worker.at));
  }

  void understand(Worker& worker, const std::string& line) {
    const auto first = line.find(' '), second = line.find(' ', first + 1);
    const std::string what = line.substr(0, first), rest = line.substr(second + 1);
    const std::size_t number = std::stoul(line.substr(first + 1));
    if (what == "nothing") summary_.no_gpu = rest;
    if (what == "device") summary_.device = rest;
    if (what == "golden") golden_[number] = rest;
    if (what == "optimized_away") summary_.optimized_away.push_back(name(cases_[number]));
    if (what == "is_at") worker.at = rest;
    if (what == "begins") {
      worker.next = number + jobs_;
      worker.in_a_case = true;
    } else if (what == "compared") {
      ++summary_.compared;
      summary_.words += std::stoull(rest);
    } else if (what == "differs" || what == "fails") {
      problem(number, rest);
    }
  }

  void problem(std::size_t number, const std::string& rest) {
    const Case& c = cases_[number];
    const auto counted = rest.find(" words differ");  // the table's spelling has bars as well
    const auto bar = counted == rest.npos ? rest.find('|') : rest.rfind('|', counted);
    const std::string about = rest.substr(0, bar);
    std::string text = rest.substr(bar + 1);
    for (char& character : text) character = character == '\t' ? '\n' : character;
    ++summary_.by_instruction[about];
    summary_.problems.push_back(fmt::format("{} ({}): {}", name(c), about, text));
    std::string file = name(c);
    for (char& character : file) character = character == ' ' ? '-' : character;
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ + "/" + file + ".ptx") << make(c).ptx;
    std::ofstream(folder_ + "/" + file + ".txt") << summary_.problems.back() << '\n';
  }

  const std::vector<Case>& cases_;
  unsigned jobs_;
  bool want_golden_;
  std::string folder_;
  Summary summary_;
  std::vector<std::string> golden_;
};

}  // namespace

Summary compare(const std::vector<Case>& cases, unsigned jobs, bool want_golden,
                const std::string& folder) {
  return Campaign(cases, jobs, want_golden, folder).run();
}

}  // namespace kbench::ptx::random
