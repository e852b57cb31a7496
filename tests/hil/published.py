#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Published figures of BlueField cards, from published.txt beside this file.

usage: published.py [--write] [TREE]
       published.py --beside FIGURES.json

The first form fails where docs/performance-bluefield.md has other figures than published.txt, or writes them.
The second prints what a run of scripts/hil measured (its figures.json) beside them."""

import collections
import json
import pathlib
import re
import sys

sys.dont_write_bytecode = True  # a file in the tree would get into the source package
from report import table  # noqa: E402

DOCUMENT = "docs/performance-bluefield.md"
BEGIN = "<!-- from tests/hil/published.txt -->\n"
END = "<!-- end of tests/hil/published.txt -->\n"
CARDS = ("BlueField-2", "BlueField-3")
HEAD = ("path", "size", "measured here", *(word for card in CARDS for word in (card, "ratio")))
SMALL = 1024  # bytes; smaller copies and those of this size are compared by their number

Figure = collections.namedtuple("Figure", "what size card is_limit value unit sources remark")
VALUE = re.compile(r"(at most )?([0-9.]+) (GB/s|Mop/s|s)")


def load(path):
    """Return {number of the source: its text} and the figures."""
    sources, figures, section = {}, [], ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        cells = [cell.strip() for cell in line.split("|")]
        if re.fullmatch(r"\[(sources|figures)\]", line):
            section = line
        elif section == "[sources]" and len(cells) == 2 and cells[0].isdigit():
            sources[int(cells[0])] = cells[1]
        elif section == "[figures]" and len(cells) == 6 and (match := VALUE.fullmatch(cells[3])):
            what, size, card, _, numbers, remark = cells
            numbers = tuple(map(int, numbers.split(",")))
            figures.append(Figure(what, int(size) if size.isdigit() else size, card, bool(match[1]),
                                  float(match[2]), match[3], numbers, remark))
            if card not in CARDS or not sources.keys() >= set(numbers):
                sys.exit(f"{path}:{number}: an unknown card or source")
        else:
            sys.exit(f"{path}:{number}: not a source or a figure as its first lines describe")
    return sources, figures


def size_text(size):
    if not isinstance(size, int):
        return size
    for unit, bytes_of in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size % bytes_of == 0:
            return f"{size // bytes_of} {unit}"
    return f"{size} B"


def aligned(head, rows):
    """A table for a terminal."""
    widths = [max(map(len, column)) for column in zip(head, *rows)]
    head, *rows = [list(map(str.ljust, row, widths)) for row in (head, *rows)]
    return table(head, rows)


def rate_text(figure):
    """The figure as published and, of copies, as a bandwidth."""
    text = f"{'at most ' if figure.is_limit else ''}{figure.value:g} {figure.unit}"
    if figure.unit == "Mop/s" and figure.size > SMALL:
        text += f", {figure.value * figure.size / 1000:.1f} GB/s"
    return text


def document(sources, figures):
    rows = [[f.what, size_text(f.size), f.card, rate_text(f), ", ".join(f"[{n}]" for n in f.sources), f.remark]
            for f in figures]
    head = ["what", "size", "card", "published", "sources", "remark"]
    text = table(head, rows) + "\n\nSources:\n\n"
    return text + table(["", "source"], [[f"[{n}]", source] for n, source in sources.items()]) + "\n"


def find(figures, line, card):
    """What is published of a measurement: a figure of the same copies, else a limit; and that in its unit."""
    same = [f for f in figures if (f.what, f.card) == (line["way"], card)]
    for f in same:
        # A published copy is between main memories.
        if f.size == line["size"] and f.unit == "Mop/s" and line["memory"] != "dm":
            if line["unit"] == "Mop/s":
                return f, f.value
            if line["unit"] == "GB/s":
                return f, f.value * f.size / 1000
    return next(((f, f.value) for f in same if f.size == "any" and f.unit == line["unit"]), (None, 0))


def is_compared(line):
    """Of each copy its latency, and either how many or how many bytes are copied in a second."""
    if "way" not in line:
        return False
    return line["name"] in ("latency, median", "operations" if line["size"] <= SMALL else "bandwidth")


def path_text(line):
    what = "latency" if line["unit"] == "us" else "rate"
    return f"{line['memory']}, {line['way']}, copied by the {line['by']}: {what}"


def beside(sources, figures, measured):
    """A table of what was measured, each beside what is published, and the sources; "" if there is nothing."""
    rows, used = [], set()
    for path, line in sorted([(path_text(line), line) for line in measured if is_compared(line)],
                             key=lambda pair: (pair[0], pair[1]["size"])):
        row = [path, size_text(line["size"]), f"{line['value']:.3g} {line['unit']}"]
        for card in CARDS:
            figure, value = find(figures, line, card)
            if not figure:
                row += ["-", "-"]
                continue
            numbers = "".join(f"[{n}]" for n in figure.sources)
            limit = "at most " if figure.is_limit else ""
            row += [f"{limit}{value:.3g} {line['unit']} {numbers}", f"{line['value'] / value:.2f}"]
            used.update(figure.sources)
        rows.append(row)
    lines = [f"[{number}] {sources[number]}" for number in sorted(used)]
    return "\n\n".join([aligned(HEAD, rows), *lines]) if rows else ""


def main():
    words = sys.argv[1:]
    here = pathlib.Path(__file__).resolve().parent
    if words[:1] == ["--beside"] and len(words) == 2:
        measured = json.loads(pathlib.Path(words[1]).read_text(encoding="utf-8"))
        print(beside(*load(here / "published.txt"), measured) or f"{words[1]} has no measured copies")
        return
    trees = [word for word in words if word != "--write"]
    if len(trees) > 1 or any(word.startswith("-") for word in trees):
        sys.exit(__doc__)
    tree = pathlib.Path(trees[0]) if trees else here.parents[1]
    page = tree / DOCUMENT
    text = page.read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        sys.exit(f"{DOCUMENT} must have one line {BEGIN.strip()} and one line {END.strip()}")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    made = before + BEGIN + document(*load(tree / "tests/hil/published.txt")) + END + after
    if "--write" in words:
        page.write_text(made, encoding="utf-8")
    elif made != text:
        sys.exit(f"{DOCUMENT} has other figures than tests/hil/published.txt; run tests/hil/published.py --write")


if __name__ == "__main__":
    main()
