# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Commands of one machine that run on the other, by way of this one: what far/pair talks to. It
makes three connections for each: what it reads, what it prints, and one that tells when it ends."""

import base64
import os
import secrets
import shlex
import socket
import subprocess
import threading


class Relay:
    """Serves both machines until it is closed."""

    def __init__(self, machines, directory, log):
        self.machines = machines
        self.log = log
        self.token = secrets.token_hex(16)
        self.calls = {}
        self.lock = threading.Lock()
        self.listeners = []
        for machine in machines.values():
            self.offer(machine, directory / f"relay-{machine.name}")

    def offer(self, machine, path):
        """A port on the loopback interface of the machine leads here."""
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(path))
        listener.listen(16)
        self.listeners.append(listener)
        forward = ["-O", "forward", "-R", f"127.0.0.1:0:{path}"]
        done = subprocess.run(
            machine.ssh(*forward),
            stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            check=True,
        )
        machine.put({"port": done.stdout.strip() + "\n", "token": self.token + "\n"})
        other = self.machines["dpu" if machine.name == "host" else "host"]
        threading.Thread(target=self.accept, args=(listener, machine, other), daemon=True).start()

    def accept(self, listener, machine, other):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self.greet, args=(connection, machine, other), daemon=True).start()

    def greet(self, connection, machine, other):
        """The first line names the command; the third of its connections starts it."""
        line = b""
        while not line.endswith(b"\n"):
            byte = connection.recv(1)
            if not byte or len(line) > 1 << 20:
                connection.close()
                return
            line += byte
        token, call, role, *words = line.decode(errors="replace").split()
        if not secrets.compare_digest(token, self.token) or role not in ("hold", "in", "out"):
            connection.close()
            return
        with self.lock:
            parts = self.calls.setdefault((machine.name, call), {})
            parts[role] = connection
            if words:
                parts["words"] = base64.b64decode(words[0]).decode().split("\0")[:-1]
            if len(parts) < 4:
                return
            del self.calls[(machine.name, call)]
        Call(other, call, parts).run(self.log)

    def close(self):
        for listener in self.listeners:
            listener.close()


class Call:
    """One command on a machine for a program on the other."""

    def __init__(self, machine, name, parts):
        self.machine, self.parts = machine, parts
        self.pid_file = f"calls/{name}"
        self.done = False

    def run(self, log):
        words = [word.replace("@HIL@", self.machine.dir) for word in self.parts["words"]]
        prefix = f"mkdir -p calls; echo $$ >{self.pid_file}; exec "
        command = prefix + shlex.join(words)
        with open(log, "ab") as complaints:
            process = self.machine.start(command, stdin=subprocess.PIPE, stderr=complaints)
        threading.Thread(target=self.feed, args=(process,), daemon=True).start()
        threading.Thread(target=self.guard, daemon=True).start()
        try:
            while data := os.read(process.stdout.fileno(), 1 << 16):
                self.parts["out"].sendall(data)
        except OSError:
            pass  # the reader has ended
        status = process.wait()
        self.done = True
        self.parts["out"].close()
        self.answer(status)

    def answer(self, status):
        try:
            self.parts["hold"].sendall(f"{status}\n".encode())
        except OSError:
            pass
        self.parts["hold"].close()

    def feed(self, process):
        """Until the input ends, or the command."""
        try:
            while data := self.parts["in"].recv(1 << 16):
                process.stdin.write(data)
                process.stdin.flush()
        except OSError:
            pass
        try:
            process.stdin.close()
        except OSError:
            pass

    def guard(self):
        """Kills the command when the program that wants it was killed."""
        try:
            gone = not self.parts["hold"].recv(1)
        except OSError:
            gone = True
        if gone and not self.done:
            self.machine.run(f"kill -KILL $(cat {self.pid_file})")
