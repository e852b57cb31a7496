# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The hardware counters of a port count what happens on the network. Packets that the peer would send after a loss
are made here by hand, and come from the peer's address."""

import os
import shutil
import signal

import pytest

from harness.forger import SEND_ONLY, Forger
from harness.machine import await_true
from harness.wired import connect

pytestmark = pytest.mark.local
PSN = 0xfffffe
NAK_SEQUENCE = 0x60
PORT = "/sys/class/infiniband/mlx5_0/ports/1"
DIRECTORY = f"{PORT}/hw_counters"
NAMES = "out_of_sequence duplicate_request packet_seq_err implied_nak_seq_err rnr_nak_retry_err local_ack_timeout_err"
NAMES += " req_transport_retries_exceeded req_rnr_retries_exceeded out_of_buffer rx_icrc_encapsulated"
NAMES += " np_ecn_marked_roce_packets np_cnp_sent rp_cnp_handled"
CONGESTED = 3


class Counters:
    """How much the counters of a machine's port have grown."""

    def __init__(self, machine):
        self.machine = machine
        self.before = self.read()

    def read(self):
        values = self.machine.run(["cat", *(f"{DIRECTORY}/{name}" for name in NAMES.split())]).ok()
        return dict(zip(NAMES.split(), map(int, values.split())))

    def grown(self):
        return {name: n - self.before[name] for name, n in self.read().items()}

    def become(self, **wanted):
        """These counters grow by as much."""

        def are_there():
            grown = self.grown()
            return all(grown[name] == n for name, n in wanted.items())

        assert await_true(are_there), (self.grown(), wanted)

    def sent(self):
        return int(self.machine.run(["cat", f"{PORT}/counters/port_xmit_packets"]).ok())


@pytest.fixture
def timeout():
    """Of the queue pairs: no timer repeats a request while this machine is busy."""
    return 0


@pytest.fixture
def pair(wired, ends, timeout):
    near, far = ends
    here, there = near("open", 1, {"timeout": timeout}), far("open", 1, {"timeout": timeout})
    near("connect", there)
    far("connect", here)
    near("fill", 1)
    near("post", 0, "write", 100)
    near.succeeds()
    forger = Forger(wired.address["b"], wired.address["a"], here["qpn"][0])
    yield near, far, forger, Counters(wired.machine["a"]), Counters(wired.machine["b"])
    forger.close()


def is_stopped(pid):
    """All of its threads: one that runs on another processor stops a little later than the others."""
    states = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/stat", encoding="ascii") as file:
            states.append(file.read().rpartition(")")[2].split()[0])
    return set(states) == {"T"}


@pytest.fixture
def silent(pair):
    """The peer answers no more, and the forger does in its place."""
    os.kill(pair[1].pid, signal.SIGSTOP)
    assert await_true(lambda: is_stopped(pair[1].pid))
    yield pair
    os.kill(pair[1].pid, signal.SIGCONT)


def post(near, counters, works):
    """Requests of a packet each, which have left then: an answer to one that has not is dropped as stale."""
    before = counters.sent()
    for work, size in works:
        near("post", 0, work, size)
    assert await_true(lambda: counters.sent() >= before + len(works))


def test_requests_after_a_gap(pair):
    *_, forger, counters, _ = pair
    forger.send(SEND_ONLY, PSN + 3)
    forger.send(SEND_ONLY, PSN + 4)
    counters.become(out_of_sequence=2, duplicate_request=0)


def test_requests_that_come_again(pair):
    *_, forger, counters, _ = pair
    forger.send(SEND_ONLY, PSN - 1)
    forger.send(SEND_ONLY, PSN - 1)
    counters.become(duplicate_request=2, out_of_sequence=0)


def test_negative_acknowledgement_of_a_gap(silent):
    near, _, forger, counters, _ = silent
    post(near, counters, [("write", 100)])
    forger.acknowledge(PSN + 1, NAK_SEQUENCE)
    counters.become(packet_seq_err=1)
    forger.acknowledge(PSN + 1)
    near.succeeds()


def test_acknowledgement_behind_a_lost_answer(silent):
    near, _, forger, counters, _ = silent
    post(near, counters, [("read", 8), ("write", 8)])
    forger.acknowledge(PSN + 2)
    counters.become(implied_nak_seq_err=1)


@pytest.mark.parametrize("timeout", [14])
def test_timeouts_are_counted(silent):
    """It has 7 retries, after 67 ms each."""
    near, _, _, counters, _ = silent
    near("post", 0, "write", 8)
    status, *_ = near.completes()[0]
    assert status == "IBV_WC_RETRY_EXC_ERR"
    counters.become(local_ack_timeout_err=8, req_transport_retries_exceeded=1)


def test_receiver_that_is_not_ready(wired, ends):
    near, far = ends
    connect(near, far, rnr=3, min_rnr=20, timeout=0)
    counters, others = Counters(wired.machine["a"]), Counters(wired.machine["b"])
    near("post", 0, "send", 100)
    assert near.completes()[0][0] == "IBV_WC_RNR_RETRY_EXC_ERR"
    counters.become(rnr_nak_retry_err=3, req_rnr_retries_exceeded=1, packet_seq_err=0)
    others.become(out_of_buffer=4, out_of_sequence=0)


def test_wrong_invariant_crc(wired, pair):
    """At a queue pair and, since the emulator's server has queue pair 1, there."""
    *_, forger, counters, others = pair
    forger.send(SEND_ONLY, PSN + 1, wrong=True)
    forger.send(SEND_ONLY, PSN + 1, qpn=1, wrong=True)
    counters.become(rx_icrc_encapsulated=2, out_of_sequence=0, duplicate_request=0)
    others.become(rx_icrc_encapsulated=0)


def test_congestion_is_notified_and_counted(pair):
    """A marked packet is answered by a notification, which the true peer gets."""
    *_, forger, counters, others = pair
    forger.mark(CONGESTED)
    forger.send(SEND_ONLY, PSN - 1)
    counters.become(np_ecn_marked_roce_packets=1, np_cnp_sent=1)
    others.become(rp_cnp_handled=1)


def test_rdma_statistic_shows_them(wired, pair):
    if not shutil.which("rdma", path=os.environ["PATH"] + ":/usr/sbin:/sbin"):
        pytest.skip("rdma is not installed")
    *_, forger, counters, _ = pair
    forger.send(SEND_ONLY, PSN - 1)
    counters.become(duplicate_request=1)
    shown = wired.machine["a"].run(["/usr/bin/env", "PATH=/usr/bin:/usr/sbin:/sbin", "rdma", "statistic", "show", "link",
                                    "mlx5_0/1"]).ok()
    assert f"duplicate_request {counters.read()['duplicate_request']}" in shown, shown
