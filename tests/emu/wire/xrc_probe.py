#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A process with XRC objects. It reads commands, lines of JSON lists, and answers each by one line of JSON.

  ["srq", FILE]               open the XRC domain of a file, and create a shared receive queue and memory in it
  ["queue_pair", TYPE]        "XRC_SEND" or "XRC_RECV"; the answer is what the other end needs to connect
  ["connect", ANSWER]
  ["receive", SIZE]           post a receive
  ["post", OP, TO, SIZE]      send, write or read to a shared receive queue, as "srq" answered there; the status
  ["arrived"]                 the number of bytes of the next receive that completes
  ["memory", SIZE]            the first bytes
"""
import json
import os
import sys
import time

from pyverbs.addr import GID, AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttrEx
from pyverbs.srq import SRQ, SrqInitAttrEx
from pyverbs.wr import SGE, RecvWR, SendWR
from pyverbs.xrcd import XRCD, XRCDInitAttr

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from harness import verbs_enums as e  # noqa: E402

SIZE, GID_INDEX, PSN = 65536, 3, 0xfffffe
RIGHTS = e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE | e.IBV_ACCESS_REMOTE_READ
OPS = {"send": e.IBV_WR_SEND, "write": e.IBV_WR_RDMA_WRITE, "read": e.IBV_WR_RDMA_READ}
STATUSES = {value: name for name, value in vars(e).items() if name.startswith("IBV_WC_") and "ERR" in name}
STATUSES[0] = "IBV_WC_SUCCESS"


class End:
    def __init__(self):
        self.context = Context(name="mlx5_0")
        self.pd, self.cq = PD(self.context), CQ(self.context, 64)
        self.mr = MR(self.pd, SIZE, RIGHTS)
        self.mr.write(os.urandom(SIZE), SIZE)
        self.xrcd = self.shared = self.qp = None

    def srq(self, path):
        file = os.open(path, os.O_RDONLY)
        flags = e.IBV_XRCD_INIT_ATTR_FD | e.IBV_XRCD_INIT_ATTR_OFLAGS
        self.xrcd = XRCD(self.context, XRCDInitAttr(flags, os.O_CREAT, file))
        attr = SrqInitAttrEx(max_wr=64)
        attr.srq_type, attr.pd, attr.xrcd, attr.cq = e.IBV_SRQT_XRC, self.pd, self.xrcd, self.cq
        attr.comp_mask = e.IBV_SRQ_INIT_ATTR_TYPE | e.IBV_SRQ_INIT_ATTR_PD
        attr.comp_mask |= e.IBV_SRQ_INIT_ATTR_CQ | e.IBV_SRQ_INIT_ATTR_XRCD
        self.shared = SRQ(self.context, attr)
        return {"srqn": self.shared.get_srq_num(), "rkey": self.mr.rkey, "address": self.mr.buf}

    def queue_pair(self, kind):
        if kind == "XRC_RECV":
            init = QPInitAttrEx(qp_type=e.IBV_QPT_XRC_RECV, xrcd=self.xrcd, comp_mask=e.IBV_QP_INIT_ATTR_XRCD)
        else:
            cap = QPCap(max_send_wr=64, max_recv_wr=0)
            init = QPInitAttrEx(qp_type=e.IBV_QPT_XRC_SEND, pd=self.pd, scq=self.cq, cap=cap, sq_sig_all=1,
                                comp_mask=e.IBV_QP_INIT_ATTR_PD)
        self.qp = QP(self.context, init)
        return {"qpn": self.qp.qp_num, "gid": self.context.query_gid(1, GID_INDEX).gid}

    def connect(self, peer):
        route = GlobalRoute(dgid=GID(peer["gid"]), sgid_index=GID_INDEX)
        attr = QPAttr(port_num=1)
        attr.dest_qp_num, attr.rq_psn, attr.sq_psn, attr.path_mtu = peer["qpn"], PSN, PSN, e.IBV_MTU_1024
        attr.ah_attr = AHAttr(port_num=1, is_global=1, gr=route)
        attr.qp_access_flags = RIGHTS
        attr.max_rd_atomic = attr.max_dest_rd_atomic = 4
        attr.min_rnr_timer, attr.timeout, attr.retry_cnt, attr.rnr_retry = 1, 14, 7, 7
        self.qp.to_rts(attr)

    def receive(self, size):
        self.shared.post_recv(RecvWR(num_sge=1, sg=[SGE(self.mr.buf, size, self.mr.lkey)]))

    def completion(self):
        for _ in range(2000):
            number, found = self.cq.poll()
            if number:
                return found[0]
            time.sleep(0.005)
        return None

    def post(self, op, to, size):
        work = SendWR(num_sge=1, sg=[SGE(self.mr.buf, size, self.mr.lkey)], opcode=OPS[op])
        if op != "send":
            work.set_wr_rdma(to["rkey"], to["address"])
        work.set_qp_type_xrc(to["srqn"])
        self.qp.post_send(work)
        found = self.completion()
        return found and STATUSES[found.status]

    def arrived(self):
        found = self.completion()
        return found and [STATUSES[found.status], found.byte_len]

    def memory(self, size):
        return self.mr.read(size, 0).hex()


def main():
    end = End()
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        verb, *words = json.loads(line)
        print(json.dumps(getattr(end, verb)(*words)), flush=True)


if __name__ == "__main__":
    main()
