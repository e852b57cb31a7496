#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The descriptor vectors: a writer of docs/wire-format.md that shares no code with src/desc, so that
the two check each other.

    gen-desc.py V1                      write desc.txt, the vectors that V1 lacks, to standard output
    gen-desc.py --check V1 DESC DOC     check both files of vectors, and the examples in DOC

Another independent program, read-desc.py, reads what this one writes.
"""

import contextlib
import io
import pathlib
import re
import struct
import sys

MAGIC = b"DPUM"
KEY = bytes(range(0x40, 0x60))
GID = bytes.fromhex("00000000000000000000ffff0a000001")
ZERO_GID = bytes(16)
COMMON = ("kind", "source", "vhca_id", "access", "mkey", "device_guid", "addr", "len")
OWN = {2: ("link_layer", "lid", "gid"),
       3: ("start", "pd_handle", "pdn", "form", "token_len", "token")}
PCI = dict(kind=1, source=1, vhca_id=0x0011, access=0x21, mkey=0x00181D00,
           device_guid=0x0C42A10300AABBCC, addr=0x00007F3A5C000000, len=0x10000, access_key=KEY)
REST = {name: PCI[name] for name in COMMON}
RDMA = {**REST, "kind": 2, "access": 0x27, "link_layer": 2, "lid": 0, "gid": GID}
UMEM = {**REST, "kind": 3, "access": 0x23, "mkey": 0x2A, "start": 0x00007F3A5C000000,
        "pd_handle": 5, "pdn": 0x000107, "form": 1, "token_len": 4, "token": b"\x09" + bytes(31)}
BASES = {"": PCI, "RDMA: ": RDMA, "umem: ": UMEM}
SIZES = {1: 80, 2: 68, 3: 100}
HEADER = 14
MAX = 512
U64 = (1 << 64) - 1
DISTINCT = dict(vhca_id=0x0201, access=0x2B, mkey=0x24232221, device_guid=0x1817161514131211,
                addr=0x3837363534333231, len=0x0807060504030201)

# No version ever gives these numbers a meaning.
FREE = 0x7F00
UNTAKEN = (FREE, 0x7F01, 0x7FFF)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def tlv(number, value=b"", critical=False):
    return struct.pack("<HH", number | (0x8000 if critical else 0), len(value)) + value


def body(f):
    common = struct.pack("<HHHIQQQ", *(f[name] for name in COMMON[1:]))
    if f["kind"] == 3:
        return common + struct.pack("<QIIHH", *(f[name] for name in OWN[3][:-1])) + f["token"]
    if f["kind"] == 2:
        return common + struct.pack("<HH", f["link_layer"], f["lid"]) + f["gid"]
    return common + f["access_key"]


def frame(payload, kind=1, magic=MAGIC, major=1, minor=0, total=None, crc=None):
    total = HEADER + len(payload) if total is None else total
    rest = struct.pack("<BBHH", major, minor, kind, total) + payload
    if crc is None:
        crc = crc32c(rest)
    return magic + struct.pack("<I", crc) + rest


def whole(f):
    return frame(body(f), kind=f["kind"])


def emit(title, data=None, status="OK", byte=None, show=None, more=(), canonical=False):
    print(f"\ntitle: {title}")
    if data is not None:
        print("hex:" if not data else "\n".join(
            "hex: " + data[i:i + 32].hex(" ") for i in range(0, len(data), 32)))
    print(f"status: {status}")
    if byte is not None:
        print(f"byte: {hex(byte)}")
    for field in COMMON + OWN.get(show["kind"], ("access_key",)) if show else ():
        value = show[field]
        print(f"{field}: " + (value.hex(" ") if isinstance(value, bytes) else hex(value)))
    for name, value in more:
        print(f"{name}: {hex(value)}")
    if canonical:
        print("canonical: yes")


def good(title, base, **changes):
    f = {**base, **changes}
    emit(title, whole(f), byte=SIZES[f["kind"]], show=f, canonical=True)


def readable(title, data, show):
    emit(title, data, byte=len(data), show=show)


def refused(title, status, byte, data):
    emit(title, data, status, byte)


def refused_both(title, status, byte, base, **changes):
    """Values that neither direction lets through."""
    f = {**base, **changes}
    refused(f"decode: {title}", status, byte, whole(f))
    emit(f"encode: {title}", None, status, show=f)


def accepted_pci():
    good("DRAM, local and PCI read-write", PCI)
    good("device memory, PCI read-only", PCI, source=2, access=0x10, addr=0x7F0000004000,
         len=0x1000)
    good("dma-buf, PCI read-write", PCI, source=3, access=0x20, addr=0, len=0x200000)
    good("every access bit that may be set with read-write", PCI, access=0x6F)
    good("every access bit that may be set with read-only", PCI, access=0x5F)
    good("read-only alone", PCI, access=0x10)
    good("read-write alone", PCI, access=0x20)
    good("smallest numbers", PCI, vhca_id=0, access=0x10, mkey=1, device_guid=1, addr=0, len=1,
         access_key=bytes(31) + b"\x01")
    good("largest numbers, range from 0", PCI, source=3, vhca_id=0xFFFE, access=0x20,
         mkey=0xFFFFFFFF, device_guid=U64, addr=0, len=U64, access_key=b"\xff" * 32)
    good("access key with its first byte alone", PCI, access_key=b"\x01" + bytes(31))
    for byte in (7, 8, 15, 16, 24):
        good(f"access key with byte {byte} alone", PCI,
             access_key=bytes(byte) + b"\x80" + bytes(31 - byte))
    good("distinct bytes show every offset", PCI, source=2, **DISTINCT,
         access_key=bytes(range(0xA0, 0xC0)))


def accepted_rdma():
    good("RDMA: DRAM, read and write", RDMA)
    good("RDMA: device memory, read only", RDMA, source=2, access=0x02, addr=0x7F0000004000,
         len=0x1000)
    good("RDMA: dma-buf", RDMA, source=3)
    good("RDMA: write alone", RDMA, access=0x04)
    good("RDMA: atomics alone", RDMA, access=0x08)
    good("RDMA: every access bit that may be set with PCI read-only", RDMA, access=0x5F)
    good("RDMA: every access bit that may be set with PCI read-write", RDMA, access=0x6F)
    good("RDMA: smallest numbers", RDMA, vhca_id=0, access=0x02, mkey=1, device_guid=1, addr=0,
         len=1, link_layer=0, gid=ZERO_GID)
    good("RDMA: largest numbers, range from 0", RDMA, source=3, vhca_id=0xFFFE, access=0x6E,
         mkey=0xFFFFFFFF, device_guid=U64, addr=0, len=U64, link_layer=1, lid=0xBFFF,
         gid=b"\xff" * 16)
    good("RDMA: InfiniBand, smallest LID", RDMA, link_layer=1, lid=1)
    good("RDMA: InfiniBand, no LID yet", RDMA, link_layer=1)
    good("RDMA: nothing told of the port", RDMA, link_layer=0, gid=ZERO_GID)
    good("RDMA: GID with its first byte alone", RDMA, gid=b"\x80" + bytes(15))
    good("RDMA: GID with its last byte alone", RDMA, gid=bytes(15) + b"\x01")
    good("RDMA: distinct bytes show every offset", RDMA, source=2, **DISTINCT, link_layer=1,
         lid=0x4241, gid=bytes(range(0xA0, 0xB0)))


def accepted_umem():
    good("umem: DRAM, by the kernel's handle", UMEM)
    good("umem: dma-buf, whose offset is not the address", UMEM, source=3, start=0x1000)
    good("umem: by what libmlx5 exports", UMEM, form=2, token_len=8,
         token=bytes(range(0x70, 0x78)) + bytes(24))
    good("umem: libmlx5, the shortest token", UMEM, form=2, token_len=1)
    good("umem: libmlx5, one byte short of the longest token", UMEM, form=2, token_len=31,
         token=bytes(range(0xC0, 0xDF)) + b"\0")
    good("umem: libmlx5, the longest token", UMEM, form=2, token_len=32,
         token=bytes(range(0xC0, 0xE0)))
    good("umem: libmlx5, a token of zeros", UMEM, form=2, token_len=3, token=bytes(32))
    good("umem: the largest handle", UMEM, token=b"\xff" * 4 + bytes(28))
    good("umem: no access but to read", UMEM, access=0)
    good("umem: every access bit that may be set with PCI read-only", UMEM, access=0x5F)
    good("umem: every access bit that may be set with PCI read-write", UMEM, access=0x6F)
    good("umem: smallest numbers", UMEM, vhca_id=0, access=0, mkey=0, device_guid=1, addr=0, len=1,
         start=0, pd_handle=0, pdn=0, token=bytes(32))
    good("umem: largest numbers", UMEM, source=3, vhca_id=0xFFFE, access=0x6F, mkey=0xFFFFFFFF,
         device_guid=U64, addr=0, len=U64, start=0, pd_handle=0xFFFFFFFF, pdn=0xFFFFFF, form=2,
         token_len=32, token=b"\xff" * 32)
    good("umem: start at its largest", UMEM, start=U64 - 0x10000)
    good("umem: distinct bytes show every offset", UMEM, **DISTINCT, start=0x4847464544434241,
         pd_handle=0x54535251, pdn=0x636261, form=2, token_len=32, token=bytes(range(0x80, 0xA0)))


def accepted_all(name, base):
    kind = base["kind"]
    b = body(base)
    good(f"{name}one byte at the highest address", base, addr=U64 - 1, len=1,
         **({"start": U64 - 1} if kind == 3 else {}))
    good(f"{name}range ends at the last 64-bit number", base, addr=U64 - 0x10000)
    readable(f"{name}a later minor version is read", frame(b, kind, minor=1), base)
    readable(f"{name}the last minor version is read", frame(b, kind, minor=255), base)
    readable(f"{name}an unknown optional extension is skipped",
             frame(b + tlv(FREE, b"abc"), kind), base)
    readable(f"{name}a later minor version with unknown optional extensions",
             frame(b + b"".join(tlv(n, b"x" * (n & 3)) for n in UNTAKEN), kind, minor=7), base)
    readable(f"{name}an empty extension is skipped", frame(b + tlv(0x7FFF), kind), base)
    readable(f"{name}an extension as long as an access key", frame(b + tlv(FREE, bytes(28)), kind),
             base)
    readable(f"{name}largest descriptor",
             frame(b + tlv(FREE, bytes(MAX - SIZES[kind] - 4)), kind), base)


def accepted():
    accepted_pci()
    accepted_rdma()
    accepted_umem()
    for name, base in BASES.items():
        accepted_all(name, base)
    b = body(PCI)
    readable("ascending extensions are skipped",
             frame(b + tlv(1) + tlv(2, b"x") + tlv(9, b"yz")), PCI)
    readable("extension numbers have 15 bits", frame(b + tlv(1) + tlv(0x2001) + tlv(0x4001)), PCI)


def header_errors():
    b = body(PCI)
    good_one = whole(PCI)
    refused("no bytes", "TOO_SHORT", 0, b"")
    refused("one byte above the maximum", "TOO_LONG", MAX,
            frame(b + tlv(FREE, bytes(MAX - SIZES[1] - 3))))
    for i in range(4):
        refused(f"magic with byte {i} wrong", "MAGIC", 0,
                frame(b, magic=MAGIC[:i] + bytes([MAGIC[i] ^ 1]) + MAGIC[i + 1:]))
    refused("magic in the other byte order", "MAGIC", 0, frame(b, magic=MAGIC[::-1]))
    refused("text", "MAGIC", 0, b"this is no descriptor, however long it may be")
    for major in (0, 2, 255):
        refused(f"major version {major}", "VERSION", 8, frame(b, major=major))
    refused("total length one too large", "TRUNCATED", 80, frame(b, total=81))
    refused("total length at its maximum", "TRUNCATED", 80, frame(b, total=0xFFFF))
    refused("total length big-endian", "TRUNCATED", 80, frame(b, total=0x5000))
    refused("one byte too many", "TRAILING", 80, good_one + b"\0")
    refused("total length one too small", "TRAILING", 79, frame(b, total=79))
    refused("total length 0", "TRAILING", 0, frame(b, total=0))
    for title, crc in (("one too large", crc32c(good_one[8:]) + 1),
                       ("one too small", crc32c(good_one[8:]) - 1),
                       ("inverted", crc32c(good_one[8:]) ^ 0xFFFFFFFF), ("0", 0),
                       ("of the bytes with magic", crc32c(MAGIC + good_one[8:])),
                       ("of the bytes with magic and itself as zero",
                        crc32c(MAGIC + bytes(4) + good_one[8:])),
                       ("of the fields alone", crc32c(b))):
        refused(f"checksum {title}", "CHECKSUM", 4, frame(b, crc=crc))
    refused("checksum big-endian", "CHECKSUM", 4,
            good_one[:4] + good_one[4:8][::-1] + good_one[8:])
    for i in range(8, 80, 6):
        refused(f"byte {i} damaged", "VERSION" if i == 8 else "CHECKSUM", 8 if i == 8 else 4,
                good_one[:i] + bytes([good_one[i] ^ 0x10]) + good_one[i + 1:])


def truncations():
    data = whole(PCI)
    for size in range(1, len(data)):
        refused(f"the first {size} bytes", "TOO_SHORT" if size < HEADER else "TRUNCATED", size,
                data[:size])


def length_errors(name, base):
    kind = base["kind"]
    b = body(base)
    data = frame(b, kind)
    refused(f"{name}last byte missing", "TRUNCATED", len(data) - 1, data[:-1])
    refused(f"{name}a byte behind the end", "TRAILING", len(data), data + b"\0")
    refused(f"{name}one byte above the maximum with extensions", "TOO_LONG", MAX,
            frame(b + tlv(FREE, bytes(MAX - SIZES[kind] - 3)), kind))
    for size in (0, 1, len(b) // 2, len(b) - 1):
        refused(f"{name}{size} bytes of fields", "BODY", HEADER + size, frame(b[:size], kind))


def number_errors(name, base):
    kind = base["kind"]
    refused_both(f"{name}source 0", "SOURCE", 14, base, source=0)
    refused_both(f"{name}source 4", "SOURCE", 14, base, source=4)
    refused_both(f"{name}source 0x0100", "SOURCE", 14, base, source=0x100)
    refused_both(f"{name}vhca_id 0xffff", "VHCA_ID", 16, base, vhca_id=0xFFFF)
    for bit in range(7, 16):
        refused_both(f"{name}access bit {bit}", "ACCESS_BITS", 18, base,
                     access=base["access"] | 1 << bit)
    emit(f"encode: {name}access bit beyond the field", None, "ACCESS_BITS",
         show={**base, "access": base["access"] | 0x10000})
    refused_both(f"{name}PCI read-only and read-write", "ACCESS_BOTH", 18, base,
                 access=base["access"] | 0x30)
    refused_both(f"{name}device GUID 0", "DEVICE_GUID", 24, base, device_guid=0)
    if kind != 3:
        refused_both(f"{name}no access", "ACCESS_NONE", 18, base, access=0)
        refused_both(f"{name}mkey 0", "MKEY", 20, base, mkey=0)
    refused_both(f"{name}empty range", "LEN", 40, base, len=0)
    refused_both(f"{name}range ends one past the last 64-bit number", "RANGE", 40, base,
                 addr=U64 - 0xFFFF)
    refused_both(f"{name}range wraps around", "RANGE", 40, base, addr=0x1000, len=U64)
    refused_both(f"{name}largest address", "RANGE", 40, base, addr=U64, len=1)


def kind_errors():
    for kind in (0, 4, 0x100, 0xFFFF):
        refused_both(f"kind 0x{kind:04x}", "KIND", 10, PCI, kind=kind)
    refused("unknown kind with no fields", "KIND", 10, frame(b"", kind=7))
    refused("fields of an RDMA export as PCI", "BODY", 68, frame(body(RDMA)))
    refused("fields of a PCI export as umem", "BODY", 80, frame(body(PCI), 3))


def own_errors():
    refused_both("every access but PCI", "ACCESS_NONE", 18, PCI, access=0x4F)
    refused_both("access key all zero", "ACCESS_KEY", 48, PCI, access_key=bytes(32))
    refused_both("RDMA: every access but RDMA, PCI read-only", "ACCESS_NONE", 18, RDMA,
                 access=0x51)
    refused_both("RDMA: every access but RDMA, PCI read-write", "ACCESS_NONE", 18, RDMA,
                 access=0x61)
    for link_layer in (3, 0x100, 0xFFFF):
        refused_both(f"RDMA: link layer 0x{link_layer:04x}", "LINK_LAYER", 48, RDMA,
                     link_layer=link_layer)
    refused_both("RDMA: LID on Ethernet", "LID", 50, RDMA, lid=1)
    refused_both("RDMA: LID of an untold port", "LID", 50, RDMA, link_layer=0, lid=1, gid=ZERO_GID)
    refused_both("RDMA: smallest multicast LID", "LID", 50, RDMA, link_layer=1, lid=0xC000)
    refused_both("RDMA: permissive LID", "LID", 50, RDMA, link_layer=1, lid=0xFFFF)
    refused_both("RDMA: Ethernet without GID", "GID", 52, RDMA, gid=ZERO_GID)
    refused_both("RDMA: InfiniBand without GID", "GID", 52, RDMA, link_layer=1, gid=ZERO_GID)
    refused_both("RDMA: GID of an untold port", "GID", 52, RDMA, link_layer=0)
    refused_both("umem: device memory", "SOURCE", 14, UMEM, source=2)
    refused_both("umem: registered range ends one past the last 64-bit number", "START", 48, UMEM,
                 start=U64 - 0xFFFF)
    refused_both("umem: registered range wraps around", "START", 48, UMEM, start=U64)
    refused_both("umem: protection domain of 25 bits", "PDN", 60, UMEM, pdn=0x1000000)
    refused_both("umem: largest protection domain", "PDN", 60, UMEM, pdn=0xFFFFFFFF)
    for form in (0, 3, 0x100):
        refused_both(f"umem: form 0x{form:04x}", "UMEM_FORM", 64, UMEM, form=form)
    for form, token_len in ((1, 0), (1, 3), (1, 5), (1, 0xFFFF), (2, 0), (2, 33), (2, 0xFFFF)):
        refused_both(f"umem: form {form}, token of {token_len} bytes", "TOKEN_LEN", 66, UMEM,
                     form=form, token_len=token_len, token=bytes(32))
    refused_both("umem: byte behind the handle", "TOKEN", 68, UMEM,
                 token=bytes(4) + b"\1" + bytes(27))
    refused_both("umem: last byte behind the handle", "TOKEN", 68, UMEM, token=bytes(31) + b"\1")
    refused_both("umem: libmlx5, byte behind the token", "TOKEN", 68, UMEM, form=2, token_len=8,
                 token=bytes(8) + b"\1" + bytes(23))
    refused_both("umem: libmlx5, last byte behind the longest but one", "TOKEN", 68, UMEM, form=2,
                 token_len=31, token=bytes(31) + b"\1")


def extension_errors(name, base):
    kind, end = base["kind"], SIZES[base["kind"]]
    b = body(base)

    def bad(title, status, byte, extensions, minor=0):
        refused(name + title, status, end + byte, frame(b + extensions, kind, minor=minor))

    for size in (1, 2, 3):
        bad(f"extension header of {size} bytes", "TLV", 0, tlv(FREE)[:size])
    bad("extension value one byte short", "TLV", 0, tlv(FREE, b"abcd")[:-1])
    bad("extension length at its maximum", "TLV", 0, b"\0\x7f\xff\xff")
    bad("padding after an extension", "TLV", 7, tlv(FREE, b"abc") + b"\0")
    bad("zeros behind the fields", "TLV_NUMBER", 0, bytes(8))
    bad("critical extension number 0", "TLV_NUMBER", 0, tlv(0, critical=True))
    bad("extension twice", "TLV_REPEATED", 4, tlv(FREE) + tlv(FREE))
    bad("extension twice, once critical", "TLV_REPEATED", 4,
        tlv(FREE) + tlv(FREE, critical=True))
    bad("extensions descending", "TLV_ORDER", 5, tlv(FREE + 1, b"x") + tlv(FREE))
    bad("unknown critical extension", "TLV_CRITICAL", 0, tlv(FREE, b"abc", critical=True))
    bad("a later minor version with an unknown critical extension", "TLV_CRITICAL", 5,
        tlv(FREE, b"x") + tlv(FREE + 1, critical=True), minor=7)


def access(title, base, op, first, count, status="OK", **changes):
    emit(f"access: {title}", None, status, show={**base, **changes},
         more=(("op", op), ("first", first), ("count", count)))


def accesses_of_a_range():
    addr, size = PCI["addr"], PCI["len"]
    access("all", PCI, 1, addr, size)
    access("first byte", PCI, 1, addr, 1)
    access("last byte", PCI, 2, addr + size - 1, 1)
    access("no byte at the beginning", PCI, 1, addr, 0)
    access("no byte at the end", PCI, 1, addr + size, 0)
    access("read and write", PCI, 3, addr + 7, 9)
    access("no byte before the beginning", PCI, 1, addr - 1, 0, "OUTSIDE")
    access("no byte behind the end", PCI, 1, addr + size + 1, 0, "OUTSIDE")
    access("byte before the beginning", PCI, 1, addr - 1, 1, "OUTSIDE")
    access("begins before the beginning", PCI, 1, addr - 1, 2, "OUTSIDE")
    access("byte behind the end", PCI, 1, addr + size, 1, "OUTSIDE")
    access("ends behind the end", PCI, 1, addr, size + 1, "OUTSIDE")
    access("last byte and one more", PCI, 2, addr + size - 1, 2, "OUTSIDE")
    access("address 0", PCI, 1, 0, 1, "OUTSIDE")
    access("largest address", PCI, 1, U64, 1, "OUTSIDE")
    access("largest length", PCI, 1, addr, U64, "OUTSIDE")
    access("end wraps around to the beginning", PCI, 1, addr + 1, U64, "OUTSIDE")
    access("end wraps around into the range", PCI, 1, addr + 8, U64 - 3, "OUTSIDE")
    access("beginning wraps around", PCI, 1, U64 - 7, addr + 16, "OUTSIDE")
    access("widest range, all", PCI, 1, 0, U64, addr=0, len=U64)
    access("widest range, one more", PCI, 1, 1, U64, "OUTSIDE", addr=0, len=U64)
    access("widest range, largest address", PCI, 1, U64, 1, "OUTSIDE", addr=0, len=U64)
    access("highest range", PCI, 1, U64 - 1, 1, addr=U64 - 1, len=1)
    access("highest range, one more", PCI, 1, U64 - 1, 2, "OUTSIDE", addr=U64 - 1, len=1)
    access("highest range from below", PCI, 1, 0, 1, "OUTSIDE", addr=U64 - 1, len=1)


def accesses_by_right():
    at = PCI["addr"]
    names = {1: "read", 2: "write", 4: "atomic"}
    granted = {1: {0x10: 1, 0x20: 3, 0x2F: 3, 0x5F: 1},
               2: {0x02: 1, 0x04: 2, 0x08: 4, 0x0E: 7, 0x2E: 7, 0x22: 1},
               3: {0x00: 1, 0x01: 7, 0x2E: 1, 0x2F: 7}}
    for base in BASES.values():
        for mask, ops in granted[base["kind"]].items():
            for op, name in names.items():
                access(f"kind {base['kind']} with 0x{mask:02x}: {name}", base, op, at, 8,
                       "OK" if op & ops else "DENIED", access=mask)
    access("read and write of what can be read", PCI, 3, at, 8, "DENIED", access=0x10)
    access("no operation", PCI, 0, at, 8, "OP")
    access("undefined operation", PCI, 8, at, 8, "OP")
    access("undefined operation with another", PCI, 9, at, 8, "OP")
    access("denied and outside", PCI, 2, 0, 8, "DENIED", access=0x10)
    for first, count in ((at + 4, 8), (at, 4), (at, 16), (at, 0), (at + 8, 7)):
        access(f"atomic of {count} bytes at offset {first - at}", RDMA, 4, first, count,
               "ALIGNMENT", access=0x08)
    access("atomic on the last 8 bytes", RDMA, 4, at + RDMA["len"] - 8, 8, access=0x08)
    access("atomic behind the end", RDMA, 4, at + RDMA["len"], 8, "OUTSIDE", access=0x08)
    access("atomic unaligned and outside", RDMA, 4, 1, 8, "ALIGNMENT", access=0x08)
    access("of no descriptor", PCI, 1, at, 1, "MKEY", mkey=0)


HEAD = """\
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Descriptors and the result for each, in addition to those of v1.txt. Written by gen-desc.py, read by
# vectors.c and read-desc.py. With hex: decoding gives the status, the byte to blame and the fields; if
# canonical, encoding the fields gives the hex. With op: accessing `count` bytes from `first` on gives
# the status. With neither: encoding the fields gives the status.
"""


def emit_all():
    accepted()
    header_errors()
    truncations()
    kind_errors()
    own_errors()
    for name, base in BASES.items():
        length_errors(name, base)
        number_errors(name, base)
        extension_errors(name, base)
    accesses_of_a_range()
    accesses_by_right()


def split_vectors(text):
    return [vector for vector in text.strip().split("\n\n") if not vector.startswith("#")]


def later_vectors(v1):
    """The text of desc.txt; fails unless all vectors of the file v1 are among those made here."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        emit_all()
    every = split_vectors(text.getvalue())
    frozen = set(split_vectors(pathlib.Path(v1).read_text(encoding="utf-8")))
    if not frozen <= set(every):
        sys.exit(f"{v1} has vectors that gen-desc.py does not write")
    later = [vector for vector in every if vector not in frozen]
    return HEAD + "".join(f"\n{vector}\n" for vector in later)


def example_bytes(example):
    rows = re.findall(r"^([0-9a-f]{4})  ([0-9a-f ]+?)(?:  .*)?$", example, re.M)
    data = b""
    for offset, row in rows:
        if int(offset, 16) != len(data):
            sys.exit(f"an example has offset {offset} at byte {len(data):04x}")
        data += bytes.fromhex(row)
    return data


def check(v1, vectors, document):
    if pathlib.Path(vectors).read_text(encoding="utf-8") != later_vectors(v1):
        sys.exit(f"{vectors} is not what gen-desc.py writes")
    with open(document, encoding="utf-8") as file:
        examples = re.findall(r"```hexdump\n(.*?)```", file.read(), re.S)
    if [example_bytes(e) for e in examples] != [whole(base) for base in BASES.values()]:
        sys.exit(f"the examples in {document} are not the first vectors of their kinds")


if __name__ == "__main__":
    if len(sys.argv) == 5 and sys.argv[1] == "--check":
        check(*sys.argv[2:])
    elif len(sys.argv) == 2:
        print(later_vectors(sys.argv[1]), end="")
    else:
        sys.exit(__doc__)
