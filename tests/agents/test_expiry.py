# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Certificates and lists that expire while dpumapd runs. The clock jumps, so no test waits for a day or a minute."""

import pytest

from harness.clock import Clock
from harness.metrics import parse, scrape

pytestmark = [pytest.mark.local, pytest.mark.usefixtures("nothing_left")]
CONFIG = """listen = [ "tls:127.0.0.1:0" ];
admin = "{dir}/admin";
metrics = "{dir}/metrics";
tls = {{ cert = "{pki}/dpu.crt"; key = "{pki}/dpu.key"; ca = "{pki}/ca.crt"; crl = "{pki}/ca.crl"; }};
exports = ( {{ name = "a"; kind = "dram"; size = 4096; allow = [ "*" ]; }} );
"""
REJECTS = "no client can connect over TLS: "
# The day, the lines that it adds to the log, and the worst, which the status shows. The list is valid for 30 days, the
# certificates for 90; dpumapd warns 7 and 30 days before. The order is that of the log.
DAYS = [
    (1, [], ""),
    (25, ["the revocation list of ca expires in"], "the revocation list of ca expires in"),
    (26, [], "the revocation list of ca expires in"),
    (31, [f"{REJECTS}the revocation list of ca expired on"], "the revocation list of ca expired on"),
    (65, ["the certificate of dpu expires in", "the CA certificate ca expires in"], "the revocation list of ca expired on"),
    (66, [], "the revocation list of ca expired on"),
    (95, [f"{REJECTS}the certificate of dpu expired on", f"{REJECTS}the CA certificate ca expired on"], "the certificate of dpu expired on"),
    (400, [], "the certificate of dpu expired on"),
]


def ends_of(dpu):
    return {name: end for name, end in parse(scrape(f"{dpu.dir}/metrics"))[1].items() if name.endswith("_end_seconds")}


def warnings(agent):
    return [line for line in agent.log().splitlines() if " expire" in line]


def test_each_that_gets_worse_is_logged_once(serve, dpu, openssl_pki, work):
    clock = Clock(work)
    dpu.put({"expiry.conf": CONFIG.format(dir=dpu.dir, pki=openssl_pki.dir)})
    agent = serve("--config", f"{dpu.dir}/expiry.conf", env=clock.passing(dpu.environment["LD_PRELOAD"]))
    ends, seen = ends_of(dpu), warnings(agent)
    assert len(ends) == 3 and not seen
    for day, lines, worst in DAYS:
        clock.jump(day)
        # dpumapd judges them in the turn that answers the first question, after the answer.
        for _ in range(3):
            status = agent.ask("status")
        new = warnings(agent)[len(seen) :]
        seen += new
        assert len(new) == len(lines) and all(words in line for words, line in zip(lines, new)), (day, new)
        problem = status.get("credentials_problem", "")
        # The list of a CA that has expired is not judged.
        assert ends_of(dpu).items() == ends.items() or day > 90 and ends_of(dpu).items() < ends.items(), day
        assert problem.startswith(worst) and bool(problem) == bool(worst), (day, problem)
