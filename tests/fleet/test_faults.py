# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What etcd does wrong: DPUs publish again and hosts go on, without a restart."""

import time

from harness.clock import Clock
from harness.etcd import Etcd, Late, wait_until
from harness.fleet import publish


def test_lease_lost_while_the_dpu_lives(etcd, publisher, watcher):
    """As after a pause of the machine longer than the TTL."""
    cluster = etcd()
    one = publish(publisher, cluster, ttl=2)
    seen = watcher(cluster).started()
    one.process.send_signal(19)
    seen.expect("removed", export="a")
    one.process.send_signal(18)
    seen.expect("added", export="a")
    assert one.state()["leases_lost"] >= 1  # a busy machine may lose the next one, too


def test_a_clock_that_jumps_loses_nothing(etcd, publisher, watcher, place):
    """Of the DPU and of the host, a year into the future and into the past: nothing is lost or believed old."""
    cluster, clock = etcd(), Clock(place)
    one = publish(publisher, cluster, clock=clock, ttl=9)
    seen = watcher(cluster, clock=clock).started()
    for number, days in enumerate((365, -365)):
        clock.jump(days)
        assert abs(clock.seconds() - time.time() - days * 86400) < 60
        requests = one.state()["requests"]
        one.set("a,1,1", f"b{number},1,1")
        seen.expect("added", export=f"b{number}")
        wait_until(lambda before=requests: one.state()["requests"] > before + 4)  # renewals, too
        assert one.state()["phase"] == "published" and 0 < one.state()["remaining_ms"] <= 9000
        assert seen.status()["live"] and seen.status()["age_ms"] < 60000
    assert one.state()["leases_lost"] == 0 and seen.names() == ["dpu1:a", "dpu1:b1"]


def test_late_answers_are_waited_for(etcd, publisher):
    """A request that is given up too early would be repeated for ever, and each time etcd does the work."""
    late = Late(etcd(), seconds=2)
    try:
        one = publisher(late, ttl=3).created()
        one.set("a,1,1")
        one.published()
        late.transactions = 0
        one.set("a,1,1", "b,1,1")
        one.published()
        assert late.transactions <= 3  # the change, and checks
    finally:
        late.close()


def test_endpoint_of_another_cluster_is_noticed(etcd, publisher, watcher):
    cluster, other = etcd(), etcd()
    urls = [*cluster.urls, *other.urls]
    one = publisher(urls).created()
    one.set("a,1,1")
    line = one.expect("log", lambda line: "belongs to cluster" in line["line"])
    assert "it is not used; remove it from the configuration" in line["line"]
    one.published()
    records = (cluster.records(), other.records())
    assert sorted(len(found) for found in records) == [0, 2]
    seen = watcher(urls)
    seen.started()
    wait_until(lambda: any("belongs to cluster" in line for line in seen.logged()))


def test_cluster_that_was_made_anew(etcd, publisher, watcher, place):
    cluster = etcd()
    one = publish(publisher, cluster, ttl=3)
    seen = watcher(cluster).started()
    cluster.kill(0)
    cluster.wipe(0)
    ports = [int(url.rpartition(":")[2]) for url in (*cluster.urls, *cluster.peers)]
    fresh = Etcd(place / "anew", ports=ports)  # another token, so another id of the cluster
    try:
        wait_until(lambda: len(fresh.records()) == 2)
        seen.expect("live")
        wait_until(lambda: seen.names() == ["dpu1:a"])
        one.set("b,1,1")
        seen.expect("added", export="b")
    finally:
        fresh.close()


def test_store_without_space_is_reported(etcd, publisher):
    cluster = etcd(options=["--quota-backend-bytes", "300000"])
    one = publish(publisher, cluster, ttl=60)
    for number in range(60):
        done = cluster.ctl("put", f"fill{number}", "x" * 8000, ok=None)
        if done.returncode:
            break
    one.set("b,1,1")
    state = one.await_phase("refused")
    assert "space" in state["problem"]
    cluster.ctl("del", "--prefix", "fill")
    cluster.ctl("compact", cluster.revision())
    cluster.ctl("defrag")
    cluster.ctl("alarm", "disarm")
    one.published()
