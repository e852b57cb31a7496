#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: build_ffi.py DECLARATIONS OUT

Write the declarations as the module dpumap._ffi. The package then needs cffi's backend alone, no compiler
and no parser, and the same files work on every architecture.
"""

import pathlib
import sys

from cffi import FFI


def main(declarations, out):
    ffi = FFI()
    ffi.cdef(pathlib.Path(declarations).read_text(encoding="utf-8"))
    ffi.set_source("dpumap._ffi", None)
    ffi.emit_python_code(out)


main(*sys.argv[1:])
