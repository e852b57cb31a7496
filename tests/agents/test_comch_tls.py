# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Programs that use DOCA alone, between two network namespaces: dpumapd introduces them over TLS. The
card is the same, so that memory is shared as between a host and its DPU."""

import pytest

from harness.comch import Client
from harness.machine import await_true
from harness.network import Network, missing

pytestmark = [pytest.mark.local, pytest.mark.usefixtures("nothing_left")]

DPU = """\
listen = [ "tls:192.0.2.1:{port}" ];
admin = "{dir}/admin";
tls = {{ cert = "{pki}/dpu.crt"; key = "{pki}/dpu.key"; ca = "{pki}/ca.crt"; crl = "{pki}/ca.crl"; }};
comch = {{
	serve = "dpumapd";
	introduce = ( {{ server = "*"; allow = [ "cert:host", "cert:revoked", "cert:idle" ]; }} );
}};
exports = ( {{ name = "web"; kind = "dram"; size = "64K"; allow = [ "cert:host", "cert:revoked" ]; }} );
"""
HOST = """\
connect = "{address}";
timeout = 60;
tls = {{ cert = "{pki}/{name}.crt"; key = "{pki}/{name}.key"; ca = "{pki}/ca.crt"; }};
"""


@pytest.fixture(scope="module")
def network(emulator):
    if why := missing():
        pytest.skip(why)
    made = Network(emulator.environment)
    yield made
    made.close()


@pytest.fixture(scope="module")
def machines(network, emulator):
    """Two machines with one card, and directories of servers of their own."""
    made = {name: network.machine(emulator, name) for name in ("host", "dpu")}
    for one in made.values():
        one.environment["DPUMAP_COMCH_DIR"] = f"{one.dir}/comch"
    return made


@pytest.fixture(scope="module")
def pki(openssl_pki):
    openssl_pki.issue("dpu", "serverAuth", "IP:192.0.2.1")
    for name in ("host", "revoked", "idle"):
        openssl_pki.issue(name, "clientAuth")
    return openssl_pki


@pytest.fixture
def daemon(serve, dpu, pki):
    dpu.put({"tls.conf": DPU.format(port=0, dir=dpu.dir, pki=pki.dir)})
    return serve("--config", f"{dpu.dir}/tls.conf", machine=dpu)


@pytest.fixture
def configured(host, pki, daemon):
    """configured(name): the host's environment with this certificate."""

    def configure(name):
        text = HOST.format(address=daemon.address, pki=pki.dir, name=name)
        host.put({f"{name}/dpumap/dpumap.conf": text})
        return {"XDG_CONFIG_HOME": f"{host.dir}/{name}"}

    return configure


@pytest.fixture
def connect(host, configured):
    """connect(certificate): a client of dpumapd on the host."""
    clients = []

    def start(name="host"):
        clients.append(Client(host, "dpumapd", "3b:00.0", env=configured(name)))
        return clients[-1]

    yield start
    for client in clients:
        client.kill()


def test_client_imports_over_tls(daemon, connect):
    client = connect()
    assert client.state == "connected"
    assert client.ask("list") == "ok|web dram 65536 rw"
    assert client.ask("get web") == "ok 65536 rw"
    assert client.do("use").startswith("65536")
    assert daemon.figure("imports") == 1
    client.end()
    assert await_true(lambda: daemon.figure("clients") == 0)


def test_client_without_an_export_is_refused_over_tls(connect):
    client = connect("idle")
    assert client.do("next").startswith("error DOCA_ERROR_NOT_PERMITTED cert:idle may not import")
    assert client.do("next") == "ended"


def test_revoked_client_loses_its_descriptors(daemon, connect, pki):
    stays, goes = connect(), connect("revoked")
    for client in (stays, goes):
        assert client.ask("get web") == "ok 65536 rw"
        assert client.do("use").startswith("65536")
    pki.revoke("revoked")
    daemon.ctl("reload").ok()
    assert goes.do("next") == "ended"
    assert goes.do("again").startswith("DOCA_ERROR_")
    # The descriptor was the same.
    assert stays.do("next") == "gone web"
    assert stays.ask("get web") == "ok 65536 rw"
    assert stays.do("use").startswith("65536")
    daemon.daemon.await_log("cert:revoked at comch disconnected: its certificate")


def test_example_copies_a_file_over_tls(host, dpu, configured):
    host.run("rm -f sent; head -c 300000 /dev/urandom >sent").ok()
    words = ["comch_copy-dpu", "-p", "03:00.0", "-r", "3b:00.0", "-f", "got"]
    server = dpu.daemon("comch_copy", words)
    server.await_output("Waiting for a client")
    words = ["comch_copy-host", "-p", "3b:00.0", "-f", "sent"]
    done = host.run(words, env={**host.environment, **configured("host")})
    assert "300000 bytes of sent went to the DPU and back" in done.ok()
    assert server.end("0") == 0, server.log()
    assert dpu.get("got") == host.get("sent")
