# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Two machines as far as the network goes: namespaces of their own and a cable between them."""

import contextlib
import ctypes
import os
import select
import shutil
import socket
import subprocess
import threading

from harness.machine import LocalMachine, await_true

CLONE_NEWNET = 0x40000000
ADDRESSES = {"dpu": "192.0.2.1", "host": "192.0.2.2"}


def missing():
    """Why there can be no namespaces here, or None."""
    for program in ("unshare", "nsenter", "ip", "ss"):
        if not shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin"):
            return f"{program} is missing"
    if os.getuid() != 0:
        return "only root can make network namespaces"
    if subprocess.run(["unshare", "-n", "true"], capture_output=True, check=False).returncode:
        return "this machine allows no network namespaces"
    return None


def enter_network(path):
    """The thread, and what it starts, continue in this network namespace."""
    with open(path, "rb") as file:
        assert ctypes.CDLL(None).setns(file.fileno(), CLONE_NEWNET) == 0


class NetworkMachine(LocalMachine):
    """A machine with a network of its own, which its programs enter before they begin."""

    def __init__(self, name, directory, environment, namespace):
        super().__init__(name, directory, environment)
        self.namespace = namespace

    def options(self, env=(), **more):
        return super().options(env, preexec_fn=lambda: enter_network(self.namespace), **more)


class Network:
    """The namespaces of the host and of the DPU live as long as a process in each."""

    def __init__(self, environment):
        self.environment = environment
        words = {"stdin": subprocess.DEVNULL, "env": environment}
        self.keepers = {
            name: subprocess.Popen(["unshare", "-n", "sleep", "infinity"], **words)
            for name in ADDRESSES
        }
        ours = os.readlink("/proc/self/ns/net")
        for name in ADDRESSES:
            assert await_true(lambda: os.readlink(self.path(name)) != ours, pause=0.005)
        peer = ("type", "veth", "peer", "name", "host0", "netns", str(self.keepers["host"].pid))
        self.run("dpu", "ip", "link", "add", "dpu0", *peer)
        for name, address in ADDRESSES.items():
            self.run(name, "ip", "address", "add", f"{address}/24", "dev", f"{name}0")
            for link in ("lo", f"{name}0"):
                self.run(name, "ip", "link", "set", link, "up")

    def path(self, name):
        return f"/proc/{self.keepers[name].pid}/ns/net"

    def enter(self, name):
        """The words before a command."""
        return ["nsenter", f"--net={self.path(name)}"]

    def run(self, name, *words):
        done = subprocess.run(
            [*self.enter(name), *words],
            env=self.environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def machine(self, emulator, name):
        """The machine with this function of the card, in its own network."""
        plain = emulator.machine(name)
        return NetworkMachine(name, plain.dir, plain.environment, self.path(name))

    def pull(self):
        self.run("dpu", "ip", "link", "set", "dpu0", "down")

    def plug(self):
        self.run("dpu", "ip", "link", "set", "dpu0", "up")

    def close(self):
        for keeper in self.keepers.values():
            keeper.kill()
            keeper.wait()


class Listener(threading.Thread):
    """Passes one connection of a namespace on to an address, and keeps what both say."""

    def __init__(self, namespace, address):
        super().__init__(daemon=True)
        self.namespace, self.address = namespace, address
        self.heard, self.port, self.ready = bytearray(), None, threading.Event()
        self.start()
        assert self.ready.wait(30)

    def run(self):
        # Of this thread only; its sockets stay in the namespace.
        enter_network(self.namespace)
        with contextlib.ExitStack() as sockets:
            listener = sockets.enter_context(socket.create_server(("127.0.0.1", 0)))
            self.port = listener.getsockname()[1]
            self.ready.set()
            near = sockets.enter_context(listener.accept()[0])
            far = sockets.enter_context(socket.create_connection(self.address))
            goes_to = {near: far, far: near}
            while True:
                for s in select.select([near, far], [], [])[0]:
                    try:
                        data = s.recv(65536)
                    except ConnectionError:
                        data = b""
                    if not data:
                        return
                    self.heard += data
                    goes_to[s].sendall(data)
