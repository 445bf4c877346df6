// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "compile/split/items.hpp"
#include "compile/split/macros.hpp"

namespace kbench {

/// A source with its macros expanded as far as needed, and its declarations.
struct SourceUnit {
  SourceText text;
  SourceMacros macros;
  std::vector<SourceItem> items;
  std::string file_name;
};

/// One declaration other than a namespace, and the decision if it belongs to device code, host code
/// or both.
struct PlacedItem {
  const SourceItem* item = nullptr;
  std::string scope;  ///< "a::b::", without unnamed namespaces
  bool in_device = false;
  /// In host code, a kernel is a stub, a device variable is a host variable that stands for it, and
  /// a device function is only declared.
  bool in_host = false;
};

/// Decides for each declaration of a source if it belongs to device code, host code or both, in the
/// source's order:
/// - Declarations with __global__, __device__, __constant__, … are device code, as are types with
///   such members.
/// - Types, aliases and constants without these are in both, unless they name something that only
///   one of them has.
/// - Functions without these are host code, and also device code if device code names them.
/// - Host code also gets the kernels, the device variables, and all device declarations that it
///   names.
std::vector<PlacedItem> place_items(const SourceUnit& unit);

/// True for a function that only device code can call. A constexpr function is not one, because
/// host constants may use it.
bool is_device_only(const SourceItem& function);
/// True for a member function that device code cannot have: it is __host__, or names host code.
bool is_host_member(const SourceUnit& unit, const SourceItem& member);

}  // namespace kbench
