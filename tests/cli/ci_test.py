#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The workflows in scripts/ci are YAML, their steps are shell, and what they ask of kbench is there.
They run a second time in the same folder, and where failures are expected, a cheat still fails.

ci_test.py KBENCH: exits with 77 where there is no YAML parser (python3-yaml).
"""

import os
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


# Tells what it was asked, and refuses a run file that is there, as kbench does.
STAND_IN = """#!/usr/bin/env bash
echo "$*" >>"$ASKED"
[[ $1 != compare ]] || echo compared >"${!##*=}"
[[ $1 == eval ]] || exit 0
while [[ $1 != --out ]]; do shift; done
[[ ! -e $2 ]] || exit 2
: >"$2" >"${2%.jsonl}.details.jsonl"
"""


def asked_by(path, folder, **variables):
    """Runs the steps of a workflow that ask kbench something, and returns their arguments."""
    asked = folder / "asked"
    asked.unlink(missing_ok=True)
    for place in (folder / "bin", folder / "kbench" / "scripts"):
        place.mkdir(parents=True, exist_ok=True)
        (place / "kbench").write_text(STAND_IN, encoding="utf-8")
        (place / "kbench").chmod(0o755)
    (folder / "bin" / "git").unlink(missing_ok=True)
    (folder / "bin" / "git").symlink_to("/bin/true")
    environment = {**os.environ, "ASKED": str(asked), "GITHUB_STEP_SUMMARY": os.devnull,
                   "GITHUB_EVENT_NAME": "push", **variables,
                   "PATH": "%s:%s" % (folder / "bin", os.environ["PATH"])}
    for script in steps(yaml.safe_load(path.read_text(encoding="utf-8"))):
        if re.search(r"kbench (eval|compare)", script):
            subprocess.run(["bash", "-euc", script], cwd=folder, env=environment, check=True)
    return asked.read_text(encoding="utf-8")


def check_behaviour():
    with tempfile.TemporaryDirectory() as scratch:
        nightly = FOLDER / "github-nightly-gpu.yml"
        for _ in range(2):
            assert asked_by(nightly, pathlib.Path(scratch)).count("eval") == 2
    for name in ("github-actions.yml", "gitlab-ci.yml"):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            asked = asked_by(FOLDER / name, folder)
            assert "--fail-under correct=1" in asked and "--expect" not in asked, asked
            (folder / "run.jsonl").unlink()
            (folder / "expected.json").write_text("{}", encoding="utf-8")
            asked = asked_by(FOLDER / name, folder)
            assert "--expect expected.json" in asked and "--fail-under" not in asked, asked
            assert "--fail-on cheat" in asked, asked


def check_requests():
    """Of a pull request, what the main branch has not judged is, and both are compared."""
    variables = {"GITHUB_EVENT_NAME": "pull_request", "CI_MERGE_REQUEST_DIFF_BASE_SHA": "HEAD"}
    for name, commit in (("github-actions.yml", "HEAD^1"), ("gitlab-ci.yml", "HEAD")):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            asked = asked_by(FOLDER / name, folder, **variables)
            assert "--changed-since %s " % commit in asked and "compare" not in asked, asked
            assert "--sanitize all --require clean" in asked, asked
            (folder / "run.jsonl").unlink()
            (folder / ".kbench-main").mkdir()
            (folder / ".kbench-main" / "run.jsonl").touch()
            asked = asked_by(FOLDER / name, folder, **variables)
            assert "--reuse-from .kbench-main/run.jsonl" in asked and "--changed-since" not in asked, asked
            assert "compare .kbench-main/run.jsonl run.jsonl --format markdown=compare.md" in asked, asked


# GitHub's program, with one comment of ours if COMMENT is set. It keeps what it is asked.
GH = """#!/usr/bin/env bash
echo "$*" >>"$ASKED"
[[ $* != *--jq* ]] || echo "$COMMENT"
"""


def check_comment():
    """A pull request has one comment: the first is made, a later one replaces it."""
    document = yaml.safe_load((FOLDER / "github-actions.yml").read_text(encoding="utf-8"))
    step = document["jobs"]["publish"]["steps"][-1]
    assert "pull_request" in step["if"]
    for comment, expected in (("", "--method POST repos/o/r/issues/5/comments"),
                              ("77", "--method PATCH repos/o/r/issues/comments/77")):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            (folder / "gh").write_text(GH, encoding="utf-8")
            (folder / "gh").chmod(0o755)
            (folder / "compare.md").write_text("µ" * 50_000, encoding="utf-8")
            environment = dict(os.environ, ASKED=str(folder / "asked"), COMMENT=comment,
                               COMMENTS="repos/o/r/issues/5/comments",
                               PATH="%s:%s" % (folder, os.environ["PATH"]))
            subprocess.run(["bash", "-euo", "pipefail", "-c", step["run"]], cwd=folder, env=environment,
                           check=True)
            asked = (folder / "asked").read_text(encoding="utf-8")
            assert expected in asked and asked.count("--method") == 1, asked
            text = (folder / "comment.md").read_text(encoding="utf-8")
            assert text.startswith("<!-- kbench -->\nµ") and len(text.encode()) <= 65_536


def main():
    kbench = sys.argv[1]
    check_behaviour()
    check_requests()
    check_comment()
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
            asks = re.findall(r"kbench (eval|compare|setup)((?:\\\n|[^\n])*)", script)
            asks += [("eval", words) for words in re.findall(r"set -- ([^\n;]*)", script)]
            for command, arguments in asks:
                if command == "setup":
                    continue
                known = options_of(kbench, command)
                for option in re.findall(r"(?<!\S)--[a-z-]+", arguments):
                    asked += 1
                    assert option in known, "%s: kbench %s has no %s" % (path.name, command, option)
                for form in re.findall(r"--format ([a-z]+)", arguments):
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
