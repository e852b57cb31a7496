# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The key of an export changes when no connected client holds it any more, also if clients end without
a release, and when the administrator changes it."""


import pytest

from harness.agents import ABSENT, REFUSED, WRONG
from harness.machine import await_true

pytestmark = pytest.mark.usefixtures("nothing_left")


class Export:
    """The export "e0", a saved descriptor of it, and clients that hold it."""

    def __init__(self, agent, tool, host, *words):
        self.agent = agent(*(words or ["kind=dram,size=4K"])).must_serve()
        self.dpumap, self.host = tool(self.agent), host

    def save(self):
        """As a client does that ends at once, without a release."""
        imports = self.figures()[0]
        self.host.remove("e0.desc")
        self.dpumap("get", "e0", "e0.desc").ok()
        assert await_true(lambda: self.figures()[0] == imports), self.figures()

    def hold(self):
        before = self.figures()[0]
        holder = self.dpumap.daemon("holder", "import", "e0", "--hold")
        holder.await_output("^imported")
        assert self.figures()[0] == before + 1
        return holder

    def figures(self):
        """The numbers of imports and of outstanding descriptors."""
        (listed,) = self.agent.ask("list")["exports"]
        return listed["imports"], listed["outstanding"]

    def await_figures(self, imports, outstanding):
        assert await_true(lambda: self.figures() == (imports, outstanding)), self.figures()

    def import_saved(self):
        return self.host.run(["dpumap", "import", "--descriptor", "e0.desc"])

    def is_valid(self):
        self.import_saved().ok()

    def is_void(self):
        self.import_saved().fails_with(REFUSED, "cannot import a saved descriptor")


@pytest.fixture
def export(agent, tool, host):
    return Export(agent, tool, host)


def test_saved_descriptor_outlives_its_session(export):
    export.save()
    export.await_figures(0, 1)
    export.is_valid()
    export.save()
    export.await_figures(0, 2)
    assert export.agent.figure("imports") == 0
    assert export.agent.figure("outstanding") == 2
    export.is_valid()


@pytest.mark.parametrize("signal", ["INT", "TERM", "HUP"])
def test_interrupted_holder_releases(export, signal):
    holder = export.hold()
    export.save()
    export.is_valid()
    assert holder.end(signal) == 0, holder.log()
    export.is_void()
    assert export.figures() == (0, 0)


def test_killed_holder_does_not_keep_the_key(export):
    """The next release makes the descriptor void."""
    holder = export.hold()
    export.save()
    assert holder.end("KILL") == 137
    export.await_figures(0, 2)
    export.is_valid()
    export.dpumap("import", "e0").ok()
    export.is_void()
    assert export.figures() == (0, 0)


def test_released_descriptor_is_void_after_the_last_holder_was_killed(export):
    """Without a request of another client."""
    holder = export.hold()
    export.save()
    export.dpumap("import", "e0").ok()
    export.is_valid()
    assert holder.end("KILL") == 137
    export.await_figures(0, 0)
    export.is_void()


def test_rekey_revokes_all_imports(export):
    """The holders end, and the bytes stay."""
    export.dpumap("fill", "e0", "c0ffee").ok()
    export.save()
    holder = export.hold()
    watch = export.dpumap.daemon("watch", "watch", "--count", "1")
    watch.await_output("watching")
    export.agent.ctl("rekey", "e0").ok()
    assert holder.end("0") == REFUSED
    assert "export e0 was changed: the import is revoked" in holder.log()
    assert watch.end("0") == 0
    assert watch.out().splitlines()[1:] == ["changed  e0"]
    export.is_void()
    export.await_figures(0, 0)
    assert "c0 ff ee" in export.dpumap("dump", "e0", "--length", "3").ok()
    export.save()
    export.is_valid()


def test_rekey_of_what_does_not_exist_is_refused(export):
    export.agent.ctl("rekey", "none").fails_with(ABSENT, "no export called")
    export.agent.ctl("rekey").fails(WRONG, REFUSED)
    export.dpumap("import", "e0").ok()


def test_rekey_over_rdma_ends_the_connections(agent, tool, host):
    export = Export(agent, tool, host, "kind=dram,size=4K,via=rdma")
    holder = export.hold()
    (session,) = export.agent.ask("sessions")["sessions"]
    assert session["connections"] == 1, session
    export.agent.ctl("rekey", "e0").ok()
    assert holder.end("0") == REFUSED
    export.await_figures(0, 0)
    export.dpumap("fill", "e0", "c0ffee").ok()
    assert export.hold().end("KILL") == 137
    export.await_figures(0, 0)
