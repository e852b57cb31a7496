/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The kernel gives each datagram to the socket that the number of its queue pair names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "emu/server/wire/steer.h"

#define SOCKETS 4
#define BTH	12
#define ONE_MS	1

struct group {
	int at[SOCKETS], sender;
	struct sockaddr_in to;
};

static void open_socket(struct group *g, int i)
{
	socklen_t len = sizeof(g->to);
	int one = 1;

	g->at[i] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_true(g->at[i] >= 0);
	assert_int_equal(setsockopt(g->at[i], SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one)), 0);
	assert_int_equal(bind(g->at[i], (struct sockaddr *)&g->to, len), 0);
	assert_int_equal(getsockname(g->at[i], (struct sockaddr *)&g->to, &len), 0);
}

static int setup(void **state)
{
	static struct group g;

	g.to = (struct sockaddr_in){.sin_family = AF_INET};
	g.to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (int i = 0; i < SOCKETS; i++)
		open_socket(&g, i);
	g.sender = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	*state = &g;
	return g.sender < 0;
}

static int teardown(void **state)
{
	const struct group *g = *state;

	for (int i = 0; i < SOCKETS; i++)
		close(g->at[i]);
	close(g->sender);
	return 0;
}

static void attach(const struct group *g, const struct emu_steer *runs, size_t n)
{
	struct sock_filter program[BPF_MAXINSNS];
	struct sock_fprog f = {.filter = program};

	f.len = (unsigned short)emu_steer_program(runs, n, program);
	assert_int_not_equal(f.len, 0);
	assert_int_equal(setsockopt(g->at[0], SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &f, sizeof(f)),
			 0);
}

/* The socket at which a datagram of `len` bytes to this queue pair arrives. */
static int receiver(const struct group *g, uint32_t qpn, size_t len)
{
	uint8_t bth[BTH] = {[4] = 0xff, (uint8_t)(qpn >> 16), (uint8_t)(qpn >> 8), (uint8_t)qpn};
	struct pollfd p[SOCKETS];
	int i, found = -1;

	for (i = 0; i < SOCKETS; i++)
		p[i] = (struct pollfd){.fd = g->at[i], .events = POLLIN};
	assert_int_equal(
		sendto(g->sender, bth, len, 0, (const struct sockaddr *)&g->to, sizeof(g->to)),
		len);
	assert_int_equal(poll(p, SOCKETS, 1000 * ONE_MS), 1);
	for (i = 0; i < SOCKETS; i++) {
		if (!p[i].revents)
			continue;
		found = i;
		assert_int_equal(recv(g->at[i], bth, sizeof(bth), 0), len);
	}
	return found;
}

static void datagram_arrives_at_the_socket_of_its_number(void **state)
{
	static const struct emu_steer runs[] = {{0, 0}, {0x40, 2}, {0x60, 1}, {0x80, 3}, {0xa0, 0}};

	attach(*state, runs, 5);
	assert_int_equal(receiver(*state, 0, BTH), 0);
	assert_int_equal(receiver(*state, 1, BTH), 0);
	assert_int_equal(receiver(*state, 0x3f, BTH), 0);
	assert_int_equal(receiver(*state, 0x40, BTH), 2);
	assert_int_equal(receiver(*state, 0x5f, BTH), 2);
	assert_int_equal(receiver(*state, 0x60, BTH), 1);
	assert_int_equal(receiver(*state, 0x7f, BTH), 1);
	assert_int_equal(receiver(*state, 0x80, BTH), 3);
	assert_int_equal(receiver(*state, 0xa0, BTH), 0);
	assert_int_equal(receiver(*state, 0xffffff, BTH), 0);
}

static void datagram_without_a_number_arrives_at_the_first_socket(void **state)
{
	static const struct emu_steer runs[] = {{0, 3}, {0x40, 2}};

	attach(*state, runs, 2);
	for (size_t len = 0; len < 8; len++)
		assert_int_equal(receiver(*state, 0x40, len), 0);
	assert_int_equal(receiver(*state, 0x40, 8), 2);
}

static void program_can_be_replaced(void **state)
{
	static const struct emu_steer one[] = {{0, 1}}, two[] = {{0, 2}};

	attach(*state, one, 1);
	assert_int_equal(receiver(*state, 77, BTH), 1);
	attach(*state, two, 1);
	assert_int_equal(receiver(*state, 77, BTH), 2);
}

/* As many runs as there are blocks, each for another engine, so that jumps are long. */
static void many_runs_are_searched(void **state)
{
	static struct emu_steer runs[EMU_STEER_RUNS];
	size_t n = 0;

	for (uint32_t qpn = 0; n < 258; qpn += 32)
		n = emu_steer_add(runs, n, qpn, (qpn / 32) % SOCKETS);
	attach(*state, runs, n);
	for (uint32_t qpn = 0; qpn < 258 * 32; qpn += 31)
		assert_int_equal(receiver(*state, qpn, BTH), (qpn / 32) % SOCKETS);
}

static void equal_neighbours_are_one_run(void **state)
{
	struct emu_steer runs[EMU_STEER_RUNS];
	size_t n = emu_steer_add(runs, 0, 0, 0);

	n = emu_steer_add(runs, n, 64, 0);
	n = emu_steer_add(runs, n, 96, 1);
	assert_int_equal(emu_steer_add(runs, n, 128, 1), 2);
	assert_int_equal(runs[1].first, 96);
}

static void too_many_runs_are_refused(void **state)
{
	static struct sock_filter program[BPF_MAXINSNS];
	static struct emu_steer runs[EMU_STEER_RUNS];
	size_t n = 0;
	uint32_t i;

	for (i = 0; i < EMU_STEER_RUNS; i++)
		n = emu_steer_add(runs, n, i, i % 2);
	assert_int_not_equal(emu_steer_program(runs, n, program), 0);
	for (; i < EMU_STEER_RUNS + 3; i++)
		n = emu_steer_add(runs, n, i, i % 2);
	assert_int_equal(emu_steer_program(runs, n, program), 0);
	assert_int_equal(emu_steer_program(runs, 0, program), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(datagram_arrives_at_the_socket_of_its_number, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			datagram_without_a_number_arrives_at_the_first_socket, setup, teardown),
		cmocka_unit_test_setup_teardown(program_can_be_replaced, setup, teardown),
		cmocka_unit_test_setup_teardown(many_runs_are_searched, setup, teardown),
		cmocka_unit_test(equal_neighbours_are_one_run),
		cmocka_unit_test(too_many_runs_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
