# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A host finds exports by name and hears of changes."""

import json

from harness.etcd import wait_until
from harness.fleet import publish
from harness.records import Records, encoded, post

ROOT = "/dpumap/v1/f"


def test_list_with_patterns_and_labels(etcd, publisher, watcher):
    cluster = etcd()
    publish(publisher, cluster, "dpu2", "bulk,1,1,gpu=yes", "small,2,1")
    publish(publisher, cluster, "dpu1", "small,3,1,gpu=no", "bulk,4,1,gpu=yes,row=a7")
    publish(publisher, cluster, "other", "bulk,5,1")
    one = watcher(cluster).started()
    assert one.names() == ["dpu1:bulk", "dpu1:small", "dpu2:bulk", "dpu2:small", "other:bulk"]
    assert one.names("dpu*:bulk") == ["dpu1:bulk", "dpu2:bulk"]
    assert one.names("dpu2") == ["dpu2:bulk", "dpu2:small"]
    assert one.names("*", "gpu=yes") == ["dpu1:bulk", "dpu2:bulk"]
    assert one.names("*", "gpu") == ["dpu1:bulk", "dpu1:small", "dpu2:bulk"]
    assert one.names("*", "gpu=yes", "row=a*") == ["dpu1:bulk"]
    assert one.names("*", "row=b*") == []
    assert one.dpus() == ["dpu1", "dpu2", "other"]
    found = one.ask("resolve", "dpu1:bulk")
    assert (found["size"], found["labels"], found["kind"], found["via"]) == (4, ["gpu=yes", "row=a7"], "dram", "pci")
    for name, result in (
        ("dpu1:none", "DOCA_ERROR_NOT_FOUND"), ("none:bulk", "DOCA_ERROR_NOT_FOUND"),
        ("dpu1", "DOCA_ERROR_INVALID_VALUE"), ("a/b:c", "DOCA_ERROR_INVALID_VALUE"),
    ):
        answer = one.ask("resolve", name)
        assert answer["result"] == result and answer["error"]
    for name in ("dpu1", "dpu1:bulk", "dpu1:none"):
        answer = one.ask("resolve-dpu", name)
        assert (answer["result"], answer["dpu"], answer["exports"]) == ("DOCA_SUCCESS", "dpu1", 2)
    for name, result in (("none", "DOCA_ERROR_NOT_FOUND"), ("a/b", "DOCA_ERROR_INVALID_VALUE")):
        answer = one.ask("resolve-dpu", name)
        assert answer["result"] == result and answer["error"] and "dpu" not in answer
    status = one.status()
    assert (status["live"], status["dpus"], status["exports"], status["skipped"]) == (1, 3, 5, 0)



def test_list_has_all_exports_whatever_the_names_of_dpus(etcd, watcher):
    """Exports are read in ranges of some DPUs each, and in pages of 1000. Names and keys have different orders."""
    cluster = etcd()
    records = Records(cluster, "f")
    names = [f"{first}{rest}" for first in ("d", "d1", "dp", "e") for rest in ("", "-", "-x", ".", ".x", "_", "0", "a")]
    for number, name in enumerate(names):
        records.dpu(name)
        for export in range(number % 3):
            records.export(name, f"e{export}")
    records.put(records.key("d-w", "stranger"), {"format": 1})
    value = encoded(json.dumps({"format": 1, "kind": "dram", "size": 1, "access": [], "via": "pci", "generation": 1}))
    many = [f"many{number:04}" for number in range(2500)]
    for first in range(0, len(many), 100):
        puts = [
            {"requestPut": {"key": encoded(records.key("d1", one)), "value": value, "lease": records.lease("d1")}}
            for one in many[first : first + 100]
        ]
        post(cluster.urls[0], "kv/txn", success=puts)
    wanted = [f"{name}:e{export}" for number, name in enumerate(names) for export in range(number % 3)]
    one = watcher(cluster).started()
    assert one.dpus() == sorted(names)
    assert sorted(one.names()) == sorted([*wanted, *(f"d1:{export}" for export in many)])


def test_started_fleet_cannot_be_set_up(etcd, publisher, watcher):
    cluster = etcd()
    publish(publisher, cluster, "dpu1", "a,1,1")
    one = watcher(cluster).started()
    results = one.ask("set-up")
    assert results.pop("event") == "set-up" and len(results) == 7
    assert set(results.values()) == {"DOCA_ERROR_BAD_STATE"}
    assert one.names() == ["dpu1:a"]


def test_watch_hears_of_everything(etcd, publisher, watcher):
    cluster = etcd()
    one = watcher(cluster).started()
    first = publish(publisher, cluster, "dpu1", "a,1,1")
    one.expect("added", dpu="dpu1", certificate="dpu1")
    one.expect("added", dpu="dpu1", export="a", size=1)
    first.set("a,2,2", "b,3,1")
    one.expect("changed", export="a", size=2, generation=2)
    one.expect("added", export="b")
    first.set("b,3,1")
    one.expect("removed", export="a")
    first.say("close", 5000)
    one.expect("removed", export="b")
    one.expect("removed", dpu="dpu1", certificate="dpu1")
    assert one.names() == [] and one.dpus() == []


def test_killed_dpu_is_removed_with_its_exports(etcd, publisher, watcher):
    cluster = etcd()
    one = watcher(cluster).started()
    first = publish(publisher, cluster, "dpu1", "a,1,1", ttl=2)
    one.expect("added", export="a")
    first.kill()
    one.expect("removed", export="a")
    one.expect("removed", dpu="dpu1", certificate="dpu1")


def test_many_exports_in_pages(etcd, publisher, watcher):
    cluster = etcd()
    one = publisher(cluster).created()
    one.say("many", 2500)
    one.published()
    seen = watcher(cluster).started()
    assert seen.status()["exports"] == 2500
    assert len(set(seen.names())) == 2500


def test_restarted_dpu_replaces_its_exports(etcd, publisher, watcher):
    cluster = etcd()
    seen = watcher(cluster).started()
    first = publish(publisher, cluster, "dpu1", "a,1,1", "b,1,1")
    seen.expect("added", export="b")
    first.say("close", 5000)
    publish(publisher, cluster, "dpu1", "b,2,1", "c,1,1")
    seen.expect("added", export="c")
    assert seen.names() == ["dpu1:b", "dpu1:c"]


def test_exports_without_a_live_dpu_are_ignored(etcd, publisher, watcher):
    """Also 20,000 of them, and keys of somebody else under the same root."""
    cluster = etcd()
    publish(publisher, cluster, "dpu1", "a,1,1")
    record = cluster.records()[f"{ROOT}/exports/dpu1/a"]["value"]
    cluster.ctl("put", f"{ROOT}/exports/dpu1/stale", record)
    for begin in range(0, 20000, 120):
        lines = [f'put {ROOT}/exports/ghost/e{n} "x"' for n in range(begin, begin + 60)]
        lines += [f'put {ROOT}/elsewhere/e{n} "x"' for n in range(begin, begin + 60)]
        cluster.ctl("txn", text="\n" + "\n".join(lines) + "\n\n\n")
    seen = watcher(cluster).started()
    assert seen.names() == ["dpu1:a"] and seen.dpus() == ["dpu1"]
    assert any("do not belong to a live DPU" in line for line in seen.logged())
    cluster.ctl("put", f"{ROOT}/exports/ghost/late", record)
    cluster.ctl("put", f"{ROOT}/exports/dpu1/late", record)
    publish(publisher, cluster, "dpu2", "z,1,1")
    seen.expect("added", export="z")
    assert seen.names() == ["dpu1:a", "dpu2:z"]


def test_newer_records_are_listed_as_such(etcd, publisher, watcher):
    cluster = etcd()
    one = publish(publisher, cluster, "dpu1", "a,1,1")
    lease = f"{one.state()['lease']:x}"
    seen = watcher(cluster).started()
    cluster.ctl("put", f"{ROOT}/exports/dpu1/new", json.dumps({"format": 2, "what": "ever"}), "--lease", lease)
    line = seen.expect("added", export="new")
    assert line["newer"] == 1 and line["size"] == 0
    answer = seen.ask("resolve", "dpu1:new")
    assert answer["result"] == "DOCA_ERROR_UNSUPPORTED_VERSION" and "needs a newer dpumap" in answer["error"]


def test_members_and_leases(etcd, publisher, watcher):
    cluster = etcd(3)
    publish(publisher, cluster, "dpu1", "a,1,1", ttl=30)
    seen = watcher(cluster.urls[:2]).started()
    members = {one["name"]: one for one in seen.ask("members")["list"]}
    assert set(members) == {"m0", "m1", "m2"}
    assert "not among the endpoints" in members["m2"]["problem"]
    assert members["m0"]["healthy"] and members["m0"]["version"].startswith("3.")
    (lease,) = seen.ask("leases")["list"]
    assert lease["dpu"] == "dpu1" and lease["granted"] == 30 and 0 < lease["remaining"] <= 30
    cluster.kill(0)
    members = {one["endpoint"]: one for one in seen.ask("members")["list"]}
    assert not members[cluster.urls[0]]["healthy"] and members[cluster.urls[0]]["problem"]
    assert members[cluster.urls[1]]["healthy"]


def test_host_that_follows_one_dpu_reads_nothing_else(etcd, publisher, watcher):
    cluster = etcd()
    records = Records(cluster, "f")
    for number in range(40):
        records.dpu(f"dpu1{number}")
    records.export("dpu10", "a")
    one = publish(publisher, cluster, "dpu1", "a,1,1", "b,2,1")
    whole = watcher(cluster).started()
    host = watcher(cluster, only="dpu1:a").started()
    assert host.names() == ["dpu1:a", "dpu1:b"] and host.dpus() == ["dpu1"]
    assert host.names("dpu10*") == [] and len(whole.dpus()) == 41
    assert host.ask("resolve", "dpu10:a")["result"] == "DOCA_ERROR_NOT_FOUND"
    assert host.ask("resolve", "dpu1:b")["size"] == 2
    records.export("dpu10", "changed")
    records.put(records.key("dpu12", "invalid"), "no JSON")
    one.set("a,3,2")
    whole.expect("changed", dpu="dpu1", export="a")
    host.expect("removed", export="b")
    host.expect("changed", export="a", size=3)
    heard = [line for line in host.seen if line["event"] in ("added", "changed", "removed", "log")]
    assert len(heard) == 2, heard
    assert (host.status()["exports"], host.status()["skipped"]) == (1, 0)
    absent = watcher(cluster, only="none").started()
    assert absent.names() == [] and absent.ask("resolve-dpu", "none")["result"] == "DOCA_ERROR_NOT_FOUND"


def test_cache_of_one_dpu_stands_beside_that_of_all(etcd, publisher, watcher, place):
    cluster = etcd()
    cache = place / "cache"
    one = publish(publisher, cluster, "dpu1", "a,1,1")
    publish(publisher, cluster, "dpu2", "x,1,1")
    watcher(cluster, cache=cache).started().end()
    before = cache.read_bytes()
    one.set("a,1,1", "b,1,1")
    one.published()
    watcher(cluster, cache=cache, only="dpu1").started().end()
    watcher(cluster, cache=cache, only="none").started().end()
    assert cache.read_bytes() == before
    assert sorted(path.name for path in place.glob("cache*")) == ["cache", "cache.dpu1"]
    cluster.kill(0)
    assert watcher(cluster, cache=cache, only="dpu1", timeout=1000).started().names() == ["dpu1:a", "dpu1:b"]
    assert watcher(cluster, cache=cache, only="dpu2", timeout=1000).started().names() == ["dpu2:x"]
    assert watcher(cluster, cache=cache, timeout=1000).started().names() == ["dpu1:a", "dpu2:x"]
    about, rest = before.split(b"\n", 1)
    newer = json.loads(about) | {"confirmed": 4102444800000}
    cache.write_bytes(json.dumps(newer).encode() + b"\n" + rest)
    assert watcher(cluster, cache=cache, only="dpu1", timeout=1000).started().names() == ["dpu1:a"]


def test_cache_keeps_the_view_without_etcd(etcd, publisher, watcher, place):
    cluster = etcd()
    publish(publisher, cluster, "dpu1", "a,1,1,gpu=yes", "b,2,1", ttl=600)
    first = watcher(cluster, cache=place / "cache").started()
    assert first.status()["cached"] == 0
    assert first.end() == 0
    cluster.kill(0)
    second = watcher(cluster, cache=place / "cache", timeout=1000).started()
    status = second.status()
    assert status["cached"] == 1 and status["live"] == 0 and status["problem"]
    assert second.names() == ["dpu1:a", "dpu1:b"]
    assert second.ask("resolve", "dpu1:a")["labels"] == ["gpu=yes"]
    watcher(cluster, cache=place / "none", timeout=1000).started("DOCA_ERROR_NOT_CONNECTED")
    cluster.start(0)
    second.expect("live")
    assert second.status()["cached"] == 0 and second.names() == ["dpu1:a", "dpu1:b"]
    # What the cache had and etcd has in the same revision is no event.
    assert not [line for line in second.seen if line["event"] in ("added", "changed", "removed")]


def test_cache_of_others_is_not_read(etcd, watcher, place):
    cluster = etcd()
    (place / "cache").write_text("nonsense\n", encoding="utf-8")
    cluster.kill(0)
    one = watcher(cluster, cache=place / "cache", timeout=1000).started("DOCA_ERROR_NOT_CONNECTED")
    assert any("is not a cache of fleet f" in line["line"] for line in one.seen if line["event"] == "log")
    (place / "cache").chmod(0o666)
    one = watcher(cluster, cache=place / "cache", timeout=1000).started("DOCA_ERROR_NOT_CONNECTED")
    assert any("cache" in line["line"] and "is not a cache" not in line["line"] for line in one.seen
               if line["event"] == "log")


def test_late_fleet_is_seen(etcd, publisher, watcher):
    """An empty fleet is a valid one."""
    cluster = etcd()
    seen = watcher(cluster).started()
    assert seen.names() == []
    publish(publisher, cluster, "dpu1", "a,1,1")
    wait_until(lambda: seen.names() == ["dpu1:a"])
