# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A clock that a test sets for programs: libfaketime."""

import os
import pathlib
import subprocess


class Clock:
    """What a clock shows to programs; jump() moves it while they run."""

    def __init__(self, place):
        self.file = place / "clock"
        (self.library,) = pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1")
        self.jump(0)

    def jump(self, days):
        """So many days from now."""
        temporary = self.file.with_suffix(".new")
        temporary.write_text(f"{days:+d}d\n", encoding="ascii")
        temporary.rename(self.file)

    def passing(self, preload=""):
        """The variables for a program in which time passes when the clock jumps."""
        libraries = ":".join(filter(None, [preload, str(self.library)]))
        words = {"FAKETIME_TIMESTAMP_FILE": str(self.file), "FAKETIME_NO_CACHE": "1", "NO_FAKE_STAT": "1"}
        return {**words, "LD_PRELOAD": libraries}

    def environment(self):
        """For a program whose clock of the day is wrong; time that passes stays as it is."""
        return {**os.environ, **self.passing(), "FAKETIME_DONT_FAKE_MONOTONIC": "1"}

    def seconds(self):
        """What programs see."""
        command = ["date", "+%s"]
        return int(subprocess.run(command, env=self.environment(), stdout=subprocess.PIPE, check=True).stdout)
