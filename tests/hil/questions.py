#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""questions.py [--write] [TREE]: which tests answer each question of docs/hardware.md, from their
marks; fails where the last column of its tables says otherwise, or writes it."""

import pathlib
import re
import sys

MARK = re.compile(r"mark\.question\(([0-9, ]+)\)")
TEST = re.compile(r"def (test_\w+)")
PROGRAM = re.compile(r'    \("(test_\w+)", .*?\), \(([0-9, ]*)\)\),')
ROW = re.compile(r"\| *(\d+) *\|.*\|$")


def numbers(text):
    return [int(word) for word in text.replace(" ", "").split(",") if word]


def asked(tree):
    """{question: names of tests, which scripts/hil -k takes}"""
    found = {}
    for path in sorted([*tree.glob("tests/agents/test_*.py"), *tree.glob("tests/hil/test_*.py")]):
        marks = []
        for line in path.read_text(encoding="utf-8").splitlines():
            if match := MARK.search(line):
                marks += numbers(match[1])
            elif match := TEST.match(line):
                for number in marks:
                    found.setdefault(number, []).append(match[1])
                marks = []
            elif match := PROGRAM.match(line):
                for number in numbers(match[2]):
                    found.setdefault(number, []).append(match[1])
    return found


def rows(lines):
    """Number of the line and of the question."""
    for at, line in enumerate(lines):
        if match := ROW.match(line):
            yield at, int(match[1])


def main():
    arguments = [word for word in sys.argv[1:] if word != "--write"]
    tree = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).parents[2]
    page = tree / "docs/hardware.md"
    lines = page.read_text(encoding="utf-8").splitlines()
    tests, seen, wrong = asked(tree), [], []
    for at, number in rows(lines):
        names = ", ".join(f"`{name}`" for name in tests.get(number, []))
        cells = lines[at].split("|")
        if not names:
            wrong.append(f"question {number} of docs/hardware.md has no test")
        elif cells[-2].strip() != names and "--write" not in sys.argv:
            wrong.append(f"question {number} of docs/hardware.md is answered by {names}")
        lines[at] = "|".join([*cells[:-2], f" {names} ", ""])
        seen.append(number)
    wrong += [f"docs/hardware.md has question {n} twice" for n in set(seen) if seen.count(n) > 1]
    wrong += [f"{tests[n]} asks question {n}, which docs/hardware.md does not have" for n in tests if n not in seen]
    if "--write" in sys.argv and seen:
        page.write_text("\n".join(lines) + "\n", encoding="utf-8")
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
