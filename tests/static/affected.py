# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: affected.py TREE FOLDER... <CHANGED

Print the C files in these folders of the TREE that changed, or that may include, directly or not, one that did. CHANGED
has a line for each changed file.
"""

import collections
import pathlib
import posixpath
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.M)


def users_of(tree):
    """Return {path: the C files that may include it}, each file by its path in the tree."""
    names = {}
    for folder in ("src", "emu", "dpu", "host", "include", "tests", "examples"):
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


def main(tree, *folders):
    tree, below = pathlib.Path(tree), tuple(f"{folder}/" for folder in folders)
    for path in sorted(affected(tree, sys.stdin.read().splitlines())):
        if path.endswith(".c") and path.startswith(below) and (tree / path).exists():
            print(path)


main(*sys.argv[1:])
