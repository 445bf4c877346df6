#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads what kbench writes of odd and hostile runs (page_runs.py) as the programs do that it is for.

formats_test.py KBENCH: XML, JSON (against its schema), CSV, Markdown, workflow commands and LaTeX.
"""

import csv
import io
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

import page_runs

SCHEMA = page_runs.ROOT / "src" / "report" / "format" / "report.schema.json"
KBENCH = str(pathlib.Path(sys.argv[1]).resolve())


def written(run, form, *more):
    ended = subprocess.run([KBENCH, "report", str(run), "--format", form, *more], capture_output=True,
                           check=False)
    assert ended.returncode == 0, "%s of %s: %s" % (form, run.name, ended.stderr.decode())
    return ended.stdout.decode("utf-8")  # anything else is no UTF-8


def junit(text, run):
    root = xml.fromstring(text)
    assert root.tag == "testsuites"
    cases = root.findall("testsuite/testcase")
    assert int(root.get("tests")) == len(cases)
    for kind in ["failure", "error", "skipped"]:
        attribute = "skipped" if kind == "skipped" else kind + "s"
        assert int(root.get(attribute)) == len(root.findall("testsuite/testcase/" + kind)), kind
    planned = {(e["problem"], e["model"], s) for e in run["manifest"] for s in e["samples"]}
    assert len(cases) == len(planned), "%d cases for %d candidates" % (len(cases), len(planned))


def json_report(text, run):
    report = json.loads(text)
    try:
        import jsonschema
    except ImportError:
        print("the schema is not looked at: there is no jsonschema (python3-jsonschema)")
    else:
        jsonschema.Draft202012Validator.check_schema(json.loads(SCHEMA.read_text()))
        jsonschema.validate(report, json.loads(SCHEMA.read_text()))
    assert len(report["candidates"]) == len(run["records"])
    for group in report["failures"]:
        assert group["count"] == len(group["candidates"])


def harmless(name):
    """A name as no terminal and no spreadsheet obeys it."""
    name = re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", "\ufffd", name)
    return "'" + name if name[:1] in {"=", "+", "-", "@", "\t", "\r"} else name


def csv_report(text, run):
    rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    planned = {(harmless(e["model"]), harmless(e["problem"]), s)
               for e in run["manifest"] for s in e["samples"]}
    assert sorted((r["model"], r["problem"], int(r["sample"])) for r in rows) == sorted(planned)
    assert sum(r["outcome"] == "no_verdict" for r in rows) == len(planned) - len(run["records"])
    assert all(r["run_status"] == rows[0]["run_status"] != "" for r in rows)
    assert all(None not in row for row in rows), "a row has more fields than the head"


def markdown(text, run):
    assert len(text.encode()) <= 60_000
    assert text.count("<details>") == text.count("</details>")
    # What is indented so far is code, and markup in it none.
    text = re.sub(r"^ {6}.*$", "", text, flags=re.M)
    plain = re.sub(r"\\[^\n]", "", text)
    for tag in re.findall(r"<[^>\n]*>", plain):
        assert tag in {"<details>", "</details>", "<summary>", "</summary>"}, "there is markup: %s" % tag


def github(text, run):
    for line in text.rstrip("\n").split("\n"):
        assert re.match(r"::(error|warning|notice) [^\n]*::", line), "no workflow command: %r" % line[:80]
    failed = sum(r["outcome"] not in ("correct", "problem_failure") for r in run["records"])
    assert text.count("::error ") == min(failed, 10)
    assert text.count("::warning ") <= 10 and 1 <= text.count("::notice ") <= 10


def failures_of(run):
    return [r for r in run["records"] if r["outcome"] not in ("correct", "problem_failure", "harness_fault")]


def codequality(text, run):
    issues = json.loads(text)
    assert len(issues) >= len(failures_of(run))
    assert len({issue["fingerprint"] for issue in issues}) == len(issues), "a fingerprint occurs twice"
    for issue in issues:
        assert issue["severity"] in ("critical", "minor") and issue["description"] and issue["check_name"]
        assert issue["location"]["lines"]["begin"] >= 1
        path = issue["location"]["path"]
        assert path and not path.startswith("./"), path


def sarif(text, run):
    """The fields that SARIF 2.1.0 and GitHub's code scanning require."""
    log = json.loads(text)
    assert log["version"] == "2.1.0" and log["$schema"].endswith("sarif-2.1.0.json") and len(log["runs"]) == 1
    driver, results = log["runs"][0]["tool"]["driver"], log["runs"][0]["results"]
    assert driver["name"] == "kbench" and len(results) >= len(failures_of(run))
    rules = [rule["id"] for rule in driver["rules"]]
    assert len(set(rules)) == len(rules) and {result["ruleId"] for result in results} == set(rules)
    for rule in driver["rules"]:
        assert all(rule[name]["text"] for name in ("shortDescription", "fullDescription", "help"))
    for result in results:
        assert result["level"] in ("error", "warning") and result["message"]["text"]
        place = result["locations"][0]["physicalLocation"]
        assert place["region"]["startLine"] >= 1
        uri = place["artifactLocation"]["uri"]
        assert re.fullmatch(r"(file://)?([A-Za-z0-9._~/-]|%[0-9A-F]{2})+", uri), uri


def latex(text, run):
    plain = re.sub(r"^%[^\n]*", "", text, flags=re.M)
    plain = re.sub(r"\\[a-zA-Z]+\*?|\\[^a-zA-Z]", "", plain)
    assert not re.search(r"[#~^]", plain), "there is a character that TeX takes for a command"
    assert plain.count("{") == plain.count("}") and plain.count("$") % 2 == 0
    body = "".join(line for line in text.splitlines() if not line.startswith("%"))
    assert all(ord(c) < 128 for c in body), "there is a character that pdfTeX has no glyph for"
    typeset(text)


def typeset(text):
    """pdfTeX sets it without an error, and nothing leaves the page."""
    if shutil.which("pdflatex") is None or subprocess.run(
            ["kpsewhich", "booktabs.sty"], capture_output=True, check=False).returncode != 0:
        return
    with tempfile.TemporaryDirectory(prefix="kbench_latex_") as folder:
        (pathlib.Path(folder) / "report.tex").write_text(
            "\\documentclass{article}\\usepackage{booktabs,graphicx}\\begin{document}\n%s\n"
            "\\end{document}\n" % text, encoding="utf-8")
        ended = subprocess.run(["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "report.tex"],
                               cwd=folder, capture_output=True, check=False)
        said = ended.stdout.decode(errors="replace")
    assert ended.returncode == 0, said[-2000:]
    # A name of thousands of letters without a place to end a line is too long for any page.
    assert "xxxx" in text or "Overfull" not in said, re.findall(r"Overfull[^\n]*", said)
    assert "Float too large" not in said, said[-2000:]


def console(text, run):
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]", text), "something steers the terminal"


def expect(text, run):
    json.loads(text)


def charts(path, folder):
    """The charts as files; nothing if there is no Chromium."""
    if not any(map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])):
        print("charts are not looked at: there is no Chromium (chromium)")
        return None
    written(path, "svg=%s" % folder)
    for file in folder.iterdir():
        assert xml.parse(file).getroot().tag.endswith("svg")
    return {file.stem for file in folder.iterdir()}


def long_log(folder):
    """A log of 100 MB is in no report whole, and stops none."""
    run = page_runs.Run(folder / "long_log.jsonl")
    line = "kernel.cu(3): error: this argument list is wrong, and so it goes on\n"
    log = "the first line\n" + line * (100_000_000 // len(line))
    run.add("alpha", "level1/1_Log", 0, "compile_failure", details={"compiler_log": log})
    run.add("alpha", "level1/2_NoLog", 0)
    path = run.write()
    for name in [*FORMATS, "html"]:
        text = written(path, name)
        assert len(text) < 2_000_000, "%s has %d characters" % (name, len(text))
    said = " ".join(written(path, "console").split())
    assert "no log here: they are 101.5 MB long" in said, said
    ended = subprocess.run([KBENCH, "show", str(path), "1_Log"], capture_output=True, check=False)
    assert ended.returncode == 0 and b"the first line" in ended.stdout, ended.stderr.decode()


def cut_off(folder):
    """A run that is still being written: its last line is half there."""
    path = page_runs.of_models(folder / "whole.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    part = folder / "part.jsonl"
    part.write_bytes(b"".join(lines[:40]) + lines[40][:200])
    report = json.loads(written(part, "json"))
    assert len(report["candidates"]) == 38 and not report["complete"]
    for name in [*FORMATS, "html"]:
        written(part, name)
    assert "INCOMPLETE 38/144" in written(part, "console")


def lines_that_are_none(folder):
    """Each bad line is told by its number, what stands beside it is read."""
    path = page_runs.of_models(folder / "bad.jsonl")
    lines = path.read_text(encoding="utf-8").splitlines()
    nan = re.sub(r'"median_ms": [0-9.]+', '"median_ms": NaN', next(l for l in lines if "median_ms" in l))
    huge = re.sub(r'"median_ms": [0-9.]+', '"median_ms": 1e999', next(l for l in lines if "median_ms" in l))
    path.write_text("\n".join([*lines[:10], nan, huge, "{", "[]", '"text"', "\0\1", *lines[10:]]) + "\n",
                    encoding="utf-8")
    report = json.loads(written(path, "json"))
    assert len(report["candidates"]) == 144
    told = " ".join(report["warnings"])
    assert "6 lines could not be read: line 11: " in told, told
    for name in [*FORMATS, "html"]:
        written(path, name)


def two_versions(folder):
    """Files of two versions of kbench make one report that names both; a newer schema is refused."""
    older, newer = page_runs.of_models(folder / "older.jsonl"), page_runs.of_models(folder / "newer.jsonl")
    lines = [json.loads(line) for line in newer.read_text(encoding="utf-8").splitlines()]
    lines[0].update(kbench_version="99.1.2", schema="2.999")
    for line in lines:
        line["from_the_future"] = {"a": [1]}
    newer.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    both = written(older, "markdown", str(newer))
    assert "99.1.2" in both and lines[0]["kbench_version"] in both
    lines[0]["schema"] = "3.0"
    newer.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    ended = subprocess.run([KBENCH, "report", str(newer)], capture_output=True, check=False)
    assert ended.returncode == 2 and ended.stderr.count(b"\n") == 1, ended.stderr.decode()
    assert b"schema 3.0" in ended.stderr


def many_exclusions(folder):
    """Hundreds of problems that fail, each with a page of reasons, leave room for the rest."""
    run = page_runs.Run(folder / "excluded.jsonl")
    for i in range(300):
        run.add("alpha", "level1/%d_P" % i, 0, "problem_failure", message="line %d: " % i + "why " * 180)
    run.add("alpha", "level1/300_P", 0)
    path = run.write()
    head = written(path, "console").split("\n\n")[0]
    assert len(head.splitlines()) < 40, "the first block has %d lines" % len(head.splitlines())
    assert "and 290 more" in " ".join(head.split())
    text = written(path, "markdown")
    assert "## Models" in text and "Cut here" not in text.split("## Models")[0]
    assert len(json.loads(written(path, "json"))["exclusions"]) == 300
    typeset(written(path, "latex"))


def many_models(folder):
    """Tables of many models and names that TeX takes for something else fit the pages."""
    run = page_runs.Run(folder / "many_models.jsonl")
    for model in ["[option]", "*starred", "--double-hyphen", "`quoted`", "a" * 60] + \
            ["maker/model-%d" % i for i in range(40)]:
        for level in [1, 2]:
            run.add(model, "level%d/1_P" % level, 0, level=level)
    text = written(run.write(), "latex")
    assert "{[}option{]}" in text and "-{}-{}double" in text
    typeset(text)


def no_runs(folder):
    """What is no run is one clear sentence."""
    (folder / "empty").write_bytes(b"")
    (folder / "binary").write_bytes(bytes(range(256)) * 64)
    (folder / "other").write_text('{"type": "something"}\n')
    for name in ["empty", "binary", "other", "missing", "."]:
        ended = subprocess.run([KBENCH, "report", str(folder / name)], capture_output=True, check=False)
        assert ended.returncode == 2 and ended.stderr.count(b"\n") == 1, "%s: %s" % (name, ended.stderr)


FORMATS = {"junit": junit, "json": json_report, "csv": csv_report, "markdown": markdown,
           "github": github, "codequality": codequality, "sarif": sarif, "latex": latex,
           "console": console, "expect": expect}


def main():
    with tempfile.TemporaryDirectory(prefix="kbench_formats_") as folder:
        many = page_runs.Run(pathlib.Path(folder) / "many.jsonl")
        for sample in range(3000):
            many.add("m%d" % (sample % 7), "level1/%d_P" % (sample % 50), sample,
                     "correct" if sample % 3 else "mismatch")
        for path in page_runs.write_runs(pathlib.Path(folder)) + [many.write()]:
            lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            run = {"manifest": [e for line in lines if line["type"] == "manifest" for e in line["entries"]],
                   "records": [line for line in lines if line["type"] == "record"]}
            for name, look in FORMATS.items():
                try:
                    look(written(path, name), run)
                except (AssertionError, ValueError, xml.ParseError, csv.Error) as wrong:
                    print("%s of %s: %s" % (name, path.name, str(wrong)[:2000]))
                    return 1
            try:
                names = charts(path, path.with_suffix(".charts"))
                if names is not None and path.name == "models.jsonl":
                    assert names == {"fast-p", "at-one", "at-k", "speedups", "times", "causes", "outcomes", "timeline"}, names
                if names is not None and path.name == "cpu.jsonl":
                    assert names == {"at-one", "at-k", "causes", "outcomes", "timeline"}, names
            except (AssertionError, xml.ParseError) as wrong:
                print("charts of %s: %s" % (path.name, wrong))
                return 1
            print("%s: as it should be" % path.name)
        for look in [long_log, cut_off, lines_that_are_none, two_versions, many_exclusions, many_models,
                     no_runs]:
            try:
                look(pathlib.Path(folder))
            except (AssertionError, ValueError) as wrong:
                print("%s: %s" % (look.__name__, str(wrong)[:2000]))
                return 1
            print("%s: as it should be" % look.__name__)
    return 0


if __name__ == "__main__":
    sys.exit(main())
