# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""etcd: real members on loopback in a directory of the test's own, and etcdctl as the outside reader."""

import base64
import contextlib
import http.server
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import threading
import time
import urllib.request

from harness.pki import Pki

ROOT_PASSWORD = "root-of-the-test"


PORTS = range(10000, 13000)  # below those that the kernel gives to connections
reserved = []  # a socket for each port that this process has been given


def reserve(port):
    """Whether nobody listens on the port, and no other test has it: from now on this one has."""
    mark = socket.socket(socket.AF_UNIX)
    with socket.socket() as probe:
        try:
            mark.bind(f"\0dpumap-test-port-{port}")
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
        except OSError:
            mark.close()
            return False
    reserved.append(mark)
    return True


def free_ports(number):
    """Ports of 127.0.0.1 for this process alone until its end, also between two servers on them."""
    found = []
    for port in random.sample(PORTS, len(PORTS)):
        if len(found) == number:
            break
        if reserve(port):
            found.append(port)
    assert len(found) == number, f"no {number} free ports in {PORTS}"
    return found


def wait_until(condition, seconds=60, what="the condition"):
    """Returns the first true value of condition(); fails after a time that only a hung test needs."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"{what} is not true after {seconds} s"
        time.sleep(0.02)


class Etcd:
    """A cluster of members, which run until close(). With tls, clients need a certificate of `pki`, unless
    client_auth is False: with users, etcd answers no client whose certificate has a common name. prefix
    is what runs a command elsewhere, for example in another network, with these ports."""

    def __init__(self, directory, members=1, tls=False, options=(), client_auth=True, prefix=(), ports=()):
        self.dir = pathlib.Path(directory)
        self.dir.mkdir(parents=True, mode=0o700, exist_ok=True)
        self.options, self.prefix = list(options), list(prefix)
        self.user = None
        self.pki, self.client_auth = None, client_auth
        if tls:
            self.pki = Pki(self.dir / "pki")
            self.pki.issue("etcd", "serverAuth,clientAuth", "IP:127.0.0.1,DNS:localhost")
            self.pki.issue("client", "clientAuth", "DNS:client")
        ports = ports or free_ports(2 * members)
        scheme = "https" if tls else "http"
        self.urls = [f"{scheme}://127.0.0.1:{port}" for port in ports[:members]]
        self.peers = [f"http://127.0.0.1:{port}" for port in ports[members:]]
        self.processes = [None] * members
        for index in range(members):
            self.start(index)
        self.await_ready()

    def _command(self, index):
        cluster = ",".join(f"m{i}={url}" for i, url in enumerate(self.peers))
        words = [
            *self.prefix, "etcd", "--name", f"m{index}", "--data-dir", str(self.dir / f"m{index}"),
            "--listen-client-urls", self.urls[index], "--advertise-client-urls", self.urls[index],
            "--listen-peer-urls", self.peers[index],
            "--initial-advertise-peer-urls", self.peers[index],
            "--initial-cluster", cluster, "--initial-cluster-token", self.dir.name,
            "--heartbeat-interval", "50", "--election-timeout", "500",
            "--logger", "zap", "--log-level", "warn", *self.options,
        ]
        if self.pki:
            words += ["--cert-file", self.pki.path("etcd.crt"), "--key-file", self.pki.path("etcd.key")]
        if self.pki and self.client_auth:
            words += ["--client-cert-auth", "--trusted-ca-file", self.pki.path("ca.crt")]
        return words

    def start(self, index):
        """Starts a member, also after kill(): it finds its data."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("ETCD")}
        with open(self.dir / f"m{index}.log", "ab") as log:
            self.processes[index] = subprocess.Popen(
                self._command(index), stdout=log, stderr=log, env=environment
            )

    def kill(self, index):
        """As a crash."""
        process = self.processes[index]
        if process:
            process.send_signal(signal.SIGKILL)
            process.wait()
            self.processes[index] = None

    def freeze(self, index):
        """The member keeps its connections and answers nothing."""
        self.processes[index].send_signal(signal.SIGSTOP)

    def thaw(self, index):
        self.processes[index].send_signal(signal.SIGCONT)

    def wipe(self, index):
        """Removes the data of a member that does not run."""
        subprocess.run(["rm", "-rf", str(self.dir / f"m{index}")], check=True)

    def running(self):
        return [url for url, process in zip(self.urls, self.processes, strict=True) if process]

    def await_ready(self):
        """Until the cluster has a leader and answers."""
        wait_until(lambda: self.ctl("get", "ready", ok=None).returncode == 0, what="etcd answers")

    def leader(self):
        """The index of the leader."""

        def find():
            for index, process in enumerate(self.processes):
                if not process:
                    continue
                done = self.ctl("endpoint", "status", "-w", "json", ok=None, endpoints=self.urls[index])
                if done.returncode:
                    continue
                status = json.loads(done.stdout)[0]["Status"]
                if status.get("leader") and status["leader"] == status["header"]["member_id"]:
                    return index + 1
            return 0

        return wait_until(find, what="etcd has a leader") - 1

    def ctl(self, *words, ok=True, endpoints=None, text=None):
        """etcdctl. ok=None: it may fail."""
        command = [*self.prefix, "etcdctl", "--command-timeout", "60s", "--dial-timeout", "60s"]
        command += ["--endpoints", endpoints or ",".join(self.running())]
        if self.pki:
            command += ["--cacert", self.pki.path("ca.crt"), "--cert", self.pki.path("client.crt")]
            command += ["--key", self.pki.path("client.key")]
        if self.user:
            command += ["--user", self.user]
        environment = {**{k: v for k, v in os.environ.items() if not k.startswith("ETCD")}, "ETCDCTL_API": "3"}
        done = subprocess.run(
            [*command, *map(str, words)], input=text, capture_output=True, text=True, check=False, env=environment
        )
        if ok is not None:
            assert (done.returncode == 0) == ok, f"etcdctl {words}: {done.stdout}{done.stderr}"
        return done

    def records(self, prefix="/dpumap/v1/"):
        """{key: {"value": text, "lease": number, "revision": of the last change}} as etcdctl reads them."""
        answer = json.loads(self.ctl("get", "--prefix", prefix, "-w", "json").stdout)
        return {
            base64.b64decode(one["key"]).decode("latin-1"): {
                "value": base64.b64decode(one.get("value", "")).decode("latin-1"),
                "lease": one.get("lease", 0),
                "revision": one["mod_revision"],
            }
            for one in answer.get("kvs", [])
        }

    def lease(self, number):
        """What etcdctl says of a lease: "granted-ttl", and "ttl", which is -1 after its end."""
        return json.loads(self.ctl("lease", "timetolive", f"{number:x}", "-w", "json").stdout)

    def revision(self):
        return json.loads(self.ctl("get", "x", "-w", "json").stdout)["header"]["revision"]

    def enable_auth(self, fleet="f"):
        """Users "dpu1" (writes its own records), "host" (reads the fleet), each with its name as password."""
        root = f"/dpumap/v1/{fleet}"
        for user in ("dpu1", "host"):
            self.ctl("role", "add", user)
            self.ctl("user", "add", f"{user}:{user}")
            self.ctl("user", "grant-role", user, user)
        self.ctl("role", "grant-permission", "dpu1", "readwrite", f"{root}/dpus/dpu1")
        self.ctl("role", "grant-permission", "dpu1", "readwrite", f"{root}/exports/dpu1/", "--prefix=true")
        self.ctl("role", "grant-permission", "host", "read", f"{root}/", "--prefix=true")
        self.ctl("user", "add", f"root:{ROOT_PASSWORD}")
        self.ctl("user", "grant-role", "root", "root")
        self.ctl("auth", "enable")
        self.user = f"root:{ROOT_PASSWORD}"

    def disable_auth(self):
        self.ctl("auth", "disable")
        self.user = None

    def close(self):
        for index, process in enumerate(self.processes):
            if process:
                process.send_signal(signal.SIGCONT)
            self.kill(index)


class _Late(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):  # noqa: N802 # pylint: disable=invalid-name
        late = self.server.late
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/v3/kv/txn":
            late.transactions += 1
            time.sleep(late.seconds)
        with urllib.request.urlopen(urllib.request.Request(late.etcd + self.path, body)) as answer:
            raw = answer.read()
        with contextlib.suppress(OSError):
            self.send_response(200)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

    def log_message(self, *_):
        pass


def serve(server):
    """Until server.shutdown(), which waits until the thread looks: by default, it looks twice a second."""
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()


class Late:
    """A way to a member of etcd on which transactions take that many seconds, as in an overloaded cluster."""

    def __init__(self, cluster, seconds):
        self.etcd, self.seconds, self.transactions = cluster.urls[0], seconds, 0
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Late)
        self.server.daemon_threads = True
        self.server.late = self
        self.urls = [f"http://127.0.0.1:{self.server.server_port}"]
        serve(self.server)

    def close(self):
        self.server.shutdown()
        self.server.server_close()
