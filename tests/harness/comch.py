# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""dpumapd as a server of the control channel, its clients, and attackers that write their own bytes."""

import os
import pathlib
import socket
import struct
import subprocess

ME = f"uid:{os.geteuid()}"
WEB = f'{{ name = "web"; kind = "dram"; size = "64K"; allow = [ "{ME}" ]; }}'
READ_ONLY = '{ name = "ro"; kind = "dram"; size = 4096; perm = "ro"; allow = [ "*" ]; }'
OTHERS = '{ name = "others"; kind = "dram"; size = 4096; allow = [ "uid:54321" ]; }'
FAR = '{ name = "far"; kind = "dram"; size = "64K"; via = "rdma"; allow = [ "*" ]; }'


class Served:
    """dpumapd and its configuration, which a test changes."""

    def __init__(self, serve, dpu):
        self.serve, self.dpu, self.agent = serve, dpu, None
        self.exports, self.comch, self.more = [WEB, READ_ONLY, OTHERS, FAR], 'serve = "dpumapd";', ""

    def path(self, name="comch.conf"):
        text = f'listen = [ "unix:{self.dpu.dir}/socket" ];\nadmin = "{self.dpu.dir}/admin";\n'
        text += f"comch = {{ {self.comch} }};\n{self.more}exports = ( {', '.join(self.exports)} );\n"
        self.dpu.put({name: text})
        return f"{self.dpu.dir}/{name}"

    def start(self, **more):
        self.agent = self.serve("--config", self.path(), **more)
        return self.agent

    def reload(self):
        self.path()
        return self.agent.ctl("reload")


class Client:
    """The test program agents_comch."""

    def __init__(self, machine, name, address, **more):
        options = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **more}
        self.process = machine.start(["agents_comch", address, name], **options)
        self.state = self.line()

    def line(self):
        return self.process.stdout.readline().rstrip("\n")

    def tell(self, command):
        self.process.stdin.write(f"{command}\n")
        self.process.stdin.flush()

    def do(self, command):
        self.tell(command)
        return self.line()

    def ask(self, request):
        return self.do(f"ask {request}")

    def end(self):
        """Disconnects; the program must succeed."""
        _, err = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, err

    def kill(self):
        self.process.kill()
        self.process.communicate()


HELLO, WELCOME, REFUSE, MESSAGE, CREDIT, BYE = range(1, 7)
MAX_MESSAGE = 4080


def frame(kind, payload=b"", credit=0, length=None):
    """A frame of src/comch/link/wire.h."""
    size = len(payload) if length is None else length
    return struct.pack("<IBBH", size, kind, 0, credit) + payload + bytes(-len(payload) % 8)


class Raw:
    """A connection to a server's socket."""

    def __init__(self, directory, patience=30):
        (self.path,) = pathlib.Path(directory).glob("*.sock")
        card, function, _ = self.path.name.split("-")
        self.place = (int(function, 16), int(card, 16))
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(patience)
        self.socket.connect(str(self.path))
        self.received = b""
        self.owed = 0  # credits: messages received that the server does not know of

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        """False if the server has closed the connection."""
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            return False
        return True

    def preamble(self, name=b"dpumapd", begins=1):
        return b"dpmc" + struct.pack("<BBHQ", 1, begins, *self.place) + name.ljust(120, b"\0")

    def hello(self, name=b"dpumapd", longest=MAX_MESSAGE, window=1024):
        payload = b"DPCH" + struct.pack("<HHQII", 1, *self.place, longest, window) + name
        return frame(HELLO, payload)

    def frame(self):
        """(type, payload), or None at the end of the connection."""
        while True:
            if len(self.received) >= 8:
                size, kind = struct.unpack("<IB", self.received[:5])
                whole = 8 + size + -size % 8
                if len(self.received) >= whole:
                    payload = self.received[8 : 8 + size]
                    self.received = self.received[whole:]
                    return kind, payload
            try:
                data = self.socket.recv(65536)
            except ConnectionResetError:
                data = b""
            if not data:
                return None
            self.received += data

    def message(self):
        """The text of the next message."""
        got = self.frame()
        while got and got[0] == CREDIT:
            got = self.frame()
        self.owed += 1
        return got and got[1].decode(errors="replace")

    def is_closed(self):
        """Waits for the end of the connection."""
        while self.frame():
            pass
        return True

    def open(self, **limits):
        """A connection that the server has accepted."""
        self.send(self.preamble() + self.hello(**limits))
        got = self.frame()
        assert got and got[0] == WELCOME, got
        return self

    def ask(self, text):
        self.send(frame(MESSAGE, text.encode(), self.owed))
        self.owed = 0
        return self.message()
