# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Mutated packets at the receiving side, DPUMAP_WIRE_MUTATIONS of them: nothing with a wrong invariant CRC is accepted,
nothing crashes or hangs, and no memory grows."""

import os
import random
import re
import struct

import pytest

from harness.forger import ACK, FETCH_ADD, READ_REQUEST, ROCE, SEND_ONLY, WRITE_ONLY, Forger
from harness.machine import await_true

pytestmark = pytest.mark.local
NUMBER = int(os.environ.get("DPUMAP_WIRE_MUTATIONS", "20000"))
BATCH = 500
PSN = 0xfffffe
PORT = "/sys/class/infiniband/mlx5_0/ports/1"
ICRC, ARRIVED = f"{PORT}/hw_counters/rx_icrc_encapsulated", f"{PORT}/counters/port_rcv_packets"
GROWTH_KIB = 2048


def resident(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1))


def reduced(value, basis):
    """0: the value is a sum of vectors of the basis."""
    while value and value.bit_length() in basis:
        value ^= basis[value.bit_length()]
    return value


class Seeds:
    """Packets of each kind that the queue pair would execute, and their mutations."""

    def __init__(self, forger, peer, seed):
        self.forger, self.random = forger, random.Random(seed)
        reth = struct.pack(">QII", peer["address"], peer["rkey"], 8)
        kinds = (
            (SEND_ONLY, bytes(100)), (WRITE_ONLY, reth + b"8 bytes!"), (READ_REQUEST, reth),
            (FETCH_ADD, reth[:12] + bytes(16)), (ACK, bytes(4)),
        )
        self.spans = {}
        self.packets = [forger.packet(opcode, PSN + at, rest) for opcode, rest in kinds for at in (-1, 0, 1)]

    def mutate(self, packet):
        data = bytearray(packet)
        how = self.random.randrange(4)
        if how == 0:
            for _ in range(self.random.randint(1, 3)):
                data[self.random.randrange(len(data))] ^= 1 << self.random.randrange(8)
        elif how == 1:
            del data[self.random.randrange(len(data)):]
        elif how == 2:
            data[self.random.randrange(len(data))] = self.random.randrange(256)
        else:
            data[self.random.randrange(len(data)):0] = self.random.randbytes(self.random.randint(1, 40))
        return bytes(data)

    def span(self, size):
        """A basis of what identification and flags of the IPv4 header change in the CRC of so many bytes, by leading bit.
        A UDP socket does not show them, so the receiver takes a CRC for right if it is right with any of them."""
        if size not in self.spans:
            basis, body = {}, bytes(size)
            plain = int.from_bytes(self.forger.crc(body), "little")
            for ident, flags in [(1 << bit, 0x4000) for bit in range(16)] + [(0, 0)]:
                value = reduced(int.from_bytes(self.forger.crc(body, ident, flags), "little") ^ plain, basis)
                if value:
                    basis[value.bit_length()] = value
            self.spans[size] = basis
        return self.spans[size]

    def is_wrong(self, data):
        if len(data) < 16:
            return True
        body = data[:-4]
        error = int.from_bytes(self.forger.crc(body), "little") ^ int.from_bytes(data[-4:], "little")
        return reduced(error, self.span(len(body))) != 0

    def wrong(self):
        while True:
            data = self.mutate(self.random.choice(self.packets))
            if self.is_wrong(data):
                return data

    def sealed(self):
        """A mutation with the right CRC."""
        return self.forger.seal(self.mutate(self.random.choice(self.packets)[:-4])[:4000])


def is_read(address):
    """Nothing is left in the receive queues of the address."""
    numbers = "".join(f"{int(part):02X}" for part in reversed(address.split(".")))
    with open("/proc/net/udp", encoding="ascii") as file:
        return not re.search(rf" {numbers}:{ROCE:04X} .* \w+:0*[1-9A-F]\w* ", file.read())


def flood(forger, address, make, number):
    for _ in range(0, number, BATCH):
        for _ in range(BATCH):
            forger.send_bytes(make())
        assert await_true(lambda: is_read(address))


def counters(machine):
    """Packets with a wrong CRC, and those that queue pairs have processed."""
    return list(map(int, machine.run(["cat", ICRC, ARRIVED]).ok().split()))


def test_mutations_with_a_wrong_crc(wired, ends):
    near, far = ends
    here, there = near("open", 1, {}), far("open", 1, {})
    near("connect", there)
    far("connect", here)
    near("fill", 1)
    machine, emulator, address = wired.machine["a"], wired.emulator["a"], wired.address["a"]
    forger = Forger(wired.address["b"], address, here["qpn"][0])
    seeds = Seeds(forger, here, 1)
    before, digest = counters(machine), near("digest", 8 << 20)
    flood(forger, address, seeds.wrong, BATCH)
    sizes = resident(near.pid), resident(emulator.pid())
    flood(forger, address, seeds.wrong, NUMBER)
    wrong, arrived = (now - then for now, then in zip(counters(machine), before))
    assert arrived == 0
    assert 0.8 * NUMBER < wrong <= NUMBER + BATCH  # others are shorter than any packet
    assert near("digest", 8 << 20) == digest
    grown = resident(near.pid) - sizes[0], resident(emulator.pid()) - sizes[1]
    assert max(grown) < GROWTH_KIB, f"{grown} KiB"
    near("post", 0, "write", 100)
    near.succeeds()
    forger.close()
    print(f"{NUMBER + BATCH} packets, {wrong} with a wrong CRC, memory grew by {grown} KiB")


def test_mutations_with_the_right_crc(wired, ends):
    """These end the connection; a new one follows."""
    near, far = ends
    address, sizes = wired.address["a"], None
    rounds = max(NUMBER // 5000, 2)
    for number in range(rounds):
        here, there = near("open", 1, {}), far("open", 1, {})
        near("connect", there)
        far("connect", here)
        near("receive", number, 1000)
        forger = Forger(wired.address["b"], address, here["qpn"][0])
        flood(forger, address, Seeds(forger, here, number).sealed, min(NUMBER, 1000))
        forger.close()
        if number == 0:
            sizes = resident(near.pid), resident(wired.emulator["a"].pid())
    grown = resident(near.pid) - sizes[0], resident(wired.emulator["a"].pid()) - sizes[1]
    assert max(grown) < GROWTH_KIB + 64 * rounds, f"{grown} KiB"  # the queue pairs of all rounds
    here, there = near("open", 1, {}), far("open", 1, {})
    near("connect", there)
    far("connect", here)
    near("post", rounds, "write", 100)
    assert near("wait", 2000, 3)[-1][0] == "IBV_WC_SUCCESS"
    print(f"{rounds} connections, memory grew by {grown} KiB")
