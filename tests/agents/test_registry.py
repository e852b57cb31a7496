# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""dpumapd publishes itself and its exports in a real etcd, and serves on whatever happens to that."""

import contextlib
import json
import os
import pathlib
import pwd
import re
import socket
import tempfile
import time

import pytest

from harness.agents import REFUSED, Tool, expect_no_growth
from harness.dumps import find
from harness.etcd import Etcd, free_ports
from harness.machine import await_true
from harness.pki import Pki

pytestmark = [
    pytest.mark.local,
    pytest.mark.usefixtures("nothing_left"),
]

TTL = 3  # seconds
CONFIG = """\
listen = [ "tls:127.0.0.1:{port}", "unix:{dir}/socket" ];
tls = {{ cert = "{pki}/{name}.crt"; key = "{pki}/{name}.key"; ca = "{pki}/ca.crt"; }};
admin = "{dir}/admin";
metrics = "{dir}/metrics";
{registry}
exports = ( {exports} );
"""
REGISTRY = """\
registry = {{
	endpoints = [ {endpoints} ];
	fleet = "{fleet}";
	name = "{name}";
	ttl = {ttl};
{more}}};
"""
FAST = '{ name = "fast"; kind = "dm"; size = "64K"; perm = "ro"; allow = [ "cert:host" ]; }'
BULK = '{ name = "bulk"; kind = "dram"; size = "1M"; label = [ "rack=4", "gpu=yes" ]; allow = [ "cert:host" ]; }'
FAR = '{ name = "far"; kind = "dram"; size = 8192; via = "rdma"; allow = [ "cert:secret-client" ]; }'


@pytest.fixture(scope="module")
def pki(openssl_pki):
    openssl_pki.issue("dpu2", "serverAuth", "DNS:dpu2,IP:127.0.0.1")
    openssl_pki.issue("host", "clientAuth")
    return openssl_pki


@pytest.fixture
def cluster():
    """cluster(MEMBERS, ...): an etcd that ends with the test."""
    with contextlib.ExitStack() as stack:

        def make(members=1, **more):
            place = stack.enter_context(tempfile.TemporaryDirectory(prefix="dpumap-etcd.", dir="/tmp"))
            made = Etcd(f"{place}/cluster", members, **more)
            stack.callback(made.close)
            return made

        yield make


@pytest.fixture
def store(cluster):
    return cluster()


def stop(store):
    for index in range(len(store.urls)):
        store.kill(index)


def start(store):
    for index in range(len(store.urls)):
        store.start(index)
    store.await_ready()


def ask(store, *words):
    return json.loads(store.ctl(*words, "-w", "json").stdout)


def found(store, fleet="lab"):
    """{name below the fleet: record}"""
    root = f"/dpumap/v1/{fleet}/"
    return {key[len(root) :]: json.loads(one["value"]) for key, one in store.records(root).items()}


def leases_of(store):
    return {one["lease"] for one in store.records().values()}


class Published:
    """A dpumapd with a registry, and what it publishes."""

    def __init__(self, serve, dpu, pki, name="dpu", fleet="lab"):
        self.serve, self.dpu, self.pki, self.name, self.fleet = serve, dpu, pki, name, fleet
        self.port = free_ports(1)[0]
        self.endpoints, self.ttl, self.more, self.exports = [], TTL, "", [FAST, BULK]
        self.agent = None
        self.place = f"{dpu.dir}/{name}"
        os.makedirs(self.place, mode=0o700, exist_ok=True)

    def registry(self):
        urls = ", ".join(f'"{url}"' for url in self.endpoints)
        words = {"fleet": self.fleet, "name": self.name, "ttl": self.ttl, "more": self.more}
        return REGISTRY.format(endpoints=urls, **words) if self.endpoints else ""

    def write(self):
        words = {"port": self.port, "dir": self.place, "pki": self.pki.dir, "name": self.name}
        text = CONFIG.format(exports=", ".join(self.exports), registry=self.registry(), **words)
        self.dpu.put({f"{self.name}/dpumapd.conf": text})

    def start(self, **more):
        self.write()
        self.agent = self.serve("--config", f"{self.place}/dpumapd.conf", **more)
        self.agent.admin = f"{self.place}/admin"
        return self

    def reload(self):
        self.write()
        return self.agent.ctl("reload")

    def status(self):
        return json.loads(self.agent.ctl("--json", "status").ok())

    def await_phase(self, phase="published", patience=60):
        def seen():
            return self.status()["registry"] == phase

        assert await_true(seen, patience), f"{self.status()}: {self.agent.log()[-2000:]}"
        return self

    def metrics(self):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(f"{self.place}/metrics")
            s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
            text = b"".join(iter(lambda: s.recv(65536), b"")).decode()
        return {name: float(value) for name, value in re.findall(r"^(dpumapd_\w+) (\S+)$", text, re.M)}

    def tool(self, host):
        files = ("--cert", self.pki.path("host.crt"), "--key", self.pki.path("host.key"))
        words = ("--connect", f"tls:127.0.0.1:{self.port}", *files, "--ca", self.pki.path("ca.crt"))
        return Tool(host, words)

    def names(self, store):
        """The names of the records of this DPU."""
        mine = (f"dpus/{self.name}", f"exports/{self.name}/")
        return {key for key in found(store, self.fleet) if key == mine[0] or key.startswith(mine[1])}


@pytest.fixture
def publish(serve, dpu, pki):
    """publish(store, ...): dpumapd, configured and not yet started."""

    def make(store, name="dpu", **more):
        made = Published(serve, dpu, pki, name, **more)
        made.endpoints = list(store.urls) if store else []
        return made

    return make


def exports_of(name, *exports):
    return {f"dpus/{name}", *(f"exports/{name}/{export}" for export in exports)}


ALL = exports_of("dpu", "fast", "bulk")


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
    granted = ask(store, "lease", "timetolive", f"{leases.pop():x}")
    assert granted["granted-ttl"] == TTL


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
        assert await_true(grown, 30), change
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
def test_reload_that_needs_a_restart_is_refused(publish, store, pki, what):
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


# -- faults of etcd


def serves(one, host):
    """Whether dpumapd does all that it does for hosts."""
    data = os.urandom(4096)
    one.tool(host)("write", "bulk", data=data).ok()
    assert one.tool(host)("read", "bulk", "--length", "4096").data == data


def test_etcd_that_is_down_at_start_is_found_later(publish, store, host):
    stop(store)
    one = publish(store).start()
    serves(one, host)
    one.await_phase("connecting")
    assert one.status()["registry_problem"] and one.metrics()["dpumapd_registry_published"] == 0
    one.agent.daemon.await_log("^dpumapd: registry: .*127.0.0.1")
    one.agent.ctl("add", "name=meanwhile,kind=dram,size=4K").ok()
    start(store)
    one.await_phase()
    assert one.names(store) == ALL | {"exports/dpu/meanwhile"}


def test_etcd_that_dies_and_returns_has_all_again(publish, store, host):
    """With its data: the lease may have been lost or not."""
    one = publish(store).start().await_phase()
    stop(store)
    one.await_phase("connecting")
    serves(one, host)
    one.agent.ctl("remove", "fast").ok()
    one.agent.ctl("add", "name=late,kind=dram,size=4K").ok()
    start(store)
    one.await_phase()
    assert one.names(store) == exports_of("dpu", "bulk", "late")
    assert one.metrics()["dpumapd_registry_published"] == 1


def test_etcd_that_returns_empty_gets_all_again(publish, store):
    one = publish(store).start().await_phase()
    stop(store)
    one.await_phase("connecting")
    store.wipe(0)
    start(store)
    one.await_phase()
    assert one.names(store) == ALL


def test_member_that_hangs_stops_nothing(publish, store, host):
    """Neither the clients nor ctl, which the same thread serves."""
    one = publish(store).start().await_phase()
    store.freeze(0)
    one.agent.ctl("add", "name=late,kind=dram,size=4K").ok()
    one.await_phase("connecting")
    serves(one, host)
    store.thaw(0)
    one.await_phase()
    assert await_true(lambda: one.names(store) == ALL | {"exports/dpu/late"})


def test_member_of_three_that_dies_is_replaced_by_another(publish, cluster):
    """One after the other; the lease survives."""
    store = cluster(3)
    one = publish(store).start().await_phase()
    leases = leases_of(store)
    for number in range(3):
        store.kill(number)
        one.agent.ctl("add", f"name=late{number},kind=dram,size=4K").ok()
        assert await_true(lambda name=f"exports/dpu/late{number}": name in one.names(store))
        one.await_phase()
        store.start(number)
        assert await_true(lambda: store.ctl("endpoint", "health", ok=None).returncode == 0)
    assert leases_of(store) == leases
    assert one.status()["registry_failovers"] > 0


def test_cluster_without_quorum_is_reported(publish, cluster, host):
    store = cluster(3)
    one = publish(store).start().await_phase()
    store.kill(0)
    store.kill(1)
    one.await_phase("connecting")
    serves(one, host)
    store.start(0)
    store.start(1)
    one.await_phase()
    assert one.names(store) == ALL


@pytest.mark.parametrize("how", ["lease", "keys"])
def test_what_another_removes_is_published_again(publish, store, how):
    one = publish(store).start().await_phase()
    lease = leases_of(store).pop()
    if how == "lease":
        store.ctl("lease", "revoke", f"{lease:x}")
    else:
        store.ctl("del", "--prefix", "/dpumap/")
    assert await_true(lambda: one.names(store) == ALL, 2 * TTL + 30)
    one.await_phase()
    if how == "lease":
        assert one.status()["registry_leases_lost"] == 1
        one.agent.daemon.await_log("^dpumapd: registry: .*lease")


# -- the process


def test_dpu_that_slept_longer_than_its_lease_publishes_again(publish, store):
    one = publish(store).start().await_phase()
    one.agent.daemon.signal("STOP")
    assert await_true(lambda: not store.records(), TTL + 30)
    one.agent.daemon.signal("CONT")
    assert await_true(lambda: one.names(store) == ALL)
    one.await_phase()


def test_changes_and_reloads_leave_nothing_behind(publish, store):
    """Neither memory nor file descriptors."""
    one = publish(store).start().await_phase()
    daemon = one.agent.daemon

    def change():
        for _ in range(40):
            one.agent.ctl("add", "name=extra,kind=dram,size=4K,label=a=b").ok()
            one.agent.ctl("remove", "extra").ok()
            one.reload().ok()
        one.await_phase()

    change()
    files = daemon.settled_files()
    expect_no_growth(daemon, change)
    daemon.await_open_files(files)
    assert one.names(store) == ALL and one.status()["registry_leases_lost"] == 0


# -- authentication


USER = """\
	tls = {{ ca = "{pki}/ca.crt"; }};
	user = "{name}";
	password_file = "{dir}/password";
"""
PASSWORD = "correct-horse-battery-staple"


def secured(cluster):
    """etcd with TLS and users; dpu-user may write the records of "dpu" only."""
    store = cluster(tls=True, client_auth=False)
    root = "/dpumap/v1/lab/"
    store.ctl("role", "add", "dpu")
    store.ctl("role", "grant-permission", "dpu", "readwrite", f"{root}dpus/dpu")
    store.ctl("role", "grant-permission", "dpu", "readwrite", f"{root}exports/dpu/", "--prefix=true")
    store.ctl("user", "add", f"dpu-user:{PASSWORD}")
    store.ctl("user", "grant-role", "dpu-user", "dpu")
    store.enable_auth()
    return store


def user_settings(one, dpu, store, password=PASSWORD):
    dpu.put({f"{one.name}/password": password + "\n"})
    one.more = USER.format(pki=store.pki.dir, name="dpu-user", dir=one.place)


def test_user_publishes_with_its_password(publish, cluster, dpu):
    store = secured(cluster)
    one = publish(store)
    user_settings(one, dpu, store)
    one.start().await_phase()
    assert one.names(store) == ALL
    one.agent.stop()
    assert not store.records()
    assert PASSWORD not in one.agent.log()


def test_certificate_is_enough_without_users(publish, cluster):
    store = cluster(tls=True)
    one = publish(store)
    files = " ".join(f'{name} = "{store.pki.path(f"client.{end}")}";' for name, end in (("cert", "crt"), ("key", "key")))
    one.more = f'	tls = {{ ca = "{store.pki.path("ca.crt")}"; {files} }};\n'
    one.start().await_phase()
    assert one.names(store) == ALL


def test_certificate_with_a_common_name_is_refused_with_users(publish, cluster, dpu):
    """Which etcd does for each client of its gateway."""
    store = cluster(tls=True)
    store.enable_auth()
    one = publish(store)
    user_settings(one, dpu, store)
    files = (("cert", "crt"), ("key", "key"))
    more = "".join(f'{name} = "{store.pki.path(f"client.{end}")}"; ' for name, end in files)
    one.more = one.more.replace("ca = ", f"{more}ca = ")
    one.start().await_phase("refused")
    assert "no client whose certificate has a common name" in one.status()["registry_problem"]


def test_wrong_password_is_reported_and_corrected_by_a_reload(publish, cluster, dpu, host):
    store = secured(cluster)
    one = publish(store)
    user_settings(one, dpu, store, "wrong-password")
    one.start().await_phase("refused")
    serves(one, host)
    assert "wrong-password" not in one.agent.log() + json.dumps(one.status())
    user_settings(one, dpu, store)
    one.reload().ok()
    one.await_phase()
    assert one.names(store) == ALL


def test_permission_that_is_withdrawn_is_reported(publish, cluster, dpu, host):
    store = secured(cluster)
    one = publish(store)
    user_settings(one, dpu, store)
    one.start().await_phase()
    store.ctl("user", "revoke-role", "dpu-user", "dpu")
    one.agent.ctl("add", "name=late,kind=dram,size=4K").ok()
    one.await_phase("refused")
    serves(one, host)
    store.ctl("user", "grant-role", "dpu-user", "dpu")
    one.await_phase()
    assert await_true(lambda: "exports/dpu/late" in one.names(store))


def test_password_is_left_out_of_dumps(publish, cluster, dpu):
    """As keys are (test_secrets.py)."""
    store = secured(cluster)
    one = publish(store)
    user_settings(one, dpu, store)
    one.start().await_phase()
    dumped, _ = find(one.agent.daemon.pid, PASSWORD.encode())
    assert not dumped


def test_server_with_another_certificate_is_refused(publish, cluster, work):
    """Its CA is not the configured one."""
    other = Pki(work / "other")
    store = cluster(tls=True)
    one = publish(store)
    one.more = f'	tls = {{ ca = "{other.path("ca.crt")}"; }};\n'
    one.start().await_phase("refused")
    assert not store.records()


# -- files of the settings, which the library reads


def test_check_refuses_what_start_refuses(publish, store, dpu):
    one = publish(None)
    one.endpoints = ["https://127.0.0.1:1"]
    dpu.put({"dpu/bad-ca": "none\n"})
    one.more = f'	tls = {{ ca = "{one.place}/bad-ca"; }};\n'
    one.write()
    words = ["dpumapd", "--config", f"{one.place}/dpumapd.conf"]
    for more in (["--check"], []):
        err = dpu.run([*words, *more]).fails(REFUSED)
        assert re.search(r"^dpumapd: .*/dpumapd.conf:5: registry: .*bad-ca", err.splitlines()[-1]), err
    one.endpoints, one.more = store.urls, ""
    one.write()
    dpu.run([*words, "--check"]).ok()
    assert not store.records(), "--check has published"


@pytest.mark.skipif(os.getuid() != 0, reason="only root starts a service as another user")
def test_root_checks_secrets_of_the_user_of_the_service(publish, cluster, dpu):
    store = cluster(tls=True)
    one = publish(store)
    dpu.put({"dpu/etcd.key": pathlib.Path(store.pki.path("client.key")), "dpu/password": "x\n"})
    nobody = pwd.getpwnam("nobody")
    for name in ("etcd.key", "password"):
        os.chmod(f"{one.place}/{name}", 0o600)
        os.chown(f"{one.place}/{name}", nobody.pw_uid, nobody.pw_gid)
    files = f'ca = "{store.pki.path("ca.crt")}"; cert = "{store.pki.path("client.crt")}"; key = "{one.place}/etcd.key";'
    one.more = f'	tls = {{ {files} }}; user = "a"; password_file = "{one.place}/password";\n'
    one.exports = []
    one.write()
    words = ["dpumapd", "--config", f"{one.place}/dpumapd.conf", "--check"]
    dpu.run(words).fails_with(REFUSED, "etcd.key belongs to user")
    with open(f"{one.place}/dpumapd.conf", "a", encoding="utf-8") as file:
        file.write('user = "nobody";\n')
    dpu.run(words).ok()


# -- the service manager


def test_service_manager_is_told_the_state(publish, store, work):
    place = str(work / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        s.bind(place)
        s.settimeout(60)

        def told(pattern):
            while True:
                if re.search(pattern, s.recv(4096).decode(), re.M):
                    return

        one = publish(store).start(env={"NOTIFY_SOCKET": place})
        told("^STATUS=Published as dpu in fleet lab$")
        stop(store)
        told(r"^STATUS=Not published in fleet lab \(connecting\): .")
        start(store)
        told("^STATUS=Published as dpu in fleet lab$")
        one.agent.stop()


def test_watchdog_is_fed_while_etcd_hangs(publish, store, work):
    """Each second, as the service manager asks for, until the end of a request that hangs."""
    place = str(work / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        s.bind(place)
        s.settimeout(60)
        environment = {"NOTIFY_SOCKET": place, "WATCHDOG_USEC": "2000000"}
        one = publish(store).start(env=environment)
        one.await_phase()
        store.freeze(0)
        one.agent.ctl("add", "name=late,kind=dram,size=4K").ok()
        while s.recv(4096) and one.status()["registry"] != "connecting":
            pass
        fed = 0
        while fed < 3:
            fed += b"WATCHDOG=1" in s.recv(4096)
        store.thaw(0)
        one.await_phase()
