# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What a virtual machine, or anything else, says to the socket of a function: versions, lengths, flags and ends."""

import contextlib
import errno
import fcntl
import json
import os
import resource
import socket
import stat
import struct
import termios

import pytest

from harness.machine import await_true
from harness.vfio_user import (
    CONFIG,
    DATA_BOOL,
    DATA_EVENTFD,
    DATA_NONE,
    MASK,
    NO_REPLY,
    READABLE,
    REPLY,
    TRIGGER,
    WRITABLE,
    Command,
    Irq,
    VfioUserClient,
    is_pending,
    message,
)

MAX_DATA = 1 << 20
IDENTITY = bytes.fromhex("b315dca2")  # 15b3:a2dc


def refused(error, call, *words, **more):
    with pytest.raises(OSError) as caught:
        call(*words, **more)
    assert caught.value.errno == error, f"{errno.errorcode[caught.value.errno]} instead of {errno.errorcode[error]}"


def works(client):
    assert client.read(CONFIG, 0, 4) == IDENTITY


# --- version


def test_version_is_0_1_or_that_of_an_older_peer(function):
    for minor, agreed in ((0, 0), (1, 1), (7, 1)):
        with VfioUserClient(function.path) as client:
            assert client.negotiate(0, minor) == ((0, agreed), {"write_multiple": True})
            works(client)


def test_version_without_capabilities_is_enough(bare):
    assert bare.request(Command.VERSION, struct.pack("=HH", 0, 1)).payload[:4] == struct.pack("=HH", 0, 1)
    works(bare)


def test_answer_to_the_version_is_json_with_a_nul(bare):
    payload = bare.request(Command.VERSION, struct.pack("=HH", 0, 1) + b"{}\0").payload
    assert payload[-1] == 0 and json.loads(payload[4:-1]) == {"capabilities": {"write_multiple": True}}


def test_another_major_version_is_refused_and_0_may_follow(bare):
    refused(errno.EINVAL, bare.negotiate, 1, 0)
    refused(errno.EINVAL, bare.request, Command.GET_INFO, bytes(16))
    bare.negotiate()
    works(bare)


def test_second_version_is_refused(client):
    refused(errno.EINVAL, client.negotiate)
    works(client)


def test_no_command_comes_before_the_version(bare):
    for command in sorted(set(Command) - {Command.VERSION}):
        refused(errno.EINVAL, bare.request, command, bytes(64))
    bare.negotiate()
    works(bare)


# --- messages


def test_unknown_commands_are_refused(client):
    for command in (0, 6, 11, 12, 14, 16, 17, 0xFFFF):
        refused(errno.ENOTSUP, client.request, command, bytes(64))
    works(client)


@pytest.mark.parametrize("command", [one for one in Command if one not in (6, 11, 12, 13)])
def test_message_that_is_shorter_than_its_command_is_refused(bare, command):
    if command != Command.VERSION:
        bare.negotiate()
    least = {1: 4, 2: 32, 3: 24, 4: 16, 5: 32, 7: 16, 8: 20, 9: 16, 10: 16, 15: 8}[command]
    for size in (0, 1, least - 1):
        refused(errno.EINVAL, bare.request, command, bytes(size))


def test_empty_answer_to_an_error_keeps_number_and_command(client):
    client.send_bytes(message(Command.GET_REGION_INFO, struct.pack("=4I2Q", 32, 0, 99, 0, 0, 0), ident=0xBEEF))
    reply = client.receive()
    assert (reply.ident, reply.command, reply.errno, reply.payload) == (0xBEEF, 5, errno.EINVAL, b"")


@pytest.mark.parametrize(
    "size, flags, word",
    [(0, 0, "0 bytes"), (15, 0, "15 bytes"), (0xFFFFFFFF, 0, "4294967295 bytes"), (MAX_DATA + 16 + 65, 0, "bytes")]
    + [(16, REPLY, "flags 0x1"), (16, 0x2, "flags 0x2"), (16, 0xF, "flags 0xf")],
)
def test_what_is_no_request_ends_the_connection_with_one_line(function, client, size, flags, word):
    lines = function.log().count("\n")
    client.socket.sendall(message(Command.GET_INFO, b"", size=size, flags=flags))
    assert client.receive() is None
    more = function.log().splitlines()[lines:]
    assert len(more) == 1 and word in more[0] and "the connection ends" in more[0]
    with VfioUserClient(function.path) as following:
        following.negotiate()
        works(following)


def test_longest_message_is_carried_out(client):
    refused(errno.EINVAL, client.request, 5, bytes(8) + struct.pack("=I", 99) + bytes(MAX_DATA + 64 - 12))
    assert client.read(0, 1 << 20, MAX_DATA) == bytes(MAX_DATA)
    client.write(0, 2 << 20, bytes(MAX_DATA))


def test_message_in_pieces_is_one_message(client):
    for byte in message(Command.REGION_READ, struct.pack("=QII", 0, CONFIG, 4)):
        client.send_bytes(bytes([byte]))
    assert client.receive().payload[16:] == IDENTITY


def test_many_messages_at_once_are_answered_in_order(client):
    one = struct.pack("=QII", 0, CONFIG, 4)
    client.send_bytes(b"".join(message(Command.REGION_READ, one, ident=i) for i in range(100)))
    assert [client.receive().ident for _ in range(100)] == [*range(100)]


def test_message_that_wants_no_answer_gets_none(client):
    client.post(CONFIG, 0x3C, b"\x0b")
    client.send_bytes(message(99, b"", flags=NO_REPLY))
    assert client.read(CONFIG, 0x3C, 1) == b"\x0b"


@contextlib.contextmanager
def stopped(function):
    """What is sent meanwhile arrives at once."""
    function.signal("STOP")
    try:
        yield
    finally:
        function.signal("CONT")


def eventfds(start, number):
    """The body of a command that sets these vectors."""
    return struct.pack("=5I", 20, DATA_EVENTFD | TRIGGER, Irq.MSIX, start, number)


def test_descriptors_belong_to_the_message_that_they_were_sent_with(function, client):
    """Others came before and after it, and all of them at once."""
    fds = [os.eventfd(0) for _ in range(6)]
    read = message(Command.REGION_READ, struct.pack("=QII", 0, CONFIG, 4))
    with stopped(function):
        client.send_bytes(read * 5)
        client.send_bytes(message(Command.SET_IRQS, eventfds(1, 2), ident=7), fds[1:3])
        client.send_bytes(message(Command.SET_IRQS, eventfds(0, 1), ident=8), fds[:1])
        client.send_bytes(read * 5)
        client.send_bytes(message(Command.SET_IRQS, eventfds(3, 3), ident=9), fds[3:])
    replies = [client.receive() for _ in range(13)]
    assert [one.ident for one in replies] == [1] * 5 + [7, 8] + [1] * 5 + [9]
    assert all(one.errno is None for one in replies)
    for vector, fd in enumerate(fds):
        client.set_irqs(Irq.MSIX, DATA_NONE | TRIGGER, vector, 1)
        assert [is_pending(other) for other in fds] == [other == fd for other in fds]
        os.eventfd_read(fd)
    client.disable_irqs(Irq.MSIX)
    for fd in fds:
        os.close(fd)


def has_read_all(client):
    """Whether the server has received what was sent."""
    return struct.unpack("i", fcntl.ioctl(client.socket, termios.TIOCOUTQ, bytes(4)))[0] == 0


@pytest.mark.parametrize("cut", [1, 16, 20, 35])
def test_descriptors_come_with_the_first_bytes_of_their_message(function, client, cut):
    """Its rest comes with another message, which has descriptors of its own."""
    fds = [os.eventfd(0) for _ in range(2)]
    first = message(Command.SET_IRQS, eventfds(0, 1), ident=7)
    client.send_bytes(first[:cut], fds[:1])
    assert await_true(lambda: has_read_all(client))
    with stopped(function):
        client.send_bytes(first[cut:])
        client.send_bytes(message(Command.SET_IRQS, eventfds(1, 1), ident=8), fds[1:])
    assert [(one.ident, one.errno) for one in (client.receive(), client.receive())] == [(7, None), (8, None)]
    for vector, fd in enumerate(fds):
        client.set_irqs(Irq.MSIX, DATA_NONE | TRIGGER, vector, 1)
        assert [is_pending(other) for other in fds] == [other == fd for other in fds]
        os.eventfd_read(fd)
    client.disable_irqs(Irq.MSIX)
    for fd in fds:
        os.close(fd)


def test_too_many_descriptors_are_closed(function, client):
    """The process keeps one for each vector."""
    before = len(os.listdir(f"/proc/{function.pid}/fd"))
    fds = [os.eventfd(0) for _ in range(60)]
    client.request(Command.SET_IRQS, eventfds(0, 16), fds)
    assert len(os.listdir(f"/proc/{function.pid}/fd")) <= before + 16
    client.disable_irqs(Irq.MSIX)
    for fd in fds:
        os.close(fd)


# --- many writes in one message


def writes(*parts, number=None):
    """The body of REGION_WRITE_MULTI, from (region, offset, data)."""
    body = b"".join(struct.pack("=QII8s", at, region, len(data), data) for region, at, data in parts)
    return struct.pack("=Q", len(parts) if number is None else number) + body


def test_many_writes_of_a_message_are_done_in_order(client):
    parts = [(CONFIG, 0x3C, bytes([i])) for i in range(200)] + [(CONFIG, 0x10, b"\xff" * 4)]
    assert client.request(Command.REGION_WRITE_MULTI, writes(*parts)).payload == struct.pack("=Q", 201)
    assert client.read(CONFIG, 0x3C, 1) == bytes([199])
    assert client.read(CONFIG, 0x10, 4) == struct.pack("<I", 0xFE00000C)
    assert client.request(Command.REGION_WRITE_MULTI, writes()).payload == bytes(8)


def test_many_writes_without_an_answer(client):
    client.send_bytes(message(Command.REGION_WRITE_MULTI, writes((CONFIG, 0x3C, b"\x17")), flags=NO_REPLY))
    assert client.read(CONFIG, 0x3C, 1) == b"\x17"


@pytest.mark.parametrize("wrong", [(CONFIG, 4095, bytes(2)), (1, 0, b"x"), (0, 2**64 - 1, b"x"), (9, 0, b"x")])
def test_none_of_many_writes_is_done_if_one_is_wrong(client, wrong):
    client.write(CONFIG, 0x3C, b"\x2a")
    refused(errno.EINVAL, client.request, Command.REGION_WRITE_MULTI, writes((CONFIG, 0x3C, b"\x01"), wrong))
    assert client.read(CONFIG, 0x3C, 1) == b"\x2a"


def test_write_of_nine_bytes_is_not_one_of_many(client):
    body = bytearray(writes((CONFIG, 0x40, bytes(8))))
    struct.pack_into("=I", body, 8 + 12, 9)
    refused(errno.EINVAL, client.request, Command.REGION_WRITE_MULTI, bytes(body))


@pytest.mark.parametrize("number", [2, 1 << 32, 1 << 61, 2**64 - 1])
def test_more_writes_than_the_message_has_are_refused(client, number):
    refused(errno.EINVAL, client.request, Command.REGION_WRITE_MULTI, writes((CONFIG, 0x3C, b"x"), number=number))
    works(client)


# --- peers that go


@pytest.mark.parametrize("cut", [1, 15, 16, 20, 31])
def test_peer_that_disappears_in_a_message_is_followed_by_the_next(function, cut):
    with VfioUserClient(function.path) as client:
        client.negotiate()
        client.send_bytes(message(Command.REGION_READ, struct.pack("=QII", 0, CONFIG, 4))[:cut])
    with VfioUserClient(function.path) as client:
        client.negotiate()
        works(client)


def test_peer_that_does_not_read_its_answers_is_followed_by_the_next(function):
    with VfioUserClient(function.path) as client:
        client.negotiate()
        read = message(Command.REGION_READ, struct.pack("=QII", 0, 0, MAX_DATA))
        client.send_bytes(read)
    assert await_true(lambda: no_peer(function))


def no_peer(function):
    """Whether the function serves a new virtual machine."""
    with contextlib.suppress(OSError), VfioUserClient(function.path) as client:
        client.negotiate()
        works(client)
        return True
    return False


def test_second_virtual_machine_is_refused_and_the_first_goes_on(function, client):
    with VfioUserClient(function.path) as second:
        assert second.receive() is None
    function.await_log("a second virtual machine wants the function")
    works(client)


def test_second_virtual_machine_is_refused_while_the_first_is_in_a_message(function, client):
    client.send_bytes(message(Command.GET_INFO, bytes(16))[:20])
    with VfioUserClient(function.path) as second:
        second.socket.settimeout(0.5)
        assert second.receive() is None


# --- what a device says of itself


def test_device_has_the_regions_and_interrupts_of_pci(client):
    assert client.info() == (0x3, 9, 5)  # a PCI device that can be reset
    sizes = [client.region_info(i).size for i in range(9)]
    assert sizes == [32 << 20, 0, 4096, 0, 0, 0, 0, 4096, 0]
    for i, size in enumerate(sizes):
        assert client.region_info(i).flags & (READABLE | WRITABLE) == (3 if size else 0)
    assert [client.irq_info(i)[1] for i in range(5)] == [0, 0, 16, 0, 0]
    assert client.irq_info(Irq.MSIX)[0] & 1
    for i in (9, 0xFFFFFFFF):
        refused(errno.EINVAL, client.region_info, i)
    for i in (5, 0xFFFFFFFF):
        refused(errno.EINVAL, client.irq_info, i)


def test_access_outside_of_a_region_is_refused(client):
    for region, offset, count in ((0, 32 << 20, 1), (0, (32 << 20) - 1, 2), (2, 4096, 4), (CONFIG, 4095, 2)):
        refused(errno.EINVAL, client.read, region, offset, count)
        refused(errno.EINVAL, client.write, region, offset, bytes(count))
    for region, offset, count in ((1, 0, 1), (8, 0, 1), (9, 0, 4), (1 << 31, 0, 4), (0, 1 << 63, 4), (0, 2**64 - 1, 4)):
        refused(errno.EINVAL, client.read, region, offset, count)
    refused(errno.EINVAL, client.read, 0, 0, MAX_DATA + 1)
    refused(errno.EINVAL, client.read, 0, 0, 0xFFFFFFFF)


def test_write_of_more_bytes_than_the_message_has_is_refused(client):
    refused(errno.EINVAL, client.request, Command.REGION_WRITE, struct.pack("=QII", 0x40, CONFIG, 5) + bytes(4))


def test_bytes_of_bar_0_are_the_same_by_any_access(client):
    whole = client.read(0, 0, 32)
    assert b"".join(client.read(0, at, 1) for at in range(32)) == whole
    assert client.read(0, 3, 9) == whole[3:12]
    assert struct.unpack(">I", whole[4:8])[0] >> 16 == 5 and whole[0x17] == 0x56


# --- interrupts


def test_virtual_machine_raises_its_own_vectors(client):
    fds = client.enable_irqs(Irq.MSIX, 4)
    client.set_irqs(Irq.MSIX, DATA_NONE | TRIGGER, 1, 1)
    client.set_irqs(Irq.MSIX, DATA_BOOL | TRIGGER, 0, 4, b"\1\0\0\1")
    assert [is_pending(fd) for fd in fds] == [True, True, False, True]
    client.set_irqs(Irq.MSIX, DATA_EVENTFD | TRIGGER, 2, 1)
    client.set_irqs(Irq.MSIX, DATA_NONE | TRIGGER, 2, 1)
    assert not is_pending(fds[2])
    client.disable_irqs(Irq.MSIX)
    client.set_irqs(Irq.MSIX, DATA_NONE | TRIGGER, 2, 1)
    assert not is_pending(fds[2])
    for fd in fds:
        os.close(fd)


def test_interrupts_that_do_not_exist_are_refused(client):
    for index, flags, start, count, data in (
        (Irq.INTX, DATA_NONE | TRIGGER, 0, 0, b""),
        (Irq.MSI, DATA_NONE | TRIGGER, 0, 0, b""),
        (99, DATA_NONE | TRIGGER, 0, 0, b""),
        (Irq.MSIX, DATA_NONE | TRIGGER, 16, 1, b""),
        (Irq.MSIX, DATA_NONE | TRIGGER, 0, 17, b""),
        (Irq.MSIX, DATA_NONE | TRIGGER, 0xFFFFFFFF, 2, b""),
        (Irq.MSIX, DATA_NONE | TRIGGER, 8, 0xFFFFFFFF, b""),
        (Irq.MSIX, DATA_BOOL | TRIGGER, 0, 4, b"\1\1\1"),
        (Irq.MSIX, DATA_BOOL | DATA_NONE | TRIGGER, 0, 1, b"\1"),
    ):
        refused(errno.EINVAL, client.set_irqs, index, flags, start, count, data)
    refused(errno.ENOTSUP, client.set_irqs, Irq.MSIX, DATA_NONE | MASK, 0, 1)


@pytest.mark.parametrize("kind", ["closed pipe", "file"])
def test_interrupt_by_anything_but_an_eventfd_is_refused(client, kind, tmp_path):
    end, fd = os.pipe()
    os.close(end)
    if kind == "file":
        os.close(fd)
        fd = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    refused(errno.EINVAL, client.set_irqs, Irq.MSIX, DATA_EVENTFD | TRIGGER, 3, 1, fds=[fd])
    client.set_irqs(Irq.MSIX, DATA_NONE | TRIGGER, 3, 1)
    works(client)
    os.close(fd)


def test_interrupt_that_nobody_counts_any_more_stops_nothing(client):
    fd = os.eventfd(2**32 - 1, 0)
    os.eventfd_write(fd, 2**64 - 2 - (2**32 - 1))
    client.set_irqs(Irq.MSIX, DATA_EVENTFD | TRIGGER, 3, 1, fds=[fd])
    client.set_irqs(Irq.MSIX, DATA_NONE | TRIGGER, 3, 1)
    works(client)
    os.close(fd)


# --- the socket


def offered(place, emulator, *words):
    return place.run([emulator.program, "pci", *words])


def test_socket_in_use_is_left_alone(place, emulator, function):
    done = offered(place, emulator, "--as", "dpu", "--socket", function.path)
    done.fails_with(1, "the file exists; name another path")
    with VfioUserClient(function.path) as client:
        client.negotiate()
        works(client)


def test_function_in_use_is_refused(place, emulator, function):
    path = f"{place.dir}/second"
    offered(place, emulator, "--as", "host", "--socket", path).fails_with(1, "another dpumap-emu pci offers it")
    assert not os.path.exists(path) and function.status() is None


def test_socket_of_a_killed_process_is_used_again(offer):
    first = offer("dpu", "stale")
    first.end("KILL")
    assert stat.S_ISSOCK(os.stat(first.path).st_mode)
    second = offer("dpu", "stale")
    with VfioUserClient(second.path) as client:
        client.negotiate()
    second.end()


def test_file_that_is_no_socket_is_left_alone(place, offer):
    place.put({"precious": "data"})
    one = offer("dpu", "precious", ready=False)
    assert await_true(lambda: one.status() == 1) and "the file exists" in one.log()
    assert place.get("precious") == b"data"


@pytest.mark.parametrize(
    "words, pattern",
    [
        (("--as", "dpu", "--socket", "/tmp/" + "x" * 120), "the path is too long"),
        (("--as", "dpu", "--socket", "/nowhere/socket"), "cannot listen on /nowhere/socket: No such file"),
        (("--as", "nobody", "--socket", "/tmp/none"), "nobody"),
    ],
)
def test_what_cannot_be_offered_is_said_in_one_line(place, emulator, words, pattern):
    done = offered(place, emulator, *words)
    assert done.status and done.err.count("\n") == 1, done.err
    done.fails_with(done.status, pattern)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user")
def test_user_without_the_right_to_the_emulator_is_refused(place, emulator):
    words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", emulator.program]
    done = place.run([*words, "pci", "--as", "dpu", "--socket", "/tmp/none"], env={"TMPDIR": "/tmp"}, cwd="/")
    assert done.status and "belongs to another user" in done.err, done.err


def test_output_that_is_full_is_said(place, emulator):
    line = f"{emulator.program} pci --as dpu --socket {place.dir}/full >/dev/full"
    place.run(line).fails_with(1, "cannot print .*No space left on device")
    assert not os.path.exists(f"{place.dir}/full")


def test_option_that_is_missing_is_said(place, emulator):
    for words in (("--as", "host"), ("--socket", "/tmp/none")):
        assert "pci needs --as FUNCTION and --socket PATH" in offered(place, emulator, *words).fails(64, 2, 1)


def test_peer_for_which_no_descriptor_is_free_waits_for_the_end_of_the_first(function):
    line = "cannot accept a virtual machine"
    said = function.log().count(line)
    soft, hard = resource.prlimit(function.pid, resource.RLIMIT_NOFILE)
    with VfioUserClient(function.path) as first:
        first.negotiate()
        used = {int(name) for name in os.listdir(f"/proc/{function.pid}/fd")}
        free = min(set(range(len(used) + 1)) - used)
        resource.prlimit(function.pid, resource.RLIMIT_NOFILE, (free, hard))
        second = VfioUserClient(function.path)
        function.await_log(line)
        for _ in range(100):
            works(first)
        assert function.log().count(line) == said + 1
    with second:
        second.negotiate()
        works(second)
    resource.prlimit(function.pid, resource.RLIMIT_NOFILE, (soft, hard))



def test_anything_that_connects_and_leaves_is_survived(function):
    for _ in range(20):
        with socket.socket(socket.AF_UNIX) as one:
            one.connect(function.path)
    assert await_true(lambda: no_peer(function))
