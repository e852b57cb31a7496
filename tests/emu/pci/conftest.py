# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Fixtures of the tests of a PCI function: the process that offers it, a virtual machine and its driver."""

import pytest

from harness.machine import LocalMachine
from harness.mlx5_driver import Driver
from harness.mlx5_keys import REG_UMR, Card, Queue
from harness.vfio_user import VfioUserClient


@pytest.fixture(scope="module")
def place(emulator):
    """Where programs of this module run."""
    return LocalMachine("here", emulator.dir / "here", emulator.environment)


@pytest.fixture(scope="module")
def offer(emulator, place):
    """offer("host", "name"): a process that offers the function on the socket "name" of the place."""
    with open(emulator.program, "rb") as program:
        if program.read(4) != b"\x7fELF":
            pytest.skip("qemu-user cannot reserve the addresses of a guest")
    offered = []

    def start(role, name, ready=True):
        words = [emulator.program, "pci", "--as", role, "--socket", f"{place.dir}/{name}"]
        offered.append(place.daemon(f"pci-{len(offered)}", words))
        offered[-1].path = f"{place.dir}/{name}"
        if ready:
            offered[-1].await_output()
        return offered[-1]

    yield start
    for one in offered:
        one.end()


@pytest.fixture(scope="module")
def offered():
    """The process that offers the host's function to the tests of a module."""
    return []


@pytest.fixture
def function(offered, offer):
    """The process, which must survive the test."""
    if not offered or offered[-1].status() is not None:
        offered.append(offer("host", "socket"))
    yield offered[-1]
    assert offered[-1].status() is None, f"the function has ended: {offered[-1].log()}"


@pytest.fixture
def client(function):
    """A virtual machine without memory, after the version."""
    with VfioUserClient(function.path) as one:
        one.negotiate()
        yield one


@pytest.fixture
def bare(function):
    """A virtual machine that has said nothing yet."""
    with VfioUserClient(function.path) as one:
        yield one


@pytest.fixture
def driver(function):
    """A driver that has sent no command yet."""
    with Driver(function.path) as one:
        yield one


@pytest.fixture
def running(driver):
    """A driver whose function is initialised."""
    return driver.start()


@pytest.fixture
def card(running):
    return Card(running)


@pytest.fixture
def queue(card):
    """A queue pair of a user of the kernel."""
    return Queue(card)


@pytest.fixture
def umr_queue(card):
    """The driver's queue pair for changes."""
    return Queue(card, REG_UMR)
