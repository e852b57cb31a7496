# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A plugin of pytest: tests on an emulated card.

    @pytest.mark.dpumap(profile="bluefield-3", nodes=2)
    def test_both_sides(dpumap_host, dpumap_dpu):
        descriptor = dpumap_dpu.call(export_memory)
        assert dpumap_host.call(read_memory, descriptor) == b"hello"

The arguments of the mark are those of dpumap.emulator.Emulator. With on="host", the test itself runs in a
process on that side, where libibverbs and pyverbs find the card's devices.
"""

import traceback
from typing import Any, Dict, Iterator, Optional, Tuple

import pytest

from dpumap._worker import find
from dpumap.emulator import Emulator, EmulatorError, Side

_LOCAL = {"dpumap_emulator", "dpumap_dpu", "dpumap_host", "request"}


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark."""
    config.addinivalue_line(
        "markers",
        "dpumap(profile=None, nodes=1, cards=1, on=None, ...): the emulated card of a test, see dpumap.emulator",
    )


@pytest.fixture
def dpumap_emulator(request: pytest.FixtureRequest) -> Iterator[Emulator]:
    """An emulated card, as the mark dpumap says, which ends with the test."""
    mark = request.node.get_closest_marker("dpumap")
    options = {key: value for key, value in (mark.kwargs if mark else {}).items() if key != "on"}
    try:
        emulator = Emulator(**options)
    except EmulatorError as error:
        pytest.fail(str(error), pytrace=False)
    with emulator:
        yield emulator


@pytest.fixture
def dpumap_dpu(dpumap_emulator: Emulator) -> Side:
    """The DPU's function of the card."""
    return dpumap_emulator.side("dpu")


@pytest.fixture
def dpumap_host(dpumap_emulator: Emulator) -> Side:
    """The host's function of the card."""
    return dpumap_emulator.side("host")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Optional[bool]:
    """Run a test with on="host" on that side."""
    mark = pyfuncitem.get_closest_marker("dpumap")
    side = mark.kwargs.get("on") if mark else None
    if not side:
        return None
    names = pyfuncitem._fixtureinfo.argnames
    local = sorted(_LOCAL.intersection(names))
    if local:
        pytest.fail(f"a test on {side} cannot use {', '.join(local)}, which exists in pytest's process", pytrace=False)
    arguments = {name: pyfuncitem.funcargs[name] for name in names}
    where = (pyfuncitem.function.__module__, str(pyfuncitem.path), pyfuncitem.function.__qualname__)
    emulator = pyfuncitem._request.getfixturevalue("dpumap_emulator")
    outcome, text = emulator.side(side).call(run_here, where, arguments)
    if outcome == "skipped":
        pytest.skip(text)
    if outcome == "failed":
        pytest.fail(text, pytrace=False)
    return True


def run_here(where: Tuple[str, str, str], arguments: Dict[str, Any]) -> Tuple[str, str]:
    """Run a test in the process of a side. The outcomes of pytest cannot be pickled."""
    try:
        find(*where)(**arguments)
    except pytest.skip.Exception as outcome:
        return "skipped", str(outcome.msg)
    except BaseException:
        return "failed", traceback.format_exc()
    return "passed", ""
