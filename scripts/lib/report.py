# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: report.py TREE OUT: write OUT/index.html from the files that scripts/report put into OUT."""

import collections
import html
import pathlib
import re
import sys

STYLE = """
body { font: 15px/1.45 sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; color: #222 }
table { border-collapse: collapse; margin: 1em 0 }
th, td { border-bottom: 1px solid #ccc; padding: 2px 10px; text-align: left; vertical-align: top }
td.number { text-align: right }
.fail { color: #b00020; font-weight: bold } .pass { color: #1b6e20 } .none, .skip { color: #777 }
svg { max-width: 100%; height: auto } pre { background: #f4f4f4; padding: 1em; overflow: auto }
"""
FINDING = re.compile(r"^(\S+?):(\d+):\d+: (\w+): (.*) \[([\w.,-]+)\]$", re.M)
SILENCED = re.compile(r"NOLINT\w*(?:\(([^)]*)\))?|cppcheck-suppress\s+(\w+)")
PLANTED = "-finds-a-planted-violation"


def cell(text):
    kind = ' class="number"' if re.fullmatch(r"[\d.]+( %)?", text) else ""
    inner = re.sub(r"\*\*(.*?)\*\*", r"<b>\1</b>", html.escape(text))
    return f"<td{kind}>{inner}</td>"


def row(cells):
    return f"<tr>{''.join(cells)}</tr>"


def table(head, rows):
    top = row(f"<th>{html.escape(name)}</th>" for name in head)
    return f"<table>{top}{''.join(row(map(cell, cells)) for cells in rows)}</table>"


def from_markdown(path, missing):
    if not path.is_file():
        return f'<p class="none">{missing}</p>'
    lines = [[text.strip() for text in line.strip("| \n").replace("| |", "|  |").split(" | ")]
             for line in path.read_text().splitlines()]
    return table(lines[0], [line + [""] * (len(lines[0]) - len(line)) for line in lines[2:]])


def checks(out):
    """A table of the static checks: the result of each, with a link to its log."""
    logs = {log.stem: log for lane in ("static", "tidy") for log in (out / lane).glob("check-*.log")}
    names = sorted(name for name in logs if not name.endswith(PLANTED))
    if not names:
        return '<p class="none">The lanes static and tidy have not run.</p>'

    def verdict(name):
        log = logs.get(name, out / "static" / f"{name}.log")
        status = log.with_suffix(".log.status")
        code = status.read_text().strip() if status.exists() else "1"
        kind = {"0": "pass", "77": "skip"}.get(code, "fail")
        return f'<td><a class="{kind}" href="{log.relative_to(out)}">{kind}</a></td>'

    body = "".join(row((cell(name.removeprefix("check-")), verdict(name), verdict(name + PLANTED)))
                   for name in names)
    head = row(f"<th>{name}</th>" for name in ("check", "result", "self-test"))
    return f"<table>{head}{body}</table>"


def findings(out, tool, lane, check):
    log = out / lane / f"{check}.log"
    if not log.is_file():
        return f'<p class="none">{tool}: the lane {lane} has not run.</p>'
    found = FINDING.findall(log.read_text())
    said = f"<p>{tool}: {len(found)} findings.</p>"
    if found:
        counts = collections.Counter(name.split(",")[0] for *_, name in found)
        said += table(("check", "findings"), [(n, str(c)) for n, c in counts.most_common()])
        said += table(("where", "what"), [(f"{file}:{line}", f"{text} [{name.split(',')[0]}]")
                                          for file, line, _, text, name in found])
    return said


def silenced(tree):
    """The places where a finding of clang-tidy or cppcheck is suppressed."""
    rows = []
    for top in ("include", "src", "emu", "dpu", "host", "tests"):
        for path in sorted((tree / top).rglob("*.[ch]")):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if match := SILENCED.search(line):
                    rows.append((f"{path.relative_to(tree)}:{number}", match[1] or match[2] or "all"))
    return f"<p>Suppressed in {len(rows)} places:</p>" + table(("place", "check"), rows)


def lines_of_code(tree):
    rows = []
    rooms = sorted(path for top in ("src", "emu") for path in (tree / top).iterdir() if path.is_dir())
    for room in [tree / "include", *rooms, tree / "dpu", tree / "host", tree / "tests"]:
        files = sorted(room.rglob("*.[ch]"))
        lengths = sorted(len(file.read_text().splitlines()) for file in files)
        if files:
            rows.append((f"{room.relative_to(tree)}/", str(len(files)), str(sum(lengths)),
                         str(lengths[len(lengths) // 2]), str(lengths[-1])))
    return table(("", "files", "lines", "median", "longest"), rows)


def sizes(out):
    path = out / "sizes.txt"
    if not path.is_file():
        return '<p class="none">The lane unit has not run.</p>'
    rows = []
    for line in path.read_text().splitlines()[1:]:
        text, data, bss, _, _, name = line.split(maxsplit=5)
        rows.append((re.sub(r"/\S*/", "", name), text, data, bss))
    return table(("release build", "text", "data", "bss"), rows)


def main(tree, out):
    drawing = re.sub(r"^.*?(?=<svg)", "", (out / "rooms.svg").read_text(), flags=re.S)
    link = ('<p><a href="coverage/index.html">Every file, line by line</a></p>'
            if (out / "coverage/index.html").is_file() else "")
    parts = [
        ("Static checks", checks(out)),
        ("Static analysis", findings(out, "clang-tidy", "tidy", "check-tidy") +
         findings(out, "cppcheck", "static", "check-cppcheck") + silenced(tree)),
        ("Test coverage",
         from_markdown(out / "coverage.md", "The lane coverage has not run.") + link),
        ("Duplicated code",
         "<p>Pieces of code with the same structure and mostly the same names. A long one needs a reason in "
         "tests/static/duplicates.txt.</p>" + from_markdown(out / "duplicates.md", "")),
        ("Includes between rooms",
         "<p>A number counts the files of a room that include a header of the other room. "
         "docs/architecture.md lists the allowed includes; check-arrows enforces them.</p>" +
         drawing + from_markdown(out / "rooms.md", "")),
        ("Sizes", lines_of_code(tree) + sizes(out)),
    ]
    page = "".join(f"<h2>{title}</h2>\n{body}\n" for title, body in parts)
    (out / "index.html").write_text(
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>dpumap</title>'
        f"<style>{STYLE}</style></head><body><h1>dpumap: report of the lanes</h1>\n{page}"
        "</body></html>\n")


main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]))
