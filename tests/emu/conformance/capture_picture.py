#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: capture_picture.py [--check] DPUMAP_EMU PICTURE.svg

Draw what Wireshark shows of a capture, for docs/emu/emulator.md: a transfer on an emulator, captured by dpumap-emu and
dissected by tshark. --check compares the picture with a new one instead; addresses and checksums may differ.
"""
import contextlib
import difflib
import html
import pathlib
import re
import sys
import tempfile

from capture import Emulator, connected
from roce import GUESSERS, run, tshark_fields

# Widths in characters.
COLUMNS = (("No.", "frame.number", 4), ("Source", "ip.src", 12), ("Destination", "ip.dst", 12),
           ("Length", "frame.len", 7), ("Info", "_ws.col.Info", 42), ("Packet comment", "frame.comment", 47))
CHARACTER, LINE, MARGIN = 7.25, 17, 10
FOREGROUND, HEAD, LINES, CHOSEN, COMMENT = "#12272e", "#e4e6e8", "#e7eef7", "#b9d4f1", "#b7e4b0"
TITLE = "What Wireshark shows of a SEND, an RDMA WRITE, an RDMA READ and an atomic"
DETAIL = 3  # of the packet whose fields are shown


def transfer(emulator):
    with connected((emulator, "host"), (emulator, "dpu")) as peers:
        capture = emulator.capture("transfer.pcapng")
        peers[1].do("receive", service="rc", count=1)
        for words in ({"op": "send", "length": 100}, {"op": "write", "length": 3000},
                      {"op": "read", "length": 2048}, {"op": "add", "length": 8, "operands": (1, 0)}):
            peers[0].request(service="rc", there=1 << 20, **words)
        capture.end()
    return str(capture.file)


def details(file):
    """The comment and the transport headers of one packet, as tshark prints them."""
    text = run("tshark", "-n", "-r", file, *GUESSERS, "-V", "-Y", f"frame.number == {DETAIL}").splitlines()
    start = next(i for i, line in enumerate(text) if line.startswith("InfiniBand"))
    end = next(i for i, line in enumerate(text) if line.startswith("Data"))
    comment = next(i for i, line in enumerate(text) if line.startswith("Packet comments"))
    return text[comment:comment + 2] + text[start:end]


class Drawing:
    def __init__(self):
        self.parts, self.y = [], 0

    def line(self, words, colour):
        """Words at columns, on a bar of a colour."""
        self.parts.append(f'<rect y="{self.y}" width="100%" height="{LINE}" fill="{colour}"/>')
        for at, word in words:
            self.parts.append(f'<text x="{MARGIN + at * CHARACTER:.1f}" y="{self.y + 12.5}">{html.escape(word)}</text>')
        self.y += LINE

    def text(self, characters):
        width = round(2 * MARGIN + characters * CHARACTER)
        return "\n".join((
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{self.y}" '
            f'viewBox="0 0 {width} {self.y}" font-family="monospace" font-size="12" fill="{FOREGROUND}" '
            'xml:space="preserve">',
            "<!-- SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only; made by tests/emu/conformance/capture_picture.py -->",
            f"<title>{TITLE}</title>", *self.parts, "</svg>", ""))


def draw(program):
    folder = tempfile.mkdtemp(prefix="dpumap-picture.")
    drawing = Drawing()
    starts = [sum(width + 1 for *_, width in COLUMNS[:i]) for i in range(len(COLUMNS))]
    with contextlib.closing(Emulator(program, folder)) as emulator:
        file = transfer(emulator)
        drawing.line(list(zip(starts, (name for name, *_ in COLUMNS))), HEAD)
        for row in tshark_fields(file, *(field for _, field, _ in COLUMNS)):
            words = [word.partition(";")[0].strip()[:width] for word, (*_, width) in zip(row, COLUMNS)]
            drawing.line(list(zip(starts, words)), CHOSEN if row[0] == str(DETAIL) else LINES)
        drawing.line([], HEAD)
        for number, line in enumerate(details(file)):
            drawing.line([(0, line)], COMMENT if number < 2 else "#ffffff")
    return drawing.text(starts[-1] + COLUMNS[-1][2])


def compare(old, new):
    lines = [re.sub(r"0x[0-9a-f]{8,}", "N", text).splitlines() for text in (old, new)]
    return "\n".join(difflib.unified_diff(*lines, "picture", "capture", lineterm="", n=0))


def main():
    *options, program, picture = sys.argv[1:] if len(sys.argv) > 2 else sys.exit(__doc__)
    picture = pathlib.Path(picture)
    drawn = draw(str(pathlib.Path(program).resolve()))
    if options == ["--check"]:
        sys.exit(compare(picture.read_text(encoding="utf-8"), drawn) or 0)
    elif options:
        sys.exit(__doc__)
    picture.write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    main()
