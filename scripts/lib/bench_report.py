# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: bench_report.py DIR: write DIR/index.html and its plots from the ratios in DIR/results.tsv.

A line has the benchmark, the name of the ratio, its median, minimum and maximum, and the goal."""

import csv
import html
import os
import pathlib
import platform
import subprocess
import sys
import time

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot  # noqa: E402

STYLE = "body { font: 15px/1.45 sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em }"
GOOD, BAD, NEUTRAL = "#1b6e20", "#b00020", "#1f4e79"


def reached(median, goal):
    """Whether the median reaches a goal, "at most N" or "at least N"; None: there is no goal."""
    words = goal.split()
    if not words:
        return None
    limit = float(words[-1])
    return median <= limit if words[1] == "most" else median >= limit


def plot(path, rows):
    """A row is the name, median, minimum, maximum and goal of a ratio; the limit is 1."""
    figure, axes = pyplot.subplots(figsize=(11, 0.6 + 0.34 * len(rows)))
    for at, (_, median, least, most, goal) in enumerate(rows):
        color = {True: GOOD, False: BAD, None: NEUTRAL}[reached(median, goal)]
        axes.plot([least, most], [at, at], color=color, linewidth=1.5, alpha=0.5)
        axes.plot([median], [at], "o", color=color, markersize=5)
        if goal:
            axes.plot([float(goal.split()[-1])], [at], "|", color="black", markersize=12)
        axes.annotate(f"{median:.2f}", (median, at), (0, 5), textcoords="offset points", ha="center", size=8)
    axes.axvline(1, color="#999", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yticks(range(len(rows)), [name for name, *_ in rows])
    axes.set_ylim(len(rows) - 0.4, -0.7)
    axes.xaxis.set_major_formatter(matplotlib.ticker.FormatStrFormatter("%g"))
    axes.xaxis.set_minor_formatter(matplotlib.ticker.NullFormatter())
    figure.savefig(path, bbox_inches="tight")
    pyplot.close(figure)


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    tree = pathlib.Path(__file__).parents[2]
    commit = subprocess.run(["git", "-C", tree, "describe", "--always", "--dirty"], capture_output=True, text=True,
                            check=False).stdout.strip()
    return (f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} processors ({names[0] if names else platform.machine()}), "
            f"Linux {platform.release()}, load {os.getloadavg()[1]:.1f} in the last five minutes, dpumap {commit}")


def main():
    out = pathlib.Path(sys.argv[1])
    results = {}
    with open(out / "results.tsv", encoding="utf-8") as file:
        for bench, name, median, least, most, goal in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            results.setdefault(bench, []).append((name, float(median), float(least), float(most), goal))
    body = []
    for bench, rows in results.items():
        plot(out / f"{bench}.svg", rows)
        missed = [f"{name} ({median:.2f}, goal {goal})" for name, median, _, _, goal in rows
                  if reached(median, goal) is False]
        body.append(f'<h2>{html.escape(bench)}</h2><img src="{bench}.svg" alt="ratios of {html.escape(bench)}">')
        if missed:
            body.append("<p>Goals not reached: " + html.escape("; ".join(missed)) + ".</p>")
    (out / "index.html").write_text(
        f'<!DOCTYPE html><meta charset="utf-8"><title>dpumap: speed</title><style>{STYLE}</style>'
        f"<h1>dpumap: speed</h1><p>{html.escape(machine())}.</p>"
        "<p>Each point is the median of a ratio, the line its range, the mark its goal: green if the median reaches "
        'the goal, red if not. What was printed: <a href="log.txt">log.txt</a>.</p>' + "".join(body) + "\n",
        encoding="utf-8")


main()
