# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Memory shared between a BlueField DPU and its host: Python interface of libdpumap.

The tutorial is docs/python.md of dpumap. dpumap.channel connects to dpumapd, dpumap.verbs shares devices
with pyverbs, and dpumap.emulator runs both sides on the emulated card, also as a plugin of pytest.
"""

from dpumap import errors
from dpumap._library import function as _function
from dpumap._library import text as _text
from dpumap.channel import Channel, Event, EventKind, Export
from dpumap.copier import Copier
from dpumap.descriptor import Descriptor, DescriptorError
from dpumap.device import Device, DeviceInfo, devices, open_device
from dpumap.errors import Error
from dpumap.memory import Access, DeviceMemory, Map, MapRange

__all__ = [
    "Access",
    "Channel",
    "Copier",
    "Descriptor",
    "DescriptorError",
    "Device",
    "DeviceInfo",
    "DeviceMemory",
    "Error",
    "Event",
    "EventKind",
    "Export",
    "Map",
    "MapRange",
    "devices",
    "errors",
    "library_version",
    "open_device",
]


def library_version() -> str:
    """Return the version of libdpumap, for example "0.1.0"."""
    return _text(_function("dpumap_version")())
