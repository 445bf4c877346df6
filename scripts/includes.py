# SPDX-License-Identifier: MIT
"""Holds the order of folders that src/README.md gives: prints each include of a later folder, each
folder below src that the table lacks, and each with more than 40 files. Run in the root."""
import collections
import os
import re
import subprocess
import sys

MOST_FILES = 40

order, public = [], {}
with open("src/README.md", encoding="utf-8") as readme:
    for line in readme:
        row = re.match(r"\| `([\w/]+)` \|[^|]*\|([^|]*)\|$", line.strip())
        if row:
            order.append(row[1])
            public.update((f"kbench/{name}.hpp", row[1]) for name in row[2].split())
rank = {folder: i for i, folder in enumerate(order)}


def folder_of(path):
    """The table's folder that holds the header or source of this path below src or include."""
    if path.startswith("kbench/"):
        return public.get(path)
    folder = os.path.dirname(path)
    while folder and folder not in rank:
        folder = os.path.dirname(folder)
    return folder or None


files = subprocess.check_output(
    ["git", "ls-files", "--cached", "--others", "--exclude-standard", "src", "include"],
    text=True).split()
files = [name for name in files if os.path.exists(name)]
counts = collections.Counter(os.path.dirname(name) for name in files if name.startswith("src/"))
wrong = [f"{folder}: {count} files, at most {MOST_FILES}" for folder, count in counts.items()
         if count > MOST_FILES]
for name in files:
    path = name.split("/", 1)[1]
    if not path.endswith((".cpp", ".hpp")):
        continue
    here = folder_of(path)
    if here is None:
        wrong.append(f"{name}: add its folder to the table of src/README.md")
        continue
    if here == "emulation":
        continue  # compiled by a candidate's host compiler, not by kbench's build
    with open(name, encoding="utf-8") as text:
        includes = re.findall(r'^#include "([^"]+)"', text.read(), re.M)
    for include in includes:
        there = folder_of(include)
        if there is None:
            wrong.append(f"{name}: includes {include}, whose folder is unknown")
        elif rank[there] > rank[here]:
            wrong.append(f"{name}: includes {include}, but {there} comes after {here}")
        elif name.startswith("include/") and not include.startswith("kbench/"):
            wrong.append(f"{name}: a public header includes {include}, which is not installed")
print("\n".join(wrong), end="\n" if wrong else "")
sys.exit(bool(wrong))
