/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The connection of a virtual machine to a function (vfio_user.h). */
#ifndef EMU_PCI_SESSION_H
#define EMU_PCI_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/pci/function.h"
#include "emu/pci/vfio_user.h"

/* A message while it arrives and is answered. */
struct emu_vfio_message {
	struct emu_vfio_header head;
	size_t have;   /* bytes that have arrived */
	uint8_t *body; /* of `len` bytes */
	uint32_t len;
	int fd[EMU_VFIO_MAX_FDS];
	unsigned int nfds;
	uint8_t *out; /* the answer */
	uint32_t out_len;
	int out_fd; /* that goes with it, and stays the function's; -1: none */
};

struct emu_session {
	int fd;
	struct emu_function *function;
	bool has_version; /* the peers agree on one */
	struct emu_vfio_message message;
};

/*
 * Receive some of what has arrived, and answer the messages that are whole. Returns 0, or an errno that ends the
 * connection: EPIPE, the peer has closed it; EPROTO, what it sent is no message, and one line says why; EAGAIN, it
 * does not read its answers.
 */
int emu_session_serve(struct emu_session *session);
/* Close the connection. */
void emu_session_end(struct emu_session *session);

#endif
