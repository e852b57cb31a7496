/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Send messages of many sizes to the next rank while receiving those of the previous one, and put data into
 * the next rank's window. An ordinary MPI program; programs.sh runs it.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void pass_on(int rank, int ranks, int len, int round)
{
	int last = (rank + ranks - 1) % ranks, i;
	char *out = malloc((size_t)len), *in = malloc((size_t)len);

	if (!out || !in) {
		MPI_Abort(MPI_COMM_WORLD, 1);
		exit(1);
	}
	memset(out, rank + round, (size_t)len);
	memset(in, 0, (size_t)len);
	MPI_Sendrecv(out, len, MPI_CHAR, (rank + 1) % ranks, round, in, len, MPI_CHAR, last, round,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (i = 0; i < len; i++) {
		if (in[i] != (char)(last + round))
			MPI_Abort(MPI_COMM_WORLD, 2);
	}
	free(in);
	free(out);
}

static void put(int rank, int ranks)
{
	MPI_Win window;
	int *mine;

	MPI_Win_allocate(sizeof(*mine), 1, MPI_INFO_NULL, MPI_COMM_WORLD, (void *)&mine, &window);
	*mine = -1;
	MPI_Win_fence(0, window);
	MPI_Put(&rank, 1, MPI_INT, (rank + 1) % ranks, 0, 1, MPI_INT, window);
	MPI_Win_fence(0, window);
	if (*mine != (rank + ranks - 1) % ranks)
		MPI_Abort(MPI_COMM_WORLD, 3);
	MPI_Win_free(&window);
}

int main(int argc, char **argv)
{
	int rank, ranks, len, round, one = 1, all;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (len = 1; len <= 1 << 20; len *= 32) {
		for (round = 1; round < 10; round++)
			pass_on(rank, ranks, len, round);
	}
	put(rank, ranks);
	MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (!rank)
		printf("ring of %d\n", all);
	MPI_Finalize();
	return 0;
}
