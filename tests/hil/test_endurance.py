# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Exports are added and removed for a while; neither agent grows."""

import time

import pytest

from harness.agents import CANNOT

pytestmark = pytest.mark.usefixtures("nothing_left")
ROOM = 4 << 20  # bytes; what an allocator may keep


def has_device_memory(serving):
    """Whether the device exports any: BlueField-2 does not."""
    done = serving.add("guest", "kind=dm,size=16K")
    if done.status != CANNOT:
        done.ok()
        serving.ctl("remove", "guest").ok()
    return done.status != CANNOT


def test_exports_come_and_go(agent, tool, host, state, figure):
    serving = agent("kind=dram,size=256K").must_serve()
    dpumap = tool(serving)
    watch = dpumap.daemon("endurance", "watch")
    watch.await_output()
    host.run("head -c 262144 /dev/urandom >sent").ok()
    kinds = ("dm", "dram") if has_device_memory(serving) else ("dram", "dram")
    deadline = time.monotonic() + state["endurance"]
    turns, before = 0, None
    while turns < 4 or time.monotonic() < deadline:
        kind = kinds[turns % 2]
        serving.add("guest", f"kind={kind},size=16K").ok()
        host.run("rm -f got").ok()
        dpumap("write", "guest", "sent", "--length", "16K").ok()
        dpumap("cp", "sent", "e0", "got").ok()
        assert host.sha256("got") == host.sha256("sent")
        serving.ctl("remove", "guest").ok()
        turns += 1
        if turns == 2:  # everything was used once
            before = serving.daemon.memory(), watch.memory()
    after = serving.daemon.memory(), watch.memory()
    figure("endurance", turns, "turns", seconds=state["endurance"])
    for name, first, last in zip(("dpumapd", "dpumap watch"), before, after):
        figure("memory", last, "B", program=name, at_the_beginning=first)
        assert (
            last - first < ROOM
        ), f"{name} has grown from {first} to {last} bytes in {turns} turns"
    assert serving.daemon.status() is None and watch.status() is None
    watch.end("TERM")
