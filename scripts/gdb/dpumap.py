# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Commands of gdb that print objects of dpumap, in a process or a core:

    gdb -x scripts/gdb/dpumap.py --args dpumap-emu run --as dpu -- PROGRAM
    (gdb) help dpumap

They need debug information (the default build type has it). They read memory and call nothing, and they print no
access key.
"""
import gdb

# Constants of include/dpumap/desc.h and emu/ipc/queues.h; macros are not in the debug information.
KINDS = {1: "PCI", 2: "RDMA", 3: "umem"}
SOURCES = {0: "not imported", 1: "memory", 2: "device memory", 3: "dma-buf"}
LINKS = {0: "none", 1: "InfiniBand", 2: "Ethernet"}


def line(name, text, depth=0):
    print(f"{'  ' * depth}{name}: {text}")


def number(value):
    """The value as an int. It may be atomic."""
    return int(value.cast(gdb.lookup_type("unsigned long")))


def named(value, enum):
    """The names of a number's bits, or its name, in an enum."""
    return value.cast(gdb.lookup_type(f"enum {enum}")).format_string()


def hexadecimal(value):
    return f"{number(value):#x}"


def yes(value):
    return "yes" if number(value) else "no"


def bytes_at(range_):
    return f"{number(range_['len'])} bytes at {hexadecimal(range_['addr'])}"


def target(command, expression, *structs):
    """The object that an expression names, one of the structs, or a pointer to one; with the name of the struct."""
    value = gdb.parse_and_eval(expression)
    if value.type.strip_typedefs().code == gdb.TYPE_CODE_PTR:
        if not number(value):
            raise gdb.GdbError(f"{expression} is NULL")
        value = value.dereference()
    name = value.type.unqualified().strip_typedefs().tag
    if name not in structs:
        raise gdb.GdbError(f"{expression} is a {value.type}; dpumap {command} prints {', '.join(structs)}")
    # A program knows only a declaration of some of them.
    return name, value.address.cast(gdb.lookup_type(f"struct {name}").pointer()).dereference()


def show_exported(name, exported, depth):
    line(name, f"descriptor of {number(exported['len'])} bytes" if number(exported["bytes"]) else "not exported", depth)


def show_map(mmap):
    line("state", mmap["state"])
    line("range", bytes_at(mmap["range"]) if number(mmap["has_range"]) else "none")
    line("access", named(mmap["access"], "doca_access_flag"))
    line("source", SOURCES[number(mmap["source"])])
    line("bufs", "not counted: the map has a lock" if number(mmap["lock"]) else number(mmap["num_bufs"]))
    for name in ("dm", "umem"):
        if number(mmap[name]):
            line(name, f"{hexadecimal(mmap[name])}, offset {number(mmap['offset'])}")
    for i in range(number(mmap["num_slots"])):
        show_slot(mmap["slots"][i])


def show_slot(slot):
    line("device", slot["dev"]["info"]["hca"]["ibdev"]["name"].string() if number(slot["dev"]) else "none")
    if number(slot["region"]):
        line("region", f"{bytes_at(slot['region']['range'])}, keys begin at {hexadecimal(slot['region']['iova'])}", 1)
        line("lkey", hexadecimal(slot["region"]["lkey"]), 1)
        line("rkey", hexadecimal(slot["region"]["rkey"]), 1)
    else:
        line("region", "none", 1)
    show_exported("PCI", slot["pci"], 1)
    show_exported("RDMA", slot["rdma"], 1)
    line("access key of the program", "set, not shown" if number(slot["token"]) else "none", 1)


def show_desc(desc):
    kind = KINDS.get(number(desc["kind"]), f"unknown ({number(desc['kind'])})")
    line("kind", kind)
    line("source", SOURCES.get(number(desc["source"]), "unknown"))
    line("access", named(desc["access"], "doca_access_flag"))
    line("device", f"{number(desc['device_guid']):016x}, vhca {number(desc['vhca_id'])}")
    line("mkey", hexadecimal(desc["mkey"]))
    line("range", bytes_at(desc))
    if kind == "PCI":
        key = desc["access_key"]
        given = any(number(key[i]) for i in range(*key.type.range()))
        line("access key", "set, not shown" if given else "all bytes are 0")
    elif kind == "RDMA":
        line("link", LINKS.get(number(desc["port"]["link_layer"]), "unknown"))
    elif kind == "umem":
        line("start", hexadecimal(desc["umem"]["start"]))
        line("token", f"{number(desc['umem']['token_len'])} bytes, not shown")


def show_send_queue(sq):
    """A struct dpumap_sq: work requests are written to its memory."""
    ring, posted = sq["ring"], number(sq["ring"]["at"])
    line("send queue", f"QP {number(ring['qpn']) >> 8:#x}, {number(ring['mask']) + 1} blocks, depth {number(sq['depth'])}")
    line("posted", posted, 1)
    line("rung", number(ring["rung"]), 1)
    line("completed", number(sq["completed"]), 1)


def show_copy_queue(queue):
    """A struct dpumap_queue: verbs post its work requests."""
    line("copy queue", f"QP {number(queue['qp']['qp_num']):#x}, depth {number(queue['depth'])}")
    line("engine", "DMA" if number(queue["mmo"]) else "RDMA", 1)
    line("next", number(queue["next"]), 1)
    line("in flight", number(queue["inflight"]), 1)
    line("unflushed", number(queue["unflushed"]), 1)
    line("failed", yes(queue["failed"]), 1)


def show_rdma_queue(queue):
    line("RDMA queue", "in its memory" if number(queue["is_mapped"]) else "by verbs")
    line("sends", f"{number(queue['sends'])} of {number(queue['num_sends'])} in flight", 1)
    line("receives", f"{number(queue['recvs'])} of {number(queue['num_recvs'])} posted", 1)
    line("failed", yes(queue["failed"]), 1)
    for i in range(number(queue["max_qps"])):
        if number(queue["qps"][i]):
            qp = queue["qps"][i].dereference()
            line(f"QP {number(qp['qpn']):#x}",
                 f"posted {number(qp['posted'])}, completed {number(qp['completed'])}, failed {yes(qp['failed'])}", 1)


def show_context(context):
    """A DOCA DMA context: its own queue is mapped over that of copies, if the device has a DMA engine."""
    if not number(context["queue"]):
        raise gdb.GdbError("the context is IDLE: it has no queue")
    if number(context["sq"]):
        show_send_queue(context["sq"].dereference())
    else:
        show_copy_queue(context["queue"].dereference())


QUEUES = {
    "dpumap_sq": show_send_queue,
    "dpumap_queue": show_copy_queue,
    "dpumap_rdma_queue": show_rdma_queue,
    "dpumap_dma": lambda dma: show_copy_queue(dma["queue"].dereference()),
    "doca_dma": show_context,
}


def engine_in(frame):
    """The engine that a variable of the frame points to, or None."""
    try:
        value = frame.read_var("e")
    except ValueError:
        return None
    is_pointer = value.type.code == gdb.TYPE_CODE_PTR and value.type.target().unqualified().tag == "engine"
    return value.dereference() if is_pointer and not value.is_optimized_out else None


def running_engines():
    """The engines of the process: the thread of each has it in a variable."""
    engines, before = [], gdb.selected_thread()
    for thread in gdb.selected_inferior().threads():
        thread.switch()
        frame = gdb.newest_frame()
        while frame and engine_in(frame) is None:
            frame = frame.older()
        if frame and engine_in(frame).address not in [engine.address for engine in engines]:
            engines.append(engine_in(frame))
    before.switch()
    return engines


def show_engine(engine):
    line("engine", f"slot {number(engine['cfg']['slot'])}, abandoned {yes(engine['abandoned'])}")
    scan, bells = engine["scan"], engine["doorbells"]
    line("doorbells", f"usable {yes(bells['usable'])}, armed {yes(bells['armed'])}, exclusive {yes(bells['exclusive'])}", 1)
    line("events to send", number(engine["events"]["count"]), 1)
    line("endpoints on the network", number(engine["net"]["num_endpoints"]), 1)
    line("encryption keys", "some, not shown" if number(engine["keys"]["kept"]) else "none", 1)
    try:
        show_shared(engine, scan)
    except gdb.MemoryError:
        line("queues", "the memory that engines share is not in this core", 1)


def show_shared(engine, scan):
    slot, queues = engine["slot"], engine["cfg"]["queues"]
    line("pass", f"{'within one' if number(slot['epoch']) % 2 else 'none'}, asleep {yes(slot['asleep'])}", 1)
    line("copies", f"{number(slot['copies'])}, {number(slot['bytes'])} bytes, {number(slot['errors'])} failed", 1)
    for i in range(number(scan["qp_count"])):
        qpn = number(scan["qp_list"][i])
        qp = queues["qp"][qpn]
        state = named(qp["state"], "emu_qp_state").removeprefix("EMU_QPS_")
        line(f"QP {qpn:#x}", f"{named(qp['type'], 'emu_qp_type').removeprefix('EMU_QPT_')} {state}, "
             f"send CQ {number(qp['send_cqn'])}, receive CQ {number(qp['recv_cqn'])}, "
             f"{number(qp['done'])} blocks executed, {number(qp['sq_wqe_count'])} in the ring", 1)
    for i in range(number(scan["cq_count"])):
        cqn = number(scan["cq_list"][i])
        cq = queues["cq"][cqn]
        line(f"CQ {cqn}", f"{number(cq['pi'])} completions, {number(cq['entries'])} entries, "
             f"overrun {yes(cq['error'])}", 1)
    for i in range(number(scan["srq_count"])):
        srqn = number(scan["srq_list"][i])
        line(f"SRQ {srqn}", f"{number(queues['srq'][srqn]['wqe_count'])} work requests", 1)


class Command(gdb.Command):
    def __init__(self, name, text, show):
        self.__doc__, self.show = text, show
        super().__init__(f"dpumap {name}", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, _):
        if not gdb.selected_thread():
            raise gdb.GdbError("there is no process and no core: run a program, attach to one, or load a core")
        try:
            self.show(argument)
        except gdb.MemoryError as error:
            raise gdb.GdbError(f"{argument}: {error}; is it a valid object, and in this core?")


def on_engine(argument):
    found = [target("engine", argument, "engine")[1]] if argument else running_engines()
    if not found:
        raise gdb.GdbError("no thread of this process is an engine of the emulated card: "
                           "does it run below dpumap-emu run, and is a device open?")
    for engine in found:
        show_engine(engine)


def on_queue(argument):
    name, queue = target("queue", argument, *QUEUES)
    QUEUES[name](queue)


class Prefix(gdb.Command):
    """Print objects of dpumap, without their access keys."""

    def __init__(self):
        super().__init__("dpumap", gdb.COMMAND_DATA, prefix=True)


Prefix()
Command("map", "Print a struct doca_mmap: dpumap map EXPRESSION", lambda text: show_map(target("map", text, "doca_mmap")[1]))
Command("descriptor", "Print a struct dpumap_desc: dpumap descriptor EXPRESSION",
        lambda text: show_desc(target("descriptor", text, "dpumap_desc")[1]))
Command("queue", f"Print a queue, a struct {' or '.join(QUEUES)}: dpumap queue EXPRESSION", on_queue)
Command("engine", "Print the engine of the emulated card: dpumap engine [EXPRESSION]\n"
        "Without EXPRESSION, print each one that the process has.", on_engine)
