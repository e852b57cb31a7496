# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Fixtures of the tests of libdpumap-fleet."""

import pathlib
import shutil
import tempfile

import pytest

from harness.etcd import Etcd
from harness.fleet import Dpu, Host


def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(pytest.mark.local)


@pytest.fixture
def place():
    """A directory of the test's own."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="dpumap-fleet."))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def etcd(place):
    """etcd(...): a cluster, which ends with the test."""
    clusters = []

    def start(members=1, **more):
        clusters.append(Etcd(place / f"etcd{len(clusters)}", members, **more))
        return clusters[-1]

    yield start
    for cluster in clusters:
        cluster.close()


@pytest.fixture
def probes():
    """Probes of the test, which end with it."""
    running = []
    yield running
    for probe in running:
        probe.kill()


@pytest.fixture
def publisher(probes):
    """publisher(cluster, NAME): a DPU that publishes."""

    def start(cluster, name="dpu1", **more):
        probes.append(Dpu(getattr(cluster, "urls", cluster), name, **more))
        return probes[-1]

    return start


@pytest.fixture
def watcher(probes):
    """watcher(cluster): a watching host."""

    def start(cluster, **more):
        probes.append(Host(getattr(cluster, "urls", cluster), **more))
        return probes[-1]

    return start
