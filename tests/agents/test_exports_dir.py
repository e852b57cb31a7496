# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Exports from the files of a directory, of which a reload loads only those that changed."""

import json
import os
import re

import pytest

from harness.agents import REFUSED, Tool

pytestmark = [pytest.mark.local, pytest.mark.usefixtures("nothing_left")]


def export(name, size="64K", allow="*", more=""):
    return f'{{ name = "{name}"; kind = "dram"; size = "{size}"; allow = [ "{allow}" ]; {more} }}'


class Directory:
    """dpumapd whose exports come from files that a test writes."""

    def __init__(self, serve, host, dpu):
        self.serve, self.dpu = serve, dpu
        self.path, self.socket = f"{dpu.dir}/exports.d", f"{dpu.dir}/socket"
        self.tool = Tool(host, ["--connect", f"unix:{self.socket}"])
        self.agent = None
        dpu.run(["rm", "-rf", self.path]).ok()
        dpu.run(["mkdir", self.path]).ok()
        self.configure()

    def configure(self, more=""):
        text = f'listen = [ "unix:{self.socket}" ];\nadmin = "{self.dpu.dir}/admin";\n{more}'
        self.dpu.put({"dir.conf": f'{text}exports_dir = "{self.path}";\n'})

    def write(self, name, *exports):
        self.dpu.put({f"exports.d/{name}": f"exports = ( {', '.join(exports)} );\n"})

    def remove(self, *names):
        self.dpu.run(["rm", *[f"{self.path}/{name}" for name in names]]).ok()

    def start(self, **more):
        self.agent = self.serve("--config", f"{self.dpu.dir}/dir.conf", **more)
        return self.agent

    def reload(self):
        return self.agent.ctl("reload")

    def listed(self):
        """The size of each export."""
        return {one["name"]: one["size"] for one in self.tool.json("list")["exports"]}

    def hold(self, *names):
        """Clients that hold these exports."""
        holders = [self.tool.daemon(f"holder-{name}", "import", name, "--hold") for name in names]
        for holder in holders:
            holder.await_output("imported")
        return holders


@pytest.fixture
def directory(serve, host, dpu):
    return Directory(serve, host, dpu)


def all_hold(holders):
    held = [holder.status() is None for holder in holders]
    for holder in holders:
        holder.end("TERM")
    return all(held)


def test_only_the_exports_of_a_changed_file_change(directory):
    directory.write("one.conf", export("a"), export("c"))
    directory.write("two.conf", export("b"), export("d"))
    directory.write(".hidden.conf", "hidden")
    directory.write("one.conf~", "backup")
    directory.write("README", "text")
    directory.configure(f"exports = ( {export('main')} );\n")
    agent = directory.start()
    holders = directory.hold("a", "b", "d", "main")
    directory.write("one.conf", export("a"), export("c", "128K"), export("e"))
    directory.reload().ok()
    assert directory.listed() == {"a": 65536, "b": 65536, "c": 131072, "d": 65536, "e": 65536, "main": 65536}
    directory.remove("one.conf")
    directory.write("three.conf", export("c"))
    directory.reload().ok()
    agent.daemon.await_log("export e removed")
    assert directory.listed() == {"b": 65536, "c": 65536, "d": 65536, "main": 65536}
    assert holders.pop(0).end("0") != 0, "the client of an export that is gone"
    assert all_hold(holders)


def test_file_is_changed_if_its_bytes_are(directory):
    """Whatever its time and length say."""
    directory.write("one.conf", export("a", "64K"))
    directory.start()
    path = f"{directory.path}/one.conf"
    before = os.stat(path)
    directory.write("one.conf", export("a", "32K"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert os.stat(path).st_size == before.st_size
    directory.reload().ok()
    assert directory.listed() == {"a": 32768}


def test_export_that_moves_to_another_file_keeps_its_clients(directory):
    directory.write("one.conf", export("a"), export("b"))
    agent = directory.start()
    agent.ctl("add", "name=added,kind=dram,size=64K,allow=*").ok()
    holders = directory.hold("a", "b", "added")
    directory.write("one.conf", export("a"))
    directory.write("two.conf", export("b"), export("added"))
    directory.reload().ok()
    directory.remove("one.conf")
    directory.write("three.conf", export("a"))
    directory.reload().ok()
    assert set(directory.listed()) == {"a", "b", "added"}
    assert all_hold(holders)
    directory.remove("two.conf")
    directory.reload().ok()
    assert set(directory.listed()) == {"a"}, "an added export that a file took over is the file's"


def test_second_export_of_a_name_is_refused(directory):
    """In the same file, in two files, and in a file that has not changed."""
    directory.write("one.conf", export("a"), export("b"))
    directory.write("two.conf", export("b"))
    agent = directory.start(ready=False)
    assert agent.daemon.end("0") == REFUSED
    assert re.search("two exports called b, in .*/one.conf and in .*/two.conf", agent.log())
    directory.write("two.conf", export("c"))
    directory.start()
    before = directory.listed()
    directory.write("two.conf", export("a"))
    directory.reload().fails_with(REFUSED, "two exports called a, in .*/one.conf and in .*/two.conf")
    directory.write("two.conf", export("c"), export("c"))
    directory.reload().fails_with(REFUSED, "/two.conf:1: there are two exports called c")
    directory.write("two.conf", export("c"))
    directory.configure(f"exports = ( {export('a')} );\n")
    directory.reload().fails_with(REFUSED, "two exports called a, in .*/one.conf and in the configuration")
    assert directory.listed() == before


@pytest.mark.parametrize(
    "text, complaint",
    [
        ("exports = ( {", "/two.conf:1: syntax error"),
        ('listen = [ "unix:/x" ];', "/two.conf:1: listen is not exports"),
        ("exports = ( 5 );", "/two.conf:1: a value must be a group"),
        ("\nexports = 5;", "/two.conf:2: exports must be a list of groups"),
        (f"exports = ( {export('b', '0')} );", "/two.conf:1: export b: size must be a number"),
        ('@include "/etc/passwd"\n', "/two.conf: @include is not allowed"),
        ("exports = (\0);", "/two.conf: byte 11 is NUL"),
        ('exports = ( { name = "b"; kind = "dm"; size = "1T"; } );', "export b: cannot export"),
    ],
)
def test_wrong_file_changes_nothing(directory, text, complaint):
    directory.write("one.conf", export("a"))
    directory.start()
    holders = directory.hold("a")
    directory.write("one.conf", export("a", "128K"))
    directory.dpu.put({"exports.d/two.conf": text})
    directory.reload().fails_with(REFUSED, complaint)
    assert directory.listed() == {"a": 65536}
    assert all_hold(holders)
    directory.remove("two.conf")
    directory.reload().ok()
    assert directory.listed() == {"a": 131072}, "the refused reload did not make the file known"


def test_file_that_others_can_write_is_refused(directory):
    directory.write("one.conf", export("a"))
    agent = directory.start()
    directory.dpu.run(["chmod", "666", f"{directory.path}/one.conf"]).ok()
    directory.reload().fails_with(REFUSED, "one.conf has mode 0666, which lets others write it")
    directory.dpu.run(["chmod", "644", f"{directory.path}/one.conf"]).ok()
    directory.dpu.run(["chmod", "777", directory.path]).ok()
    directory.reload().fails_with(REFUSED, "exports.d has mode 0777, which lets others replace")
    directory.dpu.run(["chmod", "755", directory.path]).ok()
    directory.dpu.run(["mv", directory.path, f"{directory.path}.away"]).ok()
    done = directory.reload()
    assert done.status != 0 and f"cannot read the directory {directory.path}" in agent.log()
    assert directory.listed() == {"a": 65536}


def test_removed_export_comes_back_though_its_file_has_not_changed(directory):
    """As one of the configuration file does."""
    directory.write("one.conf", export("a"), export("b"))
    directory.write("two.conf", export("c"))
    agent = directory.start()
    agent.ctl("remove", "a").ok()
    assert set(directory.listed()) == {"b", "c"}
    directory.reload().ok()
    assert set(directory.listed()) == {"a", "b", "c"}
    directory.write("two.conf", export("d"))
    directory.reload().ok()
    assert set(directory.listed()) == {"a", "b", "d"}


def test_export_whose_memory_was_lost_comes_back(directory):
    backing = f"{directory.dpu.dir}/backing"
    directory.dpu.run(["truncate", "-s", "64K", backing]).ok()
    file = f'{{ name = "f"; kind = "file"; path = "{backing}"; size = "max"; perm = "ro"; allow = [ "*" ]; }}'
    directory.write("one.conf", file)
    agent = directory.start()
    directory.dpu.run(["truncate", "-s", "4K", backing]).ok()
    agent.daemon.await_log("export f removed")
    directory.dpu.run(["truncate", "-s", "64K", backing]).ok()
    directory.reload().ok()
    assert directory.listed() == {"f": 65536}


def test_socket_stays_open_to_those_that_an_unchanged_file_allows(directory):
    directory.write("one.conf", export("a", allow="uid:4000000"))
    directory.write("two.conf", export("b", allow="uid:0"))
    directory.start()
    directory.write("two.conf", export("c", allow="uid:0"))
    directory.reload().ok()
    assert os.stat(directory.socket).st_mode & 0o777 == 0o666
    directory.remove("one.conf")
    directory.reload().ok()
    assert os.stat(directory.socket).st_mode & 0o777 == 0o600


def test_configuration_is_checked_with_its_directory(directory):
    check = ["dpumapd", "--check", "--config", f"{directory.dpu.dir}/dir.conf"]
    directory.write("one.conf", export("a"))
    directory.dpu.run(check).ok()
    directory.write("two.conf", export("a"))
    directory.dpu.run(check).fails_with(REFUSED, "two exports called a")


def test_new_labels_of_a_file_leave_imports_alone(directory):
    directory.write("one.conf", export("a", more='label = "gpu=yes";'))
    agent = directory.start()
    holders = directory.hold("a")
    directory.write("one.conf", export("a", more='label = "gpu=no";'))
    directory.reload().ok()
    agent.daemon.await_log("export a has new labels")
    listed = json.loads(agent.ctl("--json", "list").ok())["exports"]
    assert [one["label"] for one in listed] == [["gpu=no"]]
    assert all_hold(holders)
