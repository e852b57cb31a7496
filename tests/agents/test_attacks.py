# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What must not work, a test for each attack. Attacks below TLS are in test_channel_tls.c, malformed
requests in test_clients.py and tests/fuzz/fuzz_channel.c."""

import contextlib
import multiprocessing
import os
import re
import resource
import select
import shutil
import socket
import ssl
import subprocess
import time

import pytest

from harness.agents import REFUSED, Tool
from harness.machine import await_true
from harness.pki import Pki
from harness.wire import HELLO, context, exactly, is_closed, reach, receive, request

pytestmark = [pytest.mark.local, pytest.mark.usefixtures("nothing_left")]
CARD = ("--cards", "2")
QUIET = {"DPUMAP_LOG_LEVEL": "off"}
CONFIG = """\
listen = [ "tls:127.0.0.1:0" ];
tls = {{ cert = "{pki}/dpu.crt"; key = "{pki}/dpu.key"; ca = "{pki}/ca.crt"; crl = "{pki}/ca.crl"; }};
admin = "{dir}/admin";
max_clients = 8;
max_clients_per_identity = 8;
client_timeout = 10;
exports = (
	{{ name = "web"; kind = "dram"; size = 4096; allow = [ "cert:web" ]; }},
	{{ name = "guest"; kind = "dram"; size = 4096; allow = [ "cert:guest" ]; }},
	{{ name = "db"; kind = "dm"; size = 4096; allow = [ "cert:db" ]; }} );
"""


@pytest.fixture(scope="module")
def pki(openssl_pki, emulator):
    """Clients with good certificates, and with one that is bad in each way."""
    for name in ("web", "db", "guest", "nobody", "revoked"):
        openssl_pki.issue(name, "clientAuth")
    openssl_pki.revoke("revoked")
    openssl_pki.issue_expired("expired", "clientAuth")
    openssl_pki.self_signed("alone", "-addext", "extendedKeyUsage=clientAuth")
    other = Pki(emulator.dir / "other-authority")
    other.issue("foreign", "clientAuth,serverAuth", "DNS:dpu,IP:127.0.0.1")
    for end in ("crt", "key"):
        shutil.copy(other.path(f"foreign.{end}"), openssl_pki.dir)
    return openssl_pki


@pytest.fixture
def configuration(dpu, pki):
    return CONFIG.format(pki=pki.dir, dir=dpu.dir)


@pytest.fixture
def agent(serve, dpu, configuration):
    dpu.put({"attacked.conf": configuration})
    serving = serve("--config", f"{dpu.dir}/attacked.conf", env=QUIET)
    yield serving
    assert not re.search("BEGIN|PRIVATE", serving.log(), re.I), "the log has a key"


class Client:
    """A TLS client that is not the library's."""

    def __init__(self, address, pki):
        self.address, self.pki = address, pki

    def context(self, name, newest=None):
        return context(self.pki.path(name), newest)

    def ask(self, tls):
        """What dpumapd answers to hello and to a request for the list."""
        with reach(self.address, tls) as s:
            s.sendall(HELLO + request("list"))
            return receive(s) + receive(s)

    def is_served(self):
        """Whether dpumapd serves a client with a good certificate."""
        try:
            reply = self.ask(self.context("web"))
        except (ssl.SSLError, OSError):
            return False
        return b"version" in reply and b"web" in reply

    def must_be_served(self):
        """Soon: dpumapd disconnects a client that a busy machine delays for too long."""
        assert await_true(self.is_served), "a client with a good certificate is not served"

    def must_be_rejected(self, tls, why):
        """In the handshake: there is no answer."""
        try:
            reply = self.ask(tls)
        except (ssl.SSLError, ConnectionError) as error:
            # A client that sends before it has read the server's alert may not get that.
            text = str(error)
            assert why in text.lower() or not isinstance(error, ssl.SSLError) or "EOF" in text, text
        else:
            assert not reply, reply


@pytest.fixture
def client(agent, pki):
    return Client(agent.address, pki)


# -- clients that are rejected


@pytest.mark.parametrize(
    "name, why, logged",
    [
        (None, "certificate", "peer did not return a certificate"),
        ("foreign", "unknown ca", "not issued by a CA of .*ca.crt"),
        ("alone", "unknown ca", "not issued by a CA of .*ca.crt"),
        ("expired", "expired", "expired"),
        ("revoked", "revoked", "revoked"),
        ("dpu", "certificate", "purpose"),
    ],
)
def test_bad_certificate_is_rejected(agent, client, name, why, logged):
    client.must_be_rejected(client.context(name) if name else context(), why)
    agent.daemon.await_log(f"disconnected: .*{logged}")


def test_older_tls_is_rejected(agent, client):
    client.must_be_rejected(client.context("web", ssl.TLSVersion.TLSv1_2), "version")
    agent.daemon.await_log("disconnected: .*(version|protocol)")


def test_protocol_without_tls_is_rejected(agent):
    with reach(agent.address) as s:
        s.sendall(HELLO + request("get", name="web"))
        try:
            data = exactly(s, 65536)
        except ConnectionError:
            data = b""
    assert b"version" not in data and b"descriptor" not in data, data


def test_client_that_is_not_allowed_is_refused(agent, client):
    """With a good certificate, but no export for it, or not this one."""
    with reach(agent.address, client.context("nobody")) as s:
        s.sendall(HELLO + request("get", name="web"))
        reply = receive(s)
        assert b"may not import" in reply and b"descriptor" not in reply, reply
        assert is_closed(s)
    agent.daemon.await_log("cert:nobody at .* refused: .*may not import")
    with reach(agent.address, client.context("db")) as s:
        s.sendall(HELLO + request("get", 1, name="web") + request("list", 2))
        assert b"version" in receive(s)
        reply = receive(s)
        assert b'no export called "web" that cert:db' in reply and b"descriptor" not in reply, reply
        reply = receive(s)
        assert b"db" in reply and b"web" not in reply, reply


# -- the programs of the library's clients


class Probe:
    """The test program agents_probe on the host, and what its descriptors are good for."""

    def __init__(self, host, address, pki):
        self.host, self.address, self.pki = host, address, pki

    def words(self, what, name, export, path):
        certificate = (self.pki.path(name), self.pki.path("ca.crt"))
        return ["agents_probe", what, self.address, *certificate, export, path]

    def __call__(self, *words):
        return self.host.run(self.words(*words), env=QUIET)

    def use(self, path, device=0):
        return self.host.run(["agents_probe", "use", path, str(device)], env=QUIET).ok()

    def is_useful(self, path):
        assert self.use(path) == "read: DOCA_SUCCESS\n"

    def is_useless(self, path, device=0):
        assert self.use(path, device).startswith("import: DOCA_ERROR_")


@pytest.fixture
def probe(host, agent, pki):
    return Probe(host, agent.address, pki)


@pytest.mark.parametrize(
    "name, option", [("dpu", "-tls1_2"), ("foreign", "-tls1_3"), ("web", "-tls1_3")]
)
def test_server_that_poses_as_dpumapd_is_rejected(here, host, pki, work, name, option):
    """By an older TLS, another authority, or a client's certificate."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    files = ("-cert", pki.path(f"{name}.crt"), "-key", pki.path(f"{name}.key"))
    words = ["openssl", "s_server", "-accept", f"127.0.0.1:{port}", *files, option, "-quiet"]
    server = here.start(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def listens():
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", port)) == 0

    try:
        assert await_true(listens)
        done = Probe(host, f"tls:127.0.0.1:{port}", pki)("get", "web", "web", work / "none")
    finally:
        server.kill()
        server.wait()
    assert done.status != 0
    assert re.fullmatch(r"connect: DOCA_ERROR_(AUTHENTICATION|UNSUPPORTED_VERSION)\n", done.err), done.err


# -- crowds


def client_hello(tls):
    """The first bytes of a handshake."""
    out = ssl.MemoryBIO()
    try:
        tls.wrap_bio(ssl.MemoryBIO(), out).do_handshake()
    except ssl.SSLWantReadError:
        pass
    return out.read()


def test_slow_handshakes_are_disconnected(client):
    """Of two hundred clients that send a byte now and then; others are served meanwhile."""
    hello = client_hello(client.context("web"))
    slow = [reach(client.address) for _ in range(200)]
    left = slow
    for byte in hello:
        if not left:
            break
        for s in left:
            try:
                s.send(bytes([byte]))
            except OSError:
                pass
        client.must_be_served()
        time.sleep(0.25)
        left = [s for s in left if not (select.select([s], [], [], 0)[0] and is_closed(s))]
    for s in slow:
        s.close()
    assert not left, f"{len(left)} are still connected after {len(hello)} bytes"


def knock(address, knocks, enough):
    """Connects and leaves until it is enough; knocks counts how often."""
    host, port = address[4:].rsplit(":", 1)
    while not enough.is_set():
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as s:
            # No TIME_WAIT: there are only so many ports.
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            try:
                s.connect((host, int(port)))
                with knocks.get_lock():
                    knocks.value += 1
            except OSError:
                pass


def expect_short_log(agent, began):
    """dpumapd logs at most 500 lines about an address at once, and 5 a second."""
    most = 500 + 5 * (time.monotonic() - began + 1)
    assert agent.log().count("\ndpumapd: unknown at ") < most


def test_knocking_crowd_keeps_no_client_out(agent, client):
    """Two processes connect and leave as fast as they can; nor do they fill the log."""
    fork, began = multiprocessing.get_context("fork"), time.monotonic()
    knocks, enough = fork.Value("i", 0), fork.Event()
    crowd = [fork.Process(target=knock, args=(agent.address, knocks, enough)) for _ in range(2)]
    for one in crowd:
        one.start()
    served = 0

    def tried():
        nonlocal served
        served += client.is_served()
        return served >= 20 and knocks.value >= 2000

    try:
        assert await_true(tried, pause=0), f"served {served} times beside {knocks.value} knocks"
    finally:
        enough.set()
        for one in crowd:
            one.join()
    client.must_be_served()
    expect_short_log(agent, began)


def test_silent_crowd_keeps_no_client_out(agent, client):
    """Ten thousand connections that stay open, of which nothing is left; nor do they fill the log."""
    began, before = time.monotonic(), agent.daemon.settled_files()
    soft, limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(10000, limit - 100)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted + 100, limit))
    crowd = []
    try:
        for i in range(wanted):
            crowd.append(reach(client.address))
            if i % 500 == 0:
                client.must_be_served()
        client.must_be_served()
    finally:
        for s in crowd:
            s.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, limit))

    assert await_true(lambda: agent.figure("clients") == 0)
    agent.daemon.await_open_files(before)
    agent.daemon.await_log(r"^dpumapd: 127\.0\.0\.1 caused \d+ more lines, which are not in the log$")
    expect_short_log(agent, began)


# -- descriptors in the wrong hands


def test_removed_export_is_not_replayed(agent, probe, work):
    """Nor into another export of the same name."""
    path = work / "replay"
    probe("get", "web", "web", path).ok()
    probe.is_useful(path)
    agent.ctl("remove", "web").ok()
    probe.is_useless(path)
    agent.ctl("add", "name=web,kind=dram,size=4K,allow=cert:web").ok()
    probe.is_useless(path)


def test_export_with_another_permission_is_not_replayed(agent, probe, work, dpu, configuration):
    probe("get", "db", "db", work / "replay").ok()
    dpu.put({"attacked.conf": configuration.replace('"cert:db"', '"cert:db", "cert:web"')})
    agent.ctl("reload").ok()
    probe.is_useless(work / "replay")


@contextlib.contextmanager
def holding(host, probe, name, path):
    """A client with the certificate of this name, which holds the export of the same name."""
    reader, writer = os.pipe()
    holder = host.daemon(name, probe.words("hold", name, name, path), stdin=reader, env=QUIET)
    os.close(reader)
    holder.await_output("got")
    try:
        yield
    finally:
        os.close(writer)
        holder.end("0")


def test_released_export_is_not_replayed(host, probe, work):
    """What another client has is not touched."""
    probe("release", "web", "web", work / "replay").ok()
    probe.is_useless(work / "replay")
    with holding(host, probe, "web", work / "kept"):
        probe("release", "web", "web", work / "replay").ok()
        probe.is_useful(work / "kept")


def test_revocation_cuts_off_a_client_and_its_imports(agent, probe, work, pki, host):
    with holding(host, probe, "guest", work / "replay"):
        probe.is_useful(work / "replay")
        pki.revoke("guest")
        agent.ctl("reload").ok()
        agent.daemon.await_log("cert:guest at .* disconnected: .*revoked")
        probe.is_useless(work / "replay")


@pytest.fixture
def web(host, agent, pki):
    """dpumap with the certificate "web"."""
    words = ("--connect", agent.address, "--cert", pki.path("web.crt"))
    return Tool(host, [*words, "--key", pki.path("web.key"), "--ca", pki.path("ca.crt")])


def test_descriptor_is_its_owners_and_of_its_card(probe, web, work, emulator):
    path = work / "mine"
    probe("get", "web", "web", path).ok()
    probe.is_useful(path)
    probe.is_useless(path, device=1)
    web("get", "web", work / "by-tool").ok()
    assert os.stat(work / "by-tool").st_mode & 0o777 == 0o600
    if os.getuid() == 0:
        emulator.dir.chmod(0o755)
        work.chmod(0o755)
        words = ["setpriv", "--reuid", "65534", "--clear-groups", "cat", work / "by-tool"]
        assert subprocess.run(words, capture_output=True, check=False).returncode != 0


# -- files and places that other users can change


@pytest.fixture
def other(dpu, work, configuration):
    """other(old, new): dpumapd with the configuration, changed, and with a socket of its own."""

    def start(old="", new="", path=None):
        text = configuration.replace(f"{dpu.dir}/admin", f"{work}/admin")
        path = path or work / "other.conf"
        path.write_text(text.replace(old, new) if old else text)
        path.chmod(0o644)
        return dpu.run(["dpumapd", "--config", path], env=QUIET)

    return start


@pytest.fixture
def everybodys(work):
    """A directory that every user can write to, and the complaint about it."""
    path = work / "open"
    path.mkdir()
    path.chmod(0o777)
    return path, f"directory {path} has mode 0777"


@pytest.fixture
def with_mode():
    """with_mode(path, mode): changes it until the end of the test."""
    changed = []

    def change(path, mode):
        changed.append((path, os.stat(path).st_mode & 0o777))
        os.chmod(path, mode)

    yield change
    for path, mode in changed:
        os.chmod(path, mode)


def test_key_that_others_can_read_is_refused(other, web, pki, work, with_mode):
    web("list").ok()
    with_mode(pki.path("dpu.key"), 0o640)
    other().fails_with(REFUSED, "dpu.key has mode 0640")
    with_mode(pki.path("web.key"), 0o644)
    web("list").fails_with(REFUSED, "web.key has mode 0644")
    psk = work / "psk"
    psk.write_text(f"host:{1:064d}\n")
    psk.chmod(0o644)
    tls = f'cert = "{pki.dir}/dpu.crt"; key = "{pki.dir}/dpu.key"; ca = "{pki.dir}/ca.crt"; '
    tls += f'crl = "{pki.dir}/ca.crl";'
    other(tls, f'psk = "{psk}";').fails_with(REFUSED, "psk has mode 0644")


def test_configuration_that_others_can_replace_is_refused(other, dpu, everybodys, work):
    place, complaint = everybodys
    other(path=place / "conf").fails_with(REFUSED, complaint)
    (place / "link").symlink_to(work / "other.conf")
    (work / "other.conf").write_text((place / "conf").read_text())
    done = dpu.run(["dpumapd", "--config", place / "link"], env=QUIET)
    done.fails_with(REFUSED, complaint)
    (work / "other.conf").chmod(0o666)
    done = dpu.run(["dpumapd", "--config", work / "other.conf"], env=QUIET)
    done.fails_with(REFUSED, "other.conf has mode 0666")


def test_certificates_that_others_can_replace_are_refused(other, web, pki, everybodys, work):
    """Also where the way to them is a link that others could turn."""
    place, complaint = everybodys
    ca = pki.path("ca.crt")
    (place / "ca.crt").symlink_to(ca)
    other(ca, f"{place}/ca.crt").fails_with(REFUSED, complaint)
    fooled = Tool(web.host, [*web.options, "--ca", place / "ca.crt"])
    fooled("list").fails_with(REFUSED, complaint)
    (place / "there").symlink_to(pki.dir.parent)
    through_link = f"{place}/there/{pki.dir.name}/ca.crt"
    other(ca, through_link).fails_with(REFUSED, complaint)
    through_dots = f"{work}/open/../../{pki.dir.name}/ca.crt"
    other(ca, through_dots).fails_with(REFUSED, complaint)


def test_sockets_that_others_can_replace_are_refused(other, dpu, here, everybodys, work):
    place, complaint = everybodys
    other(f"{work}/admin", f"{place}/admin").fails_with(REFUSED, complaint)
    there = {"XDG_RUNTIME_DIR": str(place), **QUIET}
    done = dpu.run(["dpumapd", "--export", "name=a,kind=dram,size=4K"], env=there)
    done.fails_with(REFUSED, complaint)
    here.run(["dpumap", "list"], env=there).fails_with(REFUSED, complaint)
    if os.getuid() == 0:
        place.chmod(0o1777)
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(f"{place}/dpumapd.sock")
        os.chown(f"{place}/dpumapd.sock", 65534, -1)
        here.run(["dpumap", "list"], env=there).fails_with(REFUSED, "belongs to user 65534")
