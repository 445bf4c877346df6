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

SCHEMA = page_runs.ROOT / "src" / "report" / "report.schema.json"
KBENCH = str(pathlib.Path(sys.argv[1]).resolve())


def written(run, form):
    ended = subprocess.run([KBENCH, "report", str(run), "--format", form], capture_output=True, check=False)
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
    planned = {(e["problem"], e["model"], s) for e in run["roster"] for s in e["samples"]}
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


def csv_report(text, run):
    rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    assert len(rows) == len(run["records"])
    assert sorted(row["model"] for row in rows) == sorted(r["model"] for r in run["records"])
    assert all(None not in row for row in rows), "a row has more fields than the head"


def markdown(text, run):
    assert len(text.encode()) <= 60_000
    assert text.count("<details>") == text.count("</details>")
    plain = re.sub(r"\\[^\n]", "", text)
    for tag in re.findall(r"<[^>\n]*>", plain):
        assert tag in {"<details>", "</details>", "<summary>", "</summary>"}, "there is markup: %s" % tag


def github(text, run):
    for line in text.rstrip("\n").split("\n"):
        assert re.match(r"::(error|warning|notice) [^\n]*::", line), "no workflow command: %r" % line[:80]
    failed = sum(r["outcome"] != "correct" for r in run["records"])
    assert text.count("::error ") == min(failed, 50)


def latex(text, run):
    plain = re.sub(r"^%[^\n]*", "", text, flags=re.M)
    plain = re.sub(r"\\[a-zA-Z]+\*?|\\[^a-zA-Z]", "", plain)
    assert not re.search(r"[#~^]", plain), "there is a character that TeX takes for a command"
    assert plain.count("{") == plain.count("}") and plain.count("$") % 2 == 0
    body = "".join(line for line in text.splitlines() if not line.startswith("%"))
    assert all(ord(c) < 128 for c in body), "there is a character that pdfTeX has no glyph for"


def console(text, run):
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]", text), "something steers the terminal"


def expect(text, run):
    json.loads(text)


def plots(path, folder):
    """The charts as files; nothing where there is no gnuplot."""
    if shutil.which("gnuplot") is None:
        print("plots are not looked at: there is no gnuplot (gnuplot-nox)")
        return None
    ended = subprocess.run([KBENCH, "report", str(path), "--format", "expect=%s/e" % folder.parent,
                            "--plot", str(folder)], capture_output=True, check=False)
    assert ended.returncode == 0, ended.stderr.decode()
    for file in folder.iterdir():
        if file.suffix == ".svg":
            assert xml.parse(file).getroot().tag.endswith("svg")
        else:
            assert file.read_bytes().startswith(b"\x89PNG"), "%s is no PNG" % file.name
    names = {file.stem for file in folder.iterdir()}
    assert len(list(folder.iterdir())) == 2 * len(names)
    return names


FORMATS = {"junit": junit, "json": json_report, "csv": csv_report, "markdown": markdown,
           "github": github, "latex": latex, "console": console, "expect": expect}


def main():
    with tempfile.TemporaryDirectory(prefix="kbench_formats_") as folder:
        many = page_runs.Run(pathlib.Path(folder) / "many.jsonl")
        for sample in range(3000):
            many.add("m%d" % (sample % 7), "level1/%d_P" % (sample % 50), sample,
                     "correct" if sample % 3 else "mismatch")
        for path in page_runs.write_runs(pathlib.Path(folder)) + [many.write()]:
            lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            run = {"roster": [e for line in lines if line["type"] == "roster" for e in line["entries"]],
                   "records": [line for line in lines if line["type"] == "record"]}
            for name, look in FORMATS.items():
                try:
                    look(written(path, name), run)
                except (AssertionError, ValueError, xml.ParseError, csv.Error) as wrong:
                    print("%s of %s: %s" % (name, path.name, str(wrong)[:2000]))
                    return 1
            try:
                names = plots(path, path.with_suffix(".plots"))
                if names is not None and path.name == "models.jsonl":
                    assert names == {"fast_p", "pass_at_k", "speedups", "times", "outcomes"}, names
                if names is not None and path.name == "cpu.jsonl":
                    assert names == {"pass_at_k", "outcomes"}, names
            except (AssertionError, xml.ParseError) as wrong:
                print("plots of %s: %s" % (path.name, wrong))
                return 1
            print("%s: as it should be" % path.name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
