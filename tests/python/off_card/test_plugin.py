# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The plugin of pytest, which pytest finds by the description of the package."""

import textwrap

import pytest

pytest_plugins = ["pytester"]

BOTH = '''
    import os
    import pytest
    import dpumap
    from dpumap import Access, Copier, Map

    kept = {}

    def export_memory(data):
        kept["map"] = Map(dpumap.open_device(), bytearray(data), Access.PCI_READ_ONLY)
        return kept["map"].export()

    def read_memory(descriptor):
        with dpumap.open_device() as device:
            buffer = bytearray(descriptor.length)
            with Copier(device) as copier, Map(device, buffer) as local, Map.from_export(device, descriptor) as remote:
                copier.copy(local, remote)
            return bytes(buffer)

    @pytest.mark.dpumap(profile="bluefield-3", nodes=2)
    def test_both_sides(dpumap_emulator, dpumap_dpu, dpumap_host):
        assert dpumap_host.call(read_memory, dpumap_dpu.call(export_memory, b"hello")) == b"hello"
        assert dpumap_emulator.status()["nodes"] == 2
        assert dpumap_emulator.side("node1.host").call(os.getpid)
        with dpumap_emulator.faults(method="alias.create", status="BAD_RES"):
            with pytest.raises(dpumap.errors.NotPermitted):
                dpumap_host.call(read_memory, dpumap_dpu.call(export_memory, b"hello"))

    def test_without_a_mark(dpumap_emulator):
        assert dpumap_emulator.status()["nodes"] == 1

    @pytest.mark.parametrize("length", [1, 4096])
    @pytest.mark.dpumap(on="host", profile="connectx-6-dx")
    def test_on_the_host(length, tmp_path):
        from pyverbs.device import get_device_list
        from pyverbs.mr import MR
        from pyverbs.device import Context
        from pyverbs.pd import PD
        assert [device.name for device in get_device_list()] == [b"mlx5_0"]
        assert tmp_path.exists()
        with Context(name="mlx5_0") as context, PD(context) as pd, MR(pd, length, 0) as mr:
            assert mr.length == length
'''

WRONG = '''
    import pytest

    @pytest.mark.dpumap(on="dpu")
    def test_fails_there():
        assert 1 == 2

    @pytest.mark.dpumap(on="dpu")
    def test_skipped_there():
        pytest.skip("no reason")

    @pytest.mark.dpumap(on="dpu")
    def test_uses_what_is_here(dpumap_host):
        pass

    @pytest.mark.dpumap(profile="no-such-profile")
    def test_wrong_profile(dpumap_emulator):
        pass

    def test_untouched():
        pass
'''


@pytest.fixture
def run(pytester):
    def run(text):
        pytester.makepyfile(textwrap.dedent(text))
        return pytester.runpytest_subprocess("-p", "no:cacheprovider", "--strict-markers", "-rA")

    return run


def test_tests_use_both_sides(run):
    run(BOTH).assert_outcomes(passed=4)


def test_failures_are_reported(run):
    result = run(WRONG)
    result.assert_outcomes(passed=1, failed=2, skipped=1, errors=1)
    result.stdout.fnmatch_lines(["*assert 1 == 2*"])
    result.stdout.fnmatch_lines(["dpumap-emu start: --profile: unknown profile*"])
    result.stdout.fnmatch_lines(["*cannot use dpumap_host, which exists in pytest's process*"])


def test_mark_is_described(pytester):
    out = pytester.runpytest_subprocess("--markers").stdout
    out.fnmatch_lines(["*dpumap(profile=None, nodes=1, cards=1, on=None*"])
