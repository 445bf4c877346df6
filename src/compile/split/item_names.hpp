// SPDX-License-Identifier: MIT
#pragma once

#include "compile/split/items.hpp"

namespace kbench {

/// True for attributes and operators whose argument list is none of a function: alignas, decltype.
bool takes_arguments(std::string_view word);
/// True for words of a type or specifiers, which name no function, variable or parameter.
bool is_type_word(std::string_view word);
/// The index behind the [[…]], alignas(…) and __attribute__((…)) at `at`.
std::size_t after_attributes(const SourceText& text, std::size_t at);

/// Fills in the name of a function, which stands before its parameters, with the classes before it.
void name_function(const SourceText& text, SourceItem& function);
/// Fills in the names of a class and its variables, or of an enum, its values and variables.
/// `type_word` is where "class", "enum", … stands.
void name_type(const SourceText& text, SourceItem& type, std::size_t type_word);
/// Fills in the names of a declaration of variables, and whether they are constant.
void name_variables(const SourceText& text, SourceItem& variables);

}  // namespace kbench
