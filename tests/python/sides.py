# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What tests call on the other function of the card."""

import asyncio
import os

import dpumap
from dpumap.emulator import Emulator

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


def copy_until_the_device_dies():
    """Copies in an event loop while the device dies; returns the name of the error. The objects live on, because a
    dead device may not release them."""
    device = dpumap.open_device()
    map, copier = dpumap.Map(device, bytearray(4096)), dpumap.Copier(device)
    kept["dying"] = (device, map, copier)

    async def run():
        await copier.acopy(map[:2048], map[2048:])
        asyncio.get_running_loop().run_in_executor(None, Emulator.attach().fault, "device")
        while True:
            await copier.acopy(map[:2048], map[2048:])

    try:
        asyncio.run(run())
    except dpumap.Error as error:
        return error.name


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
