// SPDX-License-Identifier: MIT
#include "compile/host/reading_wire.hpp"

#include "compile/packed.hpp"
#include "kbench/error.hpp"

namespace kbench {
namespace {

enum JobKind : std::uint64_t { kReadTexts, kReadObject, kReadLog };

void put(Packer& packer, const std::vector<HostText>& texts) {
  packer.number(texts.size());
  for (const HostText& text : texts) packer.text(text.name).text(text.text);
}

std::vector<HostText> take_texts(Unpacker& unpacker) {
  std::vector<HostText> texts;
  for (std::uint64_t left = unpacker.number(); left > 0; --left) {
    std::string name = unpacker.text();
    texts.push_back({std::move(name), unpacker.text()});
  }
  return texts;
}

void put(Packer& packer, const std::optional<Diagnosis>& diagnosis) {
  packer.number(diagnosis ? 1 : 0);
  if (diagnosis) packer.text(diagnosis->cause).text(diagnosis->message);
}

std::optional<Diagnosis> take_diagnosis(Unpacker& unpacker) {
  if (!unpacker.flag()) return std::nullopt;
  Diagnosis diagnosis;
  diagnosis.cause = unpacker.text();
  diagnosis.message = unpacker.text();
  return diagnosis;
}

void put(Packer& packer, const std::optional<std::vector<std::string>>& texts) {
  packer.number(texts ? 1 : 0);
  if (texts) packer.texts(*texts);
}

std::optional<std::vector<std::string>> take_optional_texts(Unpacker& unpacker) {
  if (!unpacker.flag()) return std::nullopt;
  return unpacker.texts();
}

TextsJob take_texts_job(Unpacker& unpacker) {
  TextsJob job;
  job.file_name = unpacker.text();
  job.file = unpacker.text();
  job.cpp = take_texts(unpacker);
  job.cuda = take_texts(unpacker);
  job.are_files = unpacker.flag();
  job.needs_headers = unpacker.flag();
  job.has_bindings = unpacker.flag();
  job.split = unpacker.flag();
  return job;
}

ObjectJob take_object_job(Unpacker& unpacker) {
  ObjectJob job;
  job.object = unpacker.text();
  job.kernels = unpacker.texts();
  job.variables = unpacker.texts();
  job.device = unpacker.flag() ? HostDevice::kCpu : HostDevice::kCuda;
  job.libraries = take_optional_texts(unpacker);
  return job;
}

LogJob take_log_job(Unpacker& unpacker) {
  LogJob job;
  job.log = unpacker.text();
  job.cpp_names = unpacker.texts();
  job.cuda_names = unpacker.texts();
  job.functions = take_optional_texts(unpacker);
  for (const auto& folder : unpacker.texts()) job.includes.emplace_back(folder);
  return job;
}

}  // namespace

std::string pack(const TextsJob& job) {
  Packer packer;
  packer.number(kReadTexts).text(job.file_name).text(job.file);
  put(packer, job.cpp);
  put(packer, job.cuda);
  packer.number(job.are_files ? 1 : 0).number(job.needs_headers ? 1 : 0);
  packer.number(job.has_bindings ? 1 : 0).number(job.split ? 1 : 0);
  return packer.take();
}

std::string pack(const ObjectJob& job) {
  Packer packer;
  packer.number(kReadObject).text(job.object.string()).texts(job.kernels).texts(job.variables);
  packer.number(job.device == HostDevice::kCpu ? 1 : 0);
  put(packer, job.libraries);
  return packer.take();
}

std::string pack(const LogJob& job) {
  Packer packer;
  packer.number(kReadLog).text(job.log).texts(job.cpp_names).texts(job.cuda_names);
  put(packer, job.functions);
  packer.number(job.includes.size());
  for (const auto& folder : job.includes) packer.text(folder.string());
  return packer.take();
}

ReadingJob unpack_reading_job(std::string_view bytes) {
  Unpacker unpacker(bytes);
  switch (unpacker.number()) {
    case kReadTexts:
      return take_texts_job(unpacker);
    case kReadObject:
      return take_object_job(unpacker);
    case kReadLog:
      return take_log_job(unpacker);
    default:
      throw Error("kbench-cc got a job of an unknown kind");
  }
}

std::string pack(const TextsRead& read) {
  Packer packer;
  put(packer, read.cpp);
  put(packer, read.cuda);
  put(packer, read.refusal);
  packer.text(read.device);
  put(packer, read.host);
  packer.texts(read.kernels).texts(read.variables).texts(read.host_only);
  return packer.take();
}

std::string pack(const ObjectRead& read) {
  Packer packer;
  packer.number(read.stubs.size());
  for (const HostStub& stub : read.stubs) {
    packer.number(stub.offset).number(stub.size);
    packer.text(stub.symbol).text(stub.kernel).text(stub.expression);
  }
  packer.number(read.variables.size());
  for (const HostVariable& each : read.variables) {
    packer.text(each.name).number(each.offset).number(each.size);
  }
  put(packer, read.refusal);
  packer.number(read.needs_libraries ? 1 : 0);
  return packer.take();
}

std::string pack(const LogRead& read) {
  Packer packer;
  packer.text(read.diagnosis.cause).text(read.diagnosis.message).text(read.unsupported);
  packer.number(read.may_need_heavy ? 1 : 0).number(read.speaks_of_precompiled_header ? 1 : 0);
  return packer.take();
}

void unpack(std::string_view bytes, TextsRead& read) {
  Unpacker unpacker(bytes);
  read.cpp = take_texts(unpacker);
  read.cuda = take_texts(unpacker);
  read.refusal = take_diagnosis(unpacker);
  read.device = unpacker.text();
  read.host = take_texts(unpacker);
  read.kernels = unpacker.texts();
  read.variables = unpacker.texts();
  read.host_only = unpacker.texts();
}

void unpack(std::string_view bytes, ObjectRead& read) {
  Unpacker unpacker(bytes);
  for (std::uint64_t left = unpacker.number(); left > 0; --left) {
    HostStub stub;
    stub.offset = unpacker.number();
    stub.size = unpacker.number();
    stub.symbol = unpacker.text();
    stub.kernel = unpacker.text();
    stub.expression = unpacker.text();
    read.stubs.push_back(std::move(stub));
  }
  for (std::uint64_t left = unpacker.number(); left > 0; --left) {
    HostVariable variable;
    variable.name = unpacker.text();
    variable.offset = unpacker.number();
    variable.size = unpacker.number();
    read.variables.push_back(std::move(variable));
  }
  read.refusal = take_diagnosis(unpacker);
  read.needs_libraries = unpacker.flag();
}

void unpack(std::string_view bytes, LogRead& read) {
  Unpacker unpacker(bytes);
  read.diagnosis.cause = unpacker.text();
  read.diagnosis.message = unpacker.text();
  read.unsupported = unpacker.text();
  read.may_need_heavy = unpacker.flag();
  read.speaks_of_precompiled_header = unpacker.flag();
}

}  // namespace kbench
