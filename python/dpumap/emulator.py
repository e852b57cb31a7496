# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The emulated card: its server, programs and Python functions on its functions, and faults.

    with Emulator() as card:
        card.side("host").run(["ibv_devinfo"])
        card.fault("command", method="mr.create", errno="ENOMEM")
        card.side("dpu").call(register_memory)
"""

import contextlib
import inspect
import json
import multiprocessing.connection
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Union

Word = Union[str, int, pathlib.Path]


class EmulatorError(Exception):
    """dpumap-emu failed; the message is its own."""


class WorkerEnded(Exception):
    """The process of a side ended during a call, or did not answer in time."""


class RemoteError(Exception):
    """The traceback of an exception that a function on a side raised: the cause of that exception, or this
    exception alone if that one cannot be pickled."""


def find_program() -> str:
    """Return the path of dpumap-emu: $DPUMAP_EMU, or the one that PATH leads to."""
    program = os.environ.get("DPUMAP_EMU") or shutil.which("dpumap-emu")
    if not program:
        raise EmulatorError("dpumap-emu is not installed: install the package dpumap-emu, or set DPUMAP_EMU")
    return program


def _options(options: Mapping[str, Any]) -> List[str]:
    """Keywords as options: as_="dpu" is --as=dpu, lose=True is --lose, a list is repeated."""
    words = []
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is True:
                words.append(option)
            elif one is not None and one is not False:
                words.append(f"{option}={one}")
    return words


class Side:
    """A function of the card, such as "dpu", "host" or "node1.host": where programs run."""

    def __init__(self, emulator: "Emulator", name: str) -> None:
        self.emulator, self.name = emulator, name
        self._worker: Optional["subprocess.Popen[bytes]"] = None
        self._connection: Optional[multiprocessing.connection.Connection] = None

    def words(self, command: Sequence[Word]) -> List[str]:
        """Return the command line that runs a command on this side."""
        return [self.emulator.program, "run", "--as", self.name, "--", *map(str, command)]

    def run(self, command: Sequence[Word], **options: Any) -> "subprocess.CompletedProcess[str]":
        """Run a command; options are those of subprocess.run(). It must succeed unless check is False."""
        options.setdefault("check", True)
        done: "subprocess.CompletedProcess[str]" = subprocess.run(self.words(command), **self._options(options))
        return done

    def start(self, command: Sequence[Word], **options: Any) -> "subprocess.Popen[str]":
        """Start a command; options are those of subprocess.Popen()."""
        process: "subprocess.Popen[str]" = subprocess.Popen(self.words(command), **self._options(options))
        return process

    def _options(self, options: Dict[str, Any]) -> Dict[str, Any]:
        return {"text": True, "stdin": subprocess.DEVNULL, "env": self.emulator.environment, **options}

    def call(self, function: Callable[..., Any], *args: Any, timeout: float = 60, **keywords: Any) -> Any:
        """Call a function of a module in a process on this side, and return its result.

        All calls of a side run in one process, so the module's variables keep their values between them.
        Arguments, result and exceptions are pickled.
        """
        if "<locals>" in function.__qualname__ or function.__name__ == "<lambda>":
            raise TypeError(f"{function.__qualname__} cannot be called on a side: define it in a module")
        file = inspect.getfile(function) if inspect.isfunction(function) or inspect.ismethod(function) else ""
        where = (function.__module__, file, function.__qualname__)
        connection = self._connect()
        try:
            connection.send((sys.path, where, args, keywords))
            if not connection.poll(timeout):
                self._end(kill=True)
                raise WorkerEnded(f"{self.name}: {function.__qualname__} has not ended after {timeout} s")
            kind, value, text = connection.recv()
        except (EOFError, ConnectionError, BrokenPipeError):
            raise WorkerEnded(f"{self.name}: the process ended with status {self._end()}") from None
        if kind == "raised":
            raise value or RemoteError(text) from (RemoteError(text) if value else None)
        return value

    def _connect(self) -> multiprocessing.connection.Connection:
        if self._connection is None:
            ours, theirs = socket.socketpair()
            here = str(pathlib.Path(__file__).parent.parent)
            path = os.pathsep.join(filter(None, [here, self.emulator.environment.get("PYTHONPATH")]))
            with theirs:
                self._worker = subprocess.Popen(
                    self.words([sys.executable, "-m", "dpumap._worker", theirs.fileno()]),
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    env={**self.emulator.environment, "PYTHONPATH": path},
                )
            self._connection = multiprocessing.connection.Connection(ours.detach())
        return self._connection

    def _end(self, kill: bool = False) -> Optional[int]:
        """End the process, and return its exit status."""
        worker, self._worker = self._worker, None
        if self._connection:
            self._connection.close()
            self._connection = None
        if worker is None:
            return None
        if kill:
            worker.kill()
        try:
            return worker.wait(10)
        except subprocess.TimeoutExpired:
            worker.kill()
            return worker.wait()

    def kill(self) -> None:
        """Kill the process of this side, as kill -9 does: the kernel frees what it owned."""
        self._end(kill=True)

    def close(self) -> None:
        """End the process of this side."""
        self._end()

    def __repr__(self) -> str:
        return f"<Side {self.name}>"


class Emulator:
    """An emulated card, in a temporary directory of its own.

    profile, nodes, cards, cap, gid and config are the options of `dpumap-emu start`; cap and gid may be
    lists.
    """

    def __init__(self, profile: Optional[str] = None, nodes: int = 1, cards: int = 1, **options: Any) -> None:
        self.program = find_program()
        # In /tmp, because the paths of sockets must be short.
        self.directory: Optional[pathlib.Path] = pathlib.Path(tempfile.mkdtemp(prefix="dpumap-python.", dir="/tmp"))
        self.environment: Dict[str, str] = {
            **os.environ,
            "DPUMAP_EMU_DIR": str(self.directory / "emu"),
            "DPUMAP_COMCH_DIR": str(self.directory / "comch"),
        }
        self._sides: Dict[str, Side] = {}
        try:
            self.command("start", profile=profile, nodes=nodes, cards=cards, **options)
        except EmulatorError:
            shutil.rmtree(self.directory, ignore_errors=True)
            raise

    @classmethod
    def attach(cls) -> "Emulator":
        """Use the emulator that is running in $DPUMAP_EMU_DIR, and leave it running."""
        made = cls.__new__(cls)
        made.program = find_program()
        made.directory = None
        made.environment = dict(os.environ)
        made._sides = {}
        made.status()
        return made

    def command(self, *words: Word, **options: Any) -> str:
        """Run a command of dpumap-emu, such as "gid", "port" or "status", and return its output."""
        done = subprocess.run(
            [self.program, *map(str, words[:1]), *_options(options), *map(str, words[1:])],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        if done.returncode:
            raise EmulatorError(done.stderr.strip() or f"dpumap-emu {words}: status {done.returncode}")
        return done.stdout

    def side(self, name: str) -> Side:
        """Return a side: "dpu", "host", with more nodes or cards also "dpu1", "node1.host" and so on."""
        return self._sides.setdefault(name, Side(self, name))

    def fault(self, kind: str = "command", **options: Any) -> None:
        """Inject a fault; the options are those of `dpumap-emu fault`, for example method="mr.create"."""
        self.command("fault", kind, **options)

    def clear_faults(self) -> str:
        """End all faults, and return how many commands and completions matched."""
        return self.command("fault", "clear")

    @contextlib.contextmanager
    def faults(self, kind: str = "command", **options: Any) -> Iterator[None]:
        """A fault during a with statement, after which no fault is left."""
        self.fault(kind, **options)
        try:
            yield
        finally:
            self.clear_faults()

    def status(self) -> Dict[str, Any]:
        """Return what `dpumap-emu status --json` prints."""
        status: Dict[str, Any] = json.loads(self.command("status", json=True))
        return status

    def objects(self, function: Optional[str] = None) -> Dict[str, int]:
        """Count the objects that live on a function of the card, or on all: {"mrs": 2, ...}."""
        total: Dict[str, int] = {}
        for one in self.status()["functions"]:
            if function in (None, one["name"]):
                for kind, number in one["objects"].items():
                    total[kind] = total.get(kind, 0) + number
        return total

    def close(self) -> None:
        """End the processes of all sides and the emulator."""
        for side in self._sides.values():
            side.close()
        if self.directory and self.directory.exists():
            with contextlib.suppress(EmulatorError):
                self.command("stop")
            shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self) -> "Emulator":
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Emulator {self.environment.get('DPUMAP_EMU_DIR')}>"
