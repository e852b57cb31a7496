#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: doctor-peer.py PATH version|silent|rubbish|close: one that is not the dpumapd wanted."""

import os
import socket
import sys
import time

import wire

PATH, MANNER = sys.argv[1:]
ANSWERS = {
    "version": wire.frame(wire.cbor({"id": 1, "status": 0, "version": 7})),
    "rubbish": b"HTTP/1.1 400 Bad Request\r\n\r\n",
    "close": b"",
}

with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
    listener.bind(PATH + ".new")
    listener.listen()
    os.rename(PATH + ".new", PATH)
    kept = []
    while True:
        peer = listener.accept()[0]
        if MANNER == "silent":
            kept.append(peer)
            continue
        with peer:
            # One that only looks whether anybody listens says nothing
            peer.settimeout(5)
            try:
                if wire.receive(peer):
                    peer.sendall(ANSWERS[MANNER])
                    time.sleep(0.1)
            except OSError:
                pass
