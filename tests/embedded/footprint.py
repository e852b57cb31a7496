# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: footprint.py --size TOOL --max-text N --max-stack N ARCHIVE OBJECT...

Print text and data of the codec's archive, and the maximum stack depth of each global function, from the
call graphs (-fcallgraph-info=su) beside the objects. Fail if a value is above its limit, if there is
writable data, or if the stack is unbounded.

Each memory function of the environment counts with LEAF bytes of stack, the maximum of those in newlib
and picolibc.
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
                        sys.exit(f"{node[1]}: its stack is unbounded ({use[2]})")
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
    """Return the bytes of text, data and bss. Read-only data counts as text: it is in flash, too."""
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
        sys.exit("no call graph found beside the objects")
    for name, depth in sorted(public.items()):
        print(f"{name}: {depth} bytes of stack")
    worst = max(public.values())
    print(f"text {text} bytes (limit {args.max_text}), data {data}, bss {bss}, "
          f"stack {worst} bytes (limit {args.max_stack})")
    if text > args.max_text or data or bss or worst > args.max_stack:
        sys.exit("a value is above its limit")


main()
