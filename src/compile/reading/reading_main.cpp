// SPDX-License-Identifier: MIT
#include "compile/reading/reading_main.hpp"

#include <sys/resource.h>

#include <new>

#include "compile/guard/confinement.hpp"
#include "compile/reading/reading_tasks.hpp"

namespace kbench {
namespace {

/// Splitting a source takes at most a second of processor time, and reading torch's symbols
/// another.
constexpr rlim_t kProcessorSeconds = 20;

void limit_reader() {
  const rlimit data{kReaderBytes, kReaderBytes};
  ::setrlimit(RLIMIT_DATA, &data);
  // The soft limit sends SIGXCPU, which shows the cause; the hard limit would send SIGKILL.
  const rlimit processor{kProcessorSeconds, kProcessorSeconds + 5};
  ::setrlimit(RLIMIT_CPU, &processor);
}

std::string with_end(ReadingEnd end, std::string text) {
  text.insert(text.begin(), static_cast<char>(end));
  return text;
}

}  // namespace

std::string answer_reading(std::string_view bytes) {
  try {
    const OwnNamespaces own = continue_in_namespaces();
    limit_reader();
    const ReadingJob job = unpack_reading_job(bytes);
    confine_reads(folders_of(job), own);
    return with_end(ReadingEnd::kRead, read_packed(job));
  } catch (const std::bad_alloc&) {
    return with_end(ReadingEnd::kOutOfMemory, {});
  } catch (const std::exception& error) {
    return with_end(ReadingEnd::kFault, error.what());
  }
}

}  // namespace kbench
