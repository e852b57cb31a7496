# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: coverage.py desc|all [--table] FILE

Print the coverage of each room from FILE, a JSON summary of gcovr. Exit with 1 if a room is below its
limit. --table prints a Markdown table and checks no limit.
"""

import json
import sys

# (name, prefixes of the files, minimum % of lines, minimum % of branches)
LIMITS = {
    "desc": [("src/desc", ("src/desc/",), 98, 98)],
    "all": [
        ("src", ("src/",), 90, 0),
        ("src and emu", ("src/", "emu/"), 85, 0),
        ("dpu", ("dpu/",), 0, 0),
        ("host", ("host/",), 0, 0),
    ],
}


class Share:
    """The coverage of the files whose names begin with a prefix in `within`."""

    def __init__(self, files, within):
        chosen = [file for file in files if file["filename"].startswith(within)]
        self.files = len(chosen)
        for kind in ("line", "branch"):
            total = sum(file[f"{kind}_total"] for file in chosen)
            covered = sum(file[f"{kind}_covered"] for file in chosen)
            setattr(self, f"{kind}_total", total)
            setattr(self, kind, 100 * covered / total if total else 0.0)


def rooms(files):
    """The names of all rooms: src/core/, dpu/, ..."""
    names = {tuple(file["filename"].split("/")[:2 if file["filename"].startswith(("src/", "emu/")) else 1])
             for file in files}
    return sorted("/".join(name) + "/" for name in names)


def table(files, limits):
    print("| | files | lines | reached | branches | reached | limit |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | --- |")
    rows = [(name, Share(files, (name,)), "") for name in rooms(files)]
    for name, within, lines, _ in limits:
        if lines:
            rows.append((f"**{name}**", Share(files, within), f"{lines} % of the lines"))
    for name, share, limit in rows:
        print(f"| {name} | {share.files} | {share.line_total} | {share.line:.1f} % | {share.branch_total} | "
              f"{share.branch:.1f} % | {limit} |")


def judge(files, limits):
    wrong = 0
    for name, within, lines, branches in limits:
        share = Share(files, within)
        print(f"lines of {name}: {share.line:.1f} % of {share.line_total}, "
              f"branches: {share.branch:.1f} % of {share.branch_total}")
        for kind, reached, limit in ("lines", share.line, lines), ("branches", share.branch, branches):
            if reached < limit:
                print(f"   {name}: {reached:.2f} % of the {kind} reached, at least {limit} % required")
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
