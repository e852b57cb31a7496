# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Access keys are not in what a core dump or another program of the same user can read."""

import re

import pytest

pytestmark = [pytest.mark.local, pytest.mark.usefixtures("nothing_left")]
LARGE = 1 << 30  # a sanitizer's
KEY = slice(48, 80)  # in the descriptor of an export over PCI (docs/wire-format.md)


def mappings(pid):
    """(first, end, whether core dumps leave it out) of each mapping that has pages."""
    with open(f"/proc/{pid}/smaps", encoding="utf-8") as file:
        text = file.read()
    for head, pages, flags in re.findall(
        r"^(\w+-\w+) .*\n(?:\w+:.*\n)*?Rss: +(\d+) kB\n(?:\w+:.*\n)*?VmFlags:(.*)$", text, re.M
    ):
        first, end = (int(part, 16) for part in head.split("-"))
        if pages != "0" and " rd" in flags and " io" not in flags and end - first < LARGE:
            yield first, end, " dd" in flags


def find(pid, secret):
    """How often the process has these bytes in memory that is dumped, and in memory that is not."""
    counts = {False: 0, True: 0}
    with open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for first, end, left_out in mappings(pid):
            data = b""
            while first < end:
                try:
                    memory.seek(first)
                    piece = memory.read(min(end - first, 1 << 20))
                except (OSError, ValueError, OverflowError):
                    break
                counts[left_out] += (data[-len(secret) + 1 :] + piece).count(secret)
                data = piece
                first += len(piece)
    return counts[False], counts[True]


@pytest.fixture
def exported(agent, tool, host):
    """dpumapd, dpumap, and the access key of "e0", which clients hold."""
    serving = agent("kind=dram,size=64K").must_serve()
    with open(f"/proc/{serving.daemon.pid}/comm", encoding="utf-8") as file:
        if file.read().startswith("qemu-"):
            pytest.skip("qemu does not tell the kernel what dumps leave out")
    dpumap = tool(serving)
    holding = dpumap.daemon("holding", "import", "e0", "--hold")
    holding.await_output("^imported .* held$")
    dpumap("get", "e0", "saved").ok()
    key = host.get("saved")[KEY]
    host.run(["rm", "saved"]).ok()
    yield serving, holding, key
    holding.end("INT")


def test_keys_are_left_out_of_dumps(exported):
    serving, holding, key = exported
    assert len(set(key)) > 8, "that is no key"
    found = {name: find(one.pid, key) for name, one in (("dpumapd", serving.daemon), ("dpumap", holding))}
    assert found["dpumapd"][1] > 0, f"dpumapd has no key that is left out of dumps: {found}"
    dumped = {name: counts[0] for name, counts in found.items()}
    assert not any(dumped.values()), f"the key is in memory that is dumped: {dumped}"
