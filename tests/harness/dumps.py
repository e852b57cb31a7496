# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What a core dump of a process contains."""

import re

LARGE = 1 << 30  # a sanitizer's


def mappings(pid):
    """(first, end, whether core dumps leave it out) of each mapping that has pages."""
    with open(f"/proc/{pid}/smaps", encoding="utf-8") as file:
        text = file.read()
    for head, pages, flags in re.findall(
        r"^(\w+-\w+) .*\n(?:\w+:.*\n)*?Rss: +(\d+) kB\n(?:\w+:.*\n)*?VmFlags:(.*)$", text, re.M
    ):
        first, end = (int(part, 16) for part in head.split("-"))
        if pages != "0" and " rd" in flags and " io" not in flags and end - first < LARGE:
            yield first, end, " dd" in flags


def find(pid, secret):
    """How often the process has these bytes in memory that is dumped, and in memory that is not."""
    counts = {False: 0, True: 0}
    with open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for first, end, left_out in mappings(pid):
            data = b""
            while first < end:
                try:
                    memory.seek(first)
                    piece = memory.read(min(end - first, 1 << 20))
                except (OSError, ValueError, OverflowError):
                    break
                counts[left_out] += (data[-len(secret) + 1 :] + piece).count(secret)
                data = piece
                first += len(piece)
    return counts[False], counts[True]
