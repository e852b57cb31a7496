# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: footprint.py --size TOOL --max-text N --max-stack N ARCHIVE OBJECT...

Prints text and data of the codec's archive, and for each function that others may call the deepest
stack below it, from the call graphs (-fcallgraph-info=su) that lie beside the objects. Fails where
one is above its limit, where there is writable data, or where the stack has no bound.

The memory functions that the codec asks of its environment count with LEAF bytes each: those of
newlib and picolibc save at most that many.
"""

import argparse
import os
import re
import subprocess
import sys

LEAF = 32
NODE = re.compile(r'node: { title: "([^"]+)" label: "([^"]*)"')
EDGE = re.compile(r'edge: { sourcename: "([^"]+)" targetname: "([^"]+)"')
STACK = re.compile(r"(\d+) bytes \((\w+)\)")


def read_graph(objects):
    stack, calls = {}, {}
    for name in objects:
        path = os.path.splitext(name)[0] + ".ci"
        for line in open(path, encoding="utf-8"):
            if node := NODE.match(line):
                if use := STACK.search(node[2]):
                    if use[2] != "static":
                        sys.exit(f"{node[1]}: its stack has no bound ({use[2]})")
                    stack[node[1]] = int(use[1])
            elif edge := EDGE.match(line):
                calls.setdefault(edge[1], set()).add(edge[2])
    return stack, calls


def deepest(name, stack, calls, path=()):
    if name in path:
        sys.exit(f"{name} calls itself: {' -> '.join(path)}")
    below = [deepest(callee, stack, calls, path + (name,)) for callee in calls.get(name, ())]
    return stack.get(name, LEAF) + max(below, default=0)


def sections(tool, archive):
    """Bytes of text, data and bss; read-only data counts as text, as it is in flash as well."""
    out = subprocess.run([tool, "--totals", archive], check=True, capture_output=True, text=True)
    return [int(word) for word in out.stdout.splitlines()[-1].split()[:3]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", required=True)
    parser.add_argument("--max-text", type=int, required=True)
    parser.add_argument("--max-stack", type=int, required=True)
    parser.add_argument("archive")
    parser.add_argument("objects", nargs="+")
    args = parser.parse_args()

    text, data, bss = sections(args.size, args.archive)
    stack, calls = read_graph(args.objects)
    public = {name: deepest(name, stack, calls) for name in stack if ":" not in name}
    if not public:
        sys.exit("no call graph")
    for name, depth in sorted(public.items()):
        print(f"{name}: {depth} bytes of stack")
    worst = max(public.values())
    print(f"text {text} bytes (limit {args.max_text}), data {data}, bss {bss}, "
          f"stack {worst} bytes (limit {args.max_stack})")
    if text > args.max_text or data or bss or worst > args.max_stack:
        sys.exit("over the limit")


main()
