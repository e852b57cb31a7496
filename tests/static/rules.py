#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""rules.py TREE TABLE: compare the rules of a table with their tests.

Print the document that lists each rule with its tests. For each rule without a test and each test without
a rule, print a line on stderr and exit with 1. TABLE is one of TABLES.
"""
import collections
import pathlib
import re
import sys

# The folder of a table has its rules.txt, and its programs are called test_PROGRAMS_*.c. OTHERS test no rules.
Table = collections.namedtuple("Table", "folder programs title text evidence others", defaults=[()])
TABLES = {
    "mmap": Table("tests/integration/rules", "rules", "the memory map", """\
This page lists every known rule of DOCA's memory map with its evidence and its tests. The rules come
from `tests/integration/rules/rules.txt`. Each test is a function, or a cell of the table in
`test_rules_states.c`. The name of its program, `tests/integration/rules/test_rules_*.c`, is in
brackets. The tests run on the emulated device with the distribution's libibverbs and libmlx5.

Evidence: **S** the reference of doca_mmap 3.0, **D** the reference of the other 3.0 modules, **34** the
3.4 headers, **P** published programs, **F** reports of users, **R** our choice if all of these are
silent or contradict each other.""", ("S", "D", "34", "P", "F", "R")),
    "comch": Table("tests/integration/comch", "comch", "the control channel", """\
This page lists every known rule of DOCA's control channel with its evidence and its tests. The rules come
from `tests/integration/comch/rules.txt`. Each test is a function. The name of its program,
`tests/integration/comch/test_comch_*.c`, is in brackets. The tests run on the two functions of the
emulated card, in two processes, with the distribution's libibverbs and libmlx5.

Evidence: **D** the reference of DOCA 3.0, **P** published programs, **F** reports of users, **G** the
vendor's guides, **R** our choice if all of these are silent or contradict each other.""",
                   ("D", "P", "F", "G", "R")),
    "rdma": Table("tests/integration/rdma", "rdma", "RDMA", """\
This page lists every known rule of DOCA's RDMA with its evidence and its tests. The rules come from
`tests/integration/rdma/rules.txt`. Each test is a function. The name of its program,
`tests/integration/rdma/test_rdma_*.c`, is in brackets. The tests run with two contexts on one emulated
device, and on the devices of two emulated cards, with the distribution's libibverbs, libmlx5 and
librdmacm.

Evidence: **D** the reference of DOCA 3.0, **P** published programs, **G** the vendor's guides, **R** our
choice if all of these are silent.""", ("D", "P", "G", "R"), ("faults", "nodes", "start")),
    "sync-event": Table("tests/integration/sync_event", "sync_event", "sync events", """\
This page lists every known rule of DOCA's sync events with its evidence and its tests. The rules come from
`tests/integration/sync_event/rules.txt`. Each test is a function. The name of its program,
`tests/integration/sync_event/test_sync_event_*.c`, is in brackets. The tests run on the two functions of
the emulated card, with the distribution's libibverbs and libmlx5.

Evidence: **D** the reference of DOCA 3.0, **P** published programs, **G** the vendor's guides, **R** our
choice if all of these are silent.""", ("D", "P", "G", "R")),
    "verbs": Table("tests/integration/verbs", "verbs", "verbs", """\
This page lists every known rule of DOCA's verbs with its evidence and its tests. The rules come from
`tests/integration/verbs/rules.txt`. Each test is a function. The name of its program,
`tests/integration/verbs/test_verbs_*.c`, is in brackets. `test_verbs_states.c` has the table of transitions of
queue pairs, and tries each of its rows with each attribute. The tests run on emulated devices, with the
distribution's libibverbs and libmlx5.

Evidence: **H** header listings of 3.3 and 3.4, **P** published programs, **O** the vendor's open GPUNetIO, **X**
rdma-core, **R** our choice if all of these are silent.""", ("H", "P", "O", "X", "R"), ("faults",)),
}
HEAD = """\
<!-- SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only -->
<!-- Written by tests/static/check-rules.sh --write; do not edit. -->
# Rules of {title} and their tests

{text}

There are {rules} rules and {tests} tests. {untested} rules cannot be tested here; the reason is given
instead of a test.
"""
COLUMNS = "| id | evidence | rule | tests |\n| --- | --- | --- | --- |"
TEST = re.compile(r"^static void (\w+)\(void \*\*state\)$", re.M)
MARKED = re.compile(r"^/\* rule: ([^/]*?) \*/\nstatic void (\w+)\(void \*\*state\)$", re.M)

# The table of operations and states: its rows, and the words in the names of its tests.
ROW = re.compile(r"(?:^\t/\* rule: ([^/]*?) \*/\n)?^\tROW\((\w+), ([\w, ]+)\),$", re.M)
OUTCOME = re.compile(r'^\t\[(\w+)\] = \{"(\w+)",', re.M)
STATES = re.compile(r"^enum rules_state \{ ([\w, ]+) \};$", re.M)


class Rule:
    def __init__(self, name, evidence, text, reason):
        self.name, self.evidence, self.text, self.reason = name, evidence, text, reason
        self.tests = []


def bad(line):
    bad.lines += 1
    print(line, file=sys.stderr)


bad.lines = 0


def read_rules(path, evidence):
    """Return the headings with their rules, in order."""
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
            if not set(rule.evidence.split(", ")) <= set(evidence):
                bad(f"{rule.name}: unknown evidence: {rule.evidence}")
            names.add(rule.name)
            sections[-1][1].append(rule)
    return sections


def split_names(text):
    return [name for name in re.split(r",[\s*]*", text) if name]


def functions(path, code):
    """Yield the tests of a program that are functions, each with the names of its rules."""
    marked = {test: split_names(ids) for ids, test in MARKED.findall(code)}
    for test in TEST.findall(code):
        if f"_test({test})," in code:
            yield test, marked.get(test, [])
        elif not ROW.search(code):
            bad(f"{path.name}: {test} is not run")


def cells(path, code):
    """Yield the tests of a program that are cells of its table, each with the names of its rules."""
    if not ROW.search(code):
        return
    states = split_names(STATES.search(path.with_name("rules.h").read_text())[1])
    words = dict(OUTCOME.findall(code))
    for marked, operation, outcomes in ROW.findall(code):
        more = [name.split() for name in split_names(marked)]
        for state, outcome in zip(states, split_names(outcomes), strict=True):
            rules = [rule for where, rule in more if where in (state, "all")]
            yield (f"{operation}_on_{state.lower()}_map_{words[outcome]}",
                   [f"T-2.4-{operation}-{state}", *rules])
        for where, rule in more:
            if where not in (*states, "all"):
                bad(f"{path.name}: {operation}: unknown state {where} for {rule}")


def assign(path, program, rules, seen):
    """Add the tests of a program to their rules."""
    code = path.read_text()
    marked = len(MARKED.findall(code)) + sum(1 for found in ROW.findall(code) if found[0])
    if code.count("/* rule:") != marked:
        bad(f"{path.name}: a line \"rule:\" is not directly above a test")
    for test, names in [*functions(path, code), *cells(path, code)]:
        if test in seen:
            bad(f"{path.name}: {test}: another test has the same name")
        seen.add(test)
        if not names:
            bad(f"{path.name}: {test} is not assigned to a rule")
        for name in names:
            if name in rules:
                rules[name].tests.append((test, program))
            else:
                bad(f"{path.name}: {test}: unknown rule {name}")


def judge(rule):
    if rule.reason and rule.tests:
        bad(f"{rule.name} has a test, but also a reason for not having one")
    if not rule.reason and not rule.tests:
        bad(f"{rule.name} is not tested")


def row(rule):
    tests = "<br>".join(f"`{test}` ({program})" for test, program in rule.tests)
    return f"| {rule.name} | {rule.evidence} | {rule.text} | {tests or f'none: {rule.reason}'} |"


def main():
    table = TABLES[sys.argv[2]]
    folder = pathlib.Path(sys.argv[1]) / table.folder
    sections = read_rules(folder / "rules.txt", table.evidence)
    rules = {rule.name: rule for _, listed in sections for rule in listed}
    seen = set()
    for path in sorted(folder.glob(f"test_{table.programs}_*.c")):
        program = path.stem.removeprefix(f"test_{table.programs}_")
        if program not in table.others:
            assign(path, program, rules, seen)
    for rule in rules.values():
        judge(rule)
    untested = sum(1 for rule in rules.values() if rule.reason)
    parts = [HEAD.format(title=table.title, text=table.text, rules=len(rules), tests=len(seen),
                         untested=untested)]
    for heading, listed in sections:
        rows = "\n".join(row(rule) for rule in listed)
        parts.append(f"## {heading}\n\n{COLUMNS}\n{rows}\n")
    print("\n".join(parts), end="")
    return 1 if bad.lines else 0


sys.exit(main())
