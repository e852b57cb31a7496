# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The emulated card: its server, the machines on its functions, and what lives on it."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import tempfile

from harness.machine import PATIENCE, LocalMachine, await_true

# Variables of the caller that would change the results.
UNSET = "DPUMAP_LOG_LEVEL DPUMAP_CONNECT NO_COLOR XDG_RUNTIME_DIR XDG_CONFIG_HOME".split()
# The messages of the control socket: struct emu_request and struct emu_reply.
PROTO = pathlib.Path(__file__).resolve().parents[2] / "emu/ipc/proto.h"
REQUEST, REPLY = struct.Struct("=II3Q"), struct.Struct("=IiII4Q")
OP_STATUS, OP_FAULT = 6, 8
# The rest of struct emu_fault_request that removes all rules: only nth and count are not zero.
CLEAR = struct.pack("=6I3Q2I256x", *[0] * 6, 1, 1, 0, 0, 0)


def magic():
    """EMU_MAGIC: the version of the messages."""
    return int(re.search(r"#define EMU_MAGIC\s+(0x\w+)u", PROTO.read_text(encoding="utf-8"))[1], 0)


def local_environment(directory):
    """The environment of a local command."""
    environment = {key: value for key, value in os.environ.items() if key not in UNSET}
    programs = pathlib.Path(os.environ["DPUMAP_BIN"])
    path = f"{programs}:{programs.parent}/tests:{programs.parent}/examples/doca"
    path += f":{environment['PATH']}:/usr/sbin:/sbin"
    # AddressSanitizer's dlopen() does not search the run path of the library that calls it.
    libraries = ":".join(filter(None, [f"{programs.parent}/lib", environment.get("LD_LIBRARY_PATH")]))
    environment["LD_LIBRARY_PATH"] = libraries
    more = {"DPUMAP_EMU_DIR": f"{directory}/emu", "LC_ALL": "C", "PYTHONDONTWRITEBYTECODE": "1"}
    return {**environment, **more, "PATH": path}


def directory_in_memory():
    """A new directory for an emulator: it makes hundreds of files, for which ext4 takes many times as long."""
    place = os.environ.get("TMPDIR", "/dev/shm")
    place = place if os.access(place, os.W_OK) else "/tmp"
    path = pathlib.Path(tempfile.mkdtemp(prefix="dpumap-emu.", dir=place))
    path.chmod(0o755)  # for programs of other users
    return path


class Emulator:
    """A server of dpumap-emu, and a directory with one folder for each machine."""

    def __init__(self, *options):
        # Short, because the paths of sockets are.
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="dpumap-agents.", dir="/tmp"))
        self.program = f"{os.environ['DPUMAP_BIN']}/dpumap-emu"
        place = directory_in_memory()
        self.emu_dir = place / "emu"
        self.environment = local_environment(place)
        # Where servers of doca_comch listen.
        self.environment["DPUMAP_COMCH_DIR"] = f"{self.dir}/comch"
        self.machines = {}
        self.start(*options)

    def ctl(self, *words):
        """Runs dpumap-emu."""
        done = subprocess.run(
            [self.program, *map(str, words)],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, f"dpumap-emu {words}: {done.stderr}"
        return done.stdout

    def start(self, *options):
        self.ctl("start", *options)

    def stop(self):
        self.ctl("stop")

    def pid(self):
        """The process of the server."""
        line = next(line for line in self.ctl("list").splitlines() if f" {self.emu_dir}" in line)
        return int(line.split()[0])

    def machine(self, function):
        """The machine with this function ("host", "dpu", "node1.host")."""
        if function not in self.machines:
            self.machines[function] = LocalMachine(function, self.dir / function, self.environment_of(function))
        return self.machines[function]

    def run_words(self, function):
        """The words before a command that runs on this function."""
        return [self.program, "run", "--as", function, "--"]

    def environment_of(self, function):
        """The environment that dpumap-emu run gives to a command. It is the same for all commands, so they
        do not need a dpumap-emu each."""
        lines = self.ctl(*self.run_words(function)[1:], "env", "-0").split("\0")
        return dict(line.split("=", 1) for line in lines if line)

    def fault(self, *words):
        return self.ctl("fault", *words)

    def clear_faults(self):
        """What dpumap-emu fault clear does; returns how many commands it has seen."""
        with self.request(OP_FAULT, CLEAR) as (_, values):
            return values[0]

    @contextlib.contextmanager
    def request(self, operation, rest=b""):
        """A request to the server, without a process: the connection and the values of the reply."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
            server.settimeout(PATIENCE)
            server.connect(f"{self.emu_dir}/control")
            server.send(REQUEST.pack(magic(), operation, 0, 0, 0) + rest)
            version, error, _, _, *values = REPLY.unpack(server.recv(REPLY.size))
            assert (version, error) == (magic(), 0), f"the emulator answers {error}"
            yield server, values

    def status(self):
        """What dpumap-emu status --json prints, as an object."""
        with self.request(OP_STATUS) as (server, _):
            text = socket.recv_fds(server, 1, 1)[1][0]
        with open(text, encoding="utf-8") as file:
            file.seek(0)
            return json.load(file)

    def objects(self):
        """{kind: how many live on the card}"""
        status = self.status()
        ids = [one for machine in status["connection_managers"] for one in machine["ids"]]
        others = {kind: status[kind] for kind in ("contexts", "dm_bytes", "channels")}
        connections = sum("connection" in one for one in ids)
        return status["objects"] | others | {"cm_ids": len(ids), "cm_connections": connections}

    def await_objects(self, wanted, ignore=()):
        """Until these live on the card: the server notices the death of a client late."""
        last = {}

        def same():
            last.clear()
            last.update(self.objects())
            different = {key for key in {*last, *wanted} if last.get(key) != wanted.get(key)}
            return not different - set(ignore)

        assert await_true(same), f"objects {last} instead of {wanted}"

    def close(self):
        subprocess.run([self.program, "stop"], env=self.environment, capture_output=True, check=False)
        shutil.rmtree(self.emu_dir.parent, ignore_errors=True)
        shutil.rmtree(self.dir, ignore_errors=True)
