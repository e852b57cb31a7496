#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: duplicates.py [--table] TREE

Find duplicated code in the product. sim_c finds runs of tokens with the same structure, regardless of
names; tables and guards have such runs too. A run counts as a duplicate if most of its words are the same
as well. Print a line for each long duplicate that duplicates.txt does not allow, and for each line of
duplicates.txt that is not needed. --table prints all duplicates, including short ones.
"""
import collections
import difflib
import pathlib
import re
import subprocess
import sys

LISTED_TOKENS, LISTED_SAME = 50, 0.6
WRONG_TOKENS, WRONG_SAME = 75, 0.75
RUN = re.compile(r"^(\S+): line (\d+)-(\d+)\s*\|(\S+): line (\d+)-(\d+)\s*\[(\d+)\]", re.M)
Duplicate = collections.namedtuple("Duplicate", "tokens same first first_line second second_line")


def find(tree):
    files = {}
    for top in ("src", "emu", "dpu", "host"):
        for path in sorted((tree / top).rglob("*.[ch]")):
            files[path.relative_to(tree).as_posix()] = path.read_text().split("\n")
    if not files:
        sys.exit(f"no source file found in {tree}")
    said = subprocess.run(["sim_c", "-n", "-T", "-F", "-w", "200", "-r", str(LISTED_TOKENS), *files],
                          cwd=tree, check=True, capture_output=True, text=True).stdout
    if "Total input" not in said:
        sys.exit("sim_c printed no result")

    def words(name, begin, end):
        return re.findall(r"\w+", "\n".join(files[name][int(begin) - 1:int(end)]))

    for first, begin, end, second, begin2, end2, tokens in RUN.findall(said):
        same = difflib.SequenceMatcher(None, words(first, begin, end), words(second, begin2, end2),
                                       autojunk=False).ratio()
        if same >= LISTED_SAME:
            yield Duplicate(int(tokens), same, first, int(begin), second, int(begin2))


def read_allowed(path):
    """{(file, file): reason}"""
    allowed = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        if line and not line.startswith("#"):
            files, _, reason = line.partition("|")
            if len(files.split()) != 2 or not reason.strip():
                sys.exit(f"{path.name}: not 'FILE FILE | reason': {line}")
            allowed[tuple(files.split())] = reason.strip()
    return allowed


def is_long(duplicate):
    return duplicate.tokens >= WRONG_TOKENS and duplicate.same >= WRONG_SAME


def complain(found, allowed):
    used = set()
    for duplicate in filter(is_long, found):
        files = duplicate.first, duplicate.second
        if files in allowed:
            used.add(files)
            continue
        print(f"{duplicate.first}:{duplicate.first_line}: {duplicate.tokens} tokens are also in "
              f"{duplicate.second}:{duplicate.second_line} with {duplicate.same:.0%} of the words "
              "the same")
    for files in sorted(set(allowed) - used):
        print(f"duplicates.txt: {' and '.join(files)} have no long duplicate in common")


def table(found, allowed):
    print("| tokens | same words | first place | second place | reason |\n| ---: | ---: | --- | --- | --- |")
    for one in sorted(found, reverse=True):
        reason = allowed.get((one.first, one.second), "not allowed") if is_long(one) else ""
        print(f"| {one.tokens} | {one.same:.0%} | {one.first}:{one.first_line} | "
              f"{one.second}:{one.second_line} | {reason} |")


def main(arguments):
    tree = pathlib.Path(arguments[-1]).resolve()
    found = list(find(tree))
    allowed = read_allowed(tree / "tests/static/duplicates.txt")
    if arguments[0] == "--table":
        table(found, allowed)
    else:
        complain(found, allowed)


main(sys.argv[1:])
