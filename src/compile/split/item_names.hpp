// SPDX-License-Identifier: MIT
#pragma once

#include "compile/split/items.hpp"

namespace kbench {

/// True for words that take arguments but are not functions: alignas, decltype and the like.
bool takes_arguments(std::string_view word);
/// True for words of types and specifiers, which cannot be the name of a function, variable or
/// parameter.
bool is_type_word(std::string_view word);
/// The index after the [[…]], alignas(…) and __attribute__((…)) at `at`.
std::size_t after_attributes(const SourceText& text, std::size_t at);

/// Sets a function's name, qualified by its classes, from the words before its parameters.
void name_function(const SourceText& text, SourceItem& function);
/// Sets the names of a class and its variables, or of an enum, its values and variables.
/// `type_word` is the index of "class", "enum", ….
void name_type(const SourceText& text, SourceItem& type, std::size_t type_word);
/// Sets the names in a declaration of variables, and if they are constant.
void name_variables(const SourceText& text, SourceItem& variables);

}  // namespace kbench
