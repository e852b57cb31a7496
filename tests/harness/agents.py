# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""dpumapd on the DPU and dpumap on the host."""

import contextlib
import json
import os
import re

import pytest

from harness.machine import await_true, quote

# Exit statuses; see dpumap(1) and dpumapd(8).
LOST, WRONG, ABSENT, REFUSED, CANNOT = 1, 2, 13, 14, 15

CONFIG = """\
listen = [ "tls:{address}:{port}" ];
admin = "{dir}/admin";
tls = {{ cert = "{dir}/pki/dpu.crt"; key = "{dir}/pki/dpu.key"; ca = "{dir}/pki/ca.crt";
	crl = "{dir}/pki/ca.crl"; }};
{rdma}exports = ( {exports} );
"""
ALLOWED = ("cert:host", "cert:revoked")


class Agent:
    """dpumapd with the options of a command line."""

    def __init__(self, dpu, name, words, prefix="", **more):
        self.dpu = dpu
        command = ["dpumapd", *words]
        self.daemon = dpu.daemon(name, prefix + quote(command) if prefix else command, **more)
        self.ready = self.daemon.prints("^dpumapd: ready on ")
        self.address = self.daemon.out().rpartition("ready on ")[2].strip().split(", ")[0]
        self.admin = f"{dpu.dir}/admin"

    def must_serve(self):
        """Fails unless dpumapd is ready, or skips the test where the device cannot export this."""
        text = self.daemon.log().strip() if not self.ready else ""
        if not self.ready and self.daemon.status() == CANNOT:
            pytest.skip(f"the DPU's device cannot do it: {text.splitlines()[-1]}")
        assert self.ready, f"dpumapd does not get ready: {text}"
        return self

    def ctl(self, *words, **more):
        return self.dpu.run(["dpumapd", "ctl", "--admin", self.admin, *words], **more)

    def ask(self, command):
        """The reply to a command of "ctl" that succeeds."""
        reply = self.dpu.ask_admin(self.admin, command)
        assert reply["status"] == "DOCA_SUCCESS", f"{command}: {reply}"
        return reply

    def figure(self, name):
        """A number of "ctl status"."""
        return self.ask("status")[name]

    def log(self):
        return self.daemon.log()

    def stop(self):
        """Asks dpumapd to end; it must do so with status 0 and remove its sockets."""
        status = self.daemon.end("TERM")
        assert status == 0, f"dpumapd ended with {status} after SIGTERM: {self.log()}"
        for path in (self.admin, self.address):
            if not path.startswith("tls:"):
                assert not self.dpu.exists(path), f"dpumapd left {path}"


class ConfiguredAgent(Agent):
    """dpumapd with a configuration: exports "e0", "e1" and so on over TLS. listen is its address for
    RDMA connections."""

    def __init__(self, dpu, name, pki, address, exports, port=0, allow=ALLOWED, prefix="", listen=""):
        self.dpu, self.pki, self.allow, self.host_part = dpu, pki, allow, address
        self.exports = {f"e{number}": words for number, words in enumerate(exports)}
        self.port, self.listen = port, listen
        self.write()
        super().__init__(dpu, name, ["--config", f"{dpu.dir}/dpumapd.conf"], prefix)
        self.port = int(self.address.rpartition(":")[2] or 0)

    def write(self):
        """Writes the configuration; dpumapd reads it when it starts and by "ctl reload"."""
        exports = ",\n\t".join(
            config_export(name, words, self.allow) for name, words in self.exports.items()
        )
        rdma = f'rdma = {{ listen = "{self.listen}"; }};\n' if self.listen else ""
        text = CONFIG.format(
            address=self.host_part, port=self.port, dir=self.dpu.dir, exports=exports, rdma=rdma
        )
        self.dpu.put({"dpumapd.conf": text})

    def must_serve(self):
        """Skips the test also where the device can make only some of the exports."""
        super().must_serve()
        cannot = re.search(r"(.*); the other exports are served", self.log())
        if cannot:
            pytest.skip(f"the DPU's device cannot do it: {cannot[1]}")
        return self

    def new_export(self, name, words):
        """The argument of "ctl add"."""
        return f"name={name},{words}" + "".join(f",allow={peer}" for peer in self.allow)

    def add(self, name, words):
        return self.ctl("add", self.new_export(name, words))


def config_export(name, words, allow):
    """An export of a configuration from words such as "kind=dm,size=64K"."""
    pairs = [word.split("=", 1) for word in words.split(",")]
    allowed = ", ".join(f'"{peer}"' for peer in allow)
    values = "".join(f' {key} = "{value}";' for key, value in pairs if key != "name")
    return f'{{ name = "{name}";{values} allow = [ {allowed} ]; }}'


class Tool:
    """dpumap on the host, with these options after each command."""

    def __init__(self, host, options=(), prefix="", agent=None):
        self.host, self.options, self.prefix, self.agent = host, [*options], prefix, agent

    def words(self, *words):
        return ["dpumap", *words, *self.options]

    def command(self, *words):
        """The same for a shell."""
        return self.prefix + quote(self.words(*words))

    def __call__(self, *words, data=None, timeout=120, **more):
        command = self.command(*words) if self.prefix else self.words(*words)
        for _ in range(3):
            done = self.host.run(command, data, timeout, **more)
            if done.status != LOST or not self.came_too_late():
                break
        return done

    def came_too_late(self):
        """Whether dpumapd last disconnected a client that did not authenticate in time, which a busy
        machine or an emulated processor brings about. Such a client has done nothing."""
        late = r"unknown at \S+ disconnected: timed out$"
        return self.agent is not None and re.search(late, self.agent.log().rstrip()) is not None

    def json(self, *words, **more):
        return json.loads(self(*words, "--json", **more).ok())

    def daemon(self, name, *words):
        command = self.command(*words) if self.prefix else self.words(*words)
        return self.host.daemon(name, command)


def tls_options(host, name, address):
    """The options that connect with the certificate of a name in the host's "pki"."""
    return [
        *("--connect", address, "--cert", f"{host.dir}/pki/{name}.crt", "--timeout", "60"),
        *("--key", f"{host.dir}/pki/{name}.key", "--ca", f"{host.dir}/pki/ca.crt"),
    ]


def has_written(copy, directory):
    """Has it bytes in a file that it will leave in the directory? The file may have no name yet."""
    with contextlib.suppress(FileNotFoundError):
        for entry in os.scandir(f"/proc/{copy.pid}/fd"):
            if os.readlink(entry.path).startswith(f"{directory}/") and os.stat(entry.path).st_size:
                return True
    return False


def start_copies(agent, dpumap, name="copies"):
    """Starts more copies of "e0" than a test waits for; some have been done when this returns."""
    copies = dpumap.daemon(name, "bench", "e0", "--size", "64K", "--count", "1000000")

    def await_or_fail(condition, what):
        assert await_true(lambda: copies.status() is not None or condition()), what
        assert copies.status() is None, copies.log()

    # A program's start takes any time on a busy machine or an emulated processor.
    await_or_fail(lambda: agent.figure("imports") > 0, "no import")
    imported = copies.processor_time()
    await_or_fail(lambda: copies.processor_time() > imported + 10, "no copies")
    return copies


def runs_in_qemu(daemon):
    """Whether its system calls are translated, too."""
    with open(f"/proc/{daemon.pid}/comm", encoding="utf-8") as file:
        return file.read().startswith("qemu-")


def grows_by_nature(daemon):
    """Whether memory says nothing about leaks: a sanitizer keeps what was freed, an emulator of the
    processor what it translated."""
    if runs_in_qemu(daemon):
        return True
    with open(os.readlink(f"/proc/{daemon.pid}/exe"), "rb") as file:
        return b"__asan_init" in file.read()


def expect_no_growth(daemon, repeat):
    """What brought a program to its size needs at most 512 KiB more when it is done again. On a busy
    machine the first time may not have been its busiest moment; a leak leaks each time."""
    if grows_by_nature(daemon):
        repeat()
        pytest.skip("memory grows without a leak here")
    for _ in range(3):
        before = daemon.own_memory()
        repeat()
        now = daemon.own_memory()
        if now <= before + (512 << 10):
            return
    pytest.fail(f"the program grows each time, at last from {before} to {now} bytes")
