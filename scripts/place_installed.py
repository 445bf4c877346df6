# SPDX-License-Identifier: MIT
"""place_installed.py ROOT FOLDER: copies the programs of an installed kbench into a folder, with a
kbench.json for the Python that query_python.py describes on standard input.

The programs find libtorch by the link `torch` in that folder. They were built for one minor version
of Python and one version of torch, so this Python must have the same.
"""

import json
import os
import pathlib
import shutil
import sys


def described(built, answer, root):
    """The kbench.json for this Python."""
    wanted = "Python %s with torch %s" % (built["python_version"].rpartition(".")[0], built["torch_version"])
    found = "Python %s with torch %s" % (answer["python_version"].rpartition(".")[0], answer["torch_version"])
    if found != wanted:
        sys.exit("%s is %s, but this kbench was built for %s" % (answer["python"], found, wanted))
    if answer["problems"]:
        sys.exit("%s lacks %s" % (answer["python"], "; ".join(answer["problems"])))
    same = ("python", "python_version", "torch_version", "cuda_version", "nvrtc", "cuda_includes",
            "torch_includes", "python_includes", "torch_lib")
    own = {name: os.path.normpath(root / built[name]) for name in ("host_headers", "problems", "candidates")}
    return {**built, **{name: answer[name] for name in same}, **own,
            "torch_cxx11_abi": bool(answer["torch_abi"])}


def main():
    root, folder = map(pathlib.Path, sys.argv[1:])
    fields = described(json.loads((root / "kbench.json").read_text(encoding="utf-8")), json.load(sys.stdin), root)
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("kbench", "kbench-cc", "kbench-worker"):
        shutil.copy2(root / name, folder / (name + ".new"))
        os.replace(folder / (name + ".new"), folder / name)  # a running program keeps its file
    (folder / "torch").unlink(missing_ok=True)
    (folder / "torch").symlink_to(fields["torch_lib"])
    (folder / "kbench.json").write_text(json.dumps(fields, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
