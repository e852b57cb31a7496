#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""One end of connections over the wire. It reads commands, lines of JSON lists, and answers each by one
line of JSON. It waits for completions by events, so it sleeps when nothing happens.

  ["open", N, {OPTIONS}]      N queue pairs; the answer is what the other end needs to connect
  ["connect", ANSWER]         connect the last ones that were opened to those of the other end
  ["receive", QP, SIZE]       post a receive
  ["post", QP, OP, SIZE]      post a send, write, read or atomic, with a completion
  ["wait", N, SECONDS]        the next N completions: their status, operation, bytes, and seconds since
                              the last "post" or "receive"
  ["fail", QP, N, ROUNDS]     N sends and as many receives, and at once the end of the queue pair, which is
                              connected again afterwards: the completions of each round
  ["fill", SEED]              fill the memory with bytes that depend on the seed
  ["digest", SIZE]            of the first bytes of the memory
  ["number"]                  the first 8 bytes of the memory
"""
import contextlib
import hashlib
import json
import os
import random
import select
import sys
import time

from pyverbs.addr import GID, AHAttr, GlobalRoute
from pyverbs.cq import CQ, CompChannel
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from harness import verbs_enums as e  # noqa: E402

SIZE = 8 << 20
RIGHTS = e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE
RIGHTS |= e.IBV_ACCESS_REMOTE_READ | e.IBV_ACCESS_REMOTE_ATOMIC
OPS = {
    "send": e.IBV_WR_SEND,
    "write": e.IBV_WR_RDMA_WRITE,
    "read": e.IBV_WR_RDMA_READ,
    "add": e.IBV_WR_ATOMIC_FETCH_AND_ADD,
}
STATUSES = {value: name for name, value in vars(e).items() if name.startswith("IBV_WC_") and "ERR" in name}
STATUSES[0] = "IBV_WC_SUCCESS"


def open_files():
    found = set()
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # of the listing itself
            found.add((int(name), os.readlink(f"/proc/self/fd/{name}")))
    return found


class End:
    def __init__(self):
        self.context = Context(name="mlx5_0")
        self.pd = PD(self.context)
        before = open_files()
        self.channel = CompChannel(self.context)
        self.events = max(number for number, _ in open_files() - before)
        self.cq = CQ(self.context, 8192, channel=self.channel)
        self.mr = MR(self.pd, SIZE, RIGHTS)
        self.qps, self.options, self.peer, self.since = [], {}, None, 0.0
        self.gid_index = 3
        self.cq.req_notify()

    def open(self, number, options):
        self.options = {"timeout": 14, "retry": 7, "rnr": 7, "mtu": 4096, "psn": 0xfffffe, **options}
        cap = QPCap(max_send_wr=self.options.get("depth", 16), max_recv_wr=16)
        init = QPInitAttr(qp_type=e.IBV_QPT_RC, scq=self.cq, rcq=self.cq, cap=cap, sq_sig_all=1)
        attr = QPAttr(port_num=1)
        attr.qp_access_flags = RIGHTS
        self.qps += [QP(self.pd, init, attr) for _ in range(number)]
        gid = self.context.query_gid(1, self.gid_index)
        numbers = [qp.qp_num for qp in self.qps[-number:]]
        return {"gid": gid.gid, "rkey": self.mr.rkey, "address": self.mr.buf, "qpn": numbers}

    def connect(self, peer):
        self.peer = peer
        route = GlobalRoute(dgid=GID(peer["gid"]), sgid_index=self.gid_index)
        psn = self.options["psn"]
        for qp, qpn in zip(self.qps[-len(peer["qpn"]) :], peer["qpn"]):
            attr = QPAttr(port_num=1)
            attr.dest_qp_num, attr.rq_psn, attr.sq_psn = qpn, psn, psn
            attr.path_mtu = {256: 1, 512: 2, 1024: 3, 2048: 4, 4096: 5}[self.options["mtu"]]
            attr.ah_attr = AHAttr(port_num=1, is_global=1, gr=route)
            attr.qp_access_flags = RIGHTS
            attr.max_rd_atomic = attr.max_dest_rd_atomic = 4
            attr.min_rnr_timer = self.options.get("min_rnr", 1)
            attr.timeout, attr.retry_cnt = self.options["timeout"], self.options["retry"]
            attr.rnr_retry = self.options["rnr"]
            qp.to_rts(attr)

    def receive(self, number, size):
        self.since = time.monotonic()
        self.qps[number].post_recv(RecvWR(num_sge=1, sg=[SGE(self.mr.buf, size, self.mr.lkey)]))

    def post(self, number, op, size, rkey=None, offset=0):
        self.since = time.monotonic()
        work = SendWR(num_sge=1, sg=[SGE(self.mr.buf + offset, size, self.mr.lkey)], opcode=OPS[op])
        rkey = self.peer["rkey"] if rkey is None else rkey
        if op == "add":
            work.set_wr_atomic(rkey, self.peer["address"], 1, 0)
        elif op != "send":
            work.set_wr_rdma(rkey, self.peer["address"] + offset)
        self.qps[number].post_send(work)

    def fail(self, number, works, rounds):
        found, qp = [], self.qps[number]
        for i in range(rounds):
            for _ in range(works):
                self.receive(number, 1)
                self.post(number, "send", 1)
            time.sleep(i % 64 * 1e-6)
            qp.modify(QPAttr(qp_state=e.IBV_QPS_ERR), e.IBV_QP_STATE)
            done = self.wait(2 * works, 10) + self.wait(1, 0.001)
            found.append([one[0] for one in done])
            qp.modify(QPAttr(qp_state=e.IBV_QPS_RESET), e.IBV_QP_STATE)
            self.connect(self.peer)
        return found

    def wait(self, number, seconds):
        deadline, found = time.monotonic() + seconds, []
        while True:
            _, completions = self.cq.poll(max(number - len(found), 1)) if len(found) < number else (0, [])
            for wc in completions or []:
                found.append([STATUSES[wc.status], wc.opcode, wc.byte_len, time.monotonic() - self.since])
            left = deadline - time.monotonic()
            if len(found) >= number or left <= 0:
                return found
            if not completions and select.select([self.events], [], [], left)[0]:
                self.channel.get_cq_event(self.cq)
                self.cq.ack_events(1)
                self.cq.req_notify()

    def fill(self, seed):
        self.mr.write(random.Random(seed).randbytes(SIZE), SIZE)

    def number(self):
        return int.from_bytes(self.mr.read(8, 0), "little")

    def digest(self, size):
        return hashlib.sha256(self.mr.read(size, 0)).hexdigest()


def main():
    end = End()
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        verb, *words = json.loads(line)
        print(json.dumps(getattr(end, verb)(*words)), flush=True)


if __name__ == "__main__":
    main()
