# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""While dpumapd waits for a resolver, a disk or the device, it serves its clients. A preloaded library holds the
call up until the test has seen it."""

import contextlib
import os
import select

import pytest

from harness.agents import ABSENT
from harness.machine import PATIENCE, await_true, quote
from harness.wire import HELLO, is_closed, reach, receive, request

SPOIL = os.environ.get("DPUMAP_SPOIL")
pytestmark = [
    pytest.mark.local,
    pytest.mark.usefixtures("nothing_left"),
    pytest.mark.skipif(not SPOIL, reason="no library that spoils is given"),
]
PRELOAD = f"LD_PRELOAD={SPOIL}:$LD_PRELOAD exec "
REGISTERED_FIRST = 256
BIG = 2 << 20  # what the library regards as much memory
HELD_SIZE = (1 << 20) + 4096  # of a file that the library regards as one of a network file system


def dram(name, size=4096):
    return f'{{ name = "{name}"; kind = "dram"; size = {size}; allow = [ "*" ]; }}'


class Waiting:
    """dpumapd, and what it waits for."""

    def __init__(self, serve, dpu, place, what):
        self.serve, self.dpu, self.what, self.agent = serve, dpu, what, None
        self.fifo = place / "fifo"
        self.env = {"SPOIL": what, "SPOIL_FIFO": str(self.fifo)}
        self.listen, self.exports = [f"unix:{dpu.dir}/waits"], [dram("other")]
        self.commands = 0

    def write(self):
        listen = ", ".join(f'"{address}"' for address in self.listen)
        text = f'listen = [ {listen} ];\nadmin = "{self.dpu.dir}/admin";\n'
        text += f'tls = {{ psk = "{self.dpu.dir}/keys"; }};\nexports = ( {", ".join(self.exports)} );\n'
        self.dpu.put({"keys": f"one:{'11' * 32}\n", "waits.conf": text})

    def start(self):
        self.write()
        self.agent = self.serve("--config", f"{self.dpu.dir}/waits.conf", prefix=PRELOAD, env=self.env)
        return self.agent

    def begin_start(self, name):
        """The same, but do not wait until it is ready."""
        self.write()
        return self.dpu.daemon(name, f"{PRELOAD}dpumapd --config {self.dpu.dir}/waits.conf", env=self.env)

    def prepare(self):
        """From now on the calls are held up."""
        os.mkfifo(self.fifo)

    @contextlib.contextmanager
    def held(self):
        """Until a call is held up; it goes on at the end."""
        held = os.open(self.fifo, os.O_RDONLY | os.O_NONBLOCK)
        try:
            assert select.select([held], [], [], 60)[0], f"nothing waits for the {self.what}"
            yield
        finally:
            self.fifo.unlink()
            os.close(held)

    @contextlib.contextmanager
    def client(self):
        with reach(f"{self.dpu.dir}/waits") as client:
            client.sendall(HELLO)
            assert b"version" in receive(client)
            yield client

    def serves(self, name="other"):
        """Another client is served, and ctl."""
        with self.client() as client:
            client.sendall(request("get", 2, name=name) + request("list", 3))
            assert b"descriptor" in receive(client)
            assert b"exports" in receive(client)
        return self.agent.ask("status")

    def begin(self, *words):
        """A command of ctl that waits."""
        self.commands += 1
        command = ["dpumapd", "ctl", "--admin", self.agent.admin, *words]
        return self.dpu.daemon(f"ctl{self.commands}", command)

    def await_commands(self, number):
        assert await_true(lambda: self.agent.figure("waiting") == number)


@pytest.fixture
def wait(serve, dpu, ram):
    """wait(WHAT): dpumapd that waits for this."""
    yield lambda what: Waiting(serve, dpu, ram, what)
    with contextlib.suppress(FileNotFoundError):  # the test has failed
        held = os.open(ram / "fifo", os.O_RDONLY | os.O_NONBLOCK)
        os.unlink(ram / "fifo")
        os.close(held)


def asks(client, *requests):
    client.sendall(b"".join(requests))
    return [receive(client) for _ in requests]


def has_nothing(client):
    client.setblocking(False)
    try:
        client.recv(1)
        return False
    except BlockingIOError:
        return True
    finally:
        client.settimeout(PATIENCE)


# -- the resolver


def test_reload_that_waits_for_a_resolver_lets_clients_be_served(wait):
    one = wait("resolver")
    agent = one.start()
    one.prepare()
    one.listen.append("tls:held.test:0")
    one.write()
    first = one.begin("reload")
    with one.held():
        second = one.begin("reload")
        one.await_commands(2)
        one.serves()
        assert "tls:" not in agent.daemon.out()
    assert first.end("0") == 0 and second.end("0") == 0
    one.listen.pop()
    one.write()
    agent.ctl("reload").ok()
    agent.stop()


def test_dpumapd_ends_while_a_reload_waits_for_a_resolver(wait):
    """What the reload has opened is closed."""
    one = wait("resolver")
    agent = one.start()
    one.prepare()
    one.listen += [f"unix:{one.dpu.dir}/more", "tls:held.test:0"]
    one.write()
    one.begin("reload")
    with one.held():
        assert one.dpu.exists(f"{one.dpu.dir}/more")
        agent.daemon.signal("TERM")
    assert agent.daemon.end("0") == 0, agent.log()
    assert not one.dpu.exists(f"{one.dpu.dir}/more")


@pytest.fixture
def client_of(host, ram):
    """client_of(ADDRESS, SECONDS): dpumap, which waits for a resolver."""

    def start(address, seconds):
        host.put({"key": f"one:{'11' * 32}\n"})
        words = ["dpumap", "list", "--connect", address, "--psk", f"{host.dir}/key", "--timeout", f"{seconds}"]
        env = {"SPOIL": "resolver", "SPOIL_FIFO": str(ram / "fifo")}
        return host.daemon("client", f"LD_PRELOAD={SPOIL}:$LD_PRELOAD exec {quote(words)}", env=env)

    return start


def test_time_out_of_a_client_holds_for_its_resolver(wait, client_of):
    one = wait("")
    one.prepare()
    client = client_of("tls:held.test:1", 1)
    with one.held():
        assert client.end("0") == ABSENT, client.log()
    assert "no reply from held.test:1 within 1000 ms" in client.log()


def test_client_that_waits_for_its_resolver_is_served_then(wait, client_of):
    one = wait("")
    one.listen.append("tls:127.0.0.1:0")
    agent = one.start()
    one.prepare()
    client = client_of(f"tls:held.test:{agent.daemon.out().rpartition(':')[2].strip()}", 60)
    with one.held():
        assert client.status() is None
    client.await_output("^other ")
    assert client.end("0") == 0, client.log()


# -- a disk


def file(place, name, size, perm="rw"):
    path = place / name
    path.write_bytes(bytes(size))
    return f'{{ name = "{name}"; kind = "file"; path = "{path}"; size = "max"; perm = "{perm}"; allow = [ "*" ]; }}'


def test_release_that_waits_for_a_disk_lets_clients_be_served(wait, ram):
    """The export may end meanwhile, and the client too."""
    one = wait("slow")
    one.exports += [file(ram, name, 65536) for name in ("kept", "gone", "left")]
    agent = one.start()
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(one.client()) for _ in range(3)]
        for client, name in zip(clients, ("kept", "gone", "left")):
            assert b"descriptor" in asks(client, request("get", name=name))[0]
        one.prepare()
        for client, name in zip(clients, ("kept", "gone", "left")):
            client.sendall(request("release", name=name))
        with one.held():
            one.serves()
            removal = one.begin("remove", "gone")
            agent.daemon.await_log("export gone removed")
            clients[2].close()
            assert await_true(lambda: agent.figure("clients") == 2)
            assert all(has_nothing(client) for client in clients[:2])
        assert removal.end("0") == 0, removal.log()
        for client in clients[:2]:
            assert b"error" not in receive(client)
    agent.stop()
    assert "cannot" not in agent.log()


def test_dpumapd_ends_while_a_release_waits_for_a_disk(wait, ram):
    one = wait("slow")
    one.exports.append(file(ram, "kept", 65536))
    agent = one.start()
    with one.client() as client:
        assert b"descriptor" in asks(client, request("get", name="kept"))[0]
        one.prepare()
        client.sendall(request("release", name="kept"))
        with one.held():
            agent.daemon.signal("TERM")
            assert is_closed(client)
    assert agent.daemon.end("0") == 0, agent.log()


def test_truncated_file_that_waits_for_its_disk_lets_clients_be_served(wait, ram):
    one = wait("slow")
    one.exports.append(file(ram, "cut", 65536))
    agent = one.start()
    one.prepare()
    os.truncate(ram / "cut", 4096)
    with one.held():
        agent.daemon.await_log("export cut removed")
        one.serves()
    agent.stop()


def test_file_of_a_silent_server_lets_clients_be_served(wait, ram):
    """It is checked twice a second whether files are truncated."""
    one = wait("server")
    one.exports += [file(ram, "remote", HELD_SIZE, "ro"), file(ram, "local", 65536, "ro")]
    agent = one.start()
    one.prepare()
    os.truncate(ram / "local", 0)
    agent.daemon.await_log("export local removed")
    one.serves()
    one.fifo.unlink()
    agent.stop()


# -- the device


def many(*last):
    """The last of them are registered while dpumapd serves clients."""
    return [*(dram(f"a{number:03}") for number in range(REGISTERED_FIRST)), *last]


def state_of(agent, name):
    return next(export["state"] for export in agent.ask("list")["exports"] if export["name"] == name)


def test_registration_that_takes_long_lets_clients_be_served(wait):
    """A client that asks for the export waits alone, and an export that waits for nobody is registered before."""
    one = wait("pins")
    one.exports = many(dram("big", BIG), dram("huge", BIG), dram("small"))
    one.prepare()
    agent = one.start()
    with contextlib.ExitStack() as stack:
        first, second = (stack.enter_context(one.client()) for _ in range(2))
        with one.held():
            assert state_of(agent, "big") == "registering" and state_of(agent, "huge") == "unregistered"
            first.sendall(request("get", 2, name="big"))
            assert one.serves("a000")["registering"] == 1
            assert "\nregistering: big\n" in agent.ctl("list").ok()
            one.serves("small")
            second.sendall(request("get", 2, name="huge"))
            assert await_true(lambda: agent.figure("registering") == 2)
            second.close()
            removal = one.begin("remove", "big")
            one.await_commands(1)
            before = agent.figure("turns")
            for _ in range(20):
                one.serves("a001")
            assert agent.figure("turns") - before < 20 * 40, "the loop spins"
            assert has_nothing(first)
        assert b"descriptor" in receive(first)
        assert removal.end("0") == 0, removal.log()
    assert await_true(lambda: agent.figure("registering") == 0)
    assert state_of(agent, "huge") == "registered"
    assert agent.figure("imports") == 0
    agent.stop()


def test_stop_during_the_start_ends_it(wait, agent_name):
    """Not only after thousands of exports have been created."""
    one = wait("pins")
    one.exports = [dram("big", BIG), *(dram(f"e{number}") for number in range(4000))]
    one.prepare()
    daemon = one.begin_start(agent_name())
    with one.held():
        daemon.signal("TERM")
    assert daemon.end("0") == 0, daemon.log()
    assert daemon.log() == "dpumapd: stopped during the start\n"


def test_export_changes_while_it_is_registered(wait):
    """By ctl rekey: the client that waits is told."""
    one = wait("pins")
    one.exports = many(dram("big", BIG))
    one.prepare()
    agent = one.start()
    with one.client() as client:
        client.sendall(request("get", 2, name="big"))
        with one.held():
            agent.ctl("rekey", "big").ok()
            assert b"changed or ended" in receive(client)
            client.sendall(request("get", 3, name="big"))
            one.serves("a000")
            assert has_nothing(client)
        assert b"descriptor" in receive(client)
    agent.stop()


def test_registration_that_fails_late_is_told_to_the_client_that_waits(wait, emulator):
    one = wait("pins")
    one.exports = many(dram("big", BIG))
    one.prepare()
    agent = one.start()
    with one.client() as client:
        with one.held():
            client.sendall(request("get", 2, name="big"))
            one.serves("a000")
            emulator.fault("--method", "mr.create", "--errno", "ENOMEM")
        assert b"cannot register its memory" in receive(client)
        assert state_of(agent, "big") == "unregistered"
        assert b"descriptor" in asks(client, request("get", 3, name="big"))[0]
    agent.daemon.await_log("cannot register its memory.*for their first clients")
    agent.stop()


def test_dpumapd_ends_while_it_registers(wait):
    one = wait("pins")
    one.exports = many(dram("big", BIG))
    one.prepare()
    agent = one.start()
    with one.client() as client:
        client.sendall(request("get", 2, name="big"))
        with one.held():
            agent.daemon.signal("TERM")
            assert is_closed(client)
    assert agent.daemon.end("0") == 0, agent.log()


@pytest.mark.parametrize("via", ["pci", "rdma"])
def test_end_of_much_memory_lets_clients_be_served(wait, via):
    """The access of its clients ends before."""
    one = wait("unpins")
    one.exports.append(dram("big", BIG).replace("size", f'via = "{via}"; size'))
    agent = one.start()
    with one.client() as client:
        assert b"descriptor" in asks(client, request("get", 2, name="big"))[0]
        one.prepare()
        removal = one.begin("remove", "big")
        with one.held():
            agent.daemon.await_log("export big removed")
            assert one.serves()["exports"] == 1
            assert agent.figure("imports") == 0
        assert removal.end("0") == 0, removal.log()
    agent.stop()


@pytest.mark.parametrize("what", ["pins", "unpins"])
def test_new_key_needs_no_registration(wait, what):
    """Whoever asks for it: ctl, or the last client that releases the descriptor."""
    one = wait(what)
    one.exports.append(dram("big", BIG))
    agent = one.start()
    with one.client() as client:
        assert b"descriptor" in asks(client, request("get", 2, name="big"))[0]
        one.prepare()
        assert b"error" not in asks(client, request("release", 3, name="big"))[0]
        assert b"descriptor" in asks(client, request("get", 4, name="big"))[0]
        agent.ctl("rekey", "big").ok()
        assert b"descriptor" in asks(client, request("get", 5, name="big"))[0]
        one.fifo.unlink()
    agent.stop()
