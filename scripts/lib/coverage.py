# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: coverage.py desc|all [--table] FILE: what FILE, a summary of gcovr's, says of each room.

Exits with 1 if one is below its limit. --table prints a table of Markdown instead.
"""

import json
import sys

# What of the rooms has to be reached, in percent of lines and of branches.
LIMITS = {
    "desc": [("src/desc", ("src/desc/",), (), 98, 98)],
    "all": [
        ("src without src/emu", ("src/",), ("src/emu/",), 90, 0),
        ("src", ("src/",), (), 85, 0),
        ("dpu", ("dpu/",), (), 0, 0),
        ("host", ("host/",), (), 0, 0),
    ],
}


class Share:
    """How much of the files whose names begin with one of `within`, and with none of `without`."""

    def __init__(self, files, within, without):
        chosen = [file for file in files if file["filename"].startswith(within)
                  and not (without and file["filename"].startswith(without))]
        self.files = len(chosen)
        for kind in ("line", "branch"):
            total = sum(file[f"{kind}_total"] for file in chosen)
            covered = sum(file[f"{kind}_covered"] for file in chosen)
            setattr(self, f"{kind}s", total)
            setattr(self, kind, 100 * covered / total if total else 0.0)


def rooms(files):
    """src/core/, dpu/, ..."""
    names = {tuple(file["filename"].split("/")[:2 if file["filename"].startswith("src/") else 1])
             for file in files}
    return sorted("/".join(name) + "/" for name in names)


def table(files, limits):
    print("| | files | lines | reached | branches | reached | limit |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | --- |")
    rows = [(name, Share(files, (name,), ()), "") for name in rooms(files)]
    for name, within, without, lines, _ in limits:
        if lines:
            rows.append((f"**{name}**", Share(files, within, without), f"{lines} % of the lines"))
    for name, share, limit in rows:
        print(f"| {name} | {share.files} | {share.lines} | {share.line:.1f} % | {share.branchs} | "
              f"{share.branch:.1f} % | {limit} |")


def judge(files, limits):
    wrong = 0
    for name, within, without, lines, branches in limits:
        share = Share(files, within, without)
        print(f"lines of {name}: {share.line:.1f} % of {share.lines}, "
              f"branches: {share.branch:.1f} % of {share.branchs}")
        for kind, reached, limit in ("lines", share.line, lines), ("branches", share.branch, branches):
            if reached < limit:
                print(f"   {name}: {reached:.2f} % of the {kind} reached, {limit} % wanted")
                wrong = 1
    return wrong


def main():
    with open(sys.argv[-1], encoding="utf-8") as file:
        files = json.load(file)["files"]
    limits = LIMITS[sys.argv[1]]
    if "--table" in sys.argv:
        table(files, limits)
        return 0
    return judge(files, limits)


sys.exit(main())
