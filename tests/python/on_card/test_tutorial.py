# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The code in docs/python.md runs and prints what the page says."""

import contextlib
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PAGE = pathlib.Path(__file__).parents[3] / "docs" / "python.md"
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:```text\n(.*?)^```\n)?", re.M | re.S)


def matches(wanted, printed):
    """Whether the output is as the page says, in which "..." stands for anything."""
    pattern = ".*".join(re.escape(part) for part in wanted.split("..."))
    return re.fullmatch(pattern, printed) is not None


def test_code_of_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert len(blocks) >= 12
    names = {"__name__": "tutorial"}
    for code, wanted in blocks:
        file = re.match(r"# (\w+\.py)\n", code)
        if file:
            (tmp_path / file[1]).write_text(code, encoding="utf-8")
            continue
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, str(PAGE), "exec"), names)
        assert matches(wanted, out.getvalue()), f"{code}\nprints:\n{out.getvalue()}"
    names.clear()
    sys.modules.pop("exporter")

    # pytest runs on no function of the card.
    environment = {key: value for key, value in os.environ.items() if key not in ("LD_PRELOAD", "DPUMAP_EMU_DIR")}
    environment["PYTHONPATH"] = f"{tmp_path}:{environment['PYTHONPATH']}"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_share.py"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert re.search(r"^3 passed", done.stdout, re.M), done.stdout
