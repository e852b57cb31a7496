# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: python3 -m dpumap._worker FD

The process of a side: it calls the functions that arrive at the socket FD, one after the other.
"""

import importlib
import importlib.util
import multiprocessing.connection
import pickle
import sys
import traceback
from typing import Any, Tuple


def find(module: str, file: str, qualname: str) -> Any:
    """Return a function by its name. pytest imports test modules under names that import cannot find."""
    if module == "__main__":
        module = "dpumap_main"
    found = sys.modules.get(module)
    if found is None:
        try:
            found = importlib.import_module(module)
        except ImportError:
            spec = importlib.util.spec_from_file_location(module, file)
            if spec is None or spec.loader is None:
                raise
            found = importlib.util.module_from_spec(spec)
            sys.modules[module] = found
            spec.loader.exec_module(found)
    for name in qualname.split("."):
        found = getattr(found, name)
    return found


def answer(request: Tuple[Any, ...]) -> bytes:
    """Call a function, and return its result or its exception as a pickle."""
    path, where, args, keywords = request
    try:
        sys.path[:] = [*sys.path, *(one for one in path if one not in sys.path)]
        return pickle.dumps(("returned", find(*where)(*args, **keywords), ""))
    except BaseException as error:  # SystemExit included
        text = traceback.format_exc()
        try:
            data = pickle.dumps(("raised", error, text))
            pickle.loads(data)
            return data
        except Exception:
            return pickle.dumps(("raised", None, text))


def serve(connection: multiprocessing.connection.Connection) -> None:
    """Answer requests until the other end closes the connection."""
    while True:
        try:
            request = connection.recv()
        except EOFError:
            return
        connection.send_bytes(answer(request))


if __name__ == "__main__":
    serve(multiprocessing.connection.Connection(int(sys.argv[1])))
