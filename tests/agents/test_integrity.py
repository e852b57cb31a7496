# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Every byte arrives where it should, and no other changes. A byte that the card changes on its way is found, at
$DPUMAP_CORRUPTIONS places."""

import hashlib
import os
import random

import pytest

from harness.agents import LOST

pytestmark = pytest.mark.usefixtures("nothing_left")
KIB, MIB = 1 << 10, 1 << 20
SIZES = (1, 3, 4, 63, 64, 65, 1023, 4095, 4096, 4097, 64 * KIB - 1, 64 * KIB, MIB - 3, MIB, MIB + 1)
OFFSETS = (0, 1, 2, 3, 4, 63, 64, 4095, 4096, 65535, 65536)
SEED = 0x64707561
WIRE = "DPUMAP_EMU_WIRE" in os.environ  # all packets are on a network
CORRUPTIONS = int(os.environ.get("DPUMAP_CORRUPTIONS", "100"))
COMMANDS = {
    "write": (("write", "e0", "sent"), "export e0 differs from sent"),
    "read": (("read", "e0", "got"), "got differs from export e0"),
    "cp": (("cp", "sent", "e0", "got"), r"got differs from sent at byte \d+, and export e0 does(, too| not)"),
    "fill": (("fill", "e0", "a5"), "export e0 differs from the pattern"),
    "dump": (("dump", "e0"), "standard output differs from export e0"),
}


def pairs(room, profile):
    """Offsets and sizes that fit: all of them, or a sample with the profile quick."""
    found = [(offset, size) for size in SIZES for offset in OFFSETS if offset + size <= room]
    found += [(room - size, size) for size in SIZES if size <= room]
    if profile == "lab":
        return found
    chosen = random.Random(SEED).sample(found, min(14, len(found)))
    return chosen + [(room - 1, 1), (0, max(size for size in SIZES if size <= room))]


def walk(tool_words, steps):
    """A script for the host: each step writes a piece, and reads it back to standard output."""
    lines = ["set -eu"]
    for offset, size, source in steps:
        where = f"--offset {offset} --length {size}"
        lines += [
            f"{tool_words('write', 'e0', 'bytes')} {where} --file-offset {source} >/dev/null",
            f"{tool_words('read', 'e0')} {where}",
        ]
    return "\n".join(lines) + "\n"


def first_wrong(got, pool, steps):
    """The first step that did not read back what it wrote."""
    for step in steps:
        _, size, source = step
        if got[:size] != pool[source : source + size]:
            return step
        got = got[size:]
    return "after the last one"


@pytest.mark.question(32)
@pytest.mark.parametrize("kind, room", [("dm", 32 * KIB), ("dram", 2 * MIB + 64 * KIB + 7)])
def test_sizes_and_offsets(agent, tool, host, profile, answer, kind, room):
    """Pieces are written at offsets of every kind; at the end the whole export equals the model."""
    chance = random.Random(SEED)
    pool = chance.randbytes(2 * MIB)
    model = bytearray(chance.randbytes(room))
    serving = agent(f"kind={kind},size={room}")
    if kind == "dram":
        seen = "accepted" if serving.ready else serving.daemon.log().strip()
        answer(32, f"{room} bytes on this card (section Machines): {seen}", serving.ready)
    dpumap = tool(serving.must_serve())
    host.put({"bytes": pool, "all": bytes(model)})
    dpumap("write", "e0", "all").ok()
    steps = []
    for offset, size in pairs(room, profile):
        source = chance.randrange(len(pool) - size)
        model[offset : offset + size] = pool[source : source + size]
        steps.append((offset, size, source))
    host.put({"walk": walk(dpumap.command, steps)})
    host.run("bash walk >pieces", timeout=1800).ok()
    pieces = b"".join(pool[source : source + size] for _, size, source in steps)
    if host.sha256("pieces") != hashlib.sha256(pieces).hexdigest():
        pytest.fail(f"offset, size, source: {first_wrong(host.get('pieces'), pool, steps)}")
    host.remove("got")
    dpumap("read", "e0", "got").ok()
    assert host.sha256("got") == hashlib.sha256(model).hexdigest()


@pytest.mark.parametrize("kind, size", [("dm", "32K"), ("dram", "8M")])
def test_bulk_data_arrives_intact(agent, tool, host, state, figure, kind, size):
    """Much data crosses in files of random bytes, which the host compares by SHA-256."""
    dpumap = tool(agent(f"kind={kind},size={size}").must_serve())
    left = state["bytes"] // (8 if kind == "dm" else 1)
    total, seconds = 0, 0.0
    free = int(host.run("df -Pk . | awk 'NR == 2 { print $4 }'").ok()) * KIB
    file_size = min(left, 256 * MIB, free // 4)
    while left > 0:
        part = min(left, file_size) - 1  # not a whole number of pages
        host.remove("got")
        host.run(f"head -c {part} /dev/urandom >sent", timeout=600).ok()
        done = dpumap.json("cp", "sent", "e0", "got", timeout=3600)
        assert done["verified"]
        assert host.sha256("sent") == host.sha256("got")
        left -= part + 1
        total, seconds = total + part, seconds + done["seconds"]
    figure("verified copy, file to file", total / seconds / 1e6, "MB/s", kind=kind, bytes=total)


@pytest.mark.pair
@pytest.mark.question(10)
@pytest.mark.parametrize("less", [0, 1])
def test_multiple_of_2_gib(agent, tool, host, dpu, profile, answer, less):
    """Both ends of an export of 2 GiB, and of one byte less, can be written and read."""
    size = (2 << 30) - less
    if profile != "lab":
        pytest.skip("2 GiB of the DPU's memory: only with --profile lab")
    free = int(dpu.run("awk '/^MemAvailable/ { print $2 }' /proc/meminfo").ok())
    if free < 4 * MIB:
        pytest.skip(f"the DPU has only {free} KiB of free memory")
    serving = agent(f"kind=dram,size={size}")
    answer(
        10,
        f"{size} bytes: " + ("accepted" if serving.ready else serving.daemon.log().strip()),
        serving.ready,
    )
    dpumap = tool(serving.must_serve())
    for offset in (0, size - 4099):
        host.run("head -c 4099 /dev/urandom >sent; rm -f got").ok()
        dpumap("write", "e0", "sent", "--offset", str(offset)).ok()
        dpumap("read", "e0", "got", "--offset", str(offset), "--length", "4099").ok()
        assert host.sha256("sent") == host.sha256("got")


@pytest.mark.question(16)
def test_the_largest_copy_succeeds(agent, tool, host, profile, answer):
    """One work request of the largest length that the device reports."""
    line = host.run("hil_probe devices").ok().splitlines()[-1]
    limit = int(line.rpartition("max_len=")[2])
    if profile != "lab" and limit > 64 * MIB:
        pytest.skip(f"{limit} bytes in one copy: only with --profile lab")
    dpumap = tool(agent(f"kind=dram,size={limit}").must_serve())
    done = dpumap("bench", "e0", "--size", str(limit), "--count", "4", timeout=600)
    answer(16, f"{limit} bytes: status {done.status} {done.err.strip()}", done.status == 0)
    done.ok()


def corruptions(size, piece, count):
    """Commands, and which of the bytes that they move changes: at the borders of the pieces, and anywhere."""
    chance = random.Random(SEED + size)
    borders = {0, size - 1, *range(piece, size, piece), *range(piece - 1, size, piece)}
    chosen = [(command, at) for at in sorted(borders) for command in ("write", "read")]
    chosen += [("fill", chance.randrange(size)), ("dump", chance.randrange(size))]
    while len(chosen) < count:
        command = chance.choice(("write", "read", "cp"))
        chosen.append((command, chance.randrange(size * (2 if command == "cp" else 1))))
    chance.shuffle(chosen)
    return chosen[:count]


@pytest.mark.local
@pytest.mark.parametrize(
    "export, size, piece",
    [
        ("kind=dm", 64 * KIB, 16 * KIB),
        ("kind=dram", 4 * MIB + 7, MIB),
        ("kind=dram,via=rdma", 256 * KIB + 1, 64 * KIB),
    ],
)
def test_byte_that_the_card_changes_is_found(serve, tool, host, emulator, export, size, piece):
    """Each copy fails, its message names what differs, and no file is left. The next copy is exact."""
    if WIRE and "rdma" in export:
        pytest.skip("a packet that comes late is thrown away and sent again: the changed byte may be in it")
    dpumap = tool(serve("--export", f"name=e0,{export},size={size}"))
    host.put({"sent": random.Random(SEED).randbytes(size)})
    host.remove("got")
    for command, at in corruptions(size, piece, CORRUPTIONS // 3):
        words, differs = COMMANDS[command]
        emulator.fault("data", "--as", "host", "--nth", at + 1)
        done = dpumap(*words)
        assert done.status, f"{command}: byte {at} of those that it moved has changed: {done.out}"
        done.fails_with(LOST, f"{differs}: the copy is corrupt; copy again .* dpumap doctor")
        assert not host.exists(f"{host.dir}/got"), f"{command}: a file is left"
    dpumap("cp", "sent", "e0", "got").ok()
    assert host.sha256("got") == host.sha256("sent")
