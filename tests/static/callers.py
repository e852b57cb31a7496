#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: callers.py TREE BUILD

Print a line for each function and variable with external linkage that no object of the product in BUILD needs: nobody
uses it, only tests use it, or only its own file does, so that it can be static. What public headers declare, a library
exports or the shim interposes has callers elsewhere. A function that its own file calls may be external for the sake
of a unit test.
"""
import collections
import pathlib
import re
import subprocess
import sys

PRODUCT = ("src", "emu", "dpu", "host")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
WORD = re.compile(r"\w+")


def source_of(path):
    """The source of an object in the build folder."""
    return re.sub(r"[^/]+/__/", "", re.sub(r"CMakeFiles/[^/]+\.dir/", "", path))[:-2]


def symbols(tree, build):
    """Return {name: sources that define it} and {name: sources that need it}, of all objects of the product."""
    objects = [path.relative_to(build).as_posix() for top in PRODUCT for path in (build / top).rglob("*.o")]
    objects = [path for path in objects if (tree / source_of(path)).exists()]  # not those of an earlier build
    defined, needed = collections.defaultdict(set), collections.defaultdict(set)
    said = subprocess.run(["nm", "-AP", *objects], cwd=build, check=True, capture_output=True, text=True).stdout
    for path, name, kind in re.findall(r"^(\S+): (\S+) (\S)", said if objects else "", re.M):
        if kind in "TDBR":
            defined[name].add(source_of(path))
        elif kind == "U":
            needed[name].add(source_of(path))
    return defined, needed


def words(paths):
    return collections.Counter(word for path in paths for word in WORD.findall(COMMENT.sub(" ", path.read_text())))


def offered(tree, build):
    """The names that public headers, the maps of libraries and the shim offer."""
    names = set(words([*(tree / "include").rglob("*.h"), *tree.glob("src/**/*.map"), *tree.glob("emu/include/*.h")]))
    shim = build / "lib/libdpumap-emu.so"
    if shim.exists():
        said = subprocess.run(["nm", "-DP", shim], check=True, capture_output=True, text=True).stdout
        names.update(line.split()[0] for line in said.splitlines())
    return names | {"main"}


def main(tree, build):
    tree, build = pathlib.Path(tree), pathlib.Path(build)
    defined, needed = symbols(tree, build)
    known, tests = offered(tree, build), words((tree / "tests").rglob("*.[ch]"))
    if not defined:
        print(f"no object of the product in {build}")
    for name, sources in sorted(defined.items()):
        if name in known or needed[name] - sources:
            continue
        source = min(sources)
        if words([tree / source])[name] < 2:
            print(f"{source}: {'only tests use' if tests[name] else 'nobody uses'} {name}")
        elif not tests[name]:
            print(f"{source}: only this file uses {name}: make it static")


if __name__ == "__main__":
    main(*sys.argv[1:])
