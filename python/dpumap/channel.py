# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The connection to dpumapd, which lists exports, imports them and reports changes."""

import asyncio
import collections
import dataclasses
import enum
import threading
import time
from typing import Any, AsyncIterator, Deque, Iterable, List, Optional, Tuple, Union

from dpumap._ffi import ffi
from dpumap._handle import Handle, Owner, in_library
from dpumap._library import fail, function, get, text, wait_readable
from dpumap.descriptor import Descriptor
from dpumap.device import Device
from dpumap.errors import Error, error_class
from dpumap.memory import Access, Map

_DESCRIPTOR_MAX = 512


@dataclasses.dataclass(frozen=True)
class Export:
    """What dpumapd says of an export before it is imported."""

    name: str
    kind: str
    size: int
    access: Access


class EventKind(enum.IntEnum):
    """What happened to an export, or to the connection."""

    ADDED = 0
    CHANGED = 1
    REMOVED = 2
    LOST = 3
    BACK = 4


@dataclasses.dataclass(frozen=True)
class Event:
    """An event of a watched channel. name is None for LOST and BACK."""

    kind: EventKind
    name: Optional[str]


class Channel(Owner):
    """A connection to dpumapd at "unix:PATH" or "tls:HOST:PORT".

    With TLS, both sides authenticate: with the files cert, key and ca, and the revocation list crl, or
    with the file psk of pre-shared keys. timeout, in seconds, applies to each call.
    """

    def __init__(
        self,
        address: str,
        *,
        cert: Optional[str] = None,
        key: Optional[str] = None,
        ca: Optional[str] = None,
        crl: Optional[str] = None,
        psk: Optional[str] = None,
        psk_name: Optional[str] = None,
        server_name: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> None:
        def destroy(pointer: Any) -> None:
            function("dpumap_channel_destroy")(pointer)

        self._own(Handle(get("dpumap_channel_create", "struct dpumap_channel *"), destroy))
        self.address = address
        self._lock = threading.RLock()
        self._events: Deque[Event] = collections.deque()
        self._exports: List[Export] = []
        self._answers: List[Union[Descriptor, Error]] = []
        self._on_answer = ffi.callback("dpumap_channel_get_cb_t", self._heard_answer)
        self._on_export = ffi.callback("dpumap_channel_list_cb_t", self._heard_export)
        self._on_event = ffi.callback("dpumap_channel_watch_cb_t", self._heard_event)
        self._is_watching = False
        try:
            self._call("dpumap_channel_set_address", _c(address))
            if cert or key or ca or crl:
                self._call("dpumap_channel_set_certificate", _c(cert), _c(key), _c(ca), _c(crl))
            if psk:
                self._call("dpumap_channel_set_psk", _c(psk), _c(psk_name))
            if server_name:
                self._call("dpumap_channel_set_server_name", _c(server_name))
            if timeout is not None:
                self._call("dpumap_channel_set_timeout", max(int(timeout * 1000), 0))
            self._call("dpumap_channel_connect")
        except BaseException:
            self.close()
            raise

    def _call(self, name: str, *args: Any) -> None:
        with self._handle.pinned() as pointer, self._lock:
            with in_library():
                result = function(name)(pointer, *args)
            if result:
                fail(result, name, text(function("dpumap_channel_get_error")(pointer)))

    def _heard_export(self, _data: Any, info: Any) -> None:
        self._exports.append(Export(text(info.name), text(info.kind), int(info.size), Access(info.access)))

    def _heard_answer(self, _data: Any, _index: int, result: int, descriptor: Any, length: int) -> None:
        if result:
            with self._handle.pinned() as pointer:
                why = text(function("dpumap_channel_get_error")(pointer))
            self._answers.append(error_class(result)(why, None, "dpumap_channel_get_many"))
        else:
            self._answers.append(Descriptor(bytes(ffi.buffer(descriptor, length))))

    def _heard_event(self, _data: Any, event: int, name: Any) -> None:
        self._events.append(Event(EventKind(event), text(name) if name else None))

    def list(self) -> List[Export]:
        """List the exports that this host may import, in the order of their names."""
        with self._lock:
            self._exports = []
            self._call("dpumap_channel_list", self._on_export, 0)
            return self._exports

    def get(self, name: str) -> Descriptor:
        """Get the descriptor of an export, which release() returns."""
        out, length = ffi.new("char[]", _DESCRIPTOR_MAX), ffi.new("size_t *", _DESCRIPTOR_MAX)
        self._call("dpumap_channel_get", _c(name), out, length)
        descriptor = Descriptor(bytes(ffi.buffer(out, length[0])))
        ffi.memmove(out, bytes(_DESCRIPTOR_MAX), _DESCRIPTOR_MAX)
        return descriptor

    def get_many(self, names: Iterable[str]) -> List[Union[Descriptor, Error]]:
        """Get the descriptors of many exports in a few round trips: for each name what get() would return or raise.

        release() returns each descriptor. If the connection ends, this raises, and the channel holds no export.
        """
        words = [ffi.new("char[]", _c(name)) for name in names]
        with self._lock:
            self._answers = []
            self._call("dpumap_channel_get_many", ffi.new("char *[]", words), len(words), self._on_answer, 0)
            return self._answers

    def get_dmabuf(self, name: str) -> Tuple[int, int]:
        """Get a dma-buf of an export of device memory on this machine: its descriptor, which the caller closes, and length.

        Map.of_dmabuf() maps it. release() returns the export, as after get().
        """
        fd, length = ffi.new("int *"), ffi.new("size_t *")
        self._call("dpumap_channel_get_dmabuf", _c(name), fd, length)
        return int(fd[0]), int(length[0])

    def release(self, name: str) -> None:
        """Release the descriptor of an export, once for each get() and get_dmabuf()."""
        self._call("dpumap_channel_release", _c(name))

    def import_map(self, name: str, device: Device) -> Map:
        """Import an export. Closing the map releases the export."""
        out = ffi.new("struct doca_mmap **")
        made = Map.__new__(Map)
        with device._handle.pinned() as dev:
            self._call("dpumap_channel_import", _c(name), dev, out)
            made._adopt(out[0], (device,), (), None)
        made._measure()
        destroy = made._handle.destroy

        def destroy_and_release(pointer: Any) -> None:
            destroy(pointer)
            try:
                self.release(name)
            except Error:
                pass  # a lost or closed connection has released everything

        made._handle.destroy = destroy_and_release
        return made

    def fileno(self) -> int:
        """Return the file descriptor that is readable when process() has something to do."""
        with self._handle.pinned() as pointer:
            return int(get("dpumap_channel_get_notification_handle", "int", pointer))

    def watch(self) -> None:
        """Watch for exports that are added, changed or removed from now on."""
        if not self._is_watching:
            self._call("dpumap_channel_watch", self._on_event, 0)
            self._is_watching = True

    def process(self) -> List[Event]:
        """Keep the connection alive, reconnect if it was lost, and return what happened. Never blocks."""
        self._call("dpumap_channel_process")
        events = []
        while self._events:
            events.append(self._events.popleft())
        return events

    def _pause(self) -> float:
        with self._handle.pinned() as pointer:
            left = int(get("dpumap_channel_get_next_time", "int", pointer))
        return left / 1000 if left >= 0 else 3600.0

    def wait(self, timeout: Optional[float] = None) -> List[Event]:
        """Return the next events of a watched channel; none if the time is over."""
        self.watch()
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            events = self.process()
            left = None if deadline is None else deadline - time.monotonic()
            if events or (left is not None and left <= 0):
                return events
            pause = self._pause()
            wait_readable(self.fileno(), pause if left is None else min(left, pause))

    async def events(self) -> AsyncIterator[Event]:
        """Watch, and iterate over the events for ever."""
        self.watch()
        loop = asyncio.get_running_loop()
        fd = self.fileno()
        ready = asyncio.Event()
        loop.add_reader(fd, ready.set)
        try:
            while True:
                ready.clear()
                for event in self.process():
                    yield event
                try:
                    await asyncio.wait_for(ready.wait(), self._pause())
                except asyncio.TimeoutError:
                    pass
        finally:
            loop.remove_reader(fd)

    def __repr__(self) -> str:
        return f"<Channel to {self.address}{', closed' if self.closed else ''}>"


def _c(value: Optional[str]) -> Any:
    return ffi.NULL if value is None else str(value).encode()
