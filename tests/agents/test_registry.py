# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""dpumapd publishes itself and its exports in a real etcd: records, changes, reloads, names and ends."""

import os
import re
import time

import pytest

from harness.agents import REFUSED
from harness.machine import await_true
from harness.metrics import described
from harness.registry import ALL, BULK, FAR, FAST, TTL, ask, exports_of, found, leases_of, stop

pytestmark = [pytest.mark.local, pytest.mark.usefixtures("nothing_left")]


# -- what is published


def test_records_say_what_hosts_need_and_no_more(publish, store, dpu):
    one = publish(store)
    one.exports.append(FAR)
    one.start().await_phase()
    seen = found(store)
    assert set(seen) == exports_of("dpu", "fast", "bulk", "far")
    self = seen["dpus/dpu"]
    assert self["addresses"] == [f"tls:127.0.0.1:{one.port}"] and self["certificate"] == "dpu"
    assert self["software"] == dpu.run(["dpumapd", "--version"]).ok().split()[1]
    assert re.fullmatch("0x[0-9a-f]{16}", self["card"]) and self["card"] != "0x" + 16 * "0"
    fast, bulk, far = (seen[f"exports/dpu/{name}"] for name in ("fast", "bulk", "far"))
    assert (fast["kind"], fast["size"], fast["via"]) == ("dm", 65536, "pci")
    assert fast["access"] == ["pci-read-only"] and not fast.get("labels")
    assert bulk["labels"] == {"gpu": "yes", "rack": "4"} and bulk["access"] == ["pci-read-write"]
    assert (far["via"], sorted(far["access"])) == ("rdma", ["rdma-read", "rdma-write"])
    leases = leases_of(store)
    assert len(leases) == 1 and 0 not in leases
    assert store.lease(leases.pop())["granted-ttl"] == TTL


def test_card_is_that_of_the_descriptors(publish, store, host):
    one = publish(store).start().await_phase()
    one.tool(host)("get", "bulk", "saved").ok()
    text = host.run(["dpumap", "desc", "show", "saved"]).ok()
    host.run(["rm", "saved"]).ok()
    assert found(store)["dpus/dpu"]["card"][2:] in text


def test_nothing_secret_is_published(publish, store, host):
    """Neither descriptors nor keys, nor who may import; not even while clients import."""
    one = publish(store)
    one.exports.append(FAR)
    one.start().await_phase()
    tool = one.tool(host)
    tool("get", "bulk", "saved").ok()
    descriptor = host.get("saved")
    holder = tool.daemon("holder", "import", "bulk", "--hold")
    holder.await_output("imported")
    one.agent.ctl("add", "name=late,kind=dram,size=4K,allow=psk:another-client").ok()
    assert await_true(lambda: "exports/dpu/late" in one.names(store))
    everything = "".join(key + record["value"] for key, record in store.records("").items()).encode("latin-1")
    key = descriptor[48:80]
    texts = [b"secret-client", b"another-client", b"cert:", b"psk:", b"allow", b"PRIVATE"]
    for secret in (key, key.hex().encode(), descriptor[:32], *texts):
        assert secret not in everything, f"{secret} is in etcd"
    database = b"".join(path.read_bytes() for path in store.dir.rglob("*") if path.is_file())
    assert b"exports/dpu/late" in database, "the test does not read etcd's files"
    for secret in (key, *texts[:3]):
        assert secret not in database
    holder.end("TERM")
    host.run(["rm", "saved"]).ok()


def test_without_registry_nothing_is_loaded_or_reported(publish):
    one = publish(None).start()
    with open(f"/proc/{one.agent.daemon.pid}/maps", encoding="utf-8") as file:
        assert not re.search("libcurl|dpumap-fleet", file.read())
    assert not [key for key in one.status() if key.startswith("registry")]
    assert not [name for name in one.metrics() if "registry" in name]


# -- changes


def test_change_is_one_transaction(publish, store):
    """Added, removed and changed exports, and what a reload replaces, have one revision each."""
    one = publish(store).start().await_phase()
    before = store.records()
    one.agent.ctl("add", "name=extra,kind=dram,size=4K,label=gpu=no").ok()
    assert await_true(lambda: one.names(store) == ALL | {"exports/dpu/extra"})
    assert found(store)["exports/dpu/extra"]["labels"] == {"gpu": "no"}
    one.agent.ctl("remove", "extra").ok()
    assert await_true(lambda: one.names(store) == ALL)
    revision = store.revision()
    one.exports = [FAST.replace("64K", "32K"), FAR, BULK.replace('"rack=4", ', "")]
    one.reload().ok()
    assert await_true(lambda: one.names(store) == ALL | {"exports/dpu/far"})
    one.await_phase()
    after = store.records()
    root = "/dpumap/v1/lab/"
    changed = {after[f"{root}exports/dpu/{name}"]["revision"] for name in ("fast", "far", "bulk")}
    assert changed == {revision + 1}, "the reload was not one transaction"
    assert after[f"{root}dpus/dpu"] == before[f"{root}dpus/dpu"]
    seen = found(store)
    assert seen["exports/dpu/fast"]["size"] == 32768
    assert seen["exports/dpu/bulk"]["labels"] == {"gpu": "yes"}


def test_generation_grows_with_each_change(publish, store):
    one = publish(store).start().await_phase()

    def generation(name="exports/dpu/bulk"):
        return found(store)[name]["generation"]

    seen = [generation()]

    def grown():
        return generation() > seen[-1]

    for change in ("rekey", "perm", "start"):
        if change == "rekey":
            one.agent.ctl("rekey", "bulk").ok()
        elif change == "perm":
            one.exports = [FAST, BULK.replace("label", 'perm = "ro"; label')]
            one.reload().ok()
        else:
            start = generation("dpus/dpu")
            one.agent.stop()
            one.start().await_phase()
            assert generation("dpus/dpu") > start
        assert await_true(grown), change
        seen.append(generation())


def test_thousand_exports_are_published(publish, store):
    """More than fit into one transaction."""
    one = publish(store)
    names = [f"e{number}" for number in range(1000)]
    one.exports = [f'{{ name = "{name}"; kind = "dram"; size = 4096; }}' for name in names]
    one.start().await_phase()
    assert one.names(store) == exports_of("dpu", *names)
    assert one.status()["registry_published"] == 1001
    one.exports = one.exports[:10]
    one.reload().ok()
    assert await_true(lambda: one.names(store) == exports_of("dpu", *names[:10]))


def test_failed_reload_publishes_nothing(publish, store):
    one = publish(store).start().await_phase()
    before = store.records()
    one.exports = [BULK, FAST.replace("64K", "1T")]
    one.reload().fails_with(REFUSED, "export fast: cannot export")
    one.exports, one.more = [], '	addresses = [ "tls:*:1" ];\n'
    one.reload().fails_with(REFUSED, r"dpumapd.conf:\d+: addresses must contain addresses")
    assert store.records() == before


# -- reload


@pytest.mark.parametrize("what", ["fleet", "name", "ttl", "group"])
def test_reload_that_needs_a_restart_is_refused(publish, store, what):
    one = publish(store).start().await_phase()
    changed = {"fleet": "other", "name": "127.0.0.1", "ttl": TTL + 1}
    text = one.registry().replace(f'{what} = "{getattr(one, what, "")}"', f'{what} = "{changed.get(what)}"')
    text = "" if what == "group" else text.replace(f"ttl = {TTL}", f"ttl = {TTL + (what == 'ttl')}")
    one.registry = lambda: text
    place = "the group registry was removed" if what == "group" else rf"dpumapd.conf:\d+: registry has another {what}"
    one.reload().fails_with(REFUSED, f"{place}, which a reload cannot apply: restart dpumapd")
    assert one.names(store) == ALL


def test_reload_that_adds_the_group_is_refused(publish, store):
    one = publish(None).start()
    one.endpoints = store.urls
    one.reload().fails_with(REFUSED, r"dpumapd.conf:\d+: registry is new, which a reload cannot apply")


def test_reload_publishes_other_addresses(publish, store):
    one = publish(store).start().await_phase()
    lease = leases_of(store)
    one.more = f'	addresses = [ "tls:dpu.example:7470", "tls:127.0.0.1:{one.port}" ];\n'
    one.reload().ok()
    wanted = ["tls:dpu.example:7470", f"tls:127.0.0.1:{one.port}"]
    assert await_true(lambda: found(store)["dpus/dpu"]["addresses"] == wanted)
    assert leases_of(store) == lease


def test_reload_moves_to_other_endpoints(publish, cluster):
    """Also to those of another cluster: the records in the first one end with their lease."""
    first, second = cluster(), cluster()
    one = publish(first).start().await_phase()
    one.endpoints = second.urls
    one.reload().ok()
    assert await_true(lambda: one.names(second) == ALL)
    one.await_phase()
    assert await_true(lambda: not one.names(first), 2 * TTL + 10)
    one.agent.ctl("add", "name=late,kind=dram,size=4K").ok()
    assert await_true(lambda: "exports/dpu/late" in one.names(second))


def test_reload_to_the_same_endpoints_keeps_lease_and_records(publish, store):
    one = publish(store).start().await_phase()
    before = store.records()
    for _ in range(5):
        one.reload().ok()
    time.sleep(TTL + 1)  # the lease is still renewed
    assert store.records() == before and one.status()["registry"] == "published"


# -- names


def test_name_that_another_holds_is_refused(publish, store):
    """The second serves on, and publishes when the first has ended."""
    first = publish(store).start().await_phase()
    before = store.records()
    second = publish(store)
    second.place = f"{second.dpu.dir}/second"
    os.makedirs(second.place, mode=0o700, exist_ok=True)
    second.exports = ['{ name = "own"; kind = "dram"; size = 4096; allow = [ "*" ]; }']
    second.write()
    text = open(f"{second.dpu.dir}/dpu/dpumapd.conf", encoding="utf-8").read()
    second.dpu.put({"second/dpumapd.conf": text})
    second.agent = second.serve("--config", f"{second.place}/dpumapd.conf")
    second.agent.admin = f"{second.place}/admin"
    second.await_phase("name-taken")
    second.agent.daemon.await_log('^dpumapd: registry: DPU dpu is not published in fleet lab: a live DPU at')
    assert second.status()["registry_problem"]
    assert store.records() == before
    assert second.metrics()["dpumapd_registry_published"] == 0
    assert {name for name in second.metrics() if "{" not in name} <= described().keys()
    ends = {f"dpumapd_registry_{name}_end_seconds" for name in ("certificate", "authority")}  # only over TLS
    assert {name for name in described() if "registry" in name} - ends <= second.metrics().keys()
    assert second.metrics()['dpumapd_clients'] == 0
    first.agent.stop()
    second.await_phase()
    assert second.names(store) == exports_of("dpu", "own")


def test_two_dpus_publish_beside_each_other(publish, store):
    first = publish(store).start().await_phase()
    second = publish(store, "dpu2").start().await_phase()
    first.agent.stop()
    assert second.names(store) == exports_of("dpu2", "fast", "bulk") and not first.names(store)


# -- ends


def test_end_withdraws_the_records_at_once(publish, store):
    one = publish(store)
    one.ttl = 600
    one.start().await_phase()
    one.agent.stop()
    assert not store.records()
    assert not ask(store, "lease", "list").get("leases")


def test_records_of_a_killed_dpu_expire(publish, store):
    one = publish(store).start().await_phase()
    one.agent.daemon.end("KILL")
    assert one.names(store) == ALL
    assert await_true(lambda: not store.records(), TTL + 30)


def test_killed_dpu_publishes_again_after_a_restart(publish, store):
    """Its own name is held by its own lease, until that expires."""
    one = publish(store).start().await_phase()
    generation = found(store)["dpus/dpu"]["generation"]
    one.agent.daemon.end("KILL")
    one.start().await_phase()
    assert one.names(store) == ALL
    assert found(store)["dpus/dpu"]["generation"] > generation


def test_end_while_etcd_is_down_is_not_delayed_for_long(publish, store):
    one = publish(store).start().await_phase()
    stop(store)
    one.agent.stop()


def test_end_while_etcd_hangs_is_not_delayed_for_long(publish, store):
    one = publish(store).start().await_phase()
    store.freeze(0)
    one.agent.stop()


def test_many_exports_are_copied_some_in_a_turn(publish, store, emulator):
    """For the thread that publishes. The changed record in etcd says that this has happened; dpumapd is not asked."""
    number, last = 2000, "exports/dpu/e1999"
    one = publish(store)
    one.exports = [f'{{ name = "e{n:04}"; kind = "dram"; size = 4096; allow = [ "*" ]; }}' for n in range(number)]
    agent = one.start().await_phase().agent
    assert await_true(lambda: emulator.objects()["mrs"] >= number)
    before = found(store)[last]["generation"], agent.figure("turns")
    agent.ctl("rekey", "e1999").ok()
    assert await_true(lambda: found(store)[last]["generation"] != before[0])
    assert agent.figure("turns") - before[1] >= number // 64
