#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: arrows.py [--table | --dot | --text | --write-doc] TREE

Check which room includes which (docs/architecture.md). Print a line for each include or name that is
not allowed. --table and --dot print the includes between rooms, with the number of files; --text prints
the picture in docs/architecture.md, and --write-doc writes it there.
"""
import pathlib
import re
import sys

# Every allowed arrow, floor by floor: a room, and the rooms whose headers it may include. "api" is
# include/, "api-desc" is include/dpumap/desc.h alone. The rooms of emu/server/ are floors too: each
# may include those below it, and the files directly in emu/server/ may include all of them.
API = "api api-desc"
DEVICE = "device device/memory device/queue device/cm"
BASE = f"{DEVICE} secret desc log {API}"
LIBRARY = f"core core/dev core/mmap core/buf core/pe core/domain core/engine {BASE}"
CARD = "emu/ipc emu/server/base emu/server/card"
UVERBS = f"{CARD} emu/server/wire emu/server/mm emu/server/uverbs"
AGENT = f"channel common local {API}"
DPU_EXPORTS = "dpu/exports dpu/rdma dpu/spec dpu/base"
DPU_CLIENTS = f"dpu/registry dpu/clients {DPU_EXPORTS}"
HOST_REMOTE = "host/remote host/fleet host/settings host/base"
FLOORS = {
    "programs": {
        "dpu": f"dpu/daemon dpu/commands dpu/settings dpu/base common cli local {API}",
        "dpu/daemon": f"dpu/settings {DPU_CLIENTS} {AGENT}",
        "dpu/commands": f"dpu/settings dpu/spec dpu/base doctor cli {AGENT}",
        "dpu/settings": f"{DPU_CLIENTS} cli {AGENT}",
        "dpu/registry": f"{DPU_EXPORTS} fleet fleet/publisher {AGENT}",
        "dpu/clients": f"{DPU_EXPORTS} secret {AGENT}",
        "dpu/exports": f"dpu/rdma dpu/spec dpu/base {AGENT}",
        "dpu/rdma": f"dpu/base {AGENT}",
        "dpu/spec": AGENT,
        "dpu/base": f"local {API}",
        "host": f"host/commands host/pki host/fleet host/settings host/base common cli local {API}",
        "host/commands": f"host/copy host/import {HOST_REMOTE} doctor fleet cli {AGENT}",
        "host/pki": f"host/settings host/base {AGENT}",
        "host/copy": f"host/import {HOST_REMOTE} {AGENT}",
        "host/import": f"{HOST_REMOTE} {AGENT}",
        "host/remote": f"host/fleet host/settings host/base secret {AGENT}",
        "host/fleet": f"host/settings host/base fleet {AGENT}",
        "host/settings": f"host/base cli {AGENT}",
        "host/base": f"cli local {API}",
    },
    "what the programs share": {
        "doctor": f"channel common cli local {API}",
        "fleet": f"fleet/publisher fleet/view local {API}",
        "fleet/publisher": f"fleet/etcd fleet/record local {API}",
        "fleet/view": f"fleet/etcd fleet/record channel local {API}",
        "fleet/etcd": f"fleet/record secret local {API}",
        "fleet/record": f"local {API}",
        "channel": f"common local secret {API}",
        "common": f"cli local {API}",
        "cli": "",
    },
    "DOCA libraries": {
        "rdma": f"sync_event {LIBRARY}",
        "sync_event": LIBRARY,
        "dma": LIBRARY,
        "compress": LIBRARY,
        "aes_gcm": LIBRARY,
        "verbs": f"device/verbs {LIBRARY}",
        "advise": LIBRARY,
        "refused": LIBRARY,
        "comch/fast": f"comch/connection comch {LIBRARY}",
        "comch/connection": f"comch/link comch {LIBRARY} local",
        "comch/link": f"comch {LIBRARY} local",
        "comch": "",
        "argp": "log api",
    },
    "their base": {
        "core/graph": f"core/pe {BASE}",
        "core/engine": f"core/pe core/buf core/mmap core/dev core {BASE}",
        "core/pe": f"core core/dev {BASE}",
        "core/clock": f"core core/dev {BASE}",
        "core/firmware": f"core core/dev {BASE}",
        "core/buf": f"core core/mmap core/dev {BASE}",
        "core/mmap": f"core core/umem core/dm core/dev {BASE}",
        "core/umem": f"core core/dev {BASE}",
        "core/dm": f"core core/dev {BASE}",
        "core/domain": f"core core/dev {BASE}",
        "core/dev": f"core local {BASE}",
        "core": BASE,
    },
    "under the base": {
        "device/cm": f"device log {API}",
        "device/verbs": f"device device/queue log {API}",
        "device/queue": f"device device/memory log desc {API}",
        "device/memory": f"device log {API}",
        "device": f"log {API}",
        "log": "local api",
        "desc": "api-desc",
        "secret": "",
        "local": "api",
        "base": "",
    },
    "public headers": {
        "api": "api-desc",
        "api-desc": "",
    },
    "the emulated card": {
        "emu/tool": "emu/pci emu/server emu/server/base emu/server/card emu/ipc cli",
        "emu/pci": "emu/server/base emu/prm emu/ipc",
        "emu/server": f"{UVERBS} emu/server/devx emu/server/firmware emu/server/net emu/server/ucma emu/server/admin",
        "emu/server/admin": f"{UVERBS} emu/server/firmware emu/server/ucma emu/server/cm emu/wire emu/prm",
        "emu/server/net": f"{UVERBS} emu/prm",
        "emu/server/ucma": f"{CARD} emu/server/mm emu/server/cm",
        "emu/server/devx": f"{UVERBS} emu/server/firmware emu/prm",
        "emu/server/firmware": f"{UVERBS} emu/prm",
        "emu/server/uverbs": f"{CARD} emu/server/wire emu/server/mm emu/prm",
        "emu/server/mm": CARD,
        "emu/server/cm": "emu/server/base emu/server/card emu/server/wire",
        "emu/server/wire": f"{CARD} emu/wire",
        "emu/server/card": "emu/ipc emu/prm emu/server/base",
        "emu/server/base": "emu/ipc",
        "emu/shim": "emu/engine emu/ipc",
        "emu/engine": "emu/engine/memory emu/engine/stream emu/wire emu/ipc",
        "emu/engine/memory": "emu/ipc",
        "emu/engine/stream": "",
        "emu/wire": "emu/ipc",
        "emu/prm": "",
        "emu/ipc": "",
        "emu/include": "",
    },
}
# Rooms whose files have an order, from the bottom: each includes only those before it.
ORDERED = {
    "comch/connection": "endpoint inbox connection_priv pool ready output state input connection control send settings"
                        " client server".split(),
}
# Every room but the codec, which is freestanding, may include src/base/. The picture leaves these arrows out.
EVERYWHERE = "base"
MAY_INCLUDE = {room: targets.split() for rooms in FLOORS.values() for room, targets in rooms.items()}
# Headers of the system that the codec, which is freestanding, may include.
FREESTANDING = {
    "desc": {"stdint.h", "stddef.h", "string.h", "stdbool.h"},
    "api-desc": {"stdint.h", "stddef.h", "stdbool.h"},
}
# The public headers of the bridges name verbs objects, and their code passes them on.
BRIDGE_HEADER = "include/doca_rdma_bridge.h"
BRIDGES = {
    BRIDGE_HEADER: {"ibv_pd"},
    "src/rdma/bridge.c": {"ibv_pd"},
    "include/doca_verbs_bridge.h": {"ibv_context", "ibv_device", "ibv_pd", "ibv_qp_attr", "ibv_recv_wr", "ibv_send_wr",
                                    "ibv_wc", "ibv_attr_mask", "ibv_ctx"},
}
BRIDGES["src/verbs/bridge.c"] = BRIDGES["include/doca_verbs_bridge.h"]

# The doctor examines the device with verbs calls of its own, so its results do not depend on the library.
# It may include the library's layouts of firmware commands, which contain no calls.
VERBS_ROOMS = {"device", "device/memory", "device/queue", "device/verbs", "device/cm", "doctor"}
PRM = ("doctor", "src/device/prm.h")
# librdmacm is called in one room of the library; the public header of doca_rdma has its header for programs,
# and dpumapd is such a program, which gives its requests to the bridge.
CM_HEADER = "rdma/rdma_cma.h"
CM_PLACES = {"src/device/cm/", "include/doca_rdma.h", "emu/", "dpu/rdma/cm_listener.c"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]*)[>"]', re.M)
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')', re.S)
CALL = re.compile(r"\b(?:ibv|mlx5dv)_[a-z0-9_]+[ \t]*\(")
VERB = re.compile(r"\b(?:ibv|mlx5dv)_[a-z0-9_]+")
EMULATOR = re.compile(r"(?:dpumap[-_]emu|emulat)[a-z_]*", re.I)
EMULATED_FILTER = re.compile("filter_emulated", re.I)  # a kind of representor has that name


def room_of(name):
    """The room of a file: a folder of src/, or two in src/comch/, src/core/, src/device/ and src/fleet/; in emu/, dpu/
    and host/ two folders, in emu/engine/ and emu/server/ three. Files beside the innermost folders are a room too. None: in no room."""
    if name == "include/dpumap/desc.h":
        return "api-desc"
    *folders, _ = name.split("/")
    if not folders:
        return None
    if folders[0] == "include":
        return "api"
    if folders[0] in ("emu", "dpu", "host"):
        return "/".join(folders[:3 if folders[:2] in (["emu", "engine"], ["emu", "server"]) else 2])
    deep = {"comch": 2, "core": 2, "device": 2, "fleet": 2}
    return "/".join(folders[1:1 + deep.get(folders[1], 1)]) if len(folders) > 1 else None


def is_emulator(room):
    return room.startswith("emu/")


def strip_comments(text):
    return TOKEN.sub(lambda match: match.group(1) or " ", text)


class Tree:
    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        self.files = {}
        for top in ("include", "src", "emu", "dpu", "host"):
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
    if name == CM_HEADER and not file.startswith(tuple(CM_PLACES)):
        return f"includes <{name}>: librdmacm belongs to src/device/cm"
    if target is None:
        return f"includes <{name}>: the codec is freestanding" if room in FREESTANDING else None
    if (room, target) == PRM or (room_of(target) == EVERYWHERE and room not in FREESTANDING):
        return None
    if room_of(target) not in (room, *MAY_INCLUDE.get(room, ())):
        return f"includes {target}: {room} may not include {room_of(target)}"
    return None


def wrong_words(file, room, text):
    code = strip_comments(text)
    if room not in VERBS_ROOMS and (hit := CALL.search(code)):
        yield f"calls {hit.group()}): verbs are called in src/device alone"
    if room not in VERBS_ROOMS and not is_emulator(room):
        allowed = BRIDGES.get(file, set())
        for hit in VERB.findall(code):
            if hit not in allowed:
                yield f"names {hit}: verbs belong to src/device"
                break
    if not is_emulator(room) and (hit := EMULATOR.search(EMULATED_FILTER.sub("", code))):
        yield f"knows the emulator ({hit.group()})"


def wrong_order(file, room, target):
    """Within a room that has an order. A .c file and its header have the same place."""
    order, stem, other = ORDERED[room], pathlib.PurePosixPath(file).stem, pathlib.PurePosixPath(target).stem
    if stem not in order:
        return f"the order of {room} in tests/static/arrows.py does not have {stem}"
    if other in order and order.index(other) <= order.index(stem):
        return None
    return f"includes {target}, which is above it in the order of {room} (tests/static/arrows.py)"


def check(tree):
    if not tree.files:
        yield f"no source file found in {tree.root}"
    for file, text in tree.files.items():
        room = room_of(file)
        if room is None:
            continue
        if room not in MAY_INCLUDE:
            yield f"{file}: the room {room} is not in the table of tests/static/arrows.py"
        for name, target in tree.includes(file):
            said = wrong_include(file, room, name, target)
            if not said and room in ORDERED and target and room_of(target) == room:
                said = wrong_order(file, room, target)
            if said:
                yield f"{file}: {said}"
        for said in wrong_words(file, room, text):
            yield f"{file}: {said}"


def count(tree):
    """Count the files of each room that include a header of another room. Verbs count as a room."""
    arrows = {}
    for file in tree.files:
        room, targets = room_of(file), set()
        for name, target in tree.includes(file):
            if name.startswith("infiniband/"):
                targets.add("rdma-core")
            elif target and room_of(target):
                targets.add(room_of(target))
        for target in targets - {room, None, EVERYWHERE}:
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


DOCUMENT = "docs/architecture.md"
BEGIN = "<!-- rooms: made by tests/static/arrows.py --write-doc . -->\n"
END = "<!-- end of rooms -->\n"


def text(arrows):
    """The picture: each room with an arrow to each room whose headers it includes."""
    yield "```text"
    for floor, rooms in FLOORS.items():
        yield floor
        for room in rooms:
            targets = [target for target in [*MAY_INCLUDE, "rdma-core"] if (room, target) in arrows]
            yield from wrap(f"    {room:<18}", targets)
    yield "```"


def wrap(begin, targets):
    if not targets:
        yield begin.rstrip()
        return
    line = begin + " ->"
    for target in targets:
        if len(line) + 1 + len(target) > 96:
            yield line
            line = " " * (len(begin) + 3)
        line += " " + target
    yield line


def write_document(tree, picture):
    path = tree.root / DOCUMENT
    before, rest = path.read_text().split(BEGIN)
    _, after = rest.split(END)
    path.write_text(before + BEGIN + picture + END + after)


def main(arguments):
    tree = Tree(arguments[-1])
    if arguments[0] == "--table":
        table(count(tree))
    elif arguments[0] == "--dot":
        dot(count(tree))
    elif arguments[0] == "--text":
        print("\n".join([BEGIN.rstrip(), *text(count(tree)), END.rstrip()]))
    elif arguments[0] == "--write-doc":
        write_document(tree, "\n".join(text(count(tree))) + "\n")
    else:
        for line in check(tree):
            print(line)


main(sys.argv[1:])
