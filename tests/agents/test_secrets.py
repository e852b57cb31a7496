# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Access keys are not in what a core dump, a log or another program of the same user can read."""

import base64
import os
import re

import pytest

from harness.agents import runs_in_qemu
from harness.dumps import find
from harness.machine import LocalMachine, await_true, quote

pytestmark = [pytest.mark.local, pytest.mark.usefixtures("nothing_left")]
CAP_SYS_PTRACE = 19
KEY = slice(48, 80)  # in the descriptor of an export over PCI (docs/wire-format.md)


def privileged():
    """Whether the emulator can reach programs that cannot be dumped."""
    with open("/proc/self/status", encoding="utf-8") as file:
        return int(re.search(r"^CapEff:\s*(\w+)", file.read(), re.M)[1], 16) >> CAP_SYS_PTRACE & 1


# The words that run a command as this user without privileges.
PLAIN = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.getuid() == 0 else []
# An export is written through an emulated card; prints the limit of core dumps of dpumapd.
SCRIPT = """
dpumap-emu start && trap 'dpumap-emu stop' EXIT
dpumap-emu run --as dpu -- dpumapd --listen "$PWD/socket" --export name=e0,kind=dram,size=64K >ready &
while [ ! -s ready ]; do kill -0 $! || exit; sleep 0.02; done
head -c 64K /dev/zero | dpumap-emu run --as host -- dpumap write e0 --connect "$PWD/socket" >&2 &&
grep 'Max core file size' /proc/$!/limits
kill $!; wait $!
"""


@pytest.fixture
def exported(agent, tool, host):
    """dpumapd, dpumap, and the access key of "e0", which clients hold."""
    serving = agent("kind=dram,size=64K").must_serve()
    if runs_in_qemu(serving.daemon):
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


def test_emulator_leaves_keys_out_of_dumps(exported, emulator):
    _, _, key = exported
    dumped, left_out = find(emulator.pid(), key)
    assert left_out > 0, "the emulator has no key that is left out of dumps"
    assert not dumped, f"the key is in {dumped} places that are dumped"


def test_keys_are_not_logged(serve, tool, host):
    """Nor do the programs print them in another way; both log all that they can."""
    everything = {"DPUMAP_LOG_LEVEL": "debug"}
    serving = serve("--export", "name=e0,kind=dram,size=64K", env=everything)
    dpumap = tool(serving)
    done = [dpumap(*words, env=everything) for words in (["get", "e0", "saved"], ["info", "e0"], ["import", "e0"])]
    key = host.get("saved")[KEY]
    host.run(["rm", "saved"]).ok()
    serving.stop()
    said = "".join([serving.log(), *(one.ok() + one.err for one in done)])
    assert "CREATE_MKEY succeeded" in said, "the programs do not log what they do"
    digits = re.sub(r"0x|[^0-9a-f]", "", said.lower())
    for i in range(0, len(key) - 8, 4):
        part = key[i : i + 8]
        assert part.hex() not in digits and part[::-1].hex() not in digits


def private_number(pem):
    """The number of an elliptic curve's private key, as it is encoded."""
    der = base64.b64decode(b"".join(pem.splitlines()[1:-1]))
    start = der.index(b"\x02\x01\x01\x04\x20") + 5
    return der[start : start + 32]


def test_private_keys_are_left_out_of_dumps(exported, host, dpu):
    serving, holding, _ = exported
    for machine, name, program in ((dpu, "dpu", serving.daemon), (host, "host", holding)):
        number = private_number(machine.get(f"pki/{name}.key"))
        for order, secret in (("encoded", number), ("in the processor's order", number[::-1])):
            dumped, _ = find(program.pid, secret)
            assert not dumped, f"{program.name} has the key {order} in memory that is dumped"


def test_daemon_cannot_be_dumped(serve, here):
    """Also without "user": another program of the same user does not read its memory."""
    if not privileged():
        pytest.skip("without CAP_SYS_PTRACE the emulator needs a program that can be dumped")
    prefix = f"exec {quote(PLAIN)} "
    serving = serve("--export", "name=e0,kind=dram,size=64K", prefix=prefix)
    other = here.daemon("other", [*PLAIN, "sleep", "600"])
    plain = LocalMachine("plain", here.dir, here.environment, PLAIN)
    can_read = await_true(lambda: plain.run(["cat", f"/proc/{other.pid}/environ"]).data)
    other.end()
    assert can_read, "the test can read no program"
    plain.run(["cat", f"/proc/{serving.daemon.pid}/environ"]).fails(1)


def test_emulator_without_privileges_limits_dumps(here):
    """It must reach the memory of dpumapd, so there the size of core dumps is 0 instead."""
    plain = LocalMachine("plain", here.dir, here.environment, PLAIN)
    assert plain.run(SCRIPT).ok().split()[4:6] == ["0", "0"]
