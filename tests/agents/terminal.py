#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: terminal.py PATTERN COMMAND...

Runs the command on a terminal of its own until it prints what the pattern matches, then types
Ctrl-C; fails if it never does, or does not end by that.
"""
import os
import pty
import re
import sys


def main():
    pattern = re.compile(sys.argv[1].encode())
    pid, fd = pty.fork()
    if pid == 0:
        os.execvp(sys.argv[2], sys.argv[2:])
    printed, typed = b"", False
    while True:
        try:
            data = os.read(fd, 65536)
        except OSError:
            break
        if not data:
            break
        printed += data
        if not typed and pattern.search(printed):
            os.write(fd, b"\x03")
            typed = True
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    if not typed or code == 0:
        print(f"ended with {code}, printed {printed[-500:]!r}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
