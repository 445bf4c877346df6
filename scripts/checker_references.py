# SPDX-License-Identifier: MIT
"""Each problem's own reference as an answer to it: the class renamed, and in two forms that change
nothing that it computes. All of them have to be `correct`.
"""

import ast
import collections
import pathlib

# Values of --precision. A reference may not run in fp16 or bf16.
ROWS = ("native", "fp16", "bf16")
# --reduce-sizes limit on the CPU, which keeps a reference's call short.
CPU_SIZES = "2MiB"
# Causes of a problem_failure that are no fault of kbench's verdict.
NOT_HERE = ("too_large_for_cpu", "does_not_fit", "import_failed", "random_reference",
            "stateful_reference")
# Functions that look attributes up by names that the text does not show.
_BY_NAME = ("getattr", "setattr", "hasattr", "delattr", "vars")


class Skipped(Exception):
    """Why a form of a reference cannot be made."""


class _Renamed(ast.NodeTransformer):
    """The class Model as ModelNew."""

    def visit_ClassDef(self, node):
        self.generic_visit(node)
        node.name = "ModelNew" if node.name == "Model" else node.name
        return node

    def visit_Name(self, node):
        node.id = "ModelNew" if node.id == "Model" else node.id
        return node


def _parsed(text):
    tree = _Renamed().visit(ast.parse(text))
    if not any(isinstance(node, ast.ClassDef) and node.name == "ModelNew" for node in tree.body):
        raise Skipped("it has no class Model")
    return tree


def same(text):
    return ast.unparse(_parsed(text)) + "\n"


def _is_self(node):
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and (
        node.value.id == "self")


def _constructors(tree):
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from (part for part in node.body
                        if isinstance(part, ast.FunctionDef) and part.name == "__init__")


def _made(statement):
    """The name in `self.name = <call>`, whose value may hold state; else None."""
    if (isinstance(statement, ast.Assign) and len(statement.targets) == 1
            and _is_self(statement.targets[0]) and isinstance(statement.value, ast.Call)):
        return statement.targets[0].attr
    return None


def _is_layer(call, classes):
    """Whether a call makes a module or a parameter: of torch's, or of a class of the file."""
    function = call.func
    if isinstance(function, ast.Name):
        return function.id in classes
    return (isinstance(function, ast.Attribute) and function.attr[:1].isupper()
            and isinstance(function.value, (ast.Name, ast.Attribute))
            and ast.unparse(function.value) in ("nn", "torch.nn"))


def _runs(body, classes):
    """(begin, end) of neighbours in a body that make layers and need none of each other's."""
    begin, names = 0, set()
    for i, statement in enumerate([*body, ast.Pass()]):
        name = _made(statement)
        may_follow = name is not None and _is_layer(statement.value, classes) and not any(
            _is_self(node) and node.attr in names for node in ast.walk(statement.value))
        if may_follow and name not in names:
            if not names:
                begin = i
            names.add(name)
            continue
        if len(names) > 1:
            yield begin, i
        names = {name} if may_follow or (name and _is_layer(statement.value, classes)) else set()
        begin = i


def reversed_order(text):
    """Layers that do not depend on each other are constructed in reverse order."""
    tree = _parsed(text)
    classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    any_turned = False
    for function in _constructors(tree):
        for begin, end in list(_runs(function.body, classes)):
            function.body[begin:end] = function.body[begin:end][::-1]
            any_turned = True
    if not any_turned:
        raise Skipped("no two layers are made one after the other")
    return ast.unparse(tree) + "\n"


def _names_of_layers(tree):
    classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    names = set()
    for function in _constructors(tree):
        for statement in ast.walk(function):
            name = _made(statement)
            if name and _is_layer(statement.value, classes):
                names.add(name)
    return names


def renamed_weights(text):
    """Layers and parameters have other names, and so has all that they hold."""
    tree = _parsed(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in _BY_NAME or (
                isinstance(node, ast.Attribute) and node.attr == "__dict__"):
            raise Skipped("it looks attributes up by name")
    # Names stay that other code, or torch in a class derived from a layer, looks up.
    elsewhere = {node.attr for node in ast.walk(tree)
                 if isinstance(node, ast.Attribute) and not _is_self(node)}
    texts = {node.value for node in ast.walk(tree)
             if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    names = _names_of_layers(tree) - elsewhere - texts
    if not names:
        raise Skipped("no layer's name occurs only in its class")
    for node in ast.walk(tree):
        if _is_self(node) and node.attr in names:
            node.attr += "_"
    return ast.unparse(tree) + "\n"


# To add a form, write a function, which may raise Skipped, and add a row.
FORMS = (("same", same), ("reversed", reversed_order), ("renamed", renamed_weights))


def levels_of(folder):
    """{folder of problems: its files} of a checkout of KernelBench, a set of levels or one level."""
    folder = pathlib.Path(folder).resolve()
    for pattern in ("*.py", "level*/*.py", "KernelBench/level*/*.py"):
        found = [file for file in sorted(folder.glob(pattern)) if file.stem[:1].isdigit()]
        if found:
            by_level = collections.defaultdict(list)
            for file in found:
                by_level[file.parent].append(file)
            return dict(by_level)
    return {}


def answers_of(files, forms, skipped):
    """{candidate's path: text}; adds to `skipped` what cannot be made."""
    texts = {}
    for file in files:
        text = file.read_text(encoding="utf-8")
        for name, make in FORMS:
            if name not in forms:
                continue
            try:
                texts["%s/%s.py" % (file.stem, name)] = make(text)
            except (Skipped, SyntaxError) as reason:
                skipped.append("%s/%s %s: %s" % (file.parent.name, file.stem, name, reason))
    return texts


def is_left_out(record, row):
    if record.outcome == "problem_failure":
        return row != "native" or record.cause in NOT_HERE
    return False


def check(checker, folders):
    """Judges every form of every reference; the number that is not correct."""
    options, kbench = checker.options, checker.kbench
    sizes = options.reduce_sizes or (CPU_SIZES if kbench.device == "cpu" else "")
    rows = collections.defaultdict(collections.Counter)
    unknown = set(options.problems or ())
    for folder in folders:
        levels = levels_of(folder)
        if not levels:
            raise FileNotFoundError("%s holds no problems" % folder)
        for level, files in levels.items():
            if options.problems:
                files = [file for file in files if file.stem in options.problems]
            unknown -= {file.stem for file in files}
            texts = answers_of(files, options.forms, checker.lists["forms_skipped"])
            for row in options.rows if texts else ():
                _check_level(checker, level, files, texts, row, sizes, rows)
    if unknown:
        raise FileNotFoundError("there is no problem %s" % sorted(unknown)[0])
    print("\n%-34s %9s %8s %9s %6s" % ("references", "answers", "correct", "left out", "wrong"))
    for (level, row, form), counts in rows.items():
        print("%-34s %9d %8d %9d %6d" % ("%s, %s, %s" % (level, row, form), sum(counts.values()),
                                        counts["correct"], counts["left out"], counts["wrong"]))
    total = sum(rows.values(), collections.Counter())
    checker.figure("references.correct", total["correct"])
    checker.figure("references.left_out", total["left out"])
    checker.figure("references.wrong", total["wrong"])
    return total["wrong"]


def _check_level(checker, level, files, texts, row, sizes, rows):
    kbench = checker.kbench
    folder = kbench.write("references", texts)
    records = kbench.eval(folder, files,
                          ["--precision", row, *(["--reduce-sizes=" + sizes] if sizes else []),
                           *checker.draws, *checker.untimed])
    for path in texts:
        form = pathlib.Path(path).stem
        counts = rows[level.name, row, form]
        record = records.get(path)
        if record is None:
            counts["wrong"] += 1
            checker.lists["references_wrong"].append("%s/%s, %s: no record" % (
                level.name, path, row))
            continue
        left_out = is_left_out(record, row)
        counts["correct" if record.outcome == "correct" else
               "left out" if left_out else "wrong"] += 1
        if record.outcome == "correct":
            continue
        checker.lists["references_left_out" if left_out else "references_wrong"].append(
            "%s/%s, %s: %s %s: %s" % (level.name, path, row, record.outcome, record.cause,
                                      record.message))
