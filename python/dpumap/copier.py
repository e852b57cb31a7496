# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Copies between maps by the DMA engine of a device: blocking, or awaited in an event loop."""

import asyncio
import collections
import threading
import time
from typing import Any, Callable, Deque, Dict, Optional, Set, Tuple, Union

from dpumap._ffi import ffi
from dpumap._handle import Handle, Owner, in_library
from dpumap._library import call, fail, function, get, wait_readable
from dpumap.device import Device
from dpumap.errors import BadState, Error, InvalidValue, Shutdown, TimeOut
from dpumap.memory import Access, Map, MapRange

# DOCA_ERROR_IN_PROGRESS: a context that stops becomes idle later.
_IN_PROGRESS = 26
_PATIENCE = 10.0  # seconds in which a device ends the copies in flight

Side = Union[Map, MapRange, Any]  # or a buffer


class _Copy:
    """A copy of the program, which is one or more tasks of the device."""

    def __init__(self, dst: MapRange, src: MapRange, done: Optional[Callable[[], None]]) -> None:
        self.dst, self.src, self.done = dst, src, done
        self.posted = 0
        self.tasks = 0
        self.error: Optional[Error] = None

    def ended(self) -> bool:
        return not self.tasks and (self.error is not None or self.posted == self.src.length)

    def tell(self) -> None:
        """Tell the program that it has ended. The function refers to the copy: forget it, and so the maps."""
        done, self.done = self.done, None
        if done:
            done()

    def stop(self, error: Error) -> None:
        """Post no more of the copy."""
        self.error = self.error or error


_Task = Tuple[_Copy, Any, Any]


class _Engine:
    """A progress engine with a DMA context, and the copies in it. Only one thread at a time uses it."""

    def __init__(self, device: Any, depth: int, max_copy: int) -> None:
        self.max_copy, self.depth = max_copy, depth
        self.waiting: Deque[_Copy] = collections.deque()
        self.tasks: Dict[int, _Task] = {}
        self.number = 0
        self.is_running = False
        self.pe = self.inventory = self.dma = self.ctx = None
        self.completed: Deque[Tuple[Any, int]] = collections.deque()
        self.interrupt: Optional[BaseException] = None
        self.callback = ffi.callback(
            "doca_dma_task_memcpy_completion_cb_t", self.on_completion, onerror=self.on_interrupt
        )
        try:
            self.pe = get("doca_pe_create", "struct doca_pe *")
            self.inventory = get("doca_buf_inventory_create", "struct doca_buf_inventory *", 2 * depth)
            call("doca_buf_inventory_start", self.inventory)
            self.dma = get("doca_dma_create", "struct doca_dma *", device)
            self.ctx = function("doca_dma_as_ctx")(self.dma)
            call("doca_pe_connect_ctx", self.pe, self.ctx)
            call("doca_dma_task_memcpy_set_conf", self.dma, self.callback, self.callback, depth)
            self.fd = get("doca_pe_get_notification_handle", "int", self.pe)
            self.start()
        except BaseException:
            self.destroy()
            raise

    def start(self) -> None:
        call("doca_ctx_start", self.ctx)
        self.is_running = True

    def on_completion(self, task: Any, number: int, _ctx: int) -> None:
        """Note that a task has ended. Everything else happens outside of the callback."""
        self.completed.append((task, number))

    def on_interrupt(self, _kind: Any, error: BaseException, trace: Any) -> None:
        """A signal handler raised an exception during the callback: note the task all the same."""
        self.interrupt = error
        while trace and "number" not in trace.tb_frame.f_locals:
            trace = trace.tb_next
        if trace:
            found = trace.tb_frame.f_locals
            if all(number != found["number"] for _, number in self.completed):
                self.completed.append((found["task"], found["number"]))

    def end(self, task: Any, number: int) -> None:
        """Free a task that has ended, and keep its result."""
        copy, src, dst = self.tasks.pop(number)
        generic = function("doca_dma_task_memcpy_as_task")(task)
        status = function("doca_task_get_status")(generic)
        function("doca_task_free")(generic)
        self.release(src, dst)
        copy.tasks -= 1
        if status:
            self.is_running = False  # the context stops after an error
            try:
                fail(status, "copy")
            except Error as error:
                copy.stop(error)
        self.report(copy)

    def report(self, copy: _Copy) -> None:
        """Tell the program of a copy that has ended."""
        if copy.ended():
            copy.dst.map._handle.unpin(id(copy))
            copy.src.map._handle.unpin(id(copy))
            copy.tell()

    @staticmethod
    def release(*bufs: Any) -> None:
        for buf in bufs:
            if buf:
                function("doca_buf_dec_refcount")(buf, ffi.NULL)

    def add(self, copy: _Copy) -> None:
        """Begin a copy. Its maps stay until it has ended."""
        copy.dst.map._handle.pin(id(copy))
        try:
            copy.src.map._handle.pin(id(copy))
        except Error:
            copy.dst.map._handle.unpin(id(copy))
            raise
        self.waiting.append(copy)
        self.post()

    def post(self) -> None:
        """Submit as much as fits."""
        if not self.is_running and self.waiting and not self.restart():
            return
        while self.waiting and len(self.tasks) < self.depth:
            copy = self.waiting[0]
            if copy.error is None:
                try:
                    self.submit(copy)
                except Error as error:
                    copy.stop(error)
            if copy.error is not None or copy.posted == copy.src.length:
                self.waiting.popleft()
                if not copy.tasks:
                    self.report(copy)

    def restart(self) -> bool:
        """Start the context again, once a failed copy has stopped it and its tasks have ended."""
        if self.tasks:
            return False
        try:
            result = function("doca_ctx_stop")(self.ctx)
            if result:
                fail(result, "doca_ctx_stop")
            self.start()
        except Error as error:
            self.cancel(error)
            return False
        return True

    def cancel(self, error: Error) -> None:
        """Submit no more of the copies that wait."""
        while self.waiting:
            copy = self.waiting.popleft()
            copy.stop(error)
            self.report(copy)

    def submit(self, copy: _Copy) -> None:
        length = min(self.max_copy, copy.src.length - copy.posted)
        src = dst = ffi.NULL
        try:
            src = self.buf(copy.src, copy.posted, length, length)
            dst = self.buf(copy.dst, copy.posted, length, 0)
            self.number += 1
            task = get(
                "doca_dma_task_memcpy_alloc_init",
                "struct doca_dma_task_memcpy *",
                self.dma,
                src,
                dst,
                self.number,
            )
        except BaseException:
            self.release(src, dst)
            raise
        generic = function("doca_dma_task_memcpy_as_task")(task)
        self.tasks[self.number] = (copy, src, dst)
        try:
            call("doca_task_submit", generic)
        except BaseException:
            del self.tasks[self.number]
            function("doca_task_free")(generic)
            self.release(src, dst)
            raise
        copy.tasks += 1
        copy.posted += length

    def buf(self, side: MapRange, offset: int, length: int, filled: int) -> Any:
        addr = ffi.cast("void *", side.map.address + side.offset + offset)
        name = "doca_buf_inventory_buf_get_by_args"
        return get(name, "struct doca_buf *", self.inventory, side.map._handle.pointer, addr, length, addr, filled)

    def progress(self) -> None:
        """Report what has ended, and submit what follows."""
        progress = function("doca_pe_progress")
        found = 1
        while found or self.completed:
            with in_library():
                found = progress(self.pe)
            while self.completed:
                self.end(*self.completed.popleft())
        self.post()
        error, self.interrupt = self.interrupt, None
        if error:
            raise error

    def arm(self) -> None:
        call("doca_pe_request_notification", self.pe)

    def clear(self) -> None:
        call("doca_pe_clear_notification", self.pe, self.fd)

    def wait(self, ended: Callable[[], bool], deadline: Optional[float]) -> None:
        """Sleep and make progress until it has ended, or the time is over."""
        self.progress()
        while not ended():
            self.arm()
            if not wait_readable(self.fd, None if deadline is None else deadline - time.monotonic()):
                raise TimeOut("the copy has not ended in time")
            self.clear()
            self.progress()

    def destroy(self) -> None:
        """End everything. Tasks in flight are waited for: their memory must not be reused before."""
        self.cancel(Shutdown("the copier is closed"))
        if self.ctx:
            result = function("doca_ctx_stop")(self.ctx)
            if result == _IN_PROGRESS:
                self.wait(lambda: not self.tasks, time.monotonic() + _PATIENCE)
                result = function("doca_ctx_stop")(self.ctx)
            if result:
                fail(result, "doca_ctx_stop")
            self.ctx = None
        if self.dma:
            call("doca_dma_destroy", self.dma)
        if self.inventory:
            call("doca_buf_inventory_destroy", self.inventory)
        if self.pe:
            call("doca_pe_destroy", self.pe)
        self.dma = self.inventory = self.pe = self.callback = None


def _range(device: Device, side: Side, access: Access) -> MapRange:
    """A side as part of a map. A buffer is mapped until the copy has ended."""
    if isinstance(side, MapRange):
        return side
    return (side if isinstance(side, Map) else Map(device, side, access))[:]


class Copier(Owner):
    """Copies between any two maps of a device, in the order in which they were requested.

    Source and destination are maps, parts of maps: map[a:b], or buffers. A buffer is registered for the
    copy alone; use a Map if it is copied more often. They must not overlap. Use one copier in each thread,
    and in one event loop.
    """

    def __init__(self, device: Device, depth: int = 16) -> None:
        if depth < 1:
            raise InvalidValue(f"the depth {depth} is not positive")
        with device._handle.pinned() as dev:
            engine = _Engine(dev, depth, device.info.max_copy)
            self._own(Handle(engine, _Engine.destroy, (device._handle,)))
        self.device = device
        self._lock = threading.RLock()
        self._loop: Optional[asyncio.AbstractEventLoop] = None
        self._awaited: Set[_Copy] = set()

    def copy(self, dst: Side, src: Side, timeout: Optional[float] = None) -> None:
        """Copy, and return when all bytes are there. A copy that times out goes on."""
        copy = self._copy(dst, src, None)
        if not copy.src.length:
            return
        with self._handle.pinned() as engine, self._lock:
            loop = self._own_loop()
            engine.add(copy)
            engine.wait(copy.ended, None if timeout is None else time.monotonic() + timeout)
            if loop:
                self._rest(loop, engine)
        if copy.error:
            raise copy.error

    async def acopy(self, dst: Side, src: Side) -> None:
        """Copy, and let the event loop run meanwhile. The maps stay in use if the caller is cancelled."""
        loop = asyncio.get_running_loop()
        future = loop.create_future()

        def done() -> None:
            self._awaited.discard(copy)
            if not future.done() and not loop.is_closed():
                future.set_result(None)

        copy = self._copy(dst, src, done)
        if not copy.src.length:
            return
        with self._handle.pinned() as engine:
            if not self._lock.acquire(blocking=False):
                raise BadState("another thread uses the copier: use another one in each thread")
            try:
                self._attach(loop, engine, copy)
            finally:
                self._lock.release()
        await future
        if copy.error:
            raise copy.error

    def _copy(self, dst: Side, src: Side, done: Optional[Callable[[], None]]) -> _Copy:
        copy = _Copy(
            _range(self.device, dst, Access.LOCAL_READ_WRITE), _range(self.device, src, Access.LOCAL_READ_ONLY), done
        )
        if len(copy.dst) != len(copy.src):
            raise InvalidValue(f"the destination has {len(copy.dst)} bytes, the source {len(copy.src)}")
        return copy

    def _busy_loop(self) -> Optional[asyncio.AbstractEventLoop]:
        """The event loop in which copies are awaited."""
        return self._loop if self._awaited and self._loop and not self._loop.is_closed() else None

    def _own_loop(self) -> Optional[asyncio.AbstractEventLoop]:
        """The event loop in which copies are awaited, which must not be that of another thread."""
        loop = self._busy_loop()
        if loop and loop.is_running() and loop is not _running_loop():
            raise BadState("an event loop uses the copier: use another one in each thread")
        return loop

    def _attach(self, loop: asyncio.AbstractEventLoop, engine: _Engine, copy: _Copy) -> None:
        if self._busy_loop() not in (None, loop):
            raise BadState("another event loop uses the copier: use another one in each loop")
        if self._loop is not loop:
            self._loop = loop
            self._awaited.clear()
        self._awaited.add(copy)
        try:
            engine.add(copy)
        except BaseException:
            self._awaited.discard(copy)
            raise
        self._rest(loop, engine)

    def close(self) -> None:
        """Destroy the copier. Copies in flight are completed, those that wait for their turn fail."""
        loop = self._own_loop()
        if loop and not self.closed:
            loop.remove_reader(self._handle.pointer.fd)
        super().close()

    def _rest(self, loop: asyncio.AbstractEventLoop, engine: _Engine) -> None:
        """Leave the engine to the event loop, which calls when the descriptor is readable."""
        if self._awaited:
            loop.add_reader(engine.fd, self._on_readable, loop, engine)
            engine.arm()
        else:
            loop.remove_reader(engine.fd)

    def _on_readable(self, loop: asyncio.AbstractEventLoop, engine: _Engine) -> None:
        try:
            with self._handle.pinned(), self._lock:
                engine.clear()
                engine.progress()
                self._rest(loop, engine)
        except Error as error:  # nothing would call again: no awaited copy can end any more
            for copy in list(self._awaited):
                copy.stop(error)
                copy.tell()

    def __repr__(self) -> str:
        return f"<Copier{', closed' if self.closed else ''}>"


def _running_loop() -> Optional[asyncio.AbstractEventLoop]:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
