#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: header-docs.py TREE

Check the documentation of every function in the public headers, and print a line for each missing part.
Each function needs a comment directly above it, which states its purpose, exactly its arguments, the units
of sizes, the ownership of returned objects, the states of an object in which the function may be called,
its thread safety, and each error with its trigger. The errors are compared with the code: the function
must be able to return each documented error, and must document each error that it may return. The program
follows calls by name, so it finds too many errors where a caller translates results; NARROWED lists these
functions.
"""

import collections
import functools
import pathlib
import re
import subprocess
import sys
import tempfile

Function = collections.namedtuple("Function", "name returns args comment file line")
ERROR = re.compile(r"\b(?:DOCA_SUCCESS|DOCA_ERROR_\w+|DPUMAP_DESC_OK|DPUMAP_DESC_ERR_\w+)\b")
SUCCESS = ("DOCA_SUCCESS", "DPUMAP_DESC_OK")
TRIGGER = re.compile(r"\b(for|when|while|if|unless|in|on|as)\b|:")
REFERENCE = re.compile(r"as ([a-z]\w+)\(\)")
STATE = re.compile(r"\b(state|start|stop|import|new|open|never)|\bof the (map|queue)\b")
OWNER = re.compile(r"\b(own|valid|until|before|give it back|reference)")
FUNCTION_BODY = re.compile(r"^\w[^;{}#]*?\b(\w+)\([^;{}]*\)\n\{\n(.*?)^\}", re.M | re.S)
TABLE_BODY = re.compile(r"^\w[^;{}#()]*?\b(\w+)(?:\[\w*\])* = (\{.*?\});$", re.M | re.S)
# A macro that returns from its function if an argument is NULL.
NULL_MACRO = re.compile(r"^#define (\w+)\((?:[^\n]*\\\n)*?[^\n]*\bdpumap_fail_null\(", re.M)
# Functions of whose results only these codes reach the callers of the public interface, with the reason.
NARROWED = {
    "restore_reference": (),  # in umem.c: the caller reports an earlier error
    # Its other errors cannot occur: devmem.c checks the arguments first.
    "dpumap_errno_to_error": ("DOCA_ERROR_NO_MEMORY", "DOCA_ERROR_NOT_SUPPORTED"),
    # Its callers name the other errors themselves.
    "dpumap_errno_narrow": ("DOCA_ERROR_DRIVER",),
    # Callers report a device that cannot be opened or queried as DRIVER.
    "dpumap_hca_get_caps": ("DOCA_ERROR_DRIVER",),
    "dpumap_port_query": ("DOCA_ERROR_DRIVER",),
    "dpumap_caps_query": ("DOCA_ERROR_DRIVER",),
    # The public getters return NOT_SUPPORTED or OPERATING_SYSTEM instead.
    "dpumap_sysfs_mac": (),
    "dpumap_sysfs_iface": (),
    "dpumap_sysfs_rep_iface": (),
    # Its callers return DRIVER instead.
    "dpumap_hca_open_context": (),
    # It only destroys an object that exists.
    "dpumap_region_unexport_pci": ("DOCA_ERROR_DRIVER",),
    # Functions that deregister a map return NOT_PERMITTED instead; start returns DRIVER.
    "dpumap_mmap_unregister": (),
    # The bounds are checked first, and verbs refuse nothing else.
    "dpumap_devmem_write": ("DOCA_ERROR_INVALID_VALUE",),
    "dpumap_devmem_read": ("DOCA_ERROR_INVALID_VALUE",),
    "dpumap_devmem_alloc": ("DOCA_ERROR_INVALID_VALUE", "DOCA_ERROR_NO_MEMORY",
                            "DOCA_ERROR_NOT_SUPPORTED", "DOCA_ERROR_DRIVER"),
    # The umem exists, so all other errors are failures of the device.
    "dpumap_region_register_umem": ("DOCA_ERROR_NO_MEMORY", "DOCA_ERROR_DRIVER"),
    # The library needs a driver that supports parent domains.
    "dpumap_device_init_pd": ("DOCA_ERROR_NO_MEMORY", "DOCA_ERROR_DRIVER"),
    # Errors on closing a device are only logged, because the caller cannot handle them.
    "dpumap_device_close": (),
    # The status of a copy, not the result of polling.
    "completion_status": (),
    # Their other errors cannot reach the user, or they map them themselves.
    "dpumap_counter_execute": ("DOCA_ERROR_NOT_PERMITTED", "DOCA_ERROR_IO_FAILED"),
    "dpumap_counter_destroy": ("DOCA_ERROR_DRIVER",),
    "dpumap_sync_open_counter": ("DOCA_ERROR_NO_MEMORY", "DOCA_ERROR_DRIVER"),
    "dpumap_sync_destroy_map": ("DOCA_ERROR_DRIVER",),
    "put_cell_buf": (),
    # The import of a peer's memory asks nothing of the device.
    "import_net": ("DOCA_ERROR_INVALID_VALUE", "DOCA_ERROR_NOT_SUPPORTED", "DOCA_ERROR_NO_MEMORY"),
    "hold_cell_buf": ("DOCA_ERROR_NOT_PERMITTED",),
    "export_error": (),
    "add_export": ("DOCA_ERROR_NOT_SUPPORTED", "DOCA_ERROR_NO_MEMORY", "DOCA_ERROR_DRIVER"),
    # A context keeps its table for later calls.
    "dma_ops": (),
    "rdma_ops": (),
    "advise_ops": (),
    "sync_ops": (),
    "graph_ops": (),
    "client_ops": (),
    "server_ops": (),
    "dpumap_comch_consumer_ctx_ops": (),
    "dpumap_comch_producer_ctx_ops": (),
    "dpumap_comch_consumer_endpoint_ops": (),
    "dpumap_comch_producer_endpoint_ops": (),
    "graph_ops": (),
    # Errors of a task become its status.
    "dpumap_dma_task_submit": (),
    "dpumap_dma_task_progress": (),
    "dpumap_dma_is_ready": (),
    "dpumap_rdma_task_submit": (),
    "dpumap_rdma_task_poll": (),
    "dpumap_rdma_is_ready": (),
    # Each function of connections reports what fails below as CONNECTION_ABORTED, or names the error itself.
    "dpumap_rdma_connection_open": (),
    "dpumap_rdma_connection_end": (),
    "dpumap_rdma_connection_discard": (),
    "dpumap_rdma_qp_connect": (),
    "dpumap_rdma_manager_open": ("DOCA_ERROR_NOT_SUPPORTED", "DOCA_ERROR_CONNECTION_ABORTED"),
    "listen_to": (),
    "connect_with": ("DOCA_ERROR_INVALID_VALUE", "DOCA_ERROR_BAD_STATE",
                     "DOCA_ERROR_NOT_SUPPORTED", "DOCA_ERROR_CONNECTION_ABORTED"),
    "dpumap_rdma_connection_create": ("DOCA_ERROR_FULL", "DOCA_ERROR_NO_MEMORY"),
    "doca_rdma_export": ("DOCA_ERROR_INVALID_VALUE", "DOCA_ERROR_BAD_STATE", "DOCA_ERROR_FULL",
                         "DOCA_ERROR_CONNECTION_ABORTED"),
    # It has its queue pair already.
    "doca_rdma_bridge_accept": ("DOCA_ERROR_INVALID_VALUE", "DOCA_ERROR_BAD_STATE",
                                "DOCA_ERROR_CONNECTION_ABORTED"),
    "dpumap_cm_create": (),
    "dpumap_cm_listen": (),
    "dpumap_cm_connect": (),
    "dpumap_cm_accept": (),
    "dpumap_cm_reject": (),
    "dpumap_cm_disconnect": (),
    "dpumap_cm_adopt": (),
    "dpumap_cm_id_destroy": (),
    # The thread that it wakes cannot handle the error.
    "dpumap_pe_wake": (),
    # Its context has an error of its own for not being IDLE.
    "doca_rdma_destroy": ("DOCA_ERROR_INVALID_VALUE", "DOCA_ERROR_BAD_STATE"),
    # An object that was just created is IDLE.
    "doca_comch_consumer_create": ("DOCA_ERROR_INVALID_VALUE", "DOCA_ERROR_BAD_STATE",
                                   "DOCA_ERROR_NOT_SUPPORTED", "DOCA_ERROR_NO_MEMORY"),
    "doca_comch_producer_create": ("DOCA_ERROR_INVALID_VALUE", "DOCA_ERROR_BAD_STATE",
                                   "DOCA_ERROR_NOT_SUPPORTED", "DOCA_ERROR_NO_MEMORY"),
    # A link that fails ends its connection.
    "dpumap_comch_output_flush": (),
    "dpumap_comch_output_credits": (),
    "dpumap_comch_conn_pump": (),
    "dpumap_comch_conn_down": (),
    "dpumap_comch_conn_send": (),
    "accept_clients": (),
    "dpumap_comch_control_poll": (),
    # The client that is refused gets its error.
    "admit_client": (),
    # A client that does not find its server becomes IDLE.
    "dpumap_comch_dial_poll": (),
    "dial": (),
    # A path that fails ends its tasks.
    "dpumap_comch_link_handle_events": (),
    "dpumap_comch_link_close_all": (),
    # A setter returns INVALID_VALUE; if the address was removed later, the error is NOT_CONNECTED.
    "dpumap_gid_query": (),
    "dpumap_gid_check": (),
    # Errors of starting, stopping and checking that users of a context see (src/core/pe/ctx.c, task.c).
    "nic_error": ("DOCA_ERROR_NOT_SUPPORTED", "DOCA_ERROR_OPERATING_SYSTEM", "DOCA_ERROR_DRIVER"),
    # nic_error() translates the others.
    "dpumap_nic_clock_prepare": ("DOCA_ERROR_NOT_SUPPORTED", "DOCA_ERROR_DRIVER"),
    "dpumap_nic_clock_read": ("DOCA_ERROR_NOT_SUPPORTED", "DOCA_ERROR_DRIVER"),
    # In verbs: other errors are these.
    "dpumap_verbs_open_ibv": ("DOCA_ERROR_NO_MEMORY", "DOCA_ERROR_NOT_CONNECTED"),
    "dpumap_verbs_import": ("DOCA_ERROR_INVALID_VALUE", "DOCA_ERROR_DRIVER"),
    # In argp: other devices may still be the one that a flag names.
    "compare_device": ("DOCA_ERROR_INVALID_VALUE",),
    "compare_rep": ("DOCA_ERROR_INVALID_VALUE",),
    "close_opened": (),  # in argp: the caller reports an earlier error
    "ops->start": ("DOCA_ERROR_NOT_SUPPORTED", "DOCA_ERROR_BAD_STATE",
                   "DOCA_ERROR_IN_PROGRESS"),
    "ops->poll_start": (),
    "ops->stop": (),
    "ops->flush": (),
    "ops->submit": (),
    "ops->begin_stop": (),
    "ops->is_ready": (),
    "ops->is_state_ready": (),
    "ops->arm": ("DOCA_ERROR_DRIVER",),
    "ops->check": ("DOCA_ERROR_INVALID_VALUE",),
}
# The rooms of the library in src/.
LIBRARY = ("advise", "argp", "comch", "core", "device", "dma", "graph", "local", "log", "rdma",
           "refused", "sync_event", "verbs")
# The functions that a call through a table may reach; filled by main().
OPERATIONS = {}
# The places of all functions with a name; filled by main().
PLACES = collections.defaultdict(list)
# Objects that refuse some calls, depending on their state.
STATEFUL = ("doca_mmap", "doca_buf_inventory", "doca_dev")


def blank_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)


def declared(include):
    """Return the names and headers of all functions, as the compiler sees them."""
    headers = sorted(p.relative_to(include) for p in include.rglob("*.h"))
    with tempfile.TemporaryDirectory() as scratch:
        unit = pathlib.Path(scratch, "all.c")
        unit.write_text("".join(f"#include <{h}>\n" for h in headers), encoding="utf-8")
        subprocess.run(["gcc", "-std=c11", "-DDOCA_ALLOW_EXPERIMENTAL_API", f"-I{include}",
                        "-fsyntax-only", "-aux-info", f"{unit}.info", unit], check=True)
        info = pathlib.Path(f"{unit}.info").read_text(encoding="utf-8")
    found = re.findall(r"^/\* (\S+?):\d+:\S* \*/ (?:extern|static) [^(]*?(\w+) \(", info, re.M)
    return sorted({(pathlib.Path(file), name) for file, name in found
                   if pathlib.Path(file).is_relative_to(include)})


def split_args(text):
    args, depth, last = [], 0, ""
    for char in text:
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "," and not depth:
            args.append(last)
            last = ""
        else:
            last += char
    args.append(last)
    return [" ".join(a.split()) for a in args if a.strip() not in ("", "void", "...")]


@functools.cache
def read_header(file):
    """Return the text of a file, and the text without comments and directives."""
    text = file.read_text(encoding="utf-8")
    return text, re.sub(r"^#(?:[^\n]*\\\n)*[^\n]*",
                        lambda m: ";" + re.sub(r"[^\n]", " ", m[0][1:]),
                        blank_comments(text), flags=re.M)


def parse(file, name):
    text, code = read_header(file)
    at = re.search(rf"\b{name}\s*\(", code)
    start = max(code.rfind(c, 0, at.start()) for c in ";{}") + 1
    end, depth = at.end(), 1
    while depth:
        depth += {"(": 1, ")": -1}.get(code[end], 0)
        end += 1
    comment = re.search(r"/\*\*((?:(?!\*/).)*)\*/\s*$",
                        text[start:start + len(code[start:at.start()]) -
                             len(code[start:at.start()].lstrip())], re.S)
    body = re.sub(r"^\s*\* ?", "", comment[1], flags=re.M) if comment else None
    returns = " ".join(w for w in code[start:at.start()].split()
                       if not w.startswith("DOCA_") and w not in ("extern", "static", "inline"))
    return Function(name, returns, split_args(code[at.end():end - 1]), body, file,
                    code.count("\n", 0, at.start()) + 1)


def sections(comment):
    """Return the purpose, {argument: text}, and the text of @return."""
    parts = re.split(r"^\s*@(param|return)\b", comment, flags=re.M)
    params, returns = {}, ""
    for tag, text in zip(parts[1::2], parts[2::2]):
        # A blank line ends a tag; the text after it describes the function again.
        text, _, rest = text.partition("\n\n")
        parts[0] += "\n" + rest
        if tag == "return":
            returns = " ".join(text.split())
        else:
            name, _, text = text.strip().partition(" ")
            params[name] = " ".join(text.split())
    return " ".join(parts[0].split()), params, returns


def errors_of(returns):
    """Return [(code, trigger)]; in "A, B or C when ..." all three codes have the same trigger."""
    found = list(ERROR.finditer(returns))
    ends = [m.start() for m in found[1:]] + [len(returns)]
    texts = [returns[m.end():end] for m, end in zip(found, ends)]
    listed = False
    for i in reversed(range(len(texts) - 1)):
        listed = texts[i].strip() in (("or", "and", ",") if listed else ("or", "and"))
        if listed:
            texts[i] = texts[i + 1]
    return [(m[0], text) for m, text in zip(found, texts)]


def arg_name(arg):
    return re.search(r"(\w+)\s*(?:\[.*)?$", arg)[1]


def check_args(f, params):
    names = [arg_name(a) for a in f.args]
    for name in names:
        if not params.get(name):
            yield f"argument {name} is not described"
    for name in params:
        if name not in names:
            yield f"the function does not have an argument {name}"
    for arg in f.args:
        name, text = arg_name(arg), params.get(arg_name(arg), "")
        counts = re.search(r"\bsize_t\b", arg) or re.search(r"(^|_)(len|size)$", name)
        if text and counts and not re.search(r"\b(bytes?|number|how many)\b", text):
            yield f"argument {name}: its unit is not documented"
        if text and re.match(r"(const )?(struct \w+|void) \*\*", arg) and "out" in text[:4] and \
           not re.match(r"void", arg) and not OWNER.search(text):
            yield f"argument {name}: its owner is not documented, or how long it is valid"
        kind = re.match(r"(?:const )?struct (\w+) \*(?!\*)", arg)
        if text and kind and kind[1] in STATEFUL and not STATE.search(text):
            yield f"argument {name}: the allowed states are not documented"


def check_errors(f, params, returns, functions):
    found = errors_of(returns)
    reference = REFERENCE.match(returns)
    if reference:
        if reference[1] not in functions:
            yield f"@return: {reference[1]}() does not exist"
        return
    if not found:
        yield "@return: no error code is documented"
    for code, text in found:
        if code not in SUCCESS and not TRIGGER.search(text):
            yield f"@return: the trigger of {code} is not documented"
    takes_pointer = any("*" in arg or "[" in arg for arg in f.args)
    if takes_pointer and not re.search(r"INVALID_VALUE|ERR_NULL", returns) and \
       not any("NULL" in text for text in params.values()):
        yield "@return: the result of a NULL argument is not documented"


def check_comment(f, functions, head):
    if f.comment is None:
        yield "no /** comment */ directly above the function"
        return
    purpose, params, returns = sections(f.comment)
    if len(purpose.split()) < 2:
        yield "no purpose"
    yield from check_args(f, params)
    if f.returns != "void" and not returns:
        yield "no @return"
    elif f.returns in ("doca_error_t", "dpumap_desc_status_t"):
        yield from check_errors(f, params, returns, functions)
    if "thread" not in f.comment.lower() and "Thread safety" not in head:
        yield "its thread safety is not documented, neither here nor at the top of the file"


def definitions(source):
    """Return {(file, function or table): (codes in it, names in it)} for the C files in source. Functions
    with external linkage are listed under (None, name) as well."""
    found = {}
    for file in source:
        code = blank_comments(file.read_text(encoding="utf-8"))
        checks_null = "|".join(["dpumap_fail_null", *NULL_MACRO.findall(code)])
        for m in [*FUNCTION_BODY.finditer(code), *TABLE_BODY.finditer(code)]:
            codes = set(re.findall(r"\bDOCA_ERROR_(?!PROPAGATE)\w+", m[2]))
            if re.search(rf"\b({checks_null})\(", m[2]):
                codes.add("DOCA_ERROR_INVALID_VALUE")
            if "dpumap_errno_to_one_of" in m[2]:
                codes.add("DOCA_ERROR_DRIVER")
            named = re.sub(r'"(?:\\.|[^"\\])*"', '""', m[2])
            mentions = set(re.findall(r"\bops->\w+|\b[a-z]\w+\b", named))
            found[file, m[1]] = codes, mentions
            if file.suffix == ".h" or "static" not in m[0][:m.start(1) - m.start()].split():
                found[None, m[1]] = codes, mentions
    return found


def operations(source):
    """Return {"ops->member": {(file, function)}} for all tables of context operations."""
    found = collections.defaultdict(set)
    for file in source:
        code = blank_comments(file.read_text(encoding="utf-8"))
        for table in re.finditer(r"struct ctx_ops \w+ = \{(.*?)^\};", code, re.M | re.S):
            for member, function in re.findall(r"\.(\w+) = (\w+)", table[1]):
                found["ops->" + member].add((file, function))
    return found


def definition_of(key, code):
    """Find a function that a file names: in that file, or with external linkage in another."""
    if key in code:
        return [key]
    return PLACES[key[1]] if (None, key[1]) in code else []


def reach(name, code):
    """Return all codes that a function and its callees may return; never too few, possibly too many."""
    seen, codes = set(), set()
    left = list(PLACES[name]) if (None, name) in code else []
    while left:
        at = left.pop()
        if at in seen:
            continue
        seen.add(at)
        if at[1] in NARROWED:
            codes.update(NARROWED[at[1]])
            continue
        codes |= code[at][0]
        for called in code[at][1]:
            if called in OPERATIONS and called in NARROWED:
                codes.update(NARROWED[called])
                continue
            for key in OPERATIONS.get(called, {(at[0], called)}):
                left += definition_of(key, code)
    return codes


def documented_errors(f, functions):
    """Return the codes in the comment of a function, and in that of a function it refers to."""
    returns = sections(f.comment)[2] if f.comment else ""
    codes = {c for c, _ in errors_of(returns)} - set(SUCCESS)
    reference = REFERENCE.match(returns)
    if reference and reference[1] in functions and reference[1] != f.name:
        codes |= documented_errors(functions[reference[1]], {})
    return codes


def check_code(f, code, functions):
    documented = documented_errors(f, functions)
    if (None, f.name) not in code:
        return
    reached = reach(f.name, code)
    if f.returns in ("doca_error_t", "dpumap_desc_status_t"):
        for missing in sorted(reached - documented):
            yield f"may return {missing}, which is not documented"
    for vain in sorted(documented - reached):
        yield f"documents {vain}, which neither it nor its callees return"


def main():
    tree = pathlib.Path(sys.argv[1]).resolve()
    include = tree / "include"
    functions = {name: parse(file, name) for file, name in declared(include)}
    known = set(re.findall(r"\b(?:DOCA_ERROR|DPUMAP_DESC_ERR|DOCA_SUCCESS|DPUMAP_DESC_OK)\w*",
                           "".join(blank_comments(p.read_text(encoding="utf-8"))
                                   for p in include.rglob("*.h"))))
    source = [file for room in LIBRARY
              for file in (tree / "src" / room).rglob("*.[ch]")]
    code = definitions(source)
    OPERATIONS.update(operations(source))
    for key in code:
        if key[0]:
            PLACES[key[1]].append(key)
    if not functions:
        print("no function found in the public headers")
    for name in sorted(set(NARROWED) - {name for _, name in code} - set(OPERATIONS)):
        print(f"tests/static/header-docs.py: {name}() does not exist")
    for f in functions.values():
        head = re.search(r"\A(?:/\*.*?\*/\s*){1,2}", f.file.read_text(encoding="utf-8"), re.S)
        wrong = list(check_comment(f, functions, head[0] if head else ""))
        if f.comment is not None:
            named = set(ERROR.findall(re.sub(r'"[^"]*"', "", f.comment)))
            wrong += [f"{e} does not exist" for e in sorted(named - known)]
            wrong += check_code(f, code, functions)
        for text in wrong:
            print(f"{f.file.relative_to(tree)}:{f.line}: {f.name}: {text}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
