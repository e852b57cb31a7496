# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A target of iSCSI in the kernel, and what an initiator's daemon says to the kernel: it connects, logs in, and hands
the session over. Numbers are those of Linux's scsi/iscsi_if.h and scsi/iscsi_proto.h."""

import os
import pathlib
import socket
import struct
import time

PATIENCE = 1200
NETLINK_ISCSI, GROUP_OF_DAEMONS = 8, 1
UEVENT = "=IiQ24s16s"  # type, iferror, transport, what is asked, what is answered
DESTROY_SESSION, CREATE_CONN, DESTROY_CONN, BIND_CONN, SET_PARAM, START_CONN, STOP_CONN, SEND_PDU = range(12, 20)
EP_CONNECT, EP_POLL = 22, 23
CREATE_BOUND_SESSION = 28
RECV_PDU, CONN_ERROR = 101, 102
STOP_FOR_GOOD = 1
NON_BLOCKING = struct.pack("=I", 1)  # ib_iser waits for itself in the other mode
PARAMS = {
    "max_recv": 0, "max_xmit": 1, "initial_r2t": 4, "max_r2t": 5, "immediate": 6, "first_burst": 7, "max_burst": 8,
    "in_order": 9, "sequence_in_order": 10, "erl": 11, "target": 15, "group": 16, "initiator": 34,
}  # fmt: skip
LOGIN, LOGIN_ANSWER = 0x43, 0x23
LOGIN_TO_FULL_FEATURES = 0x87  # from the stage of operational parameters
KEYS = {
    "SessionType": "Normal", "HeaderDigest": "None", "DataDigest": "None", "ErrorRecoveryLevel": "0", "InitialR2T": "Yes",
    "ImmediateData": "Yes", "MaxBurstLength": "262144", "FirstBurstLength": "65536", "MaxOutstandingR2T": "1",
    "MaxConnections": "1", "DataPDUInOrder": "Yes", "DataSequenceInOrder": "Yes", "DefaultTime2Wait": "2",
    "DefaultTime2Retain": "0", "RDMAExtensions": "Yes", "InitiatorRecvDataSegmentLength": "8192",
    "TargetRecvDataSegmentLength": "8192",
}  # fmt: skip


def write(path, text):
    pathlib.Path(path).write_text(text + "\n", encoding="ascii")


class Target:
    """A block device that everybody may use, by iSER."""

    ROOT = pathlib.Path("/sys/kernel/config/target")
    NAME = "iqn.2026-01.example.dpumap:lab"

    def __init__(self, address, device):
        self.disk = self.ROOT / "core/iblock_0/lab"
        self.target = self.ROOT / "iscsi" / self.NAME
        self.group = self.target / "tpgt_1"
        self.portal, self.unit = self.group / f"np/{address}:3260", self.group / "lun/lun_0"
        self.made = [self.disk.parent, self.disk, self.target.parent, self.target, self.group, self.portal, self.unit]
        for path in self.made:
            path.mkdir(exist_ok=path == self.target.parent)
        write(self.disk / "control", f"udev_path={device}")
        write(self.disk / "enable", "1")
        write(self.portal / "iser", "1")
        self.link = self.unit / "lab"
        self.link.symlink_to(self.disk)
        for name, value in (("authentication", 0), ("generate_node_acls", 1), ("demo_mode_write_protect", 0)):
            write(self.group / "attrib" / name, f"{value}")
        write(self.group / "enable", "1")

    def end(self):
        write(self.group / "enable", "0")
        self.link.unlink()
        for path in reversed(self.made):
            path.rmdir()


class Initiator:
    """One session with one connection."""

    NAME = "iqn.2026-01.example.dpumap:initiator"

    def __init__(self, address):
        self.kernel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_ISCSI)
        self.kernel.bind((0, GROUP_OF_DAEMONS))
        self.kernel.settimeout(PATIENCE)
        self.messages = {}
        self.transport = int(pathlib.Path("/sys/class/iscsi_transport/iser/handle").read_text("ascii"))
        (self.endpoint,) = struct.unpack_from("=Q", self.ask(EP_CONNECT, NON_BLOCKING, self.place(address)))
        assert struct.unpack_from("=i", self.ask(EP_POLL, struct.pack("=QI", self.endpoint, PATIENCE * 1000)))[0] == 1
        answer = self.ask(CREATE_BOUND_SESSION, struct.pack("=QIHH", self.endpoint, 1, 128, 32))
        self.session, self.host = struct.unpack_from("=II", answer)
        self.ask(CREATE_CONN, self.connection())
        self.succeed(BIND_CONN, self.connection() + struct.pack("=QI", self.endpoint, 1))
        self.set("initiator", self.NAME)
        self.set("target", Target.NAME)
        self.agree(self.log_in())
        self.succeed(START_CONN, self.connection())
        write(f"/sys/class/scsi_host/host{self.host}/scan", "- - -")

    @staticmethod
    def place(address):
        return struct.pack("=H2s4s8x", socket.AF_INET, struct.pack("!H", 3260), socket.inet_aton(address))

    def connection(self):
        return struct.pack("=II", self.session, 0)

    def receive(self, kind):
        """The next message of the kind, which may have come while another one was awaited."""
        while kind not in self.messages:
            message = self.kernel.recv(1 << 16)
            event = message[16 : struct.unpack_from("=I", message)[0]]
            got, _, _, _, answer = struct.unpack_from(UEVENT, event)
            assert got != CONN_ERROR, f"the connection fails: {struct.unpack_from('=8xI', answer)[0]}"
            self.messages[got] = event
        return self.messages.pop(kind)

    def ask(self, kind, asked, more=b""):
        event = struct.pack(UEVENT, kind, 0, self.transport, asked, b"") + more
        self.kernel.send(struct.pack("=IHHII", 16 + len(event), kind, 0, 0, 0) + event)
        _, error, _, _, answer = struct.unpack_from(UEVENT, self.receive(kind))
        assert not error, f"command {kind}: {os.strerror(-error)}"
        return answer

    def succeed(self, kind, asked, more=b""):
        (code,) = struct.unpack_from("=i", self.ask(kind, asked, more))
        assert code == 0, f"command {kind}: {code}"

    def set(self, name, value):
        text = f"{value}".encode() + b"\0"
        self.succeed(SET_PARAM, self.connection() + struct.pack("=II", PARAMS[name], len(text)), text)

    def log_in(self):
        """Returns the keys of the answer."""
        keys = {"InitiatorName": self.NAME, "TargetName": Target.NAME, **KEYS}
        text = b"".join(f"{key}={value}".encode() + b"\0" for key, value in keys.items())
        head = struct.pack("!BBBBB3s6sHIHHII16x", LOGIN, LOGIN_TO_FULL_FEATURES, 0, 0, 0, len(text).to_bytes(3, "big"),
                           b"\x80labor", 0, 1, 0, 0, 1, 0)  # fmt: skip
        text += bytes(-len(text) % 4)
        self.succeed(SEND_PDU, self.connection() + struct.pack("=II", len(head), len(text)), head + text)
        answer = self.receive(RECV_PDU)[struct.calcsize(UEVENT) :]
        assert answer[0] & 0x3F == LOGIN_ANSWER and answer[36:38] == b"\0\0", f"login: {answer[:48].hex()}"
        assert answer[1] == LOGIN_TO_FULL_FEATURES, f"login does not end: {answer[48:]}"
        return dict(key.decode().split("=", 1) for key in answer[48:].split(b"\0") if key)

    def agree(self, keys):
        """What the target answered, or what it did not object to."""
        keys = {**KEYS, **keys}
        for name, key in (
            ("max_recv", "InitiatorRecvDataSegmentLength"), ("max_xmit", "TargetRecvDataSegmentLength"),
            ("first_burst", "FirstBurstLength"), ("max_burst", "MaxBurstLength"), ("max_r2t", "MaxOutstandingR2T"),
        ):  # fmt: skip
            self.set(name, keys[key])
        for name, key in (("initial_r2t", "InitialR2T"), ("immediate", "ImmediateData")):
            self.set(name, int(keys[key] == "Yes"))
        for name, value in (("in_order", 1), ("sequence_in_order", 1), ("erl", 0), ("group", 1)):
            self.set(name, value)

    def disk(self):
        """Its path, when it is there."""
        deadline = time.monotonic() + PATIENCE
        units = pathlib.Path(f"/sys/class/iscsi_session/session{self.session}/device")
        while True:
            for found in units.glob("target*/*/block/sd*"):
                if os.path.exists(f"/dev/{found.name}"):
                    return f"/dev/{found.name}"
            assert time.monotonic() < deadline, "there is no disk"
            time.sleep(0.05)

    def end(self):
        for unit in pathlib.Path(f"/sys/class/iscsi_session/session{self.session}/device").glob("target*/*/delete"):
            write(unit, "1")
        self.succeed(STOP_CONN, self.connection() + struct.pack("=QI", 0, STOP_FOR_GOOD))
        self.succeed(DESTROY_CONN, self.connection())
        self.succeed(DESTROY_SESSION, struct.pack("=I", self.session))
        self.kernel.close()
