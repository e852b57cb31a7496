# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Check that each native test also ran in the cross build, or that not-run.txt has a reason why not.

usage: account.py NATIVE-BUILD RESULTS.xml...
       account.py --write-doc

RESULTS.xml are the files that ctest --output-junit wrote in the cross build, with the whole output of
passed tests. A missing or skipped test, or a skipped case of a test, must be in not-run.txt, and a listed
test must not run. docs/cross.md has the same list; --write-doc updates it.

Exit status: 0 if not-run.txt is correct, 1 otherwise.
"""

import fnmatch
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "../../scripts/lib"))
import results  # noqa: E402

LIST = os.path.join(HERE, "not-run.txt")
DOC = os.path.join(HERE, "../../docs/cross.md")
BEGIN = "<!-- from tests/cross/not-run.txt -->\n"
END = "<!-- end -->\n"
SKIPPED_CASE = re.compile(r"^\[  SKIPPED \] (\w+)$", re.MULTILINE)


class Entry:
    def __init__(self, line):
        self.pattern, self.reason = line.split(": ", 1)
        self.optional = self.pattern.startswith("?")
        self.pattern = self.pattern.lstrip("?")
        self.used = False

    def matches(self, name):
        return fnmatch.fnmatchcase(name, self.pattern)


def read_list():
    with open(LIST, encoding="utf-8") as file:
        return [Entry(line.strip()) for line in file if line.strip() and not line.startswith("#")]


def native_tests(build):
    out = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"],
                         check=True, capture_output=True, text=True).stdout
    return {test["name"] for test in json.loads(out)["tests"]}


def cross_results(paths):
    """Return the names of the tests that ran, and of the tests and cases that did not."""
    ran, skipped = set(), set()
    for test in (test for path in paths for test in results.read_junit(path)):
        if test.outcome == "skip":
            skipped.add(test.name)
            continue
        ran.add(test.name)
        skipped.update(f"{test.name}/{inner}" for inner in SKIPPED_CASE.findall(test.output))
    return ran, skipped


def account(entries, native, ran, skipped):
    """Return a line for each error."""
    wrong = []
    for name in sorted((native - ran) | skipped):
        found = [entry for entry in entries if entry.matches(name)]
        for entry in found:
            entry.used = True
        if not found:
            wrong.append(f"{name} did not run; add it to not-run.txt with a reason")
    wrong += [f"not-run.txt: {entry.pattern} ran; remove its line" for entry in entries
              if not entry.used and not entry.optional]
    return wrong


def table(entries):
    lines = ["| test | why |\n", "| --- | --- |\n"]
    lines += [f"| `{entry.pattern}` | {'on some machines: ' if entry.optional else ''}{entry.reason} |\n"
              for entry in sorted(entries, key=lambda entry: (entry.reason, entry.pattern))]
    return "".join(lines)


def update_doc(entries, write):
    """Return whether docs/cross.md contains the current list."""
    with open(DOC, encoding="utf-8") as file:
        before, rest = file.read().split(BEGIN)
    old, after = rest.split(END)
    new = table(entries)
    if write:
        with open(DOC, "w", encoding="utf-8") as file:
            file.write(before + BEGIN + new + END + after)
    return old == new


def main():
    entries = read_list()
    if sys.argv[1:] == ["--write-doc"]:
        update_doc(entries, True)
        return 0
    native = native_tests(sys.argv[1])
    ran, skipped = cross_results(sys.argv[2:])
    wrong = account(entries, native, ran, skipped)
    if not update_doc(entries, False):
        wrong.append("the list in docs/cross.md is stale; run tests/cross/account.py --write-doc")
    print(f"{len(native & ran)} of {len(native)} native tests ran for the other processor")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
