# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Members of etcd that accept connections and answer nothing: DPUs and hosts use the others."""

from harness.fleet import publish


def test_a_frozen_leader_is_replaced(etcd, publisher, watcher):
    cluster = etcd(3)
    one = publish(publisher, cluster, ttl=30)
    seen = watcher(cluster).started()
    cluster.freeze(cluster.leader())
    one.set("b,1,1")
    seen.expect("added", export="b")
    assert one.state()["leases_lost"] == 0


def test_slow_member_is_left(etcd, publisher, watcher):
    cluster = etcd(3)
    one = publish(publisher, cluster, ttl=30)
    seen = watcher(cluster, timeout=1000).started()
    for index in range(3):
        cluster.freeze(index)
        one.set(f"y{index},1,1")
        seen.expect("added", export=f"y{index}")
        cluster.thaw(index)
        cluster.await_ready()
    assert seen.names() == ["dpu1:y2"]
