// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compile/split/tokens.hpp"

namespace kbench {

/// One declaration of a namespace or class: the facts that the source splitter needs. All places
/// are token indices; kNoToken if there is none.
struct SourceItem {
  enum class Kind : std::uint8_t {
    kDirective,
    kNamespace,  ///< with members; the name is empty for an unnamed one
    kLinkage,    ///< extern "C" { members }
    kFunction,
    kVariable,
    kType,   ///< class, struct, union, enum; with members, except an enum
    kAlias,  ///< using A = …, typedef, namespace a = …, concept
    kUsing,  ///< using namespace …, using a::b
    kOther,  ///< static_assert, ;, explicit instantiations of classes, labels of classes
  };
  Kind kind = Kind::kOther;
  std::size_t begin = 0, end = 0;
  std::size_t specifiers = 0;                     ///< after template<…>, extern "C" and [[…]]
  std::size_t open = kNoToken, close = kNoToken;  ///< brackets of a function's parameters
  std::size_t body = kNoToken, body_end = kNoToken;  ///< a function's or class's braces
  std::size_t initializer = kNoToken;                ///< a variable's = or {, a constructor's :
  std::string name;                ///< "Class::name" for a member defined outside its class
  std::vector<std::string> names;  ///< all names that it declares
  bool is_template = false;
  bool is_instance = false;  ///< explicit instantiation: template …;
  bool is_special = false;   ///< explicit specialisation: template <> …
  bool is_global = false, is_device = false, is_host = false;
  bool is_constant = false, is_managed = false, is_shared = false;
  bool is_static = false, is_const = false, is_constexpr = false, is_extern = false;
  std::vector<SourceItem> members;

  /// True if the item has __device__, __global__ or a memory space.
  bool has_space() const {
    return is_global || is_device || is_constant || is_managed || is_shared;
  }
  bool is(Kind what) const { return kind == what; }
};

/// The declarations of a whole source. Throws SplitRefusal.
std::vector<SourceItem> source_items(const SourceText& text);

/// One parameter of a function.
struct SourceParameter {
  std::size_t begin = 0, end = 0;  ///< without the comma
  std::size_t name = kNoToken;
  std::size_t declarator_end = 0;  ///< before a default argument
  bool is_pack = false;
};

/// The parameters between a function's brackets; none for (void).
std::vector<SourceParameter> source_parameters(const SourceText& text, std::size_t open,
                                               std::size_t close);

}  // namespace kbench
