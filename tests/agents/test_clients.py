# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Clients of dpumapd: several at once, those of other users, and those that do not behave, which come
over a Unix socket and over TLS."""

import contextlib
import hashlib
import os
import ssl
import struct
import time

import pytest

from harness.agents import ABSENT, REFUSED, Agent, Tool
from harness.machine import PATIENCE, await_true
from harness.wire import HELLO, cbor, context, details, frame, is_closed, reach, receive, request

pytestmark = pytest.mark.local
LIMIT = 8
PROGRAM = f"{os.environ.get('DPUMAP_BIN')}/dpumap"
CONFIG = """\
listen = [ "tls:127.0.0.1:0", "unix:{socket}" ];
tls = {{ cert = "{pki}/dpu.crt"; key = "{pki}/dpu.key"; ca = "{pki}/ca.crt"; crl = "{pki}/ca.crl"; }};
max_clients = 8;
{more}
exports = (
	{{ name = "bulk"; kind = "dram"; size = "1M"; allow = [ "cert:web", "uid:{uid}" ]; }},
	{{ name = "fast"; kind = "dm"; size = "4K"; allow = [ "cert:web", "uid:{uid}" ]; }},
	{{ name = "far"; kind = "dram"; size = "4K"; via = "rdma"; allow = [ "cert:web", "uid:{uid}" ]; }},
	{{ name = "hide"; kind = "dram"; size = "4K"; allow = [ "cert:other" ]; }} );
"""

MALFORMED = {
    "an empty frame": (b"\0\0\0\0", b"malformed frame"),
    "an endless frame": (b"\xff\xff\xff\xff", b"malformed frame"),
    "a frame above the limit": (struct.pack("<I", 65537), b"malformed frame"),
    "bytes that are not CBOR": (frame(b"\xff" * 9), b"malformed message"),
    "a deep nest": (frame(b"\x81" * 65536), b"malformed message"),
    "an endless map": (frame(b"\xbb" + b"\xff" * 8), b"malformed message"),
    "trailing bytes": (frame(cbor({"id": 1, "op": "list"}) + b"\0"), b"malformed message"),
    "a missing id": (frame(cbor({"op": "list"})), b"it has no id"),
    "a missing operation": (frame(cbor({"id": 1})), b"unknown operation"),
    "an unknown operation": (request("format"), b"unknown operation"),
    "a second hello": (HELLO, b"hello must be the first request"),
    "a missing field": (request("get"), b"is missing"),
    "an unexpected field": (request("get", name="bulk", offset=0), b"does not belong to the operation"),
    "a reply": (request("list", status=0), b"does not belong to the operation"),
    "a connection without details": (request("connect", name="bulk"), b"is missing"),
    "details without connect": (
        request("get", name="bulk", details=b""),
        b"does not belong to the operation",
    ),
    "details of text": (request("connect", name="bulk", details="x"), b"malformed message"),
    "endless details": (request("connect", name="bulk", details=bytes(513)), b"malformed message"),
    "a server without a card": (request("comch", function=1, server=b"x"), b"is missing"),
    "an endless server": (
        request("comch", card=1, function=1, server=b"x" * 120),
        b"malformed message",
    ),
    "a key from a client": (
        request("comch", card=1, function=1, server=b"x", key=bytes(32)),
        b"does not belong to the operation",
    ),
}

REFUSALS = {
    "a server without a name": (request("comch", card=1, function=1, server=b""), b"1 to 119 bytes"),
    "a server with a NUL": (request("comch", card=1, function=1, server=b"a\0b"), b"without NUL"),
    "an endless function": (
        request("comch", card=1, function=65536, server=b"x"),
        b"1 to 119 bytes",
    ),
    "a server that is not there": (
        request("comch", card=1, function=1, server=b"x"),
        b"of doca_comch",
    ),
    "an unknown export": (request("get", name="none"), b"there is no export"),
    "release before get": (request("release", name="bulk"), b"send get first"),
    "connect before get": (request("connect", name="bulk", details=bytes(48)), b"send get first"),
    "connect to an unknown export": (
        request("connect", name="none", details=bytes(48)),
        b"there is no export",
    ),
    "digest before get": (request("digest-start", name="bulk"), b"send get first"),
    "an unknown digest": (request("digest-final", digest=0), b"there is no digest 0"),
    "a digest out of range": (request("digest-final", digest=2**64 - 1), b"there is no digest"),
    "update without digest": (
        request("digest-update", digest=0, offset=0, length=1),
        b"there is no digest",
    ),
}

WHOLE = details()
BAD_DETAILS = (
    *(b"\0", bytes(48), b"\xff" * 512, WHOLE[:-1], WHOLE + b"\0"),
    *(WHOLE[:i] + bytes([WHOLE[i] ^ 1]) + WHOLE[i + 1 :] for i in range(0, 48, 5) if i != 5),
    *(details(qpn=0), details(qpn=1 << 24), details(psn=1 << 24), details(lid=1), details(mtu=7)),
    *(details(mtu=13), details(reads=0), details(gid=bytes(16))),
)


class Server:
    """dpumapd, as its clients see it."""

    def __init__(self, address, tls):
        self.address, self.tls = address, tls

    def connect(self, greet=True):
        """A connection, past hello unless told otherwise."""
        s = reach(self.address, self.tls)
        if greet:
            s.sendall(HELLO)
            assert b"version" in receive(s)
        return s

    def seat(self):
        """A connection past hello, once those that have left have made room for it."""
        deadline = time.monotonic() + PATIENCE
        while True:
            s = self.connect(greet=False)
            with contextlib.suppress(OSError):
                s.sendall(HELLO)
                if b"version" in receive(s):
                    return s
            s.close()
            assert time.monotonic() < deadline, "no room for another connection"
            time.sleep(0.01)

    def answers(self, data, why, greet=True):
        """The answer to data says why, and is followed by the end of the connection."""
        with self.connect(greet) as s:
            s.sendall(data)
            reply = receive(s)
            assert why in reply, reply
            assert is_closed(s), "still connected"

    def serves(self, s):
        s.sendall(request("list", 99))
        reply = receive(s)
        assert b"bulk" in reply, reply


@pytest.fixture(scope="module")
def tls(openssl_pki):
    """The client "web"."""
    openssl_pki.issue("web", "clientAuth")
    return context(openssl_pki.path("web"))


@pytest.fixture(scope="module")
def configure(emulator, openssl_pki):
    """configure(name, more): the paths of a configuration with these settings and of its socket."""
    dpu = emulator.machine("dpu")

    def make(name, more):
        socket = f"{dpu.dir}/{name}"
        words = {"socket": socket, "pki": openssl_pki.dir, "uid": os.getuid(), "more": more}
        dpu.put({f"{name}.conf": CONFIG.format(**words)})
        return f"{dpu.dir}/{name}.conf", socket

    return make


@pytest.fixture(scope="module")
def start(emulator, configure, tls):
    """start(name): dpumapd, and a server for each of its two addresses."""
    dpu, agents = emulator.machine("dpu"), []

    def make(name):
        path, socket = configure(name, "max_clients_per_identity = 8; client_timeout = 10;")
        agents.append(Agent(dpu, name, ["--config", path]).must_serve())
        return {"unix": Server(socket, None), "tls": Server(agents[-1].address, tls)}

    yield make
    for agent in agents:
        agent.stop()


@pytest.fixture(scope="module", autouse=True)
def slow_clients(start):
    """Two over each address, which are slow from the beginning."""
    connections = {}
    for name, server in start("slow").items():
        mute, slow = server.connect(greet=False), server.connect(greet=False)
        slow.sendall(HELLO[:3])
        connections[name] = (server, mute, slow)
    return connections


@pytest.fixture(scope="module")
def servers(emulator, start):
    made = start("hostile")
    before = emulator.objects()
    yield made
    # Pages for doorbells that were in use once stay with the driver.
    emulator.await_objects(before, ignore=["uars"])


@pytest.fixture(params=["unix", "tls"])
def server(request, servers):
    return servers[request.param]


@pytest.fixture(scope="module")
def crowded(emulator, configure, tls):
    """dpumapd, and a server for each of its two addresses."""
    dpu = emulator.machine("dpu")
    admin = f"{dpu.dir}/crowded-admin"
    path, socket = configure("crowded", f'max_clients_per_identity = 8; admin = "{admin}";')
    agent = Agent(dpu, "crowded", ["--config", path]).must_serve()
    agent.admin = admin
    yield agent, {"unix": Server(socket, None), "tls": Server(agent.address, tls)}
    agent.stop()


@pytest.mark.parametrize("title", ["unix", "tls"])
def test_many_requests_at_once_let_others_have_their_turn(crowded, title):
    """They all arrive while dpumapd is stopped. Its log shows the order of its answers."""
    agent, servers = crowded
    with servers[title].connect() as hostile, servers[title].connect() as other:
        begin = len(agent.log())
        agent.daemon.signal("STOP")
        hostile.sendall((request("get", name="bulk") + request("release", name="bulk")) * 150)
        other.sendall(request("get", name="fast"))
        agent.daemon.signal("CONT")
        assert b"descriptor" in receive(other)
        assert all(receive(hostile) for _ in range(300))
        before, _, after = agent.log()[begin:].partition("gets export fast")
        assert before.count("gets export bulk") < 20
        assert before.count("gets export bulk") + after.count("gets export bulk") == 150


def test_administrator_disconnects_a_client(crowded):
    """All its connections, over each kind of address, and no other client."""
    agent, servers = crowded
    me = f"uid:{os.getuid()}"
    with servers["unix"].connect() as one, servers["unix"].connect() as two, servers["tls"].connect() as other:
        one.sendall(request("get", name="bulk"))
        assert b"descriptor" in receive(one)
        agent.ctl("disconnect", me).ok()
        assert is_closed(one) and is_closed(two)
        assert agent.figure("imports") == 0
        other.sendall(request("list"))
        assert receive(other)
        agent.ctl("disconnect", me).fails_with(ABSENT, f"client {me} is not connected: see dpumapd ctl sessions")
        agent.ctl("disconnect", "cert:web").ok()
        assert is_closed(other)
    with servers["unix"].connect() as again:
        again.sendall(request("list"))
        assert receive(again)


@pytest.mark.parametrize("title", MALFORMED)
def test_malformed_request_ends_the_connection(server, title):
    server.answers(*MALFORMED[title])


def test_wrong_greeting_ends_the_connection(server):
    server.answers(request("list"), b"hello must be the first", greet=False)
    server.answers(request("hello", 0, version=0), b"version 0", greet=False)


@pytest.mark.parametrize("offered, agreed", [(1, 1), (2, 2), (3, 2), (2**64 - 1, 2)])
def test_older_version_of_both_is_spoken(server, offered, agreed):
    with server.connect(greet=False) as s:
        s.sendall(request("hello", 0, version=offered))
        assert cbor({"version": agreed})[1:] in receive(s)
        server.serves(s)


@pytest.mark.parametrize("title", REFUSALS)
def test_refused_request_leaves_the_connection_usable(server, title):
    data, why = REFUSALS[title]
    with server.connect() as s:
        s.sendall(data)
        reply = receive(s)
        assert why in reply, reply
        server.serves(s)


@pytest.mark.parametrize(
    "op, more",
    [("get", {}), ("release", {}), ("digest-start", {}), ("connect", {"details": WHOLE})],
)
def test_export_of_another_client_looks_like_none(server, op, more):
    """The replies to a hidden name and to a name that does not exist differ in the name alone."""
    with server.connect() as s:
        replies = {}
        for name in ("hide", "none"):
            s.sendall(request(op, name=name, **more))
            replies[name] = receive(s)
        assert b'no export called "none"' in replies["none"], replies
        assert replies["hide"].replace(b"hide", b"none") == replies["none"]
        s.sendall(request("list"))
        assert b"hide" not in receive(s)
        server.serves(s)


def test_digest_requests_are_checked(server):
    """Unknown hashes, ranges outside of the export, and more digests than a client may have."""
    with server.connect() as s:
        s.sendall(request("get", name="bulk"))
        assert b"descriptor" in receive(s)
        s.sendall(request("digest-start", name="bulk", hash="md5"))
        assert b'there is no hash "md5"' in receive(s)
        for _ in range(4):
            s.sendall(request("digest-start", name="bulk"))
            assert b"error" not in receive(s)
        s.sendall(request("digest-start", name="bulk"))
        assert b"digests running" in receive(s)
        for offset, length in ((0, 2**20 + 1), (2**20, 1), (2**64 - 1, 2), (1, 2**64 - 1)):
            s.sendall(request("digest-update", digest=0, offset=offset, length=length))
            assert b"ends outside it" in receive(s), (offset, length)


@pytest.mark.parametrize(
    "more, field, digest",
    [
        ({}, "sha256", hashlib.sha256().digest()),
        ({"hash": "sha256"}, "sha256", hashlib.sha256().digest()),
        ({"hash": "xxh128"}, "xxh128", bytes.fromhex("99aa06d3014798d86001c324468d497f")),
    ],
)
def test_digest_is_that_of_the_hash(server, more, field, digest):
    """Of no byte. Clients of version 1 name no hash."""
    with server.connect() as s:
        s.sendall(request("get", name="bulk") + request("digest-start", name="bulk", **more))
        receive(s), receive(s)
        s.sendall(request("digest-final", digest=0))
        assert cbor({field: digest})[1:] in receive(s)


def test_answers_keep_the_order_of_requests(server):
    """Also behind a request that takes long."""
    with server.connect() as s:
        s.sendall(request("get", name="bulk") + request("digest-start", name="bulk"))
        receive(s), receive(s)
        s.sendall(request("digest-update", 7, digest=0, offset=0, length=2**20))
        s.sendall(b"".join(request("list", 100 + i) for i in range(20)))
        for ident in (7, *range(100, 120)):
            assert cbor({"id": ident})[1:] in receive(s), ident


def test_connection_details_are_checked(server):
    with server.connect() as s:
        s.sendall(request("get", name="bulk") + request("connect", name="bulk", details=WHOLE))
        receive(s)
        assert b"takes no RDMA connections" in receive(s)
        # The empty ones ask for an address, which this dpumapd does not have.
        s.sendall(request("get", name="far") + request("connect", name="far", details=b""))
        receive(s)
        assert b"has no address for RDMA connections" in receive(s)
        server.serves(s)
    for bad in BAD_DETAILS:
        with server.connect() as s:
            s.sendall(request("get", name="far"))
            assert b"descriptor" in receive(s)
            s.sendall(request("connect", name="far", details=bad))
            reply = receive(s)
            assert b"connection details are malformed" in reply, (bad, reply)
            server.serves(s)


def test_connections_of_a_client_are_limited(server):
    with server.connect() as s:
        s.sendall(request("get", name="far"))
        receive(s)
        for i in range(64):
            s.sendall(request("connect", name="far", details=WHOLE))
            reply = receive(s)
            assert b"error" not in reply, (i, reply)
        s.sendall(request("connect", name="far", details=WHOLE))
        assert b"release some exports" in receive(s)
        s.sendall(request("release", name="far") + request("get", name="far"))
        receive(s), receive(s)
        s.sendall(request("connect", name="far", details=WHOLE))
        assert b"error" not in receive(s)


def test_flood_delays_only_its_sender(server):
    """A client that asks without reading the answers."""
    with server.connect() as s:
        s.setblocking(False)
        try:
            while True:
                s.send(request("list") * 100)
        except (BlockingIOError, ssl.SSLWantWriteError):
            pass
        with server.seat() as other:
            server.serves(other)


def test_clients_are_limited(server):
    """One above the limit is told why; a place is free again when a client leaves."""
    clients = [server.seat() for _ in range(LIMIT)]
    with server.connect(greet=False) as s:
        reply = receive(s)
        assert b"its limit" in reply and is_closed(s), reply
    clients.pop().close()
    clients.append(server.seat())
    for client in clients:
        client.close()
    server.seat().close()


def test_dmabuf_is_for_holders_on_this_machine(servers):
    """Who does not hold the export, or is connected by TLS, gets none, and goes on."""
    for name, server in servers.items():
        with server.seat() as s:
            s.sendall(request("dmabuf", name="fast"))
            assert b"does not hold it" in receive(s)
            s.sendall(request("get", name="fast") + request("dmabuf", name="fast"))
            assert b"descriptor" in receive(s)
            reply = receive(s)
            assert (b"a dma-buf stays on this machine" in reply) == (name == "tls"), reply
            server.serves(s)


def test_clients_of_one_identity_are_limited(serve, configure, tls):
    """By default to a quarter of all. Clients of another identity are served meanwhile."""
    path, socket = configure("shared", "")
    full, other = Server(socket, None), Server(serve("--config", path).address, tls)
    clients = [full.seat() for _ in range(LIMIT // 4)]
    with full.connect(greet=False) as s:
        reply = receive(s)
        assert b"the limit of one identity (max_clients_per_identity)" in reply, reply
        assert is_closed(s)
    with other.seat() as s:
        other.serves(s)
    clients.pop().close()
    clients.append(full.seat())
    for client in clients:
        client.close()


def test_several_clients_at_once_are_served(serve, tool, host):
    serving = serve("--export", "name=bulk,kind=dram,size=1M")
    dpumap = tool(serving)
    dpumap("write", "bulk", data=os.urandom(1 << 20)).ok()
    readers = [host.start(dpumap.words("read", "bulk")) for _ in range(4)]
    outputs = [reader.communicate()[0] for reader in readers]
    assert len(outputs[0]) == 1 << 20 and len(set(outputs)) == 1
    assert not any(reader.returncode for reader in readers)
    assert "gets export bulk" in serving.log()


def test_ready_fd_takes_the_message(dpu, work):
    """Instead of standard output."""
    with open(work / "ready", "wb") as ready:
        words = ["dpumapd", "--listen", f"{dpu.dir}/other", "--export", "name=a,kind=dram,size=4K"]
        words += ["--ready-fd", str(ready.fileno())]
        daemon = dpu.daemon("ready-fd", words, pass_fds=[ready.fileno()])
        message = f"dpumapd: ready on {dpu.dir}/other\n"
        assert await_true(lambda: (work / "ready").read_text() == message)
    assert daemon.end() == 0
    assert not daemon.out()


def test_closed_standard_descriptors_harm_nothing(dpu, host, work):
    """No socket gets their numbers, and no line of the log."""
    socket = f"{work}/bare"
    command = f"exec dpumapd --listen {socket} --export name=a,kind=dram,size=4K <&- >&- 2>&-"
    daemon = dpu.daemon("bare", command)
    assert await_true(lambda: os.path.exists(socket))
    dpumap = Tool(host, ["--connect", socket])
    dpumap("write", "a", data=b"x" * 4096).ok()
    assert dpumap("read", "a").ok() == "x" * 4096
    files = [os.readlink(f"/proc/{daemon.pid}/fd/{number}") for number in range(3)]
    assert files == ["/dev/null"] * 3
    assert daemon.end() == 0


def own_run(commands):
    """Runs commands of the shell on another /run."""
    return ["unshare", "--mount", "bash", "-ec", f"mount -t tmpfs none /run; mkdir /run/dpumapd; {commands}"]


@pytest.mark.parametrize("stale", ["/run/dpumapd.sock", "$XDG_RUNTIME_DIR/dpumapd.sock"])
def test_socket_without_a_server_is_skipped(serve, host, work, stale):
    """A killed dpumapd leaves one behind; the packaged service is found."""
    if os.getuid() != 0 or host.run(own_run("true")).status:
        pytest.skip("no mount namespaces here")
    serving = serve("--export", "name=bulk,kind=dram,size=4K", listen=f"{work}/socket")
    leave = "import os, socket; socket.socket(socket.AF_UNIX).bind(os.path.expandvars(os.sys.argv[1]))"
    commands = f"/usr/bin/python3 -c '{leave}' '{stale}'; ln -s {work}/socket /run/dpumapd/dpumapd.sock; dpumap list"
    (work / "xdg").mkdir(mode=0o700)
    environment = {"XDG_RUNTIME_DIR": f"{work}/xdg"} if "XDG" in stale else {}
    shown = host.run(own_run(("" if environment else "unset XDG_RUNTIME_DIR; ") + commands), env=environment).ok()
    assert "bulk" in shown
    assert serving.log().count(" connected") == 1


NOBODY = 65534


@pytest.fixture
def stranger(here, emulator, work):
    """stranger(agent, WORDS...): dpumap of another user, which may enter our directories."""
    if os.getuid() != 0:
        pytest.skip("only root can start programs of another user")
    emulator.dir.chmod(0o755)
    (emulator.dir / "dpu").chmod(0o755)
    work.chmod(0o777)

    def run(agent, *words):
        # GCOV_PREFIX: where an instrumented program may write as that user.
        more = {"user": NOBODY, "group": NOBODY, "extra_groups": [], "env": {"GCOV_PREFIX": str(work)}}
        return here.run([PROGRAM, "--connect", agent.address, *words], cwd="/", **more)

    if here.run(["setpriv", f"--reuid={NOBODY}", "--clear-groups", PROGRAM, "--version"]).status:
        pytest.skip(f"another user cannot execute {PROGRAM}")
    return run


def test_socket_is_closed_to_other_users(serve, stranger):
    serving = serve("--export", "name=bulk,kind=dram,size=1M")
    pattern = f"cannot connect to dpumapd at {serving.address}: Permission denied"
    stranger(serving, "list").fails_with(REFUSED, pattern)


def test_user_that_is_not_allowed_is_rejected(serve, stranger):
    serving = serve("--export", "name=bulk,kind=dram,size=1M", "--allow-uid", "12345")
    for words in (["list"], ["info", "bulk"]):
        stranger(serving, *words).fails_with(REFUSED, "uid:65534 may not import from this dpumapd")
    serving.daemon.await_log("uid 65534 .* refused: uid:65534 may not import")


def test_user_that_is_allowed_is_served(serve, stranger):
    uids = ("--allow-uid", "12345", "--allow-uid", str(NOBODY))
    stranger(serve("--export", "name=bulk,kind=dram,size=1M", *uids), "list").ok()


@pytest.mark.parametrize("name", ["unix", "tls"])
def test_slow_clients_are_disconnected(slow_clients, name):
    """A client that sends a byte now and then, and one that never greets; others do not notice."""
    server, mute, slow = slow_clients[name]
    with server.seat() as other:
        server.serves(other)
    assert is_closed(slow)
    assert is_closed(mute)
