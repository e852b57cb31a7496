# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Device memory: all of it can be exported, and an export beyond it is refused with the reason."""

import re

import pytest

from harness.agents import ABSENT, CANNOT, REFUSED

pytestmark = pytest.mark.usefixtures("nothing_left")


def facts(machine):
    """What hil_probe prints about the first device."""
    line = machine.run("hil_probe devices").ok().splitlines()[0]
    return dict(word.split("=", 1) for word in line.split() if "=" in word)


def exclusive(properties):
    return properties.getboolean("device", "exclusive", fallback=False)


@pytest.mark.question(12, 13)
def test_all_of_it(agent, tool, dpu, host, properties, answer, figure):
    """One export of the largest size: written and read to its last byte."""
    reported = int(facts(dpu)["dm_max"])
    answer(12, f"{reported} bytes", None)
    figure("device memory reported", reported, "B")
    serving = agent("kind=dm,size=max").must_serve()
    dpumap = tool(serving)
    size = next(export["size"] for export in dpumap.json("list")["exports"])
    host.run(f"head -c {size} /dev/urandom >sent; rm -f got").ok()
    dpumap("write", "e0", "sent").ok()
    dpumap("read", "e0", "got").ok()
    assert host.sha256("sent") == host.sha256("got")
    answer(13, f"{size} of {reported} bytes", size == reported)
    if exclusive(properties):
        assert size == reported


def test_an_export_is_refused_when_no_device_memory_is_left(agent, tool, properties):
    """Exports until one is refused with the reason; the others go on, and all memory is freed again."""
    if not exclusive(properties):
        pytest.skip("others use the device: the properties do not say exclusive = yes")
    serving = agent("kind=dm,size=16K").must_serve()
    count, refusal = 0, None
    while refusal is None and count < 4096:
        done = serving.add(f"x{count}", "kind=dm,size=16K")
        if done.status:
            refusal = done.fails(ABSENT, REFUSED, CANNOT)
        else:
            count += 1
    assert count > 0, refusal
    assert re.search(
        r"device memory|memory of the (card|device)|NO_MEMORY|No memory", refusal, re.I
    ), refusal
    tool(serving)("import", "e0").ok()
    for number in range(count):
        serving.ctl("remove", f"x{number}").ok()
    for number in range(count):
        serving.add(f"y{number}", "kind=dm,size=16K").ok()
    tool(serving)("import", f"y{count - 1}").ok()


@pytest.mark.question(22)
@pytest.mark.parametrize("name", ["dpu", "host"])
def test_pieces_of_device_memory_are_all_free_again(machines, properties, answer, name):
    """Pieces of every alignment until none is left; afterwards as much is free as before."""
    machine = machines[name]
    if facts(machine)["dm_max"] in ("0", "DOCA_ERROR_NOT_SUPPORTED"):
        pytest.skip(f"the {name}'s function has no device memory")
    if not exclusive(properties):
        pytest.skip("others use the device: the properties do not say exclusive = yes")
    lines = machine.run("hil_probe pieces").ok().splitlines()
    pieces = [
        dict(word.split("=") for word in line.split()[1:]) for line in lines if "pieces" in line
    ]
    assert pieces and all(int(piece["count"]) > 0 for piece in pieces), lines
    found = facts(machine)
    text = ", ".join(f"{piece['count']} of {piece['len']}" for piece in pieces)
    unit = f"unit {found['dm_granularity']}, largest alignment 2^{found['dm_max_log_align']}"
    answer(
        22,
        f"{name}: {unit}; {text}",
        all(piece["then"] == "DOCA_ERROR_NO_MEMORY" for piece in pieces),
    )
