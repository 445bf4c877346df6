// SPDX-License-Identifier: MIT
#include "compile/host/cache.hpp"

namespace kbench {
namespace {

void add(Sha256& hash, const std::vector<HostText>& texts) {
  hash.field(std::to_string(texts.size()));
  for (const HostText& text : texts) hash.field(text.name).field(text.text);
}

void add(Sha256& hash, const std::vector<std::string>& words) {
  hash.field(std::to_string(words.size()));
  for (const auto& word : words) hash.field(word);
}

}  // namespace

void add(Sha256& hash, const HostRequest& request) {
  add(hash, request.cpp_sources);
  add(hash, request.cuda_sources);
  hash.field(request.functions ? std::to_string(request.functions->size()) : "none");
  if (request.functions) {
    for (const auto& [name, docstring] : *request.functions) hash.field(name).field(docstring);
  }
  hash.field(request.error_handling ? "1" : "0");
  add(hash, request.flags);
  hash.field(std::to_string(request.includes.size()));
  for (const auto& include : request.includes) hash.field(include.string());
  add(hash, request.kernels);
  add(hash, request.variables);
}

}  // namespace kbench
