# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Calls of the libraries, which are loaded at the first call, and the lines that they log."""

import functools
import os
import select
import threading
from typing import Any, Dict, Optional

from dpumap._ffi import ffi
from dpumap.errors import error_class

_LEVEL_ERROR = 30
# libdpumap-channel needs TLS and CBOR, which a program without it need not have.
_SONAMES = {"dpumap_channel_": "libdpumap-channel.so.0", "ibv_": "libibverbs.so.1"}


class _Log:
    """The library's errors, by the kernel's number of the thread that logged them.

    The backend writes to a pipe. A callback would run Python, and with it finalizers, while the library
    holds its locks.
    """

    def __init__(self, library: Any) -> None:
        self.lines: Dict[int, str] = {}
        self.lock = threading.Lock()
        self.reader, self.writer = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        backend = ffi.new("struct doca_log_backend **")
        if not library.doca_log_backend_create_with_fd_sdk(self.writer, backend):
            library.doca_log_backend_set_sdk_level(backend[0], _LEVEL_ERROR)
        os.register_at_fork(after_in_child=self.renew)

    def renew(self) -> None:
        """Give a forked process a pipe of its own, under the number that the library writes to."""
        self.lock = threading.Lock()
        os.close(self.reader)
        self.reader, writer = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        os.dup2(writer, self.writer, inheritable=False)
        os.close(writer)

    def take(self) -> Optional[str]:
        """Return the last error of this thread since the last call, and forget it."""
        with self.lock:
            text = b""
            try:
                while piece := os.read(self.reader, 65536):
                    text += piece
            except BlockingIOError:
                pass
            for line in text.decode(errors="replace").splitlines():
                thread = line.split("][")[1:2]
                if thread and thread[0].isdigit():
                    self.lines[int(thread[0])] = line
            last = self.lines.pop(threading.get_native_id(), None)
            if len(self.lines) > 100:  # of threads that have ended
                self.lines.clear()
            return last


@functools.lru_cache(maxsize=None)
def _load(soname: str) -> Any:
    return ffi.dlopen(soname)


@functools.lru_cache(maxsize=None)
def _log() -> _Log:
    return _Log(_load("libdpumap.so.0"))


@functools.lru_cache(maxsize=None)
def function(name: str) -> Any:
    """Return a function of the libraries."""
    _log()
    soname = next((so for prefix, so in _SONAMES.items() if name.startswith(prefix)), "libdpumap.so.0")
    return getattr(_load(soname), name)


def fail(code: int, call: str, message: str = "") -> None:
    """Raise the exception of a result code, with the line that this thread logged."""
    line = _log().take()
    if not message and not line:
        message = text(function("doca_error_get_descr")(code))
    raise error_class(code)(message, line, call)


def call(name: str, *args: Any) -> None:
    """Call a function, and raise its error."""
    result = function(name)(*args)
    if result:
        fail(result, name)


def get(name: str, kind: str, *args: Any) -> Any:
    """Call a function whose last argument is an output of this type, and return the output."""
    out = ffi.new(f"{kind} *")
    call(name, *args, out)
    return out[0]


def wait_readable(fd: int, seconds: Optional[float]) -> bool:
    """Sleep until a file descriptor of any number is readable, or the time is over."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(None if seconds is None else max(seconds, 0) * 1000))


def text(pointer: Any) -> str:
    """Return a string of C."""
    return str(ffi.string(pointer).decode(errors="replace")) if pointer else ""
