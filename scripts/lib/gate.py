#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Say which tests run for each change (in the gate), and which only at night. tests/gate.txt has the rules.

usage: gate.py select BUILD-DIR BUILD LABEL [WITHOUT]
       gate.py check BUILD-DIR...
       gate.py --write-doc

select  prints, as an argument of ctest -I, the numbers of the tests of BUILD-DIR whose label matches the regular
        expression LABEL, whose name does not match WITHOUT, and that run now in the build named BUILD. At night
        (DPUMAP_NIGHTLY=yes), that is each of them. ctest counts what its other options select, so it must get none.
        DPUMAP_PART=K/N takes the Kth of N parts of them; DPUMAP_TESTS, patterns separated by spaces, only
        those with such names; DPUMAP_CHANGED=yes, those that tests/rooms.txt selects for the files that changed.
check   prints a line for each pattern that decides about no test of these builds, here or in tests/rooms.txt.
        docs/ci.md has the same rules; --write-doc updates it.

Exit status: 0, or 1 if check prints something.
"""

import collections
import fnmatch
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
RULES = os.path.join(ROOT, "tests/gate.txt")
ROOMS = os.path.join(ROOT, "tests/rooms.txt")
DOC = os.path.join(ROOT, "docs/ci.md")
BEGIN = "<!-- from tests/gate.txt -->\n"
END = "<!-- end of tests/gate.txt -->\n"
# The build of the gate in which tests with a label run unless a rule says otherwise.
HOME = {"unit": "sanitize", "integration": "sanitize", "fleet": "sanitize", "conformance": "clang", "fuzz": "clang"}

Rule = collections.namedtuple("Rule", "builds patterns reason")
Test = collections.namedtuple("Test", "number name labels folder")


def read_rules(path=RULES):
    """Return the rules; one without a build is that of tests that run at night only."""
    rules = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                head, reason = line.rstrip("\n").split(": ", 1)
                where, *patterns = head.split()
                rules.append(Rule([] if where == "night" else where.split(","), patterns, reason))
    return rules


def matches(name, patterns):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def rule_of(test, rules):
    """Return the first rule that matches the name of the test, or None."""
    return next((rule for rule in rules if matches(test.name, rule.patterns)), None)


def builds_of(test, rules):
    """Return the builds of the gate in which the test runs."""
    rule = rule_of(test, rules)
    return rule.builds if rule else [HOME[label] for label in test.labels if label in HOME]


def source_of(build):
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as file:
        return re.search(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$", file.read(), re.M)[1]


def folder_of(test, graph, source):
    """Return the folder, below source, whose CMakeLists.txt defines the test."""
    node = graph["nodes"][test["backtrace"]]
    while "parent" in node:
        node = graph["nodes"][node["parent"]]
    return os.path.relpath(os.path.dirname(graph["files"][node["file"]]), source)


def tests_of(build):
    out = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"],
                         check=True, capture_output=True, text=True).stdout
    told, source = json.loads(out), source_of(build)
    for number, test in enumerate(told["tests"], 1):
        labels = [value for item in test["properties"] if item["name"] == "LABELS" for value in item["value"]]
        yield Test(number, test["name"], labels, folder_of(test, told["backtraceGraph"], source))


def read_rooms():
    """Return {path: what it stands for}."""
    rooms = {}
    with open(ROOMS, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                paths, tests = line.split(": ", 1)
                rooms.update((path, tests.split()) for path in paths.split())
    return rooms


def stands_for(path, rooms, folders):
    """Return the tests, as in tests/rooms.txt, of a file that changed."""
    room = max((known for known in rooms if path.startswith(known)), key=len, default=None)
    folder = max((known for known in folders if path.startswith(f"{known}/")), key=len, default=None)
    if folder and (not room or len(folder) > len(room)):
        return [folder]
    return rooms[room] if room else ["*"]


def is_meant(test, names):
    """Return whether one of the names, as in tests/rooms.txt, means the test."""
    return matches(test.name, names) or any(f"{test.folder}/".startswith(f"{name}/") for name in names)


def changed_tests(tests):
    """Return those of the tests that stand for files that changed."""
    changed = subprocess.run([os.path.join(HERE, "changed")], capture_output=True, text=True, check=False).stdout
    rooms, folders, wanted = read_rooms(), {test.folder for test in tests}, set()
    for path in changed.splitlines():
        wanted.update(stands_for(path, rooms, folders))
    return [test for test in tests if is_meant(test, wanted)]


def select(directory, build, label, without="$^"):
    rules, tests = read_rules(), list(tests_of(directory))
    if os.environ.get("DPUMAP_CHANGED") == "yes":
        tests = changed_tests(tests)
    found = [test for test in tests
             if any(re.search(label, one) for one in test.labels) and not re.search(without, test.name)]
    if os.environ.get("DPUMAP_NIGHTLY") != "yes":
        found = [test for test in found if build in builds_of(test, rules)]
    if "DPUMAP_TESTS" in os.environ:
        found = [test for test in found if matches(test.name, os.environ["DPUMAP_TESTS"].split())]
    part, parts = map(int, os.environ.get("DPUMAP_PART", "1/1").split("/"))
    found = found[part - 1::parts]
    if found:
        print(",".join(["0", "0", "0"] + [str(test.number) for test in found]))


def table(rules):
    lines = ["| tests | builds of the gate | why |\n", "| --- | --- | --- |\n"]
    for rule in rules:
        names = " ".join(f"`{pattern}`" for pattern in rule.patterns)
        lines.append(f"| {names} | {', '.join(rule.builds) or 'none: at night'} | {rule.reason} |\n")
    return "".join(lines)


def update_doc(rules, write):
    """Return whether docs/ci.md has the current rules."""
    with open(DOC, encoding="utf-8") as file:
        before, rest = file.read().split(BEGIN)
    old, after = rest.split(END)
    new = table(rules)
    if write:
        with open(DOC, "w", encoding="utf-8") as file:
            file.write(before + BEGIN + new + END + after)
    return old == new


def check_rooms(tests):
    """Yield a line for each path of tests/rooms.txt that does not exist, and each name that means no test."""
    for path, names in read_rooms().items():
        if not os.path.exists(os.path.join(ROOT, path)):
            yield f"tests/rooms.txt: there is no {path}"
        for name in names:
            if name != "none" and not any(is_meant(test, [name]) for test in tests):
                yield f"tests/rooms.txt: no test is meant by {name}"


def check(*directories):
    rules, decided = read_rules(), set()
    tests = [test for directory in directories for test in tests_of(directory)]
    for test in tests:
        rule = rule_of(test, rules)
        decided.update((id(rule), pattern) for pattern in (rule.patterns if rule else [])
                       if matches(test.name, [pattern]))
    wrong = [f"tests/gate.txt: no test is decided by {pattern}" for rule in rules for pattern in rule.patterns
             if (id(rule), pattern) not in decided]
    wrong += check_rooms(tests)
    if not update_doc(rules, False):
        wrong.append("the table in docs/ci.md is stale; run scripts/lib/gate.py --write-doc")
    print("\n".join(wrong))
    return 1 if wrong else 0


def main(*arguments):
    if arguments == ("--write-doc",):
        update_doc(read_rules(), True)
    elif len(arguments) in (4, 5) and arguments[0] == "select":
        select(*arguments[1:])
    elif len(arguments) > 1 and arguments[0] == "check":
        return check(*arguments[1:])
    else:
        sys.exit(__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
