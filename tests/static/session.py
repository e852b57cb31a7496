#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: session.py [--write] TREE BUILD

Run the commands of the terminal session in docs/session.svg with the programs of BUILD, and compare what they print
with the picture: print a line for each difference. Times and rates may differ. --write draws the picture anew.
"""
import difflib
import html
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PICTURE = "docs/session.svg"
LIMIT = 60  # seconds for one command
DAEMON = "dpumap-emu run --as dpu -- dpumapd --listen ./socket --export name=bulk,kind=dram,size=16M 2>log &"
# Each command, and the text that a command in the background prints when it is ready.
SESSION = (
    ("# An emulated BlueField, and a program of the distribution that uses it:", None),
    ("dpumap-emu start", None),
    ("dpumap-emu run --as host -- ibv_devinfo -d mlx5_0 | head -n 3", None),
    ("# The DPU exports 16 MiB of its memory. The host copies a file there and back:", None),
    (DAEMON, "ready on"),
    ("dpumap-emu run --as host -- dpumap --connect ./socket list", None),
    ("seq 1000000 >numbers", None),
    ("dpumap-emu run --as host -- dpumap --connect ./socket cp numbers bulk copy", None),
    ("cmp numbers copy && echo the same bytes", None),
)
VARIABLE = re.compile(r"\d+(\.\d+)? (s|ms|us|[kMG]?B/s)\b")

CHARACTER, LINE, MARGIN = 7.25, 18, 14
BACKGROUND, OUTPUT, COMMAND, COMMENT = "#14232b", "#c5d0d2", "#ffffff", "#7fb7a1"


class Shell:
    """A shell whose commands run one after the other in a directory of their own."""

    def __init__(self, build, folder):
        env = {"PATH": f"{build}/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": folder, "LC_ALL": "C.UTF-8",
               "DPUMAP_EMU_DIR": f"{folder}/emu"}
        # pylint: disable-next=consider-using-with
        self.shell = subprocess.Popen(["bash", "--norc", "--noprofile"], cwd=folder, env=env, stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)

    def read_until(self, pattern, command):
        text, end = "", time.monotonic() + LIMIT
        while not (found := re.search(pattern, text)):
            ready, _, _ = select.select([self.shell.stdout], [], [], max(0, end - time.monotonic()))
            data = os.read(self.shell.stdout.fileno(), 65536) if ready else b""
            if not data:
                sys.exit(f"session.py: {command}: no end after {LIMIT} s, or the shell has ended: {text}")
            text += data.decode()
        return text, found

    def run(self, command, ready):
        self.shell.stdin.write(f"{command}\nprintf '\\1%d\\1' $?\n".encode())
        self.shell.stdin.flush()
        text, found = self.read_until(r"\x01(\d+)\x01", command)
        if found[1] != "0":
            sys.exit(f"session.py: {command}: exits with {found[1]}: {text}")
        text = text.replace(found[0], "")
        if ready and ready not in text:
            text += self.read_until(f"{ready}.*\n", command)[0]
        return text.splitlines()

    def close(self):
        os.killpg(self.shell.pid, signal.SIGKILL)
        self.shell.wait()
        self.shell.stdin.close()
        self.shell.stdout.close()


def record(build):
    """The lines of the terminal."""
    folder = tempfile.mkdtemp(prefix="dpumap-session.")
    shell = Shell(build, folder)
    lines = []
    try:
        for command, ready in SESSION:
            lines.append(command if command.startswith("#") else f"$ {command}")
            lines += shell.run(command, ready)
        shell.run("dpumap-emu stop", None)
    finally:
        shell.close()
        shutil.rmtree(folder, ignore_errors=True)
    return [line.expandtabs().rstrip() for line in lines]


def draw(lines):
    width = round(2 * MARGIN + CHARACTER * max(map(len, lines)))
    height = 2 * MARGIN + LINE * len(lines)
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
           f'font-family="monospace" font-size="12" fill="{OUTPUT}" xml:space="preserve" role="img" '
           'aria-labelledby="title">')
    yield "<!-- SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only; made by tests/static/session.py -->"
    yield '<title id="title">A terminal: a file goes from the host through the memory of an emulated DPU and back</title>'
    yield f'<rect width="{width}" height="{height}" rx="8" fill="{BACKGROUND}"/>'
    for number, line in enumerate(lines):
        colour = {"$": COMMAND, "#": COMMENT}.get(line[:1])
        fill = f' fill="{colour}"' if colour else ""
        yield (f'<text x="{MARGIN}" y="{MARGIN + LINE * number + 13}"{fill}>{html.escape(line, quote=False)}</text>')
    yield "</svg>\n"


def recorded(picture):
    """The lines that a picture shows."""
    return [html.unescape(line) for line in re.findall(r"<text [^>]*>([^<]*)</text>", picture)]


def masked(lines):
    return [VARIABLE.sub("N", line) for line in lines]


def main(arguments):
    if len(arguments) not in (2, 3) or arguments[:-2] not in ([], ["--write"]):
        sys.exit(__doc__)
    path, build = pathlib.Path(arguments[-2], PICTURE), pathlib.Path(arguments[-1]).resolve()
    lines = record(build)
    if len(arguments) == 3:
        path.write_text("\n".join(draw(lines)), encoding="utf-8")
        return
    picture = path.read_text(encoding="utf-8")
    shown = recorded(picture)
    for line in difflib.unified_diff(masked(shown), masked(lines), "picture", "session", lineterm="", n=0):
        print(line)
    if shown and "\n".join(draw(shown)) != picture:
        print(f"{PICTURE} is not drawn by session.py --write")


main(sys.argv[1:])
