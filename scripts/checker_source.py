# SPDX-License-Identifier: MIT
"""The text of a kernel candidate as a mutator sees it: its plan, and the code that runs.

No parser of C++: comments, plan lines and directives are blanked (same offsets), and the rest is
brackets and words. That is enough for the shipped candidates, and what comes out wrong does not
compile and is no mutant.
"""

import dataclasses
import re

NO_ASSIGNMENT = re.compile(r"(return|if|for|while|else|const|float|int|double)\b")
WORD = re.compile(r"[A-Za-z_]\w*")
CLOSING = {"(": ")", "[": "]", "{": "}"}


@dataclasses.dataclass(frozen=True)
class Edit:
    """`text[start:end]` becomes `new`; `prelude` goes in front of the whole file."""
    start: int
    end: int
    new: str
    prelude: str = ""


@dataclasses.dataclass(frozen=True)
class Function:
    name: str
    is_kernel: bool
    parameters: tuple  # (start, end) of the text within its brackets
    body: tuple        # (start, end) of the text within its braces


def blanked(text):
    """The text with comments, strings and directives replaced by spaces."""
    def spaces(match):
        return re.sub(r"[^\n]", " ", match.group())

    return re.sub(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|^[ \t]*#[^\n]*", spaces, text,
                  flags=re.S | re.M)


def closing(code, at):
    """Offset of the bracket that closes the one at `at`; -1 where none does."""
    depth, open_one, close_one = 0, code[at], CLOSING[code[at]]
    for i in range(at, len(code)):
        if code[i] == open_one:
            depth += 1
        elif code[i] == close_one:
            depth -= 1
            if depth == 0:
                return i
    return -1


def split_list(code, start, end):
    """(start, end) of the parts between commas that stand in no bracket."""
    parts, depth, begin = [], 0, start
    for i in range(start, end):
        if code[i] in "([{":
            depth += 1
        elif code[i] in ")]}":
            depth -= 1
        elif code[i] == "," and depth == 0:
            parts.append((begin, i))
            begin = i + 1
    parts.append((begin, end))
    return [trimmed(code, *part) for part in parts]


def trimmed(code, start, end):
    while start < end and code[start].isspace():
        start += 1
    while end > start and code[end - 1].isspace():
        end -= 1
    return start, end


class Source:
    """One candidate: its text, and where in it a mutation means something."""

    def __init__(self, text, launched=None):
        """`launched`: names of the kernels that run at the sizes in question; None: all."""
        self.text = text
        self.code = blanked(text)
        self.functions = list(self._functions())
        self.live = self._live(launched)
        self.is_half = re.search(r"cuda_(fp16|bf16)\.h", text) is not None

    def _functions(self):
        depth, at = 0, 0
        while at < len(self.code):
            character = self.code[at]
            if character == "{":
                end = closing(self.code, at)
                at = end if end > 0 else at
            elif character == "(" and depth == 0:
                end = closing(self.code, at)
                if end < 0:
                    return
                name = re.search(r"(\w+)\s*$", self.code[:at])
                after = re.match(r"\s*\{", self.code[end + 1:])
                if name and after:
                    brace = end + after.end()
                    head = self.code[:at].rstrip().rpartition("}")[2].rpartition(";")[2]
                    body_end = closing(self.code, brace)
                    if body_end < 0:
                        return
                    yield Function(name.group(1), "__global__" in head, (at + 1, end),
                                   (brace + 1, body_end))
                    at = body_end
                else:
                    at = end
            at += 1

    def _live(self, launched):
        """Functions that a launched kernel reaches, by the names in their bodies."""
        by_name = {}
        for function in self.functions:
            by_name.setdefault(function.name, []).append(function)
        todo = [f for f in self.functions
                if f.is_kernel and (launched is None or f.name in launched)]
        live = []
        while todo:
            function = todo.pop()
            if function in live:
                continue
            live.append(function)
            for word in set(WORD.findall(self.code[slice(*function.body)])):
                todo += by_name.get(word, [])
        return sorted(live, key=lambda f: f.body)

    def matches(self, pattern):
        """Matches of a pattern in the code that runs, in the order of the text."""
        compiled = re.compile(pattern)
        for function in self.live:
            yield from compiled.finditer(self.code, *function.body)

    def kernels(self):
        return [function for function in self.live if function.is_kernel]

    def statements(self):
        """(start, end) of expression statements that assign, without their semicolon."""
        for match in self.matches(r"(?<=[;{})])\s*(?=[\w*(])"):
            start = match.end()
            found = re.compile(r"[\w.\->]*(\[|[-+*/^|&]?=(?!=))|\*\w+\s*[-+]?=").match(
                self.code, start)
            end = self.code.find(";", start)
            if not found or end < 0 or NO_ASSIGNMENT.match(self.code, start):
                continue
            text = self.code[start:end]
            if "{" in text or not re.search(r"(?<![<>=!])=(?!=)", text):
                continue
            if text.count("(") == text.count(")"):
                yield start, end

    def declarations(self, types=r"(?:const )?float"):
        """(name, start, end of the value) of each variable of such a type with a value."""
        for match in self.matches(r"(?<=[;{})(\n])\s*(?:" + types + r")\s+"):
            head = self.code[:match.start()].rstrip()
            if head.endswith((",", "(")) and not head.endswith("for ("):
                continue
            end = self.code.find(";", match.end())
            if end < 0 or "{" in self.code[match.end():end]:
                continue
            for start, stop in split_list(self.code, match.end(), end):
                one = re.match(r"(\w+)\s*=\s*", self.code[start:stop])
                if one:
                    yield one.group(1), start + one.end(), stop

    def launches(self):
        """(start, end) of each launch in the plan, brackets included, whose kernel runs; of several
        of one kernel in branches only those that are in no `else`."""
        names = {kernel.name for kernel in self.kernels()}
        in_else = False
        for match in re.finditer(r"^//@(.*)$", self.text, re.M):
            line = match.group(1)
            if "} else {" in line:
                in_else = True
            elif line.strip() == "}":
                in_else = False
            found = re.match(r"//@\s*(?:cooperative\s+)?(\w+)\b[^\n]*?<<<", match.group())
            if found and found.group(1) in names and not in_else:
                start = match.start() + found.end()
                grid_end = self.text.find(">>>", start)
                bracket = self.text.find("(", grid_end)
                end = closing(self.text, bracket)
                yield start, grid_end, bracket + 1, end

    def plan_part(self, start, end):
        """A plan's text with the marks of its further lines blanked, as long as it was."""
        return self.text[:start] + self.text[start:end].replace("//@", "   ") + self.text[end:]

    def apply(self, *edits):
        text = self.text
        for edit in sorted(edits, key=lambda e: e.start, reverse=True):
            text = text[:edit.start] + edit.new + text[edit.end:]
        prelude = "".join(dict.fromkeys(edit.prelude for edit in edits))
        return prelude + text
