# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Clients of doca_comch that dpumapd introduces to servers on its machine. The programs link_peer use
the library's way between client and server without a device."""

import ctypes
import os
import pathlib
import re
import struct
import subprocess
import sys
import time

import pytest

from harness.machine import await_true
from harness.network import Listener, Network, missing
from harness.wire import HELLO, context, reach, receive, request

pytestmark = [pytest.mark.local]
SERVER_CONFIG = """\
listen = [ "tls:{address}:{port}" ];
tls = {{ cert = "{pki}/dpu.crt"; key = "{pki}/dpu.key"; ca = "{pki}/ca.crt"; crl = "{pki}/ca.crl"; }};
admin = "{dir}/admin";
comch = {{ introduce = ( {rules} ); }};
exports = ( {{ name = "e"; kind = "dram"; size = 4096; allow = [ "cert:importer" ]; }} );
"""
CLIENT_CONFIG = """\
connect = "{address}";
timeout = 60;
tls = {{ cert = "{pki}/{name}.crt"; key = "{pki}/{name}.key"; ca = "{pki}/ca.crt"; }};
"""
RULES = '{ server = "copy*"; allow = [ "cert:host", "cert:revoked" ]; }'
PATIENCE_MS = "60000"


@pytest.fixture(scope="module")
def network(emulator):
    if why := missing():
        pytest.skip(why)
    made = Network(emulator.environment)
    yield made
    made.close()


@pytest.fixture(scope="module")
def machines(network, emulator):
    """Two machines, each with servers of its own."""
    made = {name: network.machine(emulator, name) for name in ("host", "dpu")}
    for one in made.values():
        one.environment["DPUMAP_COMCH_DIR"] = f"{one.dir}/comch"
    return made


@pytest.fixture(scope="module")
def pki(openssl_pki):
    openssl_pki.issue("dpu", "serverAuth", "DNS:dpu,IP:192.0.2.1,IP:127.0.0.1")
    for name in ("host", "importer", "stranger", "revoked"):
        openssl_pki.issue(name, "clientAuth")
    return openssl_pki


@pytest.fixture
def configure(dpu, pki):
    """configure(rules, port): writes dpumapd's configuration."""

    def write(rules=RULES, port=0):
        text = SERVER_CONFIG.format(
            address="192.0.2.1", port=port, pki=pki.dir, dir=dpu.dir, rules=rules
        )
        dpu.put({"introduce.conf": text})

    return write


@pytest.fixture
def daemon(serve, configure, dpu):
    configure()
    return serve("--config", f"{dpu.dir}/introduce.conf", machine=dpu)


@pytest.fixture
def programs():
    """Programs that end with the test."""
    started = []
    yield started
    for one in started:
        one.end("KILL")


@pytest.fixture
def server(dpu, programs):
    """server(name): a server on the DPU."""

    def start(name="copy", mode="server"):
        made = dpu.daemon(f"server-{len(programs)}", ["link_peer", mode, name])
        programs.append(made)
        made.await_output("^ready")
        return made

    return start


@pytest.fixture
def client(host, pki, programs, daemon):
    """client(certificate): a client on the host that looks for the server "copy"."""

    def start(
        name="host", server="copy", wait_ms=PATIENCE_MS, text="hello", address=None, mode="client"
    ):
        address = address or daemon.address
        config = CLIENT_CONFIG.format(address=address, pki=pki.dir, name=name)
        host.put({f"{name}/dpumap/dpumap.conf": config})
        made = host.daemon(
            f"client-{len(programs)}",
            ["link_peer", mode, server, wait_ms] + [text] * (mode == "client"),
            env={"XDG_CONFIG_HOME": f"{host.dir}/{name}", "DPUMAP_LOG_LEVEL": "info"},
        )
        programs.append(made)
        return made

    return start


def met(client, server, name="host"):
    """Until both have met and exchanged a message."""
    client.await_output("^got hello")
    server.await_output(f"^peer cert:{name}$")
    server.await_output("^got hello")


def failed(client, code):
    client.await_output(f"^failed DOCA_ERROR_{code}$")
    assert client.end("0") == 1
    return client.log()


def test_client_meets_server(client, server, daemon):
    there = server()
    here = client()
    met(here, there)
    assert "peer cert:dpu" in here.out()
    daemon.daemon.await_log('cert:host at .* meets server "copy" for function 3')


def test_client_waits_for_its_server(client, server, daemon):
    here = client()
    daemon.daemon.await_log("refused: there is no server of doca_comch called")
    met(here, server())
    refusals = daemon.log().count("refused: there is no server")
    assert refusals == 1, "a client that asks again must not fill the log"


def test_absent_server_is_not_found(client, daemon):
    text = failed(client(wait_ms="300"), "NOT_FOUND")
    assert "that cert:host may reach" in text
    daemon.daemon.await_log("no program serves it here")


def test_server_of_other_rules_is_not_found(client, server, daemon):
    server("secret")
    text = failed(client(server="secret", wait_ms="300"), "NOT_FOUND")
    assert "that cert:host may reach" in text, "both refusals read the same"
    daemon.daemon.await_log("comch.introduce in the configuration does not allow it")


def test_client_without_any_right_is_not_permitted(client, server):
    there = server()
    text = failed(client("stranger"), "NOT_PERMITTED")
    assert "cert:stranger may not import from this dpumapd" in text
    assert "peer" not in there.out()


def test_importer_without_a_rule_is_not_found(client, server):
    there = server()
    failed(client("importer", wait_ms="300"), "NOT_FOUND")
    assert "peer" not in there.out()


def test_certificate_of_another_authority_is_refused(client, server, pki):
    there = server()
    pki.self_signed("forged")
    failed(client("forged"), "AUTHENTICATION")
    assert "peer" not in there.out()


def test_dpumapd_of_another_name_is_refused(client, daemon, network, dpu):
    """The certificate of dpumapd does not have this address."""
    network.run("dpu", "ip", "address", "replace", "192.0.2.9/24", "dev", "dpu0")
    listener = Listener(network.path("host"), tuple_of(daemon.address))
    text = failed(client(address=f"tls:localhost:{listener.port}"), "AUTHENTICATION")
    assert "rejected" in text


def tuple_of(address):
    host, port = address.removeprefix("tls:").rsplit(":", 1)
    return host, int(port)


def test_absent_dpumapd_is_not_found(client):
    assert "refused" in failed(client(address="tls:192.0.2.1:9", wait_ms="300"), "NOT_FOUND")


def test_messages_are_encrypted(client, server, daemon, network):
    """Nothing on the wire contains the message or the server's name, and there is one connection."""
    there = server()
    listener = Listener(network.path("host"), tuple_of(daemon.address))
    here = client(address=f"tls:127.0.0.1:{listener.port}", text="hello-in-the-clear")
    # The certificate of dpumapd has this address as well.
    here.await_output("^got hello-in-the-clear")
    there.await_output("^got hello-in-the-clear")
    assert len(listener.heard) > 1000
    for secret in (b"hello-in-the-clear", b"copy", b"introduced to"):
        assert secret not in listener.heard


def test_connection_outlives_dpumapd(client, server, daemon):
    there = server()
    here = client()
    met(here, there)
    daemon.daemon.end("KILL")
    here.signal("STOP")
    here.signal("CONT")
    assert "end" not in here.out() + there.out()
    there.end("KILL")
    here.await_output("^end DOCA_ERROR_CONNECTION_RESET")


def test_orderly_end_of_dpumapd_leaves_connections(client, server, daemon):
    there = server()
    here = client()
    met(here, there)
    daemon.stop()
    assert here.status() is None and "end" not in here.out() + there.out()


def test_death_of_the_server_is_an_event(client, server, daemon):
    there = server()
    here = client()
    met(here, there)
    there.end("KILL")
    here.await_output("^end DOCA_ERROR_CONNECTION_RESET")
    daemon.daemon.await_log("disconnected: its connection to the server ended")
    assert await_true(lambda: daemon.figure("clients") == 0)


def test_death_of_the_client_is_an_event(client, server, daemon):
    there = server()
    here = client()
    met(here, there)
    here.end("KILL")
    there.await_output("^end cert:host")
    assert await_true(lambda: daemon.figure("clients") == 0)


def test_server_that_is_killed_meanwhile_is_awaited(client, server, dpu):
    """A server that accepts nothing holds the introduction; then another takes its place."""
    stuck = server()
    stuck.signal("STOP")
    here = client()
    assert await_true(lambda: has_connection(here))
    stuck.end("KILL")
    met(here, server())


def has_connection(client):
    """Whether the client has a TCP connection to 192.0.2.1, as the kernel writes that."""
    if client.status() is not None:
        return False
    lines = pathlib.Path(f"/proc/{client.pid}/net/tcp").read_text(encoding="utf-8").splitlines()
    return any(line.split()[2].startswith("010200C0:") and line.split()[3] == "01" for line in lines[1:])


def test_dpumapd_that_is_killed_during_the_introduction_is_awaited(
    client, server, daemon, serve, dpu, configure
):
    there = server()
    port = tuple_of(daemon.address)[1]
    daemon.daemon.signal("STOP")
    here = client()
    assert await_true(lambda: has_connection(here))
    daemon.daemon.end("KILL")
    configure(port=port)
    dpu.remove("admin")
    serve("--config", f"{dpu.dir}/introduce.conf", machine=dpu)
    met(here, there)


def test_revoked_certificate_ends_the_connection(client, server, daemon, pki):
    there = server()
    stays, goes = client(), client("revoked")
    met(stays, there)
    met(goes, there, "revoked")
    pki.revoke("revoked")
    daemon.ctl("reload").ok()
    goes.await_output("^end DOCA_ERROR_CONNECTION_RESET")
    there.await_output("^end cert:revoked")
    daemon.daemon.await_log("cert:revoked at .* disconnected: .*revoked")
    assert stays.status() is None and "end cert:host" not in there.out()


def test_withdrawn_rule_ends_the_connection(client, server, daemon, configure):
    there = server()
    here = client()
    met(here, there)
    configure('{ server = "copy"; allow = [ "cert:importer" ]; }', tuple_of(daemon.address)[1])
    daemon.ctl("reload").ok()
    here.await_output("^end DOCA_ERROR_CONNECTION_RESET")
    there.await_output("^end cert:host")
    daemon.daemon.await_log("comch.introduce no longer allows its server")


def test_dead_network_is_an_event(client, server, network):
    there = server()
    here = client()
    met(here, there)
    network.pull()
    try:
        here.await_output("^end DOCA_ERROR_")
        there.await_output("^end cert:host")
    finally:
        network.plug()


@pytest.fixture
def full(client, server):
    """A server that reads nothing, and a client that waits for it with bytes under way."""
    there = server(mode="sink")
    there.await_output("^ready")
    here = client(mode="fill")
    there.await_output("^peer cert:host$")
    there.signal("STOP")
    here.await_output("^full")
    return here, there


def test_server_may_read_late(full):
    here, there = full
    time.sleep(7)  # longer than a machine may stay silent
    there.signal("CONT")
    here.await_output("^sent all")
    there.await_output(f"^total {64 << 20}$")


def test_dead_network_is_an_event_with_bytes_under_way(full, network):
    here, _ = full
    network.pull()
    try:
        here.await_output("^end DOCA_ERROR_CONNECTION_RESET")
    finally:
        network.plug()


def test_many_clients_meet_one_server(client, server, daemon):
    there = server()
    for _ in range(8):
        met(client(), there)
    assert daemon.figure("clients") == 8
    there.end("KILL")
    assert await_true(lambda: daemon.figure("clients") == 0)


def test_servers_of_this_machine_come_first(host, client, server, programs):
    server()
    near = host.daemon("near", ["link_peer", "server", "copy"])
    programs.append(near)
    near.await_output("^ready")
    here = client()
    here.await_output(f"^peer uid:{os.getuid()}$")


def test_missing_library_is_one_clear_line(host, tmp_path):
    """The program does not find libdpumap-channel."""
    if os.environ.get("DPUMAP_TEST_PREFIX"):
        pytest.skip("the program does not run by itself")
    program = os.environ["DPUMAP_BIN"] + "/../tests/link_peer"
    copy = tmp_path / "link_peer"
    data = open(program, "rb").read()
    name = b"libdpumap-channel.so.0\0"
    if name not in data:
        pytest.skip("the program is not native")
    copy.write_bytes(data.replace(name, b"libdpumap-absence.so.0\0"))
    copy.chmod(0o700)
    done = host.run([copy, "client", "copy", "0", "x"])
    assert done.status == 1 and done.out == "failed DOCA_ERROR_NOT_FOUND\n"
    assert done.err.count("\n") == 1
    assert re.search(r"cannot load \S+ \(package libdpumap-channel\): libdpumap-absence", done.err)


SERVING = """\
listen = [ "tls:192.0.2.1:0" ];
tls = {{ cert = "{pki}/dpu.crt"; key = "{pki}/dpu.key"; ca = "{pki}/ca.crt"; crl = "{pki}/ca.crl"; }};
admin = "{dir}/admin";
comch = {{ serve = "dpumapd"; introduce = ( {{ server = "dpumapd"; allow = [ "*" ]; }} ); }};
exports = ( {{ name = "web"; kind = "dram"; size = 4096; allow = [ "cert:host" ]; }},
	{{ name = "other"; kind = "dram"; size = 4096; allow = [ "cert:importer" ]; }} );
"""


def test_dpumapd_serves_programs_on_other_machines(serve, dpu, host, pki, programs):
    """dpumapd introduces clients to its own server: programs that use DOCA alone import over TLS."""
    dpu.put({"serving.conf": SERVING.format(pki=pki.dir, dir=dpu.dir)})
    daemon = serve("--config", f"{dpu.dir}/serving.conf", machine=dpu)
    config = CLIENT_CONFIG.format(address=daemon.address, pki=pki.dir, name="host")
    host.put({"host/dpumap/dpumap.conf": config})
    done = host.run(
        ["agents_comch", "3b:00.0", "dpumapd"],
        data=b"ask list\nask get web\nuse\nask release web\n",
        env={"XDG_CONFIG_HOME": f"{host.dir}/host"},
    )
    lines = done.ok().splitlines()
    assert lines[:3] == ["connected", "ok|web dram 4096 rw", "ok 4096 rw"], lines
    assert lines[3].startswith("4096 ") and lines[4] == "ok"
    daemon.daemon.await_log("cert:host at comch gets export web")


def test_client_that_stays_with_its_key_is_disconnected(serve, emulator, pki, programs):
    """It asks for the server and does not end the TLS session. Its server serves others meanwhile."""
    dpu = emulator.machine("dpu")
    text = SERVER_CONFIG.format(address="127.0.0.1", port=0, pki=pki.dir, dir=dpu.dir, rules=RULES)
    dpu.put({"stay.conf": text + "client_timeout = 10;\n"})
    daemon = serve("--config", f"{dpu.dir}/stay.conf", machine=dpu)
    there = dpu.daemon("stay-server", ["link_peer", "server", "copy"])
    programs.append(there)
    there.await_output("^ready")
    ask = request("comch", 1, card=0xB1EEF1E1D0C4, function=3, server=b"copy")
    with reach(daemon.address, context(str(pki.dir / "host"))) as stuck:
        stuck.sendall(HELLO)
        assert b"version" in receive(stuck)
        stuck.sendall(ask)
        assert b"key" in receive(stuck)
        near = dpu.daemon("stay-client", ["link_peer", "client", "copy", "0", "hello"])
        programs.append(near)
        near.await_output("^got hello")
        daemon.daemon.await_log("cert:host at .* disconnected: timed out")
    there.await_output("^got hello")
    assert "peer cert:host" not in there.out()


def test_broken_configuration_is_reported(client, host):
    here = client(address="tls:nowhere")
    assert "dpumap.conf:1" in failed(here, "BAD_CONFIG")


def users(dpu, *names, kind="users"):
    listed = ", ".join(f'"{name}"' for name in names)
    dpu.put({"home/.config/dpumap/dpumap.conf": f"comch = {{ {kind} = [ {listed} ]; }};\n"})


def stranger(dpu, server):
    """What a client of another user of the DPU sees."""
    words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    done = dpu.run([*words, "timeout", "60", "link_peer", "client", server, "0", "hi"], timeout=90)
    return done.out


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("listed", [(), ("nobody",), ("65534",), ("daemon",), None])
def test_users_of_the_configuration_may_connect(dpu, server, listed, pki):
    """Other users reach a server only if dpumap.conf lists them."""
    for path in (dpu.dir, os.path.dirname(dpu.dir)):
        os.chmod(path, 0o755)
    if listed is None:
        dpu.remove("home/.config/dpumap/dpumap.conf")
    else:
        users(dpu, *listed)
    there = server(f"of-{listed}")
    if listed and listed[0] != "daemon":
        one = dpu.daemon(
            "other-user",
            ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "link_peer", "client",
             f"of-{listed}", "0", "hi"],
        )
        one.await_output("^got hi")
        there.await_output("^peer uid:65534$")
        one.end("KILL")
    else:
        assert "got" not in stranger(dpu, f"of-{listed}")
        assert re.search("refused a peer of user 65534: it is not one of comch.users", there.log())
    os.chmod(os.path.dirname(dpu.dir), 0o700)
    dpu.run(["rm", "-f", "home/.config/dpumap/dpumap.conf"])


BEGIN = """\
import contextlib, os, socket, sys
os.setgroups([]), os.setgid(65534), os.setuid(65534)
with socket.socket(socket.AF_UNIX) as s, socket.socket() as introduced:
    s.connect(sys.argv[1])
    socket.send_fds(s, [bytes.fromhex(sys.argv[2])], [introduced.fileno()])
    with contextlib.suppress(ConnectionResetError):
        s.recv(1)
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("kind, forbidden", [("users", "introducers"), ("introducers", "users")])
def test_right_to_connect_is_not_the_right_to_introduce(dpu, server, kind, forbidden):
    """A user that may connect cannot pretend to be a certificate, and one that may introduce not a client."""
    for path in (dpu.dir, os.path.dirname(dpu.dir)):
        os.chmod(path, 0o755)
    users(dpu, "nobody", kind=kind)
    there = server(f"only-{kind}")
    path = max(pathlib.Path(dpu.dir, "comch").glob("*.sock"), key=os.path.getmtime)
    place = [int(word, 16) for word in path.name.split(".")[0].split("-")[:2]]
    begins = {"users": 1, "introducers": 2}[forbidden]
    said = struct.pack("<4sBBHQ120s", b"dpmc", 1, begins, place[1], place[0], f"only-{kind}".encode())
    said += bytes(32) + b"cert:host".ljust(96, b"\0") if begins == 2 else b""
    subprocess.run([sys.executable, "-c", BEGIN, str(path), said.hex()], check=True)
    pattern = f"refused a peer of user 65534: it may .*, but it is not one of comch.{forbidden}"
    assert await_true(lambda: re.search(pattern, there.log())), there.log()
    os.chmod(os.path.dirname(dpu.dir), 0o700)
    dpu.run(["rm", "-f", "home/.config/dpumap/dpumap.conf"])


class Opened:
    """Counts how often a file is opened (inotify)."""

    def __init__(self, path):
        libc = ctypes.CDLL(None)
        self.fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        assert libc.inotify_add_watch(self.fd, bytes(path), 0x20) >= 0  # IN_OPEN

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.fd)

    def count(self):
        """Since the last call. Equal events that nobody has read yet are one."""
        try:
            return len(os.read(self.fd, 1 << 16)) // 16
        except BlockingIOError:
            return 0


def knock(path, times):
    """Another user connects to a server that refuses it."""
    code = f"""
import os, socket
os.setgroups([]), os.setgid(65534), os.setuid(65534)
for _ in range({times}):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect({str(path)!r})
        s.recv(1)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_refused_users_do_not_fill_the_log_or_read_the_configuration(dpu, server):
    """The configuration is read again only if it may have changed."""
    for path in (dpu.dir, os.path.dirname(dpu.dir)):
        os.chmod(path, 0o755)
    users(dpu, "daemon")
    there = server("crowded")
    path = max(pathlib.Path(dpu.dir, "comch").glob("*.sock"), key=os.path.getmtime)
    began = time.monotonic()
    with Opened(pathlib.Path(dpu.dir, "home/.config/dpumap/dpumap.conf")) as opened:

        def is_cached():
            opened.count()
            knock(path, 200)
            return opened.count() == 0

        assert await_true(is_cached), "the configuration is read for each refused user"
    for _ in range(5):
        knock(path, 400)
    refused = there.log().count("refused a peer of user 65534: it is not one of comch.users")
    assert 500 <= refused < 500 + 5 * (time.monotonic() - began + 1), refused

    def is_reported():
        knock(path, 1)
        return re.search(r"uid:65534 caused \d+ more messages, which are not shown", there.log())

    assert await_true(is_reported), there.log()[-1000:]
    users(dpu, "nobody")
    words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    listed = dpu.daemon("listed", [*words, "link_peer", "client", "crowded", "0", "hi"])
    listed.await_output("^got hi")
    listed.end("KILL")
    os.chmod(os.path.dirname(dpu.dir), 0o700)
    dpu.remove("home/.config/dpumap/dpumap.conf")


@pytest.mark.parametrize(
    "text, reason",
    [
        ('comch = { introduce = "x"; };', "must be a list of groups"),
        ("comch = { introduce = ( 1 ); };", "must be a group"),
        ('comch = { introduce = ( { server = "a"; } ); };', "must have server and allow"),
        ('comch = { introduce = ( { server = "a"; allow = "*"; } ); };', "must be an array"),
        ('comch = { introduce = ( { server = "a"; allow = [ "x" ]; } ); };', "must contain cert:"),
        ('comch = { introduce = ( { port = 1; } ); };', "is not server or allow"),
    ],
)
def test_wrong_rules_are_refused(dpu, text, reason):
    dpu.put({"wrong.conf": f'listen = [ "unix:{dpu.dir}/s" ];\n{text}\n'})
    done = dpu.run(["dpumapd", "--check", "--config", f"{dpu.dir}/wrong.conf"])
    assert done.status != 0 and reason in done.err, done.err
