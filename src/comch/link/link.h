/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A link: the stream of bytes between a client and a server of doca_comch, with handshakes and checks
 * done. It is a Unix socket on one kernel, and a TLS session to another machine. Nothing blocks. One
 * thread at a time may use a link.
 *
 * The descriptor of a link, a dial or a listener is constant for the life of its object, belongs to
 * it, and is readable (POLLIN, EPOLLIN, level-triggered) exactly while there is something to do. It
 * is for poll() and epoll alone: never read from it.
 */
#ifndef DPUMAP_COMCH_LINK_H
#define DPUMAP_COMCH_LINK_H

#include <stdbool.h>
#include <stddef.h>

#include <doca_error.h>

struct dpumap_comch_link;

/*
 * AGAIN when they would block, nothing is logged. CONNECTION_RESET when the peer closed the
 * connection, its process ended, or its right to connect was withdrawn: level info. Any other error
 * is final and logged as one. A write that returned AGAIN must be repeated with the same bytes at
 * the beginning; they may have moved, and more may follow. *done is set only on success, and is at
 * least 1.
 */
doca_error_t dpumap_comch_link_read(struct dpumap_comch_link *link, void *buf, size_t len,
				    size_t *done);
doca_error_t dpumap_comch_link_write(struct dpumap_comch_link *link, const void *buf, size_t len,
				     size_t *done);
/* Are there bytes to read that the descriptor does not show? Never after read() returned AGAIN. */
bool dpumap_comch_link_has_more(const struct dpumap_comch_link *link);
/* The descriptor: there is something to read, or want_write is set and there is room to write. */
int dpumap_comch_link_fd(const struct dpumap_comch_link *link);
/* Cheap when nothing changes. */
void dpumap_comch_link_want_write(struct dpumap_comch_link *link, bool want);
/* No more is written: the peer reads CONNECTION_RESET after all that was written before. */
void dpumap_comch_link_shutdown(struct dpumap_comch_link *link);
/* link may be NULL. */
void dpumap_comch_link_close(struct dpumap_comch_link *link);
/* Who the peer is, checked: "uid:1000", "cert:NAME" or "psk:NAME". Lives as long as the link. */
const char *dpumap_comch_link_peer(const struct dpumap_comch_link *link);

#endif
