# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What became of the native tests in a cross build: each one ran there, or not-run.txt says why not.

usage: account.py NATIVE-BUILD RESULTS.xml
       account.py --write-doc

RESULTS.xml is what ctest --output-junit wrote in the cross build, with the whole output of tests that
passed. A test that is missing or skipped, or a case in it that is skipped, must be in not-run.txt,
and what is there must not run. docs/cross.md has the same list; --write-doc puts it there.

Exit status: 0 all accounted for, 1 not.
"""

import fnmatch
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
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


def cross_results(path):
    """Names of the tests that ran, and of tests and cases that did not."""
    ran, skipped = set(), set()
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name = case.get("name")
        if case.find("skipped") is not None:
            skipped.add(name)
            continue
        ran.add(name)
        out = case.findtext("system-out") or ""
        skipped.update(f"{name}/{inner}" for inner in SKIPPED_CASE.findall(out))
    return ran, skipped


def account(entries, native, ran, skipped):
    """What is wrong, as lines."""
    wrong = []
    for name in sorted((native - ran) | skipped):
        found = [entry for entry in entries if entry.matches(name)]
        for entry in found:
            entry.used = True
        if not found:
            wrong.append(f"{name} does not run, and not-run.txt does not say why")
    wrong += [f"not-run.txt: {entry.pattern} runs" for entry in entries
              if not entry.used and not entry.optional]
    return wrong


def table(entries):
    lines = ["| test | why |\n", "| --- | --- |\n"]
    lines += [f"| `{entry.pattern}` | {'on some machines: ' if entry.optional else ''}{entry.reason} |\n"
              for entry in sorted(entries, key=lambda entry: (entry.reason, entry.pattern))]
    return "".join(lines)


def update_doc(entries, write):
    """Whether docs/cross.md has the list."""
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
    ran, skipped = cross_results(sys.argv[2])
    wrong = account(entries, native, ran, skipped)
    if not update_doc(entries, False):
        wrong.append("docs/cross.md does not list what not-run.txt does: account.py --write-doc")
    print(f"{len(native & ran)} of {len(native)} native tests ran for the other processor")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
