// SPDX-License-Identifier: MIT
#include "worker/compare/content_digest.hpp"

#include <ATen/ATen.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "protocol/protocol.hpp"
#include "worker/compare/flat.hpp"

namespace kbench::worker {
namespace {

std::uint64_t digest_of_bytes(const std::byte* data, std::size_t size, const DigestKey& key) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  std::uint64_t sum = 0;
  std::size_t at = 0;
  for (std::uint64_t i = 0; at < size; ++i, at += kWord) {
    std::uint64_t word = 0;
    if (at + kWord <= size)
      std::memcpy(&word, data + at, kWord);
    else
      std::memcpy(&word, data + at, size - at);
    sum += digest_part(word, i, key);
  }
  return sum;
}

}  // namespace

const DigestKey& digest_key() {
  // Each forked process makes its own key. Judges and candidates are forked from the same process.
  static std::pair<pid_t, DigestKey> own{};
  if (own.first != getpid())
    own = {getpid(), {protocol::random_nonce(), protocol::random_nonce() | 1}};
  return own.second;
}

std::int64_t content_digest(const at::Tensor& tensor) {
  if (tensor.nbytes() == 0) return 0;
  if (JudgeKernels* kernels = JudgeKernels::active())
    return static_cast<std::int64_t>(kernels->digest(data_of(tensor), digest_key()));
  const at::Tensor here = tensor.cpu();
  return static_cast<std::int64_t>(
      digest_of_bytes(static_cast<const std::byte*>(here.data_ptr()), here.nbytes(), digest_key()));
}

}  // namespace kbench::worker
