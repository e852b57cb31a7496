/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The RDMA netlink family, which the server answers. */
#ifndef EMU_SHIM_NETLINK_H
#define EMU_SHIM_NETLINK_H

/* The replacement of socket(AF_NETLINK, type, NETLINK_RDMA): 0 or an errno. */
int emu_netlink_socket(int type, int *fd);

#endif
