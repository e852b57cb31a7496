/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What all functions of all cards say of themselves. */
#ifndef EMU_IPC_PCI_IDS_H
#define EMU_IPC_PCI_IDS_H

#define EMU_PCI_VENDOR	  0x15b3u
#define EMU_PCI_SUBSYSTEM 0x0001u
#define EMU_PCI_REVISION  0x01u /* also the hw_ver of verbs */

#endif
