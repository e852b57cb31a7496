# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Copies, blocking and awaited, and what happens when they fail."""

import asyncio
import os
import subprocess
import sys
import threading

import pytest

import dpumap
from dpumap import Copier, DeviceMemory, Map, errors


@pytest.fixture
def pair(device):
    """Two maps of 8 MiB, more than one task can copy, and their buffers."""
    source, target = bytearray(os.urandom(1 << 20) * 8), bytearray(8 << 20)
    with Map(device, source) as src, Map(device, target) as dst:
        yield src, dst, source, target


def test_long_copy_is_split(copier, pair):
    src, dst, source, target = pair
    copier.copy(dst, src)
    assert source == target


def test_many_copies_exceed_the_depth(device, pair):
    src, dst, source, target = pair

    async def run(copier):
        pieces = [slice(at, at + 4096) for at in range(0, 1 << 20, 4096)]
        await asyncio.gather(*(copier.acopy(dst[piece], src[piece]) for piece in pieces))

    with Copier(device, depth=3) as copier:
        asyncio.run(run(copier))
    assert source[: 1 << 20] == target[: 1 << 20]


def test_copy_of_nothing_is_done_at_once(copier, pair):
    src, dst, *_ = pair
    copier.copy(dst[5:5], src[:0])
    asyncio.run(copier.acopy(dst[5:5], src[:0]))


def test_buffers_are_copied_without_a_map(copier):
    target = bytearray(8)
    copier.copy(target, b"constant")
    assert target == b"constant"
    asyncio.run(copier.acopy(memoryview(target)[:4], target[4:]))
    assert target == b"tanttant"
    target.clear()  # it is not locked any more
    with pytest.raises(TypeError, match="bytes cannot be mapped: .* use a buffer that can be written"):
        copier.copy(b"constant", bytearray(8))
    with pytest.raises(TypeError, match="str cannot be mapped: it is not a buffer"):
        copier.copy(bytearray(4), "text")
    with pytest.raises(errors.InvalidValue, match="9 bytes, the source 8"):
        copier.copy(bytearray(9), b"constant")


def test_arrays_of_numpy_are_copied(device, copier):
    numpy = pytest.importorskip("numpy")
    source = numpy.arange(6000, dtype=numpy.float32).reshape(60, 100)
    target = numpy.zeros_like(source)
    copier.copy(target, source)
    assert (target == source).all()
    copier.copy(target[:30], source[30:])
    assert (target[:30] == source[30:]).all() and (target[30:] == source[30:]).all()
    with Map(device, target) as dst:
        copier.copy(dst[400:800], source[5])
    assert (target[1] == source[5]).all()
    for wrong in (source[:, ::2], source.T):
        with pytest.raises(TypeError, match=r"numpy.ascontiguousarray\(\)"):
            copier.copy(bytearray(wrong.nbytes), wrong)
    with pytest.raises(TypeError, match="ndarray cannot be mapped: it holds references to objects"):
        copier.copy(bytearray(8), numpy.array([object()]))


def test_lengths_must_be_equal(device, copier, pair):
    src, dst, *_ = pair
    with pytest.raises(errors.InvalidValue, match="9 bytes, the source 10"):
        copier.copy(dst[:9], src[:10])
    with pytest.raises(errors.InvalidValue):
        Copier(device, depth=0)
    with pytest.raises(errors.Error):
        Copier(device, depth=1 << 31)


def test_copier_needs_the_device_of_its_maps(copier, pair):
    src, *_ = pair
    with dpumap.open_device(own=True) as other, Map(other, bytearray(16)) as foreign:
        with pytest.raises(errors.NotFound):
            copier.copy(foreign, src[:16])
        copier.copy(src[16:32], src[:16])


def test_event_loop_runs_meanwhile(card, copier, pair):
    src, dst, source, target = pair

    async def run():
        seen = []
        copy = asyncio.ensure_future(copier.acopy(dst[:4096], src[:4096]))
        while not copy.done():
            seen.append(len(seen))
            await asyncio.sleep(0.01)
        await copy
        return seen

    with card.faults("completion", delay=100):
        assert len(asyncio.run(run())) > 2
    assert target[:4096] == source[:4096]


def test_failed_copy_leaves_the_copier_usable(card, copier, pair):
    src, dst, source, target = pair
    for _ in range(3):
        with card.faults("completion", syndrome="LOC_PROT_ERR"):
            with pytest.raises(errors.NotPermitted, match="local protection error"):
                copier.copy(dst, src)
        copier.copy(dst, src)
        assert source == target


def test_failed_awaited_copy_flushes_those_behind(card, copier, pair):
    src, dst, *_ = pair

    async def run():
        copies = [copier.acopy(dst[at : at + 64], src[at : at + 64]) for at in range(0, 64 * 40, 64)]
        return await asyncio.gather(*copies, return_exceptions=True)

    with card.faults("completion", syndrome="REM_ABORT_ERR", nth=1):
        results = asyncio.run(run())
    assert any(isinstance(one, errors.IoFailed) for one in results)
    assert {type(one) for one in results} <= {errors.IoFailed, errors.Shutdown, type(None)}
    copier.copy(dst, src)


def test_context_that_cannot_start_again_fails_all(card, copier, pair):
    src, dst, *_ = pair
    with card.faults("completion", syndrome="LOC_PROT_ERR"):
        with pytest.raises(errors.NotPermitted):
            copier.copy(dst[:64], src[:64])
    with card.faults(method="qp.create", errno="ENOMEM", count="all"), card.faults(method="*.create", count="all"):
        with pytest.raises(errors.Error):
            copier.copy(dst[:64], src[:64])
    copier.copy(dst[:64], src[:64])


def test_copy_that_times_out_goes_on(card, copier, pair):
    src, dst, source, target = pair
    with card.faults("completion", delay=300):
        with pytest.raises(errors.TimeOut):
            copier.copy(dst[:64], src[:64], timeout=0.05)
        with pytest.raises(errors.InUse):
            src.close()
        copier.copy(dst[64:128], src[64:128])
    assert target[:128] == source[:128]


def test_cancelled_copy_keeps_its_maps(card, device, copier):
    src, dst = Map(device, bytearray(b"x" * 64)), Map(device, bytearray(64))

    async def run():
        copy = asyncio.ensure_future(copier.acopy(dst, src))
        await asyncio.sleep(0)
        copy.cancel()
        with pytest.raises(asyncio.CancelledError):
            await copy
        with pytest.raises(errors.InUse):
            dst.close()
        await asyncio.sleep(0.4)

    with card.faults("completion", delay=200):
        asyncio.run(run())
    src.close()
    dst.close()


def test_loop_that_ends_leaves_the_copier_usable(card, copier, pair):
    src, dst, source, target = pair

    async def begin():
        asyncio.ensure_future(copier.acopy(dst[:64], src[:64]))
        await asyncio.sleep(0)

    with card.faults("completion", delay=100):
        asyncio.run(begin())
    copier.copy(dst[64:128], src[64:128])
    asyncio.run(copier.acopy(dst[128:256], src[128:256]))
    assert target[:256] == source[:256]


def test_loop_that_does_not_run_leaves_the_copier_usable(card, device, pair):
    src, dst, source, target = pair
    loop, copier = asyncio.new_event_loop(), Copier(device)

    async def begin():
        asyncio.ensure_future(copier.acopy(dst[:64], src[:64]))
        await asyncio.sleep(0)

    with card.faults("completion", delay=100):
        loop.run_until_complete(begin())
        copier.copy(dst[64:128], src[64:128])
        loop.run_until_complete(copier.acopy(dst[128:192], src[128:192]))
        loop.run_until_complete(begin())
        copier.close()
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    assert target[:192] == source[:192]


def test_copier_closed_with_copies_in_flight_ends_them(card, device, pair):
    src, dst, source, target = pair
    copier = Copier(device, depth=1)

    async def run():
        copies = [asyncio.ensure_future(copier.acopy(dst[at : at + 64], src[at : at + 64])) for at in (0, 64)]
        await asyncio.sleep(0)
        copier.close()
        return await asyncio.gather(*copies, return_exceptions=True)

    with card.faults("completion", delay=100):
        first, second = asyncio.run(run())
    assert first is None and isinstance(second, errors.Shutdown)
    assert target[:64] == source[:64] and "closed" in repr(copier)
    with pytest.raises(errors.BadState):
        copier.copy(dst, src)


def test_blocking_and_awaited_copies_mix_in_one_thread(card, copier, pair):
    src, dst, source, target = pair

    async def run():
        first = asyncio.ensure_future(copier.acopy(dst[:64], src[:64]))
        await asyncio.sleep(0)
        copier.copy(dst[64:128], src[64:128])
        await first

    with card.faults("completion", delay=50):
        asyncio.run(asyncio.wait_for(run(), 20))
    assert target[:128] == source[:128]


def test_other_threads_and_loops_are_refused_while_a_loop_waits(card, copier, pair):
    src, dst, *_ = pair
    seen = []

    def use(function):
        try:
            function()
        except errors.Error as error:
            seen.append(type(error))

    async def run():
        first = asyncio.ensure_future(copier.acopy(dst[:64], src[:64]))
        await asyncio.sleep(0)
        for function in (
            lambda: copier.copy(dst[64:128], src[64:128]),
            lambda: asyncio.run(copier.acopy(dst[64:128], src[64:128])),
            copier.close,
        ):
            thread = threading.Thread(target=use, args=(function,))
            thread.start()
            thread.join()
        await first

    with card.faults("completion", delay=100):
        asyncio.run(run())
    assert seen == [errors.BadState] * 3


def test_awaited_copy_is_refused_while_another_thread_copies(card, copier, pair):
    src, dst, *_ = pair
    with card.faults("completion", delay=300):
        thread = threading.Thread(target=copier.copy, args=(dst[:64], src[:64]))
        thread.start()
        while copier._lock.acquire(blocking=False):
            copier._lock.release()
        with pytest.raises(errors.BadState, match="another thread"):
            asyncio.run(copier.acopy(dst[64:128], src[64:128]))
        thread.join()


def test_threads_take_turns(copier, pair):
    src, dst, source, target = pair
    threads = [
        threading.Thread(target=copier.copy, args=(dst[at : at + (1 << 20)], src[at : at + (1 << 20)]))
        for at in range(0, 8 << 20, 1 << 20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert source == target


LOST = """
import dpumap, dpumap.copier, sys, warnings
warnings.simplefilter("always")
dpumap.copier._PATIENCE = 0.1
device = dpumap.open_device()
map = dpumap.Map(device, bytearray(128))
copier = dpumap.Copier(device)
for call in (lambda: copier.copy(map[:64], map[64:], timeout=0.05), copier.close):
    try:
        call()
    except dpumap.errors.TimeOut:
        print("time out")
try:
    map.close()
except dpumap.errors.InUse:
    print("in use")
"""


def test_lost_completion_is_not_waited_for_for_ever(card):
    """The memory stays registered until the process ends: the device might still write to it."""
    with card.faults("completion", lose=True):
        done = subprocess.run([sys.executable, "-c", LOST], capture_output=True, text=True, timeout=20, check=False)
    assert (done.returncode, done.stdout.splitlines()) == (0, ["time out", "time out", "in use"])
    assert "could not be destroyed: DOCA_ERROR_TIME_OUT" in done.stderr


def test_failing_device_creates_no_copier(card, device):
    for number in range(1, 12):
        with card.faults(method="*.create", nth=number):
            try:
                Copier(device).close()
            except errors.Error:
                continue
            break
    assert 1 < number < 11


@pytest.mark.parametrize("is_noted", [False, True])
def test_signal_handler_that_raises_during_the_callback(copier, pair, is_noted):
    """As Ctrl-C may: the exception arrives, and the copy is complete."""
    src, dst, source, target = pair
    engine = copier._handle.pointer

    class Interrupted(type(engine.completed)):
        def append(self, entry):
            engine.completed = type(self).__base__([entry] if is_noted else [])
            raise KeyboardInterrupt

    engine.completed = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        copier.copy(dst, src)
    copier.copy(dst[:64], src[64:128])
    assert target[:64] == source[64:128] and target[64:] == source[64:]


def test_device_memory_to_device_memory(device, copier):
    with DeviceMemory(device, 256) as one, DeviceMemory(device, 256) as two:
        one.write(bytes(range(256)))
        with Map.of_device_memory(one) as src, Map.of_device_memory(two) as dst:
            copier.copy(dst, src)
        assert two.read() == bytes(range(256))
