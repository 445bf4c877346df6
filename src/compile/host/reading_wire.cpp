// SPDX-License-Identifier: MIT
#include "compile/host/reading_wire.hpp"

#include <concepts>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "base/text.hpp"
#include "kbench/error.hpp"

namespace kbench {
namespace {

enum JobKind : std::uint64_t { kReadTexts, kReadObject, kReadLog };

template <typename T, typename Struct>
concept Is = std::same_as<std::remove_const_t<T>, Struct>;

// The fields of each struct, in their order in a message.
template <Is<HostText> T>
auto fields(T& text) {
  return std::tie(text.name, text.text);
}
template <Is<Diagnosis> T>
auto fields(T& diagnosis) {
  return std::tie(diagnosis.cause, diagnosis.message);
}
template <Is<HostStub> T>
auto fields(T& stub) {
  return std::tie(stub.offset, stub.size, stub.symbol, stub.kernel, stub.expression);
}
template <Is<HostVariable> T>
auto fields(T& variable) {
  return std::tie(variable.name, variable.offset, variable.size);
}
template <Is<TextsJob> T>
auto fields(T& job) {
  return std::tie(job.file_name, job.file, job.cpp, job.cuda, job.are_files, job.needs_headers,
                  job.has_bindings, job.split);
}
template <Is<ObjectJob> T>
auto fields(T& job) {
  return std::tie(job.object, job.kernels, job.variables, job.device, job.libraries);
}
template <Is<LogJob> T>
auto fields(T& job) {
  return std::tie(job.log, job.cpp_names, job.cuda_names, job.functions, job.includes);
}
template <Is<TextsRead> T>
auto fields(T& read) {
  return std::tie(read.cpp, read.cuda, read.refusal, read.device, read.host, read.kernels,
                  read.variables, read.host_only);
}
template <Is<ObjectRead> T>
auto fields(T& read) {
  return std::tie(read.stubs, read.variables, read.refusal, read.needs_libraries);
}
template <Is<LogRead> T>
auto fields(T& read) {
  return std::tie(read.diagnosis, read.unsupported, read.may_need_heavy,
                  read.speaks_of_precompiled_header);
}

template <typename T>
concept Number = std::integral<T> || std::is_enum_v<T>;
template <typename T>
concept Text = std::convertible_to<T, std::string>;

/// Packs values into one message; each text and each list follows its length. Texts may hold any
/// bytes.
class Packer {
 public:
  template <Number T>
  void put(T value) {
    bytes_ += std::to_string(static_cast<std::uint64_t>(value));
    bytes_ += ' ';
  }
  template <Text T>
  void put(const T& value) {
    const std::string text = value;
    put(text.size());
    bytes_ += text;
  }
  template <typename T>
  void put(const std::vector<T>& values) {
    put(values.size());
    for (const T& value : values) put(value);
  }
  template <typename T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  template <typename T>
  requires requires(const T& value) { fields(value); }
  void put(const T& value) {
    std::apply([this](const auto&... each) { (put(each), ...); }, fields(value));
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Unpacks a Packer's message in the same order. All functions throw kbench::Error if the bytes do
/// not fit.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}
  template <Number T>
  void take(T& into) {
    std::uint64_t value = 0;
    if (!take_number(bytes_, value) || !bytes_.starts_with(' ')) {
      throw Error("a message of kbench-cc is malformed");
    }
    bytes_.remove_prefix(1);
    into = static_cast<T>(value);
  }
  template <Text T>
  void take(T& into) {
    std::uint64_t size = 0;
    take(size);
    if (size > bytes_.size()) throw Error("a message of kbench-cc is cut off");
    into = std::string(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
  }
  template <typename T>
  void take(std::vector<T>& into) {
    std::uint64_t left = 0;
    for (take(left); left > 0; --left) take(into.emplace_back());
  }
  template <typename T>
  void take(std::optional<T>& into) {
    bool has_value = false;
    take(has_value);
    if (has_value) take(into.emplace());
  }
  template <typename T>
  requires requires(T& value) { fields(value); }
  void take(T& into) {
    std::apply([this](auto&... each) { (take(each), ...); }, fields(into));
  }

 private:
  std::string_view bytes_;
};

template <typename... Values>
std::string packed(const Values&... values) {
  Packer packer;
  (packer.put(values), ...);
  return packer.take();
}

template <typename Job>
Job taken(Unpacker& unpacker) {
  Job job;
  unpacker.take(job);
  return job;
}

}  // namespace

std::string pack(const TextsJob& job) { return packed(kReadTexts, job); }
std::string pack(const ObjectJob& job) { return packed(kReadObject, job); }
std::string pack(const LogJob& job) { return packed(kReadLog, job); }

ReadingJob unpack_reading_job(std::string_view bytes) {
  Unpacker unpacker(bytes);
  std::uint64_t kind = 0;
  unpacker.take(kind);
  switch (kind) {
    case kReadTexts:
      return taken<TextsJob>(unpacker);
    case kReadObject:
      return taken<ObjectJob>(unpacker);
    case kReadLog:
      return taken<LogJob>(unpacker);
    default:
      throw Error("kbench-cc got a job of an unknown kind");
  }
}

std::string pack(const TextsRead& read) { return packed(read); }
std::string pack(const ObjectRead& read) { return packed(read); }
std::string pack(const LogRead& read) { return packed(read); }

void unpack(std::string_view bytes, TextsRead& read) { Unpacker(bytes).take(read); }
void unpack(std::string_view bytes, ObjectRead& read) { Unpacker(bytes).take(read); }
void unpack(std::string_view bytes, LogRead& read) { Unpacker(bytes).take(read); }

}  // namespace kbench
