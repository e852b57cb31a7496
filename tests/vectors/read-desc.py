#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A reader of export descriptors, written from docs/wire-format.md and nothing else: it judges the C
codec and the specification alike, so look at neither src/desc nor gen-desc.py when changing it.

    read-desc.py show [--json] [--show-secret] FILE   prints what `dpumap desc show` prints
    read-desc.py check [--json] FILE                  prints what `dpumap desc check` prints
    read-desc.py vectors FILE...                      agrees with every vector, or says where not
    read-desc.py judge                                a line "STATUS BYTE" for each line of hex
"""

import argparse
import sys

# Section 5 and 8, the reasons.
REASONS = {
    "TOO_SHORT": "fewer bytes than a header",
    "TOO_LONG": "longer than any descriptor",
    "MAGIC": "not a descriptor",
    "VERSION": "major version not supported",
    "TRUNCATED": "fewer bytes than the total length",
    "TRAILING": "more bytes than the total length",
    "CHECKSUM": "damaged: the checksum differs",
    "KIND": "kind not supported",
    "BODY": "too short for the fields of its kind",
    "SOURCE": "source not supported",
    "VHCA_ID": "vhca_id is reserved",
    "ACCESS_BITS": "undefined access bits",
    "ACCESS_BOTH": "PCI read-only and PCI read-write",
    "ACCESS_NONE": "no access permitted for its kind",
    "DEVICE_GUID": "device GUID is zero",
    "MKEY": "mkey is zero",
    "LEN": "range is empty",
    "RANGE": "range exceeds 64 bits",
    "ACCESS_KEY": "access key is all zero",
    "LINK_LAYER": "link layer not supported",
    "LID": "LID does not fit the link layer",
    "GID": "GID does not fit the link layer",
    "START": "registered range exceeds 64 bits",
    "PDN": "protection domain has more than 24 bits",
    "UMEM_FORM": "form of the token not supported",
    "TOKEN_LEN": "wrong length of the token",
    "TOKEN": "bytes after the token are not zero",
    "TLV": "extension does not fit",
    "TLV_NUMBER": "extension has number 0",
    "TLV_REPEATED": "extension occurs twice",
    "TLV_ORDER": "extensions are out of order",
    "TLV_CRITICAL": "unknown critical extension",
}
PCI, RDMA, UMEM = 1, 2, 3
KINDS = {PCI: "PCI export", RDMA: "RDMA export", UMEM: "umem"}
ENDS = {PCI: 80, RDMA: 68, UMEM: 100}
SOURCES = {1: "memory", 2: "device memory", 3: "dma-buf"}
RIGHTS = ("local read-write", "RDMA read", "RDMA write", "RDMA atomic", "PCI read-only",
          "PCI read-write", "PCI relaxed ordering")
LINK_LAYERS = {0: "untold", 1: "InfiniBand", 2: "Ethernet"}
FORMS = {1: "kernel handle", 2: "libmlx5"}
LAST = 2 ** 64 - 1


class Refused(Exception):
    def __init__(self, status, byte):
        super().__init__(status)
        self.status, self.byte = status, byte


def refuse_if(wrong, status, byte):
    if wrong:
        raise Refused(status, byte)


def number(data, offset, width):
    return int.from_bytes(data[offset:offset + width], "little")


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        for bit in range(8):
            low = (crc ^ byte >> bit) & 1
            crc = crc >> 1 ^ (0x82F63B78 if low else 0)
    return crc ^ 0xFFFFFFFF


def read_header(data):
    refuse_if(len(data) < 14, "TOO_SHORT", len(data))
    refuse_if(len(data) > 512, "TOO_LONG", 512)
    refuse_if(data[:4] != b"DPUM", "MAGIC", 0)
    refuse_if(data[8] != 1, "VERSION", 8)
    total = number(data, 12, 2)
    refuse_if(len(data) < total, "TRUNCATED", len(data))
    refuse_if(len(data) > total, "TRAILING", total)
    refuse_if(number(data, 4, 4) != crc32c(data[8:]), "CHECKSUM", 4)
    kind = number(data, 10, 2)
    refuse_if(kind not in KINDS, "KIND", 10)
    refuse_if(total < ENDS[kind], "BODY", total)
    return {"minor": data[9], "kind": kind, "total": total}


def check_common(f):
    kind, access = f["kind"], f["access"]
    refuse_if(f["source"] not in SOURCES or (kind == UMEM and f["source"] == 2), "SOURCE", 14)
    refuse_if(f["vhca_id"] == 0xFFFF, "VHCA_ID", 16)
    refuse_if(access >= 1 << len(RIGHTS), "ACCESS_BITS", 18)
    refuse_if(access & 0x30 == 0x30, "ACCESS_BOTH", 18)
    needed = {PCI: 0x30, RDMA: 0x0E}.get(kind)
    refuse_if(needed and not access & needed, "ACCESS_NONE", 18)
    refuse_if(f["device_guid"] == 0, "DEVICE_GUID", 24)
    refuse_if(kind != UMEM and f["mkey"] == 0, "MKEY", 20)
    refuse_if(f["len"] == 0, "LEN", 40)
    refuse_if(f["addr"] + f["len"] > LAST, "RANGE", 40)


def check_pci(f):
    refuse_if(not any(f["access_key"]), "ACCESS_KEY", 48)


def check_rdma(f):
    refuse_if(f["link_layer"] not in LINK_LAYERS, "LINK_LAYER", 48)
    refuse_if(f["lid"] > (0xBFFF if f["link_layer"] == 1 else 0), "LID", 50)
    refuse_if(any(f["gid"]) != (f["link_layer"] != 0), "GID", 52)


def check_umem(f):
    refuse_if(f["start"] + f["len"] > LAST, "START", 48)
    refuse_if(f["pdn"] > 0xFFFFFF, "PDN", 60)
    refuse_if(f["form"] not in FORMS, "UMEM_FORM", 64)
    lengths = (4,) if f["form"] == 1 else range(1, 33)
    refuse_if(f["token_len"] not in lengths, "TOKEN_LEN", 66)
    refuse_if(any(f["token"][f["token_len"]:]), "TOKEN", 68)


OWN_CHECKS = {PCI: check_pci, RDMA: check_rdma, UMEM: check_umem}


def check_fields(f):
    check_common(f)
    OWN_CHECKS[f["kind"]](f)


def read_fields(data, kind):
    f = {"kind": kind, "source": number(data, 14, 2), "vhca_id": number(data, 16, 2),
         "access": number(data, 18, 2), "mkey": number(data, 20, 4),
         "device_guid": number(data, 24, 8), "addr": number(data, 32, 8),
         "len": number(data, 40, 8)}
    if kind == PCI:
        f["access_key"] = data[48:80]
    elif kind == RDMA:
        f.update(link_layer=number(data, 48, 2), lid=number(data, 50, 2), gid=data[52:68])
    else:
        f.update(start=number(data, 48, 8), pd_handle=number(data, 56, 4),
                 pdn=number(data, 60, 4), form=number(data, 64, 2),
                 token_len=number(data, 66, 2), token=data[68:100])
    return f


def read_extensions(data, at):
    found, last = [], 0
    while at < len(data):
        size = number(data, at + 2, 2)
        refuse_if(at + 4 > len(data) or at + 4 + size > len(data), "TLV", at)
        kind = number(data, at, 2)
        this = kind & 0x7FFF
        refuse_if(this == 0, "TLV_NUMBER", at)
        refuse_if(this == last, "TLV_REPEATED", at)
        refuse_if(this < last, "TLV_ORDER", at)
        refuse_if(kind & 0x8000, "TLV_CRITICAL", at)
        found.append((this, size))
        last, at = this, at + 4 + size
    return found


def read(data):
    """The header, the fields and the extensions; or Refused."""
    header = read_header(data)
    f = read_fields(data, header["kind"])
    check_fields(f)
    return header, f, read_extensions(data, ENDS[header["kind"]])


def permitted(f):
    """Section 8: the operations, as bits."""
    def has(*bits):
        return any(f["access"] >> bit & 1 for bit in bits)

    if f["kind"] == PCI:
        return 1 * has(4, 5) | 2 * has(5)
    if f["kind"] == RDMA:
        return 1 * has(1) | 2 * has(2) | 4 * has(3)
    return 1 | 2 * has(0) | 4 * has(0)


def judge_access(f, op, first, count):
    if not 0 < op < 8:
        return "OP"
    if op & ~permitted(f):
        return "DENIED"
    if op & 4 and (count != 8 or first % 8):
        return "ALIGNMENT"
    end = f["addr"] + f["len"]
    return "OK" if f["addr"] <= first <= end and first + count <= end else "OUTSIDE"


# Section 9.

def shown(header, f, show_secret):
    rights = [name for bit, name in enumerate(RIGHTS) if f["access"] >> bit & 1]
    yield "version", f"1.{header['minor']}"
    yield "kind", KINDS[f["kind"]]
    yield "size", header["total"]
    yield "source", SOURCES[f["source"]]
    yield "vhca_id", f"0x{f['vhca_id']:04x}"
    yield "access", f"0x{f['access']:04x}"
    yield "rights", rights
    yield "mkey", f"0x{f['mkey']:08x}"
    yield "device_guid", f"0x{f['device_guid']:016x}"
    yield "address", f"0x{f['addr']:016x}"
    yield "length", f"0x{f['len']:016x}"
    if f["kind"] == PCI:
        yield "access_key", f["access_key"].hex() if show_secret else None
    elif f["kind"] == RDMA:
        yield "link_layer", LINK_LAYERS[f["link_layer"]]
        yield "lid", f"0x{f['lid']:04x}"
        yield "gid", f["gid"].hex()
    else:
        yield "start", f"0x{f['start']:016x}"
        yield "pd_handle", f"0x{f['pd_handle']:08x}"
        yield "pdn", f"0x{f['pdn']:06x}"
        yield "form", FORMS[f["form"]]
        yield "token", f["token"][:f["token_len"]].hex()


def as_json(value):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list):
        return "[" + ", ".join(map(as_json, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{k}": {as_json(v)}' for k, v in value.items()) + "}"
    return f'"{value}"'


def print_object(members):
    print("{\n" + ",\n".join(f'  "{k}": {as_json(v)}' for k, v in members) + "\n}")


def print_line(name, value):
    if value is None:
        value = "redacted"
    elif isinstance(value, list):
        value = ", ".join(value) or "none"
    print(f"{name:<12} {value}")


SHOWN, CHECKED = "dpumap-desc-show-1", "dpumap-desc-check-1"


def show(header, f, extensions, args):
    members = list(shown(header, f, args.show_secret))
    if args.json:
        listed = [{"number": f"0x{n:04x}", "size": size} for n, size in extensions]
        print_object([("schema", SHOWN), ("valid", True), *members, ("extensions", listed)])
        return
    for name, value in members:
        print_line(name, value)
    for n, size in extensions:
        print_line("extension", f"0x{n:04x}, {size}")


def report_refusal(refusal, args):
    reason = REASONS[refusal.status]
    if args.json:
        print_object([("schema", SHOWN if args.what == "show" else CHECKED), ("valid", False),
                      ("status", refusal.status), ("byte", refusal.byte), ("reason", reason)])
    print(f"dpumap: {args.file}: byte {refusal.byte}: {reason} ({refusal.status})",
          file=sys.stderr)
    return 14


def run(args):
    try:
        file = sys.stdin.buffer if args.file == "-" else open(args.file, "rb")
        with file:
            data = file.read(513)
    except OSError as error:
        print(f"dpumap: cannot read {args.file}: {error.strerror}", file=sys.stderr)
        return 13
    try:
        header, f, extensions = read(data)
    except Refused as refusal:
        return report_refusal(refusal, args)
    if args.what == "show":
        show(header, f, extensions, args)
    elif args.json:
        print_object([("schema", CHECKED), ("valid", True)])
    else:
        print("good")
    return 0


# Section 11.

def value_of(name, text):
    if name in ("title", "status", "canonical"):
        return text
    if name in ("hex", "access_key", "gid", "token"):
        return bytes.fromhex(text)
    return int(text, 16)


def vectors(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file if not line.startswith("#")]
    vector = {}
    for line in lines + [""]:
        if line:
            name, _, text = line.partition(":")
            value = value_of(name, text.strip())
            vector[name] = vector[name] + value if name == "hex" and name in vector else value
        elif vector:
            yield vector
            vector = {}


def outcome(vector):
    """What this reader says to a vector, in the vector's terms."""
    about = {"title", "hex", "status", "byte", "canonical", "op", "first", "count"}
    f = {name: value for name, value in vector.items() if name not in about}
    said = {name: vector[name] for name in about if name in vector}
    try:
        if "hex" in vector:
            said.update(status="OK", byte=len(vector["hex"]))
            return said | read(vector["hex"])[1]
        refuse_if(f["kind"] not in KINDS, "KIND", 10)
        check_fields(f)
        said["status"] = judge_access(f, *(vector[n] for n in ("op", "first", "count"))) \
            if "op" in vector else "OK"
    except Refused as refusal:
        said["status"] = refusal.status
        if "hex" in vector:
            said["byte"] = refusal.byte
            return said
    return said | f


def agree(paths):
    seen = wrong = 0
    for path in paths:
        for vector in vectors(path):
            seen += 1
            said = outcome(vector)
            if said != vector:
                wrong += 1
                print(f"{path}: {vector['title']}: {said}")
    print(f"{seen} vectors, {wrong} wrong")
    return 0 if seen and not wrong else 1


def judge():
    for line in sys.stdin:
        data = bytes.fromhex(line)
        try:
            read(data)
            print("OK", len(data))
        except Refused as refusal:
            print(refusal.status, refusal.byte)
    return 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    commands = parser.add_subparsers(dest="what", required=True)
    for what in ("show", "check"):
        command = commands.add_parser(what)
        command.add_argument("file")
        command.add_argument("--json", action="store_true")
        command.add_argument("--show-secret", action="store_true")
    commands.add_parser("vectors").add_argument("files", nargs="+")
    commands.add_parser("judge")
    args = parser.parse_args()
    if args.what == "vectors":
        return agree(args.files)
    return judge() if args.what == "judge" else run(args)


if __name__ == "__main__":
    sys.exit(main())
