# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The package's declarations, constants and class names agree with the public headers."""

import ast
import pathlib
import re
import subprocess

from dpumap import Access, EventKind, errors
from dpumap import channel

TREE = pathlib.Path(__file__).parents[3]
DECLARATIONS = TREE / "python" / "dpumap" / "declarations.h"
HEADERS = """
#define DOCA_ALLOW_EXPERIMENTAL_API
#include <stddef.h>
#include <infiniband/verbs.h>
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_error.h>
#include <doca_log.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_rdma_bridge.h>
#include <dpumap/channel.h>
#include <dpumap/dev.h>
#include <dpumap/dm.h>
#include <dpumap/mmap.h>
#include <dpumap/version.h>
/* The compiler knows no other difference: the calling convention is the same. */
#define dpumap_word_t union doca_data
"""


def compile_c(text):
    done = subprocess.run(
        ["gcc", "-std=gnu11", "-Wall", "-Wno-deprecated-declarations", "-fsyntax-only", "-x", "c", "-"]
        + [f"-I{TREE}/include"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stderr


def functions():
    return DECLARATIONS.read_text(encoding="utf-8").split("/* Functions. */")[1]


def test_functions_are_declared_like_in_the_headers():
    """Each name is in the headers, and the compiler accepts the second declaration."""
    names = re.findall(r"(\w+)\(", re.sub(r"typedef.*?;", "", functions(), flags=re.S))
    assert len(names) > 70
    uses = "".join(f"_Static_assert(sizeof(&{name}) > 0, \"\");\n" for name in names)
    assert compile_c(HEADERS + uses + functions()) == ""
    assert "conflicting types" in compile_c(HEADERS + functions().replace("size_t len)", "int len)"))


def test_constants_have_the_values_of_the_headers():
    """Enumerations, and structures whose members the package reads."""
    checks = [("sizeof(union doca_data)", 8), ("DPUMAP_CHANNEL_DESCRIPTOR_MAX", channel._DESCRIPTOR_MAX)]
    checks += [(f"DOCA_ACCESS_FLAG_{name}", int(value)) for name, value in Access.__members__.items()]
    checks += [(f"DPUMAP_CHANNEL_{one.name}", one.value) for one in EventKind]
    checks += [(one.name, one.code) for one in errors.Error.__subclasses__()]
    checks += [("DOCA_LOG_LEVEL_ERROR", 30), ("DOCA_ERROR_IN_PROGRESS", 26), ("DOCA_ERROR_UNKNOWN", 1)]
    checks += [("DOCA_DEVINFO_PCI_ADDR_SIZE", 13), ("DOCA_DEVINFO_IBDEV_NAME_SIZE", 64)]
    checks += [("DOCA_DEVINFO_IFACE_NAME_SIZE", 256)]
    checks += [("offsetof(struct ibv_pd, context)", 0), ("offsetof(struct ibv_pd, handle)", 8)]
    for at, member in enumerate(("name", "kind", "size", "access")):
        checks.append((f"offsetof(struct dpumap_channel_export, {member})", 8 * at))
    text = "".join(f'_Static_assert({what} == {value}, "{what}");\n' for what, value in checks)
    assert compile_c(HEADERS + text) == ""


# Each module, and the modules of the package that it may import.
BASE = {"_ffi", "errors", "_library", "_handle"}
MAY_IMPORT = {
    "errors": set(),
    "descriptor": set(),
    "_library": {"_ffi", "errors"},
    "_handle": {"errors"},
    "device": BASE,
    "memory": BASE | {"descriptor", "device"},
    "copier": BASE | {"device", "memory"},
    "channel": BASE | {"descriptor", "device", "memory"},
    "verbs": {"_library", "device", "errors"},
    "emulator": set(),
    "_worker": set(),
    "pytest_plugin": {"emulator", "_worker"},
    "__init__": {"errors", "_library", "channel", "copier", "descriptor", "device", "memory"},
}


def imports(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "dpumap":
            name = node.module.partition(".")[2]
            yield from [name] if name else [alias.name for alias in node.names]


def test_modules_import_those_below_them_alone():
    """What calls the library does not know the emulator, and the emulator does not know the library."""
    modules = {path.stem: set(imports(path)) for path in DECLARATIONS.parent.glob("*.py")}
    assert modules.keys() == MAY_IMPORT.keys()
    for name, targets in modules.items():
        assert targets <= MAY_IMPORT[name], name
