/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The answers to requests of the kernel's RDMA_NL_NLDEV client. */
#ifndef EMU_NLDEV_H
#define EMU_NLDEV_H

#include "emu/server/net/netlink.h"

/* Answer one request about the functions of `role`; 0 or a negative errno. */
int emu_nldev(struct emu_nl *nl, const char *role, const uint8_t *payload, size_t len);

#endif
