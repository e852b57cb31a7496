# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Export descriptors. docs/wire-format.md of dpumap specifies the bytes. Reading one needs no library."""

import struct
from typing import List, Tuple

PCI, RDMA, UMEM = 1, 2, 3
_KINDS = {PCI: ("PCI", 80), RDMA: ("RDMA", 68), UMEM: ("umem", 100)}
_SOURCES = {1: "memory", 2: "device memory", 3: "dma-buf"}
_LAST = (1 << 64) - 1


class DescriptorError(ValueError):
    """The bytes are not a valid descriptor. status is the name that the specification gives the error."""

    def __init__(self, status: str) -> None:
        super().__init__(status)
        self.status = status


def _table() -> List[int]:
    table = []
    for number in range(256):
        for _ in range(8):
            number = number >> 1 ^ (0x82F63B78 if number & 1 else 0)
        table.append(number)
    return table


_CRC = _table()


def _checksum(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _CRC[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def _refuse_if(condition: bool, status: str) -> None:
    if condition:
        raise DescriptorError(status)


class Descriptor:
    """An export, as one process sends it to another. bytes(descriptor) are the bytes to send.

    The bytes grant access to the memory, so repr() does not show them. The constructor accepts any
    bytes; the properties raise DescriptorError if they are not a valid descriptor.
    """

    def __init__(self, data: bytes) -> None:
        self._data = bytes(data)
        self._checked = False

    def __bytes__(self) -> bytes:
        return self._data

    def __len__(self) -> int:
        return len(self._data)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Descriptor) and other._data == self._data

    def __hash__(self) -> int:
        return hash(self._data)

    def __reduce__(self) -> Tuple[type, Tuple[bytes]]:
        return Descriptor, (self._data,)

    def __repr__(self) -> str:
        try:
            return f"<Descriptor: {self.kind} export of {self.length} bytes>"
        except DescriptorError as error:
            return f"<Descriptor: not valid, {error.status}>"

    def check(self) -> None:
        """Raise DescriptorError unless the bytes are a valid descriptor of version 1."""
        if not self._checked:
            _check_header(self._data)
            _check_fields(self._data)
            _check_extensions(self._data)
            self._checked = True

    def _number(self, form: str, offset: int) -> int:
        self.check()
        return int(struct.unpack_from(form, self._data, offset)[0])

    @property
    def kind(self) -> str:
        """Who can import it: "PCI", "RDMA" or "umem"."""
        return _KINDS[self._number("<H", 10)][0]

    @property
    def source(self) -> str:
        """What is exported: "memory", "device memory" or "dma-buf"."""
        return _SOURCES[self._number("<H", 14)]

    @property
    def vhca_id(self) -> int:
        """The exporting function within its card."""
        return self._number("<H", 16)

    @property
    def access(self) -> int:
        """The permissions, with the values of Access."""
        return self._number("<H", 18)

    @property
    def mkey(self) -> int:
        """The memory key of the exporting function."""
        return self._number("<I", 20)

    @property
    def card_guid(self) -> int:
        """The number of the card, as Device.card_guid."""
        return self._number("<Q", 24)

    @property
    def address(self) -> int:
        """The address of the first byte in the exporter."""
        return self._number("<Q", 32)

    @property
    def length(self) -> int:
        """The number of bytes."""
        return self._number("<Q", 40)


def _check_header(data: bytes) -> None:
    _refuse_if(len(data) < 14, "TOO_SHORT")
    _refuse_if(len(data) > 512, "TOO_LONG")
    magic, checksum, major, _, kind, total = struct.unpack_from("<4sIBBHH", data)
    _refuse_if(magic != b"DPUM", "MAGIC")
    _refuse_if(major != 1, "VERSION")
    _refuse_if(len(data) < total, "TRUNCATED")
    _refuse_if(len(data) > total, "TRAILING")
    _refuse_if(checksum != _checksum(data[8:]), "CHECKSUM")
    _refuse_if(kind not in _KINDS, "KIND")
    _refuse_if(total < _KINDS[kind][1], "BODY")


def _check_fields(data: bytes) -> None:
    kind, _, source, vhca_id, access, mkey, guid, addr, length = struct.unpack_from("<HHHHHIQQQ", data, 10)
    _refuse_if(source not in _SOURCES or (kind == UMEM and source == 2), "SOURCE")
    _refuse_if(vhca_id == 0xFFFF, "VHCA_ID")
    _refuse_if(bool(access & ~0x7F), "ACCESS_BITS")
    _refuse_if(access & 0x30 == 0x30, "ACCESS_BOTH")
    _refuse_if(kind == PCI and not access & 0x30 or kind == RDMA and not access & 0x0E, "ACCESS_NONE")
    _refuse_if(guid == 0, "DEVICE_GUID")
    _refuse_if(kind != UMEM and mkey == 0, "MKEY")
    _refuse_if(length == 0, "LEN")
    _refuse_if(addr + length > _LAST, "RANGE")
    {PCI: _check_pci, RDMA: _check_rdma, UMEM: _check_umem}[kind](data, length)


def _check_pci(data: bytes, _length: int) -> None:
    _refuse_if(not any(data[48:80]), "ACCESS_KEY")


def _check_rdma(data: bytes, _length: int) -> None:
    link_layer, lid = struct.unpack_from("<HH", data, 48)
    _refuse_if(link_layer > 2, "LINK_LAYER")
    _refuse_if(lid > (0xBFFF if link_layer == 1 else 0), "LID")
    _refuse_if(any(data[52:68]) != bool(link_layer), "GID")


def _check_umem(data: bytes, length: int) -> None:
    start, _, pdn, form, size = struct.unpack_from("<QIIHH", data, 48)
    _refuse_if(start + length > _LAST, "START")
    _refuse_if(pdn > 0xFFFFFF, "PDN")
    _refuse_if(form not in (1, 2), "UMEM_FORM")
    _refuse_if(size != 4 if form == 1 else not 1 <= size <= 32, "TOKEN_LEN")
    _refuse_if(any(data[68 + size : 100]), "TOKEN")


def _check_extensions(data: bytes) -> None:
    at = _KINDS[struct.unpack_from("<H", data, 10)[0]][1]
    last = 0
    while at < len(data):
        _refuse_if(at + 4 > len(data), "TLV")
        kind, size = struct.unpack_from("<HH", data, at)
        number = kind & 0x7FFF
        _refuse_if(at + 4 + size > len(data), "TLV")
        _refuse_if(number == 0, "TLV_NUMBER")
        _refuse_if(number == last, "TLV_REPEATED")
        _refuse_if(number < last, "TLV_ORDER")
        _refuse_if(bool(kind & 0x8000), "TLV_CRITICAL")
        last = number
        at += 4 + size
