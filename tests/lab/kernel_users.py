#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""kernel_users.py nvme|iser|rds|nfs ADDRESS: a user of RDMA in the kernel exchanges bytes with itself, over the RDMA device
that has the address. They are compared. Its modules are loaded; its programs are not needed, as this one writes to the
kernel's files what they write."""

import ctypes
import errno
import faulthandler
import mmap
import os
import random
import select
import socket
import struct
import sys
import threading
import time

import iscsi

PATIENCE = 1200


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text + "\n")


def await_path(path):
    deadline = time.monotonic() + PATIENCE
    while not os.path.exists(path):
        assert time.monotonic() < deadline, f"{path} does not exist"
        time.sleep(0.05)


def buffer(size):
    """Memory of whole pages. It is private, as RDS locks the pages of an RDMA read in an interrupt when it frees them: the
    end of shared memory, which locks them too, makes Linux 6.1 sleep there."""
    return mmap.mmap(-1, (size + 4095) // 4096 * 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


def address_of(made):
    return ctypes.addressof(ctypes.c_char.from_buffer(made))



# --- block devices


class Target:
    """A memory disk that nvmet offers by RDMA."""

    ROOT = "/sys/kernel/config/nvmet"
    NAME = "lab"

    def __init__(self, address, disk):
        self.subsystem, self.port = f"{self.ROOT}/subsystems/{self.NAME}", f"{self.ROOT}/ports/1"
        self.space = f"{self.subsystem}/namespaces/1"
        for path in (self.subsystem, self.space, self.port):
            os.mkdir(path)
        write(f"{self.subsystem}/attr_allow_any_host", "1")
        write(f"{self.space}/device_path", disk)
        write(f"{self.space}/enable", "1")
        for name, value in (("trtype", "rdma"), ("traddr", address), ("trsvcid", "4420"), ("adrfam", "ipv4")):
            write(f"{self.port}/addr_{name}", value)
        self.link = f"{self.port}/subsystems/{self.NAME}"
        os.symlink(self.subsystem, self.link)

    def end(self):
        os.unlink(self.link)
        write(f"{self.space}/enable", "0")
        for path in (self.port, self.space, self.subsystem):
            os.rmdir(path)


def pieces(made, sizes):
    """Parts of a buffer that do not follow each other."""
    view, at, parts = memoryview(made), 0, []
    for size in sizes:
        parts.append(view[at : at + size])
        at += size + 512
    return parts


def exchange_blocks(disk, remote, seed):
    """Writes by the network and reads on the disk, and the other way round, at many places and in many pieces."""
    rng = random.Random(seed)
    size = os.lseek(disk, 0, os.SEEK_END)
    for turn in range(120):
        sizes = [512 * rng.randint(1, 64) for _ in range(rng.randint(1, 12))] if turn % 2 else [4096 * rng.randint(1, 64)]
        total = sum(sizes)
        at = 4096 * rng.randrange((size - total) // 4096)
        data = rng.randbytes(total)
        room = buffer(total + 512 * len(sizes))
        parts, offset = pieces(room, sizes), 0
        for part in parts:
            part[:] = data[offset : offset + len(part)]
            offset += len(part)
        here, there = (remote, disk) if turn % 4 < 2 else (disk, remote)
        assert os.pwritev(here, parts, at) == total
        for part in parts:
            part[:] = bytes(len(part))
        assert os.preadv(there, parts, at) == total
        assert b"".join(parts) == data, f"turn {turn}: {sizes} at {at}"


def nvme(address):
    target = Target(address, "/dev/ram0")
    write("/dev/nvme-fabrics", f"transport=rdma,traddr={address},trsvcid=4420,nqn={Target.NAME}")
    await_path("/dev/nvme0n1")
    disk, remote = (os.open(path, os.O_RDWR | os.O_DIRECT) for path in ("/dev/ram0", "/dev/nvme0n1"))
    exchange_blocks(disk, remote, 1)
    os.close(remote)
    write("/sys/class/nvme/nvme0/delete_controller", "1")
    os.close(disk)
    target.end()


def iser(address):
    target = iscsi.Target(address, "/dev/ram0")
    initiator = iscsi.Initiator(address)
    disk, remote = (os.open(path, os.O_RDWR | os.O_DIRECT) for path in ("/dev/ram0", initiator.disk()))
    exchange_blocks(disk, remote, 4)
    os.close(remote)
    initiator.end()
    os.close(disk)
    target.end()



# --- sockets

RDS, SOL_RDS, FREE_MR, RDMA_ARGS, RDMA_MAP, RDMA_STATUS = 21, 276, 3, 1, 3, 4
READWRITE, NOTIFY, TOKEN = 1, 0x20, 7


def rds_socket(address, port):
    made = socket.socket(RDS, socket.SOCK_SEQPACKET)
    made.settimeout(PATIENCE)
    made.bind((address, port))
    return made


def exchange_messages(a, b, rng):
    """In both directions."""
    for size in [1, 100, 4096, 70000] + [rng.randint(1, 100000) for _ in range(40)]:
        for one, other in ((a, b), (b, a)):
            data = rng.randbytes(size)
            assert one.sendto(data, other.getsockname()[:2]) == size
            got, sender = other.recvfrom(2 << 20)
            assert got == data and sender[1] == one.getsockname()[1]


def exchange_by_rdma(a, b, rng):
    """b names memory in a message, and a writes and reads it."""
    for size in (100, 4096, 5000, 300000):
        far, near = buffer(size), buffer(size)
        cookie = ctypes.c_uint64()
        vector = struct.pack("=QQQQ", address_of(far) + 8, size - 8, ctypes.addressof(cookie), READWRITE)
        b.sendmsg([b"here"], [(SOL_RDS, RDMA_MAP, vector)], 0, a.getsockname()[:2])
        assert a.recv(100) == b"here"
        data = rng.randbytes(size - 8)
        for put in (True, False):
            near[: size - 8], far[8:size] = (data, bytes(size - 8)) if put else (bytes(size - 8), data)
            local = ctypes.create_string_buffer(struct.pack("=QQ", address_of(near), size - 8))
            flags = NOTIFY | (READWRITE if put else 0)
            words = (cookie.value, 0, size - 8, ctypes.addressof(local), 1, flags, TOKEN)
            a.sendmsg([b"done"], [(SOL_RDS, RDMA_ARGS, struct.pack("=7Q", *words))], 0, b.getsockname()[:2])
            assert b.recv(100) == b"done"
            kind, note = a.recvmsg(16, 256)[1][0][1:]
            assert kind == RDMA_STATUS and struct.unpack_from("=Qi", note) == (TOKEN, 0)
            assert near[: size - 8] == data and far[8:size] == data, f"{size} bytes, {'write' if put else 'read'}"
        b.setsockopt(SOL_RDS, FREE_MR, struct.pack("=QQ", cookie.value, 1))


def rds(address):
    rng = random.Random(2)
    with rds_socket(address, 5001) as a, rds_socket(address, 5002) as b:
        exchange_messages(a, b, rng)
        exchange_by_rdma(a, b, rng)



# --- file systems


class Daemons(threading.Thread):
    """What the NFS server asks programs: rpcbind accepts all, and everybody may mount one directory."""

    CHANNELS = ("auth.unix.ip", "nfsd.export", "nfsd.fh")
    # NFSEXP_FSID: it is the root of NFSv4; NFSEXP_NOSUBTREECHECK: newer kernels check a tmpfs in vain; NFSEXP_INSECURE_PORT
    FLAGS = 0x2000 | 0x400 | 0x2

    def __init__(self, directory):
        super().__init__(daemon=True)
        self.directory = directory
        self.files = {name: os.open(f"/proc/net/rpc/{name}/channel", os.O_RDWR) for name in self.CHANNELS}
        self.portmapper = socket.create_server(("127.0.0.1", 111))

    def answer(self, name, words):
        later = int(time.time()) + 3600
        if name == "auth.unix.ip":
            return f"{words[0]} {words[1]} {later} all"
        if name == "nfsd.export":
            return f"{words[0]} {words[1]} {later} {self.FLAGS} -2 -2 0"
        return f"{words[0]} {words[1]} {words[2]} {later} {self.directory}"

    def serve_channel(self, name):
        poll = select.poll()
        poll.register(self.files[name], select.POLLIN)
        while True:
            poll.poll()
            request = os.read(self.files[name], 4096).decode().split()
            if request:
                os.write(self.files[name], (self.answer(name, request) + "\n").encode())

    def serve_portmapper(self, peer):
        with peer:
            while True:
                head = peer.recv(4, socket.MSG_WAITALL)
                if len(head) < 4:
                    return
                call = peer.recv(struct.unpack(">I", head)[0] & 0x7FFFFFFF, socket.MSG_WAITALL)
                xid, procedure = call[:4], struct.unpack_from(">I", call, 20)[0]
                reply = xid + struct.pack(">5I", 1, 0, 0, 0, 0) + (struct.pack(">I", 1) if procedure else b"")
                peer.sendall(struct.pack(">I", len(reply) | 1 << 31) + reply)

    def run(self):
        for name in self.CHANNELS:
            threading.Thread(target=self.serve_channel, args=(name,), daemon=True).start()
        while True:
            peer = self.portmapper.accept()[0]
            threading.Thread(target=self.serve_portmapper, args=(peer,), daemon=True).start()


def mount(source, target, kind, options=""):
    libc = ctypes.CDLL(None, use_errno=True)
    words = [ctypes.c_char_p(word.encode()) for word in (source, target, kind)]
    if libc.mount(*words, ctypes.c_ulong(0), ctypes.c_char_p(options.encode())):
        raise OSError(ctypes.get_errno(), f"cannot mount {source}")


def umount(target):
    """The server closes the files of its clients, and forgets its exports, a little after it has ended."""
    libc = ctypes.CDLL(None, use_errno=True)
    for _ in range(300):
        if not libc.umount(ctypes.c_char_p(target.encode())):
            return
        assert ctypes.get_errno() == errno.EBUSY, target
        time.sleep(0.1)
    raise TimeoutError(f"{target} is busy")


def exchange_files(here, there, rng):
    for turn, size in enumerate([0, 1, 100, 4096, 10000, 1 << 20, 5000001]):
        data = rng.randbytes(size)
        one, other = (here, there) if turn % 2 else (there, here)
        for kind in ("a", "b"):
            with open(f"{one}/{turn}{kind}", "wb") as file:
                file.write(data)
            with open(f"{other}/{turn}{kind}", "rb") as file:
                assert file.read() == data, f"{size} bytes"
    assert sorted(os.listdir(here)) == sorted(os.listdir(there))


def end_grace():
    """Newer kernels end it by themselves, as there was no client, and then refuse to."""
    try:
        write("/proc/fs/nfsd/v4_end_grace", "Y")
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise


def nfs(address):
    server, client = "/tmp/server", "/tmp/client"
    for path in (server, client, "/var/lib/nfs/v4recovery"):  # without the last one, the server serves later
        os.makedirs(path, exist_ok=True)
    mount("none", server, "tmpfs")
    mount("none", "/proc/fs/nfsd", "nfsd")
    Daemons(server).start()
    write("/proc/fs/nfsd/versions", "-3 +4 +4.1 +4.2")
    write("/proc/fs/nfsd/nfsv4leasetime", "10")
    write("/proc/fs/nfsd/nfsv4gracetime", "10")
    write("/proc/fs/nfsd/portlist", "rdma 20049")
    write("/proc/fs/nfsd/threads", "2")
    end_grace()
    mount(f"{address}:/", client, "nfs4", f"vers=4.2,proto=rdma,port=20049,addr={address},clientaddr={address}")
    exchange_files(server, client, random.Random(3))
    umount(client)
    write("/proc/fs/nfsd/threads", "0")
    for name in Daemons.CHANNELS:
        write(f"/proc/net/rpc/{name}/flush", str(int(time.time()) + 1))
    umount("/proc/fs/nfsd")
    umount(server)


if __name__ == "__main__":
    faulthandler.dump_traceback_later(4 * PATIENCE)  # what it waits for in vain
    {"nvme": nvme, "iser": iser, "rds": rds, "nfs": nfs}[sys.argv[1]](sys.argv[2])
