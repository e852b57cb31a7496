# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""dpumapd on the DPU, dpumap on the host, and TLS between them."""

import json

import pytest

from side import Daemon, await_true, quote

CANNOT = 5  # the exit status of dpumapd that says so
NAMES = ("host", "other", "revoked")


class Pki:
    """Certificates. The authority is on the host; both have what they need in "pki"."""

    def __init__(self, host, dpu):
        self.host, self.dpu = host, dpu

    def tool(self, *words):
        return self.host.run(["dpumap", "pki", *words, "--dir", "pki"]).ok()

    def revoke(self, name):
        """The host's copy of what is revoked goes into pki/revoked; the DPU learns of it."""
        self.host.run(f"cp pki/{name}.* home/")
        self.tool("revoke", name)
        self.host.run(f"mv home/{name}.* pki/").ok()
        self.dpu.put({"pki/ca.crl": self.host.get("pki/ca.crl")})


def make_pki(host, dpu, address):
    pki = Pki(host, dpu)
    pki.tool("init")
    pki.tool("issue", "--dpu", "dpu", "--san", address)
    for name in NAMES:
        pki.tool("issue", "--host", name)
    names = ("dpu.crt", "dpu.key", "ca.crt", "ca.crl")
    dpu.put({f"pki/{name}": host.get(f"pki/{name}") for name in names})
    return pki


CONFIG = """\
listen = [ "tls:{address}:{port}" ];
admin = "{dir}/admin";
tls = {{ cert = "{dir}/pki/dpu.crt"; key = "{dir}/pki/dpu.key"; ca = "{dir}/pki/ca.crt";
	crl = "{dir}/pki/ca.crl"; }};
exports = ( {exports} );
"""
ALLOWED = ("cert:host", "cert:revoked")


def group(name, words, allow):
    """An export of a configuration of "kind=dm,size=64K"."""
    pairs = [word.split("=", 1) for word in words.split(",")]
    allowed = ", ".join(f'"{peer}"' for peer in allow)
    values = "".join(f' {key} = "{value}";' for key, value in pairs if key != "name")
    return f'{{ name = "{name}";{values} allow = [ {allowed} ]; }}'


class Agent:
    """dpumapd, ready to serve."""

    def __init__(self, dpu, name, pki, address, exports, port=0, allow=ALLOWED, prefix=""):
        self.dpu, self.pki, self.allow, self.host_part = dpu, pki, allow, address
        self.exports = {f"e{number}": words for number, words in enumerate(exports)}
        self.port = port
        self.write()
        command = f"{prefix}dpumapd --config {dpu.dir}/dpumapd.conf"
        self.daemon = Daemon(dpu, name, command.strip())
        ready = f"""for n in $(seq 600); do
            grep -q '^dpumapd: ready on' daemons/{name}.out && exit 0
            [ ! -s daemons/{name}.status ] || exit 1; sleep 0.05; done; exit 1"""
        self.ready = dpu.run(ready).status == 0
        self.address = self.daemon.out().rpartition("ready on ")[2].strip()
        self.port = int(self.address.rpartition(":")[2] or 0)

    def must_serve(self):
        said = self.daemon.log().strip() if not self.ready else ""
        if not self.ready and self.daemon.status() == CANNOT:
            pytest.skip(f"the DPU's device cannot do it: {said.splitlines()[-1]}")
        assert self.ready, f"dpumapd does not get ready: {said}"
        return self

    def write(self):
        exports = ",\n\t".join(
            group(name, words, self.allow) for name, words in self.exports.items()
        )
        text = CONFIG.format(
            address=self.host_part, port=self.port, dir=self.dpu.dir, exports=exports
        )
        self.dpu.put({"dpumapd.conf": text})

    def ctl(self, *words):
        return self.dpu.run(["dpumapd", "ctl", "--admin", f"{self.dpu.dir}/admin", *words])

    def add(self, name, words):
        allow = "".join(f",allow={peer}" for peer in self.allow)
        return self.ctl("add", f"name={name},{words}{allow}")


class Tool:
    """dpumap of the host, with the certificate of a name."""

    def __init__(self, host, pki, address, name="host", prefix=""):
        self.host, self.pki = host, pki
        self.words = [
            *("--connect", address, "--cert", f"{host.dir}/pki/{name}.crt", "--timeout", "60"),
            *("--key", f"{host.dir}/pki/{name}.key", "--ca", f"{host.dir}/pki/ca.crt"),
        ]
        self.prefix = prefix

    def command(self, *words):
        return self.prefix + quote(["dpumap", *words, *self.words])

    def __call__(self, *words, data=None, timeout=120):
        return self.host.run(self.command(*words), data, timeout)

    def json(self, *words, **more):
        return json.loads(self(*words, "--json", **more).ok())

    def daemon(self, name, *words):
        return Daemon(self.host, name, self.command(*words))


__all__ = ["Agent", "Pki", "Tool", "await_true", "make_pki"]
