# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: tidy.py DATABASE TREE <FILES

Print the compile commands of the DATABASE that clang-tidy has to look at: those of the FILES, by their paths in the
TREE, and of each one command for each text after the preprocessor. A file that several programs compile, and whose
text is the same in each, needs one analysis.
"""

import collections
import json
import shlex
import subprocess
import sys


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


def main(database, tree):
    files = {f"{tree}/{path}" for path in sys.stdin.read().splitlines()}
    with open(database, encoding="utf-8") as file:
        json.dump(once(entry for entry in json.load(file) if entry["file"] in files), sys.stdout)


main(*sys.argv[1:])
