#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Write docs/doca-compatibility.md: the table of all functions of the DOCA headers.

    doca-compatibility.py TREE           prints the document
    doca-compatibility.py --write TREE   writes it

The functions and their state come from the headers, and the names of all functions that DOCA has from
docs/doca-interface.txt. The remarks, and the reasons why a function is absent, come from
docs/doca-compatibility.txt. For a wrong entry in one of the files, and for a function that is neither
declared nor listed as absent, the program prints an error and exits with 1.
"""

import collections
import pathlib
import re
import sys

Function = collections.namedtuple("Function", "name header experimental inline comment")
DATA = "docs/doca-compatibility.txt"
INTERFACE = "docs/doca-interface.txt"
DOCUMENT = "docs/doca-compatibility.md"
STATES = ("works", "differs", "refuses", "absent", "extra")
MACRO = re.compile(r"(?:/\*\*(?P<comment>(?:(?!\*/).)*)\*/\s*)?^#define (?P<name>DOCA_\w+)\(", re.M | re.S)
DECLARED = re.compile(
    r"(?:/\*\*(?P<comment>(?:(?!\*/).)*)\*/\s*)?"
    r"\b(?P<how>DOCA_STABLE|DOCA_EXPERIMENTAL|static inline)\b[^;{}()]*?"
    r"\b(?P<name>doca_\w+)\s*\(", re.S)
REFUSES = re.compile(r"DOCA_ERROR_NOT_SUPPORTED in all other cases|Batches are not supported|"
                     r"No (?:object|task|key|matrix) exists")
INFERRED = re.compile(r"\binference\b")
INTRODUCTION = """\
# DOCA compatibility

<!-- Written by scripts/lib/doca-compatibility.py from the headers, docs/doca-interface.txt and
docs/doca-compatibility.txt. -->

This page lists every function of the DOCA libraries that libdpumap covers, and of a few that it does not
cover. The `doca_*.h` headers of libdpumap follow DOCA {version}, unless they name a later release. They document
what each function does and every error that it returns. The control channel (`doca_comch`) of libdpumap
connects programs that use libdpumap; it does not speak to the vendor's own control channel.

| state | meaning |
| --- | --- |
| works | works as DOCA documents it |
| differs | works, with the difference that the remark describes |
| refuses | is declared, but always returns DOCA_ERROR_NOT_SUPPORTED (or does nothing if it returns no error) |
| absent | is not declared; a name with `*` stands for all functions that are not listed |
| extra | is declared, but DOCA has no such function |

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


def macros_of(header):
    for found in MACRO.finditer(header.read_text(encoding="utf-8")):
        yield Function(found["name"], header.name, False, False, plain(found["comment"]))


def headers(tree, names):
    """Return {header: [function]}. In a header of macros, the macros are its functions."""
    found = collections.OrderedDict()
    for header in sorted((tree / "include").glob("doca_*.h")):
        macros = any(name.startswith("DOCA_") for name in names.get(header.name, ()))
        declared = list((macros_of if macros else functions_of)(header))
        if declared:
            found[header.name] = declared
    return found


def interface(tree):
    """Return {header: [name]} and a list of errors in the file."""
    names, wrong, header = collections.OrderedDict(), [], None
    lines = (tree / INTERFACE).read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        if re.fullmatch(r"\[\w+\.h\]", line):
            header = line[1:-1]
            names.setdefault(header, [])
        elif not re.fullmatch(r"(doca|DOCA)_\w+\*?", line) or not header:
            wrong.append(f"{INTERFACE}:{number}: not a name in a header")
        elif line in names[header]:
            wrong.append(f"{INTERFACE}:{number}: {line} twice")
        else:
            names[header].append(line)
    return names, wrong


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


def check(function, entry, listed):
    refuses = bool(REFUSES.search(function.comment))
    extra = bool(entry) and entry[0] == "extra"
    if entry and refuses != (entry[0] == "refuses"):
        yield f"{DATA}: {function.name}: {function.header} contradicts \"{entry[0]}\""
    if entry and entry[0] == "absent":
        yield f"{DATA}: {function.name} is not absent: {function.header} declares it"
    if extra == listed:
        yield (f"{INTERFACE}: {function.name} of {function.header} is " +
               ("listed, but extra" if extra else "not listed"))


def covers(pattern, name):
    return name == pattern or pattern.endswith("*") and name.startswith(pattern[:-1])


def absent_rows(header, missing, entries, wrong):
    """The rows of the names that DOCA's header has, but ours does not."""
    used, rows = set(), []
    for name in missing:
        found = [p for p, (state, _) in entries.items() if state == "absent" and covers(p, name)]
        if not found:
            wrong.append(f"{INTERFACE}: {header} does not declare {name}, and {DATA} does not list it "
                         "as absent")
            continue
        best = max(found, key=len)
        used.add(best)
        rows.append((name, "absent", entries[best][1]))
    for pattern, (state, _) in entries.items():
        if state == "absent" and pattern not in used:
            wrong.append(f"{DATA}: {header}: no absent function is called {pattern}")
    return rows


def rows_of(header, declared, listed, entries, wrong):
    names = {f.name for f in declared}
    rows = []
    for function in declared:
        entry = entries.get(function.name)
        wrong += check(function, entry, function.name in listed)
        rows.append(row_of(function, entry))
    for name, (state, _) in entries.items():
        if name not in names and state != "absent":
            wrong.append(f"{DATA}: {header} does not declare {name}")
    return rows + absent_rows(header, [n for n in listed if n not in names], entries, wrong)


def version_of(tree):
    text = (tree / "include/doca_version.h").read_text(encoding="utf-8")
    return ".".join(re.search(rf"VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR"))


def document(tree):
    (names, wrong), (entries, more) = interface(tree), data(tree)
    found = headers(tree, names)
    wrong += more
    if not found:
        wrong.append("no function found in the headers")
    sections, counts = [], collections.Counter()
    for header in sorted({*found, *entries, *names}):
        rows = rows_of(header, found.get(header, []), names.get(header, []), entries.get(header, {}), wrong)
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
