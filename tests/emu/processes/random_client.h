/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Programs that use the device at random until they are killed. */
#ifndef DPUMAP_TESTS_RANDOM_CLIENT_H
#define DPUMAP_TESTS_RANDOM_CLIENT_H

#include <stdint.h>

#include "sharer.h"

#define CLIENT_BYTES 16384
#define CLIENT_SEED  77u /* of the contents of the map that every client receives on its stdin */

/*
 * Use the device at random. The client reads a struct descriptor from stdin, and may write one of
 * its own to stdout. Returns an exit code if it ends by itself; not 0 if something was wrong.
 */
int random_client_run(uint32_t seed);

/* Copy and check the data until stdin ends; returns 0 if all of it was right. */
int steady_client_run(void);

#endif
