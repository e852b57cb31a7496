#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""rules.py TREE: compare the rules of the memory map with their tests.

Complains on stderr, a line for each rule without a test and each test without a rule, and exits
with 1 then; prints the document that maps the one to the other.
"""
import pathlib
import re
import sys

HEAD = """\
<!-- SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only -->
<!-- Made by tests/static/check-rules.sh --write; do not edit. -->
# Rules of the memory map and their tests

Each rule that is known of DOCA's memory map, with the evidence for it and the tests that show it.
The list is `tests/integration/rules/rules.txt`. Each test is a function; in brackets is which of
the programs `tests/integration/rules/test_rules_*.c` it is in. They run on the emulated device
through the distribution's libibverbs and libmlx5.

Evidence: **S** the reference of doca_mmap 3.0, **D** that of the other 3.0 modules, **34** the 3.4
headers, **P** what published programs need, **F** reports of users, **R** our choice where all of
these are silent or contradict each other.

{rules} rules, {tests} tests; {untested} rules cannot be shown here and say why.
"""
COLUMNS = "| rule | evidence | what it says | tests |\n| --- | --- | --- | --- |"
EVIDENCE = {"S", "D", "34", "P", "F", "R"}
TEST = re.compile(r"^static void (\w+)\(void \*\*state\)$", re.M)
MARKED = re.compile(r"^/\* rule: ([^/]*?) \*/\nstatic void (\w+)\(void \*\*state\)$", re.M)


class Rule:
    def __init__(self, name, evidence, text, reason):
        self.name, self.evidence, self.text, self.reason = name, evidence, text, reason
        self.tests = []


def bad(line):
    bad.lines += 1
    print(line, file=sys.stderr)


bad.lines = 0


def read_rules(path):
    """The headings with their rules, in order."""
    sections, names = [], set()
    for line in path.read_text().splitlines():
        if line.startswith("== "):
            sections.append((line[3:], []))
        elif line and not line.startswith("#"):
            fields = [field.strip() for field in line.split("|")]
            if len(fields) not in (3, 4) or not all(fields) or not sections:
                bad(f"{path.name}: not a rule: {line}")
                continue
            rule = Rule(*fields, *[None] * (4 - len(fields)))
            if rule.name in names:
                bad(f"{rule.name} is listed twice")
            if not set(rule.evidence.split(", ")) <= EVIDENCE:
                bad(f"{rule.name}: no such evidence: {rule.evidence}")
            names.add(rule.name)
            sections[-1][1].append(rule)
    return sections


def assign(path, rules, seen):
    """Give the tests of a program to their rules."""
    code = path.read_text()
    program = path.stem.removeprefix("test_rules_")
    marked = {test: ids for ids, test in MARKED.findall(code)}
    if code.count("/* rule:") != len(marked):
        bad(f"{path.name}: a rule: line is not directly above a test")
    for test in TEST.findall(code):
        if test in seen:
            bad(f"{path.name}: {test}: there is another test of that name")
        seen.add(test)
        if f"_test({test})," not in code:
            bad(f"{path.name}: {test} is not run")
        if test not in marked:
            bad(f"{path.name}: {test} has no rule")
        for name in re.split(r",[\s*]*", marked.get(test, "")):
            if name in rules:
                rules[name].tests.append((test, program))
            elif name:
                bad(f"{path.name}: {test}: there is no rule {name}")


def judge(rule):
    if rule.reason and rule.tests:
        bad(f"{rule.name} has a test and a reason to have none")
    if not rule.reason and not rule.tests:
        bad(f"{rule.name} has no test")


def row(rule):
    tests = "<br>".join(f"`{test}` ({program})" for test, program in rule.tests)
    return f"| {rule.name} | {rule.evidence} | {rule.text} | {tests or f'none: {rule.reason}'} |"


def main():
    folder = pathlib.Path(sys.argv[1]) / "tests/integration/rules"
    sections = read_rules(folder / "rules.txt")
    rules = {rule.name: rule for _, listed in sections for rule in listed}
    seen = set()
    for path in sorted(folder.glob("test_rules_*.c")):
        assign(path, rules, seen)
    for rule in rules.values():
        judge(rule)
    untested = sum(1 for rule in rules.values() if rule.reason)
    parts = [HEAD.format(rules=len(rules), tests=len(seen), untested=untested)]
    for heading, listed in sections:
        rows = "\n".join(row(rule) for rule in listed)
        parts.append(f"## {heading}\n\n{COLUMNS}\n{rows}\n")
    print("\n".join(parts), end="")
    return 1 if bad.lines else 0


sys.exit(main())
