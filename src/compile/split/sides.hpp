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

/// One declaration that is no namespace, and the halves that it belongs to.
struct PlacedItem {
  const SourceItem* item = nullptr;
  std::string scope;  ///< "a::b::", without unnamed namespaces
  bool in_device = false;
  /// In the host half: a kernel as its stub, a variable of the device as its shadow, a function
  /// that only the device has as its declaration.
  bool in_host = false;
};

/// Decides for each declaration of a source which halves it belongs to, in the source's order:
/// - what has __global__, __device__, __constant__, … is device code; so are types with such
/// members;
/// - types, aliases, constants without these are in both halves, unless they name what only the
/// host
///   has, or only the device;
/// - functions without these are host code, and device code too where device code names them;
/// - of the device's own, the host half has kernels, variables, and what host code names.
std::vector<PlacedItem> place_items(const SourceUnit& unit);

/// True for a function that only device code can call; constexpr ones may serve host constants.
bool is_device_only(const SourceItem& function);
/// True for a member function that device code cannot have: __host__, or it names host things.
bool is_host_member(const SourceUnit& unit, const SourceItem& member);

}  // namespace kbench
