#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: arrows.py [--table | --dot] TREE

Who may call whom (docs/architecture.md). Complains on stdout, a line for each wrong include or
name; --table and --dot print instead which room includes which, and how many files do.
"""
import pathlib
import re
import sys

# The rooms whose headers a room may include.
MAY_INCLUDE = {
    "public": "public",
    "public-desc": "public-desc",
    "desc": "desc public-desc",
    "core": "core device desc log public public-desc",
    "device": "device log public public-desc",
    "log": "log public",
    "argp": "argp log public",
    "channel": "channel common public public-desc",
    "common": "common public public-desc",
    "doctor": "doctor channel common public public-desc",
    "dpu": "dpu channel common doctor public public-desc",
    "host": "host channel common doctor public public-desc",
    "emu": "emu",
}
# Headers of the system that the codec, which is freestanding, may include.
FREESTANDING = {
    "desc": {"stdint.h", "stddef.h", "string.h", "stdbool.h"},
    "public-desc": {"stdint.h", "stddef.h", "stdbool.h"},
}
# The bridge's public header shows verbs objects and its code hands a protection domain through.
BRIDGE_HEADER = "include/doca_rdma_bridge.h"
BRIDGE = "src/core/rdma_bridge.c"

# The doctor looks at the device by verbs of its own, so as not to believe the library; of the
# library's headers it has the layout of firmware commands, which calls nothing.
VERBS_ROOMS = {"device", "doctor"}
PRM = ("doctor", "src/device/prm.h")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]*)[>"]', re.M)
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')', re.S)
CALL = re.compile(r"\b(?:ibv|mlx5dv)_[a-z0-9_]+[ \t]*\(")
VERB = re.compile(r"\b(?:ibv|mlx5dv)_[a-z0-9_]+")
EMULATOR = re.compile(r"(?:dpumap[-_]emu|emulat)[a-z_]*", re.I)
EMULATED_FILTER = re.compile("filter_emulated", re.I)  # a kind of representor has that name


def room_of(name):
    if name == "include/dpumap/desc.h":
        return "public-desc"
    parts = name.split("/")
    if parts[0] == "include":
        return "public"
    if parts[0] == "src" and len(parts) > 2:
        return parts[1]
    return parts[0] if parts[0] in ("dpu", "host") else None


def strip_comments(text):
    return TOKEN.sub(lambda match: match.group(1) or " ", text)


class Tree:
    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        self.files = {}
        for top in ("include", "src", "dpu", "host"):
            for path in sorted((self.root / top).rglob("*.[ch]")):
                self.files[path.relative_to(self.root).as_posix()] = path.read_text()

    def meant(self, file, form, name):
        """The file of the tree that an include means; None for a system header."""
        candidates = [f"include/{name}", f"src/{name}"]
        if form == '"':
            candidates = [f"{pathlib.PurePosixPath(file).parent}/{name}", *candidates, name]
        for candidate in candidates:
            path = (self.root / candidate).resolve()
            if path.is_file() and path.is_relative_to(self.root):
                return path.relative_to(self.root).as_posix()
        if form == "<":
            return None
        # A bare name found through an include directory: any room's folder may be on the path.
        return next((f for f in self.files if not f.startswith("include/")
                     and f.endswith(f"/{name}")), None)

    def includes(self, file):
        for form, name in INCLUDE.findall(self.files[file]):
            yield name, self.meant(file, form, name)


def wrong_include(file, room, name, target):
    if name in FREESTANDING.get(room, ()):
        return None
    if name.startswith("infiniband/"):
        if room in VERBS_ROOMS or (file == BRIDGE_HEADER and name == "infiniband/verbs.h"):
            return None
        return f"includes <{name}>: verbs belong to src/device"
    if target is None:
        return f"includes <{name}>: the codec is freestanding" if room in FREESTANDING else None
    if (room, target) == PRM:
        return None
    if room_of(target) not in MAY_INCLUDE.get(room, "").split():
        return f"includes {target}: {room} may not look there"
    return None


def wrong_words(file, room, text):
    code = strip_comments(text)
    if room not in VERBS_ROOMS and (hit := CALL.search(code)):
        yield f"calls {hit.group()}): verbs are called in src/device alone"
    if room not in VERBS_ROOMS | {"emu"}:
        allowed = {"ibv_pd"} if file in (BRIDGE_HEADER, BRIDGE) else set()
        for hit in VERB.findall(code):
            if hit not in allowed:
                yield f"names {hit}: verbs belong to src/device"
                break
    if room != "emu" and (hit := EMULATOR.search(EMULATED_FILTER.sub("", code))):
        yield f"knows the emulator ({hit.group()})"


def check(tree):
    if not tree.files:
        yield f"no source file found in {tree.root}"
    for file, text in tree.files.items():
        room = room_of(file)
        if room is None:
            continue
        for name, target in tree.includes(file):
            said = wrong_include(file, room, name, target)
            if said:
                yield f"{file}: {said}"
        for said in wrong_words(file, room, text):
            yield f"{file}: {said}"


def count(tree):
    """How many files of a room include something of another; verbs are a room here."""
    arrows = {}
    for file in tree.files:
        room, targets = room_of(file), set()
        for name, target in tree.includes(file):
            if name.startswith("infiniband/"):
                targets.add("rdma-core")
            elif target and room_of(target):
                targets.add(room_of(target))
        for target in targets - {room, None}:
            if room:
                arrows[room, target] = arrows.get((room, target), 0) + 1
    return arrows


def table(arrows):
    targets = [room for room in [*MAY_INCLUDE, "rdma-core"] if any(t == room for _, t in arrows)]
    print(f"| files of | {' | '.join(targets)} |\n| --- |{' ---: |' * len(targets)}")
    for room in MAY_INCLUDE:
        cells = " | ".join(str(arrows.get((room, target), "")) for target in targets)
        print(f"| {room} | {cells} |")


def dot(arrows):
    print('digraph rooms {\n\trankdir=TB; node [shape=box, fontname="sans-serif"];')
    for room in MAY_INCLUDE:
        print(f'\t"{room}";')
    print('\t"rdma-core" [style=dashed];')
    for (room, target), files in sorted(arrows.items()):
        print(f'\t"{room}" -> "{target}" [label="{files}", fontsize=9];')
    print("}")


def main(arguments):
    tree = Tree(arguments[-1])
    if arguments[0] == "--table":
        table(count(tree))
    elif arguments[0] == "--dot":
        dot(count(tree))
    else:
        for line in check(tree):
            print(line)


main(sys.argv[1:])
