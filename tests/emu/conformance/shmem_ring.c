/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Put blocks of many sizes into the memory of the next processing element, get them back from there, and count by
 * atomics. An ordinary program of OpenSHMEM; programs.sh runs it.
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST (1 << 18)

static void check(const char *bytes, int len, int value)
{
	for (int i = 0; i < len; i++)
		if (bytes[i] != (char)value) {
			fprintf(stderr, "byte %d of %d is %d, not %d\n", i, len, bytes[i], value);
			shmem_global_exit(2);
		}
}

static void pass_on(char *mine, char *local, int len, int round)
{
	int me = shmem_my_pe(), n = shmem_n_pes();
	int next = (me + 1) % n, last = (me + n - 1) % n;

	memset(mine, 0, (size_t)len);
	memset(local, me + round, (size_t)len);
	shmem_barrier_all();
	shmem_putmem(mine, local, (size_t)len, next);
	shmem_barrier_all();
	check(mine, len, last + round);
	shmem_getmem(local, mine, (size_t)len, last);
	check(local, len, (last + n - 1) % n + round);
	shmem_barrier_all();
}

int main(void)
{
	char *mine, *local = malloc(MOST);
	long *counter;

	shmem_init();
	mine = shmem_malloc(MOST);
	counter = shmem_malloc(sizeof(*counter));
	if (!local || !mine || !counter)
		shmem_global_exit(1);
	*counter = 0;
	for (int len = 1; len <= MOST; len *= 8)
		for (int round = 1; round < 5; round++)
			pass_on(mine, local, len, round);
	for (int i = 0; i < 100; i++)
		shmem_long_atomic_add(counter, 1, 0);
	shmem_barrier_all();
	if (!shmem_my_pe())
		printf("ring of %d, counted %ld\n", shmem_n_pes(), *counter);
	shmem_free(counter);
	shmem_free(mine);
	free(local);
	shmem_finalize();
	return 0;
}
