#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The workflows in scripts/ci are YAML, their steps are shell, and what they ask of kbench is there.

ci_test.py KBENCH: exits with 77 where there is no YAML parser (python3-yaml).
"""

import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import yaml
except ImportError:
    print("skipped: there is no YAML parser (python3-yaml)")
    sys.exit(77)

FOLDER = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts" / "ci"


def steps(value):
    """All texts that a shell gets."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "run":
                yield inner
            elif key in ("script", "before_script"):
                yield from inner
            else:
                yield from steps(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from steps(inner)


def options_of(kbench, command):
    ended = subprocess.run([kbench, "completion", "words", "2", "kbench", command, "--"],
                           capture_output=True, text=True, check=True)
    return {line.split("\t")[0] for line in ended.stdout.splitlines()}


def main():
    kbench = sys.argv[1]
    files = sorted(FOLDER.glob("*.yml"))
    assert len(files) == 3, files
    asked = 0
    for path in files:
        text = path.read_text(encoding="utf-8")
        document = yaml.safe_load(text)
        shell = list(steps(document))
        assert shell, "%s runs nothing" % path.name
        for script in shell:
            checked = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, check=False)
            assert checked.returncode == 0, "%s: %s: %s" % (path.name, script, checked.stderr)
            for command, arguments in re.findall(r"kbench (eval|compare|setup)((?:\\\n|[^\n])*)", script):
                if command == "setup":
                    continue
                known = options_of(kbench, command)
                for option in re.findall(r"(?<!\S)--[a-z-]+", arguments):
                    asked += 1
                    assert option in known, "%s: kbench %s has no %s" % (path.name, command, option)
                for form in re.findall(r"--(?:report|format) ([a-z]+)", arguments):
                    with tempfile.TemporaryDirectory() as folder:
                        said = subprocess.run([kbench, "report", folder + "/none", "--format", form],
                                              capture_output=True, text=True, check=False)
                    assert "no report format" not in said.stderr, "%s: %s" % (path.name, form)
                for gate in re.findall(r"--fail-under (\S+)", arguments):
                    said = subprocess.run([kbench, "report", "/nonexistent", "--fail-under", gate],
                                          capture_output=True, text=True, check=False)
                    assert "cannot read" in said.stderr, "%s: %s: %s" % (path.name, gate, said.stderr)
        if path.name.startswith("github"):
            # YAML takes a bare "on" for a truth value.
            assert True in document or "on" in document
            assert all("runs-on" in job for job in document["jobs"].values())
    assert asked > 10, "only %d options were looked at" % asked
    return 0


if __name__ == "__main__":
    sys.exit(main())
