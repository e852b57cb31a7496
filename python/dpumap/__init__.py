# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Memory shared between a BlueField DPU and its host: Python interface of libdpumap.

It has devices, maps of any buffer, device memory, exports and imports, and copies.
"""

from dpumap import errors
from dpumap._library import function as _function
from dpumap._library import text as _text
from dpumap.copier import Copier
from dpumap.descriptor import Descriptor, DescriptorError
from dpumap.device import Device, DeviceInfo, devices, open_device
from dpumap.errors import Error
from dpumap.memory import Access, DeviceMemory, Map, MapRange

__all__ = [
    "Access",
    "Copier",
    "Descriptor",
    "DescriptorError",
    "Device",
    "DeviceInfo",
    "DeviceMemory",
    "Error",
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
