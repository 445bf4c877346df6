// SPDX-License-Identifier: MIT
#include "compile/reading/reading_tasks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "compile/host/diagnostics.hpp"
#include "compile/host/implicit_headers.hpp"
#include "compile/host/symbols.hpp"
#include "compile/host/unsupported.hpp"
#include "compile/source_place.hpp"
#include "compile/split/split.hpp"

namespace kbench {
namespace {

/// Limit of a message, because it may quote a name of 100 kB.
constexpr std::size_t kMaxMessageBytes = 4000;

Diagnosis cut(Diagnosis diagnosis) {
  if (diagnosis.message.size() > kMaxMessageBytes) {
    diagnosis.message.resize(kMaxMessageBytes);
    diagnosis.message += "...";
  }
  return diagnosis;
}

/// The texts with empty lines before them, so that line numbers match the candidate's file. A text
/// that is not found there stays as it is.
std::vector<HostText> placed(const std::vector<HostText>& texts, const TextsJob& job) {
  std::vector<HostText> made;
  for (const HostText& text : texts) {
    if (!job.file.empty() && text.text.starts_with(job.file)) {
      made.push_back({job.file_name, text.text});
    } else if (const auto before = lines_before(job.file, text.text)) {
      made.push_back({job.file_name, std::string(*before, '\n') + text.text});
    } else {
      made.push_back(text);
    }
  }
  return made;
}

/// The error about missing headers of torch that torch's own compile would report first.
std::optional<std::string> missing_header(const TextsJob& job, const TextsRead& read) {
  if (!job.needs_headers) return std::nullopt;
  for (const auto* texts : {&read.cpp, &read.cuda}) {
    const std::span<const HostText> all(*texts);
    const bool is_bound = job.has_bindings && texts == &read.cpp;
    for (std::size_t i = 0; i < all.size(); i += job.are_files ? 1 : all.size()) {
      if (auto what = name_without_header(job.are_files ? all.subspan(i, 1) : all, is_bound))
        return what;
    }
  }
  return std::nullopt;
}

void split_all(TextsRead& read) {
  for (const HostText& text : read.cuda) {
    auto split = split_source(text.text, text.name);
    if (const auto* refusal = std::get_if<SplitRefusal>(&split)) {
      read.refusal = {refusal->cause,
                      fmt::format("{}:{}: {}", text.name, refusal->line, refusal->message)};
      return;
    }
    auto& halves = std::get<SplitSource>(split);
    read.device += halves.device + "\n";
    read.host.push_back({text.name, std::move(halves.host)});
    for (auto& kernel : halves.kernels) read.kernels.push_back(std::move(kernel.name));
    for (auto& variable : halves.variables) read.variables.push_back(std::move(variable.name));
    std::ranges::move(halves.host_only, std::back_inserter(read.host_only));
  }
}

/// The names of a request, without the texts, which a log does not need.
HostRequest named_request(const LogJob& job) {
  HostRequest request;
  for (const auto& name : job.cpp_names) request.cpp_sources.push_back({name, {}});
  for (const auto& name : job.cuda_names) request.cuda_sources.push_back({name, {}});
  if (job.functions) {
    request.functions.emplace();
    for (const auto& name : *job.functions) request.functions->push_back({name, {}});
  }
  return request;
}

}  // namespace

TextsRead read_texts(const TextsJob& job) {
  TextsRead read;
  read.cpp = placed(job.cpp, job);
  read.cuda = placed(job.cuda, job);
  try {
    if (auto what = missing_header(job, read)) {
      read.refusal = {"unknown_name", std::move(*what)};
    } else if (job.split) {
      split_all(read);
    }
  } catch (const SplitRefusal& refusal) {
    read.refusal = {refusal.cause, refusal.message};
  }
  if (read.refusal) read.refusal = cut(*read.refusal);
  return read;
}

LogRead read_log(const LogJob& job) {
  LogRead read;
  read.diagnosis = cut(diagnose_host(job.log, named_request(job)));
  if (!job.includes.empty()) read.unsupported = unsupported_on_cpu(job.log, job.includes);
  read.may_need_heavy = may_need_heavy(job.log);
  read.speaks_of_precompiled_header = speaks_of_precompiled_header(job.log);
  return read;
}

std::string read_packed(const ReadingJob& job) {
  if (const auto* texts = std::get_if<TextsJob>(&job)) return pack(read_texts(*texts));
  if (const auto* log = std::get_if<LogJob>(&job)) return pack(read_log(*log));
  ObjectRead read = read_object(std::get<ObjectJob>(job));
  if (read.refusal) read.refusal = cut(*read.refusal);
  return pack(read);
}

std::vector<std::filesystem::path> folders_of(const ReadingJob& job) {
  std::vector<std::filesystem::path> folders;
  if (const auto* log = std::get_if<LogJob>(&job)) folders = log->includes;
  const auto* object = std::get_if<ObjectJob>(&job);
  if (object == nullptr) return folders;
  folders.push_back(object->object.parent_path());
  for (const auto& library : object->libraries.value_or(std::vector<std::string>())) {
    if (const auto folder = std::filesystem::path(library).parent_path(); !folder.empty())
      folders.push_back(folder);
  }
  return folders;
}

}  // namespace kbench
