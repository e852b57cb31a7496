# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Devices: the RDMA devices of this machine that the library supports."""

from typing import Any, List, Optional

from dpumap._ffi import ffi
from dpumap._handle import Handle, Owner
from dpumap._library import call, function, get, text
from dpumap.errors import Error, NotFound, NotSupported


class DeviceInfo:
    """A device of the list, which need not be open."""

    def __init__(self, pointer: Any, owner: Owner) -> None:
        self._pointer, self._owner = pointer, owner

    def _get(self, name: str, kind: str) -> int:
        with self._owner._handle.pinned():
            return int(get(name, kind, self._pointer))

    def _text(self, name: str, size: int, *more: int) -> str:
        out = ffi.new("char[]", size)
        with self._owner._handle.pinned():
            call(name, self._pointer, out, *more)
        return text(out)

    @property
    def pci_address(self) -> str:
        """The PCI address, for example "0000:03:00.0"."""
        return self._text("doca_devinfo_get_pci_addr_str", 13)

    @property
    def name(self) -> str:
        """The name of the RDMA device, for example "mlx5_0"."""
        return self._text("doca_devinfo_get_ibdev_name", 64, 64)

    @property
    def interface(self) -> Optional[str]:
        """The name of the network interface, or None."""
        try:
            return self._text("doca_devinfo_get_iface_name", 256, 256)
        except Error:
            return None

    @property
    def vhca_id(self) -> int:
        """The number of the function within its card."""
        return self._get("doca_devinfo_get_vhca_id", "uint16_t")

    @property
    def can_export(self) -> bool:
        """Whether the device can export memory to other functions of its card."""
        return bool(self._get("doca_mmap_cap_is_export_pci_supported", "uint8_t"))

    @property
    def can_import(self) -> bool:
        """Whether the device can import memory of other functions of its card."""
        return bool(self._get("doca_mmap_cap_is_create_from_export_pci_supported", "uint8_t"))

    @property
    def max_device_memory(self) -> int:
        """The longest device memory that can be allocated, in bytes; 0 if there is none."""
        return self._get("dpumap_dm_cap_get_max_len", "uint64_t")

    @property
    def max_copy(self) -> int:
        """The longest copy of one task in bytes. Copier splits longer copies."""
        return self._get("doca_dma_cap_task_memcpy_get_max_buf_size", "uint64_t")

    def open(self, own: bool = False) -> "Device":
        """Open the device; with own, on a context and a protection domain of its own."""
        with self._owner._handle.pinned():
            name = "dpumap_dev_open_own" if own else "doca_dev_open"
            return Device(get(name, "struct doca_dev *", self._pointer))

    def __repr__(self) -> str:
        return f"<DeviceInfo {self.name}>"


class Device(Owner):
    """An open device. It is closed after all objects that use it."""

    def __init__(self, pointer: Any, keeps: Any = None, close: Any = None) -> None:
        def destroy(device: Any) -> None:
            call("doca_dev_close", device)
            if close:
                close()

        self._own(Handle(pointer, destroy, keeps=keeps))

    @property
    def info(self) -> DeviceInfo:
        """The description of the device."""
        with self._handle.pinned() as device:
            return DeviceInfo(function("doca_dev_as_devinfo")(device), self)

    @property
    def card_guid(self) -> int:
        """The number of the card: all functions of a card have the same one."""
        with self._handle.pinned() as device:
            return int(get("dpumap_dev_get_card_guid", "uint64_t", device))

    def export_fd(self) -> int:
        """Return the device's context as a new file descriptor, to pass it to another process."""
        with self._handle.pinned() as device:
            return int(get("dpumap_dev_export_fd", "int", device))

    @classmethod
    def from_fd(cls, fd: int) -> "Device":
        """Open a device on an existing context. The caller may then close the file descriptor."""
        return cls(get("dpumap_dev_open_from_fd", "struct doca_dev *", fd))

    def __repr__(self) -> str:
        return "<Device, closed>" if self.closed else f"<Device {self.info.name}>"


def devices() -> List[DeviceInfo]:
    """List the devices of this machine; an empty list if its kernel has no RDMA driver."""
    entries = ffi.new("struct doca_devinfo ***")
    number = ffi.new("uint32_t *")
    try:
        call("doca_devinfo_create_list", entries, number)
    except NotFound:
        return []

    def destroy(pointer: Any) -> None:
        call("doca_devinfo_destroy_list", pointer)

    owner = _List(Handle(entries[0], destroy))
    return [DeviceInfo(entries[0][i], owner) for i in range(number[0])]


class _List(Owner):
    """The list that entries are part of; it lives as long as one of them."""

    def __init__(self, handle: Handle) -> None:
        self._own(handle)


def open_device(name: Optional[str] = None, own: bool = False) -> Device:
    """Open a device by its name or PCI address; without a name, the first one."""
    for info in devices():
        if name in (None, info.name, _pci_address(info)) or (name and "0000:" + name == _pci_address(info)):
            return info.open(own)
    raise NotFound(f"there is no device {name}" if name else "there is no device that the library supports")


def _pci_address(info: DeviceInfo) -> Optional[str]:
    try:
        return info.pci_address
    except NotSupported:
        return None
