# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Fixtures of the tests over the wire."""

import contextlib

import pytest

from harness.wired import Probe, Wired


@pytest.fixture(scope="module")
def wired():
    made = Wired()
    yield made
    made.close()


@pytest.fixture
def probe(wired):
    """probe("a"): a probe on this machine, which ends with the test."""
    probes = []

    def start(name):
        probes.append(Probe(wired.machine[name]))
        return probes[-1]

    yield start
    for one in probes:
        with contextlib.suppress(BrokenPipeError):
            one.close()


@pytest.fixture
def ends(probe):
    return probe("a"), probe("b")
