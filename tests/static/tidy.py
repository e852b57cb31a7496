# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: tidy.py DATABASE TREE [CHANGED]

Print the compile commands of the DATABASE that clang-tidy has to look at: one for each file and text after the
preprocessor, because a file that several programs compile, and whose text is the same in each, needs one analysis.
With CHANGED, a file with a line for each changed file of the TREE, only files that changed, or that may include, directly
or not, a changed one. Everything counts as changed if .clang-tidy has.
"""

import collections
import json
import pathlib
import posixpath
import re
import shlex
import subprocess
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.M)


def users_of(tree):
    """Return {path: the C files that may include it}, each file by its path in the tree."""
    names = {}
    for folder in ("src", "dpu", "host", "include", "tests", "examples"):
        for path in (tree / folder).rglob("*.[ch]"):
            names[str(path.relative_to(tree))] = INCLUDE.findall(path.read_text(encoding="utf-8"))
    ends = collections.defaultdict(set)  # all paths that end with these components
    for path in names:
        parts = path.split("/")
        for first in range(len(parts)):
            ends["/".join(parts[first:])].add(path)
    users = collections.defaultdict(set)
    for path, included in names.items():
        for name in included:
            beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
            for header in {beside} if beside in names else ends[name]:
                users[header].add(path)
    return users


def affected(tree, changed):
    """Return the paths of the C files that changed, or include one that did."""
    users, found, new = users_of(tree), set(), set(changed)
    while new:
        found |= new
        new = {user for path in new for user in users[path]} - found
    return found


def text(entry):
    words = shlex.split(entry["command"])
    output = words.index("-o")
    del words[output:output + 2]
    return subprocess.run([*words, "-E", "-P"], cwd=entry["directory"], check=True,
                          stdout=subprocess.PIPE).stdout


def once(entries):
    files = collections.defaultdict(dict)
    for entry in entries:
        options = {word for word in entry["command"].split() if word.startswith(("-D", "-U", "-std"))}
        files[entry["file"]].setdefault(frozenset(options), entry)
    kept = []
    for same in map(list, map(dict.values, files.values())):
        kept += same if len(same) == 1 else {text(entry): entry for entry in same}.values()
    return kept


def main(database, tree, changed=None):
    tree = pathlib.Path(tree)
    with open(database, encoding="utf-8") as file:
        entries = json.load(file)
    if changed:
        names = pathlib.Path(changed).read_text(encoding="utf-8").splitlines()
        if ".clang-tidy" not in names:
            paths = affected(tree, names)
            entries = [entry for entry in entries if entry["file"].removeprefix(f"{tree}/") in paths]
    json.dump(once(entries), sys.stdout)


main(*sys.argv[1:])
