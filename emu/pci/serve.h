/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Offering a PCI function to virtual machines, one at a time. */
#ifndef EMU_PCI_SERVE_H
#define EMU_PCI_SERVE_H

/*
 * Listen on a Unix socket of this path, in a process that the emulated device is preloaded into, until the emulator
 * ends, or SIGINT or SIGTERM comes; then the socket's file is removed. Returns an exit code: 0 after a signal; 1 if the
 * emulator has ended, or the socket or the function cannot be used, after a line that says why.
 */
int emu_pci_serve(const char *path);

#endif
