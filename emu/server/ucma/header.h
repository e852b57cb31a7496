/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The header of a request's private data that names the IP addresses of both ends (IBA annex A11). */
#ifndef EMU_UCMA_HEADER_H
#define EMU_UCMA_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define EMU_CMA_HEADER 36u

/* Ids with a GID for an address use the private data without a header. */
size_t emu_cma_header_size(const struct sockaddr_storage *addr);
void emu_cma_header_make(uint8_t header[static EMU_CMA_HEADER], const struct sockaddr_storage *src,
			 const struct sockaddr_storage *dst);
/*
 * The addresses that a header names, as the receiver sees them: `src` is its own, with the port of the
 * service ID. false: it is not such a header.
 */
bool emu_cma_header_read(const uint8_t header[static EMU_CMA_HEADER], uint16_t service_port,
			 struct sockaddr_storage *src, struct sockaddr_storage *dst);

#endif
