# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Every command of dpumap: what it prints for people and for programs, and what it does."""

import json
import os
import pty
import re
import shutil
import subprocess

import pytest

from harness.agents import ABSENT, LOST, REFUSED, WRONG, Tool

pytestmark = pytest.mark.usefixtures("nothing_left")
CARD = ("--cards", "2")
EXPORTS = ("kind=dram,size=1M", "kind=dm,size=4K", "kind=dram,size=8K,perm=ro")
BULK, FAST, READ_ONLY = "e0", "e1", "e2"
SIZE = 100003


@pytest.fixture
def dpumap(agent, tool):
    return tool(agent(*EXPORTS).must_serve())


@pytest.fixture
def sent(host):
    """The bytes of the host's file "sent"; there is no file "got"."""
    data = os.urandom(SIZE)
    host.put({"sent": data})
    host.remove("got", f"{FAST}.desc", "fast.desc", "old.desc")
    return data


def shell(host, script):
    return host.run(f"set -o pipefail; {script}")


# -- list, info, get


def test_json_describes_exports(dpumap):
    found = [
        (export["name"], export["kind"], export["size"], export["perm"])
        for export in dpumap.json("list")["exports"]
    ]
    read_only = (READ_ONLY, "dram", 8192, "ro")
    assert found == [(BULK, "dram", 1 << 20, "rw"), (FAST, "dm", 4096, "rw"), read_only]
    info = dpumap.json("info", FAST)
    assert info["export"]["name"] == FAST
    assert (info["descriptor"]["kind"], info["descriptor"]["length"]) == ("PCI export", 4096)


@pytest.mark.local
def test_json_counts_device_memory(dpumap):
    memory = dpumap.json("info")["device_memory"]
    assert memory["exported"] == 4096 < memory["total"]


def test_get_writes_the_descriptor(dpumap, host, sent):
    """By default to NAME.desc."""
    done = shell(host, "umask 0; " + dpumap.command("get", FAST, "--json"))
    report = json.loads(done.ok())
    assert report["file"] == f"{FAST}.desc"
    assert len(host.get(f"{FAST}.desc")) == report["bytes"] == 80
    assert host.mode(f"{FAST}.desc") == "600"


# -- write, read, cp


def test_write_and_read_report_as_json(dpumap, host, sent):
    written = dpumap.json("write", BULK, "sent")
    assert (written["bytes"], written["verified"], len(written["digests"])) == (SIZE, True, 2)
    assert [one["hash"] for one in written["digests"]] == ["xxh128", "xxh128"]
    again = dpumap.json("write", BULK, "sent", "--sha256")
    assert again["digests"][0] == {"of": "seen by the DPU", "hash": "sha256", "digest": host.sha256("sent")}
    read = dpumap.json("read", BULK, "got", "--length", str(SIZE))
    assert (read["bytes"], read["verified"]) == (SIZE, True)
    assert host.get("got") == sent


def test_default_digest_is_that_of_xxh128sum(dpumap, host):
    host.put({"three": b"abc"})
    text = dpumap("cp", "three", BULK, "got").ok()
    assert len(re.findall("^xxh128 +06b05ab6733a618578af5f94892f3950  ", text, re.M)) == 3, text


def test_sha256_without_digests_is_an_error(dpumap):
    done = dpumap("cp", "sent", BULK, "got", "--sha256", "--no-verify")
    assert "--sha256 and --no-verify exclude each other" in done.fails(WRONG)


def test_read_writes_to_standard_output(dpumap, sent):
    dpumap("write", BULK, "sent").ok()
    assert dpumap("read", BULK, "--offset", "3", "--length", "1000").data == sent[3:1003]
    assert dpumap("cp", f":{BULK}", "-", "--offset", "9", "--length", "77").data == sent[9:86]


def test_write_reads_standard_input(dpumap, host, sent):
    """Also what comes in parts."""
    parts = "{ head -c 50000 sent; sleep 0.1; tail -c +50001 sent; }"
    done = shell(host, f"{parts} | {dpumap.command('write', BULK, '--offset', '5')}")
    assert re.search(rf"moved  *{SIZE} bytes host -> DPU", done.ok())
    dpumap("cp", f":{BULK}", "got", "--offset", "5", "--length", str(SIZE)).ok()
    assert host.get("got") == sent
    assert re.search("moved  *0 bytes", dpumap("write", BULK, "-", data=b"").ok())


def test_write_fills_an_export_to_its_end(dpumap, host, sent):
    done = dpumap("write", FAST, data=sent)
    assert done.status == REFUSED
    assert f"standard input does not fit into export {FAST}, which has 4096 bytes from" in done.err
    dpumap("write", FAST, data=sent[:4096]).ok()
    dpumap("cp", "-", FAST, "got", data=sent).ok()
    assert host.get("got") == sent


def test_cp_copies_parts(dpumap, sent):
    words = ("--file-offset", "100", "--length", "77", "--offset", "9")
    dpumap("cp", "sent", f":{BULK}", *words).ok()
    assert dpumap("read", BULK, "-o", "9", "-n", "77").data == sent[100:177]


def test_missing_input_is_refused(dpumap, sent):
    for option, value in (("--file-offset", SIZE + 1), ("--length", SIZE + 1)):
        done = dpumap("write", BULK, "sent", option, str(value))
        done.fails_with(REFUSED, "fewer than --file-offset and --length require")
    done = dpumap("write", BULK, "--file-offset", "1", data=b"")
    done.fails_with(REFUSED, "--file-offset is not valid for standard input")
    done = dpumap("write", BULK, "--length", "7", data=b"")
    done.fails_with(LOST, "standard input ended before --length")


def test_full_standard_output_is_an_error(dpumap, host):
    done = host.run(dpumap.command("read", BULK) + " >/dev/full")
    done.fails_with(LOST, "cannot write to standard output")


def test_closed_standard_descriptors(dpumap, host):
    """What would be printed is lost, which is an error; nothing else is."""
    command = dpumap.command("read", BULK)
    host.run(f"{command} >/dev/null <&- 2>&-").ok()
    host.run(f"{command} >&-").fails_with(LOST, "cannot write to standard output")


def test_sparse_keeps_holes(dpumap, host, sent):
    """--sparse makes holes of zeros; without, there are none."""
    host.run("rm -f holes; truncate -s 700K holes").ok()
    host.run("printf something | dd of=holes bs=1 seek=300000 conv=notrunc status=none").ok()
    dpumap("write", BULK, "holes").ok()

    def blocks():
        return int(host.run(["stat", "-c", "%b", "got"]).ok())

    dpumap("read", BULK, "got", "--length", "700K", "--sparse").ok()
    assert host.sha256("got") == host.sha256("holes")
    assert blocks() < 400
    dpumap("read", BULK, "got", "--length", "700K").ok()
    assert blocks() >= 1400


# -- fill and dump


def test_fill_repeats_a_pattern(dpumap):
    dpumap("fill", BULK, "ff").ok()
    dpumap("fill", BULK).ok()
    assert dpumap("read", BULK).data == bytes(1 << 20)
    report = dpumap.json("fill", BULK, "414243", "--offset", "10", "--length", "7")
    assert (report["bytes"], report["verified"]) == (7, True)
    assert dpumap("read", BULK, "-n", "20").data == bytes(10) + b"ABCABCA" + bytes(3)
    done = dpumap("fill", READ_ONLY, "ff")
    done.fails_with(REFUSED, f"export {READ_ONLY} is read-only: the pattern cannot")
    done = dpumap("fill", FAST, "00", "--offset", "4095", "--length", "2")
    done.fails_with(REFUSED, "the pattern has 2 bytes and does not fit")


DUMP = """\
00000000  00 00 00 00 00 00 00 00  00 00 41 42 43 41 42 43  |..........ABCABC|
00000010  41 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |A...............|
00000020  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|
*
00000040
"""
DUMP_OF_A_PART = """\
0000000b  42 43 41 42 43                                    |BCABC|
00000010
"""


def test_dump_prints_hexadecimal(dpumap):
    dpumap("fill", BULK, "414243", "--offset", "10", "--length", "7").ok()
    assert dpumap("dump", BULK, "--length", "64").ok() == DUMP
    assert dpumap("dump", BULK, "--offset", "11", "--length", "5").ok() == DUMP_OF_A_PART
    report = dpumap.json("dump", BULK, "--offset", "10", "--length", "7")
    assert (report["offset"], report["data"], report["verified"]) == (10, "41424341424341", True)


@pytest.mark.local
def test_dump_is_what_hexdump_prints(dpumap, host, sent):
    if not shutil.which("hexdump"):
        pytest.skip("hexdump is missing")
    host.put({"mixed": sent[:100] + bytes(100) + sent[-1003:]})
    dpumap("write", BULK, "mixed").ok()
    assert dpumap("dump", BULK, "--length", "1203").ok() == host.run("hexdump -C mixed").ok()


# -- bench


def test_bench_measures_each_size_in_the_permitted_directions(dpumap):
    results = dpumap.json("bench", FAST, "--count", "20")["results"]
    found = [(line["direction"], line["size"], line["count"]) for line in results]
    assert found == [("read", size, 20) for size in (64, 512, 4096)]
    for line in results:
        assert 0 < line["median_ns"] <= line["p99_ns"] and line["megabytes_per_second"] > 0
    table = dpumap("bench", FAST, "--size", "100", "--write", "--count", "3").ok()
    assert len(re.findall(r"^(?:read|write) +100 +3 ", table, re.M)) == 2, table
    dpumap("bench", READ_ONLY, "--size", "8K", "--count", "20").ok()
    done = dpumap("bench", READ_ONLY, "--write")
    done.fails_with(REFUSED, f"export {READ_ONLY} is read-only")
    done = dpumap("bench", FAST, "--size", "4097")
    done.fails_with(REFUSED, f"export {FAST} has 4096 bytes, not enough for 4097")


# -- import and watch


def test_import_names_what_it_imported(dpumap, host, sent):
    assert re.search(rf"^imported  *{BULK}, 1M", dpumap("import", BULK).ok(), re.M)
    dpumap("get", FAST, "fast.desc").ok()
    report = json.loads(host.run("dpumap import --descriptor fast.desc --json").ok())
    assert (report["event"], report["size"]) == ("imported", 4096)


@pytest.mark.local
def test_descriptor_is_of_one_card(dpumap, host, sent):
    dpumap("get", FAST, "fast.desc").ok()
    done = host.run("dpumap import --device mlx5_1 --descriptor fast.desc")
    done.fails_with(REFUSED, "cannot import a saved descriptor with device mlx5_1")


def test_hold_ends_when_its_export_is_removed(agent, tool):
    serving = agent("kind=dram,size=4K").must_serve()
    dpumap = tool(serving)
    serving.add("soon", "kind=dram,size=64K").ok()
    people = dpumap.daemon("people", "import", "--hold", "soon")
    program = dpumap.daemon("program", "import", "--hold", "soon", "--json")
    for holder in (people, program):
        holder.await_output("imported")
    serving.add("other", "kind=dram,size=4K").ok()
    serving.ctl("remove", "other").ok()
    assert people.status() is None
    serving.ctl("remove", "soon").ok()
    assert people.end("0") == program.end("0") == REFUSED
    assert "export soon was removed: the import is revoked" in people.log()
    event = json.loads(program.out().splitlines()[-1])
    assert (event["event"], event["name"]) == ("removed", "soon")


@pytest.mark.local
def test_hold_ends_silently_by_a_signal(dpumap):
    holder = dpumap.daemon("holder", "import", "--hold", BULK)
    holder.await_output("imported")
    assert holder.end("INT") == 0
    assert not holder.log()


def test_watch_tells_what_changes(agent, tool):
    serving = agent("kind=dram,size=1M").must_serve()
    dpumap = tool(serving)
    watch = dpumap.daemon("watch", "watch", "--json", "--count", "3")
    watch.await_output("watching")
    serving.add("new", "kind=dram,size=4K").ok()
    serving.ctl("remove", "new").ok()
    serving.add("new", "kind=dram,size=8K").ok()
    assert watch.end("0") == 0
    events = [json.loads(line) for line in watch.out().splitlines()]
    assert [event["event"] for event in events] == ["watching", "added", "removed", "added"]
    assert [event.get("name") for event in events[1:]] == ["new"] * 3


def test_watch_of_one_export_ignores_others(agent, tool):
    """One of the configuration may be removed by hand as well."""
    serving = agent("kind=dram,size=1M").must_serve()
    watch = tool(serving).daemon("watch", "watch", "--count", "1", BULK)
    watch.await_output("watching")
    serving.add("new", "kind=dram,size=4K").ok()
    serving.ctl("remove", "new").ok()
    serving.ctl("remove", BULK).ok()
    assert watch.end("0") == 0
    assert watch.out().splitlines()[1:] == [f"removed  {BULK}"]


def test_end_of_dpumapd_ends_hold_and_not_watch(agent, tool, host, sent):
    serving = agent("kind=dram,size=4K").must_serve()
    dpumap = tool(serving)
    dpumap("get", "e0", "old.desc").ok()
    holder = dpumap.daemon("holder", "import", "e0", "--hold")
    holder.await_output("imported")
    watch = dpumap.daemon("watch", "watch", "--json")
    watch.await_output("watching")
    assert serving.daemon.end("TERM") == 0
    assert holder.end("0") == LOST
    assert "closed the connection: the import of export e0" in holder.log()
    watch.await_output('"lost"')
    agent("kind=dram,size=4K", port=serving.port).must_serve()
    watch.await_output('"back"')
    assert not watch.log()
    done = host.run("dpumap import --descriptor old.desc")
    done.fails_with(REFUSED, "cannot import a saved descriptor")
    watch.end("TERM")


# -- what need not be typed


@pytest.fixture
def home(host):
    """The path of the user's configuration, and of its directory."""
    place = f"{host.dir}/home/.config/dpumap"
    os.makedirs(place, mode=0o700, exist_ok=True)
    os.chmod(f"{host.dir}/home/.config", 0o700)
    yield place
    shutil.rmtree(f"{host.dir}/home/.config")


def configure(home, text, name="dpumap.conf"):
    with open(f"{home}/{name}", "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(file.name, 0o600)
    return file.name


@pytest.mark.local
def test_options_come_from_file_environment_and_words(serve, host, home, work):
    """Each of these counts before those that are named first."""
    serving = serve("--export", "name=fast,kind=dm,size=4K")
    dpumap, socket = Tool(host), serving.address
    assert "fast" in dpumap("list", env={"DPUMAP_CONNECT": f"unix:{socket}"}).ok()
    configure(home, f'connect = "unix:{socket}";\ndevice = "mlx5_0";\ntimeout = 20;\n')
    assert "fast" in dpumap("list").ok()
    path = configure(home, f'connect = "unix:{work}/none";\ndevice = "mlx5_1";\n')
    dpumap("list").fails_with(ABSENT, f"cannot connect to dpumapd at {work}/none")
    dpumap("list", env={"DPUMAP_CONNECT": socket}).ok()
    dpumap("list", "--connect", socket, env={"DPUMAP_CONNECT": f"{work}/no"}).ok()
    done = dpumap("--connect", socket, "import", "fast")
    done.fails_with(REFUSED, "cannot import fast with device mlx5_1")
    dpumap("--connect", socket, "--device", "mlx5_0", "import", "fast").ok()
    done = dpumap("list", env={"DPUMAP_CONNECT": "tls:x"})
    done.fails_with(REFUSED, "DPUMAP_CONNECT: invalid address tls:x")
    os.rename(path, f"{work}/elsewhere")
    done = dpumap("list", "--config", f"{work}/elsewhere")
    done.fails_with(ABSENT, f"cannot connect to dpumapd at {work}/none")
    done = dpumap("list", "--config", f"{work}/nowhere")
    done.fails_with(ABSENT, f"cannot open {work}/nowhere")


@pytest.mark.local
@pytest.mark.parametrize(
    "text, pattern",
    [
        ("colour = 1;", "dpumap.conf:1: colour is not a setting of dpumap"),
        ("connect @;", "dpumap.conf:1: syntax error"),
        ('connect = "tls:x";', "dpumap.conf:1: invalid address tls:x"),
        ("timeout = 0;", "dpumap.conf:1: timeout must be a number of seconds"),
        ('tls = { cert = "a"; };', "dpumap.conf:1: cert must be an absolute path"),
        ('tls = { colour = "a"; };', "dpumap.conf:1: colour is not one of cert, key"),
        ('tls = "a";', "dpumap.conf:1: tls must be a group"),
        ('@include "x"', "dpumap.conf: @include is not allowed"),
    ],
)
def test_wrong_configuration_is_refused(host, home, text, pattern):
    configure(home, text + "\n")
    Tool(host)("list").fails_with(REFUSED, pattern)


@pytest.mark.local
def test_configuration_that_others_can_write_is_refused(serve, host, home):
    serving = serve("--export", "name=fast,kind=dm,size=4K")
    path = configure(home, f'connect = "unix:{serving.address}";\n')
    dpumap = Tool(host)
    os.chmod(path, 0o666)
    dpumap("list").fails_with(REFUSED, "dpumap.conf has mode 0666, which lets others write it")
    os.chmod(path, 0o644)
    os.chmod(f"{host.dir}/home/.config", 0o777)
    dpumap("list").fails_with(REFUSED, "home/.config has mode 0777, which lets others replace")
    os.chmod(f"{host.dir}/home/.config", 0o700)
    dpumap("list").ok()


# -- the progress bar


@pytest.mark.local
def test_terminal_shows_rate_and_remaining_time(serve, tool, host, files):
    """Until Ctrl-C ends the copy, which leaves nothing."""
    dpumap = tool(serve("--export", "name=fast,kind=dm,size=4K"))
    host.run("truncate -s 8G long").ok()
    controller, terminal = pty.openpty()
    words = host.words(dpumap.words("cp", "long", "fast", f"{files}/long"))
    copy = subprocess.Popen(
        ["setsid", "--ctty", "--wait", *words],
        **{"stdin": terminal, "stdout": terminal, "stderr": terminal},
        env=host.environment,
        cwd=host.dir,
    )
    os.close(terminal)
    printed = b""
    while not re.search(rb"MB/s ETA \d+:\d{2}:\d{2}", printed):
        assert copy.poll() is None, printed
        printed += os.read(controller, 65536)
    os.write(controller, b"\x03")
    try:
        while os.read(controller, 65536):
            pass
    except OSError:
        pass  # the terminal's last user has ended
    os.close(controller)
    assert copy.wait(120) != 0
