# SPDX-License-Identifier: MIT
"""Runs clang-tidy over the sources of a build folder, over the cores; prints only its findings.

    python3 scripts/tidy.py BUILD

A source whose text, headers, flags and checks are those of its last clean run is skipped; the
stamps lie in BUILD/tidy.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def our_sources(build):
    entries = json.loads((build / "compile_commands.json").read_text())
    for entry in entries:
        path = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if path.is_relative_to(ROOT) and not path.is_relative_to(build) and path.exists():
            if path.relative_to(ROOT).parts[0] in ("src", "tests"):
                yield path, entry.get("command") or " ".join(entry["arguments"])


def digest_of_headers():
    """All headers of ours as one: a change in any of them checks everything again."""
    digest = hashlib.sha256()
    for folder in ("include", "src", "tests"):
        for path in sorted((ROOT / folder).rglob("*.hpp")):
            digest.update(path.read_bytes())
    digest.update((ROOT / ".clang-tidy").read_bytes())
    return digest.digest()


def check(path, command, build, headers):
    """The findings in one source; empty where it is clean."""
    digest = hashlib.sha256(headers + command.encode() + path.read_bytes()).hexdigest()
    stamp = build / "tidy" / (str(path.relative_to(ROOT)).replace("/", "_") + ".sha256")
    if stamp.exists() and stamp.read_text() == digest:
        return ""
    # Compiler warnings are the build's business, with the compiler that it is built with.
    done = subprocess.run(
        ["clang-tidy", "--quiet", "-p", str(build), "--extra-arg=-w", str(path)],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        stamp.parent.mkdir(exist_ok=True)
        stamp.write_text(digest)
        return ""
    lines = [line for line in done.stdout.splitlines() if re.search(r": (error|warning): ", line)]
    return "\n".join(lines) or done.stderr.strip()


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1]).resolve()
    headers = digest_of_headers()
    sources = sorted(set(our_sources(build)))
    found = set()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for text in pool.map(lambda s: check(*s, build, headers), sources):
            found.update(line.replace(str(ROOT) + "/", "") for line in text.splitlines())
    print("\n".join(sorted(found)))


if __name__ == "__main__":
    main()
