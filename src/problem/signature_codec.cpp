// SPDX-License-Identifier: MIT
#include "problem/signature_codec.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace kbench {
namespace {

/// Writes values one after the other. The structured bindings name every field on purpose: a field
/// that is added to a struct does not compile here until the codec knows it.
class Encoder {
 public:
  explicit Encoder(std::string& bytes) : bytes_(bytes) {}

  template <typename T>
  requires std::is_arithmetic_v<T>
  void put(T number) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof number);
    std::memcpy(bytes_.data() + at, &number, sizeof number);
  }

  void put(std::string_view text) { append_field(bytes_, text); }
  void put(const std::string& text) { append_field(bytes_, text); }

  template <typename T>
  void put(const std::vector<T>& list) {
    put(static_cast<std::uint32_t>(list.size()));
    for (const T& element : list) put(element);
  }

  template <typename... T>
  void put(const std::variant<T...>& value) {
    put(static_cast<std::uint8_t>(value.index()));
    std::visit([this](const auto& held) { this->put(held); }, value);
  }

  void put(const std::map<std::string, Value>& values) {
    put(static_cast<std::uint32_t>(values.size()));
    for (const auto& [name, value] : values) {
      put(name);
      put(value);
    }
  }

  void put(const TensorInfo& tensor) {
    const auto& [name, dtype, shape] = tensor;
    put(name);
    put(static_cast<std::uint8_t>(dtype));
    put(shape);
  }

  void put(const InputInfo& input) {
    const auto& [name, value] = input;
    put(name);
    put(value);
  }

  void put(const StateInfo& entry) {
    const auto& [tensor, is_buffer] = entry;
    put(tensor);
    put(is_buffer);
  }

  void put(const Signature& signature) {
    const auto& [problem, inputs, outputs, state, init, attributes, precision, returns_sequence,
                 work] = signature;
    put(problem);
    put(inputs);
    put(outputs);
    put(state);
    put(init);
    put(attributes);
    put(precision);
    put(returns_sequence);
    put(work.has_value());
    if (work) put(*work);
  }

  void put(const LeastWork& work) {
    const auto& [read_bytes, written_bytes, flops] = work;
    put(read_bytes);
    put(written_bytes);
    for (const std::uint64_t count : flops) put(count);
  }

 private:
  std::string& bytes_;
};

/// Reads what Encoder wrote; every take is false once the bytes are used up or make no sense.
class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : rest_(bytes) {}

  bool at_end() const { return rest_.empty(); }

  template <typename T>
  requires std::is_arithmetic_v<T>
  bool take(T& number) {
    if (rest_.size() < sizeof number) return false;
    if constexpr (std::is_same_v<T, bool>) {
      number = rest_[0] != 0;
    } else {
      std::memcpy(&number, rest_.data(), sizeof number);
    }
    rest_.remove_prefix(sizeof number);
    return true;
  }

  bool take(std::string& text) {
    std::string_view field;
    if (!take_field(rest_, field)) return false;
    text = field;
    return true;
  }

  template <typename T>
  bool take(std::vector<T>& list) {
    std::uint32_t count = 0;
    // Each element takes a byte at least: a damaged count must not allocate gigabytes.
    if (!take(count) || count > rest_.size()) return false;
    list.resize(count);
    for (T& element : list) {
      if (!take(element)) return false;
    }
    return true;
  }

  template <typename... T>
  bool take(std::variant<T...>& value) {
    std::uint8_t index = 0;
    if (!take(index) || index >= sizeof...(T)) return false;
    return take_alternative<0>(value, index);
  }

  bool take(std::map<std::string, Value>& values) {
    std::uint32_t count = 0;
    if (!take(count)) return false;
    for (; count > 0; --count) {
      std::string name;
      Value value;
      if (!take(name) || !take(value)) return false;
      values.emplace_hint(values.end(), std::move(name), std::move(value));
    }
    return true;
  }

  bool take(TensorInfo& tensor) {
    std::uint8_t dtype = 0;
    if (!take(tensor.name) || !take(dtype) || dtype >= dtypes().size()) return false;
    tensor.dtype = static_cast<DType>(dtype);
    return take(tensor.shape);
  }

  bool take(InputInfo& input) { return take(input.name) && take(input.value); }
  bool take(StateInfo& entry) { return take(entry.tensor) && take(entry.is_buffer); }

  bool take(Signature& signature) {
    return take(signature.problem) && take(signature.inputs) && take(signature.outputs) &&
           take(signature.state) && take(signature.init) && take(signature.attributes) &&
           take(signature.precision) && take(signature.returns_sequence) && take(signature.work);
  }

  bool take(std::optional<LeastWork>& work) {
    bool there = false;
    if (!take(there)) return false;
    return !there || take(work.emplace());
  }

  bool take(LeastWork& work) {
    return take(work.read_bytes) && take(work.written_bytes) &&
           std::ranges::all_of(work.flops, [this](std::uint64_t& count) { return take(count); });
  }

 private:
  template <std::size_t kIndex, typename... T>
  bool take_alternative(std::variant<T...>& value, std::size_t index) {
    if constexpr (kIndex < sizeof...(T)) {
      if (index == kIndex) return take(value.template emplace<kIndex>());
      return take_alternative<kIndex + 1>(value, index);
    }
    return false;
  }

  std::string_view rest_;
};

}  // namespace

std::string encode(const SignatureResult& result) {
  std::string bytes;
  Encoder(bytes).put(result);
  return bytes;
}

std::optional<SignatureResult> decode_signature(std::string_view bytes) {
  SignatureResult result;
  Decoder decoder(bytes);
  if (!decoder.take(result) || !decoder.at_end()) return std::nullopt;
  return result;
}

void append_field(std::string& bytes, std::string_view field) {
  const auto length = static_cast<std::uint32_t>(field.size());
  bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
  bytes.append(field);
}

bool take_field(std::string_view& bytes, std::string_view& field) {
  std::uint32_t length = 0;
  if (bytes.size() < sizeof length) return false;
  std::memcpy(&length, bytes.data(), sizeof length);
  if (bytes.size() - sizeof length < length) return false;
  field = bytes.substr(sizeof length, length);
  bytes.remove_prefix(sizeof length + length);
  return true;
}

}  // namespace kbench
