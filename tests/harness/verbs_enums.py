# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The constants of pyverbs by name. Its newer versions keep them in one class for each enumeration."""

import enum

try:
    from pyverbs.enums import *
except ImportError:
    from pyverbs import libibverbs_enums

    for _members in vars(libibverbs_enums).copy().values():
        if isinstance(_members, enum.EnumMeta):
            globals().update(_members.__members__)
