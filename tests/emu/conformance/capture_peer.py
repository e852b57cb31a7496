# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""One end of the traffic of capture.py: queue pairs of all services on mlx5_0, driven by lines of JSON on the
standard input, each of which is answered by one on the standard output.

usage: capture_peer.py NAME GID_INDEX, where NAME decides numbers and bytes
"""

import json
import os
import random
import socket
import sys
import time

from pyverbs.addr import AH, GID, AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR, MW, MWBindInfo
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr, QPInitAttrEx
from pyverbs.srq import SRQ, SrqInitAttrEx
from pyverbs.wr import SGE, RecvWR, SendWR
from pyverbs.xrcd import XRCD, XRCDInitAttr

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from harness.verbs_enums import *  # noqa: E402

BYTES = 1 << 21
QKEY = 0x1234567
ACCESS = (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC
          | IBV_ACCESS_MW_BIND)
OPCODES = {
    "send": IBV_WR_SEND,
    "send_imm": IBV_WR_SEND_WITH_IMM,
    "send_inv": IBV_WR_SEND_WITH_INV,
    "write": IBV_WR_RDMA_WRITE,
    "write_imm": IBV_WR_RDMA_WRITE_WITH_IMM,
    "read": IBV_WR_RDMA_READ,
    "swap": IBV_WR_ATOMIC_CMP_AND_SWP,
    "add": IBV_WR_ATOMIC_FETCH_AND_ADD,
}
TYPES = {"rc": IBV_QPT_RC, "uc": IBV_QPT_UC, "ud": IBV_QPT_UD, "xrc_send": IBV_QPT_XRC_SEND,
         "xrc_recv": IBV_QPT_XRC_RECV}
PEER_OF = {"xrc_send": "xrc_recv", "xrc_recv": "xrc_send"}


class Peer:
    def __init__(self, name, gid_index):
        self.gid_index = gid_index
        self.context = Context(name="mlx5_0")
        self.pd = PD(self.context)
        self.mr = MR(self.pd, BYTES, ACCESS)
        self.cq = CQ(self.context, 512)
        chance = random.Random(name)
        self.mr.write(chance.randbytes(BYTES), BYTES)
        self.psn = {service: chance.choice([0xfffffa, chance.randrange(1 << 24)]) for service in TYPES}
        self.xrcd = XRCD(self.context, XRCDInitAttr(IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, os.O_CREAT, -1))
        attr = SrqInitAttrEx(max_wr=64)
        attr.srq_type, attr.pd, attr.xrcd, attr.cq = IBV_SRQT_XRC, self.pd, self.xrcd, self.cq
        attr.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_XRCD
        self.srq = SRQ(self.context, attr)
        self.qp = {service: self.make(service) for service in TYPES}
        self.windows = []

    def make(self, service):
        cap = QPCap(max_send_wr=64, max_recv_wr=64, max_inline_data=64)
        if service == "xrc_recv":
            init = QPInitAttrEx(qp_type=TYPES[service], xrcd=self.xrcd, comp_mask=IBV_QP_INIT_ATTR_XRCD)
            return QP(self.context, init)
        if service == "xrc_send":
            init = QPInitAttrEx(qp_type=TYPES[service], pd=self.pd, scq=self.cq,
                                cap=QPCap(max_send_wr=64, max_recv_wr=0), comp_mask=IBV_QP_INIT_ATTR_PD)
            return QP(self.context, init)
        return QP(self.pd, QPInitAttr(qp_type=TYPES[service], scq=self.cq, rcq=self.cq, cap=cap))

    def hello(self):
        return {"gid": self.context.query_gid(1, self.gid_index).gid, "psn": self.psn,
                "qpn": {service: qp.qp_num for service, qp in self.qp.items()},
                "rkey": self.mr.rkey, "addr": self.mr.buf, "srqn": self.srq.get_srq_num()}

    def connect(self, peer, mtu, rnr_retry=7):
        self.peer = peer
        route = GlobalRoute(dgid=GID(peer["gid"]),
                            sgid_index=self.gid_index, hop_limit=64)
        ah = AHAttr(is_global=1, port_num=1, gr=route)
        self.ah = AH(self.pd, attr=ah)
        for service, qp in self.qp.items():
            other = PEER_OF.get(service, service)
            attr = QPAttr(port_num=1)
            attr.qp_access_flags = ACCESS & ~IBV_ACCESS_MW_BIND
            attr.path_mtu, attr.ah_attr = mtu, ah
            attr.dest_qp_num, attr.rq_psn = peer["qpn"][other], peer["psn"][other]
            attr.sq_psn, attr.qkey = self.psn[service], QKEY
            attr.max_rd_atomic = attr.max_dest_rd_atomic = 4
            # One second: on a busy machine, no packet is sent twice.
            attr.timeout, attr.retry_cnt, attr.rnr_retry, attr.min_rnr_timer = 18, 7, rnr_retry, 12
            if service in ("ud", "uc"):
                attr.max_rd_atomic = attr.max_dest_rd_atomic = 0
            qp.to_rts(attr)
        return {}

    def receive(self, service, count, length=BYTES):
        for _ in range(count):
            wr = RecvWR(num_sge=1, sg=[SGE(self.mr.buf, length, self.mr.lkey)])
            if service.startswith("xrc"):
                self.srq.post_recv(wr)
            else:
                self.qp[service].post_recv(wr)
        return {}

    def window(self, length):
        """The R_Key of a memory window of type 2, which a SEND with invalidate frees."""
        window = MW(self.pd, IBV_MW_TYPE_2)
        info = MWBindInfo(self.mr, self.mr.buf, length, IBV_ACCESS_REMOTE_WRITE)
        wr = SendWR(opcode=IBV_WR_BIND_MW, send_flags=IBV_SEND_SIGNALED)
        wr.set_bind_wr(window, info)
        self.windows.append(window)
        self.qp["rc"].post_send(wr)
        return {**self.wait(1), "rkey": wr.rkey}

    def post(self, service, op, length=0, at=0, there=0, imm=0, inline=False, flags=0, rkey=None, operands=(0, 0)):
        flags |= IBV_SEND_SIGNALED | (IBV_SEND_INLINE if inline else 0)
        sge = SGE(self.mr.buf + at, length, self.mr.lkey)
        if op != "send_inv":  # it has a key in the same field, in host order
            imm = socket.htonl(imm)
        wr = SendWR(opcode=OPCODES[op], send_flags=flags, num_sge=1, sg=[sge], imm_data=imm)
        rkey = self.peer["rkey"] if rkey is None else rkey
        if op in ("write", "write_imm", "read"):
            wr.set_wr_rdma(rkey, self.peer["addr"] + there)
        if op in ("swap", "add"):
            wr.set_wr_atomic(rkey, self.peer["addr"] + there, *operands)
        if service == "ud":
            wr.set_wr_ud(self.ah, self.peer["qpn"]["ud"], QKEY)
        if service == "xrc_send":
            wr.set_qp_type_xrc(self.peer["srqn"])
        self.qp[service].post_send(wr)

    def request(self, count=1, **words):
        """Execute a work request `count` times, at most 32 at the same time."""
        result = {}
        for done in range(0, count, 32):
            batch = min(32, count - done)
            for _ in range(batch):
                self.post(**words)
            result = self.wait(batch)
        return result

    def wait(self, count):
        status = []
        end = time.monotonic() + 20
        while len(status) < count and time.monotonic() < end:
            n, wcs = self.cq.poll(count - len(status))
            status += [wc.status for wc in wcs]
        return {"status": status}

    def bytes(self, at, length):
        return {"bytes": self.mr.read(length, at).hex()}


def main():
    peer = Peer(sys.argv[1], int(sys.argv[2]))
    print(json.dumps(peer.hello()), flush=True)
    for line in sys.stdin:
        words = json.loads(line)
        print(json.dumps(getattr(peer, words.pop("do"))(**words)), flush=True)


if __name__ == "__main__":
    main()
