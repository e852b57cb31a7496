# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Reading, copying, hashing and writing overlap: streams of many pieces arrive whole, and a failure of
any stage ends all of them with one line and leaves nothing behind."""

import contextlib
import re
import signal
import subprocess

import pytest

from harness.agents import LOST, REFUSED, has_written
from harness.machine import PATIENCE, await_true

pytestmark = [pytest.mark.local, pytest.mark.usefixtures("nothing_left")]
MIB = 1 << 20
ROOM = 3 * MIB + 3  # more than the rings of dpumap, and no multiple of its pieces


@pytest.fixture
def dpumap(serve, tool):
    return tool(
        serve(
            *("--export", f"name=far,kind=dram,size={ROOM}"),
            *("--export", "name=near,kind=dm,size=64K"),
        )
    )


@pytest.fixture
def fault(emulator):
    """The faults of the test, which end with it."""
    yield emulator.fault
    emulator.clear_faults()


def random_bytes(host, name, size):
    host.run(f"head -c {size} /dev/urandom >{name}; rm -f got").ok()


def test_export_of_many_pieces_is_filled_and_read(dpumap, host):
    """By file and by stream, both to its last byte."""
    random_bytes(host, "sent", ROOM)
    dpumap("cp", "sent", ":far").ok()
    dpumap("cp", ":far", "got").ok()
    host.run("cmp sent got").ok()
    dpumap("fill", "far").ok()
    host.run(f"{dpumap.command('write', 'far', '-')} <sent").ok()
    host.run(f"set -o pipefail; {dpumap.command('read', 'far')} | cmp - sent").ok()


def test_stream_of_one_byte_too_many_is_refused(dpumap, host):
    random_bytes(host, "sent", ROOM + 1)
    done = host.run(f"{dpumap.command('write', 'far', '-')} <sent")
    done.fails_with(REFUSED, f"does not fit into export far, which has {ROOM} bytes from offset 0")


@pytest.mark.parametrize("export, size", [("near", 2 * MIB + 1), ("far", 2 * ROOM + 1)])
def test_stream_passes_an_export(dpumap, host, export, size):
    random_bytes(host, "sent", size)
    host.run(f"{dpumap.command('cp', '-', export, 'got')} <sent").ok()
    host.run("cmp sent got").ok()


def test_holes_of_many_pieces_are_kept(dpumap, host):
    """Data at the beginning, across a piece, and at the end."""
    host.run("rm -f sent got; truncate -s 6M sent").ok()
    for at in (0, MIB - 5, 6 * MIB - 9):
        host.run(f"printf something | dd of=sent bs=1 seek={at} conv=notrunc status=none").ok()
    dpumap("cp", "sent", "near", "got", "--sparse").ok()
    host.run("cmp sent got").ok()
    assert int(host.run(["stat", "-c", "%b", "got"]).ok()) * 512 <= 4 * 65536


def test_pattern_continues_across_pieces(dpumap, host):
    host.run("rm -f got").ok()
    dpumap("fill", "far", "41424344454647").ok()
    dpumap("read", "far", "got").ok()
    assert host.get("got") == (b"ABCDEFG" * (ROOM // 7 + 1))[:ROOM]


# -- without digests


def test_copy_without_digests_says_so(dpumap, host):
    random_bytes(host, "sent", 2 * MIB + 5)
    text = dpumap("cp", "sent", "near", "got", "--no-verify").ok()
    assert re.search(r"^result +NOT VERIFIED \(--no-verify\)$", text, re.M), text
    assert "xxh128" not in text and "sha256" not in text
    host.run("cmp sent got").ok()
    for words in (("write", "far", "sent"), ("fill", "near", "07"), ("read", "near", "got")):
        report = dpumap.json(*words, "--no-verify")
        assert (report["verified"], report["digests"]) == (False, [])
    assert dpumap("read", "near", "--no-verify", "-n", "3").data == b"\x07\x07\x07"
    assert dpumap.json("dump", "near", "--no-verify", "-n", "3")["verified"] is False


# -- failures


def started(host, command, **pipes):
    """The command, with its standard error in a pipe."""
    options = host.options(**{"stderr": subprocess.PIPE, **pipes})
    return subprocess.Popen(host.words(command), **options)


@pytest.mark.parametrize("source", ["ends", "is silent"])
def test_file_that_cannot_be_written(dpumap, host, files, source):
    """The process may write no file of more than 1 MiB."""
    command = f"trap '' XFSZ; ulimit -f 1024; {dpumap.command('cp', '-', 'near', f'{files}/out')}"
    with started(host, command, stdin=subprocess.PIPE, bufsize=0) as copy:
        with contextlib.suppress(BrokenPipeError):
            copy.stdin.write(bytes(3 * MIB))
        if source == "ends":
            copy.stdin.close()
        assert copy.wait(PATIENCE) == REFUSED
        error = f"dpumap: cannot write {files}/out: File too large\n"
        assert copy.stderr.read().decode() == error


def test_source_that_is_truncated(dpumap, host, files):
    host.run("rm -f sent; truncate -s 64G sent").ok()
    copy = dpumap.daemon("copy", "cp", "sent", "near", f"{files}/out")
    assert await_true(lambda: copy.status() is not None or has_written(copy, files))
    host.run("truncate -s 1 sent").ok()
    assert copy.end("0") == LOST
    assert re.fullmatch(
        r"dpumap: sent was truncated while it was read: it ends at byte \d+\n", copy.log()
    )


def test_stream_that_ends_early(dpumap, host, files):
    command = dpumap.command("cp", "-", "near", f"{files}/out", "--length", "8M")
    done = host.run(f"head -c 3M /dev/zero | {command}")
    done.fails_with(LOST, "standard input ended before --length bytes")


@pytest.mark.parametrize("export", ["near", "far"])
@pytest.mark.parametrize("nth", [1, 2, 9])
def test_copy_that_the_device_fails(dpumap, host, files, fault, export, nth):
    host.run("truncate -s 12M sent").ok()
    fault("completion", "--as", "host", "--nth", nth, "--syndrome", "REM_ABORT_ERR")
    done = dpumap("cp", "sent", export, f"{files}/out")
    done.fails_with(LOST, f"copy between this host and {export} failed: ")


@pytest.mark.parametrize("cause", ["signal", "device"])
def test_failure_while_nobody_reads_the_output(dpumap, host, fault, cause):
    """The thread that writes waits in the kernel."""
    random_bytes(host, "sent", ROOM)
    if cause == "device":
        fault("completion", "--as", "host", "--nth", 150, "--syndrome", "REM_ABORT_ERR")
    with started(host, dpumap.words("cp", "sent", "near", "-")) as copy:
        copy.stdout.read(1)
        if cause == "signal":
            copy.terminate()
        ends = (-signal.SIGTERM, 128 + signal.SIGTERM) if cause == "signal" else (LOST,)
        assert copy.wait(PATIENCE) in ends
        copy.stdout.close()
        assert copy.stderr.read().count(b"\n") == 1
