# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A machine by ssh: commands, files, daemons. Everything on it is in one directory, which far/watch
makes and removes; every process on it has the directory's name in its environment."""

import json
import pathlib
import shlex
import subprocess
import threading
import time

from harness.machine import PATIENCE, Lost, Result, own_lines, pack, processor_time, quote

FAR = pathlib.Path(__file__).resolve().parents[1] / "hil/far"
HEARTBEAT = 20  # seconds; far/watch waits for six of them


class SshMachine:
    """A machine by ssh. All commands share one connection."""

    def __init__(self, name, target, control, ssh_options=(), directory=None):
        self.name = name
        self.target = target
        self.control = control
        self.ssh_options = list(ssh_options)
        self.dir = directory
        self.watch = None

    def ssh(self, *options, connect=False):
        """The words of an ssh on the one connection; with connect they make it."""
        alone = [] if connect else ["-o", "ProxyCommand=false"]
        return [
            *("ssh", *self.ssh_options, "-o", f"ControlPath={self.control}", *alone),
            *("-o", "BatchMode=yes", *options, "--", self.target),
        ]

    def open(self):
        """Connects and makes the directory, which lives as long as this connection."""
        options = ["-o", "ControlMaster=yes", "-o", "ControlPersist=no", "-o", "ConnectTimeout=30"]
        options += ["-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=4", "-T"]
        script = (FAR / "watch").read_text(encoding="utf-8")
        self.watch = subprocess.Popen(
            [
                *self.ssh(*options, connect=True),
                "exec " + shlex.join(["bash", "-c", script, "watch"]),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for us to answer
            text=True,
        )
        self.dir = self.watch.stdout.readline().strip()
        if not self.dir.startswith("/"):
            raise Lost(f"{self.name}: cannot use {self.target} by ssh")
        threading.Thread(target=self.beat, daemon=True).start()

    def beat(self):
        try:
            while self.watch.poll() is None:
                self.watch.stdin.write("alive\n")
                self.watch.stdin.flush()
                time.sleep(HEARTBEAT)
        except (OSError, ValueError):
            pass  # closed: the end

    def close(self):
        """Ends all processes there and removes the directory; returns whether that worked."""
        if not self.watch or not self.dir:
            return True
        try:
            self.watch.stdin.close()
        except OSError:
            pass
        try:
            text = self.watch.stdout.read()
            self.watch.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.watch.kill()
            text = ""
        return "removed" in text

    def words(self, command):
        """The arguments of an ssh that runs a shell command in the directory."""
        # -n would cut off the input that some have; those without get /dev/null.
        far = ["exec", "env", f"DPUMAP_HIL={self.dir}", f"{self.dir}/do", quote(command)]
        return [*self.ssh("-T"), shlex.join(far)]

    def bare(self, command, timeout=PATIENCE):
        """Runs a command before the programs are there."""
        return self._run([*self.ssh("-T"), command], command, None, timeout)

    def run(self, command, data=None, timeout=PATIENCE):
        """Runs a shell command and waits for its end."""
        return self._run(self.words(command), quote(command), data, timeout)

    def _run(self, words, command, data, timeout):
        try:
            done = subprocess.run(
                words,
                input=data,
                stdin=subprocess.DEVNULL if data is None else None,
                capture_output=True,
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            raise AssertionError(f"{self.name}: {command}: no end after {timeout} s") from late
        if done.returncode == 255:
            raise Lost(
                f"{self.name}: lost {self.target}: {done.stderr.decode(errors='replace').strip()}"
            )
        err = own_lines(done.stderr.decode(errors="replace"))
        return Result(f"{self.name}: {command}", done.returncode, done.stdout, err)

    def start(self, command, **pipes):
        """Starts a command; its output is a pipe."""
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, **pipes}
        return subprocess.Popen(self.words(command), **pipes)

    def daemon(self, name, command):
        """Starts a program in the background, which ends with the suite at the latest."""
        return SshDaemon(self, name, quote(command))

    def put(self, files):
        """Copies files there: {path in the directory: bytes, text or a local path}."""
        command = ["tar", "-x", "-m", "--no-same-owner", "-C", self.dir]
        done = self._run([*self.ssh("-T"), shlex.join(command)], "tar", pack(files), 600)
        if done.status:
            raise Lost(f"{self.name}: cannot copy files there: {done.err.strip()}")

    def get(self, path):
        """The bytes of a file there."""
        words = self.words(["cat", path])
        return subprocess.run(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True
        ).stdout

    def sha256(self, path):
        return self.run(["sha256sum", path]).ok().split()[0]

    def exists(self, path):
        return self.run(["test", "-e", path]).status == 0

    def remove(self, *paths):
        """Removes files, which need not exist."""
        self.run(["rm", "-f", *paths]).ok()

    def mode(self, path):
        """The permissions of a file, as chmod writes them."""
        return self.run(["stat", "-c", "%a", path]).ok().strip()

    def ask_admin(self, path, command):
        """The reply of a dpumapd to a command of "ctl", as dict."""
        return json.loads(self.run(["dpumapd", "ctl", "--admin", path, *command.split(" ", 1), "--json"]).out)


class SshDaemon:
    """A program in the background of a machine."""

    def __init__(self, machine, name, command):
        self.machine, self.name, self.command = machine, name, command
        path = f"daemons/{name}"
        # A shell lets programs in the background ignore SIGINT, unless it has job control.
        script = f"set -m; {command} & echo $! >{path}.pid; wait $!; echo $? >{path}.status"
        machine.run(
            f"rm -f {path}.*; "
            f"env --default-signal=INT setsid bash -c {shlex.quote(script)} </dev/null >{path}.out 2>{path}.log & "
            f"while [ ! -s {path}.pid ]; do sleep 0.02; done"
        ).ok()
        self.pid = int(self.machine.run(["cat", f"daemons/{name}.pid"]).ok())

    def out(self):
        return self.machine.run(["cat", f"daemons/{self.name}.out"]).ok()

    def log(self):
        return own_lines(self.machine.run(["cat", f"daemons/{self.name}.log"]).out)

    def status(self):
        """The exit status, or None while it runs."""
        text = self.machine.run(f"cat daemons/{self.name}.status 2>/dev/null || true").ok()
        return int(text) if text.strip() else None

    def prints(self, pattern):
        """Whether the program prints what matches before it ends."""
        path, found = f"daemons/{self.name}", f"grep -qE {shlex.quote(pattern)}"
        done = self.machine.run(
            f"for n in $(seq 1200); do ! {found} {path}.out || exit 0; "
            f"[ ! -s {path}.status ] || exec {found} {path}.out; sleep 0.05; done; exit 1"
        )
        return done.status == 0

    def await_output(self, pattern="."):
        """Until the program has printed what matches."""
        assert self.prints(pattern), f"{self.command}: {self.out()}{self.log()}"

    def signal(self, name):
        self.machine.run(["kill", f"-{name}", str(self.pid)])

    def end(self, name="TERM"):
        """Sends a signal, 0 being none, and waits for the end; the exit status."""
        self.signal(name)
        path = f"daemons/{self.name}.status"
        wait = f"for n in $(seq 1200); do [ ! -s {path} ] || break; sleep 0.05; done"
        self.machine.run(wait).ok()
        status = self.status()
        if status is None:
            self.signal("KILL")
        return status

    def processor_time(self):
        """In hundredths of a second; 0 when the program has ended."""
        return processor_time(self.machine.run(["cat", f"/proc/{self.pid}/stat"]).out)

    def memory(self):
        """Resident bytes."""
        text = self.machine.run(f"awk '/^VmRSS/ {{ print $2 }}' /proc/{self.pid}/status").ok()
        return int(text) * 1024
