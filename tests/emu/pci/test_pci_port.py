# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The port of a function: its speed, and the events of its changes."""

import pytest

from harness.mlx5_driver import ALLOC_UAR, PORT_EVENT, QUERY_HCA_CAP, command, get, put
from harness.vfio_user import await_irq

ACCESS_REG, QUERY_VPORT_STATE = 0x805, 0x750
PTYS, PFCC, PCAM = (0x5004, 64), (0x5007, 0x20), (0x507F, 0x50)
DOWN, ACTIVE, LID, PKEY, REREGISTER = 1, 4, 6, 7, 9
GBASE_400_CR4 = 1 << 16  # in ext_eth_proto


def register(driver, which, group=0):
    number, size = which
    data = command(ACCESS_REG, size=16 + size, number=number, op_mod=1)
    put(data, 16, 23, 16, group)
    return driver.execute(data, 16 + size).data[16:]


class Events:
    """An event queue for changes of the port, with vector 1."""

    def __init__(self, driver):
        self.driver, self.seen = driver, 0
        self.irq = driver.enable_irqs()[1]
        self.eq = driver.create_eq(driver.call(ALLOC_UAR).number, vector=1, events=[PORT_EVENT])
        driver.tell_eq(self.eq, 0)

    def next(self):
        """The kind of the change."""
        await_irq(self.irq)
        entry = self.driver.peek(self.eq.ring + 64 * self.seen, 64)
        assert entry[1] == PORT_EVENT and entry[40] == 1 << 4  # the port
        self.seen += 1
        self.driver.tell_eq(self.eq, self.seen)
        return entry[3]


@pytest.fixture
def port(emulator):
    yield lambda *words: emulator.ctl("port", *words, "--as", "host")
    emulator.ctl("port", "up", "--as", "host")
    emulator.ctl("port", "pkey", "0xffff", "--as", "host")


def test_port_of_400_gigabits_is_one(running):
    caps = running.call(QUERY_HCA_CAP, out_len=16 + 4096, op_mod=1).data[16:]
    assert get(caps, 0x34, 21, 21)  # PCAM
    assert get(register(running, PCAM), 0x34, 13, 13)
    assert not any(register(running, PCAM, 1)[4:])  # there is one group of features
    ptys = register(running, PTYS)
    assert [get(ptys, row) for row in (0x08, 0x14, 0x20)] == [GBASE_400_CR4] * 3
    assert [get(ptys, row) for row in (0x0C, 0x18, 0x24)] == [0] * 3  # the older words have no bit for it
    assert get(ptys, 4, 15, 0) == 4000


def test_port_has_no_flow_control(running):
    assert not any(register(running, PFCC)[4:])  # which Linux reads with the speed


def test_link_follows_the_port(running, port):
    events = Events(running)
    for words, change, state in ((["down"], DOWN, 0), (["up"], ACTIVE, 1)):
        port(*words)
        assert events.next() == change
        assert get(running.call(QUERY_VPORT_STATE).data, 0x0C, 3, 0) == state
        assert (get(register(running, PTYS), 0x20) != 0) == bool(state)


def test_changes_of_the_port_are_reported(running, port):
    events = Events(running)
    for words, change in ((["lid", 5], LID), (["pkey", "0x8001"], PKEY), (["reregister"], REREGISTER), (["lid", 0], LID)):
        port(*words)
        assert events.next() == change
