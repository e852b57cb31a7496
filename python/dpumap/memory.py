# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Memory that devices can access: maps of buffers, of device memory and of what others exported."""

import enum
from typing import Any, Optional, Sequence, Tuple, Union

from dpumap._ffi import ffi
from dpumap._handle import Handle, Owner, Pins
from dpumap._library import call, get
from dpumap.descriptor import Descriptor
from dpumap.device import Device
from dpumap.errors import InvalidValue


class Access(enum.IntFlag):
    """Permissions of a map. Local devices may always read."""

    LOCAL_READ_ONLY = 0
    LOCAL_READ_WRITE = 1
    RDMA_READ = 2
    RDMA_WRITE = 4
    RDMA_ATOMIC = 8
    PCI_READ_ONLY = 16
    PCI_READ_WRITE = 32
    PCI_RELAXED_ORDERING = 64


_WRITES = (
    Access.LOCAL_READ_WRITE
    | Access.RDMA_WRITE
    | Access.RDMA_ATOMIC
    | Access.PCI_READ_WRITE
    | Access.PCI_RELAXED_ORDERING
)

# The words of "perm" in the exports of dpumapd.
_WORDS = {"r": Access.PCI_READ_ONLY, "rw": Access.LOCAL_READ_WRITE | Access.PCI_READ_WRITE}


def _access(access: Union[Access, int, str]) -> Access:
    if isinstance(access, int):
        return Access(access)
    if access in _WORDS:
        return _WORDS[access]
    raise TypeError(f'the access {access!r} is not valid: use "r", "rw" or flags of dpumap.Access')


def _pointer(buffer: Any, is_written: bool, advice: str) -> Any:
    """The memory of a buffer."""
    kind = type(buffer).__name__
    if getattr(getattr(buffer, "dtype", None), "hasobject", False):
        raise TypeError(f"this {kind} cannot be mapped: it holds references to objects of Python")
    try:
        return ffi.from_buffer(buffer, require_writable=is_written)
    except TypeError:
        why = "it is not a buffer: use a bytearray, an mmap, an array of numpy or Map.of_device_memory()"
    except (BufferError, ValueError) as error:
        why = f"{error}: {advice}"
        if "contiguous" in str(error):
            why = "it is not contiguous: copy it first, for example by numpy.ascontiguousarray()"
    raise TypeError(f"this {kind} cannot be mapped: {why}")


class MapRange:
    """A part of a map, as map[a:b] returns it: the source or the destination of a copy."""

    def __init__(self, map: "Map", offset: int, length: int) -> None:
        if offset < 0 or length < 0 or offset + length > len(map):
            raise InvalidValue(f"{length} bytes at {offset} are not within the map of {len(map)} bytes")
        self.map, self.offset, self.length = map, offset, length

    def __len__(self) -> int:
        return self.length

    def __repr__(self) -> str:
        return f"<MapRange {self.offset}:{self.offset + self.length} of {self.map!r}>"


def _destroy(pointer: Any) -> None:
    call("doca_mmap_destroy", pointer)


class Map(Owner):
    """Memory that is registered on one or more devices.

    The buffer is any object with the buffer protocol: bytearray, mmap, array, a numpy array. It stays
    locked, which means that it cannot be resized or closed, until the map is closed. A buffer that
    cannot be written needs an access without write permissions.

    The access is a mask of Access, or a word: "r" is PCI_READ_ONLY, "rw" is LOCAL_READ_WRITE and
    PCI_READ_WRITE.
    """

    def __init__(
        self,
        device: Union[Device, Sequence[Device]],
        buffer: Any,
        access: Union[Access, str] = Access.LOCAL_READ_WRITE,
    ) -> None:
        access = _access(access)
        memory = _pointer(
            buffer, bool(access & _WRITES), "use a buffer that can be written, or access=Access.LOCAL_READ_ONLY"
        )
        if not len(memory):
            raise InvalidValue("the buffer is empty")
        all_devices = (device,) if isinstance(device, Device) else tuple(device)
        if not all_devices:
            raise InvalidValue("a map needs a device")

        def configure(pointer: Any) -> None:
            call("doca_mmap_set_memrange", pointer, ffi.cast("void *", memory), len(memory))

        self._create(all_devices, access, configure, (), memory)

    @classmethod
    def of_device_memory(
        cls,
        memory: "DeviceMemory",
        access: Union[Access, str] = Access.LOCAL_READ_WRITE,
        offset: int = 0,
        length: int = 0,
    ) -> "Map":
        """Map device memory, by default all of it from offset on."""
        made = cls.__new__(cls)

        def configure(pointer: Any) -> None:
            size = length or len(memory) - offset
            call("dpumap_mmap_set_dm_memrange", pointer, memory._handle.pointer, _size(offset), _size(size))

        made._create((memory.device,), _access(access), configure, (memory._handle,), None)
        return made

    @classmethod
    def of_dmabuf(
        cls,
        device: Union[Device, Sequence[Device]],
        fd: int,
        length: int,
        offset: int = 0,
        access: Union[Access, str] = Access.LOCAL_READ_WRITE,
    ) -> "Map":
        """Map a part of a dma-buf. Its descriptor may be closed afterwards."""
        made = cls.__new__(cls)
        devices = (device,) if isinstance(device, Device) else tuple(device)

        def configure(pointer: Any) -> None:
            call("doca_mmap_set_dmabuf_memrange", pointer, fd, ffi.NULL, _size(offset), _size(length))

        made._create(devices, _access(access), configure, (), None)
        return made

    @classmethod
    def from_export(cls, device: Device, descriptor: Union[Descriptor, bytes]) -> "Map":
        """Import memory that another function of the card, or another machine, exported."""
        data = bytes(descriptor)
        made = cls.__new__(cls)
        with device._handle.pinned() as dev:
            pointer = get("doca_mmap_create_from_export", "struct doca_mmap *", ffi.NULL, data, len(data), dev)
            made._adopt(pointer, (device,), (), None)
        made._measure()
        return made

    def _create(
        self, devices: Tuple[Device, ...], access: Access, configure: Any, uses: Tuple[Handle, ...], keeps: Any
    ) -> None:
        with Pins(*(device._handle for device in devices), *uses):
            self._adopt(get("doca_mmap_create", "struct doca_mmap *"), devices, uses, keeps)
            pointer = self._handle.pointer
            try:
                call("doca_mmap_set_permissions", pointer, int(access))
                configure(pointer)
                for device in devices:
                    call("doca_mmap_add_dev", pointer, device._handle.pointer)
                call("doca_mmap_start", pointer)
                self._measure()
            except BaseException:
                self.close()
                raise

    def _adopt(self, pointer: Any, devices: Tuple[Device, ...], uses: Tuple[Handle, ...], keeps: Any) -> None:
        self._own(Handle(pointer, _destroy, (*(device._handle for device in devices), *uses), keeps))
        self.devices = devices
        call("doca_mmap_enable_thread_safety", pointer)

    def _measure(self) -> None:
        addr, length = ffi.new("void **"), ffi.new("size_t *")
        call("doca_mmap_get_memrange", self._handle.pointer, addr, length)
        self.address = int(ffi.cast("uintptr_t", addr[0]))
        self._length = int(length[0])

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, key: slice) -> MapRange:
        if not isinstance(key, slice) or key.step not in (None, 1):
            raise TypeError("use map[a:b]")
        start, stop, _ = key.indices(self._length)
        return MapRange(self, start, max(stop - start, 0))

    def _device(self, device: Optional[Device]) -> Device:
        return device or self.devices[0]

    def export(self, device: Optional[Device] = None) -> Descriptor:
        """Export the map to the other functions of the card. The descriptor is a secret."""
        return self._export("doca_mmap_export_pci", device)

    def export_rdma(self, device: Optional[Device] = None) -> Descriptor:
        """Export the map to peers that are connected by RDMA. The descriptor is a secret."""
        return self._export("doca_mmap_export_rdma", device)

    def _export(self, name: str, device: Optional[Device]) -> Descriptor:
        desc, length = ffi.new("const void **"), ffi.new("size_t *")
        chosen = self._device(device)
        with self._handle.pinned() as pointer, chosen._handle.pinned() as dev:
            call(name, pointer, dev, desc, length)
            return Descriptor(bytes(ffi.buffer(desc[0], length[0])))

    def revoke(self, device: Optional[Device] = None) -> None:
        """Revoke the export: its descriptor and all maps that were imported from it become invalid."""
        chosen = self._device(device)
        with self._handle.pinned() as pointer, chosen._handle.pinned() as dev:
            call("dpumap_mmap_revoke_pci", pointer, dev)

    def key(self, device: Optional[Device] = None) -> int:
        """Return the memory key for work requests of a program that uses verbs."""
        chosen = self._device(device)
        with self._handle.pinned() as pointer, chosen._handle.pinned() as dev:
            return int(get("doca_mmap_get_mkey", "uint32_t", pointer, dev))

    def __repr__(self) -> str:
        return f"<Map of {self._length} bytes{', closed' if self.closed else ''}>"


def _size(number: int) -> int:
    """A number that C's size_t can hold; the library checks the rest."""
    if not 0 <= number < 1 << 63:
        raise InvalidValue(f"{number} is not a valid offset or length")
    return number


class DeviceMemory(Owner):
    """Memory on the card. The processor cannot address it: read() and write() access it."""

    def __init__(self, device: Device, length: int, alignment: int = 64) -> None:
        if alignment < 1 or alignment & (alignment - 1):
            raise InvalidValue(f"the alignment {alignment} is not a power of two")
        with device._handle.pinned() as dev:
            self._adopt(
                get("dpumap_dm_alloc", "struct dpumap_dm *", dev, _size(length), alignment.bit_length() - 1), device
            )

    @classmethod
    def from_handle(cls, device: Device, handle: int) -> "DeviceMemory":
        """Use device memory that another process with the same context allocated; see Device.from_fd()."""
        made = cls.__new__(cls)
        with device._handle.pinned() as dev:
            made._adopt(get("dpumap_dm_import", "struct dpumap_dm *", dev, handle), device)
        return made

    def _adopt(self, pointer: Any, device: Device) -> None:
        def destroy(pointer: Any) -> None:
            call("dpumap_dm_free", pointer)

        self._own(Handle(pointer, destroy, (device._handle,)))
        self.device = device
        self._length = int(get("dpumap_dm_get_len", "size_t", pointer))

    @property
    def handle(self) -> int:
        """The number by which a process with the same context imports the memory."""
        with self._handle.pinned() as pointer:
            return int(get("dpumap_dm_get_handle", "uint32_t", pointer))

    def export_dmabuf(self) -> int:
        """Return a new descriptor of the memory as a dma-buf, which the caller closes; needs rdma-core 62 or newer.

        Whoever has it maps the memory until the memory is closed here, which revokes all of its dma-bufs.
        """
        with self._handle.pinned() as pointer:
            return int(get("dpumap_dm_export_dmabuf", "int", pointer))

    def __len__(self) -> int:
        return self._length

    def read(self, offset: int = 0, length: Optional[int] = None) -> bytes:
        """Return bytes of the memory. Offset and length are multiples of 4."""
        size = self._length - offset if length is None else length
        if _size(size) > self._length:
            raise InvalidValue(f"{size} bytes exceed the memory")
        out = ffi.new("char[]", size or 1)
        with self._handle.pinned() as pointer:
            call("dpumap_dm_read", pointer, _size(offset), out, size)
        return bytes(ffi.buffer(out, size))

    def write(self, data: Any, offset: int = 0) -> None:
        """Write any buffer to the memory. Offset and length are multiples of 4."""
        source = ffi.from_buffer(data)
        with self._handle.pinned() as pointer:
            call("dpumap_dm_write", pointer, _size(offset), source, len(source))

    def __repr__(self) -> str:
        return f"<DeviceMemory of {self._length} bytes{', closed' if self.closed else ''}>"
