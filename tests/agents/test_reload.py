# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What a reload changes, and what it leaves alone when it fails."""

import contextlib
import json
import os
import re
import socket
import ssl
import threading
import time

import pytest

from harness.agents import ABSENT, REFUSED, Tool
from harness.machine import PATIENCE, await_true
from harness.metrics import described, parse, scrape
from harness.pki import FUTURE, PAST, Pki, openssl
from harness.wire import HELLO, context, is_closed, reach, receive, request

pytestmark = [pytest.mark.local, pytest.mark.usefixtures("nothing_left")]

CERTIFICATES = 'tls = {{ cert = "{0}/dpu.crt"; key = "{0}/dpu.key"; ca = "{0}/ca.crt"; }};\n'
EXPORT = '{ name = "web"; kind = "dram"; size = "64K"; allow = [ "*" ]; }'
DEVICE_MEMORY = '{ name = "dm"; kind = "dm"; size = 4096; perm = "rw"; allow = [ "*" ]; }'
FAR = '{ name = "far"; kind = "dram"; size = "64K"; via = "rdma"; allow = [ "*" ]; }'
KEYS = {"one": "11" * 32, "two": "22" * 32}


@pytest.fixture(scope="module")
def pki(openssl_pki):
    for name in ("web", "late"):
        openssl_pki.issue(name, "clientAuth")
    return openssl_pki


class Reloaded:
    """dpumapd and its configuration, which a test changes."""

    def __init__(self, serve, host, dpu, pki):
        self.serve, self.host, self.dpu, self.pki = serve, host, dpu, pki
        self.agent = None
        self.unix = f"unix:{dpu.dir}/socket"
        self.listen = ["tls:127.0.0.1:0", self.unix]
        self.tls = CERTIFICATES.format(pki.dir)
        self.exports = [EXPORT]
        self.more = ""

    def write(self):
        listen = ", ".join(f'"{address}"' for address in self.listen)
        text = f'listen = [ {listen} ];\nadmin = "{self.dpu.dir}/admin";\n{self.tls}{self.more}'
        self.dpu.put({"reload.conf": f"{text}exports = ( {', '.join(self.exports)} );\n"})

    def start(self, **more):
        self.write()
        self.agent = self.serve("--config", f"{self.dpu.dir}/reload.conf", **more)
        return self.agent

    def reload(self):
        self.write()
        return self.agent.ctl("reload")

    def use_keys(self, *names):
        """A file with these shared keys in place of certificates."""
        self.dpu.put({"keys": "".join(f"{name}:{KEYS[name]}\n" for name in names)})
        self.tls = f'tls = {{ psk = "{self.dpu.dir}/keys"; }};\n'

    def local(self):
        """dpumap over the Unix socket."""
        return Tool(self.host, ["--connect", self.unix])

    def web(self):
        """dpumap over TLS, with a certificate."""
        files = ("--cert", self.pki.path("web.crt"), "--key", self.pki.path("web.key"))
        words = ("--connect", self.agent.address, *files, "--ca", self.pki.path("ca.crt"))
        return Tool(self.host, words)

    def with_key(self, name):
        """dpumap over TLS, with a shared key of the host."""
        self.host.put({f"key-{name}": f"{name}:{KEYS[name]}\n"})
        words = ("--connect", self.agent.address, "--psk", f"{self.host.dir}/key-{name}")
        return Tool(self.host, words)


@pytest.fixture
def made(serve, host, dpu, pki):
    return Reloaded(serve, host, dpu, pki)


def is_refused(address):
    """Whether nothing listens at tls:HOST:PORT."""
    try:
        reach(address).close()
    except ConnectionRefusedError:
        return True
    return False


def exports_of(agent):
    """Their names."""
    return {one["name"] for one in agent.ask("list")["exports"]}


def is_done(client):
    """Whether the client's part of the handshake is complete; its last bytes may not be sent."""
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        return False
    return True


# -- addresses


def test_address_that_a_reload_removes_is_closed(made):
    """With the last one over TLS, its clients lose their access."""
    agent = made.start()
    holder = made.web().daemon("holder", "import", "web", "--hold")
    holder.await_output("imported")
    made.listen, made.tls = [made.unix], ""
    made.reload().ok()
    assert is_refused(agent.address)
    assert holder.end("0") != 0
    agent.daemon.await_log("cert:web at .* disconnected: the configuration no longer has TLS")
    made.local()("import", "web").ok()
    made.listen, made.tls = [agent.address, made.unix], CERTIFICATES.format(made.pki.dir)
    made.reload().ok()
    made.web()("import", "web").ok()


def test_certificate_that_is_revoked_during_its_handshake_is_refused(made):
    """The handshake began with settings that are no longer valid."""
    made.tls = made.tls.replace("};", f'crl = "{made.pki.path("ca.crl")}"; }};')
    agent = made.start()
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context(made.pki.path("late")).wrap_bio(incoming, outgoing)
    with reach(agent.address) as stream:
        while not is_done(client):
            stream.sendall(outgoing.read())
            incoming.write(stream.recv(65536))
        made.pki.revoke("late")
        made.reload().ok()
        stream.sendall(outgoing.read())
        agent.daemon.await_log("unknown at .* disconnected: the certificate of cert:late was rejected")
    made.web()("import", "web").ok()


def test_address_that_is_in_use_changes_nothing(made):
    agent = made.start()
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = f"tls:127.0.0.1:{other.getsockname()[1]}"
        made.listen, made.exports = [f"unix:{made.dpu.dir}/new", taken], []
        made.reload().fails_with(ABSENT, "cannot listen on 127.0.0.1 port")
    assert not made.dpu.exists("new")
    made.web()("import", "web").ok()
    made.local()("import", "web").ok()
    assert agent.figure("exports") == 1


def test_reload_changes_who_may_connect_to_the_unix_socket(made):
    made.exports, path = [EXPORT.replace('"*"', '"uid:0"')], made.unix.removeprefix("unix:")
    made.start()
    for others, mode in ((', "uid:4000000"', 0o666), ("", 0o600)):
        made.exports = [EXPORT.replace('"*"', f'"uid:0"{others}')]
        made.reload().ok()
        assert os.stat(path).st_mode & 0o777 == mode
    made.exports = [DEVICE_MEMORY.replace("4096", '"1T"')]
    made.reload().fails(REFUSED)
    assert os.stat(path).st_mode & 0o777 == 0o600


def test_setting_that_a_reload_cannot_apply_is_refused(made):
    agent = made.start()
    made.exports, made.more = [], f'metrics = "{made.dpu.dir}/metrics";\n'
    made.reload().fails_with(REFUSED, "metrics has changed .* restart dpumapd")
    assert agent.figure("exports") == 1


def pass_to(*listeners):
    """The options of a start of dpumapd that pass it sockets, as systemd does."""
    fds = [listener.fileno() for listener in listeners]
    shell = "".join(f"exec {number}<&{fd}; " for number, fd in enumerate(fds, 3) if number != fd)
    return {"prefix": f"{shell}export LISTEN_FDS={len(fds)} LISTEN_PID=$$; exec ", "pass_fds": fds}


@pytest.fixture
def from_systemd():
    """The address of a TCP socket, and the options that pass it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"tls:127.0.0.1:{listener.getsockname()[1]}", pass_to(listener)


def test_socket_of_systemd_without_tls_is_refused(made, from_systemd):
    made.listen, made.tls = [made.unix], ""
    agent = made.start(ready=False, **from_systemd[1])
    assert agent.daemon.end("0") == REFUSED
    assert re.search("systemd passed a TCP socket, which needs TLS: set cert, key and ca", agent.log())


def test_socket_of_systemd_is_served_with_tls(made, from_systemd):
    address, options = from_systemd
    made.listen = [made.unix]
    made.start(**options).address = address
    made.web()("import", "web").ok()
    made.tls = ""
    reason = "systemd passed a TCP socket, which needs TLS"
    made.reload().fails_with(REFUSED, reason)
    made.web()("import", "web").ok()
    assert made.agent.log().count(reason) == 1


@pytest.mark.parametrize("also", ["127.0.0.1", "localhost", "*"])
def test_sockets_of_systemd_and_addresses_of_the_configuration_are_served(made, from_systemd, also):
    """One that is both is served once."""
    address, options = from_systemd
    made.listen = [made.unix, "tls:127.0.0.1:0", address.replace("127.0.0.1", also)]
    agent = made.start(**options)
    line = re.fullmatch(r"dpumapd: ready on (.*), (tls:127\.0\.0\.1:\d+), (.*)\n", agent.daemon.out())
    assert (line[1], line[3]) == (made.unix, address)
    made.local()("import", "web").ok()
    for agent.address in (line[2], address):
        made.web()("import", "web").ok()
    made.listen.pop()
    made.reload().ok()
    made.web()("import", "web").ok()


def test_unix_socket_of_systemd_serves_several_clients(made):
    """systemd passes a blocking socket."""
    path = f"{made.dpu.dir}/passed"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        made.start(**pass_to(listener)).address = f"unix:{path}"
        made.unix = f"unix:{path}"
        for _ in range(2):
            made.local()("import", "web").ok()
    made.dpu.remove(path)


# -- shared keys


@pytest.mark.parametrize("how", ["removed", "replaced", "certificates"])
def test_client_of_a_shared_key_that_is_gone_is_cut_off(made, how):
    """A client of another key stays."""
    made.use_keys("one", "two")
    agent = made.start()
    first = made.with_key("one").daemon("first", "import", "web", "--hold")
    other = made.with_key("two").daemon("other", "watch")
    first.await_output("imported")
    other.await_output("watching")
    if how == "certificates":
        made.tls = CERTIFICATES.format(made.pki.dir)
    else:
        made.use_keys("two")
    if how == "replaced":
        made.dpu.put({"keys": f"one:{'33' * 32}\ntwo:{KEYS['two']}\n"})
    made.reload().ok()
    agent.daemon.await_log("psk:one at .* disconnected: the pre-shared key of psk:one was")
    assert first.end("0") != 0
    made.with_key("one")("list").fails(REFUSED, 1)
    if how == "certificates":
        agent.daemon.await_log("psk:two at .* disconnected")
    else:
        made.with_key("two")("import", "web").ok()
        assert "psk:two" in agent.ctl("sessions").ok()
    other.end("TERM")


# -- labels


def labels_of(agent):
    return {one["name"]: one["label"] for one in agent.ask("list")["exports"]}


def test_new_labels_leave_imports_alone(made):
    """Also when an export is added and another one removed at the same time."""
    made.exports = [EXPORT, DEVICE_MEMORY]
    agent = made.start()
    agent.ctl("add", "name=extra,kind=dram,size=4K,label=gpu=no,label=city=Ulm").ok()
    holder = made.web().daemon("holder", "import", "web", "--hold")
    holder.await_output("imported")
    made.exports = [EXPORT.replace("allow", 'label = [ "rack=4", "gpu=yes" ]; allow')]
    made.reload().ok()
    assert labels_of(agent) == {"web": ["gpu=yes", "rack=4"], "extra": ["city=Ulm", "gpu=no"]}
    agent.daemon.await_log("export web has new labels")
    made.exports = [EXPORT]
    made.reload().ok()
    assert labels_of(agent) == {"web": [], "extra": ["city=Ulm", "gpu=no"]}
    assert agent.figure("imports") == 1 and holder.status() is None
    holder.end("TERM")


def test_labels_of_a_reload_that_fails_change_nothing(made):
    made.exports = [EXPORT.replace("allow", 'label = "gpu=yes"; allow')]
    agent = made.start()
    made.exports = [DEVICE_MEMORY.replace("4096", '"1T"'), EXPORT]
    made.reload().fails_with(REFUSED, "export dm: cannot export .* bytes of device memory")
    assert labels_of(agent) == {"web": ["gpu=yes"]}


# -- all or nothing


def test_export_that_cannot_be_made_changes_nothing(made):
    """Neither the other exports nor the addresses, the TLS files and the limits."""
    made.exports = [EXPORT, DEVICE_MEMORY, EXPORT.replace("web", "gone")]
    agent = made.start()
    web, data = made.web(), os.urandom(4096)
    web("write", "dm", data=data).ok()
    holders = [web.daemon(f"holder-{name}", "import", name, "--hold") for name in ("dm", "web", "gone")]
    for holder in holders:
        holder.await_output("imported")
    made.listen, made.tls, made.more = [made.unix], "", "max_clients = 1;\n"
    made.exports = [DEVICE_MEMORY.replace("4096", '"1T"'), EXPORT.replace('"*"', '"uid:0"')]
    made.exports += [EXPORT.replace("web", "new")]
    made.reload().fails_with(REFUSED, "export dm: cannot export .* bytes of device memory")
    assert web("read", "dm", "--length", "4096").data == data
    assert {one["name"] for one in web.json("list")["exports"]} == {"dm", "web", "gone"}
    assert [holder.status() for holder in holders] == [None] * 3
    agent.daemon.await_log("cannot reload the configuration, nothing has changed: export dm")
    for holder in holders:
        holder.end("TERM")


def dmabuf_of(path, name):
    """A dma-buf of an export's memory, from dpumapd's Unix socket."""
    with reach(path) as s:
        s.sendall(HELLO + request("get", name=name) + request("dmabuf", name=name))
        assert b"version" in receive(s) and b"descriptor" in receive(s)
        reply, fds, _, _ = socket.recv_fds(s, 65536, 1)
    if b"rdma-core 62" in reply:
        pytest.skip("this rdma-core does not export device memory as a dma-buf")
    return fds[0]


@pytest.mark.parametrize("is_shared", [False, True])
def test_memory_of_a_dmabuf_is_new_once_a_client_loses_a_right(made, is_shared):
    """Only its end revokes the dma-buf. Other changes leave the memory, and so do all if nobody has a dma-buf."""
    me = f"uid:{os.getuid()}"
    allow = '"cert:web", "{0}"'.format
    made.exports = [DEVICE_MEMORY.replace('"*"', allow(me))]
    made.start()
    web, data = made.web(), os.urandom(4096)
    web("write", "dm", data=data).ok()
    fd = dmabuf_of(made.unix.removeprefix("unix:"), "dm") if is_shared else None
    made.exports = [DEVICE_MEMORY.replace('"*"', allow(me) + ', "cert:late"')]
    made.reload().ok()
    assert web("read", "dm").data == data
    made.exports = [DEVICE_MEMORY.replace('"*"', allow("cert:late"))]
    made.reload().ok()
    assert web("read", "dm").data == (bytes(4096) if is_shared else data)
    if is_shared:
        os.close(fd)


def of_file(name, path, size='"max"'):
    return f'{{ name = "{name}"; kind = "file"; path = "{path}"; size = {size}; perm = "ro"; allow = [ "*" ]; }}'


def failed_exports(agent):
    """{name: reason}"""
    return {one["name"]: one["reason"] for one in agent.ask("list")["failed"]}


def test_a_long_list_of_failed_exports_goes_out_in_parts(made):
    names = [f"gone{number:04d}" for number in range(2000)]
    made.exports = [EXPORT, *(of_file(name, f"/nonexistent/{name}", '"max"') for name in names)]
    agent = made.start()
    before = agent.figure("turns")
    reply = agent.ask("list")
    assert agent.figure("turns") - before >= len(names) // 64
    assert [one["name"] for one in reply["exports"]] == ["web"] and reply["status"] == "DOCA_SUCCESS"
    assert [one["name"] for one in reply["failed"]] == names


def test_start_serves_the_exports_that_can_be_made(made):
    """Those that cannot are shown, and a reload tries them again."""
    path = f"{made.dpu.dir}/table"
    reasons = {
        "large": "bytes of device memory",
        "pages": "bytes of huge pages",
        "short": "the file or dma-buf has",
        "table": "No such file or directory",
    }
    others = [
        DEVICE_MEMORY.replace('"dm"', '"large"', 1).replace("4096", '"1T"'),
        EXPORT.replace("web", "pages").replace("64K", "8T").replace("kind", 'pages = "huge"; kind'),
        of_file("short", "/etc/passwd", '"1T"'),
        of_file("table", path),
    ]
    made.exports = [EXPORT, *others]
    made.more = f'metrics = "{made.dpu.dir}/metrics";\n'
    agent = made.start()
    assert exports_of(agent) == {"web"}
    assert made.web()("read", "web", "--length", "4096").data == bytes(4096)
    failed = failed_exports(agent)
    assert failed.keys() == reasons.keys()
    for name, reason in reasons.items():
        assert reason in failed[name]
        assert f"{failed[name]}; the other exports are served" in agent.log()
        assert f"failed: {failed[name]}\n" in agent.ctl("list").ok()
    assert agent.figure("failed_exports") == 4
    assert parse(scrape(f"{made.dpu.dir}/metrics"))[1]["dpumapd_failed_exports"] == 4
    found = json.loads(made.dpu.run(["dpumapd", "doctor", "--config", f"{made.dpu.dir}/reload.conf", "--json"]).data)
    assert (found["checks"][0]["id"], found["checks"][0]["state"]) == ("config.file", "warn")
    assert failed["large"] in found["checks"][0]["text"]
    made.dpu.run(["truncate", "-s", "64K", path]).ok()
    made.reload().ok()
    assert exports_of(agent) == {"web", "table"}
    assert failed_exports(agent).keys() == reasons.keys() - {"table"}
    # An export that has not failed before must not fail.
    made.exports = [EXPORT, *others, of_file("typo", f"{path}s")]
    made.reload().fails_with(ABSENT, "export typo: cannot open")
    made.exports = [EXPORT, of_file("table", path)]
    made.reload().ok()
    assert not failed_exports(agent)
    # An export that ends by itself has failed, too.
    made.dpu.run(["truncate", "-s", "4K", path]).ok()
    agent.daemon.await_log("export table removed")
    assert "was truncated" in failed_exports(agent)["table"]
    made.reload().ok()
    assert exports_of(agent) == {"web", "table"}
    assert not failed_exports(agent)


def test_change_of_which_any_step_fails_changes_nothing(made, emulator):
    """Each command to the device fails in turn, until the reload succeeds without meeting the fault."""
    made.exports = [EXPORT, DEVICE_MEMORY, FAR]
    agent = made.start()
    web, data = made.web(), os.urandom(4096)
    for name in ("dm", "far", "web"):
        web("write", name, data=data).ok()
    before = agent.ask("list")
    made.exports = [EXPORT.replace('"*"', '"*", "uid:0"'), DEVICE_MEMORY.replace('"rw"', '"ro"')]
    made.exports += [FAR.replace('"*"', '"*", "uid:0"'), EXPORT.replace("web", "new")]
    failed = 0
    for number in range(1, 100):
        emulator.fault("--method", "*", "--nth", number, "--errno", "ENOMEM")
        made.write()
        reply = made.dpu.ask_admin(agent.admin, "reload")
        emulator.clear_faults()
        if reply["status"] == "DOCA_SUCCESS":
            break
        failed += 1
        assert agent.ask("list") == before
        for name in ("dm", "far", "web"):
            assert web("read", name, "--length", "4096").data == data, name
    assert failed >= 3
    assert {one["name"] for one in web.json("list")["exports"]} == {"dm", "far", "web", "new"}
    for name in ("dm", "far", "web"):
        assert web("read", name, "--length", "4096").data == data, name


# -- changes that take long


class Notifications:
    """What dpumapd tells its service manager. It waits if nobody reads it, so a thread does."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        self.path, self.words, self.next = path, [], 0
        self.env = {"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "400000"}
        self.thread = threading.Thread(target=self.read)
        self.thread.start()

    def read(self):
        while message := self.socket.recv(4096):
            self.words += message.decode().split()

    def expect(self, *words):
        """Waits for words in this order, with others between them."""
        for word in words:
            assert await_true(lambda: word in self.words[self.next :]), (word, self.words)
            self.next = self.words.index(word, self.next) + 1

    def close(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
            end.sendto(b"", self.path)
        self.thread.join()
        self.socket.close()


@pytest.fixture
def notified(work):
    made = Notifications(f"{work}/notify")
    yield made
    made.close()


@pytest.fixture
def slow(work):
    """An export whose memory can be had once release() is called, which makes it fail."""
    path = f"{work}/heap"
    os.mkfifo(path)
    opened = []

    class Slow:
        words = f"kind=dmabuf,path={path},size=4K"
        export = f'{{ name = "slow"; kind = "dmabuf"; path = "{path}"; size = 4096; }}'

        @staticmethod
        def release():
            opened.append(os.open(path, os.O_RDWR | os.O_NONBLOCK))

    yield Slow
    Slow.release()
    for fd in opened:
        os.close(fd)


def test_status_of_the_service_says_what_is_served_where(made, notified):
    made.exports = [EXPORT, of_file("table", "/no/such")]
    made.listen = [made.unix]
    made.start(env=notified.env)
    notified.expect("STATUS=1", "export", "(and", "1", "failed),", "0", "clients,", "on", made.unix)
    made.exports, made.listen = [EXPORT], [f"{made.unix}-2"]
    made.reload().ok()
    notified.expect("STATUS=1", "export,", "0", "clients,", "on", f"{made.unix}-2")
    made.agent.ctl("add", "name=late,kind=dram,size=4K").ok()
    notified.expect("STATUS=2", "exports,")
    made.unix = f"{made.unix}-2"
    watch = made.local().daemon("watch", "watch")
    notified.expect("STATUS=2", "exports,", "1", "client,")
    watch.end("TERM")
    notified.expect("STATUS=2", "exports,", "0", "clients,")


def test_ready_line_has_all_addresses(made):
    """Also of many sockets with long paths, whose addresses are too long for the status of the service."""
    paths = [f"{made.dpu.dir}/{number:02}{'x' * (90 - len(str(made.dpu.dir)))}" for number in range(40)]
    with contextlib.ExitStack() as stack:
        listeners = [stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in paths]
        for listener, path in zip(listeners, paths):
            listener.bind(path)
            listener.listen()
            stack.callback(made.dpu.remove, path)
        notify = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        notify.bind(f"{made.dpu.dir}/notify")
        stack.callback(made.dpu.remove, f"{made.dpu.dir}/notify")
        made.listen = [made.unix, "tls:127.0.0.1:0"]
        agent = made.start(env={"NOTIFY_SOCKET": f"{made.dpu.dir}/notify"}, **pass_to(*listeners))
        line = re.fullmatch(r"dpumapd: ready on (.*)\n", agent.daemon.out())[1].split(", ")
        assert line[0] == made.unix and line[2:] == [f"unix:{path}" for path in paths]
        notify.settimeout(PATIENCE)
        while "STATUS=" not in (told := notify.recv(4096).decode()):
            pass
        assert told.endswith("STATUS=1 export, 0 clients, on 42 addresses"), told


def test_others_are_served_while_a_reload_takes_long(made, slow, notified):
    agent = made.start(env=notified.env)
    notified.expect("EXTEND_TIMEOUT_USEC=600000000", "READY=1")
    made.exports = [slow.export]
    made.write()
    reload = made.dpu.daemon("reload", ["dpumapd", "ctl", "--admin", agent.admin, "reload"])
    notified.expect("RELOADING=1")
    for _ in range(3):
        notified.expect("WATCHDOG=1")
    made.web()("import", "web").ok()
    assert agent.figure("exports") == 1
    # Another change waits, also if its client does not.
    add = ["dpumapd", "ctl", "--admin", agent.admin, "add", "name=late,kind=dram,size=4K"]
    late, gone = (made.dpu.daemon(name, add) for name in ("late", "gone"))
    assert await_true(lambda: agent.figure("waiting") == 3)
    gone.end("KILL")
    assert await_true(lambda: agent.figure("waiting") == 2)
    slow.release()
    assert reload.end("0") != 0
    assert "export slow: cannot allocate" in reload.log()
    notified.expect("READY=1")
    assert late.end("0") == 0, late.log()
    assert {"late", "web"} == exports_of(agent)
    agent.daemon.signal("TERM")
    notified.expect("STOPPING=1", "EXTEND_TIMEOUT_USEC=600000000")


def test_signal_during_a_reload_reloads_once_more(made, slow):
    agent = made.start()
    made.exports = [slow.export]
    made.write()
    agent.daemon.signal("HUP")
    add = ["dpumapd", "ctl", "--admin", agent.admin, "add", f"name=x,{slow.words}"]
    waiting = made.dpu.daemon("waiting", add)
    assert await_true(lambda: agent.figure("waiting") == 1)
    made.exports = [EXPORT.replace("web", "second")]
    made.write()
    agent.daemon.signal("HUP")
    waiting.end("KILL")
    slow.release()
    agent.daemon.await_log("nothing has changed: export slow")
    agent.daemon.await_log("configuration reloaded")
    assert exports_of(agent) == {"second"}


def test_end_during_a_reload_leaves_nothing(made, slow):
    agent = made.start()
    made.exports = [EXPORT.replace("web", "before"), slow.export]
    made.write()
    reload = made.dpu.daemon("reload", ["dpumapd", "ctl", "--admin", agent.admin, "reload"])
    assert await_true(lambda: agent.figure("waiting") == 1)
    agent.daemon.signal("TERM")
    slow.release()
    assert reload.end("0") != 0
    agent.stop()


def test_thousands_of_exports_are_exchanged(made):
    """A client that watches gets each event."""
    many = 1500
    agent = made.start()
    watch = made.web().daemon("watch", "watch", "--json")
    watch.await_output("watching")
    made.exports = [EXPORT.replace("web", f"n{n}").replace("64K", "4K") for n in range(many)]
    made.reload().ok()
    assert agent.figure("exports") == many
    made.exports = [EXPORT]
    made.reload().ok()
    assert agent.figure("exports") == 1
    made.web()("import", "web").ok()
    assert await_true(lambda: watch.out().count("removed") == many + 1)
    assert watch.out().count("added") == many + 1
    watch.end("TERM")


def test_reload_ends_when_all_clients_are_checked(made):
    """Those that are no longer accepted are disconnected then, also if checking them takes many turns."""
    made.pki.issue("many", "clientAuth")
    made.tls = made.tls.replace("};", f'crl = "{made.pki.path("ca.crl")}"; }};')
    made.more = "max_clients_per_identity = 256;\n"
    made.listen = ["tls:127.0.0.1:0"]
    made.exports.append('{ name = "held"; kind = "dram"; size = 4096; allow = [ "cert:many" ]; }')
    agent = made.start()
    with contextlib.ExitStack() as stack:
        for _ in range(100):
            client = stack.enter_context(reach(agent.address, context(made.pki.path("many"))))
            client.sendall(HELLO + request("get", name="held"))
            assert receive(client) and b"descriptor" in receive(client)
        made.pki.revoke("many")
        turns = agent.figure("turns")
        made.reload().ok()
        assert agent.figure("clients") == 0 and agent.figure("imports") == 0
        assert agent.figure("turns") - turns >= 3


def test_reload_gives_clients_less_time(made):
    """Also one that is connected and has not greeted; one that waits for nothing stays."""
    made.more = "client_timeout = 3600;\n"
    agent = made.start()
    with reach(made.unix.removeprefix("unix:")) as idle, reach(made.unix.removeprefix("unix:")) as mute:
        idle.sendall(HELLO)
        assert b"version" in receive(idle)
        assert await_true(lambda: agent.figure("connections") == 2)
        made.more = "client_timeout = 1;\n"
        made.reload().ok()
        assert is_closed(mute)
        agent.daemon.await_log("disconnected: timed out")
        idle.sendall(request("list"))
        assert b"web" in receive(idle)


# -- credentials that would reject every client

SERVER = ("serverAuth", "DNS:dpu,IP:127.0.0.1")
# What dpumapd uses in place of its own files, and what it says about that.
USELESS = [
    ({"cert": "old.crt", "key": "old.key"}, "the certificate of old expired on 2020-01-02.*dpumap pki renew old"),
    ({"cert": "early.crt", "key": "early.key"}, "the certificate of early is not valid before 2099-01-01.*clock"),
    ({"cert": "web.crt", "key": "web.key"}, "the certificate of web is not for a DPU, and every client rejects it"),
    ({"cert": "bare.crt", "key": "bare.key"}, "the certificate of bare contains no DNS name or address"),
    ({"ca": "lapsed.crt"}, "the CA certificate lapsed expired on 2020-01-02"),
    ({"ca": "dpu.crt"}, "the CA certificate dpu cannot be used: unable to get local issuer"),
    ({"crl": "old.crl"}, "the revocation list of ca expired on 2020-01-02.*renew it"),
    ({"crl": "early.crl"}, "the revocation list of ca is not valid before 2099-01-01"),
    ({"crl": "other/ca.crl"}, "the revocation list of ca is not signed by this CA"),
    ({"crl": "third.crl"}, "the CA ca has no revocation list in crl"),
]
UNREADABLE = [
    ({"key": "locked.key"}, "locked.key: it is encrypted.*openssl pkey -in"),
    ({"key": "empty"}, "empty contains no valid private key in PEM"),
    ({"cert": "empty"}, "empty contains no certificate"),
    ({"crl": "empty"}, "empty contains no revocation list"),
    ({"key": "web.key"}, "web.key: key values mismatch"),
]


@pytest.fixture(scope="module")
def many(pki):
    """Files that dpumapd can read and that reject every client, and files that it cannot read."""
    pki.issue_expired("old", *SERVER)
    pki.issue("early", *SERVER)
    pki.sign_for(FUTURE, "early")
    pki.issue("bare", "serverAuth")
    pki.issue("soon", *SERVER, days=10)
    pki.self_sign_expired("lapsed")
    for name, days in (("old", PAST), ("early", FUTURE)):
        pki.make_crl("-crl_lastupdate", f"{days[0]}000000Z", "-crl_nextupdate", f"{days[1]}000000Z")
        (pki.dir / "ca.crl").rename(pki.dir / f"{name}.crl")
    pki.make_crl()
    Pki(pki.dir / "other")
    openssl("req", "-x509", "-nodes", "-subj", "/CN=third", "-newkey", "ed25519", "-out", pki.path("third.crt"), "-keyout", pki.path("third.key"))
    words = ("-keyfile", pki.path("third.key"), "-cert", pki.path("third.crt"), "-out", pki.path("third.crl"))
    openssl("ca", "-config", pki.path("ca.cnf"), "-md", "null", "-gencrl", *words)
    pki.private("locked")
    openssl("pkey", "-in", pki.path("dpu.key"), "-aes256", "-passout", "pass:x", "-out", pki.path("locked.key"))
    (pki.dir / "empty").touch(0o600)
    return pki


def use(made, **changes):
    files = {"cert": "dpu.crt", "key": "dpu.key", "ca": "ca.crt", "crl": "ca.crl"} | changes
    made.tls = "tls = {{ {} }};\n".format(" ".join(f'{key} = "{made.pki.path(name)}";' for key, name in files.items()))


def check(made):
    made.write()
    return made.dpu.run(["dpumapd", "--check", "--config", f"{made.dpu.dir}/reload.conf"])


def test_credentials_that_reject_every_client_are_refused_by_a_reload(made, many):
    """The working files stay, and --check warns of the same."""
    use(made)
    made.more = f'metrics = "{made.dpu.dir}/metrics";\n'
    agent = made.start()
    for files, words in USELESS:
        use(made, **files)
        made.reload().fails_with(REFUSED, f"no client could connect over TLS: {words}")
        done = check(made)
        assert done.status == 0 and re.search(f"no client can connect over TLS: {words}", done.err), done.err
        made.web()("list").ok()
    for files, words in UNREADABLE:
        use(made, **files)
        made.reload().fails_with(REFUSED, words)
        check(made).fails_with(REFUSED, words)
    made.web()("list").ok()
    metrics, samples = parse(scrape(f"{made.dpu.dir}/metrics"))
    assert metrics == {name: words for name, words in described().items() if "registry_" not in name}
    for name, days in {"certificate": 90, "authority": 90, "revocation_list": 30}.items():
        assert days - 1 < (samples[f"dpumapd_{name}_end_seconds"] - time.time()) / 86400 <= days, name
    use(made, cert="soon.crt", key="soon.key")
    made.reload().ok()
    agent.daemon.await_log(r"the certificate of soon expires in (9|10) days")


def test_credentials_that_are_useless_already_do_not_prevent_a_reload(made, many):
    """A list that has expired meanwhile keeps clients out, and no change of the exports too."""
    use(made, crl="old.crl")
    agent = made.start()
    assert "no client can connect over TLS: the revocation list of ca expired" in agent.log()
    made.exports.append(FAR)
    made.reload().ok()
    assert exports_of(agent) == {"web", "far"}
    use(made)
    made.reload().ok()
    made.web()("list").ok()
