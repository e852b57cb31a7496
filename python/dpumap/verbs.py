# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Devices that are shared with pyverbs in the same process.

Both sides use the same context and protection domain of the kernel, so a key of one side is valid in work
requests of the other. They are handed over by their kernel handles; neither side touches the other's
structures in memory.
"""

import contextlib
import os
from typing import Any, Iterator, List, Tuple

from dpumap._library import function, get
from dpumap.device import Device
from dpumap.errors import Driver


@contextlib.contextmanager
def to_pyverbs(device: Device) -> Iterator[Tuple[Any, Any]]:
    """The device as (Context, PD) of pyverbs. Objects on them end before the with statement does."""
    from pyverbs.device import Context
    from pyverbs.pd import PD

    with device._handle.pinned() as dev:
        handle = get("doca_rdma_bridge_get_dev_pd", "struct ibv_pd *", dev).handle
        context = Context(cmd_fd=device.export_fd())  # which owns the descriptor from now on
        try:
            pd = PD(context, handle=handle)
            try:
                yield context, pd
            finally:
                pd.unimport()
        finally:
            context.close()


def from_pyverbs(context: Any, pd: Any = None) -> Device:
    """Open a Context of pyverbs as a device, which keeps the objects of pyverbs alive.

    Without a PD, the device has a protection domain of its own. With a PD of the context, it has that one:
    such a device can be added to maps, but can neither export nor import.
    """
    if pd is None:
        device = Device.from_fd(context.cmd_fd)
        device._handle.keeps = context
        return device
    imported = function("ibv_import_device")(os.dup(context.cmd_fd))
    if not imported:
        raise Driver("the context cannot be imported", None, "ibv_import_device")
    pds: List[Any] = []

    def close() -> None:
        for one in pds:
            function("ibv_unimport_pd")(one)
        function("ibv_close_device")(imported)

    try:
        made = function("ibv_import_pd")(imported, pd.handle)
        if not made:
            raise Driver("the protection domain cannot be imported", None, "ibv_import_pd")
        pds.append(made)
        pointer = get("doca_rdma_bridge_open_dev_from_pd", "struct doca_dev *", made)
    except BaseException:
        close()
        raise
    return Device(pointer, keeps=(context, pd), close=close)
