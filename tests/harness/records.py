# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A registry whose records a test writes itself, by the JSON interface of etcd, and hosts that read it."""

import base64
import json
import os
import shutil
import tempfile
import urllib.request

from harness.agents import Tool
from harness.etcd import Etcd

HOST_CONFIG = """\
tls = {{ cert = "{pki}/host.crt"; key = "{pki}/host.key"; ca = "{pki}/ca.crt"; }};
registry = {{ endpoints = [ {endpoints} ]; {more} }};
"""


class Registry(Etcd):
    """Members of etcd in a directory of their own, which can stop and start together."""

    def __init__(self, members=1):
        super().__init__(f"{tempfile.mkdtemp(prefix='dpumap-etcd.', dir='/tmp')}/cluster", members)

    def stop_all(self):
        for index in range(len(self.urls)):
            self.kill(index)

    def start_all(self):
        for index in range(len(self.urls)):
            self.start(index)
        self.await_ready()

    def remove(self):
        self.close()
        shutil.rmtree(self.dir.parent)


def post(url, path, **body):
    request = urllib.request.Request(f"{url}/v3/{path}", json.dumps(body).encode(), method="POST")
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def encoded(text):
    return base64.b64encode(text if isinstance(text, bytes) else text.encode()).decode()


class Records:
    """The records of a fleet. Anybody who may write to etcd can write these."""

    def __init__(self, etcd, fleet):
        self.etcd, self.fleet, self.leases = etcd, fleet, {}

    def key(self, dpu, name=None):
        rest = f"dpus/{dpu}" if name is None else f"exports/{dpu}/{name}"
        return f"/dpumap/v1/{self.fleet}/{rest}"

    def lease(self, dpu, ttl=600):
        if dpu not in self.leases:
            self.leases[dpu] = post(self.etcd.urls[0], "lease/grant", TTL=ttl)["ID"]
        return self.leases[dpu]

    def put(self, key, value, lease=0):
        """Any bytes, or an object as JSON."""
        if not isinstance(value, (str, bytes)):
            value = json.dumps(value)
        post(self.etcd.urls[0], "kv/put", key=encoded(key), value=encoded(value), lease=lease)

    def dpu(self, name, *addresses, ttl=600, **more):
        record = {"format": 1, "addresses": addresses or ["tls:127.0.0.1:1"], "certificate": name}
        record |= {"software": "0.9", "generation": 1, **more}
        self.put(self.key(name), record, self.lease(name, ttl))
        return self

    def export(self, dpu, name, size=65536, **more):
        record = {"format": 1, "kind": "dram", "size": size, "access": ["rdma-read", "rdma-write"]}
        record |= {"via": "rdma", "generation": 1, **more}
        self.put(self.key(dpu, name), record, self.lease(dpu))
        return self

    def remove(self, dpu, name=None):
        post(self.etcd.urls[0], "kv/deleterange", key=encoded(self.key(dpu, name)))

    def revoke(self, dpu):
        post(self.etcd.urls[0], "lease/revoke", ID=self.leases.pop(dpu))


class FleetTool(Tool):
    """dpumap on the host with a configuration of its own, and so with a cache of its own."""

    def __init__(self, host, etcd, fleet, pki, more="", options=()):
        place = tempfile.mkdtemp(prefix="fleet.", dir=host.dir)
        self.config, self.cache = f"{place}/dpumap.conf", f"{place}/cache"
        os.mkdir(self.cache, 0o700)
        urls = ", ".join(f'"{url}"' for url in etcd.urls)
        text = HOST_CONFIG.format(pki=pki.dir, endpoints=urls, more=more)
        host.put({os.path.relpath(self.config, host.dir): text})
        super().__init__(host, ["--fleet", fleet, "--config", self.config, "--timeout", "10", *options])
        self.environment = {"XDG_CACHE_HOME": self.cache}

    def __call__(self, *words, **more):
        return super().__call__(*words, env={**self.environment, **more.pop("env", {})}, **more)

    def daemon(self, name, *words):
        return self.host.daemon(name, self.words(*words), env=self.environment)

    def names(self, *words):
        """The names of a list, in its order."""
        return [line.split()[0] for line in self("list", *words).ok().splitlines()[1:]]
