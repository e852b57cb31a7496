# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Figures without limits."""

import re

import pytest

pytestmark = pytest.mark.usefixtures("nothing_left")


@pytest.mark.parametrize("kind", ["dm", "dram"])
def test_copies_by_the_host(agent, tool, profile, figure, kind):
    """Latency and bandwidth of reads and writes of the DPU's memory, by the host's engine."""
    dpumap = tool(agent(f"kind={kind},size={'32K' if kind == 'dm' else '1M'}").must_serve())
    count = "20000" if profile == "lab" else "200"
    sizes = [64, 4096, 32768] + ([1 << 20] if kind == "dram" else [])
    for size in sizes:
        words = ["--write", "--size", str(size), "--count", count]
        done = dpumap.json("bench", "e0", *words, timeout=1800)
        for line in done["results"]:
            what = {"kind": kind, "direction": line["direction"], "size": size}
            rate = line["megabytes_per_second"]
            figure("latency, median", line["median_ns"] / 1000, "us", **what)
            figure("latency, 99th percentile", line["p99_ns"] / 1000, "us", **what)
            figure("bandwidth", rate, "MB/s", **what)
            figure("operations", rate * 1e6 / size, "1/s", **what)


@pytest.mark.parametrize("copier, other", [("host", "dpu"), ("dpu", "host")])
def test_copies_by_either_side(machines, figure, copier, other):
    """The same of memory that the other machine exports, by a program that has the library in it."""
    machine = machines[copier]
    program = "$DPUMAP_HIL/tests/bench_copy"
    command = f"{program} --rounds 1 --far -- ./pair run --as {other} -- {program} --export"
    out = machine.run(command, timeout=1800).ok()
    title, found = "", 0
    for text in out.splitlines():
        if head := re.match(r"(\S.*), median \(min - max\)", text):
            title = head[1]
        row = re.match(r"  dpumap, (.*?)\s+([0-9.]+) +\(([0-9.]+) - ([0-9.]+)\) (\S+)$", text)
        if row and row[5] != "x":
            # The program takes itself for the host.
            way = row[1].replace("DPU", "exporter").replace("host", "copier")
            figure(way, float(row[2]), row[5], of=title, copier=copier, exporter=other)
            found += 1
    assert found, out
