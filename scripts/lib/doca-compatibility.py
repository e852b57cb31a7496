#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Write docs/doca-compatibility.md: the table of all functions of the DOCA headers.

    doca-compatibility.py TREE           prints the document
    doca-compatibility.py --write TREE   writes it

The functions and their state come from the headers. The remarks and the absent functions come from
docs/doca-compatibility.txt. For a wrong entry there, the program prints an error and exits with 1.
"""

import collections
import pathlib
import re
import sys

Function = collections.namedtuple("Function", "name header experimental inline comment")
DATA = "docs/doca-compatibility.txt"
DOCUMENT = "docs/doca-compatibility.md"
STATES = ("works", "differs", "refuses", "absent")
DECLARED = re.compile(
    r"(?:/\*\*(?P<comment>(?:(?!\*/).)*)\*/\s*)?"
    r"\b(?P<how>DOCA_STABLE|DOCA_EXPERIMENTAL|static inline)\b[^;{}()]*?"
    r"\b(?P<name>doca_\w+)\s*\(", re.S)
REFUSES = re.compile(r"DOCA_ERROR_NOT_SUPPORTED in all other cases|Batches are not supported")
INFERRED = re.compile(r"\binference\b")
INTRODUCTION = """\
# DOCA compatibility

<!-- Written by scripts/lib/doca-compatibility.py from the headers and docs/doca-compatibility.txt. -->

This page lists the functions of the `doca_*.h` headers of libdpumap, which follow DOCA {version}. The
headers document what each function does and every error that it returns.

| state | meaning |
| --- | --- |
| works | works as DOCA documents it |
| differs | works, with the difference that the remark describes |
| refuses | is declared, but always returns DOCA_ERROR_NOT_SUPPORTED (or does nothing if it returns no error) |
| absent | is not declared |

A call of an *experimental* function causes a compiler warning unless the program defines
`DOCA_ALLOW_EXPERIMENTAL_API`. *By inference* means that the name is known, but the signature is our
reading.

{counts}
"""


def plain(comment):
    return " ".join(re.sub(r"^\s*\* ?", "", comment or "", flags=re.M).split())


def functions_of(header):
    # Macros declare nothing.
    text = re.sub(r"^#(?:[^\n]*\\\n)*[^\n]*", "", header.read_text(encoding="utf-8"), flags=re.M)
    for found in DECLARED.finditer(text):
        yield Function(found["name"], header.name, found["how"] == "DOCA_EXPERIMENTAL",
                       found["how"] == "static inline", plain(found["comment"]))


def head_of(header):
    """The comment at the start of the header."""
    if not header.exists():
        return ""
    return re.search(r"\A(?:/\*.*?\*/\s*){1,2}", header.read_text(encoding="utf-8"), re.S)[0]


def headers(tree):
    found = collections.OrderedDict()
    for header in sorted((tree / "include").glob("doca_*.h")):
        declared = list(functions_of(header))
        if declared:
            found[header.name] = declared
    return found


def data(tree):
    """Return {header: {name: (state, remark)}} and a list of errors in the file."""
    entries, wrong, header = collections.OrderedDict(), [], None
    lines = (tree / DATA).read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        if re.fullmatch(r"\[\w+\.h\]", line):
            header = line[1:-1]
            entries.setdefault(header, collections.OrderedDict())
            continue
        fields = [f.strip() for f in line.split("|")]
        if len(fields) != 3 or fields[1] not in STATES or not fields[2] or not header:
            wrong.append(f"{DATA}:{number}: not \"name | {'/'.join(STATES)} | remark\" in a header")
        elif fields[0] in entries[header]:
            wrong.append(f"{DATA}:{number}: {fields[0]} twice")
        else:
            entries[header][fields[0]] = fields[1], fields[2]
    return entries, wrong


def row_of(function, entry):
    refuses = bool(REFUSES.search(function.comment))
    state, remark = entry or ("refuses" if refuses else "works", "")
    words = []
    if function.experimental:
        words.append("*experimental*")
    if function.inline:
        words.append("inline")
    if INFERRED.search(function.comment):
        words.append("*by inference*")
    if remark:
        words.append(remark)
    return function.name, state, "; ".join(words)


def check(function, entry):
    refuses = bool(REFUSES.search(function.comment))
    if entry and refuses != (entry[0] == "refuses"):
        yield f"{DATA}: {function.name}: {function.header} contradicts \"{entry[0]}\""
    if entry and entry[0] == "absent":
        yield f"{DATA}: {function.name} is not absent: {function.header} declares it"


def rows_of(header, declared, entries, wrong):
    names = {f.name for f in declared}
    rows = []
    for function in declared:
        entry = entries.get(function.name)
        wrong += check(function, entry)
        rows.append(row_of(function, entry))
    for name, (state, remark) in entries.items():
        if name in names:
            continue
        if state != "absent":
            wrong.append(f"{DATA}: {header} does not declare {name}")
        rows.append((name, state, remark))
    return rows


def version_of(tree):
    text = (tree / "include/doca_version.h").read_text(encoding="utf-8")
    return ".".join(re.search(rf"VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR"))


def document(tree):
    found, (entries, wrong) = headers(tree), data(tree)
    if not found:
        wrong.append("no function found in the headers")
    for header, remarks in entries.items():
        for name, (state, _) in remarks.items():
            if header not in found and state != "absent":
                wrong.append(f"{DATA}: {header}, listed with {name}, does not exist")
    sections, counts = [], collections.Counter()
    for header in sorted({*found, *entries}):
        rows = rows_of(header, found.get(header, []), entries.get(header, {}), wrong)
        counts.update(state for _, state, _ in rows)
        lines = [f"## {header}", ""]
        if INFERRED.search(head_of(tree / "include" / header)):
            lines += ["Some of these names are ours, by inference; the header states which.", ""]
        lines += ["| function | state | remark |", "| --- | --- | --- |"]
        lines += [f"| `{name}` | {state} | {remark} |" for name, state, remark in rows]
        sections.append("\n".join(lines) + "\n")
    total = ", ".join(f"{counts[s]} {s}" for s in STATES if counts[s])
    head = INTRODUCTION.format(version=version_of(tree), counts=f"In all: {total}.")
    return head + "\n" + "\n".join(sections), wrong


def main():
    args = [a for a in sys.argv[1:] if a != "--write"]
    if len(args) != 1:
        sys.exit(__doc__)
    tree = pathlib.Path(args[0])
    text, wrong = document(tree)
    for line in wrong:
        print(line, file=sys.stderr)
    if len(args) != len(sys.argv) - 1:
        (tree / DOCUMENT).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    sys.exit(bool(wrong))


main()
