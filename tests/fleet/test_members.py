# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Members of etcd that are dead: DPUs and hosts use the others, or go on later, without a restart."""

from harness.etcd import wait_until
from harness.fleet import publish


def test_etcd_down_at_start(etcd, publisher, watcher):
    cluster = etcd()
    cluster.kill(0)
    one = publisher(cluster).created()
    one.set("a,1,1")
    one.expect("log", lambda line: "is not published" in line["line"])
    assert one.state()["phase"] == "connecting" and one.state()["problem"]
    watcher(cluster, timeout=1000).started("DOCA_ERROR_NOT_CONNECTED")
    cluster.start(0)
    one.published()
    assert watcher(cluster).started().names() == ["dpu1:a"]


def test_etcd_dies_and_comes_back(etcd, publisher, watcher):
    cluster = etcd()
    one = publish(publisher, cluster, ttl=30)
    seen = watcher(cluster).started()
    cluster.kill(0)
    seen.expect("stale")
    one.await_phase("connecting")
    status = seen.status()
    assert status["live"] == 0 and status["problem"] and seen.names() == ["dpu1:a"]
    wait_until(lambda: seen.status()["age_ms"] > status["age_ms"])
    one.set("a,2,2", "b,3,1")  # while etcd is away
    cluster.start(0)
    seen.expect("live")
    one.published()
    wait_until(lambda: seen.names() == ["dpu1:a", "dpu1:b"])
    assert seen.ask("resolve", "dpu1:a")["size"] == 2
    assert one.state()["leases_lost"] == 0


def test_member_of_three_killed(etcd, publisher, watcher):
    cluster = etcd(3)
    one = publish(publisher, cluster, ttl=30)
    seen = watcher(cluster).started()
    for index in range(3):
        cluster.kill(index)
        one.set(f"x{index},1,1")
        seen.expect("added", export=f"x{index}")
        cluster.start(index)
        cluster.await_ready()
    assert one.state()["leases_lost"] == 0
    assert seen.names() == ["dpu1:x2"]


def test_members_without_a_quorum_are_stale_until_one_returns(etcd, publisher, watcher):
    cluster = etcd(3)
    one = publish(publisher, cluster, ttl=40)
    seen = watcher(cluster, timeout=2000).started()
    cluster.kill(0)
    cluster.kill(1)
    seen.expect("stale")
    one.await_phase("connecting")
    assert seen.names() == ["dpu1:a"]
    watcher(cluster, timeout=1000).started("DOCA_ERROR_TIME_OUT")
    cluster.start(0)
    seen.expect("live")
    one.set("b,1,1")
    one.published()
    wait_until(lambda: seen.names() == ["dpu1:b"])
    assert one.state()["leases_lost"] == 0


def test_compaction_past_the_watched_revision(etcd, publisher, watcher):
    """The member of the host is away while records change and etcd compacts the changes."""
    cluster = etcd(3)
    one = publisher(cluster.urls[1:], "dpu1", ttl=60).created()
    one.set("a,1,1", "b,1,1")
    one.published()
    seen = watcher(cluster.urls[:1]).started()
    cluster.kill(0)
    seen.expect("stale")
    one.set("b,2,2", "c,1,1")
    one.published()
    cluster.ctl("compact", cluster.revision())
    cluster.start(0)
    seen.expect("removed", export="a")
    seen.expect("resynced")
    wait_until(lambda: seen.status()["live"])
    assert seen.names() == ["dpu1:b", "dpu1:c"]
    assert seen.ask("resolve", "dpu1:b")["size"] == 2
    events = [(line["event"], line.get("export")) for line in seen.seen]
    done = events.index(("resynced", None))
    assert ("changed", "b") in events[:done] and ("added", "c") in events[:done]
