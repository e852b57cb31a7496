#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: relay.py HOST:PORT FILE: one who sits between both and writes down what they say.

Prints the port that it listens on, on 127.0.0.1, and serves one connection.
"""

import select
import socket
import sys

HOST, PORT = sys.argv[1].rsplit(":", 1)

with socket.create_server(("127.0.0.1", 0)) as listener, open(sys.argv[2], "wb") as file:
    print(listener.getsockname()[1], flush=True)
    near = listener.accept()[0]
    far = socket.create_connection((HOST, int(PORT)))
    goes_to = {near: far, far: near}
    while True:
        for s in select.select([near, far], [], [])[0]:
            try:
                data = s.recv(65536)
            except ConnectionError:
                data = b""
            if not data:
                sys.exit(0)
            file.write(data)
            goes_to[s].sendall(data)
