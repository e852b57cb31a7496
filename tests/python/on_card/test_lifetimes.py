# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Objects are closed, forgotten and used in every order. No order crashes, leaks or frees memory that a
device may still write to."""

import asyncio
import gc
import itertools
import os
import subprocess
import sys
import threading

import pytest

import dpumap
from dpumap import Access, Copier, Device, DeviceMemory, Map, errors

NAMES = ("device", "map", "memory", "memory_map", "copier", "imported")


def build():
    device = dpumap.open_device(own=True)
    made = {"device": device, "map": Map(device, bytearray(64), Access.PCI_READ_WRITE)}
    made["memory"] = DeviceMemory(device, 64)
    made["memory_map"] = Map.of_device_memory(made["memory"])
    made["copier"] = Copier(device, depth=1)
    made["imported"] = Map.from_export(device, made["map"].export())
    return made


def use(made):
    """Calls everything with everything. Each call succeeds or raises an error of the package."""
    device, map, memory, memory_map, copier, imported = (made[name] for name in NAMES)
    calls = [
        lambda: device.card_guid,
        lambda: device.info.name,
        lambda: os.close(device.export_fd()),
        lambda: Map(device, bytearray(8)).close(),
        lambda: DeviceMemory(device, 64).close(),
        lambda: Copier(device, 1).close(),
        lambda: Map.from_export(device, map.export()).close(),
        lambda: map.key(),
        lambda: map.key(device),
        lambda: memory.write(bytes(64)),
        lambda: memory.read(),
        lambda: memory.handle,
        lambda: Map.of_device_memory(memory).close(),
        lambda: memory_map.export(),
        lambda: copier.copy(map, memory_map),
        lambda: copier.copy(memory_map[:32], map[32:]),
        lambda: asyncio.run(copier.acopy(map, memory_map)),
        lambda: imported.key(),
        lambda: copier.copy(memory_map, imported),
        lambda: repr([device, map, memory, memory_map, copier, imported, map[1:2]]),
        lambda: map.revoke(),
    ]
    failed = 0
    for call in calls:
        try:
            call()
        except errors.Error:
            failed += 1
    return failed


# What must be closed before an object can be.
NEEDED_BY = {"device": {"map", "memory", "memory_map", "copier", "imported"}, "memory": {"memory_map"}}


@pytest.mark.parametrize("without", ["copier", "imported"])  # which do not depend on each other
def test_closing_in_every_order(without):
    for order in itertools.permutations(name for name in NAMES if name != without):
        made = build()
        made[without].close()
        open_names = set(order)
        for name in order:
            users = NEEDED_BY.get(name, set()) & open_names
            if users:
                with pytest.raises(errors.InUse):
                    made[name].close()
            else:
                made[name].close()
                made[name].close()
                open_names.discard(name)
        for name in [name for name in reversed(NAMES) if name in open_names]:
            made[name].close()
        assert all(made[name].closed for name in NAMES)


@pytest.mark.parametrize("first", NAMES)
def test_use_after_closing(first):
    for second in NAMES:
        made = build()
        for name in (first, second):
            try:
                made[name].close()
            except errors.InUse:
                pass
        use(made)
        for name in reversed(NAMES):
            made[name].close()
        assert use(made) >= 19
        del made


def test_forgetting_in_every_order(card):
    for order in itertools.permutations(NAMES[:-1]):  # an import lives as long as any map
        made = build()
        for name in order:
            del made[name]
    del made
    gc.collect()
    assert not any(card.objects().values())


def test_forgetting_all_at_once_in_a_cycle(card):
    for _ in range(5):
        made = build()
        made["cycle"] = made
        made["device"].loop = made
        del made
        gc.collect()
    assert not any(card.objects().values())


def test_forgotten_device_lives_as_long_as_its_maps(device):
    copier = Copier(dpumap.open_device(own=True))
    with pytest.raises(errors.NotFound):
        with Map(device, bytearray(8)) as map:
            copier.copy(map[:4], map[4:])
    copier.close()


def test_map_made_on_a_closed_device(device):
    other = dpumap.open_device(own=True)
    other.close()
    for make in (
        lambda: Map(other, bytearray(8)),
        lambda: Map([device, other], bytearray(8)),
        lambda: DeviceMemory(other, 64),
        lambda: Copier(other),
        lambda: Map.from_export(other, b"1"),
    ):
        with pytest.raises(errors.BadState, match="closed"):
            make()


def test_unfinished_objects_can_be_forgotten():
    for kind in (Map, DeviceMemory, Copier, Device):
        assert kind.__new__(kind) is not None
    gc.collect()


def test_threads_that_close_what_others_use(device):
    for _ in range(20):
        maps = [Map(device, bytearray(4096)) for _ in range(8)]
        copiers = [Copier(device, 2) for _ in range(2)]
        things = [*maps, *copiers]

        def work(copier):
            for dst, src in itertools.permutations(maps, 2):
                try:
                    copier.copy(dst, src)
                except errors.Error:
                    pass

        def end():
            while not all(one.closed for one in things):
                for one in things:
                    try:
                        one.close()
                    except errors.InUse:
                        pass

        threads = [threading.Thread(target=work, args=(copier,)) for copier in copiers]
        threads.append(threading.Thread(target=end))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def test_objects_of_the_parent_are_refused_in_a_child(device, copier):
    with Map(device, bytearray(64)) as map:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                with pytest.raises(errors.BadState, match="process"):
                    map.export()
                with pytest.raises(errors.BadState):
                    copier.copy(map[:8], map[8:16])
                map.close()
                copier.close()
                dpumap.devices()
                with pytest.raises(errors.InvalidValue, match="."):
                    dpumap.Device.from_fd(-1)
                status = 0
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        copier.copy(map[:8], map[8:16])


def test_map_that_the_device_does_not_release_keeps_its_memory(card, device):
    buffer = bytearray(64)
    map = Map(device, buffer)
    with card.faults(method="mr.destroy", errno="EIO", count="all"):
        with pytest.raises(errors.Error):
            map.close()
        assert not map.closed
        with pytest.raises(BufferError):
            buffer.clear()
    map.close()
    buffer.clear()


def test_forgotten_map_that_the_device_does_not_release_is_reported(card):
    from dpumap import _handle

    device = dpumap.open_device(own=True)
    buffer = bytearray(64)
    map = Map(device, buffer)
    with card.faults(method="mr.destroy", errno="EIO", count="all"):
        with pytest.warns(ResourceWarning, match="could not be destroyed"):
            del map
        with pytest.raises(BufferError):
            buffer.clear()
    (leaked,) = _handle._leaked
    _handle._leaked.clear()
    leaked.closed = False
    leaked.close()
    device.close()


def test_maps_forgotten_while_the_library_calls_back(device):
    from dpumap import _handle

    map = Map(device, bytearray(64))
    handle = map._handle
    with _handle.in_library():
        del map
        gc.collect()
        assert not handle.closed
    assert handle.closed


EXIT = """
import asyncio, dpumap, sys
device = dpumap.open_device()
map = dpumap.Map(device, bytearray(1 << 20))
memory = dpumap.DeviceMemory(device, 64)
memory_map = dpumap.Map.of_device_memory(memory)
copier = dpumap.Copier(device)
exported = dpumap.Map(device, bytearray(64), dpumap.Access.PCI_READ_WRITE)
imported = dpumap.Map.from_export(device, exported.export())
infos = dpumap.devices()
async def begin():
    asyncio.ensure_future(copier.acopy(map[:1000], map[1000:2000]))
    await asyncio.sleep(0)
asyncio.run(begin())
sys.exit(7)
"""


def test_program_that_ends_with_everything_open(card):
    with card.faults("completion", delay=50):
        done = subprocess.run([sys.executable, "-X", "dev", "-c", EXIT], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (7, "")


