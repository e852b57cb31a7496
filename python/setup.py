# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What pyproject.toml cannot say: the version, which a header has, and the module of the declarations."""

import atexit
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = pathlib.Path(__file__).resolve().parent
HEADER = (HERE.parent / "include" / "dpumap" / "version.h").read_text(encoding="utf-8")
VERSION = re.search(r'DPUMAP_VERSION_STRING "(.*)"', HEADER)

# The source tree stays as it is.
made = tempfile.mkdtemp(prefix="dpumap-python.")
atexit.register(shutil.rmtree, made, ignore_errors=True)


class BuildPy(build_py):
    """Also write the declarations as a module."""

    def run(self):
        super().run()
        out = pathlib.Path(self.build_lib, "dpumap", "_ffi.py")
        program = [sys.executable, str(HERE / "build_ffi.py")]
        subprocess.run([*program, str(HERE / "dpumap" / "declarations.h"), str(out)], check=True)


setup(
    version=VERSION[1],
    cmdclass={"build_py": BuildPy},
    options={"build": {"build_base": made}, "egg_info": {"egg_base": made}},
)
