# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Bad input of every kind: one line that says what and why, a status, and nothing left behind."""

import os
import pathlib
import re
import stat

import pytest

from harness.agents import ABSENT, CANNOT, REFUSED, Tool

pytestmark = [pytest.mark.local, pytest.mark.usefixtures("nothing_left")]
CARD = ("--cards", "2")
EXPORTS = (
    *("--export", "name=fast,kind=dm,size=64K", "--export", "name=bulk,kind=dram,size=1M"),
    *("--export", "name=ro,kind=dram,size=1M,perm=ro"),
)
# What dpumapd refuses to export: words, status, reason.
SOME = "name=a,kind=dram,size=4K"
DAEMON = [
    (
        ["--export", "name=huge,kind=dm,size=1T"],
        REFUSED,
        r"export huge: cannot export 1099511627776 bytes of device memory: the limit of mlx5_0 is \d+",
    ),
    (["--export", "name=odd,kind=dm,size=4097"], REFUSED, "export odd: .* multiple of 4, not 4097"),
    (["--device", "mlx5_7", "--export", SOME], ABSENT, "device mlx5_7 not found"),
    (
        ["--export", "name=vast,kind=dram,size=1000000T"],
        CANNOT,
        r"export vast: cannot allocate \d+ bytes: Cannot allocate memory",
    ),
    (
        ["--export", "name=a,kind=dm,size=4K,align=1M"],
        REFUSED,
        "export a: cannot align device memory to 1048576 bytes: the limit of mlx5_0 is 4096",
    ),
]
# What dpumap refuses; {files}: a directory, {work}: a directory with the file "in" of 65537 bytes.
TOOL = [
    ("cp {files}/none fast {files}/out", ABSENT, "cannot open {files}/none: No such file"),
    ("write fast {files}/none", ABSENT, "cannot open {files}/none: No such file"),
    ("write fast {files}", REFUSED, "{files} is not a regular file"),
    ("write fast /dev/zero", REFUSED, "/dev/zero is not a regular file"),
    ("cp /bin/sh fast {files}/none/out", ABSENT, "cannot write {files}/none/out: No such file"),
    ("read fast {files}", REFUSED, "cannot write {files}: .*not a regular file"),
    ("read fast /dev/null", REFUSED, "cannot write /dev/null: .*not a regular file"),
    ("info none", ABSENT, 'there is no export called "none"'),
    ("cp /bin/sh none {files}/out", ABSENT, 'there is no export called "none"'),
    ("read ../fast {files}/out", ABSENT, 'there is no export called "../fast"'),
    (
        "write fast {work}/in",
        REFUSED,
        "65537 bytes and does not fit into export fast, which has 65536 bytes from offset 0",
    ),
    (
        "write fast {work}/in --offset 64K",
        REFUSED,
        "does not fit into export fast, which has 0 bytes from offset 65536",
    ),
    (
        "write fast {work}/in --offset 65537",
        REFUSED,
        "offset 65537 is outside export fast, which has 65536 bytes",
    ),
    (
        "read fast {files}/out --offset 65535 --length 2",
        REFUSED,
        "the range has 2 bytes and does not fit",
    ),
    (
        "read fast {files}/out --offset 18446744073709551615 --length 1",
        REFUSED,
        "offset 18446744073709551615 is outside",
    ),
    (
        "read fast {files}/out --offset 1 --length 18446744073709551615",
        REFUSED,
        "the range has 18446744073709551615 bytes and does not fit",
    ),
    (
        "dump fast --offset 1 --length 18446744073709551615",
        REFUSED,
        "the range has 18446744073709551615 bytes and does not fit",
    ),
    (
        "fill fast --offset 1 --length 18446744073709551615",
        REFUSED,
        "the pattern has 18446744073709551615 bytes and does not fit",
    ),
    (
        "write fast {work}/in --file-offset 1 --length 18446744073709551615",
        REFUSED,
        "fewer than --file-offset and --length require",
    ),
    (
        "cp {work}/in fast {files}/out --length 18446744073709551615",
        REFUSED,
        "fewer than --file-offset and --length require",
    ),
    (
        "write fast - --length 18446744073709551615",
        REFUSED,
        "standard input has 18446744073709551615 bytes and does not fit",
    ),
    ("write ro {work}/in", REFUSED, "export ro is read-only"),
    ("cp {work}/in ro {files}/out", REFUSED, "export ro is read-only"),
    (
        "cp /bin/sh fast {files}/out --device mlx5_1",
        REFUSED,
        "cannot import fast with device mlx5_1: it needs a function of card [0-9a-f]{{16}}",
    ),
    ("cp /bin/sh fast {files}/out --device mlx5_9", ABSENT, "device mlx5_9 not found"),
]


@pytest.fixture
def dpumap(serve, tool):
    return tool(serve(*EXPORTS))


def test_tool_without_dpumapd_is_refused(host, files):
    socket = f"{host.dir}/nothing"
    for words in (["list"], ["cp", "/bin/sh", "fast", f"{files}/out"]):
        done = Tool(host, ["--connect", socket])(*words)
        done.fails_with(ABSENT, f"cannot connect to dpumapd at {socket}: No such file")


def test_tool_without_descriptors_says_so(host, dpumap):
    """A driver without file descriptors finds no device, or one that cannot do anything."""
    told = starts = 0
    for limit in range(5, 16):
        limited = f"ulimit -n {limit} && exec"
        if host.run(f"{limited} dpumap --version").status:
            continue  # the loader, or qemu and its script, need more
        starts += 1
        done = host.run(f"{limited} {dpumap.command('read', 'fast')} >/dev/null")
        assert "no RDMA device" not in done.err and "no device" not in done.err, (limit, done.err)
        assert not done.status or re.search("open only|Too many open files", done.err), (limit, done.err)
        told += "can open only" in done.err
    if not told and starts < 8:
        pytest.skip("what starts the program needs as many descriptors as it does")
    assert told


@pytest.mark.parametrize("option, what", [("v", "address space"), ("d", "data")])
def test_tool_without_memory_says_so(host, dpumap, option, what):
    """The system has enough: it is the limit of the process."""
    pattern = f"can have only \\d+ KiB more {what}: raise the limit .ulimit -{option}|cannot allocate memory"
    told = first = 0
    limits = [4 << shift for shift in range(10, 17)]
    for limit in limits:
        # A sanitizer that cannot start reports nothing about the program.
        limited = f"unset ASAN_OPTIONS UBSAN_OPTIONS LSAN_OPTIONS; ulimit -{option} {limit} && exec"
        if not host.run(f"{limited} dpumap --version").status:  # the loader, a sanitizer, or qemu may need more
            first = first or limit
            done = host.run(f"{limited} {dpumap.command('read', 'fast')} >/dev/null")
            assert "no device" not in done.err, (limit, done.err)
            assert not done.status or re.search(pattern, done.err, re.I), (limit, done.err)
            told += "can have only" in done.err
        if limit == 4 << 16 and not told:
            limits += range(first // 2, first, first // 16 or 1)
    if not first:
        pytest.skip("what starts the program needs more memory than it does")
    assert told


def test_size_max_takes_all_device_memory(serve):
    serve("--export", "name=all,kind=dm,size=max").daemon.await_log(r"export all created: dm, \d+[KM]?,")


@pytest.mark.parametrize("words, status, pattern", DAEMON)
def test_dpumapd_refuses_wrong_options_with_a_reason(dpu, words, status, pattern):
    dpu.run(["dpumapd", "--listen", f"{dpu.dir}/socket", *words]).fails_with(status, pattern)
    assert not os.path.exists(f"{dpu.dir}/socket")


def test_dpumapd_refuses_to_listen_where_it_cannot(dpu, work):
    done = dpu.run(["dpumapd", "--listen", f"{work}/none/socket", "--export", SOME])
    done.fails_with(ABSENT, "cannot listen on .*/none/socket: .*No such file")
    file = work / "file"
    file.write_text("precious")
    done = dpu.run(["dpumapd", "--listen", file, "--export", SOME])
    done.fails_with(REFUSED, "cannot listen on .*/file: it exists and is not a socket")
    assert file.read_text() == "precious"


def test_second_dpumapd_does_not_disturb_the_first(dpu, dpumap):
    socket = f"{dpu.dir}/socket"
    done = dpu.run(["dpumapd", "--listen", socket, "--export", SOME])
    done.fails_with(ABSENT, f"cannot listen on {socket}: another server")
    dpumap("list").ok()


def test_the_tool_refuses_wrong_commands_and_leaves_no_file(dpumap, files, work):
    (work / "in").write_bytes(bytes(65537))
    for words, status, pattern in TOOL:
        places = {"files": files, "work": work}
        done = dpumap(*words.format(**places).split())
        done.fails_with(status, pattern.format(**places))
        assert not os.listdir(files), f"{words} left a file"
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode), "/dev/null is gone"


def test_list_needs_no_device(here, dpumap):
    assert here.run(dpumap.words("list")).ok().count("\n") == 4


@pytest.fixture
def descriptor(dpumap, work):
    """The path of a valid descriptor."""
    dpumap("get", "fast", work / "good").ok()
    return work / "good"


def test_info_refuses_invalid_descriptors(here, descriptor):
    good, bad = descriptor.read_bytes(), descriptor.with_name("bad")

    def is_refused(data, pattern):
        bad.write_bytes(data)
        here.run(["dpumap", "info", "--descriptor", bad]).fails_with(REFUSED, pattern)

    for length in (0, 1, 11, len(good) - 1):
        name = rf"the descriptor of {bad} \({length} bytes\)"
        is_refused(good[:length], rf"{name} is not valid: .*DPUMAP_DESC_ERR_")
    # One bit in every eighth byte; the codec's own tests flip them all.
    for at in range(0, len(good), 8):
        flipped = good[:at] + bytes([good[at] ^ 1 << at // 8 % 8]) + good[at + 1 :]
        is_refused(flipped, f"the descriptor of {bad} .* is not valid")
    is_refused(good + good, "is not valid: .*DPUMAP_DESC_ERR_")
    is_refused(pathlib.Path("/bin/sh").read_bytes(), r"is not a descriptor: it has \d+ bytes")
    none = descriptor.with_name("none")
    done = here.run(["dpumap", "info", "--descriptor", none])
    done.fails_with(ABSENT, f"cannot open {none}")


def test_desc_shows_the_key_only_on_request(here, descriptor):
    def desc(*words, **more):
        return here.run(["dpumap", "desc", *words], **more).ok().splitlines()

    key = descriptor.read_bytes()[48:80].hex()
    assert desc("check", descriptor) == ["good"]
    assert "access_key   redacted" in desc("show", "-", data=descriptor.read_bytes())
    assert '  "access_key": null,' in desc("show", "--json", descriptor)
    assert not any(key in line for line in desc("show", descriptor))
    assert f"access_key   {key}" in desc("show", "--show-secret", descriptor)


def test_desc_names_the_wrong_byte(here, descriptor, work):
    def is_refused(status, pattern, *words):
        here.run(["dpumap", "desc", *words]).fails_with(status, pattern)

    bad = work / "bad"
    bad.write_bytes(descriptor.read_bytes()[:30])
    cut = rf"{bad}: byte 30: fewer bytes than the total length \(TRUNCATED\)"
    is_refused(REFUSED, cut, "show", bad)
    is_refused(REFUSED, f"{bad}: byte 30: .*TRUNCATED", "check", "--json", bad)
    is_refused(REFUSED, "/bin/sh: byte 512: longer than any descriptor", "check", "/bin/sh")
    is_refused(ABSENT, f"cannot read {work}/none", "show", work / "none")
    is_refused(ABSENT, f"cannot read {work}", "check", work)
