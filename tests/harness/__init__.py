# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What the tests of dpumapd and dpumap share: machines, the emulated card, agents, certificates."""
