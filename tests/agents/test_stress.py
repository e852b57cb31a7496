# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""64 host agents at once (or 8 for each of $DPUMAP_STRESS_PROCESSES) over TLS while exports come and
go, for $DPUMAP_SPLIT_SECONDS: no request is lost, no client reaches what was removed, and dpumapd is
not larger afterwards."""

import os

import pytest

from harness.agents import expect_no_growth, grows_by_nature

pytestmark = [pytest.mark.local, pytest.mark.usefixtures("nothing_left")]
SECONDS = int(os.environ.get("DPUMAP_SPLIT_SECONDS", "10"))
QUIET = {"DPUMAP_LOG_LEVEL": "off"}
CONFIG = """\
listen = [ "tls:127.0.0.1:0" ];
tls = {{ cert = "{pki}/dpu.crt"; key = "{pki}/dpu.key"; ca = "{pki}/ca.crt"; crl = "{pki}/ca.crl"; }};
admin = "{dir}/admin";
exports = ( {{ name = "fixed"; kind = "dram"; size = 4096; allow = [ "cert:host" ]; }} );
"""


class Load:
    """The program agents_stress against dpumapd."""

    def __init__(self, agent, host, pki, files):
        self.agent, self.host = agent, host
        self.words = ["agents_stress", agent.address, pki.path("host"), pki.path("ca.crt")]
        self.words += [agent.admin, files]

    def __call__(self, seconds):
        """dpumapd answers as many requests as the program made, and has its 16 exports."""
        before = self.agent.figure("requests")
        words = [*self.words, str(seconds)]
        printed = self.host.run(words, timeout=seconds + 100, env=QUIET).ok()
        answered = self.agent.figure("requests") - before
        made = next(int(line.split()[1]) for line in printed.splitlines() if "requests" in line)
        assert made == answered
        for nth in range(16):
            self.agent.ctl("remove", f"e{nth}").ok()


@pytest.fixture
def agent(serve, dpu, openssl_pki):
    openssl_pki.issue("host", "clientAuth")
    dpu.put({"stress.conf": CONFIG.format(pki=openssl_pki.dir, dir=dpu.dir)})
    return serve("--config", f"{dpu.dir}/stress.conf", env=QUIET)


def test_a_long_load_causes_no_growth(agent, host, openssl_pki, files, emulator):
    """Descriptors, memory, clients and imports are as before."""
    load, serving = Load(agent, host, openssl_pki, files), emulator.objects()
    load(1 if grows_by_nature(agent.daemon) else 3)
    files_open = agent.daemon.settled_files()

    def at_length():
        load(SECONDS)
        emulator.await_objects(serving)
        agent.daemon.await_open_files(files_open)
        assert agent.figure("clients") == agent.figure("imports") == 0

    expect_no_growth(agent.daemon, at_length)
