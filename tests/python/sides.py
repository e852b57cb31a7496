# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What tests call on the other function of the card."""

import os

import dpumap

kept = {}


def export(data, access=dpumap.Access.PCI_READ_WRITE):
    """Exports a buffer with this content, which lives until the next export."""
    device = kept.setdefault("device", dpumap.open_device())
    kept.pop("map", None)
    kept["buffer"] = bytearray(data)
    kept["map"] = dpumap.Map(device, kept["buffer"], access)
    return kept["map"].export()


def content():
    return bytes(kept["buffer"])


def revoke():
    kept["map"].revoke()


def forget():
    for name in ("map", "buffer", "device"):
        thing = kept.pop(name, None)
        if hasattr(thing, "close"):
            thing.close()


def raise_error():
    dpumap.Map.from_export(kept.setdefault("device", dpumap.open_device()), b"no descriptor")


def raise_odd():
    class Odd(Exception):
        pass

    raise Odd("cannot be pickled")


def end(status):
    os._exit(status)


def add(*numbers, scale=1):
    return sum(numbers) * scale
