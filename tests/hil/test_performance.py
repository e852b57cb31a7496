# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Figures without limits."""

import re

import pytest

pytestmark = pytest.mark.usefixtures("nothing_left")
# The sizes that published.txt has, and others.
SIZES = {"dm": (64, 4096, 32768), "dram": (64, 1024, 4096, 16384, 65536, 1 << 20)}
WAYS = {"read": "DPU to host", "write": "host to DPU"}
NAMES = {"host": "host", "dpu": "DPU"}


@pytest.mark.question(58, 59)
@pytest.mark.parametrize("kind", ["dm", "dram"])
def test_copies_by_the_host(agent, tool, profile, figure, answer, kind):
    """Latency and bandwidth of reads and writes of the DPU's memory, by the host's engine."""
    dpumap = tool(agent(f"kind={kind},size={'32K' if kind == 'dm' else '1M'}").must_serve())
    count = "20000" if profile == "lab" else "200"
    for size in SIZES[kind]:
        words = ["--write", "--size", str(size), "--count", count]
        done = dpumap.json("bench", "e0", *words, timeout=1800)
        for line in done["results"]:
            what = {"way": WAYS[line["direction"]], "memory": kind, "by": "host", "size": size}
            latency, rate = line["median_ns"] / 1000, line["megabytes_per_second"] / 1000
            figure("latency, median", latency, "us", **what)
            figure("latency, 99th percentile", line["p99_ns"] / 1000, "us", **what)
            figure("bandwidth", rate, "GB/s", **what)
            figure("operations", rate * 1000 / size, "Mop/s", **what)
            if size == SIZES[kind][0]:
                answer(59, f"{kind}, {what['way']}: {latency:.2f} us", None)
            if size == SIZES[kind][-1]:
                answer(58, f"{kind}, {what['way']}, by the host: {rate:.3g} GB/s", None)


@pytest.mark.question(58)
@pytest.mark.parametrize("copier, other", [("host", "dpu"), ("dpu", "host")])
def test_copies_by_either_side(machines, figure, answer, copier, other):
    """The same of memory that the other machine exports, by a program that has the library in it."""
    machine = machines[copier]
    program = "$DPUMAP_HIL/tests/bench_copy"
    command = f"{program} --rounds 1 --far -- ./pair run --as {other} -- {program} --export"
    out = machine.run(command, timeout=1800).ok()
    # The program takes itself for the host, and what it copies from for the DPU.
    ways = {
        "DPU to host": f"{NAMES[other]} to {NAMES[copier]}",
        "host to DPU": f"{NAMES[copier]} to {NAMES[other]}",
    }
    names = {"GB/s": ("bandwidth", 1 << 20), "Mop/s": ("operations", 64)}
    found = 0
    for way, value, unit in re.findall(
        r"^  dpumap, (DPU to host|host to DPU) +([0-9.]+) +\(.*\) (GB/s|Mop/s)$", out, re.M
    ):
        name, size = names[unit]
        what = {"way": ways[way], "memory": "process", "by": NAMES[copier], "size": size}
        figure(name, float(value), unit, **what)
        if unit == "GB/s":
            answer(58, f"{what['way']}, by the {what['by']}: {value} GB/s", None)
        found += 1
    assert found == 4, out
