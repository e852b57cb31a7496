# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""First of all: a file is copied."""

import pytest

pytestmark = pytest.mark.usefixtures("nothing_left")


def test_both_sides_see_one_card(agent, tool):
    """An export of the DPU is imported by the host."""
    serving = agent("kind=dram,size=64K").must_serve()
    dpumap = tool(serving)
    names = [export["name"] for export in dpumap.json("list")["exports"]]
    assert names == ["e0"]
    dpumap("import", "e0").ok()


@pytest.mark.parametrize("kind", ["dram", "dm"])
def test_a_file_crosses(agent, tool, host, kind):
    """There and back, in windows of the export; the host compares the digests."""
    dpumap = tool(agent(f"kind={kind},size=16K").must_serve())
    host.run("head -c 300001 /dev/urandom >sent").ok()
    dpumap("cp", "sent", "e0", "got").ok()
    assert host.sha256("sent") == host.sha256("got")
