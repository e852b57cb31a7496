#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""uncompress.py VMLINUZ OUT: extract the ELF image, which starts faster, from a compressed x86 kernel."""
import lzma
import subprocess
import sys
import zlib


def zstd(data):
    done = subprocess.run(["zstd", "-dcq"], input=data, capture_output=True, check=False)
    return done.stdout


WAYS = (
    (b"\xfd7zXZ\x00", lambda data: lzma.LZMADecompressor(lzma.FORMAT_XZ).decompress(data)),
    (b"\x1f\x8b\x08", lambda data: zlib.decompressobj(31).decompress(data)),
    (b"\x28\xb5\x2f\xfd", zstd),
)


def candidates(image):
    """Yield the data uncompressed from each place that looks like the start of a compressed image."""
    for magic, uncompress in WAYS:
        at = image.find(magic)
        while at >= 0:
            try:
                yield uncompress(image[at:])
            except (lzma.LZMAError, zlib.error):
                pass
            at = image.find(magic, at + 1)


def main():
    with open(sys.argv[1], "rb") as file:
        image = file.read()
    for kernel in candidates(image):
        if kernel.startswith(b"\x7fELF"):
            with open(sys.argv[2], "wb") as file:
                file.write(kernel)
            return 0
    print(f"{sys.argv[1]}: no kernel found inside", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
