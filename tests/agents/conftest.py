# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Fixtures of the tests of registries."""

import contextlib
import tempfile

import pytest

from harness.etcd import Etcd
from harness.registry import Published


@pytest.fixture(scope="module")
def registry_pki(openssl_pki):
    openssl_pki.issue("dpu2", "serverAuth", "DNS:dpu2,IP:127.0.0.1")
    openssl_pki.issue("host", "clientAuth")
    return openssl_pki


@pytest.fixture
def cluster():
    """cluster(MEMBERS, ...): an etcd that ends with the test."""
    with contextlib.ExitStack() as stack:

        def make(members=1, **more):
            place = stack.enter_context(tempfile.TemporaryDirectory(prefix="dpumap-etcd.", dir="/tmp"))
            made = Etcd(f"{place}/cluster", members, **more)
            stack.callback(made.close)
            return made

        yield make


@pytest.fixture
def store(cluster):
    return cluster()


@pytest.fixture
def publish(serve, dpu, registry_pki):
    """publish(store, ...): dpumapd, configured and not yet started."""

    def make(store, name="dpu", **more):
        made = Published(serve, dpu, registry_pki, name, **more)
        made.endpoints = list(store.urls) if store else []
        return made

    return make
