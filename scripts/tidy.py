# SPDX-License-Identifier: MIT
"""Runs clang-tidy over the sources of a build folder, over the cores; prints only its findings.

    python3 scripts/tidy.py BUILD

A source whose text, flags and checks, and whose headers of ours, are those of its last clean run
is skipped; the stamps lie in BUILD/tidy.
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


def without_precompiled(command):
    """A source has to include what it uses, and clang cannot read what another compiler has made."""
    return re.sub(r"-Winvalid-pch|(-Xclang )?-include(-pch)? (-Xclang )?\S*cmake_pch\S*", "", command)


def one_by_one(entry):
    """The entry of a source; of one that CMake made to compile several at once, those of each."""
    path = pathlib.Path(entry["directory"], entry["file"])
    if not re.fullmatch(r"unity_\d+_cxx\.cxx", path.name):
        return [entry]
    sources = re.findall(r'^#include "(.*)"$', path.read_text(), re.MULTILINE)
    return [{**entry, "file": source, "command": entry["command"].replace(entry["file"], source)}
            for source in sources]


def own_commands(build):
    """The build's commands without precompiled headers, as a database in the folder of stamps."""
    entries = []
    for entry in json.loads((build / "compile_commands.json").read_text()):
        entries += one_by_one(entry)
    for entry in entries:
        entry["command"] = without_precompiled(entry.get("command") or " ".join(entry["arguments"]))
    folder = build / "tidy"
    folder.mkdir(exist_ok=True)
    (folder / "compile_commands.json").write_text(json.dumps(entries))
    return entries


def our_sources(build):
    for entry in own_commands(build):
        path = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if path.is_relative_to(ROOT) and not path.is_relative_to(build) and path.exists():
            if path.relative_to(ROOT).parts[0] in ("src", "tests"):
                yield path, entry["command"]


def headers_of(path, seen):
    """Adds to `seen` the headers of ours that a file includes, and theirs."""
    names = re.findall(r'^\s*#\s*include\s*["<]([^">]+)[">]', path.read_text(), re.MULTILINE)
    for name in names:
        for folder in (path.parent, ROOT / "include", ROOT / "src", ROOT / "tests"):
            header = (folder / name).resolve()
            if header.is_file() and header not in seen:
                seen.add(header)
                headers_of(header, seen)
    return seen


def digest_of(path, command):
    """What the findings in a source depend on, the system's headers aside."""
    digest = hashlib.sha256(command.encode())
    for file in (ROOT / ".clang-tidy", path, *sorted(headers_of(path, set()))):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def stamp_of(path, command, build):
    """Two targets may compile one source, each with flags of its own."""
    flags = hashlib.sha256(command.encode()).hexdigest()[:8]
    name = str(path.relative_to(ROOT)).replace("/", "_")
    return build / "tidy" / f"{name}.{flags}"


def check(path, command, build):
    """The findings in one source; empty where it is clean."""
    digest = digest_of(path, command)
    stamp = stamp_of(path, command, build)
    if stamp.exists() and stamp.read_text() == digest:
        return ""
    # -w: the build reports compiler warnings, with its own compiler.
    done = subprocess.run(
        ["clang-tidy", "--quiet", "-p", str(build / "tidy"), "--extra-arg=-w", str(path)],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        stamp.write_text(digest)
        return ""
    lines = [line for line in done.stdout.splitlines() if re.search(r": (error|warning): ", line)]
    return "\n".join(lines) or done.stderr.strip()


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1]).resolve()
    sources = sorted(set(our_sources(build)))
    found = set()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for text in pool.map(lambda s: check(*s, build), sources):
            found.update(line.replace(str(ROOT) + "/", "") for line in text.splitlines())
    print("\n".join(sorted(found)))


if __name__ == "__main__":
    main()
