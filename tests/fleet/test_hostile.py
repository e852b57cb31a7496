# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A registry that lies. Nothing but unavailability comes of it."""

import json
import threading

import pytest

from harness.etcd import Etcd, free_ports, wait_until
from harness.fleet import PATIENCE
from harness.hostile_etcd import HEADER, Attacker, dpu_record, export_record, kv

ROOT = "/dpumap/v1/f"
GOOD = [kv(f"{ROOT}/dpus/good", dpu_record("good")), kv(f"{ROOT}/exports/good/e", export_record())]
MEMORY_KIB = 300 * 1024  # of a host; the largest answer has 4 MiB, JSON of it some ten times that


@pytest.fixture
def attacker():
    running = []

    def start(kvs=GOOD):
        running.append(Attacker(kvs))
        return running[-1]

    yield start
    for one in running:
        one.close()


def still_there(probe):
    """The host answers, and has not grown without limit."""
    assert probe.status()["event"] == "status"
    assert probe.memory_kib() < MEMORY_KIB


@pytest.mark.parametrize(
    "value",
    [
        "", "x", "[]", "{}", "null", '{"format":0}', '{"format":-1}', '{"format":"1"}', "{" * 4000, "[" * 4000,
        dpu_record("bad", "unix:/run/dpumapd.sock"), dpu_record("bad", "/run/dpumapd.sock"),
        dpu_record("bad", "tls:host:99999"), dpu_record("bad", "tls:ho st:1"), dpu_record("bad", "tls:h\n:1"),
        dpu_record("bad", addresses=[]), dpu_record("bad", addresses=["tls:a:1"] * 9),
        dpu_record("bad", addresses="tls:a:1"), dpu_record("bad", addresses=[1]),
        dpu_record("bad", certificate="good"), dpu_record("bad", certificate=None),
        dpu_record("bad", card="0x12"), dpu_record("bad", card=7), dpu_record("bad", generation=-1),
        dpu_record("bad", generation=1 << 63), dpu_record("bad", generation=1e30), dpu_record("bad", software="\x1b[2J"),
        dpu_record("bad", software="x" * 64), dpu_record("bad", software="nul\0"), dpu_record("bad", software="\u00e9"),
        dpu_record("bad", filler="x" * 4096), dpu_record("bad") + " {}", dpu_record("bad")[:-1],
        b"\xff\xfe" + dpu_record("bad").encode(),
    ],
)
def test_malformed_dpu_is_skipped_with_one_line(attacker, watcher, value):
    seen = watcher(attacker([*GOOD, kv(f"{ROOT}/dpus/bad", value)])).started()
    assert seen.names() == ["good:e"] and seen.dpus() == ["good"]
    (line,) = [line for line in seen.logged() if "is skipped" in line]
    assert f"{ROOT}/dpus/bad" in line and line.isprintable()
    assert seen.status()["skipped"] == 1


@pytest.mark.parametrize(
    "value",
    [
        "", export_record(kind="rom"), export_record(kind=None), export_record(via="pigeon"), export_record(size=-1),
        export_record(size="1"), export_record(size=1 << 63), export_record(access=["root"]), export_record(access="x"),
        export_record(access=[None]), export_record(labels=[]), export_record(labels={"a b": "c"}),
        export_record(labels={"a": 1}), export_record(labels={"a": "\x07"}), export_record(labels={"a": "x" * 64}),
        export_record(labels={f"k{n}": "" for n in range(17)}), export_record(labels={"": ""}),
    ],
)
def test_malformed_export_is_skipped_with_one_line(attacker, watcher, value):
    seen = watcher(attacker([*GOOD, kv(f"{ROOT}/exports/good/bad", value)])).started()
    assert seen.names() == ["good:e"]
    (line,) = [line for line in seen.logged() if "is skipped" in line]
    assert f"{ROOT}/exports/good/bad" in line and line.isprintable()


@pytest.mark.parametrize("name", ["", "a/b", "a b", "a\x1b[31m", "-a", "x" * 64, "\xff", "a:b", ".."])
def test_invalid_names_are_skipped(attacker, watcher, name):
    keys = [kv(f"{ROOT}/dpus/{name}", dpu_record("x")), kv(f"{ROOT}/exports/good/{name}", export_record())]
    seen = watcher(attacker([*GOOD, *keys])).started()
    assert seen.names() == ["good:e"] and seen.dpus() == ["good"]
    assert all(line.isprintable() for line in seen.logged())


def test_a_change_to_nonsense_removes_the_record(attacker, watcher):
    one = attacker()
    begin = threading.Event()

    def watch(_):
        yield one.created()
        begin.wait()
        yield one.events(kv(f"{ROOT}/exports/good/e", "nonsense", revision=11))
        one.idle.wait()

    one.watch_answer = watch
    seen = watcher(one).started()
    begin.set()
    seen.expect("removed", export="e")
    assert seen.names() == [] and seen.dpus() == ["good"]


def test_values_of_a_megabyte_are_skipped(etcd, publisher, watcher):
    """Real ones, as large as etcd takes them: in the list and as events."""
    cluster = etcd(options=["--max-request-bytes", "3000000"])
    one = publisher(cluster, ttl=60).created()
    one.set("a,1,1")
    one.published()
    lease = f"{one.state()['lease']:x}"
    for number in range(12):
        cluster.ctl("put", f"{ROOT}/dpus/big{number}", "--lease", lease, text="x" * 1_400_000)
    seen = watcher(cluster, timeout=60000).started()
    assert seen.dpus() == ["dpu1"] and seen.names() == ["dpu1:a"]
    assert len([line for line in seen.logged() if "is skipped" in line]) == 12
    cluster.ctl("put", f"{ROOT}/dpus/dpu1x", "--lease", lease, text="y" * 1_400_000)
    one.set("b,1,1")
    seen.expect("added", export="b")
    still_there(seen)


def test_answer_without_end(attacker, watcher):
    one = attacker()

    def endless(_):
        while True:
            yield b'{"header":{"cluster_id":"7"},"kvs":[' + b" " * (1 << 20)

    one.range_answer = endless
    seen = watcher(one, timeout=60000).started("DOCA_ERROR_TOO_BIG")
    assert "too long" in seen.seen[-1]["error"]


def test_line_of_a_watch_without_end(attacker, watcher):
    one = attacker()

    def watch(_):
        yield one.created()
        while True:
            yield b"x" * (1 << 20)

    one.watch_answer = watch
    seen = watcher(one)
    wait_until(lambda: one.requests.count("/v3/watch") >= 3)
    seen.take(1)
    assert seen.memory_kib() < MEMORY_KIB


def test_list_without_end(attacker, watcher):
    """Each page claims that there are more: of the same key, or of ever new ones."""
    one = attacker()
    page = {"header": HEADER, "kvs": GOOD[:1], "more": True, "count": "9"}
    one.range_answer = lambda request: page
    watcher(one, timeout=3000).started("DOCA_ERROR_UNEXPECTED")
    count = [0]

    def ever_new(request):
        count[0] += 1
        return {**page, "kvs": [kv(f"{ROOT}/dpus/z{count[0]:09}", dpu_record(f"z{count[0]:09}"))]}

    one.range_answer = ever_new
    watcher(one, timeout=3000).started("DOCA_ERROR_TIME_OUT")


def test_flood_of_events(attacker, watcher):
    one = attacker()
    begin = threading.Event()

    def watch(_):
        yield one.created()
        begin.wait()
        for revision in range(11, 1 << 40):
            change = kv(f"{ROOT}/exports/good/e{revision % 500}", export_record(generation=revision), revision=revision)
            yield one.events(*[change] * 50)

    one.watch_answer = watch
    seen = watcher(one, timeout=60000).started()
    begin.set()
    seen.expect("added", export="e499")
    still_there(seen)
    assert seen.status()["exports"] <= 501


def test_line_that_arrives_in_parts_after_a_long_one(attacker, watcher):
    one = attacker()
    begin, rest = threading.Event(), threading.Event()

    def line(name, revision):
        change = kv(f"{ROOT}/exports/good/{name}", export_record(generation=revision), revision=revision)
        return json.dumps(one.events(change)).encode()

    def watch(_):
        yield one.created()
        begin.wait()
        second = line("second", 12) + b"\n"
        yield line("first", 11) + b" " * 200000 + b"\n" + second[:100]
        rest.wait()
        yield second[100:]
        one.idle.wait()

    one.watch_answer = watch
    seen = watcher(one).started()
    begin.set()
    seen.expect("added", export="first")
    rest.set()
    seen.expect("added", export="second")
    assert one.requests.count("/v3/watch") == 1


def test_watch_that_is_cancelled_again_and_again(attacker, watcher):
    """The host backs off, whatever the reason."""
    one = attacker()
    reasons = iter([{"compact_revision": "9"}, {"cancel_reason": "\x1b[2Jno"}, {}] * 100)
    begin = threading.Event()

    def watch(_):
        if not begin.is_set():
            yield one.created()
            begin.wait()
        yield {"result": {"header": HEADER, "canceled": True, **next(reasons)}}

    one.watch_answer = watch
    seen = watcher(one).started()
    begin.set()
    wait_until(lambda: one.requests.count("/v3/watch") >= 5)
    assert len(one.requests) < 60
    assert all(line.isprintable() for line in seen.logged())


@pytest.mark.parametrize(
    "answer",
    [
        b"", b"null", b"[]", b"{}", b'{"header":7,"kvs":7}', b'{"kvs":[7,null,{}]}', b"<html>", b"{" * 100000,
        b'{"kvs":[{"key":"!!!!"}]}', b'{"kvs":[{"key":7,"value":[]}]}',
        b'{"header":{"cluster_id":"x","revision":"-5"},"kvs":[{"key":"AA==","value":"AA=="}],"more":true}',
        (500, {}, b"oops"), (200, {"Content-Encoding": "gzip"}, b"\x1f\x8b junk"),
        (302, {"Location": "http://127.0.0.1:1/"}, b""),
        (400, {}, b'{"error":7,"code":"x"}'), (400, {}, b'{"message":"\\u001b[2J","code":7}'),
        (401, {}, b'{"message":"invalid auth token","code":16}'),
        (400, {}, b'{"message":"user name is empty","code":3}'),
    ],
)
def test_answers_that_are_not_of_etcd(attacker, watcher, publisher, answer):
    one = attacker()
    one.answer = lambda path, request: answer
    seen = watcher(one, timeout=1000)
    assert seen.expect("started")["event"] == "started"
    publisher = publisher(one).created()
    publisher.set("a,1,1")
    assert publisher.state()["published"] == 0
    assert all(line.isprintable() for line in [*publisher.logged(), str(seen.seen)])


def test_overloaded_member_is_not_called_another_program(attacker, publisher):
    one = attacker()
    one.answer = lambda path, request: (503, {}, b"upstream connect error")
    publisher = publisher(one).created()
    publisher.set("a,1,1")
    wait_until(lambda: "HTTP status 503: it is overloaded" in "".join(publisher.logged()))
    assert not any("not one of etcd" in line for line in publisher.logged())


class Members:
    """Three members; the one that gets the first login no longer accepts its token once it is told so."""

    def __init__(self, attacker):
        self.all = [attacker() for _ in range(3)]
        self.logins = []  # that succeeded, at these members
        self.expired, self.watch_ends, self.login_waits, self.login_fails = (threading.Event() for _ in range(4))
        for one in self.all:
            one.answer = lambda path, request, one=one: self.answer(one, path, request)

    def answer(self, one, path, request):
        has_expired = self.expired.is_set() and one is self.logins[0]
        if path == "/v3/auth/authenticate" and has_expired:
            self.login_waits.set()
            self.login_fails.wait(PATIENCE)
            return (503, {}, b"overloaded")
        if path == "/v3/auth/authenticate":
            self.logins.append(one)
            return {"header": HEADER, "token": "secret"}
        if path == "/v3/kv/range" and has_expired:
            return (401, {}, b'{"message":"invalid auth token","code":16}')
        return self.watch(one) if path == "/v3/watch" else Attacker.answer(one, path, request)

    def watch(self, one):
        yield one.created()
        (self.watch_ends if one is self.logins[0] else one.idle).wait()


def test_login_that_fails_late_blames_the_member_that_it_was_sent_to(attacker, watcher, place):
    """Meanwhile the watch at this member ends, so that the next one is in use."""
    members = Members(attacker)
    (place / "password").write_text("secret\n", encoding="ascii")
    (place / "password").chmod(0o600)
    urls = [one.urls[0] for one in members.all]
    seen = watcher(urls, user="host", password_file=place / "password").started()
    at = members.all.index(members.logins[0])
    members.expired.set()
    assert members.login_waits.wait(PATIENCE)
    members.watch_ends.set()
    wait_until(lambda: f"etcd at {urls[at]} fails" in "".join(seen.logged()))
    members.login_fails.set()
    wait_until(lambda: len(members.logins) > 1)
    assert members.logins[1] is members.all[(at + 1) % 3]
    assert not [line for line in seen.logged() if f"etcd at {urls[(at + 1) % 3]} fails" in line]


def test_revision_of_the_far_future(attacker, watcher):
    """A watch from there would never hear anything: when etcd says less, all is read again."""
    one = attacker()
    header = {**HEADER, "revision": str((1 << 62) + 1)}
    one.range_answer = lambda request: {"header": header, "kvs": []}
    seen = watcher(one).started()
    del one.range_answer
    seen.expect("resynced")
    assert seen.names() == ["good:e"]


def test_publisher_with_a_lying_registry(attacker, publisher):
    """Leases that never were, transactions that succeed without a trace, and holders out of nowhere."""
    one = attacker()
    answers = {
        "/v3/lease/grant": {"header": HEADER, "ID": "77", "TTL": "3"},
        "/v3/lease/keepalive": {"result": {"header": HEADER, "ID": "77", "TTL": "0"}},
    }
    kvs = [kv(f"{ROOT}/dpus/dpu1", "\x1b[2J", lease=9), kv("x" * 5000, "y"), {"key": 7}, 8]
    txns = [
        {"header": HEADER, "succeeded": True},
        {"header": HEADER, "succeeded": True, "responses": [{"response_range": {"kvs": kvs}}]},
        {"header": HEADER, "responses": [{"response_range": {"kvs": kvs}}]},
        {"header": HEADER, "responses": 7},
        {"header": HEADER},
    ]
    count = [0]

    def answer(path, _):
        if path == "/v3/kv/txn":
            count[0] += 1
            return txns[count[0] % len(txns)]
        return answers.get(path, {"header": HEADER})

    one.answer = answer
    publisher = publisher(one).created()
    publisher.set("a,1,1")
    wait_until(lambda: count[0] > 20)
    assert publisher.state()["event"] == "state"
    assert all(line.isprintable() for line in publisher.logged())
    assert publisher.memory_kib() < MEMORY_KIB


def test_host_recovers_when_the_attacker_is_gone(attacker, watcher, publisher, place):
    one = attacker([*GOOD, kv(f"{ROOT}/dpus/fake", dpu_record("fake"))])
    port = one.server.server_port
    seen = watcher(one).started()
    assert seen.dpus() == ["fake", "good"]
    one.close()
    seen.expect("stale")
    cluster = Etcd(place / "etcd", ports=[port, *free_ports(1)])
    try:
        real = publisher(cluster).created()
        real.set("a,1,1")
        real.published()
        seen.expect("live")
        wait_until(lambda: seen.dpus() == ["dpu1"])
    finally:
        cluster.close()


class TestNames:
    """Connecting by name to a real dpumapd, with a registry that lies about everything."""

    @staticmethod
    def registry(attacker, name, address, **more):
        kvs = [
            kv(f"{ROOT}/dpus/{name}", dpu_record(name, address)),
            kv(f"{ROOT}/exports/{name}/e0", export_record(size=1, access=["pci-read-write"], **more)),
        ]
        return attacker(kvs)

    @staticmethod
    def words(machine):
        return [f"{machine.dir}/pki/{name}" for name in ("host.crt", "host.key", "ca.crt")]

    def test_right_name_connects_and_the_dpu_says_its_sizes(self, attacker, watcher, agent, host):
        running = agent("kind=dram,size=64K")
        seen = watcher(self.registry(attacker, "dpu", running.address)).started()
        assert seen.ask("resolve", "dpu:e0")["size"] == 1
        answer = seen.ask("connect", "dpu:e0", *self.words(host))
        assert answer["result"] == "DOCA_SUCCESS", answer
        assert [(line["export"], line["size"]) for line in answer["list"]] == [("e0", 65536)]

    def test_other_name_at_the_same_address_is_refused(self, attacker, watcher, agent, host):
        """The certificate is valid and of the same authority, but for another name."""
        running = agent("kind=dram,size=64K")
        seen = watcher(self.registry(attacker, "dpu9", running.address)).started()
        answer = seen.ask("connect", "dpu9:e0", *self.words(host))
        assert answer["result"] == "DOCA_ERROR_AUTHENTICATION" and answer["list"] == []
        assert "dpu9" in answer["error"] and running.address in answer["error"]

    def test_next_address_is_tried(self, attacker, watcher, agent, host):
        running = agent("kind=dram,size=64K")
        record = dpu_record("dpu", addresses=["tls:127.0.0.1:1", running.address])
        seen = watcher(attacker([kv(f"{ROOT}/dpus/dpu", record)])).started()
        assert seen.ask("connect", "dpu", *self.words(host))["result"] == "DOCA_SUCCESS"

    def test_preshared_key_proves_no_name(self, attacker, watcher, place):
        seen = watcher(self.registry(attacker, "dpu", "tls:127.0.0.1:1")).started()
        (place / "psk").write_text("host:" + "ab" * 32 + "\n", encoding="utf-8")
        answer = seen.ask("connect-psk", "dpu", place / "psk", event="connect")
        assert answer["result"] == "DOCA_ERROR_BAD_CONFIG" and "does not prove" in answer["error"]
