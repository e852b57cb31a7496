# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Devices that are shared with pyverbs, in both directions."""

import os

import pytest
from pyverbs.addr import AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, SendWR

import dpumap
from dpumap import Access, Copier, Map, errors, verbs
from harness import verbs_enums as enums

FULL = enums.IBV_ACCESS_LOCAL_WRITE | enums.IBV_ACCESS_REMOTE_WRITE | enums.IBV_ACCESS_REMOTE_READ


def write(context, pd, lkey, local, rkey, remote, length):
    """RDMA write by a queue pair that is connected to itself."""
    with CQ(context, 4) as cq:
        init = QPInitAttr(qp_type=enums.IBV_QPT_RC, scq=cq, rcq=cq, cap=QPCap(max_recv_wr=1))
        attr = QPAttr(port_num=1)
        attr.qp_access_flags = FULL
        with QP(pd, init, attr) as qp:
            gid = context.query_gid(1, 1)
            attr.ah_attr = AHAttr(port_num=1, is_global=1, gr=GlobalRoute(dgid=gid, sgid_index=1))
            attr.dest_qp_num, attr.path_mtu = qp.qp_num, enums.IBV_MTU_1024
            attr.max_dest_rd_atomic = attr.max_rd_atomic = 1
            attr.min_rnr_timer, attr.timeout, attr.retry_cnt, attr.rnr_retry = 12, 14, 7, 7
            qp.to_rts(attr)
            wr = SendWR(num_sge=1, sg=[SGE(local, length, lkey)], opcode=enums.IBV_WR_RDMA_WRITE)
            wr.set_wr_rdma(rkey, remote)
            qp.post_send(wr)
            while True:
                number, completions = cq.poll()
                if number:
                    return completions[0].status


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def test_device_as_context_and_pd(device):
    """Work requests of pyverbs use the keys of maps, and those of the package the same domain."""
    before = descriptors()
    source, target = bytearray(b"written by verbs"), bytearray(16)
    with verbs.to_pyverbs(device) as (context, pd):
        assert context.name == "mlx5_0"
        access = Access.LOCAL_READ_WRITE | Access.RDMA_WRITE
        with Map(device, source) as src, Map(device, target, access) as dst:
            assert write(context, pd, src.key(), src.address, dst.key(), dst.address, 16) == enums.IBV_WC_SUCCESS
        with MR(pd, 4096, FULL) as mr, Map(device, source) as src:
            assert write(context, pd, src.key(), src.address, mr.rkey, mr.buf, 16) == enums.IBV_WC_SUCCESS
            assert mr.read(16, 0) == b"written by verbs"
        with pytest.raises(errors.InUse):
            device.close()
    assert target == source and descriptors() == before


def test_context_as_device():
    source, target = bytearray(b"copied by dpumap"), bytearray(16)
    with Context(name="mlx5_0") as context:
        before = descriptors()
        with verbs.from_pyverbs(context) as device, Copier(device) as copier:
            with Map(device, source, Access.PCI_READ_ONLY) as src, Map(device, target) as dst:
                copier.copy(dst, src)
                assert src.export().length == 16
        assert target == source and descriptors() == before


def test_pd_as_device(device):
    """Maps are registered in the PD: work requests of the program use their keys."""
    source = bytearray(b"in another's PD.")
    with Context(name="mlx5_0") as context, PD(context) as pd:
        before = descriptors()
        with verbs.from_pyverbs(context, pd) as other, Map([other, device], source, Access.PCI_READ_ONLY) as src:
            with MR(pd, 4096, FULL) as mr:
                status = write(context, pd, src.key(other), src.address, mr.rkey, mr.buf, 16)
                assert status == enums.IBV_WC_SUCCESS and mr.read(16, 0) == source
                # The key of the package's own domain is not valid there.
                status = write(context, pd, src.key(device), src.address, mr.rkey, mr.buf, 16)
                assert status == enums.IBV_WC_LOC_PROT_ERR
            with pytest.raises(errors.NotSupported):
                src.export(other)
        assert descriptors() == before


def test_objects_of_pyverbs_that_are_closed_or_forgotten_first(device):
    context = Context(name="mlx5_0")
    pd = PD(context)
    from_context, from_pd = verbs.from_pyverbs(context), verbs.from_pyverbs(context, pd)
    with Map([from_context, from_pd], bytearray(64)) as map:
        del context, pd
        assert map.key(from_context) and map.key(from_pd)
    from_context.close()
    from_pd.close()

    context = Context(name="mlx5_0")
    other = verbs.from_pyverbs(context)
    context.close()  # the device has a descriptor of its own
    Map(other, bytearray(8)).close()
    other.close()


def test_device_ends_before_the_with_statement():
    with dpumap.open_device(own=True) as device:
        with pytest.raises(ZeroDivisionError):
            with verbs.to_pyverbs(device):
                1 / 0
        with verbs.to_pyverbs(device) as (context, pd), verbs.to_pyverbs(device) as (again, _):
            assert context.name == again.name


def test_refused_imports_leave_nothing(card):
    before = descriptors()
    with Context(name="mlx5_0") as context, PD(context) as pd:
        handle = pd.handle

        class Wrong:
            def __init__(self, **values):
                self.__dict__.update(values)

        with pytest.raises(errors.Driver, match="protection domain cannot be imported"):
            verbs.from_pyverbs(context, Wrong(handle=99999))
        reader, writer = os.pipe()
        with pytest.raises(errors.Driver, match="context cannot be imported"):
            verbs.from_pyverbs(Wrong(cmd_fd=reader), Wrong(handle=handle))
        os.close(reader)
        os.close(writer)
    assert descriptors() <= before + 1
