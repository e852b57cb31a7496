/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The identity of peers, until connections exist. */
#include <dpumap/comch.h>

#include "log/log.h"

doca_error_t dpumap_comch_connection_get_peer(const struct doca_comch_connection *connection,
					      const char **identity)
{
	(void)connection, (void)identity;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}
