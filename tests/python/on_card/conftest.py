# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Fixtures of the tests that run on the host's function of a card."""

import gc
import time

import pytest

import dpumap
import sides
from dpumap.emulator import Emulator


@pytest.fixture(scope="session")
def card():
    """The card on which the tests run."""
    with Emulator.attach() as emulator:
        yield emulator


@pytest.fixture
def dpu(card):
    """The DPU's function, in a process of its own."""
    side = card.side("dpu")
    yield side
    if side._worker:
        side.call(sides.forget)


@pytest.fixture
def device():
    with dpumap.open_device() as opened:
        yield opened


@pytest.fixture
def copier(device):
    with dpumap.Copier(device) as made:
        yield made


@pytest.fixture(autouse=True)
def nothing_left(card):
    """After each test, no object is left on the card and no fault."""
    yield
    card.clear_faults()
    deadline = time.monotonic() + 10
    while True:
        gc.collect()
        left = {kind: number for kind, number in card.objects().items() if number}
        if not left or time.monotonic() > deadline:
            break
        time.sleep(0.02)
    assert not left
