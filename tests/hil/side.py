# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""One of the two machines, by ssh: commands, files, daemons. Everything there is in one directory,
which far/watch makes and removes; every process there has its name in its environment."""

import dataclasses
import io
import pathlib
import shlex
import subprocess
import tarfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
PATIENCE = 120  # seconds; against a hang, not a measure
HEARTBEAT = 20  # seconds; far/watch waits for six of them


class Lost(Exception):
    """The machine cannot be reached, or not used."""


@dataclasses.dataclass
class Result:
    """What a command came to."""

    command: str
    status: int
    out: str
    err: str

    def ok(self):
        """The output of a command that must succeed."""
        assert self.status == 0, f"{self.command}: status {self.status}: {self.err or self.out}"
        return self.out

    def fails(self, *statuses):
        """The complaint of a command that must fail, with one of these statuses."""
        said = f"{self.command}: status {self.status}: {self.err}"
        assert self.status in statuses, said
        assert self.err.strip(), f"{said}: fails without a word"
        return self.err


def quote(command):
    return command if isinstance(command, str) else shlex.join(str(word) for word in command)


def await_true(condition, patience=PATIENCE, pause=0.05):
    """Whether the condition came true; the last answer is its own."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        answer = condition()
        if answer:
            return answer
        time.sleep(pause)
    return condition()


class Side:
    """A machine. There is one connection to it, which all commands share."""

    def __init__(self, name, target, control, ssh_options=(), directory=None):
        self.name = name
        self.target = target
        self.control = control
        self.ssh_options = list(ssh_options)
        self.dir = directory
        self.watch = None

    def ssh(self, *options, connect=False):
        """The words of an ssh on the one connection; only the first makes it."""
        alone = [] if connect else ["-o", "ProxyCommand=false"]
        return [
            *("ssh", *self.ssh_options, "-o", f"ControlPath={self.control}", *alone),
            *("-o", "BatchMode=yes", *options, "--", self.target),
        ]

    def open(self):
        """Connects, and has the directory made. While this lives so does what is there."""
        options = ["-o", "ControlMaster=yes", "-o", "ControlPersist=no", "-o", "ConnectTimeout=30"]
        options += ["-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=4", "-T"]
        script = (HERE / "far/watch").read_text(encoding="utf-8")
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
        """Has everything there ended and removed; whether that was done."""
        if not self.watch or not self.dir:
            return True
        try:
            self.watch.stdin.close()
        except OSError:
            pass
        try:
            said = self.watch.stdout.read()
            self.watch.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.watch.kill()
            said = ""
        return "removed" in said

    def words(self, command):
        """The arguments of an ssh that runs a command of the shell in the directory."""
        # -n would cut off the input that some have; those without get /dev/null.
        far = ["exec", "env", f"DPUMAP_HIL={self.dir}", f"{self.dir}/do", quote(command)]
        return [*self.ssh("-T"), shlex.join(far)]

    def bare(self, command, timeout=PATIENCE):
        """A command before anything was brought there."""
        return self._run([*self.ssh("-T"), command], command, None, timeout)

    def run(self, command, data=None, timeout=PATIENCE):
        """Runs a command of the shell, and waits for it."""
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
        # fmt: off
        return Result(f"{self.name}: {command}", done.returncode,
                      done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))
        # fmt: on

    def start(self, command, **pipes):
        """A command that goes on; its output is a pipe."""
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, **pipes}
        return subprocess.Popen(self.words(command), **pipes)

    def daemon(self, name, command):
        """A program in the background, which ends with the suite at the latest."""
        return Daemon(self, name, quote(command))

    def put(self, files):
        """Brings files there: {path in the directory: bytes or a local path}."""
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as tar:
            for path, what in files.items():
                if isinstance(what, (str, bytes)):
                    data = what.encode() if isinstance(what, str) else what
                    info = tarfile.TarInfo(path)
                    info.size, info.mode, info.mtime = len(data), 0o600, int(time.time())
                    tar.addfile(info, io.BytesIO(data))
                else:
                    tar.add(what, path)
        command = ["tar", "-x", "-m", "--no-same-owner", "-C", self.dir]
        done = self._run([*self.ssh("-T"), shlex.join(command)], "tar", buffer.getvalue(), 600)
        if done.status:
            raise Lost(f"{self.name}: cannot bring files there: {done.err.strip()}")

    def get(self, path):
        """The bytes of a file there."""
        words = self.words(["cat", path])
        return subprocess.run(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True
        ).stdout

    def sha256(self, path):
        return self.run(["sha256sum", path]).ok().split()[0]


class Daemon:
    """A program in the background of a side."""

    def __init__(self, side, name, command):
        self.side, self.name, self.command = side, name, command
        path = f"daemons/{name}"
        script = f"{command} & echo $! >{path}.pid; wait $!; echo $? >{path}.status"
        side.run(
            f"rm -f {path}.*; "
            f"setsid bash -c {shlex.quote(script)} </dev/null >{path}.out 2>{path}.log & "
            f"while [ ! -s {path}.pid ]; do sleep 0.02; done"
        ).ok()
        self.pid = int(self.side.run(["cat", f"daemons/{name}.pid"]).ok())

    def out(self):
        return self.side.run(["cat", f"daemons/{self.name}.out"]).ok()

    def log(self):
        return self.side.run(["cat", f"daemons/{self.name}.log"]).out

    def status(self):
        """The exit status, or None while it runs."""
        text = self.side.run(f"cat daemons/{self.name}.status 2>/dev/null || true").ok()
        return int(text) if text.strip() else None

    def await_output(self):
        """Until it has printed something."""
        path = f"daemons/{self.name}"
        wait = f"for n in $(seq 1200); do [ ! -s {path}.out ] || exit 0; sleep 0.05; done; exit 1"
        done = self.side.run(wait)
        assert done.status == 0, f"{self.command} says nothing: {self.log()}"

    def signal(self, name):
        self.side.run(["kill", f"-{name}", str(self.pid)])

    def end(self, name="TERM"):
        """Sends a signal, 0 being none, and waits for the end; the exit status."""
        self.signal(name)
        path = f"daemons/{self.name}.status"
        wait = f"for n in $(seq 1200); do [ ! -s {path} ] || break; sleep 0.05; done"
        self.side.run(wait).ok()
        status = self.status()
        if status is None:
            self.signal("KILL")
        return status

    def memory(self):
        """Resident bytes."""
        text = self.side.run(f"awk '/^VmRSS/ {{ print $2 }}' /proc/{self.pid}/status").ok()
        return int(text) * 1024
