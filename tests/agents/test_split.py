# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""dpumapd and dpumap on two machines that have a network and a card between them."""

import os

import pytest

from harness.agents import ABSENT, REFUSED, Tool
from harness.machine import await_true
from harness.network import Listener, Network, missing

pytestmark = [pytest.mark.local, pytest.mark.usefixtures("nothing_left")]
CONFIG = """\
listen = [ "tls:192.0.2.1:0" ];
tls = {{ {tls} }};
admin = "{dir}/admin";
exports = (
	{{ name = "fast"; kind = "dm"; size = "64K"; allow = [ "cert:host", "psk:host" ]; }},
	{{ name = "bulk"; kind = "dram"; size = "4M"; allow = [ "cert:host" ]; }},
	{{ name = "other"; kind = "dram"; size = 4096; allow = [ "cert:other" ]; }} );
"""


@pytest.fixture(scope="module")
def network(emulator):
    if why := missing():
        pytest.skip(why)
    made = Network(emulator.environment)
    yield made
    made.close()


@pytest.fixture(scope="module")
def host(network, emulator):
    return network.machine(emulator, "host")


@pytest.fixture(scope="module")
def dpu(network, emulator):
    return network.machine(emulator, "dpu")


@pytest.fixture(scope="module")
def pki(openssl_pki):
    openssl_pki.issue("dpu", "serverAuth", "DNS:dpu.example,IP:192.0.2.1")
    for name in ("host", "other"):
        openssl_pki.issue(name, "clientAuth")
    return openssl_pki


@pytest.fixture
def start(serve, dpu):
    """start(tls): dpumapd with these settings of TLS."""

    def make(tls):
        dpu.put({"split.conf": CONFIG.format(tls=tls, dir=dpu.dir)})
        return serve("--config", f"{dpu.dir}/split.conf", machine=dpu)

    return make


@pytest.fixture
def agent(start, pki):
    words = (("cert", "dpu.crt"), ("key", "dpu.key"), ("ca", "ca.crt"), ("crl", "ca.crl"))
    return start(" ".join(f'{key} = "{pki.path(name)}";' for key, name in words))


@pytest.fixture
def dpumap(host, pki, agent):
    """dpumap(name): with the certificate of this name."""

    def make(name="host", *options):
        words = ("--cert", pki.path(f"{name}.crt"), "--key", pki.path(f"{name}.key"))
        address = () if "--connect" in options else ("--connect", agent.address)
        return Tool(host, [*address, *words, "--ca", pki.path("ca.crt"), *options])

    return make


def crosses(tool, host, name):
    host.remove("got")
    host.put({"sent": os.urandom(9000000)})
    tool("cp", "sent", name, "got").ok()
    assert host.sha256("got") == host.sha256("sent")


@pytest.mark.parametrize("name", ["fast", "bulk"])
def test_file_crosses_the_network(dpumap, host, name):
    crosses(dpumap(), host, name)


def test_clients_have_their_own_exports(dpumap, files):
    names = {export["name"] for export in dpumap().json("list")["exports"]}
    assert names == {"fast", "bulk"}
    done = dpumap("other")("cp", "/bin/sh", "bulk", files / "out")
    done.fails_with(ABSENT, 'no export called "bulk" that cert:other may import')


def test_network_is_the_only_way(agent, dpumap):
    port = agent.address.rpartition(":")[2]
    done = dpumap("host", "--connect", f"tls:127.0.0.1:{port}")("list")
    done.fails_with(ABSENT, "cannot connect")


def test_name_in_the_certificate_counts(dpumap):
    dpumap()("list", "--server", "dpu.elsewhere").fails_with(REFUSED, "mismatch")
    dpumap()("list", "--server", "dpu.example").ok()


@pytest.fixture
def listener(network, agent):
    """A program between the two."""
    host, port = agent.address.removeprefix("tls:").rsplit(":", 1)
    return Listener(network.path("host"), (host, int(port)))


def test_certificate_is_not_of_a_listener(listener, host, pki):
    """127.0.0.1 is not what it says."""
    words = ["agents_probe", "get", f"tls:127.0.0.1:{listener.port}", pki.path("host")]
    done = host.run([*words, pki.path("ca.crt"), "bulk", "none.desc"])
    assert done.status != 0, done.out
    listener.join(30)
    assert not listener.is_alive()


def test_listener_hears_no_secret(listener, dpumap, host):
    """Names, operations and descriptors are encrypted."""
    host.remove("heard.desc")
    options = ("--connect", f"tls:127.0.0.1:{listener.port}", "--server", "dpu.example")
    dpumap("host", *options)("get", "bulk", "heard.desc").ok()
    listener.join(30)
    descriptor, heard = host.get("heard.desc"), bytes(listener.heard)
    assert len(descriptor) >= 64 and len(heard) > 1000
    for secret in (b"bulk", b"descriptor", b"version", descriptor[:16], descriptor[-16:]):
        assert secret not in heard, secret
    assert not any(descriptor[i : i + 8] in heard for i in range(0, len(descriptor) - 8, 8))


def test_many_agents_while_exports_come_and_go(agent, host, pki, files):
    words = ["agents_stress", agent.address, pki.path("host"), pki.path("ca.crt"), agent.admin]
    host.run([*words, files, "2"], env={"DPUMAP_LOG_LEVEL": "off"}).ok()
    for nth in range(16):
        agent.ctl("remove", f"e{nth}").ok()


def test_connection_survives_a_pulled_cable(agent, dpumap, host, network, pki):
    """Requests meanwhile time out; vanished clients will be noticed, because of keepalive."""
    port = agent.address.rpartition(":")[2]
    words = ["agents_probe", "hold", agent.address, pki.path("host"), pki.path("ca.crt"), "bulk"]
    reader, writer = os.pipe()
    holder = host.daemon("hold", [*words, "held.desc"], stdin=reader)
    os.close(reader)
    holder.await_output("got")
    # There is another timer while something is on its way.
    timers = ("ss", "-Htno", f"sport = :{port}")
    assert await_true(lambda: "timer:(keepalive" in network.run("dpu", *timers))
    network.pull()
    try:
        dpumap()("list", "--timeout", "2").fails_with(ABSENT, "no reply from 192.0.2.1")
    finally:
        network.plug()
    assert await_true(lambda: "bulk" in dpumap()("list", "--timeout", "30").out)
    os.close(writer)
    assert holder.end("0") == 0, holder.log()


def test_shared_key_opens_an_export(start, host, work):
    key = work / "psk"
    key.touch(0o600)
    key.write_text(f"host:{os.urandom(32).hex()}\n")
    tool = Tool(host, ["--connect", start(f'psk = "{key}";').address, "--psk", str(key)])
    crosses(tool, host, "fast")
    key.write_text(f"host:{os.urandom(32).hex()}\n")
    tool("list").fails_with(REFUSED, "handshake: ")
