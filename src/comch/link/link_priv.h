/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* How a link is made: by a dial or by a listener. */
#ifndef DPUMAP_COMCH_LINK_PRIV_H
#define DPUMAP_COMCH_LINK_PRIV_H

#include "comch/link/link.h"
#include "comch/link/tls.h"

struct dpumap_comch_link_parts {
	int fd;				      /* without a session */
	int introducer;			      /* or -1 */
	const struct dpumap_comch_tls *tls;   /* of the session */
	struct dpumap_comch_session *session; /* NULL: plain */
	const char *peer;
};

/* The link owns the parts on success. Logged. */
doca_error_t dpumap_comch_link_create(const struct dpumap_comch_link_parts *parts,
				      struct dpumap_comch_link **link);

#endif
