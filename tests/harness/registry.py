# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A dpumapd with a registry, and what it publishes in etcd."""

import json
import os

from harness.agents import Tool
from harness.etcd import free_ports
from harness.machine import await_true
from harness.metrics import parse, scrape

TTL = 3  # seconds
CONFIG = """\
listen = [ "tls:127.0.0.1:{port}", "unix:{dir}/socket" ];
tls = {{ cert = "{pki}/{name}.crt"; key = "{pki}/{name}.key"; ca = "{pki}/ca.crt"; }};
admin = "{dir}/admin";
metrics = "{dir}/metrics";
{registry}
exports = ( {exports} );
"""
REGISTRY = """\
registry = {{
	endpoints = [ {endpoints} ];
	fleet = "{fleet}";
	name = "{name}";
	ttl = {ttl};
{more}}};
"""
FAST = '{ name = "fast"; kind = "dm"; size = "64K"; perm = "ro"; allow = [ "cert:host" ]; }'
BULK = '{ name = "bulk"; kind = "dram"; size = "1M"; label = [ "rack=4", "gpu=yes" ]; allow = [ "cert:host" ]; }'
FAR = '{ name = "far"; kind = "dram"; size = 8192; via = "rdma"; allow = [ "cert:secret-client" ]; }'


def stop(store):
    for index in range(len(store.urls)):
        store.kill(index)


def start(store):
    for index in range(len(store.urls)):
        store.start(index)
    store.await_ready()


def ask(store, *words):
    return json.loads(store.ctl(*words, "-w", "json").stdout)


def found(store, fleet="lab"):
    """{name below the fleet: record}"""
    root = f"/dpumap/v1/{fleet}/"
    return {key[len(root) :]: json.loads(one["value"]) for key, one in store.records(root).items()}


def leases_of(store):
    return {one["lease"] for one in store.records().values()}


class Published:
    """A dpumapd with a registry, and what it publishes."""

    def __init__(self, serve, dpu, pki, name="dpu", fleet="lab"):
        self.serve, self.dpu, self.pki, self.name, self.fleet = serve, dpu, pki, name, fleet
        self.port = free_ports(1)[0]
        self.endpoints, self.ttl, self.more, self.exports = [], TTL, "", [FAST, BULK]
        self.agent = None
        self.place = f"{dpu.dir}/{name}"
        os.makedirs(self.place, mode=0o700, exist_ok=True)

    def registry(self):
        urls = ", ".join(f'"{url}"' for url in self.endpoints)
        words = {"fleet": self.fleet, "name": self.name, "ttl": self.ttl, "more": self.more}
        return REGISTRY.format(endpoints=urls, **words) if self.endpoints else ""

    def write(self):
        words = {"port": self.port, "dir": self.place, "pki": self.pki.dir, "name": self.name}
        text = CONFIG.format(exports=", ".join(self.exports), registry=self.registry(), **words)
        self.dpu.put({f"{self.name}/dpumapd.conf": text})

    def start(self, **more):
        self.write()
        self.agent = self.serve("--config", f"{self.place}/dpumapd.conf", **more)
        self.agent.admin = f"{self.place}/admin"
        return self

    def reload(self):
        self.write()
        return self.agent.ctl("reload")

    def status(self):
        return self.agent.ask("status")

    def await_phase(self, phase="published", patience=60):
        def seen():
            return self.status()["registry"] == phase

        assert await_true(seen, patience), f"{self.status()}: {self.agent.log()[-2000:]}"
        return self

    def metrics(self):
        return parse(scrape(f"{self.place}/metrics"))[1]

    def tool(self, host):
        files = ("--cert", self.pki.path("host.crt"), "--key", self.pki.path("host.key"))
        words = ("--connect", f"tls:127.0.0.1:{self.port}", *files, "--ca", self.pki.path("ca.crt"))
        return Tool(host, words)

    def names(self, store):
        """The names of the records of this DPU."""
        mine = (f"dpus/{self.name}", f"exports/{self.name}/")
        return {key for key in found(store, self.fleet) if key == mine[0] or key.startswith(mine[1])}


def exports_of(name, *exports):
    return {f"dpus/{name}", *(f"exports/{name}/{export}" for export in exports)}


ALL = exports_of("dpu", "fast", "bulk")
