# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Exports that end during copies, in order or not; restarts; the cable."""

import pytest

from harness.agents import ABSENT, LOST, REFUSED, start_copies
from harness.machine import await_true

pytestmark = pytest.mark.usefixtures("nothing_left")


@pytest.mark.question(5, 6)
def test_stop_during_copies(agent, tool, answer):
    """dpumapd ends with status 0 after SIGTERM, and the copies end with an error."""
    serving = agent("kind=dram,size=1M").must_serve()
    copies = start_copies(serving, tool(serving))
    status = serving.daemon.end("TERM")
    answer(5, f"dpumapd ends with {status}", status == 0)
    ended = copies.end("0")
    answer(6, f"the copier ends with {ended}: {copies.log().strip()}", ended in (REFUSED, LOST))
    assert status == 0, serving.daemon.log()
    assert ended in (REFUSED, LOST), copies.log()
    assert copies.log().strip()


@pytest.mark.question(17)
def test_kill_during_copies(agent, tool, answer):
    """The copies end with an error after kill -9 of dpumapd; another dpumapd serves."""
    serving = agent("kind=dram,size=64K").must_serve()
    copies = start_copies(serving, tool(serving))
    serving.daemon.end("KILL")
    ended = copies.end("0")
    answer(17, f"the copier ends with {ended}: {copies.log().strip()}", ended in (REFUSED, LOST))
    assert ended in (REFUSED, LOST), copies.log()
    assert copies.log().strip()
    again = agent("kind=dram,size=16K").must_serve()
    tool(again)("import", "e0").ok()


def test_kill_of_the_copier(agent, tool):
    """dpumapd serves the next client after kill -9 of the first."""
    serving = agent("kind=dram,size=1M").must_serve()
    copies = start_copies(serving, tool(serving))
    assert copies.end("KILL") == 137
    assert serving.daemon.status() is None
    tool(serving)("import", "e0").ok()


@pytest.mark.parametrize("how", ["remove", "reload"])
def test_a_revoked_export_ends_its_holder(agent, tool, host, how):
    """The holder of a removed export ends, its saved descriptor is refused, other exports stay."""
    serving = agent("kind=dram,size=4K", "kind=dram,size=4K").must_serve()
    dpumap = tool(serving)
    host.remove("e0.desc")
    if how == "remove":
        serving.add("x", "kind=dram,size=4K").ok()
        name = "x"
    else:
        name = "e0"
    holder = dpumap.daemon("holder", "import", name, "--hold")
    holder.await_output()
    dpumap("get", name, "e0.desc").ok()
    if how == "remove":
        serving.ctl("remove", name).ok()
    else:
        del serving.exports[name]
        serving.write()
        serving.ctl("reload").ok()
    assert holder.end("0") == REFUSED, holder.log()
    host.run(["dpumap", "import", "--descriptor", "e0.desc"]).fails(REFUSED)
    dpumap("import", "e1").ok()


@pytest.mark.question(7)
def test_old_import_stays_dead(agent, tool, host, answer):
    """Old descriptors are refused, also when the numbers of their mkeys are used again."""
    serving = agent().must_serve()
    dpumap = tool(serving)
    seen, returned = {}, 0
    for turn in range(24):
        serving.ask(f"add {serving.new_export('x', 'kind=dram,size=4K')}")
        dpumap("get", "x", "new.desc").ok()
        descriptor = host.get("new.desc")
        index = descriptor[20:24]
        returned += index[1:] in seen
        seen[index[1:]] = turn
        if turn:
            host.run(["dpumap", "import", "--descriptor", "old.desc"]).fails(REFUSED)
        serving.ask("remove x")
        if returned > 1:
            break
        host.put({"old.desc": descriptor})
    answer(7, f"{len(seen)} mkey numbers, {returned} returned; no old descriptor was good", True)


def test_restart_of_the_dpu(agent, tool):
    """watch reports "lost" and "back" when dpumapd restarts at the same port."""
    serving = agent("kind=dram,size=4K").must_serve()
    watch = tool(serving).daemon("watch", "watch")
    watch.await_output()
    assert serving.daemon.end("TERM") == 0
    again = agent("kind=dram,size=4K", port=serving.port).must_serve()
    assert await_true(lambda: "back" in watch.out()), watch.out() + watch.log()
    tool(again)("import", "e0").ok()
    watch.end("TERM")


@pytest.mark.pair
def test_a_pulled_cable_times_requests_out(agent, tool, machines, properties):
    """A request times out while the channel's cable is pulled; all works when it is plugged in."""
    if not properties.has_section("cable"):
        pytest.skip("the properties name no cable that may be pulled")
    machine = machines[properties["cable"]["side"]]
    serving = agent("kind=dram,size=4K").must_serve()
    dpumap = tool(serving)
    dpumap("import", "e0").ok()
    machine.put({"undo": properties["cable"]["plug"] + "\n"})
    machine.run(properties["cable"]["pull"]).ok()
    try:
        dpumap("list", "--timeout", "2").fails(LOST, ABSENT)
    finally:
        machine.run(properties["cable"]["plug"]).ok()
        machine.remove("undo")
    assert await_true(
        lambda: dpumap("list", "--timeout", "5").status == 0
    ), "no connection after the cable was plugged in"
    dpumap("import", "e0").ok()
