# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A machine without an RDMA driver has no devices, and the library says so."""

import os

import pytest

import dpumap
from dpumap import _library, errors
from dpumap._ffi import ffi

pytestmark = pytest.mark.skipif(
    os.path.exists("/sys/class/infiniband_verbs"), reason="the kernel of this machine has RDMA"
)


def test_list_is_empty():
    assert dpumap.devices() == []
    with pytest.raises(errors.NotFound, match="no device that the library supports"):
        dpumap.open_device()
    with pytest.raises(errors.NotFound, match="no device mlx5_0"):
        dpumap.open_device("mlx5_0")


def test_library_says_what_is_missing():
    with pytest.raises(errors.NotFound, match="this machine has no RDMA device: .*modprobe mlx5_ib"):
        _library.call("doca_devinfo_create_list", ffi.new("struct doca_devinfo ***"), ffi.new("uint32_t *"))
