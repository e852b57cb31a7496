# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Attacks on a server of the control channel: dpumapd, which shows its memory and its descriptors."""

import os
import pathlib
import random
import socket
import stat
import tempfile
import threading
import time

import pytest

from harness.agents import expect_no_growth, grows_by_nature, runs_in_qemu
from harness.comch import BYE, CREDIT, HELLO, MAX_MESSAGE, MESSAGE, REFUSE, WELCOME, Raw, frame
from harness.machine import PATIENCE, await_true

pytestmark = [pytest.mark.local, pytest.mark.usefixtures("nothing_left")]

NOBODY = 65534
MANY = "max_clients = 600;\nmax_clients_per_identity = 600;\n"


@pytest.fixture
def raw(emulator):
    """raw(): a connection to the server's socket, for arbitrary bytes."""
    return lambda **more: Raw(emulator.dir / "comch", **more)


@pytest.fixture
def victim(served):
    served.more = MANY
    return served.start()


def expect_service(agent, connect):
    """The server still serves; no connection of the attackers is left."""
    client = connect()
    assert client.ask("get web") == "ok 65536 rw"
    assert client.ask("release web") == "ok"
    client.end()
    assert await_true(lambda: agent.figure("clients") == 0)


BEFORE_HELLO = {
    "message": frame(MESSAGE, b"list"),
    "bye": frame(BYE),
    "welcome": frame(WELCOME, bytes(8)),
    "credit": frame(CREDIT, credit=1),
    "refuse": frame(REFUSE, bytes(4)),
    "consumer": frame(7, bytes(24)),
    "path": frame(10, bytes(12)),
}


def test_passed_descriptors_are_closed(victim, connect, raw):
    """Each comes with a byte of the preamble; or with a frame, and none of these passes a descriptor."""
    if runs_in_qemu(victim.daemon):
        pytest.skip("qemu receives more descriptors than its program has room for, and forgets them")
    files = victim.daemon.settled_files()

    def has_at_most(more):
        return await_true(lambda: (victim.daemon.open_files() - files).total() <= more)

    with raw() as attacker:
        for number, byte in enumerate(attacker.preamble()[:100]):
            socket.send_fds(attacker.socket, [bytes([byte])], [0] * (number % 4 + 1))
        # Its connection, and the last one of what it passed, until it has said everything.
        assert has_at_most(2)
    assert has_at_most(0)
    with raw() as attacker:
        attacker.open()
        for number in range(100):
            socket.send_fds(attacker.socket, [frame(MESSAGE, b"list")], [0] * (number % 4 + 1))
        assert has_at_most(2)
    expect_service(victim, connect)


@pytest.mark.parametrize("what", BEFORE_HELLO)
def test_frame_before_hello_ends_the_connection(victim, connect, raw, what):
    with raw() as attacker:
        attacker.send(attacker.preamble() + BEFORE_HELLO[what])
        assert attacker.is_closed()
    with raw() as attacker:  # not even a preamble
        attacker.send(BEFORE_HELLO[what] + bytes(200))
        assert attacker.is_closed()
    expect_service(victim, connect)


def bad_hellos(attacker):
    good = attacker.hello()
    yield "another name", attacker.hello(name=b"dpumap")
    yield "no name", attacker.hello(name=b"")
    yield "a long name", attacker.hello(name=b"x" * 120)
    yield "a NUL", attacker.hello(name=b"dpumapd\0")
    yield "no messages", attacker.hello(window=0)
    yield "too many messages", attacker.hello(window=65536)
    yield "empty messages", attacker.hello(longest=0)
    yield "long messages", attacker.hello(longest=MAX_MESSAGE + 1)
    yield "another magic", good.replace(b"DPCH", b"DPCI")
    yield "another version", good.replace(b"DPCH\1", b"DPCH\2")
    yield "reserved bits", good[:5] + b"\1" + good[6:]
    yield "padding", good[:-1] + b"\1"
    yield "credits", good[:6] + b"\1" + good[7:]
    yield "a short payload", frame(HELLO, good[8:20])


def test_wrong_hello_is_refused(victim, connect, raw):
    with raw() as attacker:
        hellos = list(bad_hellos(attacker))
    for what, hello in hellos:
        with raw() as attacker:
            attacker.send(attacker.preamble() + hello)
            got = attacker.frame()
            assert got is None or got[0] == REFUSE, what
            assert attacker.is_closed()
    for change in ({"begins": 0}, {"begins": 9}, {"name": b"other"}):
        with raw() as attacker:
            attacker.send(attacker.preamble(**change) + attacker.hello())
            assert attacker.is_closed()
    expect_service(victim, connect)


def bad_frames():
    yield "a long frame", frame(MESSAGE, length=MAX_MESSAGE + 1)
    yield "a very long frame", frame(MESSAGE, length=0xFFFFFFFF)
    yield "type 0", frame(0)
    yield "type 14", frame(14)
    yield "type 255", frame(255)
    yield "a second hello", frame(HELLO, bytes(40))
    yield "a welcome", frame(WELCOME, bytes(8))
    yield "too many credits", frame(CREDIT, credit=1)
    yield "a credit with a payload", frame(CREDIT, bytes(8))
    yield "a bye with a payload", frame(BYE, bytes(8))
    yield "a message above the limit", frame(MESSAGE, b"x" * 101)
    yield "consumer 0", frame(7, bytes(24))
    yield "padding", frame(MESSAGE, b"list")[:-1] + b"\1"


def test_wrong_frame_ends_the_connection(victim, connect, raw):
    for what, attack in bad_frames():
        with raw() as attacker:
            attacker.open(longest=100)
            assert attacker.ask("ping") == "ok"
            attacker.owed = 0
            attacker.send(frame(CREDIT, credit=1) + attack)
            assert attacker.is_closed(), what
    expect_service(victim, connect)


def test_more_messages_than_the_window_allows_end_the_connection(victim, connect, raw):
    """The server is stopped, so that it consumes nothing, and its window of 1024 fills."""
    with raw() as attacker:
        attacker.open()
        victim.daemon.signal("STOP")
        attacker.socket.setblocking(False)
        flood, sent = frame(MESSAGE, b"ping") * 3000, 0
        try:
            while sent < len(flood):
                sent += attacker.socket.send(flood[sent:])
        except BlockingIOError:
            pass
        victim.daemon.signal("CONT")
        attacker.socket.settimeout(PATIENCE)
        attacker.send(flood[sent:])
        assert attacker.is_closed()
    expect_service(victim, connect)


def test_messages_after_bye_are_ignored(victim, connect, raw):
    before = victim.figure("requests")
    with raw() as attacker:
        attacker.open()
        attacker.send(frame(BYE) + frame(MESSAGE, b"get web") * 50)
        assert attacker.is_closed()
    assert await_true(lambda: victim.figure("clients") == 0)
    assert victim.figure("requests") == before
    assert victim.figure("imports") == 0
    expect_service(victim, connect)


def test_garbage_harms_nobody(victim, connect, raw):
    other = connect()
    dice = random.Random(17)
    for number in range(150):
        with raw() as attacker:
            if number % 3 > 0:
                attacker.send(attacker.preamble())
            if number % 3 > 1:
                attacker.send(attacker.hello())
            garbage = dice.randbytes(dice.choice((1, 7, 8, 9, 136, 4096, 20000)))
            attacker.send(garbage)
        if number % 10 == 0:
            assert other.ask("ping") == "ok"
    other.end()
    expect_service(victim, connect)


def test_flipped_bits_harm_nobody(victim, connect, raw):
    """One byte of a valid conversation is changed at a time."""
    with raw() as attacker:
        talk = attacker.preamble() + attacker.hello() + frame(MESSAGE, b"list") + frame(BYE)
    for at in range(len(talk)):
        with raw() as attacker:
            attacker.send(talk[:at] + bytes([talk[at] ^ 0x5A]) + talk[at + 1 :])
            attacker.socket.shutdown(socket.SHUT_WR)
    expect_service(victim, connect)


def test_halves_followed_by_silence_harm_nobody(victim, connect, raw):
    with raw() as attacker:
        parts = [attacker.preamble()[:50], attacker.preamble(), attacker.preamble() + attacker.hello()[:9]]
    silent = []
    for part in parts:
        silent.append(raw())
        silent[-1].send(part)
    silent.append(raw().open())
    silent[-1].send(frame(MESSAGE, b"get web")[:11])
    client = connect()
    assert client.ask("ping") == "ok"
    client.end()
    # Connections that are not established end by themselves.
    for attacker in silent[:3]:
        assert attacker.is_closed()
    assert victim.figure("clients") == 1
    for attacker in silent:
        attacker.socket.close()
    expect_service(victim, connect)


def test_silent_connections_do_not_lock_clients_out(victim, connect, raw):
    """More than the server keeps without a word: a client is served when their time is over."""
    silent = [raw() for _ in range(100)]
    for attacker in silent:
        attacker.socket.setblocking(False)
    client = connect()
    while client.state != "connected":
        client.end()
        client = connect()
    assert client.ask("ping") == "ok"
    for attacker in silent:
        attacker.socket.close()
    client.end()
    expect_service(victim, connect)


@pytest.mark.parametrize("window", [1, 65535])
def test_client_that_never_reads_is_disconnected(victim, connect, raw, window):
    """It has no credits for the replies, or it has many and leaves them in the socket.

    It does not know when it may send more, so it may send too much before that shows.
    """
    other = connect()
    memory = victim.daemon.own_memory()
    with raw() as attacker:
        attacker.open(window=window)
        flood = frame(MESSAGE, b"list") * 100

        def is_cut_off():
            assert other.ask("ping") == "ok"
            return not attacker.send(flood)

        assert await_true(is_cut_off, pause=0), "the attacker is still connected"
        if not grows_by_nature(victim.daemon):
            assert victim.daemon.own_memory() < memory + (16 << 20)
    victim.daemon.await_log("disconnected: (the client does not read its replies|session closed)")
    other.end()
    expect_service(victim, connect)


def test_64_clients_are_served_at_once(victim, connect, raw):
    clients = [raw().open() for _ in range(64)]
    assert victim.figure("clients") == 64
    for round_number in range(3):
        for client in clients:
            client.send(frame(MESSAGE, b"get web", client.owed))
            client.owed = 0
        for client in clients:
            assert client.message().startswith("ok 65536 rw\n"), round_number
    assert victim.figure("imports") == 3 * 64
    for client in clients:
        client.socket.close()
    assert await_true(lambda: victim.figure("imports") == 0)
    expect_service(victim, connect)


def test_10000_connections_leak_nothing(victim, connect, raw, emulator):
    def connections(number):
        for _ in range(number):
            with raw() as client:
                client.open()
                assert client.ask("get web").startswith("ok ")

    def all_ended():
        return victim.figure("clients") == 0

    connections(100)
    assert await_true(all_ended)
    files, objects = victim.daemon.settled_files(), emulator.objects()
    if grows_by_nature(victim.daemon):
        connections(900)  # slow, and memory says nothing
    else:
        connections(7000)
        expect_no_growth(victim.daemon, lambda: connections(1000))
        assert await_true(all_ended)
        connections(10000 - victim.figure("connections"))
        assert victim.figure("connections") >= 10000
    assert await_true(all_ended)
    victim.daemon.await_open_files(files)
    # The last holder's end gave the export a new key.
    assert emulator.objects() == objects
    expect_service(victim, connect)


def test_every_byte_may_be_in_a_server_name(served, connect):
    every = bytes(range(1, 256))
    for name in (every[:119], every[119:238], every[238:]):
        escaped = "".join(f"\\x{byte:02x}" for byte in name)
        served.comch = f'serve = "{escaped}";'
        agent = served.start()
        assert connect(name=os.fsdecode(name)).ask("ping") == "ok"
        agent.stop()


def test_clients_that_are_killed_leave_nothing(victim, connect):
    dice = random.Random(18)
    end = time.monotonic() + 3
    while time.monotonic() < end:
        clients = [connect() for _ in range(2)]
        for client in clients:
            client.tell("ask get web")
            client.tell("use")
        time.sleep(dice.random() * 0.03)
        for client in clients:
            client.kill()
    assert await_true(lambda: victim.figure("imports") == 0)
    expect_service(victim, connect)


def test_server_that_is_killed_is_replaced_at_once(served, connect, raw):
    """At any time: clients see the end, and a server of the same name starts over the stale socket."""
    served.more = MANY
    dice = random.Random(19)
    end = time.monotonic() + 3
    while time.monotonic() < end:
        agent = served.start()
        clients = [raw().open() for _ in range(3)]
        for client in clients:
            client.send(frame(MESSAGE, b"get web") * 20)
        time.sleep(dice.random() * 0.02)
        agent.daemon.end(dice.choice(("KILL", "TERM")))
        for client in clients:
            assert client.is_closed()
            client.socket.close()
    expect_service(served.start(), connect)


# -- other users --


@pytest.fixture
def public():
    """A directory that other users can reach, for sockets."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    with tempfile.TemporaryDirectory(prefix="dpumap-comch.", dir="/tmp") as path:
        os.chmod(path, 0o755)
        yield pathlib.Path(path)


def as_nobody(function):
    """Calls the function in a process of another user; its result, or the name of its exception."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        answer = "no answer"
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            answer = str(function())
        except BaseException as error:  # pylint: disable=broad-exception-caught
            answer = type(error).__name__
        finally:
            os.write(writer, answer.encode())
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return answer


def serve_in(served, directory, **more):
    served.dpu.environment = {**served.dpu.environment, "DPUMAP_COMCH_DIR": str(directory)}
    return served.start(**more)


@pytest.fixture
def own_place(dpu, host):
    """Restores where the two machines look for servers."""
    before = dpu.environment, host.environment
    yield
    dpu.environment, host.environment = before


@pytest.mark.usefixtures("own_place")
def test_user_without_the_right_is_refused(served, public):
    agent = serve_in(served, public / "comch")

    def attack():
        with Raw(public / "comch") as attacker:
            attacker.send(attacker.preamble() + attacker.hello() + frame(MESSAGE, b"list"))
            return attacker.frame()

    # Whether the socket can be connected to or not: no frame comes back.
    assert as_nobody(attack) in ("None", "PermissionError")
    assert agent.figure("connections") == 0
    with Raw(public / "comch") as client:
        assert client.open().ask("ping") == "ok"


@pytest.mark.usefixtures("own_place")
def test_user_without_the_right_cannot_fill_the_server(served, public):
    """Its connections end at once, so that many of them keep no other client out."""
    serve_in(served, public / "comch")

    def attack():
        held = [Raw(public / "comch") for _ in range(300)]
        return all(one.frame() is None for one in held)

    assert as_nobody(attack) in ("True", "PermissionError")
    with Raw(public / "comch") as client:
        assert client.open().ask("ping") == "ok"


@pytest.mark.usefixtures("own_place")
def test_other_user_cannot_take_a_name(served, public):
    directory = public / "comch"
    agent = serve_in(served, directory)
    (path,) = directory.glob("*.sock")

    def replace():
        os.unlink(path)

    def listen():
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(directory / "squatter.sock"))

    def rename():
        os.rename(directory, public / "other")

    for attack in (replace, listen, rename):
        assert as_nobody(attack) == "PermissionError"
    assert stat.S_IMODE(os.stat(directory).st_mode) == 0o755
    agent.stop()
    # The name is free, and still nobody else can take it.
    assert as_nobody(listen) == "PermissionError"


@pytest.mark.usefixtures("own_place")
def test_server_refuses_a_directory_that_others_can_write(served, public):
    directory = public / "comch"
    directory.mkdir()
    directory.chmod(0o777)
    agent = serve_in(served, directory, ready=False)
    assert not agent.ready and agent.daemon.status() != 0
    assert str(directory) in agent.log()
    assert not list(directory.iterdir())


@pytest.mark.usefixtures("own_place")
def test_client_refuses_the_server_of_another_user(served, public, connect, host):
    """The squatter has the right path, in a directory that it owns."""
    agent = serve_in(served, public / "comch")
    name = next((public / "comch").glob("*.sock")).name
    agent.stop()
    squat = public / "squat"
    squat.mkdir(mode=0o755)
    os.chown(squat, NOBODY, NOBODY)

    def serve():
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(squat / name))
            os.chmod(squat / name, 0o666)
            server.listen()
            server.settimeout(PATIENCE)
            peer, _ = server.accept()
            peer.settimeout(PATIENCE)
            return peer.recv(1)

    answers = []
    squatter = threading.Thread(target=lambda: answers.append(as_nobody(serve)))
    squatter.start()
    assert await_true((squat / name).exists)
    host.environment = {**host.environment, "DPUMAP_COMCH_DIR": str(squat)}
    client = connect()
    squatter.join()
    assert client.state == "ended"
    # The client told the squatter nothing.
    assert answers[0] in ("b''", "TimeoutError", "ConnectionResetError")
