# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The types of the package are complete, and programs get them."""

import pathlib
import re
import subprocess

import dpumap

CONFIG = """
[mypy]
python_version = 3.9
strict = True
ignore_missing_imports = True
allow_untyped_decorators = True
incremental = False
[mypy-pytest.*,pyverbs.*,multiprocessing.*]
follow_imports = skip
follow_imports_for_stubs = True
"""
PROGRAM = """
import dpumap
with dpumap.open_device() as device, dpumap.Map(device, bytearray(8)) as map:
    right: dpumap.Descriptor = map.export()
    wrong: int = map.export()
"""


def test_a_wrong_type_is_an_error_of_mypy(tmp_path):
    (tmp_path / "mypy.ini").write_text(CONFIG, encoding="utf-8")
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    package = pathlib.Path(dpumap.__file__).parent
    assert (package / "py.typed").exists()
    done = subprocess.run(
        ["mypy", "--config-file", "mypy.ini", "program.py", package],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    found = re.findall(r"^(\S+?):(\d+): error: (.*)$", done.stdout, re.M)
    assert [(name, line) for name, line, _ in found] == [("program.py", "5")], done.stdout + done.stderr
