# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The installed package, on both functions of an emulated card. The test python runs this file."""

import asyncio
import importlib.metadata
import pathlib

import dpumap
import pytest
from dpumap import Access, Channel, Copier, Map

TEXT = b"memory of the DPU"
kept = {}


def export_memory():
    kept["map"] = Map(dpumap.open_device(), bytearray(TEXT), Access.PCI_READ_ONLY)
    return kept["map"].export()


def read_memory(descriptor):
    buffer = bytearray(descriptor.length)
    with dpumap.open_device() as device, Copier(device) as copier:
        with Map(device, buffer) as local, Map.from_export(device, descriptor) as remote:
            asyncio.run(copier.acopy(local, remote))
    return bytes(buffer)


def test_package_is_the_distributions():
    assert pathlib.Path(dpumap.__file__).parent == pathlib.Path("/usr/lib/python3/dist-packages/dpumap")
    assert importlib.metadata.version("dpumap") == dpumap.library_version()


@pytest.mark.dpumap(profile="bluefield-3")
def test_host_reads_memory_of_the_dpu(dpumap_dpu, dpumap_host):
    assert dpumap_host.call(read_memory, dpumap_dpu.call(export_memory)) == TEXT


@pytest.mark.dpumap(on="dpu")
def test_copy_on_one_side():
    source, target = bytearray(TEXT), bytearray(len(TEXT))
    with dpumap.open_device() as device, Copier(device) as copier:
        with Map(device, source) as src, Map(device, target) as dst:
            copier.copy(dst, src)
    assert target == source


def test_channel_finds_its_library():
    with pytest.raises(dpumap.Error, match="nowhere"):
        Channel("unix:/nowhere/dpumapd.sock")
