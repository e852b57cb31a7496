# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""dpumapd and dpumap while a plan injects faults ($DPUMAP_CHAOS_SECONDS): each command ends, with a status
that its manual has; a successful copy has the right bytes; afterwards copies work, and nothing is left."""

import hashlib
import os
import random
import subprocess

import pytest

from harness.agents import ABSENT, CANNOT, LOST, REFUSED

pytestmark = [pytest.mark.local, pytest.mark.usefixtures("nothing_left")]
CARD = ("--nodes", "2")
SECONDS = int(os.environ.get("DPUMAP_CHAOS_SECONDS", "6"))
SEED = int(os.environ.get("DPUMAP_CHAOS_SEED", "1"))
WAYS = {
    "pci": ("host", "kind=dm,size=64K"),
    "rdma": ("node1.host", "kind=dram,size=64K,via=rdma"),
}
# A device that has failed ends dpumapd, so there is none in the plan: test_endings.py has that.
PLAN = """\
duration {seconds}s
every 500ms..2s for 50ms..500ms:   port --as {{dpu|host|node1.host}}
every 1s..2s for 50ms..500ms:      gid --as {{dpu|node1.host}}
every 1s..3s for 50ms..1s:         partition --as node0 --peer node1
every 200ms..600ms for 20ms..200ms: queue {{--silent|--rnr|--delay 20}} --nth {{1..8}}
every 500ms..1s:                   completion --duplicate --nth {{1..20}}
every 300ms..1s for 100ms:         completion --delay {{1..50}} --count all
every 500ms..1500ms:               completion --syndrome {{RETRY_EXC_ERR|RNR_RETRY_EXC_ERR}} --nth {{1..20}}
every 1s..2s for 100ms..300ms:     memory --left 0
every 500ms..1500ms:               command --as {{host|node1.host}} --method *.create --nth {{1..8}} --errno {{ENOMEM|EIO}}
"""


class Chaos:
    """dpumap-emu chaos beside the test."""

    def __init__(self, emulator, work):
        plan = work / "chaos.plan"
        plan.write_text(PLAN.format(seconds=SECONDS), encoding="utf-8")
        words = [emulator.program, "chaos", "--plan", str(plan), "--seed", str(SEED)]
        self.log = work / "chaos.log"
        with open(self.log, "w", encoding="utf-8") as out:
            self.process = subprocess.Popen(words, env=emulator.environment, stdout=out)

    def lasts(self):
        return self.process.poll() is None

    def end(self):
        self.process.terminate()
        assert self.process.wait(60) == 0


@pytest.fixture
def chaos(emulator, work):
    made = []

    def begin():
        made.append(Chaos(emulator, work))
        return made[0]

    yield begin
    for one in made:
        one.end()


@pytest.mark.parametrize("way", WAYS)
def test_copies_end_with_the_right_bytes_or_an_error(serve, tool, emulator, files, chaos, way):
    function, words = WAYS[way]
    machine = emulator.machine(function)
    agent = serve("--export", f"name=far,{words}")
    dpumap = tool(agent, machine=machine)
    chance, statuses = random.Random(SEED), {}
    bad = chaos()
    while bad.lasts():
        sent = chance.randbytes(chance.randrange(1, 300000))
        machine.put({"sent": sent})
        done = machine.run(dpumap.words("cp", "sent", "far", f"{files}/got", "--timeout", "20"))
        statuses[done.status] = statuses.get(done.status, 0) + 1
        if done.status == 0:
            assert (files / "got").read_bytes() == sent, bad.log.read_text(encoding="utf-8")
            os.remove(files / "got")
        else:
            done.fails(LOST, ABSENT, REFUSED, CANNOT)
        assert not os.listdir(files), f"status {done.status} left a file: {done.err}"
        assert agent.daemon.status() is None, agent.log()
    print(f"{way}, seed {SEED}: how many copies ended with each status: {statuses}")
    machine.put({"sent": b"no fault" * 10000})
    dpumap("cp", "sent", "far", f"{files}/got").ok()
    assert hashlib.sha256((files / "got").read_bytes()).hexdigest() == machine.sha256("sent")
    os.remove(files / "got")
    agent.stop()
