# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Lifetimes. An object of the library is destroyed after all objects that use it, in whatever order a
program closes or forgets them."""

import collections
import contextlib
import os
import threading
import warnings
import weakref
from typing import Any, Callable, Deque, Iterator, List, Set, Tuple, TypeVar

from dpumap.errors import BadState, Error, InUse

_lock = threading.RLock()
_callbacks = threading.local()
_later: Deque["Handle"] = collections.deque()
# What could not be destroyed, with its memory: the device may still write to it.
_leaked: List["Handle"] = []


@contextlib.contextmanager
def in_library() -> Iterator[None]:
    """Around a call that calls back: what is forgotten meanwhile is destroyed afterwards."""
    _callbacks.depth = getattr(_callbacks, "depth", 0) + 1
    try:
        yield
    finally:
        _callbacks.depth -= 1
        while not _callbacks.depth and _later:
            _later.popleft().drop()


class Handle:
    """A pointer of the library, what destroys it, the handles that it uses and the memory it needs."""

    def __init__(
        self, pointer: Any, destroy: Callable[[Any], None], uses: Tuple["Handle", ...] = (), keeps: Any = None
    ) -> None:
        self.pointer, self.destroy, self.uses, self.keeps = pointer, destroy, uses, keeps
        self.users: Set[int] = set()
        self.closed = self.dropped = False
        self.process = os.getpid()
        for used in uses:
            used.users.add(id(self))  # the caller has pinned it

    @contextlib.contextmanager
    def pinned(self) -> Iterator[Any]:
        """The pointer, which cannot be destroyed meanwhile."""
        token = object()
        self.pin(id(token))
        try:
            yield self.pointer
        finally:
            self.unpin(id(token))

    def pin(self, token: int) -> None:
        """Keep the object until unpin() is called with the same token."""
        with _lock:
            if self.closed:
                raise BadState("the object is closed")
            if self.process != os.getpid():
                raise BadState("the object belongs to the process that created it, not to its child")
            self.users.add(token)

    def unpin(self, token: int) -> None:
        """End pin(), and destroy what the program has forgotten meanwhile."""
        self.users.discard(token)
        if self.dropped and not self.users:
            self.drop()

    def close(self) -> None:
        """Destroy the object, if nothing uses it."""
        with _lock:
            if self.closed:
                return
            if self.users:
                n = len(self.users)
                users = "1 object or call still uses" if n == 1 else f"{n} objects or calls still use"
                raise InUse(f"{users} it: close {'that' if n == 1 else 'them'} first")
            self.closed = True
        try:
            self.end()
        except Error:
            self.closed = False
            raise

    def drop(self) -> None:
        """Destroy the object as soon as nothing uses it: the program has forgotten it."""
        if getattr(_callbacks, "depth", 0):
            _later.append(self)
            return
        with _lock:
            if self.closed:
                return
            self.dropped = True
            if self.users:
                return
            self.closed = True
        try:
            self.end()
        except Error as error:
            _leaked.append(self)
            warnings.warn(f"an object could not be destroyed: {error}", ResourceWarning)

    def end(self) -> None:
        """Call the destructor. A child of the process must not destroy what belongs to its parent."""
        if self.process == os.getpid():
            self.destroy(self.pointer)
        self.keeps = None
        for used in self.uses:
            used.unpin(id(self))
        self.uses = ()


class Pins:
    """Pin several handles."""

    def __init__(self, *handles: Handle) -> None:
        self.handles, self.held = handles, 0

    def __enter__(self) -> None:
        try:
            for handle in self.handles:
                handle.pin(id(self))
                self.held += 1
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *exception: Any) -> None:
        for handle in self.handles[: self.held]:
            handle.unpin(id(self))


_T = TypeVar("_T", bound="Owner")


class Owner:
    """An object of the package, which owns a handle."""

    _handle: Handle

    def _own(self, handle: Handle) -> None:
        self._handle = handle
        weakref.finalize(self, handle.drop)

    def close(self) -> None:
        """Destroy the object.

        Closing it again does nothing. InUse is raised while another object or a copy uses it. An object
        that the program forgets is destroyed as soon as nothing uses it.
        """
        self._handle.close()

    @property
    def closed(self) -> bool:
        """Whether the object was closed."""
        return self._handle.closed

    def __enter__(self: "_T") -> "_T":
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()
