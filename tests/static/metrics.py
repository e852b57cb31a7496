# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: metrics.py TREE [RULES]

Print a line for each difference between the metrics in dpu/daemon/metrics.c and docs/metrics.md, and for each violation in
packaging/grafana/dpumapd.json: of the schema beside this file, a metric that the page does not list, panels that overlap, a
counter without a rate. Write the queries to RULES, as rules that promtool can check."""

import json
import pathlib
import re
import sys

import jsonschema

HERE = pathlib.Path(__file__).parent
ROW = re.compile(r"^\| `(dpumapd_\w+)` \| (gauge|counter) \| ([^|]+) \| ([^|]*)\| ([^|]+) \|$", re.M)
PUT = re.compile(r'put\(out, "(\w+)",\s*"(\w+)",\s*"([^"]*)"')
RAW = re.compile(r"# HELP (dpumapd_\w+) ([^\\]+)\\n# TYPE \w+ (\w+)\\n")
VARIABLES = {"$__rate_interval": "5m", "$instance": ".*"}


def metrics_of_source(text):
    """{name: (type, help)}"""
    text = re.sub(r'"\s*\n\s*"', "", text)
    found = {f"dpumapd_{name}": (kind, words) for name, kind, words in PUT.findall(text)}
    return found | {name: (kind, words) for name, words, kind in RAW.findall(text)}


def compare(source, rows):
    """The page has each metric once, with its type and its help. Names say the type and the unit."""
    page = {}
    for name, kind, unit, _, words in rows:
        if name in page:
            yield f"docs/metrics.md lists {name} twice"
        page[name] = (kind, words)
        if (kind == "counter") != name.endswith("_total"):
            yield f"{name} is a {kind}: only the names of counters end in _total"
        if (unit == "bytes") != ("_bytes" in name):
            yield f"{name} does not have the unit {unit} in its name, or is not in {unit}"
    for name in sorted(source.keys() | page.keys()):
        if source.get(name) != page.get(name):
            yield f"{name}: dpu/daemon/metrics.c has {source.get(name)}, docs/metrics.md has {page.get(name)}"


def overlap(a, b):
    return (
        a["x"] < b["x"] + b["w"] and b["x"] < a["x"] + a["w"] and a["y"] < b["y"] + b["h"] and b["y"] < a["y"] + a["h"]
    )


def check_layout(panels):
    for at, panel in enumerate(panels):
        place = panel["gridPos"]
        if place["x"] + place["w"] > 24:
            yield f"the panel {panel['title']} is too wide"
        for other in panels[:at]:
            if other["id"] == panel["id"] or overlap(other["gridPos"], place):
                yield f"the panels {other['title']} and {panel['title']} have the same id or overlap"


def check_query(query, title, page):
    names = set(re.findall(r"\bdpumapd_\w+", query))
    if not names:
        yield f"the panel {title} has a query without a metric: {query}"
    for name in sorted(names):
        if name not in page:
            yield f"the panel {title} uses {name}, which docs/metrics.md does not list"
        elif page[name] == "counter" and not re.search(rf"(rate|increase)\({name}\b", query):
            yield f"the panel {title} shows the counter {name} without a rate"


def queries_of(dashboard):
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"]


def check_dashboard(dashboard, page):
    schema = json.loads((HERE / "grafana.schema.json").read_text(encoding="utf-8"))
    wrong = list(jsonschema.Draft7Validator(schema).iter_errors(dashboard))
    for error in wrong:
        yield f"packaging/grafana/dpumapd.json: {'/'.join(map(str, error.absolute_path))}: {error.message}"
    if wrong:
        return
    yield from check_layout(dashboard["panels"])
    for title, query in queries_of(dashboard):
        yield from check_query(query, title, page)
    seen = " ".join(query for _, query in queries_of(dashboard))
    for name in sorted(page):
        if not re.search(rf"\b{name}\b", seen):
            yield f"no panel shows {name}"


def write_rules(path, dashboard):
    lines = ["groups:", "- name: dashboard", "  rules:"]
    for number, (_, query) in enumerate(queries_of(dashboard)):
        for name, value in VARIABLES.items():
            query = query.replace(name, value)
        lines += [f"  - record: panel:query{number}:value", f"    expr: {json.dumps(query)}"]
    pathlib.Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    tree = pathlib.Path(sys.argv[1])
    rows = ROW.findall((tree / "docs/metrics.md").read_text(encoding="utf-8"))
    source = metrics_of_source((tree / "dpu/daemon/metrics.c").read_text(encoding="utf-8"))
    dashboard = json.loads((tree / "packaging/grafana/dpumapd.json").read_text(encoding="utf-8"))
    for line in [*compare(source, rows), *check_dashboard(dashboard, {row[0]: row[1] for row in rows})]:
        print(line)
    if len(sys.argv) > 2:
        write_rules(sys.argv[2], dashboard)


main()
