# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Queue pairs of two emulators over UDP: errors, their times, and what idle pairs cost."""

import os
import signal
import time

import pytest

from harness.wired import connect

pytestmark = pytest.mark.local
BIG = 4 << 20


def test_operations_carry_the_right_bytes(ends):
    """The packet sequence numbers wrap within the first message."""
    near, far = ends
    connect(near, far)
    near("fill", 1)
    far("fill", 2)
    near("post", 0, "write", BIG)
    near.succeeds()
    assert near("digest", BIG) == far("digest", BIG)
    far("fill", 3)
    near("post", 0, "read", BIG)
    near.succeeds()
    assert near("digest", BIG) == far("digest", BIG)
    near("fill", 4)
    far("receive", 0, BIG)
    near("post", 0, "send", BIG)
    near.succeeds()
    assert far.succeeds()[0][2] == BIG
    assert near("digest", BIG) == far("digest", BIG)


@pytest.mark.parametrize("mtu", [256, 512, 1024, 2048, 4096])
def test_each_path_mtu_works(ends, mtu):
    near, far = ends
    connect(near, far, mtu=mtu)
    near("fill", mtu)
    for size in (0, 1, mtu - 1, mtu, mtu + 1, 3 * mtu + 5):
        far("receive", 0, BIG)
        near("post", 0, "send", size)
        near.succeeds()
        assert far.succeeds()[0][2] == size
    assert near("digest", size) == far("digest", size)


def test_many_atomics_count_once(ends):
    near, far = ends
    connect(near, far)
    before = far("number")
    for _ in range(20):
        near("post", 0, "add", 8)
        near.succeeds()
    assert far("number") == before + 20


def lower_bound(timeout, retries):
    """IBA: the transport timer expires between one and four times 4.096 us * 2^timeout; retries + 1 times."""
    return 4.096e-6 * 2**timeout * (retries + 1)


def test_dead_peer_exhausts_the_retries(ends):
    near, far = ends
    connect(near, far, timeout=14, retry=3)
    near("post", 0, "write", 100)
    near.succeeds()
    far.kill()
    near("post", 0, "write", 100)
    status, _, _, seconds = near.completes()[0]
    wanted = lower_bound(14, 3)
    assert status == "IBV_WC_RETRY_EXC_ERR"
    assert wanted * 0.9 <= seconds <= wanted * 4 + 1, (seconds, wanted)


def test_dead_requester_leaves_the_responder_usable(ends, probe):
    near, far = ends
    connect(near, far)
    near("post", 0, "write", BIG)
    near.kill()
    again = probe("a")
    connect(again, far)  # the second queue pair of far
    again("post", 0, "write", 100)
    again.succeeds()


def test_missing_receive_exhausts_the_rnr_retries(ends):
    """The RNR timer's code 20 is 10.24 ms."""
    near, far = ends
    connect(near, far, rnr=3, min_rnr=20)
    near("post", 0, "send", 100)
    status, _, _, seconds = near.completes()[0]
    assert status == "IBV_WC_RNR_RETRY_EXC_ERR"
    assert seconds >= 3 * 10.24e-3 * 0.9, seconds


def test_late_receive_is_enough(ends):
    near, far = ends
    connect(near, far, rnr=7, min_rnr=20)
    near("post", 0, "send", 100)
    time.sleep(0.1)
    far("receive", 0, 100)
    near.succeeds()
    far.succeeds()


@pytest.mark.parametrize("other", ["b", "c"], ids=["over-the-wire", "directly"])
def test_each_request_of_a_failed_queue_pair_completes_once(probe, other):
    """Whatever the engine was doing with it at that moment."""
    near, far = probe("a"), probe(other)
    connect(near, far)
    assert near("fail", 0, 3, 400) == [["IBV_WC_WR_FLUSH_ERR"] * 6] * 400


@pytest.mark.parametrize("op", ["write", "read"])
def test_wrong_key_is_a_remote_access_error(ends, op):
    near, far = ends
    connect(near, far)
    near("post", 0, op, 100, 0x12345600)
    assert near.completes()[0][0] == "IBV_WC_REM_ACCESS_ERR"


def test_short_receive_is_an_invalid_request(ends):
    near, far = ends
    connect(near, far)
    far("receive", 0, 10)
    near("post", 0, "send", 5000)
    assert near.completes()[0][0] == "IBV_WC_REM_INV_REQ_ERR"
    assert far.completes()[0][0] == "IBV_WC_LOC_LEN_ERR"


def test_stopped_peer_only_delays(ends):
    near, far = ends
    connect(near, far, timeout=17, retry=7)
    near("fill", 5)
    os.kill(far.pid, signal.SIGSTOP)
    near("post", 0, "write", BIG)
    time.sleep(0.5)
    os.kill(far.pid, signal.SIGCONT)
    near.succeeds(patience=20)
    assert near("digest", BIG) == far("digest", BIG)


def test_idle_pair_sleeps_and_wakes(ends):
    near, far = ends
    connect(near, far)
    far("receive", 0, 100)
    near("post", 0, "send", 100)
    near.succeeds()
    far.succeeds()
    time.sleep(0.5)
    before = near.switches(), far.switches()
    time.sleep(2)
    grown = near.switches() - before[0], far.switches() - before[1]
    assert max(grown) <= 20, f"context switches of an idle pair in 2 s: {grown}"
    far("receive", 0, 100)
    near("post", 0, "send", 100)
    assert near.succeeds()[0][3] < 1
    far.succeeds()


def test_queue_pairs_share_sockets(ends):
    near, far = ends
    before = near.files(), far.files()
    connect(near, far, 1000, depth=2)
    for number in (0, 499, 999):
        near("post", number, "write", 100)
        near.succeeds()
    grown = near.files() - before[0], far.files() - before[1]
    assert max(grown) <= 16, f"descriptors for 1,000 queue pairs: {grown}"
