# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What pip calls makes the same package as cmake, and leaves the source tree as it is."""

import email
import filecmp
import pathlib
import subprocess
import zipfile

import dpumap

SOURCE = pathlib.Path(__file__).parents[3] / "python"
PACKAGE = SOURCE.parent / "scripts" / "package"
MADE = pathlib.Path(dpumap.__file__).parents[1]


def names(directory):
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*") if "__pycache__" not in path.parts)


def fields(directory):
    """Those of the metadata, and the text, without the version of the format, to which setuptools adds what it has more."""
    data = email.message_from_string((directory / "METADATA").read_text(encoding="utf-8"))
    return {*data.items(), ("text", data.get_payload().strip())} - {("Metadata-Version", data["Metadata-Version"])}


def test_wheel_has_what_cmake_makes(tmp_path):
    before = names(SOURCE)
    wheels = []
    for attempt in "first", "second":
        subprocess.run([PACKAGE, "--no-install", "--wheel", "--out", tmp_path / attempt], capture_output=True, check=True)
        wheels += (tmp_path / attempt / "wheel").glob("dpumap-*-py3-none-any.whl")
    assert names(SOURCE) == before
    wheel, again = wheels
    assert wheel.read_bytes() == again.read_bytes()
    zipfile.ZipFile(wheel).extractall(tmp_path)
    assert names(tmp_path / "dpumap") == names(MADE / "dpumap")
    for name in names(MADE / "dpumap"):
        assert filecmp.cmp(tmp_path / "dpumap" / name, MADE / "dpumap" / name, shallow=False), name
    (wanted,) = MADE.glob("dpumap-*.dist-info")
    made = tmp_path / wanted.name
    assert (made / "entry_points.txt").read_text().split() == (wanted / "entry_points.txt").read_text().split()
    assert fields(wanted) <= fields(made)
