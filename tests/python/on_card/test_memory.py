# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Devices, maps, device memory, exports and errors."""

import array
import mmap
import os
import pickle
import subprocess
import sys
import threading

import pytest

import dpumap
import sides
from dpumap import Access, Descriptor, DeviceMemory, Map, errors


def test_devices_describe_themselves():
    (info,) = dpumap.devices()
    assert (info.name, info.pci_address, info.interface) == ("mlx5_0", "0000:3b:00.0", "lo")
    assert info.can_export and info.can_import
    assert info.max_device_memory >= 4096 and info.max_copy >= 1 << 20
    assert info.vhca_id < 0xFFFF
    assert "mlx5_0" in repr(info)


@pytest.mark.parametrize("name", [None, "mlx5_0", "0000:3b:00.0", "3b:00.0"])
def test_device_is_found_by_name(name):
    with dpumap.open_device(name) as device:
        assert device.info.name == "mlx5_0"
        assert repr(device) == "<Device mlx5_0>"
    assert "closed" in repr(device)


def test_missing_device_is_not_found():
    with pytest.raises(errors.NotFound, match="no device mlx5_9"):
        dpumap.open_device("mlx5_9")


def test_device_of_its_own_has_another_context(device):
    with dpumap.open_device(own=True) as other:
        assert other.card_guid == device.card_guid
        with Map(other, bytearray(8)) as one, Map(device, bytearray(8)) as two:
            assert one.key() and two.key()
            with pytest.raises(errors.InvalidValue):
                one.key(device)


def test_device_is_opened_from_a_descriptor(device):
    fd = device.export_fd()
    with dpumap.Device.from_fd(fd) as other:
        os.close(fd)
        assert other.card_guid == device.card_guid
    with pytest.raises(errors.InvalidValue):
        dpumap.Device.from_fd(fd)


def test_the_library_has_a_version_of_three_numbers():
    assert dpumap.library_version().count(".") == 2


def numpy_array():
    numpy = pytest.importorskip("numpy")
    return numpy.zeros((4, 1024), dtype=numpy.uint8)


@pytest.mark.parametrize(
    "make",
    [
        lambda: bytearray(4096),
        lambda: mmap.mmap(-1, 4096),
        lambda: memoryview(bytearray(8192))[100:4196],
        lambda: array.array("I", bytes(4096)),
        numpy_array,
    ],
    ids=["bytearray", "mmap", "memoryview", "array", "numpy"],
)
def test_any_buffer_can_be_mapped(device, copier, make):
    buffer = make()
    source = bytes(range(256)) * 16
    with Map(device, buffer) as map, Map(device, source, Access.LOCAL_READ_ONLY) as src:
        assert len(map) == 4096
        copier.copy(map, src)
        assert bytes(memoryview(buffer).cast("B")) == source
        assert repr(map) == "<Map of 4096 bytes>"


def test_buffer_is_locked_while_it_is_mapped(device):
    buffer, pages = bytearray(4096), mmap.mmap(-1, 4096)
    with Map(device, buffer), Map(device, pages):
        with pytest.raises(BufferError):
            buffer.clear()
        with pytest.raises(BufferError):
            pages.close()
    buffer.clear()
    pages.close()


def test_wrong_buffers_are_refused(device):
    with pytest.raises(TypeError, match="bytes cannot be mapped: .* written, or access=Access.LOCAL_READ_ONLY"):
        Map(device, b"constant")
    with pytest.raises(TypeError, match="memoryview cannot be mapped: it is not contiguous: copy it first"):
        Map(device, memoryview(bytearray(64))[::2])
    for wrong in ("text", 5, None, [1, 2], object()):
        with pytest.raises(TypeError, match="cannot be mapped: it is not a buffer: use a bytearray"):
            Map(device, wrong)
    with pytest.raises(errors.InvalidValue, match="empty"):
        Map(device, bytearray())
    with pytest.raises(errors.InvalidValue, match="needs a device"):
        Map([], bytearray(8))
    with pytest.raises(errors.InvalidValue):
        Map(device, bytearray(8), Access.PCI_READ_ONLY | Access.PCI_READ_WRITE)
    with pytest.raises(errors.AlreadyExist):
        Map([device, device], bytearray(8))


def test_access_can_be_a_word(device, copier):
    with Map(device, bytearray(8), "rw") as both, Map(device, b"constant", "r") as one:
        copier.copy(both, one)
        for map in (both, one):
            assert map.export()
    for wrong in ("w", "", None, 1.5):
        with pytest.raises(TypeError, match='use "r", "rw" or flags of dpumap.Access'):
            Map(device, bytearray(8), wrong)


def test_advice_names_calls_of_python(device):
    with Map(device, bytearray(8)) as map:
        with pytest.raises(errors.NotPermitted, match="use access=Access.PCI_READ_ONLY or") as pci:
            map.export()
        with pytest.raises(errors.NotPermitted, match="use access=Access.RDMA_READ or") as rdma:
            map.export_rdma()
        with dpumap.open_device(own=True) as other:
            with pytest.raises(errors.Error, match=r"give the device to Map\(\)") as key:
                map.export(other)
    for error in (pci, rdma, key):
        assert "()" not in error.value.message.replace("Map()", "")


def test_ranges_are_slices(device):
    with Map(device, bytearray(100)) as map:
        assert (len(map[10:20]), len(map[:]), len(map[90:500]), len(map[50:40])) == (10, 100, 10, 0)
        assert "10:20" in repr(map[10:20])
        for key in (5, slice(0, 10, 2)):
            with pytest.raises(TypeError):
                map[key]
        for offset, length in ((-1, 1), (0, -1), (99, 2), (0, 1 << 70)):
            with pytest.raises(errors.InvalidValue, match="not within the map"):
                dpumap.MapRange(map, offset, length)


def test_failed_registration_is_one_error_with_the_logged_line(card, device):
    with card.faults(method="mr.create", errno="ENOMEM"):
        with pytest.raises(errors.Driver) as raised:
            Map(device, bytearray(4096))
    error = raised.value
    assert error.name == "DOCA_ERROR_DRIVER" and error.code == 21 and error.call == "doca_mmap_start"
    assert "Cannot allocate memory" in error.line and "[ERR]" in error.line
    assert str(error).count("DOCA_ERROR_DRIVER") == 1 and "Cannot allocate memory" in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.line, type(again)) == (str(error), error.line, type(error))


def test_each_thread_gets_its_own_line(device):
    said = {}

    def fail(number):
        for _ in range(20):
            with pytest.raises(errors.InvalidValue) as raised:
                Map.from_export(device, bytes(20 + number))
            said.setdefault(number, set()).add(raised.value.message)

    threads = [threading.Thread(target=fail, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said == {n: {f"import: descriptor of {20 + n} bytes refused: not a descriptor"} for n in range(4)}


def test_device_memory_is_written_read_and_copied(device, copier):
    with DeviceMemory(device, 4096, alignment=4096) as memory:
        assert len(memory) == 4096 and memory.handle >= 0 and "4096" in repr(memory)
        memory.write(b"0123" * 1024)
        memory.write(b"abcd", offset=8)
        assert memory.read(4, 12) == b"0123abcd0123"
        assert len(memory.read()) == 4096 and memory.read(0, 0) == b""
        buffer = bytearray(8)
        with Map(device, buffer) as dst, Map.of_device_memory(memory, offset=4, length=8) as src:
            copier.copy(dst, src)
        assert buffer == b"0123abcd"
        for offset, length in ((2, 4), (0, 3), (4096, 4), (-4, 4), (0, -4), (0, 1 << 40), (0, 1 << 70)):
            with pytest.raises(errors.InvalidValue):
                memory.read(offset, length)
        with pytest.raises(errors.InvalidValue):
            memory.write(b"12345678", 4092)
        with pytest.raises(errors.InvalidValue):
            Map.of_device_memory(memory, offset=8192)


@pytest.fixture
def file():
    """A memfd, which the emulated card takes as a dma-buf."""
    fd = os.memfd_create("dmabuf", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, 8192)
    yield fd
    os.close(fd)


def test_dmabuf_is_mapped_and_copied(device, copier, file):
    target = bytearray(8)
    os.pwrite(file, b"from file", 4096)
    descriptor = os.dup(file)
    with Map.of_dmabuf(device, descriptor, 4096, offset=4096) as src, Map(device, target) as dst:
        os.close(descriptor)
        assert len(src) == 4096
        copier.copy(dst, src[:8])
        assert target == b"from fil"
        target[:] = b"to file!"
        copier.copy(src[8:16], dst)
    assert os.pread(file, 8, 4104) == b"to file!"


def test_wrong_dmabuf_is_refused(device, file):
    for fd, length, offset in ((-1, 64, 0), (file, 0, 0), (file, 64, 8192), (file, -1, 0), (file, 64, -1)):
        with pytest.raises(errors.Error):
            Map.of_dmabuf(device, fd, length, offset)
    with pytest.raises(errors.Error):
        Map.of_dmabuf((), file, 64)


def test_device_memory_is_a_dmabuf_where_rdma_core_can(device, copier):
    target = bytearray(8)
    with DeviceMemory(device, 4096) as memory:
        try:
            fd = memory.export_dmabuf()
        except errors.NotSupported:
            return
        memory.write(b"on card!")
        src = Map.of_dmabuf(device, fd, 4096)
        with Map(device, target) as dst:
            copier.copy(dst, src[:8])
            assert target == b"on card!"
            memory.close()  # revokes it
            with pytest.raises(errors.NotPermitted):
                copier.copy(dst, src[:8])
        src.close()
        os.close(fd)


def test_device_memory_of_wrong_size_is_refused(device):
    for length in (0, -1, 1 << 40, 1 << 64):
        with pytest.raises(errors.Error):
            DeviceMemory(device, length)
    with pytest.raises(errors.InvalidValue, match="power of two"):
        DeviceMemory(device, 64, alignment=3)


def test_exhausted_device_memory_is_no_memory(card, device):
    with card.faults("memory", left=0):
        with pytest.raises(errors.NoMemory):
            DeviceMemory(device, 4096)


def test_device_memory_is_shared_by_its_handle(device):
    with DeviceMemory(device, 4096) as memory:
        memory.write(b"same" * 1024)
        fd = device.export_fd()
        with dpumap.Device.from_fd(fd) as other, DeviceMemory.from_handle(other, memory.handle) as again:
            assert again.read(0, 4) == b"same"
        os.close(fd)
        with pytest.raises(errors.NotFound):
            DeviceMemory.from_handle(device, 999)


def test_export_is_copied_by_the_other_function(device, copier, dpu):
    data = os.urandom(3 << 20)
    descriptor = dpu.call(sides.export, data)
    assert (descriptor.kind, descriptor.source, descriptor.length) == ("PCI", "memory", len(data))
    assert descriptor.access & Access.PCI_READ_WRITE and descriptor.card_guid == device.card_guid
    assert descriptor.vhca_id != device.info.vhca_id and descriptor.mkey
    assert len(data).__str__() in repr(descriptor) and bytes(descriptor)[48:80].hex() not in repr(descriptor)
    buffer = bytearray(len(data))
    with Map(device, buffer) as local, Map.from_export(device, descriptor) as remote:
        assert (remote.address, len(remote)) == (descriptor.address, descriptor.length)
        copier.copy(local, remote)
        assert buffer == data
        buffer[:5] = b"hello"
        copier.copy(remote[:5], local[:5])
    assert dpu.call(sides.content)[:5] == b"hello"


def test_read_only_export_cannot_be_written(device, copier, dpu):
    descriptor = dpu.call(sides.export, b"constant", Access.PCI_READ_ONLY)
    with Map(device, bytearray(8)) as local, Map.from_export(device, bytes(descriptor)) as remote:
        copier.copy(local, remote)
        with pytest.raises(errors.NotPermitted):
            copier.copy(remote, local)
        copier.copy(local, remote)


def test_revoked_export_ends(device, copier, dpu):
    descriptor = dpu.call(sides.export, b"secret")
    with Map(device, bytearray(6)) as local, Map.from_export(device, descriptor) as remote:
        dpu.call(sides.revoke)
        with pytest.raises(errors.NotPermitted):
            copier.copy(local, remote)
    with pytest.raises(errors.NotPermitted):
        Map.from_export(device, descriptor)


def test_export_ends_with_its_process(device, copier, dpu):
    descriptor = dpu.call(sides.export, b"secret")
    with Map(device, bytearray(6)) as local, Map.from_export(device, descriptor) as remote:
        dpu.kill()
        with pytest.raises(errors.Error):
            copier.copy(local, remote)


def test_an_export_needs_its_permission(device):
    with Map(device, bytearray(64), Access.LOCAL_READ_WRITE) as map:
        with pytest.raises(errors.NotPermitted):
            map.export()
    with Map(device, bytearray(64), Access.RDMA_READ | Access.PCI_READ_ONLY) as map:
        assert map.export_rdma().kind == "RDMA"
        assert map.export() == map.export(device) and hash(map.export()) == hash(map.export())
        with Map.from_export(device, map.export_rdma()) as peer:
            assert peer.key() == map.export_rdma().mkey


def test_wrong_descriptors_are_refused(device):
    for data in (b"", b"x", bytes(80), os.urandom(600)):
        with pytest.raises(errors.InvalidValue):
            Map.from_export(device, data)
        assert "not valid" in repr(Descriptor(data))


def test_every_result_has_a_class():
    assert len(errors.Error.__subclasses__()) == 29
    for one in errors.Error.__subclasses__():
        assert errors.error_class(one.code) is one
        name = dpumap._text(dpumap._function("doca_error_get_name")(one.code))
        assert one.name == name
    assert errors.error_class(1) is errors.error_class(77) is errors.Error


def test_package_needs_no_library_before_its_first_use():
    program = "import dpumap, dpumap.verbs, dpumap.emulator; print('libdpumap.so' in open('/proc/self/maps').read())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
