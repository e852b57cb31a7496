# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""dpumap finds exports by name in a real etcd, whose records the test writes."""

import json
import os
import re

import pytest

from harness.agents import ABSENT, REFUSED, WRONG
from harness.etcd import free_ports
from harness.records import FleetTool, Records, Registry
from harness.machine import await_true
from harness.schema import check_schema

pytestmark = [pytest.mark.local, pytest.mark.usefixtures("nothing_left")]
DPU_CONFIG = """\
listen = [ "tls:127.0.0.1:{port}" ];
admin = "{place}/admin";
tls = {{ cert = "{pki}/{name}.crt"; key = "{pki}/{name}.key"; ca = "{pki}/ca.crt"; }};
exports = ( {{ name = "bulk"; kind = "dram"; size = "64K"; perm = "{perm}"; allow = "cert:host"; }},
	{{ name = "secret"; kind = "dram"; size = "4K"; allow = "cert:other"; }} );
"""


@pytest.fixture(scope="module")
def pki(openssl_pki):
    for name in ("dpu1", "dpu2"):
        openssl_pki.issue(name, "serverAuth", f"DNS:{name},IP:127.0.0.1")
    openssl_pki.issue("host", "clientAuth")
    return openssl_pki


@pytest.fixture(scope="module")
def etcd():
    """The registry of the tests that leave it alive; each test has a fleet of its own."""
    made = Registry()
    yield made
    made.remove()


@pytest.fixture
def own_etcd():
    made = Registry()
    yield made
    made.remove()


@pytest.fixture
def fleet(request):
    """A name that no other test uses."""
    return re.sub("[^a-z0-9]", "-", request.node.name.removeprefix("test_"))[:60].strip("-")


@pytest.fixture
def records(etcd, fleet):
    return Records(etcd, fleet)


@pytest.fixture
def dpumap(host, etcd, fleet, pki):
    return FleetTool(host, etcd, fleet, pki)


@pytest.fixture
def watches():
    """Daemons that the test started."""
    started = []
    yield started
    for one in started:
        one.end()


@pytest.fixture
def two_dpus(serve, dpu, pki):
    """{name: (dpumapd, its address)} of two DPUs with a certificate each."""
    found = {}
    for name, perm in (("dpu1", "rw"), ("dpu2", "rw")):
        place = f"{dpu.dir}/{name}"
        os.makedirs(place, mode=0o700, exist_ok=True)
        words = {"port": free_ports(1)[0], "place": place, "pki": pki.dir, "name": name, "perm": perm}
        dpu.put({f"{name}/dpumapd.conf": DPU_CONFIG.format(**words)})
        agent = serve("--config", f"{place}/dpumapd.conf")
        agent.admin = f"{place}/admin"
        found[name] = (agent, agent.address)
    return found


# -- list and status


def test_list_is_sorted_and_has_patterns_and_labels(records, dpumap):
    for dpu in ("dpu2", "dpu10", "dpu1"):
        gpu = "no" if dpu == "dpu2" else "yes"
        records.dpu(dpu).export(dpu, "fast").export(dpu, "bulk", labels={"gpu": gpu, "rack": "r17"})
    every = sorted(f"{dpu}:{name}" for dpu in ("dpu1", "dpu10", "dpu2") for name in ("bulk", "fast"))
    assert sorted(dpumap.names()) == every
    assert dpumap.names() == sorted(dpumap.names(), key=lambda name: name.split(":"))
    assert dpumap.names("dpu*:bulk") == ["dpu1:bulk", "dpu10:bulk", "dpu2:bulk"]
    assert dpumap.names("dpu?:bulk") == ["dpu1:bulk", "dpu2:bulk"]
    assert dpumap.names("dpu10") == ["dpu10:bulk", "dpu10:fast"]
    assert dpumap.names("--label", "gpu=yes") == ["dpu1:bulk", "dpu10:bulk"]
    assert dpumap.names("dpu?", "--label", "gpu=yes", "--label", "rack=r*") == ["dpu1:bulk"]
    assert dpumap.names("--label", "gpu=yes", "--label", "gpu=no") == []
    assert len(dpumap.names("--label", "rack")) == 3
    assert dpumap.names("nothing*") == []


def test_list_prints_what_the_registry_says(records, dpumap, fleet):
    records.dpu("dpu1").export("dpu1", "bulk", size=1 << 20, labels={"gpu": "yes", "a": "1"})
    records.export("dpu1", "ro", access=["pci-read-only"], via="pci", kind="dm", generation=7)
    lines = dpumap("list").ok().splitlines()
    assert lines[0].split() == ["NAME", "KIND", "SIZE", "PERMISSIONS", "VIA", "LABELS"]
    assert re.fullmatch(r"dpu1:bulk +dram +1M +read-write +RDMA +a=1,gpu=yes", lines[1]), lines
    assert re.fullmatch(r"dpu1:ro +dm +64K +read-only +PCI", lines[2]), lines
    listed = check_schema("dpumap-fleet-list-1", dpumap.json("list"))
    assert (listed["fleet"], listed["live"], listed["age_seconds"]) == (fleet, True, 0)
    bulk, read_only = listed["exports"]
    assert (bulk["dpu"], bulk["name"], bulk["perm"]) == ("dpu1", "bulk", "rw")
    assert bulk["labels"] == {"gpu": "yes", "a": "1"}
    assert (read_only["perm"], read_only["via"], read_only["generation"]) == ("ro", "pci", 7)


def test_an_empty_fleet_is_empty(dpumap):
    assert dpumap.names() == []
    assert check_schema("dpumap-fleet-list-1", dpumap.json("list"))["exports"] == []
    assert check_schema("dpumap-fleet-status-1", dpumap.json("fleet", "status"))["num_dpus"] == 0


def test_records_of_the_future_need_a_newer_dpumap(records, dpumap):
    records.dpu("dpu1").export("dpu1", "new", format=2, kind="hologram").export("dpu1", "old")
    records.dpu("dpu2", format=7, addresses={"quic": 1})
    assert re.search("^dpu1:new +needs a newer dpumap$", dpumap("list").ok(), re.M)
    check_schema("dpumap-fleet-list-1", dpumap.json("list"))
    assert re.search("^dpu2 .*needs a newer dpumap$", dpumap("fleet", "status").ok(), re.M)
    status = check_schema("dpumap-fleet-status-1", dpumap.json("fleet", "status"))
    assert status["num_newer"] == 2
    dpumap("read", "dpu1:new").fails_with(REFUSED, "newer dpumap")
    dpumap("info", "dpu2").fails_with(REFUSED, "newer dpumap")


def test_status_has_leases_and_members(records, dpumap, etcd):
    records.dpu("dpu1", "tls:192.0.2.7:7470", ttl=500).export("dpu1", "bulk").dpu("dpu2")
    text = dpumap("fleet", "status").ok()
    assert re.search(r"^dpu1 +1  \d+ of 500 s +0\.9 +tls:192\.0\.2\.7:7470$", text, re.M), text
    assert re.search(rf"^m0 +leader +3\S+ .*{etcd.urls[0]}$", text, re.M), text
    status = check_schema("dpumap-fleet-status-1", dpumap.json("fleet", "status"))
    assert [dpu["name"] for dpu in status["dpus"]] == ["dpu1", "dpu2"]
    assert 0 < status["dpus"][0]["lease_remaining"] <= status["dpus"][0]["lease_granted"] == 500
    assert [member["healthy"] for member in status["members"]] == [True]
    some = dpumap.json("fleet", "status", "*2")
    assert [dpu["name"] for dpu in some["dpus"]] == ["dpu2"]


def test_status_says_which_member_is_down(host, pki):
    etcd = Registry(3)
    try:
        dpumap = FleetTool(host, etcd, "lab", pki)
        etcd.kill(1)
        assert await_true(lambda: dpumap("fleet", "status").status == 0)
        members = dpumap.json("fleet", "status")["members"]
        assert sorted(member["healthy"] for member in members) == [False, True, True], members
        down = next(member for member in members if not member["healthy"])
        assert down["endpoint"] == etcd.urls[1] and down["problem"]
        assert "FAILED" in dpumap("fleet", "status").ok()
    finally:
        etcd.remove()


# -- bad input


WRONG_WORDS = (
    (("list", "--connect", "/x"), "--fleet and --connect exclude each other"),
    (("read", "dpu1:bulk", "--server", "x"), "--fleet and --server exclude each other"),
    (("info", "--descriptor", "x"), "--fleet and --descriptor exclude each other"),
    (("read", "bulk"), "an export is named DPU:EXPORT"),
    (("cp", "a", ":bulk"), "an export is named DPU:EXPORT"),
    (("cp", "dpu1:a", "dpu2:b"), "cp needs one export and one file"),
    (("info",), "info needs DPU or DPU:EXPORT"),
    (("dump", "./dpu1:bulk"), "an export is named DPU:EXPORT"),
)


@pytest.mark.parametrize("words, why", WRONG_WORDS, ids=[" ".join(words) for words, _ in WRONG_WORDS])
def test_wrong_words_are_refused(dpumap, words, why):
    assert why in dpumap(*words).fails(WRONG)


def test_without_a_fleet_its_words_are_refused(host):
    def run(*words):
        return host.run(["dpumap", *words, "--connect", f"{host.dir}/none"])

    assert "--label and --connect exclude" in run("list", "--label", "a=b").fails(WRONG)
    host.run(["dpumap", "fleet", "status"]).fails_with(REFUSED, "no fleet is configured")
    host.run(["dpumap", "--fleet", "lab", "list"]).fails_with(REFUSED, "no registry is configured")
    assert "cp needs one export" in host.run(["dpumap", "cp", "a:b", "c"]).fails(WRONG)


@pytest.mark.parametrize("name", ["a/b", "", "-a", "é", "x" * 64, "a b"])
def test_bad_names_of_fleets_are_refused(dpumap, name):
    """They cannot reach other keys of etcd."""
    words = [name if word == dpumap.options[1] else word for word in dpumap.options]
    done = dpumap.host.run(["dpumap", "list", *words])
    done.fails_with(REFUSED, f'the name "{name}": use 1 to 63 letters')


@pytest.mark.parametrize("name", ["dpu1:../x", "a/b:c", "dpu1:*", "*:bulk", "dpu1:a:b", "é:b"])
def test_bad_names_of_exports_are_refused(records, dpumap, name):
    records.dpu("dpu1").export("dpu1", "bulk")
    assert dpumap("read", name).fails(REFUSED, WRONG, ABSENT)


def test_unknown_names_are_not_found(records, dpumap):
    records.dpu("dpu1").export("dpu1", "bulk")
    dpumap("read", "dpu1:nothing").fails_with(ABSENT, 'dpu1:nothing.*see dpumap --fleet')
    dpumap("read", "dpu9:bulk").fails_with(ABSENT, "dpu9")
    dpumap("info", "dpu9").fails_with(ABSENT, "dpu9")
    dpumap("info", "bulk").fails_with(ABSENT, 'no DPU called "bulk" .an export is DPU:EXPORT.; see')


CONFIGS = (
    ("registry = 7;", "registry must be a group"),
    ("registry = { };", "registry must have endpoints"),
    ("registry = { endpoints = 7; };", "endpoints must be an array"),
    ('registry = { endpoints = [ "ftp://x" ]; };', "endpoints must contain URLs"),
    ('registry = { endpoints = [ "http://127.0.0.1:1" ]; fleat = "x"; };', "fleat is not one of"),
    ('registry = { endpoints = [ "http://127.0.0.1:1" ]; user = "x"; };', "must have both user and password_file"),
    ('registry = { endpoints = [ "http://127.0.0.1:1" ]; tls = { cert = "/x"; }; };', "must have both tls.cert and tls.key"),
    ('registry = { endpoints = [ "http://127.0.0.1:1" ]; tls = { ca = "x"; }; };', "ca must be an absolute path"),
    ('registry = { endpoints = [ "http://127.0.0.1:1" ]; tls = { crl = "/x"; }; };', "crl is not one of ca"),
    ('registry = { endpoints = [ "http://127.0.0.1:1" ]; tls = 1; };', "tls must be a group"),
    ('registry = { endpoints = [ "https://127.0.0.1:1" ]; };', "needs tls"),
)


@pytest.mark.parametrize("text, why", CONFIGS, ids=[why for _, why in CONFIGS])
def test_configuration_errors_name_file_and_line(host, text, why):
    host.put({"wrong.conf": f"timeout = 5;\n{text}\n"})
    done = host.run(["dpumap", "--fleet", "lab", "list", "--config", f"{host.dir}/wrong.conf"])
    done.fails_with(REFUSED, rf"wrong\.conf:2: .*{why}")


# -- copies by name


def test_copies_go_to_the_dpu_that_is_named(records, dpumap, two_dpus, host):
    for name, (_, address) in two_dpus.items():
        records.dpu(name, address).export(name, "bulk", access=["pci-read-write"], via="pci")
        host.run(f"head -c 5000 /dev/urandom >{name}.bin").ok()
    for name in two_dpus:
        dpumap("cp", f"{name}.bin", f"{name}:bulk").ok()
    for name in two_dpus:
        dpumap("cp", f"{name}:bulk", "got", "--length", "5000").ok()
        assert host.get("got") == host.get(f"{name}.bin")
        assert dpumap("read", f"{name}:bulk", "-n", "5000").data == host.get(f"{name}.bin")
    dpumap("cp", "dpu1.bin", "dpu2:bulk", "out").ok()
    assert host.get("out") == host.get("dpu1.bin")
    dpumap("fill", "dpu1:bulk", "41").ok()
    assert "41 41 41" in dpumap("dump", "dpu1:bulk", "-n", "16").ok()
    assert dpumap.json("bench", "dpu1:bulk", "--size", "64", "--count", "10")
    assert "imported" in dpumap("import", "dpu2:bulk").ok()
    dpumap("get", "dpu2:bulk", "saved.desc").ok()
    info = dpumap.json("info", "dpu1:bulk")
    assert (info["dpu"], info["export"]["name"], info["export"]["size"]) == ("dpu1", "bulk", 65536)
    assert dpumap.json("info", "dpu1")["dpu"] == "dpu1"


def test_the_fleet_of_the_configuration_is_the_default(host, etcd, fleet, pki, records, two_dpus):
    records.dpu("dpu1", two_dpus["dpu1"][1]).export("dpu1", "bulk")
    dpumap = FleetTool(host, etcd, fleet, pki, f'fleet = "{fleet}";')
    dpumap.options = dpumap.options[2:]
    dpumap("fill", "dpu1:bulk").ok()
    assert dpumap.names("dpu*:bulk") == ["dpu1:bulk"]
    assert dpumap("fleet", "status").ok()
    # Without a name of a fleet, it is that of the dpumapd here.
    for words in (("list",), ("info", "bulk"), ("read", "bulk")):
        dpumap(*words).fails_with(ABSENT, f"cannot connect.*; an export of fleet {fleet} is DPU:EXPORT$")


def test_addresses_are_tried_in_turn(records, dpumap, two_dpus):
    records.dpu("dpu1", f"tls:127.0.0.1:{free_ports(1)[0]}", two_dpus["dpu2"][1], two_dpus["dpu1"][1])
    records.export("dpu1", "bulk")
    dpumap("fill", "dpu1:bulk").ok()


# -- the registry lies


def test_a_wrong_address_is_refused(records, dpumap, two_dpus, host):
    """The DPU there has the certificate of another name."""
    records.dpu("dpu1", two_dpus["dpu2"][1]).export("dpu1", "bulk")
    host.run("head -c 5000 /dev/urandom >secret.bin").ok()
    done = dpumap("cp", "secret.bin", "dpu1:bulk")
    done.fails_with(REFUSED, "DPU dpu1: .*certificate")
    assert "unknown" not in dpumap("info", "dpu1").fails(REFUSED)
    agent = two_dpus["dpu2"][0]
    assert agent.figure("imports") == 0
    host.run(f"rm -f got; true")
    dpumap("read", "dpu1:bulk", "got").fails(REFUSED)
    assert host.run("test -e got").status == 1


def test_a_record_cannot_choose_the_name_to_prove(records, dpumap, two_dpus):
    records.dpu("dpu1", two_dpus["dpu2"][1], certificate="dpu2").export("dpu1", "bulk")
    dpumap("fill", "dpu1:bulk").fails(REFUSED, ABSENT)
    assert two_dpus["dpu2"][0].figure("imports") == 0


def test_size_and_permissions_are_those_of_the_dpu(records, dpumap, two_dpus):
    records.dpu("dpu1", two_dpus["dpu1"][1])
    records.export("dpu1", "bulk", size=1 << 40, access=["pci-read-only"], via="pci")
    records.export("dpu1", "secret")
    info = dpumap.json("info", "dpu1:bulk")["export"]
    assert (info["size"], info["perm"]) == (65536, "rw")
    dpumap("write", "dpu1:bulk", data=bytes(65537)).fails_with(REFUSED, "65536 bytes")
    dpumap("write", "dpu1:bulk", data=bytes(65536)).ok()
    dpumap("read", "dpu1:secret").fails_with(ABSENT, "secret")


def test_a_pre_shared_key_proves_no_name(records, dpumap, two_dpus, host):
    records.dpu("dpu1", two_dpus["dpu1"][1]).export("dpu1", "bulk")
    host.put({"psk": f"host:{'ab' * 32}\n"})
    done = dpumap("read", "dpu1:bulk", "--psk", f"{host.dir}/psk")
    done.fails_with(REFUSED, "a pre-shared key does not prove the name")


def test_hostile_records_are_skipped_with_one_line_each(records, dpumap):
    records.dpu("dpu1").export("dpu1", "good")
    lease = records.lease("dpu1")
    hostile = {
        "big": b'{"format":1,"kind":"' + b"x" * (1 << 20) + b'"}',
        "nothing": b"",
        "text": b"no JSON",
        "nested": b'{"format":' + b"[" * 5000 + b"]" * 5000 + b"}",
        "control": b'{"format":1,"kind":"dram","size":1,"access":[],"via":"pci","generation":1,'
        b'"labels":{"a":"\\u001b[31m\\u0007"}}',
        "negative": b'{"format":1,"kind":"dram","size":-1,"access":[],"via":"pci","generation":1}',
        "huge": b'{"format":1,"kind":"dram","size":99999999999999999999,"access":[],"via":"pci","generation":1}',
    }
    for name, value in hostile.items():
        records.put(records.key("dpu1", name), value, lease)
    records.put(f"/dpumap/v1/{records.fleet}/exports/dpu1/e\x1b[31m\n", b"{}", lease)
    records.put(f"/dpumap/v1/{records.fleet}/exports/" + "x" * 5000, b"{}", lease)
    records.put(f"/dpumap/v1/{records.fleet}/exports/../../x", b"{}", lease)
    done = dpumap("list")
    assert [line.split()[0] for line in done.ok().splitlines()[1:]] == ["dpu1:good"]
    lines = done.err.splitlines()
    assert len(lines) == len(hostile) + 3, done.err
    assert all(line.startswith("dpumap: ") and line.isprintable() for line in lines)
    assert done.out.isascii() and "\x1b" not in done.out + done.err


# -- watch


def events(watch):
    return [check_schema("dpumap-fleet-watch-1", json.loads(line)) for line in watch.out().splitlines()]


def await_event(watch, event, name=None):
    def seen():
        return any(one["event"] == event and name in (None, one.get("name")) for one in events(watch))

    assert await_true(seen), f"no {event} of {name} in: {watch.out()}{watch.log()}"


def test_watch_prints_changes(records, dpumap, watches):
    records.dpu("dpu1").export("dpu1", "bulk", labels={"gpu": "no"})
    everything = dpumap.daemon("watch-all", "watch", "--json")
    some = dpumap.daemon("watch-some", "watch", "dpu*:bulk", "--label", "gpu=yes", "--json")
    watches += [everything, some]
    for watch in watches:
        await_event(watch, "watching")
    records.export("dpu1", "bulk", labels={"gpu": "yes"}, generation=2).export("dpu1", "fast")
    await_event(everything, "changed", "dpu1:bulk")
    await_event(everything, "added", "dpu1:fast")
    await_event(some, "changed", "dpu1:bulk")
    records.dpu("dpu2").export("dpu2", "bulk", labels={"gpu": "yes"})
    await_event(everything, "added", "dpu2")
    await_event(some, "added", "dpu2:bulk")
    records.remove("dpu1", "fast")
    await_event(everything, "removed", "dpu1:fast")
    records.revoke("dpu2")
    await_event(everything, "removed", "dpu2:bulk")
    await_event(everything, "removed", "dpu2")
    await_event(some, "removed", "dpu2:bulk")
    seen = [(one["event"], one.get("name")) for one in events(some)[1:]]
    assert seen == [("changed", "dpu1:bulk"), ("added", "dpu2:bulk"), ("removed", "dpu2:bulk")]
    assert events(some)[1]["export"]["labels"] == {"gpu": "yes"}


def test_last_record_is_skipped_once(records, dpumap, watches):
    """Although the watch begins with its revision."""
    records.dpu("dpu1")
    records.put(records.key("dpu1", "bad"), b"no JSON", records.lease("dpu1"))
    watch = dpumap.daemon("watch-bad", "watch", "--json")
    watches.append(watch)
    await_event(watch, "watching")
    records.export("dpu1", "good")
    await_event(watch, "added", "dpu1:good")
    assert watch.log().count("is skipped") == 1, watch.log()


def test_watch_ends_after_its_count(records, dpumap, watches):
    records.dpu("dpu1")
    watch = dpumap.daemon("watch-count", "watch", "dpu1:later", "--count", "1")
    watches.append(watch)
    watch.await_output("^absent +dpu1:later$")
    records.export("dpu1", "other").export("dpu1", "later")
    assert await_true(lambda: watch.status() is not None)
    assert watch.status() == 0
    assert watch.out().splitlines()[-1].split() == ["added", "dpu1:later"]


def test_watch_goes_on_when_etcd_comes_back(host, own_etcd, pki, watches):
    """And reads everything again if etcd has forgotten changes meanwhile."""
    records, dpumap = Records(own_etcd, "lab"), FleetTool(host, own_etcd, "lab", pki)
    for name in ("dpu1", "dpu2"):
        records.dpu(name).export(name, "bulk")
    watch = dpumap.daemon("watch-back", "watch", "--json")
    watches.append(watch)
    await_event(watch, "watching")
    own_etcd.stop_all()
    await_event(watch, "stale")
    watch.signal("STOP")
    own_etcd.start_all()
    records.export("dpu1", "new")
    records.revoke("dpu2")
    own_etcd.ctl("compact", own_etcd.revision())
    watch.signal("CONT")
    await_event(watch, "added", "dpu1:new")
    await_event(watch, "removed", "dpu2:bulk")
    await_event(watch, "resynced")
    await_event(watch, "live")


# -- without etcd


def test_hosts_go_on_with_what_they_knew(host, own_etcd, pki, two_dpus):
    records, dpumap = Records(own_etcd, "lab"), FleetTool(host, own_etcd, "lab", pki)
    records.dpu("dpu1", two_dpus["dpu1"][1]).export("dpu1", "bulk")
    assert dpumap.names() == ["dpu1:bulk"]
    own_etcd.stop_all()
    done = dpumap("list")
    assert "dpu1:bulk" in done.ok()
    assert re.search(r"cannot be reached \(.+\): this is what was known \d+ s ago$", done.err.strip(), re.M)
    listed = check_schema("dpumap-fleet-list-1", dpumap.json("list"))
    assert (listed["live"], len(listed["exports"])) == (False, 1) and listed["age_seconds"] > 0
    dpumap("fill", "dpu1:bulk", "42").ok()
    status = dpumap("fleet", "status", "--json")
    assert status.status == ABSENT
    object_ = check_schema("dpumap-fleet-status-1", json.loads(status.out))
    assert (object_["live"], [one["name"] for one in object_["dpus"]]) == (False, ["dpu1"])
    assert [member["healthy"] for member in object_["members"]] == [False]
    own_etcd.start_all()
    records.export("dpu1", "new")
    assert dpumap.names() == ["dpu1:bulk", "dpu1:new"]


def test_a_registry_that_hangs_is_named_and_the_cache_offered(host, own_etcd, pki, two_dpus):
    records, dpumap = Records(own_etcd, "lab"), FleetTool(host, own_etcd, "lab", pki)
    records.dpu("dpu1", two_dpus["dpu1"][1]).export("dpu1", "bulk")
    dpumap("list", "--cached").fails_with(ABSENT, "nothing valid is stored about the fleet yet: omit --cached")
    assert dpumap.names() == ["dpu1:bulk"]
    own_etcd.freeze(0)
    try:
        dpumap.options[-1] = "2"  # seconds to wait
        done = dpumap("list")
        assert "dpu1:bulk" in done.ok()
        waits = r"^dpumap: waiting for the registry of fleet lab at http.* \(--cached uses what was known\)$"
        assert re.search(waits, done.err, re.M), done.err
        assert re.search(r"cannot be reached \(.+\): this is what was known \d+ s ago$", done.err.strip()), done.err
        # Asking would take longer than the test may.
        dpumap.options[-1] = "3600"
        for words in (["list"], ["info", "dpu1:bulk"], ["cp", "/etc/hostname", "dpu1:bulk"]):
            done = dpumap(*words, "--cached")
            done.ok()
            assert re.search("this is what was known of fleet lab .* ago$", done.err.strip()), done.err
    finally:
        own_etcd.thaw(0)


def test_without_a_cache_an_absent_registry_is_an_error(host, own_etcd, pki):
    dpumap = FleetTool(host, own_etcd, "lab", pki)
    own_etcd.stop_all()
    assert "()" not in dpumap("list").fails(ABSENT)
    dpumap("read", "dpu1:bulk").fails(ABSENT)
    error = json.loads(dpumap("list", "--json").out)
    assert error["exit"] == ABSENT


@pytest.mark.parametrize("spoil", ["echo nonsense >{}", ": >{}", "head -c 100 /dev/urandom >{}", "chmod 666 {}"])
def test_a_spoilt_cache_is_not_used(host, own_etcd, pki, spoil):
    records, dpumap = Records(own_etcd, "lab"), FleetTool(host, own_etcd, "lab", pki)
    records.dpu("dpu1").export("dpu1", "bulk")
    dpumap("list").ok()
    own_etcd.stop_all()
    host.run(spoil.format(f"{dpumap.cache}/dpumap/fleet-lab.json")).ok()
    dpumap("list").fails(ABSENT, REFUSED)
    own_etcd.start_all()
    assert dpumap.names() == ["dpu1:bulk"]


# -- without a fleet


def loaded(dpumap, *words):
    """The libraries that a command loads."""
    done = dpumap.host.run(dpumap.words(*words), env={**getattr(dpumap, "environment", {}), "LD_DEBUG": "files"})
    return done.err


def test_libcurl_is_loaded_only_for_a_fleet(records, dpumap, two_dpus, tool):
    records.dpu("dpu1")
    assert "libcurl" in loaded(dpumap, "list")
    agent = two_dpus["dpu1"][0]
    plain = tool(agent)
    said = loaded(plain, "list")
    assert "libibverbs" in said and "libcurl" not in said and "dpumap-fleet" not in said
