# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: bench_report.py RESULTS LOG FILE

Write FILE, a page that needs no other file, no network and no JavaScript: a chart and a table of the ratios of each
benchmark in RESULTS, and the text of LOG. A line of RESULTS has the benchmark, the name of the ratio, its median,
minimum and maximum, and the goal."""

import csv
import html
import io
import os
import pathlib
import platform
import re
import subprocess
import sys
import time

import matplotlib

matplotlib.use("svg")
# Text stays text, and two runs with equal ratios are equal.
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "dpumap"})
from matplotlib import pyplot  # noqa: E402

STYLE = """body { font: 15px/1.45 sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em }
svg { max-width: 100%; height: auto } figure { margin: 0 } table { border-collapse: collapse } pre { overflow: auto; font-size: 12px }
td, th { padding: 0 0.8em; text-align: right; border-bottom: 1px solid #ddd }
td:first-child, th:first-child { text-align: left; padding-left: 0 }"""
GOOD, BAD, NEUTRAL = "#1b6e20", "#b00020", "#1f4e79"
WORDS = {True: "reached", False: "missed", None: ""}


def reached(median, goal):
    """Whether the median reaches a goal, "at most N" or "at least N"; None: there is no goal."""
    words = goal.split()
    if not words:
        return None
    limit = float(words[-1])
    return median <= limit if words[1] == "most" else median >= limit


def draw(axes, rows):
    for at, (_, median, least, most, goal) in enumerate(rows):
        color = {True: GOOD, False: BAD, None: NEUTRAL}[reached(median, goal)]
        axes.plot([least, most], [at, at], color=color, linewidth=1.5, alpha=0.5)
        axes.plot([median], [at], "X" if reached(median, goal) is False else "o", color=color, markersize=6)
        if goal:
            axes.plot([float(goal.split()[-1])], [at], "|", color="black", markersize=12)
        axes.annotate(f"{median:.2f}", (median, at), (0, 5), textcoords="offset points", ha="center", size=8)
    axes.axvline(1, color="#999", linewidth=0.8)
    if all(least > 0 for _, _, least, _, _ in rows):
        axes.set_xscale("log")
        axes.xaxis.set_minor_formatter(matplotlib.ticker.NullFormatter())
    axes.set_yticks(range(len(rows)), [name.replace("$", r"\$") for name, *_ in rows])
    axes.set_ylim(len(rows) - 0.4, -0.7)
    axes.xaxis.set_major_formatter(matplotlib.ticker.FormatStrFormatter("%g"))


def chart(bench, rows):
    """An <svg>, whose names are not those of another chart of the page."""
    figure, axes = pyplot.subplots(figsize=(11, 0.6 + 0.34 * len(rows)))
    draw(axes, rows)
    out = io.StringIO()
    figure.savefig(out, bbox_inches="tight", metadata={"Date": None, "Creator": None})
    pyplot.close(figure)
    text = out.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg"):], flags=re.S)
    text = re.sub(r'\bid="|url\(#|href="#', lambda match: f"{match[0]}{html.escape(bench)}-", text)
    return text.replace("<svg", f'<svg role="img" aria-label="ratios of {html.escape(bench)}"', 1)


def legend(rows):
    """What the chart of these rows shows, and nothing else."""
    results = {reached(median, goal) for _, median, _, _, goal in rows}
    words = "Each point is the median of a ratio"
    if any(least < most for _, _, least, most, _ in rows):
        words += ", the line through it its range"
    words += ". The line at 1 is the reference itself."
    if results != {None}:
        words += " The black mark is the goal" + (" of a ratio that has one." if None in results else ".")
    if True in results:
        words += " A green point reaches its goal."
    if False in results:
        words += " A red cross misses its goal."
    return words


def table(rows):
    lines = []
    for name, median, least, most, goal in rows:
        cells = (name, f"{median:.2f}", f"{least:.2f}", f"{most:.2f}", goal, WORDS[reached(median, goal)])
        lines.append("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>")
    head = "".join(f"<th>{word}</th>" for word in ("ratio", "median", "least", "most", "goal", ""))
    return f"<table><tr>{head}</tr>{''.join(lines)}</table>"


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    tree = pathlib.Path(__file__).parents[2]
    commit = subprocess.run(["git", "-C", tree, "describe", "--always", "--dirty"], capture_output=True, text=True,
                            check=False).stdout.strip()
    return (f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} processors ({names[0] if names else platform.machine()}), "
            f"Linux {platform.release()}, load {os.getloadavg()[1]:.1f} in the last five minutes, dpumap {commit}")


def read(path):
    results = {}
    with open(path, encoding="utf-8") as file:
        for bench, name, median, least, most, goal in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            results.setdefault(bench, []).append((name, float(median), float(least), float(most), goal))
    return results


def page(results, log):
    body = [
        f"<h2>{html.escape(bench)}</h2><figure>{chart(bench, rows)}<figcaption>{legend(rows)}</figcaption></figure>"
        f"{table(rows)}"
        for bench, rows in results.items()
    ]
    return (
        f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>dpumap: speed</title><style>{STYLE}</style>'
        f"<h1>dpumap: speed</h1><p>{html.escape(machine())}.</p>"
        + ("".join(body) or "<p>These benchmarks print no ratios.</p>")
        + f"<h2>What was printed</h2><pre>{html.escape(log)}</pre></html>\n"
    )


def main():
    results, log, path = sys.argv[1:]
    text = page(read(results), pathlib.Path(log).read_text(encoding="utf-8", errors="replace"))
    part = pathlib.Path(f"{path}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


if __name__ == "__main__":
    main()
