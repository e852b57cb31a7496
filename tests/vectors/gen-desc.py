#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The descriptor vectors: a second implementation of docs/wire-format.md that shares no code with
src/desc, so that the two check each other. The vectors of a release stay: add, never change.

    gen-desc.py                          writes desc.txt to standard output
    gen-desc.py --check desc.txt DOC     both are up to date: the vectors, and the examples in DOC
"""

import contextlib
import io
import re
import struct
import sys

MAGIC = b"DPUM"
KEY = bytes(range(0x40, 0x60))
FIELDS = ("kind", "source", "vhca_id", "access", "device_guid", "mkey", "addr", "len", "access_key",
          "start", "pd_handle", "pdn", "form", "token_len", "token")
BYTES = ("access_key", "token")
NO_UMEM = dict(start=0, pd_handle=0, pdn=0, form=0, token_len=0, token=bytes(32))
BASE = dict(kind=1, source=1, vhca_id=0x0011, access=0x21, device_guid=0x0C42A10300AABBCC,
            mkey=0x00181D00, addr=0x00007F3A5C000000, len=0x10000, access_key=KEY, **NO_UMEM)
RDMA = {**BASE, "kind": 2, "access": 0x27, "access_key": bytes(32)}
UMEM = {**BASE, "kind": 3, "access": 0x23, "mkey": 0x2A, "access_key": bytes(32),
        "start": 0x00007F3A5C000000, "pd_handle": 5, "pdn": 0x000107, "form": 1, "token_len": 4,
        "token": b"\x09" + bytes(31)}
U64 = (1 << 64) - 1


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def tlv(number, value=b"", critical=False):
    return struct.pack("<HH", number | (0x8000 if critical else 0), len(value)) + value


def body(f, reserved=0):
    common = struct.pack("<HHIQIIQQ", f["source"], f["vhca_id"], f["access"], f["device_guid"],
                         f["mkey"], reserved, f["addr"], f["len"])
    if f["kind"] == 3:
        return common + struct.pack("<QIIHH", f["start"], f["pd_handle"], f["pdn"], f["form"],
                                    f["token_len"]) + f["token"]
    return common if f["kind"] == 2 else common + f["access_key"]


def frame(payload, kind=1, magic=MAGIC, major=1, minor=0, total=None, crc=None):
    total = 16 + len(payload) if total is None else total
    head = magic + struct.pack("<BBHI", major, minor, kind, total)
    if crc is None:
        crc = crc32c(head + bytes(4) + payload)
    return head + struct.pack("<I", crc) + payload


def fields(base=None, **changes):
    return {**(base or BASE), **changes}


def emit(title, data=None, status="OK", show=None, canonical=False):
    print(f"\ntitle: {title}")
    if data is not None:
        print("hex:" if not data else "\n".join(
            "hex: " + data[i:i + 32].hex(" ") for i in range(0, len(data), 32)))
    name = "DPUMAP_DESC_OK" if status == "OK" else f"DPUMAP_DESC_ERR_{status}"
    print(f"status: {name}")
    if show:
        for field in FIELDS:
            value = show[field]
            if field in NO_UMEM and value == NO_UMEM[field]:
                continue
            print(f"{field}: " + (value.hex(" ") if field in BYTES else hex(value)))
    if canonical:
        print("canonical: yes")


def good(title, base=None, **changes):
    f = fields(base, **changes)
    emit(title, frame(body(f), kind=f["kind"]), show=f, canonical=True)


def readable(title, data, show=None):
    emit(title, data, show=show or BASE)


def refused(title, status, data):
    emit(title, data, status)


def refused_both(title, status, base=None, **changes):
    """Values that neither direction lets through."""
    f = fields(base, **changes)
    refused(f"decode: {title}", status, frame(body(f), kind=f["kind"]))
    emit(f"encode: {title}", None, status, show=f)


def accepted():
    good("DRAM, local and PCI read-write")
    good("device memory, PCI read-only", source=2, access=0x10, addr=0x7F0000004000, len=0x1000)
    good("every access bit that may be set with read-write", access=0x6F)
    good("every access bit that may be set with read-only", access=0x5F)
    good("smallest numbers", vhca_id=0, access=0x10, device_guid=1, mkey=1, addr=0, len=1,
         access_key=bytes(31) + b"\x01")
    good("largest numbers, range from 0", source=2, vhca_id=0xFFFE, access=0x20, device_guid=U64,
         mkey=0xFFFFFFFF, addr=0, len=U64, access_key=b"\xff" * 32)
    good("one byte at the highest address", addr=U64 - 1, len=1)
    good("distinct bytes show every offset", source=2, vhca_id=0x0201, access=0x2B,
         device_guid=0x1817161514131211, mkey=0x24232221, addr=0x3837363534333231,
         len=0x0807060504030201, access_key=bytes(range(0xA0, 0xC0)))
    b = body(BASE)
    readable("a later minor version is read", frame(b, minor=1))
    readable("the last minor version is read", frame(b, minor=255))
    readable("an unknown extension is skipped", frame(b + tlv(1, b"abc")))
    readable("an empty extension is skipped", frame(b + tlv(0x7FFF)))
    readable("ascending extensions are skipped", frame(b + tlv(1) + tlv(2, b"x") + tlv(9, b"yz")))
    readable("extension numbers have 15 bits", frame(b + tlv(1) + tlv(0x2001) + tlv(0x4001)))
    readable("largest descriptor", frame(b + tlv(5, bytes(512 - 88 - 4))))


def header_errors():
    b = body(BASE)
    whole = frame(b)
    refused("no bytes", "TOO_SHORT", b"")
    refused("one byte short of a header", "TOO_SHORT", whole[:15])
    refused("one byte above the maximum", "TOO_LONG", frame(b + tlv(5, bytes(512 - 88 - 3))))
    refused("magic with its last byte wrong", "MAGIC", frame(b, magic=b"DPUN"))
    refused("magic in the other byte order", "MAGIC", frame(b, magic=b"MUPD"))
    refused("text", "MAGIC", b"this is no descriptor, however long it may be")
    refused("major version 0", "VERSION", frame(b, major=0))
    refused("major version 2", "VERSION", frame(b, major=2))
    refused("header alone", "TRUNCATED", whole[:16])
    refused("last byte missing", "TRUNCATED", whole[:-1])
    refused("total length one too large", "TRUNCATED", frame(b, total=89))
    refused("total length at its maximum", "TRUNCATED", frame(b, total=0xFFFFFFFF))
    refused("one byte too many", "TRAILING", whole + b"\0")
    refused("total length 0", "TRAILING", frame(b, total=0))
    refused("checksum one off", "CHECKSUM", frame(b, crc=crc32c(b) ^ 1))
    refused("checksum 0", "CHECKSUM", frame(b, crc=0))
    refused("checksum of the bytes with the checksum in place", "CHECKSUM",
            frame(b, crc=crc32c(whole)))
    refused("checksum big-endian", "CHECKSUM",
            whole[:12] + whole[12:16][::-1] + whole[16:])
    refused("header without fields", "BODY", frame(b""))
    refused("fields one byte short", "BODY", frame(b[:-1]))


def field_errors():
    refused_both("kind 0", "KIND", kind=0)
    refused_both("kind 4", "KIND", kind=4)
    refused_both("kind 0x0100", "KIND", kind=0x100)
    refused("unknown kind with no fields", "KIND", frame(b"", kind=7))
    refused("reserved bytes 1", "RESERVED", frame(body(BASE, reserved=1)))
    refused("reserved bytes, last one set", "RESERVED", frame(body(BASE, reserved=0x80000000)))
    refused_both("source 0", "SOURCE", source=0)
    refused_both("source 3", "SOURCE", source=3)
    refused_both("vhca_id 0xffff", "VHCA_ID", vhca_id=0xFFFF)
    refused_both("lowest undefined access bit", "ACCESS_BITS", access=0xA0)
    refused_both("highest access bit", "ACCESS_BITS", access=0x80000020)
    refused_both("PCI read-only and read-write", "ACCESS_BOTH", access=0x30)
    refused_both("no access", "ACCESS_NONE", access=0)
    refused_both("every access but PCI", "ACCESS_NONE", access=0x4F)
    refused_both("device GUID 0", "DEVICE_GUID", device_guid=0)
    refused_both("mkey 0", "MKEY", mkey=0)
    refused_both("empty range", "LEN", len=0)
    refused_both("range ends one past the last 64-bit number", "RANGE", addr=U64, len=1)
    refused_both("range wraps around", "RANGE", addr=0x1000, len=U64)
    refused_both("access key all zero", "ACCESS_KEY", access_key=bytes(32))


def accepted_rdma():
    good("RDMA: DRAM, read and write", RDMA)
    good("RDMA: device memory, read only", RDMA, source=2, access=0x02, addr=0x7F0000004000,
         len=0x1000)
    good("RDMA: write alone", RDMA, access=0x04)
    good("RDMA: atomics alone", RDMA, access=0x08)
    good("RDMA: every access bit that may be set with PCI read-only", RDMA, access=0x5F)
    good("RDMA: every access bit that may be set with PCI read-write", RDMA, access=0x6F)
    good("RDMA: smallest numbers", RDMA, vhca_id=0, access=0x02, device_guid=1, mkey=1, addr=0,
         len=1)
    good("RDMA: largest numbers, range from 0", RDMA, source=2, vhca_id=0xFFFE, access=0x6E,
         device_guid=U64, mkey=0xFFFFFFFF, addr=0, len=U64)
    good("RDMA: distinct bytes show every offset", RDMA, source=2, vhca_id=0x0201, access=0x2B,
         device_guid=0x1817161514131211, mkey=0x24232221, addr=0x3837363534333231,
         len=0x0807060504030201)
    b = body(RDMA)
    readable("RDMA: a later minor version is read", frame(b, kind=2, minor=1), RDMA)
    readable("RDMA: an unknown extension is skipped", frame(b + tlv(1, b"abc"), kind=2), RDMA)
    readable("RDMA: an extension as long as an access key", frame(b + tlv(7, bytes(28)), kind=2),
             RDMA)
    readable("RDMA: largest descriptor", frame(b + tlv(5, bytes(512 - 56 - 4)), kind=2), RDMA)


def refused_rdma():
    b = body(RDMA)
    whole = frame(b, kind=2)
    refused("RDMA: last byte missing", "TRUNCATED", whole[:-1])
    refused("RDMA: one byte too many", "TRAILING", whole + b"\0")
    refused("RDMA: checksum of the PCI kind", "CHECKSUM",
            frame(b, kind=2, crc=struct.unpack("<I", frame(b)[12:16])[0]))
    refused("RDMA: one byte above the maximum", "TOO_LONG",
            frame(b + tlv(5, bytes(512 - 56 - 3)), kind=2))
    refused("RDMA: header without fields", "BODY", frame(b"", kind=2))
    refused("RDMA: fields one byte short", "BODY", frame(b[:-1], kind=2))
    refused("RDMA: fields of an RDMA export as PCI", "BODY", frame(b))
    refused("RDMA: reserved bytes 1", "RESERVED", frame(body(RDMA, reserved=1), kind=2))
    refused_both("RDMA: source 0", "SOURCE", RDMA, source=0)
    refused_both("RDMA: source 3", "SOURCE", RDMA, source=3)
    refused_both("RDMA: vhca_id 0xffff", "VHCA_ID", RDMA, vhca_id=0xFFFF)
    refused_both("RDMA: lowest undefined access bit", "ACCESS_BITS", RDMA, access=0x82)
    refused_both("RDMA: highest access bit", "ACCESS_BITS", RDMA, access=0x80000002)
    refused_both("RDMA: PCI read-only and read-write", "ACCESS_BOTH", RDMA, access=0x36)
    refused_both("RDMA: no access", "ACCESS_NONE", RDMA, access=0)
    refused_both("RDMA: every access but RDMA, PCI read-only", "ACCESS_NONE", RDMA, access=0x51)
    refused_both("RDMA: every access but RDMA, PCI read-write", "ACCESS_NONE", RDMA, access=0x61)
    refused_both("RDMA: device GUID 0", "DEVICE_GUID", RDMA, device_guid=0)
    refused_both("RDMA: mkey 0", "MKEY", RDMA, mkey=0)
    refused_both("RDMA: empty range", "LEN", RDMA, len=0)
    refused_both("RDMA: range wraps around", "RANGE", RDMA, addr=0x1000, len=U64)
    for title, key in (("whole", KEY), ("first byte", b"\1" + bytes(31)),
                       ("last byte", bytes(31) + b"\1")):
        emit(f"encode: RDMA with an access key, {title}", None, "KEY_UNUSED",
             show=fields(RDMA, access_key=key))
    refused("RDMA: zeros in the place of an access key", "TLV", frame(b + bytes(32), kind=2))
    refused("RDMA: extension number 0", "TLV", frame(b + tlv(0), kind=2))
    refused("RDMA: extension twice", "TLV_REPEATED", frame(b + tlv(3) + tlv(3), kind=2))
    refused("RDMA: extensions descending", "TLV_ORDER", frame(b + tlv(3) + tlv(2), kind=2))
    refused("RDMA: unknown critical extension", "TLV_CRITICAL",
            frame(b + tlv(1, critical=True), kind=2))


def accepted_umem():
    good("umem: DRAM, by the kernel's handle", UMEM)
    good("umem: by what libmlx5 exports", UMEM, form=2, token_len=8,
         token=bytes(range(0x70, 0x78)) + bytes(24))
    good("umem: libmlx5, the shortest token", UMEM, form=2, token_len=1)
    good("umem: libmlx5, the longest token", UMEM, form=2, token_len=32,
         token=bytes(range(0xC0, 0xE0)))
    good("umem: libmlx5, a token of zeros", UMEM, form=2, token_len=3, token=bytes(32))
    good("umem: no access but to read", UMEM, access=0)
    good("umem: every access bit that may be set with PCI read-only", UMEM, access=0x5F)
    good("umem: smallest numbers", UMEM, vhca_id=0, access=0, device_guid=1, mkey=0, addr=0, len=1,
         start=0, pd_handle=0, pdn=0, token=bytes(32))
    good("umem: largest numbers", UMEM, vhca_id=0xFFFE, access=0x6F, device_guid=U64,
         mkey=0xFFFFFFFF, addr=0, len=U64, start=0, pd_handle=0xFFFFFFFF, pdn=0xFFFFFF, form=2,
         token_len=32, token=b"\xff" * 32)
    good("umem: a dma-buf's offset is not the address", UMEM, start=0x1000)
    good("umem: distinct bytes show every offset", UMEM, vhca_id=0x0201, access=0x2B,
         device_guid=0x1817161514131211, mkey=0x24232221, addr=0x3837363534333231,
         len=0x0807060504030201, start=0x4847464544434241, pd_handle=0x54535251, pdn=0x636261,
         form=2, token_len=32, token=bytes(range(0x80, 0xA0)))
    b = body(UMEM)
    readable("umem: a later minor version is read", frame(b, kind=3, minor=1), UMEM)
    readable("umem: an unknown extension is skipped", frame(b + tlv(1, b"abc"), kind=3), UMEM)
    readable("umem: largest descriptor", frame(b + tlv(5, bytes(512 - 108 - 4)), kind=3), UMEM)


def refused_umem():
    b = body(UMEM)
    whole = frame(b, kind=3)
    refused("umem: last byte missing", "TRUNCATED", whole[:-1])
    refused("umem: one byte too many", "TRAILING", whole + b"\0")
    refused("umem: one byte above the maximum", "TOO_LONG",
            frame(b + tlv(5, bytes(512 - 108 - 3)), kind=3))
    refused("umem: header without fields", "BODY", frame(b"", kind=3))
    refused("umem: fields one byte short", "BODY", frame(b[:-1], kind=3))
    refused("umem: fields of a PCI export", "BODY", frame(body(BASE), kind=3))
    refused("umem: reserved bytes 1", "RESERVED", frame(body(UMEM, reserved=1), kind=3))
    refused_both("umem: source 0", "SOURCE", UMEM, source=0)
    refused_both("umem: device memory", "SOURCE", UMEM, source=2)
    refused_both("umem: vhca_id 0xffff", "VHCA_ID", UMEM, vhca_id=0xFFFF)
    refused_both("umem: undefined access bit", "ACCESS_BITS", UMEM, access=0x80)
    refused_both("umem: PCI read-only and read-write", "ACCESS_BOTH", UMEM, access=0x30)
    refused_both("umem: device GUID 0", "DEVICE_GUID", UMEM, device_guid=0)
    refused_both("umem: empty range", "LEN", UMEM, len=0)
    refused_both("umem: range wraps around", "RANGE", UMEM, addr=0x1000, len=U64)
    refused_both("umem: registered range wraps around", "RANGE", UMEM, start=U64)
    refused_both("umem: protection domain of 25 bits", "PDN", UMEM, pdn=0x1000000)
    refused_both("umem: form 0", "UMEM_FORM", UMEM, form=0)
    refused_both("umem: form 3", "UMEM_FORM", UMEM, form=3)
    refused_both("umem: handle of 3 bytes", "UMEM_TOKEN", UMEM, token_len=3)
    refused_both("umem: handle of 5 bytes", "UMEM_TOKEN", UMEM, token_len=5)
    refused_both("umem: byte behind the handle", "UMEM_TOKEN", UMEM,
                 token=bytes(4) + b"\1" + bytes(27))
    refused_both("umem: last byte behind the handle", "UMEM_TOKEN", UMEM, token=bytes(31) + b"\1")
    refused_both("umem: libmlx5, no token", "UMEM_TOKEN", UMEM, form=2, token_len=0,
                 token=bytes(32))
    refused_both("umem: libmlx5, 33 bytes", "UMEM_TOKEN", UMEM, form=2, token_len=33)
    refused_both("umem: libmlx5, byte behind the token", "UMEM_TOKEN", UMEM, form=2, token_len=8,
                 token=bytes(8) + b"\1" + bytes(23))
    emit("encode: umem with an access key", None, "KEY_UNUSED", show=fields(UMEM, access_key=KEY))
    for kind, base in (("PCI", BASE), ("RDMA", RDMA)):
        for field, value in (("start", 1), ("pd_handle", 1), ("pdn", 1), ("form", 1),
                             ("token_len", 4), ("token", bytes(31) + b"\1")):
            emit(f"encode: {kind} with {field} of a umem", None, "UMEM_UNUSED",
                 show=fields(base, **{field: value}))
    refused("umem: extension number 0", "TLV", frame(b + tlv(0), kind=3))
    refused("umem: unknown critical extension", "TLV_CRITICAL",
            frame(b + tlv(1, critical=True), kind=3))


def extension_errors():
    b = body(BASE)
    refused("extension header cut", "TLV", frame(b + b"\1"))
    refused("extension without length", "TLV", frame(b + b"\1\0"))
    refused("extension value one byte short", "TLV", frame(b + tlv(1, b"abcd")[:-1]))
    refused("extension length at its maximum", "TLV", frame(b + b"\1\0\xff\xff"))
    refused("extension number 0", "TLV", frame(b + tlv(0)))
    refused("critical extension number 0", "TLV", frame(b + tlv(0, critical=True)))
    refused("padding after an extension", "TLV", frame(b + tlv(1, b"abc") + b"\0"))
    refused("extension twice", "TLV_REPEATED", frame(b + tlv(3) + tlv(3)))
    refused("extension twice, once critical", "TLV_REPEATED",
            frame(b + tlv(3) + tlv(3, critical=True)))
    refused("extensions descending", "TLV_ORDER", frame(b + tlv(3) + tlv(2)))
    refused("unknown critical extension", "TLV_CRITICAL", frame(b + tlv(1, b"abc", critical=True)))
    refused("unknown critical extension after another", "TLV_CRITICAL",
            frame(b + tlv(1) + tlv(2, critical=True)))


def write_vectors():
    print("# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only")
    print("# Descriptors and what becomes of them; written by gen-desc.py, read by vectors.c.")
    print("# With hex: decoding gives the status and the fields; if canonical, encoding the fields")
    print("# gives the hex. Without hex: encoding the fields gives the status.")
    accepted()
    header_errors()
    field_errors()
    extension_errors()
    accepted_rdma()
    refused_rdma()
    accepted_umem()
    refused_umem()


def example_bytes(example):
    rows = re.findall(r"^([0-9a-f]{4})  ([0-9a-f ]+?)(?:  .*)?$", example, re.M)
    data = b""
    for offset, row in rows:
        if int(offset, 16) != len(data):
            sys.exit(f"an example has offset {offset} at byte {len(data):04x}")
        data += bytes.fromhex(row)
    return data


def check(vectors, document):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        write_vectors()
    with open(vectors, encoding="utf-8") as file:
        if file.read() != text.getvalue():
            sys.exit(f"{vectors} is not what gen-desc.py writes")
    with open(document, encoding="utf-8") as file:
        examples = re.findall(r"```hexdump\n(.*?)```", file.read(), re.S)
    if [example_bytes(e) for e in examples] != [frame(body(BASE)), frame(body(RDMA), kind=2),
                                              frame(body(UMEM), kind=3)]:
        sys.exit(f"the examples in {document} are not the first vectors of their kinds")


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "--check":
        check(sys.argv[2], sys.argv[3])
    elif len(sys.argv) == 1:
        write_vectors()
    else:
        sys.exit(__doc__)
