# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: bench-report.py FILE BENCHMARK...: the page has a chart, a table and a heading of each benchmark, is complete in
itself, runs nothing, and contains what was printed. The text below a chart explains what is in it, and nothing else."""

import html.parser
import pathlib
import sys

VOID = {"meta", "br", "hr", "img", "link"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.ids, self.references, self.charts, self.text = [], [], set(), [], {}
        self.legends, self.cells = [], []  # of each chart; of each table, row by row

    def handle_starttag(self, tag, attrs):
        assert tag not in {"script", "iframe", "object", "embed", "link", "img"}, f"the page has a <{tag}>"
        if tag not in VOID:
            self.open.append(tag)
        if tag == "figcaption":
            self.legends.append("")
        elif tag == "table":
            self.cells.append([])
        elif tag == "td":
            self.cells[-1].append("")
        for name, value in attrs:
            assert not name.startswith("on"), f"the page runs {name}"
            if name == "id":
                self.ids.append(value)
            elif name in {"href", "xlink:href", "src"}:
                assert value.startswith("#"), f"the page needs {value}"
                self.references.add(value[1:])
            elif "url(" in (value or ""):
                self.references.add(value.partition("url(#")[2].partition(")")[0])
        if tag == "svg":
            self.charts.append(dict(attrs)["aria-label"])

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if self.open:
            self.text[self.open[-1]] = self.text.get(self.open[-1], "") + data
        if self.open and self.open[-1] == "figcaption":
            self.legends[-1] += data
        elif self.open and self.open[-1] == "td":
            self.cells[-1][-1] += data


def check_legend(legend, cells):
    """cells: six for each ratio, of which the last two are the goal and whether it was reached."""
    goals, results, least, most = set(cells[4::6]), set(cells[5::6]), cells[2::6], cells[3::6]
    assert ("goal" in legend) == (goals != {""}), legend
    assert ("green" in legend) == ("reached" in results), legend
    assert ("red cross" in legend) == ("missed" in results), legend
    assert "range" in legend or least == most, legend


def main():
    page, benchmarks = Page(), sys.argv[2:]
    page.feed(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    assert page.charts == [f"ratios of {name}" for name in benchmarks], page.charts
    assert len(page.ids) == len(set(page.ids)), "two elements have the same id"
    assert page.references <= set(page.ids), page.references - set(page.ids)
    assert page.text["h2"] == "".join(benchmarks) + "What was printed", page.text["h2"]
    for legend, cells in zip(page.legends, page.cells, strict=True):
        check_legend(legend, cells)
    for name in benchmarks:
        assert f"== {name}" in page.text["pre"], "what was printed is incomplete"
    assert page.text["td"] and page.text["text"], "no numbers"


main()
