# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Where the build has the completions: bash/PROGRAM, zsh/_PROGRAM and fish/PROGRAM.fish."""

import os
import pathlib

FILES = pathlib.Path(
    os.environ.get("DPUMAP_COMPLETION") or pathlib.Path(os.environ["DPUMAP_BIN"]).resolve().parent / "completion"
)
