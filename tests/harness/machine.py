# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A machine on which tests run commands: one side of an emulated card here, or a real one by ssh."""

import collections
import contextlib
import dataclasses
import hashlib
import io
import json
import os
import pathlib
import re
import shlex
import signal
import socket
import subprocess
import tarfile
import time

PATIENCE = 120  # seconds; protects against a hang, measures nothing


class Lost(Exception):
    """The machine cannot be reached or used."""


@dataclasses.dataclass
class Result:
    """A command that has ended."""

    command: str
    status: int
    data: bytes
    err: str

    @property
    def out(self):
        return self.data.decode(errors="replace")

    def ok(self):
        """The output of a command that must succeed."""
        assert self.status == 0, f"{self.command}: status {self.status}: {self.err or self.out}"
        return self.out

    def fails(self, *statuses):
        """The complaint of a command that must fail with one of these statuses."""
        seen = f"{self.command}: status {self.status}: {self.err}"
        assert self.status in statuses, seen
        assert self.err.strip(), f"{seen}: fails without a message"
        return self.err

    def fails_with(self, status, pattern):
        """The command must fail with this status and one line of stderr that matches."""
        err = self.fails(status)
        assert err.count("\n") == 1, f"{self.command}: more than one line: {err}"
        assert re.search(pattern, err), f"{self.command}: no '{pattern}' in: {err}"
        return err


def quote(command):
    return command if isinstance(command, str) else shlex.join(str(word) for word in command)


def await_true(condition, patience=PATIENCE, pause=0.02):
    """Polls until the condition is true; returns its last value."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        answer = condition()
        if answer:
            return answer
        time.sleep(pause)
    return condition()


def processor_time(stat):
    """In hundredths of a second, from the text of /proc/PID/stat; 0 of a program that has ended."""
    words = stat.rpartition(")")[2].split()
    return int(words[11]) + int(words[12]) if len(words) > 12 else 0


def open_links(pid):
    """(path in /proc, what it links to) of each file that the process has open."""
    for path in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # just closed
            yield path, os.readlink(path)


def pack(files):
    """A tar archive of {path in the machine's directory: bytes, text or a local path}."""
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
    return buffer.getvalue()


def own_lines(text):
    """A log without the times at which the lines of dpumapd begin, and without those of libgcov, whose file another user
    cannot write."""
    text = re.sub(r"^profiling:.*\n", "", text, flags=re.M)
    return re.sub(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ (?=dpumapd: )", "", text, flags=re.M)


class LocalMachine:
    """This machine, or with the environment of a function of the emulated card, that function. A prefix is the
    beginning of each command."""

    def __init__(self, name, directory, environment, prefix=()):
        self.name, self.dir, self.prefix = name, str(directory), [*prefix]
        for part in ("daemons", "tmp", "home"):
            (pathlib.Path(directory) / part).mkdir(parents=True, mode=0o700, exist_ok=True)
        self.environment = {**environment, "HOME": f"{directory}/home", "TMPDIR": f"{directory}/tmp"}

    def words(self, command):
        """The arguments that run a command; a text is a command of the shell."""
        words = ["bash", "-c", command] if isinstance(command, str) else [*map(str, command)]
        return [*self.prefix, *words]

    def options(self, env=(), **more):
        """The arguments of subprocess for a command; env adds to the machine's environment."""
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "cwd": self.dir}
        return {**pipes, "env": {**self.environment, **dict(env)}, **more}

    def run(self, command, data=None, timeout=PATIENCE, **more):
        """Runs a command and waits for its end; more: as for subprocess.run."""
        options = self.options(**{"stderr": subprocess.PIPE, **more})
        if data is not None:
            options["input"] = data
            del options["stdin"]
        try:
            done = subprocess.run(self.words(command), timeout=timeout, check=False, **options)
        except subprocess.TimeoutExpired as late:
            raise AssertionError(f"{self.name}: {quote(command)}: no end after {timeout} s") from late
        err = own_lines((done.stderr or b"").decode(errors="replace"))
        return Result(f"{self.name}: {quote(command)}", done.returncode, done.stdout or b"", err)

    def start(self, command, **more):
        """Starts a command; its output is a pipe."""
        return subprocess.Popen(self.words(command), **self.options(**more))

    def daemon(self, name, command, **more):
        """Starts a program in the background."""
        return LocalDaemon(self, name, command, **more)

    def put(self, files):
        """Writes files: {path in the directory: bytes, text or a local path}."""
        for path, what in files.items():
            target = pathlib.Path(self.dir, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            if not isinstance(what, (str, bytes)):
                what = pathlib.Path(what).read_bytes()
            target.unlink(missing_ok=True)
            target.touch(0o600)
            target.write_bytes(what.encode() if isinstance(what, str) else what)

    def get(self, path):
        """The bytes of a file."""
        return pathlib.Path(self.dir, path).read_bytes()

    def sha256(self, path):
        with open(pathlib.Path(self.dir, path), "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def exists(self, path):
        return pathlib.Path(self.dir, path).exists()

    def remove(self, *paths):
        """Removes files, which need not exist."""
        for path in paths:
            pathlib.Path(self.dir, path).unlink(missing_ok=True)

    def mode(self, path):
        """The permissions of a file, as chmod writes them."""
        return f"{pathlib.Path(self.dir, path).stat().st_mode & 0o7777:o}"

    def ask_admin(self, path, command):
        """The reply of a dpumapd to a command of "ctl", as dict. Tests ask often, so dpumapd is asked without a
        process."""
        with socket.socket(socket.AF_UNIX) as admin:
            admin.settimeout(PATIENCE)
            admin.connect(str(path))
            admin.sendall(f"{command}\n".encode())
            return json.load(admin.makefile())


class LocalDaemon:
    """A program in the background of a local machine, in a process group of its own."""

    def __init__(self, machine, name, command, **more):
        self.machine, self.name, self.command = machine, name, quote(command)
        path = pathlib.Path(machine.dir, "daemons", name)
        self.out_path, self.log_path = path.with_suffix(".out"), path.with_suffix(".log")
        with open(self.out_path, "wb") as out, open(self.log_path, "wb") as log:
            pipes = {"stdout": out, "stderr": log, "start_new_session": True}
            self.process = machine.start(command, **{**pipes, **more})
        self.pid = self.process.pid

    def out(self):
        return self.out_path.read_text(errors="replace")

    def log(self):
        return own_lines(self.log_path.read_text(errors="replace"))

    def status(self):
        """The exit status as a shell says it, or None while the program runs."""
        status = self.process.poll()
        return 128 - status if status is not None and status < 0 else status

    def prints(self, pattern):
        """Whether the program prints what matches before it ends."""

        def seen():
            return re.search(pattern, self.out(), re.M) or self.process.poll() is not None

        await_true(seen, pause=0.005)
        return re.search(pattern, self.out(), re.M) is not None

    def await_output(self, pattern="."):
        """Until the program has printed what matches."""
        assert self.prints(pattern), f"{self.command}: {self.out()}{self.log()}"

    def await_log(self, pattern):
        """Until what the program logs matches."""
        found = await_true(lambda: re.search(pattern, self.log(), re.M), pause=0.005)
        assert found, f"{self.command} does not log '{pattern}': {self.log()[-4000:]}"
        return found

    def signal(self, name):
        """Sends a signal, 0 being none, to the program's process group."""
        number = 0 if name == "0" else signal.Signals[f"SIG{name}"]
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            pass

    def end(self, name="TERM", patience=PATIENCE):
        """Sends a signal, 0 being none, and waits for the end; the exit status."""
        if self.process.poll() is None:
            self.signal(name)
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.signal("KILL")
            self.process.wait()
            return None
        return self.status()

    def processor_time(self):
        """In hundredths of a second; 0 when the program has ended."""
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            return processor_time(pathlib.Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8"))
        return 0

    def memory(self):
        """Resident bytes."""
        text = pathlib.Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8")
        return int(re.search(r"^VmRSS:\s+(\d+)", text, re.M)[1]) * 1024

    def own_memory(self):
        """Resident bytes that belong to no file."""
        text = pathlib.Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8")
        return int(re.search(r"^RssAnon:\s+(\d+)", text, re.M)[1]) * 1024

    def open_files(self):
        """{kind of file or path: how many the program has open}"""
        return collections.Counter(re.sub(r":\[\d+\]$", "", link) for _, link in open_links(self.pid))

    def settled_files(self):
        """What a program without work has open: it may be closing what its last client had."""
        for _ in range(30):
            files = self.open_files()
            if not await_true(lambda: self.open_files() != files, 0.5):
                return files
        raise AssertionError(f"{self.command} never rests: {files}")

    def await_open_files(self, wanted):
        """Until no more is open than this."""
        assert await_true(lambda: not self.open_files() - wanted), (
            f"{self.command} also has open: {self.open_files() - wanted}"
        )
