# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Exceptions: one class for each result code of DOCA."""

import re
from typing import ClassVar, Dict, Optional, Type

# "[10:11:12:123456][4711][DOCA][ERR][mmap.c:12][start] text"
_LOGGED = re.compile(r"^(?:\[[^\]]*\])+ ?")

# What the library advises, in calls of C; and what a program in Python does.
_ADVICE = {
    r"no PCI permission: call doca_mmap_set_permissions\(\)": (
        "no PCI permission: use access=Access.PCI_READ_ONLY or access=Access.PCI_READ_WRITE in Map()"
    ),
    r"no RDMA permission: call doca_mmap_set_permissions\(\)": (
        "no RDMA permission: use access=Access.RDMA_READ or other flags of RDMA in Map()"
    ),
    r"call doca_mmap_add_dev\(\)(?: first)?": "give the device to Map()",
    r"doca_mmap_create_from_export\(\)": "Map.from_export()",
    r"dpumap_dev_open_from_fd\(\)": "Device.from_fd()",
    r"call doca_mmap_stop\(\) again": "call close() again",
    r"call dpumap_channel_connect\(\)": "create a new Channel",
}


def _in_python(text: str) -> str:
    for advice, own in _ADVICE.items():
        text = re.sub(advice, own, text)
    return text


class Error(Exception):
    """A call of the library failed.

    name is the DOCA name of the result, code its number, and line the line that the library logged
    about it, or None. call is the function that failed.
    """

    code: ClassVar[int] = 1
    name: ClassVar[str] = "DOCA_ERROR_UNKNOWN"

    def __init__(self, message: str = "", line: Optional[str] = None, call: str = "") -> None:
        super().__init__(message, line, call)
        text = message or (_in_python(_LOGGED.sub("", line)) if line else "")
        self.message = text[: -len(self.name) - 2] if text.endswith(": " + self.name) else text
        self.line = line
        self.call = call

    def __str__(self) -> str:
        where = f"{self.call}: " if self.call else ""
        return f"{where}{self.name}" + (f": {self.message}" if self.message else "")


class NotPermitted(Error):
    """The object or the peer does not allow it."""


class InUse(Error):
    """The object is still in use, for example by a map or by a copy in flight."""


class NotSupported(Error):
    """The device or the library lacks the feature."""


class Again(Error):
    """Try again later."""


class InvalidValue(Error):
    """An argument or a setting is invalid."""


class NoMemory(Error):
    """Memory, device memory or another resource is exhausted."""


class Initialization(Error):
    """A resource could not be set up."""


class TimeOut(Error):
    """A timer expired."""


class Shutdown(Error):
    """The object is shutting down, or an earlier copy failed."""


class ConnectionReset(Error):
    """The peer reset the connection."""


class ConnectionAborted(Error):
    """The connection was aborted."""


class ConnectionInProgress(Error):
    """The connection is being established."""


class NotConnected(Error):
    """There is no connection."""


class NoLock(Error):
    """A lock could not be taken."""


class NotFound(Error):
    """The resource does not exist."""


class IoFailed(Error):
    """Input or output failed."""


class BadState(Error):
    """The object is in the wrong state, for example closed."""


class UnsupportedVersion(Error):
    """The version is not supported."""


class OperatingSystem(Error):
    """A call to the operating system failed."""


class Driver(Error):
    """The device or its driver failed."""


class Unexpected(Error):
    """An internal error occurred."""


class AlreadyExist(Error):
    """The object already exists."""


class Full(Error):
    """The resource is full."""


class Empty(Error):
    """The resource is empty."""


class InProgress(Error):
    """The operation has started."""


class TooBig(Error):
    """The data does not fit."""


class Authentication(Error):
    """Authentication failed."""


class BadConfig(Error):
    """The configuration is not valid."""


class Skipped(Error):
    """Valid, but earlier output was dropped."""


_BY_CODE: Dict[int, Type[Error]] = {}
for _number, _class in enumerate(Error.__subclasses__(), 2):
    _class.code = _number
    _class.name = "DOCA_ERROR_" + re.sub(r"(?<=[a-z])(?=[A-Z])", "_", _class.__name__).upper()
    _BY_CODE[_number] = _class
ConnectionInProgress.name = "DOCA_ERROR_CONNECTION_INPROGRESS"


def error_class(code: int) -> Type[Error]:
    """Return the class of a result code."""
    return _BY_CODE.get(code, Error)
