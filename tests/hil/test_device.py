# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What a device does below the library and, last of all, when it is reset."""

import errno

import pytest

from harness.agents import LOST, REFUSED, start_copies

pytestmark = pytest.mark.usefixtures("nothing_left")


@pytest.mark.question(9)
def test_alias_in_another_protection_domain(agent, tool, host, answer):
    """The key of an import on a queue pair of another protection domain: refused."""
    dpumap = tool(agent("kind=dram,size=4K").must_serve())
    host.run("rm -f e0.desc").ok()
    holder = dpumap.daemon("holder", "import", "e0", "--hold")
    holder.await_output()
    dpumap("get", "e0", "e0.desc").ok()
    words = host.run(["hil_verbs", "foreign", "e0.desc"]).ok().split()
    seen = dict(word.split("=") for word in words if "=" in word)
    answer(
        9,
        f"completion status {seen['remote']} remote, {seen['local']} local",
        "0" not in seen.values(),
    )
    assert "0" not in seen.values()
    holder.end("TERM")


@pytest.mark.question(19, 20, 45)
@pytest.mark.parametrize("name", ["dpu", "host"])
def test_below_the_library(machines, answer, name):
    """What libmlx5 reads of completion queues, how the kernel reports a refusal, a new queue pair's port."""
    lines = machines[name].run(["hil_verbs", "device"]).ok().splitlines()
    found = {line.split(" ", 1)[0]: line.split(" ", 1)[1] for line in lines}
    answer(19, f"{name}: {found['cqe']}", None)
    answer(20, f"{name}: {found['refusal']}", f"errno={errno.EREMOTEIO} " in found["refusal"])
    answer(45, f"{name}: {found['reset']}", found["reset"] == "port=1")


@pytest.mark.question(18)
def test_queue_without_a_link(machines, properties, answer):
    """A queue pair that is connected to itself where the port is down."""
    if not properties.has_section("port"):
        pytest.skip("the properties name no port that may be taken down")
    machine = machines[properties["port"]["side"]]
    machine.put({"undo": properties["port"]["up"] + "\n"})
    machine.run(properties["port"]["down"]).ok()
    try:
        lines = machine.run("hil_verbs device; hil_probe devices").ok().splitlines()
    finally:
        machine.run(properties["port"]["up"]).ok()
        machine.run("rm -f undo").ok()
    seen = "; ".join(line for line in lines if line.startswith(("port", "queue")))
    answer(18, seen, None)


@pytest.mark.question(8, 35)
def test_reset_during_copies(agent, tool, machines, properties, answer):
    """The copies end with an error when the exporter's function is reset; all works again then."""
    command = properties.get("device", "reset", fallback="")
    if not command:
        pytest.skip("the properties name no command by which the device may be reset")
    serving = agent("kind=dram,size=1M").must_serve()
    copies = start_copies(serving, tool(serving))
    machines[properties["device"]["reset_side"]].run(command).ok()
    ended = copies.end("0")
    status = serving.daemon.end("TERM")
    failure = [line for line in serving.log().splitlines() if "failed or was removed" in line]
    answer(35, f"dpumapd ends with {status}: {failure or 'without a line'}", status == 1 and bool(failure))
    answer(8, f"the copier ends with {ended}: {copies.log().strip()}", ended in (REFUSED, LOST))
    assert ended in (REFUSED, LOST), copies.log()
    tool(agent("kind=dram,size=4K").must_serve())("import", "e0").ok()
