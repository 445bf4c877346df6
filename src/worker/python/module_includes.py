# SPDX-License-Identifier: MIT
"""Inserts a candidate's own headers into the sources that include them.

Compilers cannot read a candidate's folder. So the text of a source contains the headers it includes
from there, with #line directives for each part.
"""

import hashlib
import os
import re
import sys

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>).*$', re.MULTILINE)
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once\b.*$", re.MULTILINE)
# Limits for headers that are too large or include each other endlessly.
_DEEPEST = 32
_MOST_BYTES = 4 << 20
_MOST_FILES = 1000
_TEMPORARY = ("/tmp", "/var/tmp")


def is_below(path, folder):
    return path == folder or path.startswith(folder + os.sep)


def is_own(path, folder):
    """True if the path may be the candidate's own: below its folder or a temporary folder, but not
    in Python's installation, which may also be in such a folder."""
    installed = map(os.path.realpath, (sys.prefix, sys.base_prefix))
    return is_below(path, folder) or (
        any(is_below(path, top) for top in _TEMPORARY)
        and not any(is_below(path, prefix) for prefix in installed))


class Headers:
    """The headers of a candidate's folder, as a compiler with these include paths finds them."""

    def __init__(self, folder, include_paths):
        self._folder = folder
        self._paths = [path for path in map(os.path.realpath, include_paths) if self._is_own(path)]
        self._left = _MOST_BYTES
        self._files_left = _MOST_FILES

    def expanded(self, text, name, path=None):
        """A source with the candidate's headers inserted. `name`: the name that its author knows.
        `path`: its path, if it has one."""
        start = os.path.dirname(path) if path else self._folder
        return self._expanded(text, name, start, 0)

    def _is_own(self, path):
        return is_own(path, self._folder)

    def _find(self, quoted, bracketed, start):
        """The path of a candidate's header, or None: then the compiler finds it or reports the
        error."""
        folders = ([start] if quoted else []) + self._paths
        for folder in folders:
            path = os.path.realpath(os.path.join(folder, quoted or bracketed))
            if self._is_own(path) and os.path.isfile(path):
                return path
        return None

    def _expanded(self, text, name, start, depth):
        parts, at = [], 0
        for include in _INCLUDE.finditer(text):
            path = self._find(include[1], include[2], start)
            if path is None or depth >= _DEEPEST:
                continue
            header = self._header(path, depth)
            if header is None:
                continue
            next_line = text.count("\n", 0, include.end()) + 2
            parts += [text[at:include.start()], header, f'#line {next_line} "{_quoted(name)}"']
            at = include.end()
        return "".join(parts) + text[at:]

    def _header(self, path, depth):
        if os.path.getsize(path) > self._left or self._files_left == 0:
            return None
        self._files_left -= 1
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        self._left -= len(text)
        name = os.path.relpath(path, self._folder)
        # Device code joins several sources to one text, in which "once" must also apply.
        once = _ONCE.search(text) is not None
        text = _ONCE.sub("", text)
        text = f'#line 1 "{_quoted(name)}"\n' + self._expanded(text, name, os.path.dirname(path),
                                                               depth + 1) + "\n"
        if once:
            guard = "KBENCH_ONCE_" + hashlib.sha256(name.encode()).hexdigest()[:16]
            text = f"#ifndef {guard}\n#define {guard}\n{text}#endif\n"
        return text


def _quoted(name):
    return name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
