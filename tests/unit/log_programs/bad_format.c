/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Compiles without BAD; with it, the compiler must object to the arguments of a format. */
#include <doca_log.h>

DOCA_LOG_REGISTER(BAD);

void dpumap_bad_format(const char *text);
void dpumap_bad_format(const char *text)
{
#ifdef BAD
	DOCA_LOG_ERR("%d", text);
#else
	DOCA_LOG_ERR("%s", text);
#endif
}
