# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""XRC over the wire: requests of one machine name shared receive queues of two processes of another one."""

import pathlib

import pytest

from harness.wired import Probe

pytestmark = pytest.mark.local
PROGRAM = pathlib.Path(__file__).with_name("xrc_probe.py")
SIZE = 5000


@pytest.fixture
def domain(wired, tmp_path):
    """An initiator, the process with the target, and another one with a shared receive queue in the same domain."""
    file = tmp_path / "domain"
    file.touch()
    ends = [Probe(wired.machine[name], PROGRAM) for name in ("a", "b", "b")]
    initiator, owner, other = ends
    queues = [end("srq", str(file)) for end in (owner, other)]
    here, there = initiator("queue_pair", "XRC_SEND"), owner("queue_pair", "XRC_RECV")
    initiator("connect", there)
    owner("connect", here)
    yield (*ends, *queues)
    for end in ends:
        end.close()


def test_own_receives_of_the_target(domain):
    initiator, owner, _, queue, _ = domain
    owner("receive", SIZE)
    assert initiator("post", "send", queue, SIZE) == "IBV_WC_SUCCESS"
    assert owner("arrived") == ["IBV_WC_SUCCESS", SIZE]
    assert owner("memory", SIZE) == initiator("memory", SIZE)


def test_memory_of_another_process(domain):
    initiator, _, other, _, queue = domain
    assert initiator("post", "write", queue, SIZE) == "IBV_WC_SUCCESS"
    assert other("memory", SIZE) == initiator("memory", SIZE)
    assert initiator("post", "read", queue, SIZE) == "IBV_WC_SUCCESS"


def test_receives_of_another_process_are_refused(domain):
    """Only the engine of that process can take them; see docs/emu/emulator.md."""
    initiator, _, other, _, queue = domain
    other("receive", SIZE)
    assert initiator("post", "send", queue, SIZE) == "IBV_WC_REM_INV_REQ_ERR"
