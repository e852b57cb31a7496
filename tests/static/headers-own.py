#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: headers-own.py TREE

A header declares only functions of the .c file with its name in its folder, and of .c files of the folder that have
no header with their name. X_priv.h, which only files of its room include, declares functions of X.c. Print a line for
each violation. headers-own.txt lists the exceptions as "HEADER | WHY"; each of them must be needed.
"""
import pathlib
import re
import sys

FOLDERS = ("src", "emu", "dpu", "host")
NOT_OURS = ("emu/include/",)  # a public header
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)|_Static_assert\s*\([^;]*\)")
# "type name(", but not a pointer to a function
FUNCTION = re.compile(r"^[\w\s*]*?[\s*](\w+)\s*\((?!\s*\*)", re.S)


def outside_braces(text):
    """Return the top-level code, with "{}" for each block, without comments and directives."""
    text = ATTRIBUTE.sub(" ", DIRECTIVE.sub("", TOKEN.sub(" ", text)))
    out, depth = [], 0
    for char in text:
        if char == "{":
            depth += 1
            out.append("{}" if depth == 1 else "")
        elif char == "}":
            depth -= 1
        elif depth == 0:
            out.append(char)
    return "".join(out)


def statements(text):
    """Yield the top-level statements, each with its end: ";" or "{}"."""
    for statement, end in re.findall(r"([^;{]*)(;|\{\})", outside_braces(text)):
        yield statement.strip(), end


def functions(text, wanted):
    """Yield the functions with external linkage that are declared (wanted ";") or defined ("{}")."""
    for statement, end in statements(text):
        words = statement.split()
        if end != wanted or not words or words[0] in ("typedef", "static", "struct{}") or "=" in statement:
            continue
        found = FUNCTION.match(statement)
        if found and not words[0].startswith("return"):
            yield found[1]


def read_exceptions(tree):
    path = tree / "tests/static/headers-own.txt"
    exceptions = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        if line.strip() and not line.startswith("#"):
            header, _, why = line.partition("|")
            exceptions[header.strip()] = why.strip()
    return exceptions


def shares(header, source, files):
    """Whether the source has no header of its own, but those of its folder."""
    folder = source.rpartition("/")[0]
    return source in files and folder == header.rpartition("/")[0] and f"{source[:-2]}.h" not in files


def main(tree):
    files = {path.relative_to(tree).as_posix(): path.read_text() for folder in FOLDERS
             for path in sorted((tree / folder).rglob("*.[ch]"))}
    defined = {}
    for name, text in files.items():
        if name.endswith(".c"):
            for function in functions(text, "{}"):
                defined.setdefault(function, []).append(name)
    exceptions, used = read_exceptions(tree), set()
    seen = 0
    for name, text in files.items():
        if not name.endswith(".h") or name.startswith(NOT_OURS):
            continue
        own = f"{name[:-2].removesuffix('_priv')}.c"
        for function in functions(text, ";"):
            seen += 1
            where = defined.get(function, ["no file"])
            if own in where or any(shares(name, one, files) for one in where):
                continue
            used.add(name)
            if name not in exceptions:
                print(f"{name} declares {function}(), which {where[0]} defines")
    for name, why in exceptions.items():
        if name not in used or not why:
            print(f"headers-own.txt: {name} {'is not an exception' if why else 'lacks a reason'}")
    if not seen:
        print("no declaration found")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve())
