/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A directory that a test has to itself, and that it must leave empty. */
#ifndef DPUMAP_TESTS_TEMPORARY_H
#define DPUMAP_TESTS_TEMPORARY_H

extern char temporary_directory[64];
extern char temporary_path[96]; /* of a file in it, which does not exist yet */

/* Setup and teardown: teardown fails, and the test with it, if any file remains. */
int temporary_set_up(void **state);
int temporary_tear_down(void **state);

#endif
