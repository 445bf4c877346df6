# SPDX-License-Identifier: MIT
"""Extensions: CUDA files with host code, called by a function instead of a ModelNew."""

import re

_BINDING = re.compile(r"\.\s*def\s*\(\s*\"(\w+)\"(?:\s*,\s*&?\s*((?:\w|::)+))?")
_FUNCTION = re.compile(r"\b(?:(?:torch|at)::Tensor|std::(?:vector|tuple)\s*<[^;{}()]*>)\s+(\w+)\s*\(")


def _has_bindings(source):
    return "PYBIND11_MODULE" in _without_comments(source)


def _bindings(source):
    """{name in Python: the C++ function}, as far as they can be parsed."""
    return {name: function.rpartition("::")[2] or name
            for name, function in _BINDING.findall(_without_comments(source))}


def entry_of(source, asked):
    """(name of the function to call, "") or ("", why there is none).

    The function is `asked`, else forward, else the only one that is bound.
    """
    text = _without_comments(source)
    only, may_hide = "forward", False
    if _has_bindings(source):
        names, verb = list(_bindings(source)), "binds"
        may_hide = len(names) < len(re.findall(r"\.\s*def\s*\(", text))
        if len(names) == 1 and not may_hide:
            only = names[0]
    else:
        names, verb = list(dict.fromkeys(_FUNCTION.findall(text))), "defines"
    entry = asked or ("forward" if "forward" in names else only)
    if verb == "defines":
        may_hide = re.search(rf"\b{re.escape(entry)}\s*\(", text) is not None
    # Macros and aliases may hide the name; then the compiler decides.
    if not names or entry in names or may_hide:
        return entry, ""
    there = ", ".join(names[:10]) + (", …" if len(names) > 10 else "")
    return "", (f"{verb} no function {entry}; it {verb} {there}"
                + ("" if asked else ": choose one with --entry NAME"))


def request_of(source, entry):
    """The build request for the file, in module_extension's form."""
    if not _has_bindings(source):
        source += ("\n#include <torch/extension.h>\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) "
                   f'{{ m.def("{entry}", &{entry}); }}\n')
    return {"kind": "inline", "name": "extension", "cpp_sources": [], "cuda_sources": [source],
            "functions": None, "with_cuda": True, "no_implicit_headers": False}


def _without_comments(source):
    return re.sub(r"//[^\n]*|/\*.*?\*/", " ", source, flags=re.DOTALL)


def _closing(text, start):
    """Index of the bracket that closes the one at `start`."""
    depth = 0
    for i in range(start, len(text)):
        depth += text[i] in "(<[{"
        depth -= text[i] in ")>]}"
        if depth == 0:
            return i
    return len(text)


def _split(text):
    """The parts of a text between commas outside of all brackets."""
    parts, depth, begin = [], 0, 0
    for i, letter in enumerate(text):
        depth += letter in "(<[{"
        depth -= letter in ")>]}"
        if letter == "," and depth == 0:
            parts.append(text[begin:i])
            begin = i + 1
    parts.append(text[begin:])
    return [part for part in parts if part.strip()]


def argument_names(source, entry):
    """Names of the parameters of the C++ function bound to `entry`, as far as they can be parsed.
    """
    text = _without_comments(source)
    function = _bindings(source).get(entry, entry) if _has_bindings(source) else entry
    for found in re.finditer(rf"\b{re.escape(function)}\s*\(", text):
        end = _closing(text, found.end() - 1)
        if not re.match(r"\s*\{", text[end + 1:]):
            continue
        names = []
        for part in _split(text[found.end():end]):
            words = re.findall(r"\w+", part.split("=")[0])
            names.append(words[-1] if len(words) > 1 else "")
        return names
    return []


class ExtensionModel:
    """Calls the function with inputs and state. Arguments are matched by name, the rest in
    order."""

    def __init__(self, function, names, input_names, state_names, state):
        self._function = function
        self._names = names
        self._input_names = input_names
        self._state = list(zip((name.replace(".", "_") for name in state_names), state))

    def forward(self, *inputs):
        left = list(zip(self._input_names, inputs)) + self._state
        if len(self._names) != len(left):
            return self._function(*(value for _, value in left))
        arguments = [None] * len(left)
        open_places = []
        for place, name in enumerate(self._names):
            match = next((i for i, (known, _) in enumerate(left) if known == name), None)
            if match is None:
                open_places.append(place)
            else:
                arguments[place] = left.pop(match)[1]
        for place in open_places:
            arguments[place] = left.pop(0)[1]
        return self._function(*arguments)

    __call__ = forward

    @staticmethod
    def buffers():
        return []
